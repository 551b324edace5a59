"""Cells of scores that the reference fixes for life: a window becomes counts per cell, and nothing later sees more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pulens.counts.exactness import in_precision
from pulens.counts.tally import Tally
from pulens.scenario import Scenario
from pulens.types import Floats

MOST_CELLS = 200


@dataclass(frozen=True, slots=True, eq=False)
class CellCounts:
    """Rows of the population and labelled rows in each cell, lowest cell first.

    ``outside`` counts rows that score beyond the reference, which stand in the outermost cells. ``across`` lists, for
    bins of scores that an edge cuts, the rows, the first and the last cell: they stand in the first.
    """

    population: Floats
    labelled: Floats
    outside: float = 0.0
    across: tuple[tuple[float, int, int], ...] = ()

    @property
    def rows(self) -> float:
        return float(self.population.sum())

    @property
    def n_labelled(self) -> float:
        return float(self.labelled.sum())


def cut(labelled: Floats, population: Floats, scores: Floats, threshold: float | None = None) -> Floats:
    """Edges of at most 200 cells, rising: all distinct scores, or equal steps of the mean of both shares.

    Cell k holds ``edge[k] <= score < edge[k + 1]``; a cut lies at a score that occurs, so ties never split, and the
    deployed threshold is an edge of its own.

    >>> cut(np.array([0.0, 1, 1]), np.array([2.0, 1, 1]), np.array([0.1, 0.4, 0.8]), threshold=0.5)
    array([0.1, 0.4, 0.5, 0.8])
    """
    own = [] if threshold is None else [threshold]
    if scores.size + len(own) > MOST_CELLS:
        steps = MOST_CELLS - len(own)
        mass = np.cumsum(labelled / labelled.sum() + population / population.sum()) / 2
        indices = np.searchsorted(mass, np.arange(1, steps) / steps, side="left")
        scores = np.unique(np.concatenate([scores[:1], scores[np.minimum(indices + 1, scores.size - 1)]]))
    return np.unique(np.concatenate([scores, own]))


def population_above(tally: Tally, scenario: Scenario) -> Floats:
    """Rows of the population at or above each threshold: the unlabelled ones in case-control, else all rows."""
    if scenario is Scenario.CASE_CONTROL:
        return np.asarray(tally.unlabelled, np.float64)
    return np.asarray(tally.labelled, np.float64) + tally.unlabelled + tally.negative


def edges_of(tally: Tally, scenario: Scenario, threshold: float | None) -> Floats:
    """The edges that a reference fixes.

    >>> tally = Tally.from_arrays(np.array([1, 0, 0]), np.array([0.9, 0.5, 0.1]))
    >>> edges_of(tally, Scenario.SINGLE_SET, None)
    array([0.1, 0.5, 0.9])
    """
    rising = tally.thresholds[::-1].astype(np.float64)
    labelled = np.diff(np.asarray(tally.labelled, np.float64), prepend=0.0)[::-1]
    population = np.diff(population_above(tally, scenario), prepend=0.0)[::-1]
    occurs = labelled + population > 0
    number = None if threshold is None else float(in_precision(threshold, tally.thresholds.dtype))
    return cut(labelled[occurs], population[occurs], rising[occurs], number)


def reduce_to_cells(tally: Tally, edges: Floats, scenario: Scenario) -> CellCounts:
    """The counts of a tally per cell, by bisection in its running counts.

    >>> tally = Tally.from_arrays(np.array([1, 0, 0]), np.array([0.9, 0.5, 0.05]))
    >>> reduce_to_cells(tally, np.array([0.1, 0.5]), Scenario.SINGLE_SET).population
    array([1., 2.])
    """
    if not len(tally):
        return CellCounts(np.zeros(edges.size), np.zeros(edges.size))
    falling = -tally.thresholds
    marks = edges.astype(tally.thresholds.dtype)  # equal scores must stay equal in single precision
    above = np.searchsorted(falling, -marks, side="right")
    above[0] = len(tally)  # what scores below the reference stands in the lowest cell

    def per_cell(running: Floats) -> Floats:
        at_or_above = np.concatenate([[0.0], running])[above]
        return -np.diff(at_or_above, append=0.0)

    population = population_above(tally, scenario)
    below = population[-1] - np.concatenate([[0.0], population])[np.searchsorted(falling, -marks[0], side="right")]
    beyond = np.concatenate([[0.0], population])[np.searchsorted(falling, -marks[-1], side="left")]
    return CellCounts(
        per_cell(population),
        per_cell(np.asarray(tally.labelled, np.float64)),
        float(below + beyond),
        _across(tally, marks, population),
    )


def _across(tally: Tally, marks: Floats, population: Floats) -> tuple[tuple[float, int, int], ...]:
    if tally.binning is None:
        return ()
    first = np.maximum(np.searchsorted(marks, tally.thresholds, side="right") - 1, 0)
    last = np.maximum(np.searchsorted(marks, tally.highest, side="right") - 1, 0)
    rows = np.diff(population, prepend=0.0)
    return tuple((float(rows[at]), int(first[at]), int(last[at])) for at in np.flatnonzero((last > first) & (rows > 0)))
