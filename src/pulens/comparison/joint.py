"""Rows scored by several models: counted once per combination of scores, redrawn together.

A tally forgets which row is which, so two of them cannot say how far two models agree. Here every redraw takes the
same rows for all models; where the models agree their errors move together and cancel in the difference. Rows that
have the same scores are one count, so the answer depends neither on their order nor on where they lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.joint import JointTally
from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError
from pulens.inputs import read_joint, read_sample
from pulens.inputs.tallies import is_tally_file
from pulens.keywords import check_column
from pulens.scenario import Scenario
from pulens.types import Whole

#: Rows per cell from which a redraw draws each cell's count: below, drawing row by row is quicker.
ROWS_PER_CELL = 8


@dataclass(frozen=True, slots=True, eq=False)
class _Ranking:
    """The combinations of scores in a model's order, best first, and where each of its distinct scores ends."""

    order: NDArray[np.intp]
    thresholds: NDArray[Any]
    ends: NDArray[np.intp] | slice

    @classmethod
    def of(cls, scores: NDArray[Any]) -> _Ranking:
        order = np.argsort(-scores, kind="stable")
        ordered = scores[order]
        is_last = np.append(ordered[1:] != ordered[:-1], True)
        ends = slice(None) if is_last.all() else np.flatnonzero(is_last)
        return cls(order, ordered[ends], ends)

    def tally(self, labelled: Whole, unlabelled: Whole, negative: Whole | None) -> Tally:
        """Rows at or above each score, of counts per combination."""
        counts = self._above(labelled), self._above(unlabelled)
        if negative is None:  # zeros that take no memory
            return Tally(self.thresholds, *counts, np.broadcast_to(np.int64(0), counts[0].shape))
        return Tally(self.thresholds, *counts, self._above(negative))

    def _above(self, counts: Whole) -> Whole:
        return np.cumsum(counts[self.order])[self.ends]


@dataclass(frozen=True, slots=True, eq=False)
class JointCounts:
    """Counts per combination of scores, and each model's ranking of the combinations."""

    joint: JointTally
    rankings: tuple[_Ranking, ...]

    @classmethod
    def of(cls, joint: JointTally) -> JointCounts:
        return cls(joint, tuple(_Ranking.of(joint.column(name)) for name in joint.names))

    @property
    def names(self) -> tuple[str, ...]:
        return self.joint.names

    @property
    def n_labelled(self) -> int:
        return int(self.joint.totals.labelled)

    @property
    def _kinds(self) -> list[Whole]:
        """Counts of labelled and unlabelled rows, and of known negatives where there are any."""
        joint = self.joint
        kinds = [joint.labelled, joint.unlabelled, *([joint.negative] if joint.negative.any() else [])]
        return [kind.astype(np.int64, copy=False) for kind in kinds]

    def tallies(self, kinds: Sequence[Whole] | None = None) -> list[Tally]:
        """One tally per model, of the rows as they are or of redrawn counts."""
        labelled, unlabelled, *negative = self._kinds if kinds is None else kinds
        return [ranking.tally(labelled, unlabelled, negative[0] if negative else None) for ranking in self.rankings]

    def redraws(self, draws: int, scenario: Scenario, rng: np.random.Generator) -> Iterator[list[Tally]]:
        """Tallies of redrawn rows: each kind by itself in case-control, all rows together in the single set."""
        kinds = self._kinds
        together = [np.concatenate(kinds)] if scenario is Scenario.SINGLE_SET else kinds
        redrawn = [_Redraw(counts) for counts in together]
        for _ in range(draws):
            counts = np.concatenate([one.draw(rng) for one in redrawn])
            drawn = np.split(counts, len(kinds))
            if drawn[0].any() and any(kind.any() for kind in drawn[1:]):
                yield self.tallies(drawn)


class _Redraw:
    """As many rows as were counted, drawn with replacement: how many fall into each cell."""

    def __init__(self, counts: Whole) -> None:
        self._cells = np.flatnonzero(counts)
        self._counts, self._size = counts[self._cells], counts.size
        self._rows = int(counts.sum())
        by_row = self._rows <= ROWS_PER_CELL * self._cells.size
        self._cell_of_row = np.repeat(self._cells, self._counts) if by_row else None

    def draw(self, rng: np.random.Generator) -> Whole:
        if not self._rows:
            return np.zeros(self._size, np.int64)
        if self._cell_of_row is not None:
            rows = rng.integers(0, self._rows, self._rows)
            return np.bincount(self._cell_of_row[rows], minlength=self._size)
        drawn = np.zeros(self._size, np.int64)
        drawn[self._cells] = rng.multinomial(self._rows, self._counts / self._rows)
        return drawn


def read_models(source: Any, scores: Any, **reading: Any) -> JointCounts:
    """Labels and a mapping of scores, or whatever else rows may lie in and the names of its columns of scores."""
    columns = reading.pop("score", None)
    if isinstance(scores, Mapping):
        return JointCounts.of(_from_arrays(source, scores, **reading))
    if scores is None and (columns is not None or isinstance(source, Tally | JointTally) or is_tally_file(source)):
        if columns is not None:
            columns = columns_of_models(columns)
        return JointCounts.of(read_joint(source, score=columns, **reading))
    raise PulensError(
        'give labels and a mapping of scores, such as {"a": scores_a, "b": scores_b}, or a table or file with '
        f"score=[...] naming its columns; got scores of type {type(scores).__name__}."
    )


def _from_arrays(
    labels: Any, scores: Mapping[Any, Any], *, table: Any = None, where: str | None = None, **reading: Any
) -> JointTally:
    for name, said in {"table": table, "where": where}.items():
        if said is not None:
            raise InputError(
                f"{name}={said!r} is for databases and files; labels and scores given as arrays have none."
            )
    if any(reading.get(name) is not None for name in ("weight", "weights")):
        raise PulensError(
            "models cannot be compared on weighted rows: the redraw takes every row for one observation. Leave the "
            "weights out, or repeat the rows."
        )
    check_models([str(name) for name in scores])
    samples = {str(name): read_sample(labels, values, **reading) for name, values in scores.items()}
    common = next(iter(samples.values())).labels
    return JointTally.from_rows({name: sample.scores for name, sample in samples.items()}, common)


def columns_of_models(given: Any) -> list[Any]:
    """The names of columns of scores, as they may be given; at least two, none twice."""
    several = isinstance(given, Iterable) and not isinstance(given, str | bytes) and getattr(given, "shape", 1) != ()
    names = list(given) if several else [given]
    check_models(names)
    return names


def check_models(names: Sequence[str]) -> None:
    for name in names:
        check_column("score", name)
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise PulensError(f"the score column {repeated[0]!r} is named twice; a model has nothing to win over itself.")
    if len(names) < 2:
        raise PulensError(
            f"a comparison needs at least two models, got {len(names)}: {', '.join(map(str, names)) or 'none'}."
        )
