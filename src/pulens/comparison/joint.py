"""Rows scored by several models: counted once per combination of scores, redrawn together.

A tally forgets which row is which, so two of them cannot say how far two models agree. Rows that have the same scores
are one count, so the answer depends neither on their order nor on where they lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from pulens.comparison.redraws import PairedRows
from pulens.counts.joint import JointTally
from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError
from pulens.inputs import read_joint, read_sample
from pulens.inputs.tallies import is_tally_file
from pulens.keywords import check_column
from pulens.scenario import Scenario
from pulens.selection import rank_correlations
from pulens.types import Floats

Rows = TypeVar("Rows")


@dataclass(frozen=True, slots=True, eq=False)
class JointCounts:
    """Counts per combination of scores."""

    joint: JointTally

    @property
    def names(self) -> tuple[str, ...]:
        return self.joint.names

    @property
    def counted(self) -> dict[str, Tally]:
        return {name: self.joint.tally(name) for name in self.names}

    def agreement(self) -> Floats:
        """How far each pair of models ranks the labelled rows alike."""
        return rank_correlations([self.joint.column(name) for name in self.names], self.joint.labelled)

    def paired(self, scenario: Scenario) -> PairedRows:
        """The rows to redraw: each kind by itself in case-control, all rows together in the single set."""
        joint = self.joint
        kinds = [kind.astype(np.int64, copy=False) for kind in (joint.labelled, joint.unlabelled, joint.negative)]
        indices = [np.flatnonzero(kind) for kind in kinds]
        edges = np.cumsum([0, *(each.size for each in indices)])
        apart = [slice(*edges[[kind, kind + 1]]) for kind in range(3) if indices[kind].size]
        which = np.concatenate(indices)
        return PairedRows(
            self.names,
            np.concatenate([kind[index] for kind, index in zip(kinds, indices, strict=True)]),
            np.repeat(np.arange(3, dtype=np.int8), np.diff(edges)),
            np.zeros(which.size, np.int8),
            {name: joint.column(name)[which] for name in self.names},
            [slice(None)] if scenario is Scenario.SINGLE_SET else apart,
        )


def read_models(source: Any, scores: Any, **reading: Any) -> JointCounts:
    """Labels and a mapping of scores, or whatever else rows may lie in and the names of its columns of scores."""
    columns = reading.pop("score", None)
    if isinstance(scores, Mapping):
        return JointCounts(_from_arrays(source, scores, **reading))
    if scores is None and (columns is not None or isinstance(source, Tally | JointTally) or is_tally_file(source)):
        if columns is not None:
            columns = columns_of_models(columns)
        return JointCounts(read_joint(source, score=columns, **reading))
    raise _no_models(scores)


def by_model(scores: Any, columns: Any, read: Callable[..., Rows]) -> dict[str, Rows]:
    """What ``read`` gives of each model's scores: those of a mapping, or of the column of that name."""
    if isinstance(scores, Mapping):
        check_models([str(name) for name in scores])
        return {str(name): read(values) for name, values in scores.items()}
    if scores is None and columns is not None:
        return {name: read(score=name) for name in columns_of_models(columns)}
    raise _no_models(scores)


def _no_models(scores: Any) -> PulensError:
    if isinstance(scores, list | tuple) and scores and all(isinstance(name, str) for name in scores):
        return PulensError(f"scores= takes numbers; columns of a table are named with score={list(scores)!r}.")
    return PulensError(
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
    samples = by_model(scores, None, partial(read_sample, labels, **reading))
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
        raise PulensError(f"the score column {repeated[0]!r} is named twice; a model cannot be compared with itself.")
    if len(names) < 2:
        raise PulensError(
            f"a comparison needs at least two models, got {len(names)}: {', '.join(map(str, names)) or 'none'}."
        )
