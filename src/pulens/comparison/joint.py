"""Rows scored by several models: read once, sorted once per model, redrawn together.

A tally forgets which row is which, so two of them cannot say how far two models agree. Here every redraw takes the
same rows for all models; where the models agree their errors move together and cancel in the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.sample import LABELLED, NEGATIVE, UNLABELLED, PUSample
from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError
from pulens.inputs import read_joint, read_sample
from pulens.inputs.read import check_rows
from pulens.inputs.tallies import is_elsewhere
from pulens.scenario import Scenario
from pulens.types import Whole


@dataclass(frozen=True, slots=True, eq=False)
class _SortedModel:
    """A model's rows, best first: who they are, which kind each is, and where each distinct score ends."""

    order: NDArray[np.intp]
    thresholds: NDArray[Any]
    ends: NDArray[np.intp] | slice
    labelled: Whole
    negative: Whole | None

    @classmethod
    def of(cls, scores: NDArray[Any], labels: NDArray[np.int8]) -> _SortedModel:
        order = np.argsort(-scores, kind="stable")
        ordered, kinds = scores[order], labels[order]
        is_last = np.append(ordered[1:] != ordered[:-1], True)
        ends = slice(None) if is_last.all() else np.flatnonzero(is_last)
        negative = (kinds == NEGATIVE).astype(np.int64) if (kinds == NEGATIVE).any() else None
        return cls(order, ordered[ends], ends, (kinds == LABELLED).astype(np.int64), negative)

    def tally(self, counts: Whole) -> Tally:
        """Rows at or above each score, each row counted as often as it was drawn."""
        drawn = counts[self.order]
        labelled = np.cumsum(drawn * self.labelled)[self.ends]
        others = np.cumsum(drawn)[self.ends] - labelled
        if self.negative is None:
            return Tally(self.thresholds, labelled, others, np.broadcast_to(np.int64(0), labelled.shape))
        negative = np.cumsum(drawn * self.negative)[self.ends]
        return Tally(self.thresholds, labelled, others - negative, negative)


@dataclass(frozen=True, slots=True, eq=False)
class JointRows:
    """Labels that all models share, and each model's ranking of the rows."""

    names: tuple[str, ...]
    labels: NDArray[np.int8]
    models: tuple[_SortedModel, ...]

    @classmethod
    def of(cls, samples: Mapping[str, PUSample]) -> JointRows:
        """From one sample per model, all of the same rows."""
        first = next(iter(samples.values()))
        for name, sample in samples.items():
            if sample.labels.size != first.labels.size or not np.array_equal(sample.labels, first.labels):
                raise InputError(f"the rows of model {name!r} are not those of the others: models need common rows.")
            if sample.weights is not None:
                raise PulensError(
                    "models cannot be compared on weighted rows: the redraw takes every row for one observation. "
                    "Leave the weights out, or repeat the rows."
                )
        order = _fixed_order(first.labels, [sample.scores for sample in samples.values()])
        labels = first.labels[order]
        return cls(
            tuple(samples),
            labels,
            tuple(_SortedModel.of(sample.scores[order], labels) for sample in samples.values()),
        )

    @property
    def n_labelled(self) -> int:
        return int(np.count_nonzero(self.labels == LABELLED))

    def tallies(self, counts: Whole | None = None) -> list[Tally]:
        """One tally per model; ``counts`` says how often each row was drawn."""
        drawn = np.ones(self.labels.size, np.int64) if counts is None else counts
        return [model.tally(drawn) for model in self.models]

    def redraws(self, draws: int, scenario: Scenario, rng: np.random.Generator) -> Iterator[list[Tally]]:
        """Tallies of redrawn rows: each kind by itself in case-control, all rows together in the single set."""
        n = self.labels.size
        if scenario is Scenario.SINGLE_SET:
            strata = [np.arange(n)]
        else:
            strata = [np.flatnonzero(self.labels == code) for code in (LABELLED, UNLABELLED, NEGATIVE)]
        for _ in range(draws):
            counts = np.zeros(n, np.int64)
            for rows in strata:
                if rows.size:
                    counts[rows] = np.bincount(rng.integers(0, rows.size, rows.size), minlength=rows.size)
            if counts[self.labels == LABELLED].any() and counts[self.labels != LABELLED].any():
                yield self.tallies(counts)


def _fixed_order(labels: NDArray[np.int8], scores: list[NDArray[Any]]) -> NDArray[np.intp]:
    """The same order for the same rows in any order, so that redraws are theirs and not those of their places.

    Labelled, unlabelled, negative; within each by the scores, as :meth:`pulens.counts.joint.JointTally.rows` has them.
    """
    return np.lexsort([*scores[::-1], -labels])


def read_models(source: Any, scores: Any, **reading: Any) -> JointRows:
    """Labels and a mapping of scores, or a table or file and the names of its score columns."""
    if isinstance(source, Tally) or (isinstance(source, str | Path) and str(source).endswith(".tally")):
        raise InputError(
            "a tally forgets which row is which, so it cannot say how far two models agree. Compare the models on the "
            "rows: labels and a mapping of scores, a table, a file or a database."
        )
    if isinstance(scores, Mapping):
        samples = {str(name): read_sample(source, values, **reading) for name, values in scores.items()}
    elif scores is None and "score" in reading:
        columns = reading.pop("score")
        if isinstance(columns, str):
            columns = [columns]
        repeated = sorted({name for name in columns if list(columns).count(name) > 1})
        if repeated:
            raise PulensError(
                f"the score column {repeated[0]!r} is named twice; a model has nothing to win over itself."
            )
        if is_elsewhere(source) or any(reading.get(name) is not None for name in ("table", "where")):
            # counted where they are; only the combinations of scores that occur travel
            labels, by_model = read_joint(source, score=columns, **reading).rows()
            samples = {name: PUSample(labels, values) for name, values in by_model.items()}
            check_rows(next(iter(samples.values())))
        else:
            plain = {name: value for name, value in reading.items() if name not in ("table", "where")}
            samples = {name: read_sample(source, score=name, **plain) for name in columns}
    else:
        raise PulensError(
            'give labels and a mapping of scores, such as {"a": scores_a, "b": scores_b}, or a table or file with '
            f"score=[...] naming its columns; got scores of type {type(scores).__name__}."
        )
    if len(samples) < 2:
        raise PulensError(
            f"a comparison needs at least two models, got {len(samples)}: {', '.join(samples) or 'none'}."
        )
    return JointRows.of(samples)
