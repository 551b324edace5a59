"""Learners ranked over data sets: Friedman's test, Nemenyi's critical difference and who do not clearly differ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import sqrt
from statistics import fmean

import numpy as np
from scipy import stats

from pulens.errors import InputError
from pulens.research.benchmark.analyse.cells import Cells, complete


@dataclass(frozen=True)
class MeanRanks:
    """Mean ranks over data sets, 1 being best."""

    learners: tuple[str, ...]  # best first
    ranks: tuple[float, ...]
    datasets: tuple[str, ...]
    statistic: float  # Friedman's chi square, corrected for ties
    p_value: float
    iman_davenport: float  # its less conservative F form
    iman_davenport_p_value: float
    critical_difference: float  # Nemenyi: mean ranks closer than this are not distinguished
    groups: tuple[tuple[str, ...], ...]  # longest runs of learners that are not distinguished

    def __str__(self) -> str:
        lines = [f"{rank:5.2f}  {name}" for name, rank in zip(self.learners, self.ranks, strict=True)]
        lines.append(
            f"critical difference {self.critical_difference:.2f} over {len(self.datasets)} data sets; "
            f"Friedman p = {self.p_value:.2g}"
        )
        return "\n".join(lines)


def critical_difference(learners: int, datasets: int, level: float = 0.05) -> float:
    r"""Nemenyi's :math:`q_\alpha \sqrt{k (k + 1) / 6 N}`, with q the studentised range over :math:`\sqrt 2`.

    >>> round(critical_difference(5, 30), 3)
    1.114
    """
    return _studentised(learners, level) / sqrt(2) * sqrt(learners * (learners + 1) / (6 * datasets))


@cache
def _studentised(learners: int, level: float) -> float:
    return float(stats.studentized_range.ppf(1 - level, learners, np.inf))


def rank(cells: Cells, level: float = 0.05) -> MeanRanks:
    """Rank the learners that have most data sets, on the data sets that all of them have (means over seeds)."""
    learners, datasets = complete(cells)
    k, n = len(learners), len(datasets)
    if k < 3 or n < 2:
        raise InputError(f"ranks need at least 3 learners with 2 data sets in common, got {k} and {n}.")
    means = np.array([[fmean(cells[name, one].values()) for name in learners] for one in datasets])
    table = stats.rankdata(-means.round(12), axis=1)
    mean_ranks = table.mean(0)
    statistic, p_value = friedman(table)
    f, f_p = iman_davenport(statistic, n, k)
    order = sorted(range(k), key=lambda place: (mean_ranks[place], learners[place]))
    names, ranks = tuple(learners[place] for place in order), tuple(float(mean_ranks[place]) for place in order)
    difference = critical_difference(k, n, level)
    return MeanRanks(
        names, ranks, tuple(datasets), statistic, p_value, f, f_p, difference, groups(names, ranks, difference)
    )


def friedman(table: np.ndarray) -> tuple[float, float]:
    """Friedman's chi square of ranks [data sets, learners], corrected for ties, and its p-value."""
    n, k = table.shape
    ties = sum(float((counts**3 - counts).sum()) for row in table for _, counts in [np.unique(row, return_counts=True)])
    correction = 1 - ties / (n * (k**3 - k))
    if correction <= 0:  # every learner ties everywhere
        return 0.0, 1.0
    spread = ((table.sum(0) - n * (k + 1) / 2) ** 2).sum()
    statistic = 12 * float(spread) / (n * k * (k + 1)) / correction
    return statistic, float(stats.chi2.sf(statistic, k - 1))


def iman_davenport(statistic: float, datasets: int, learners: int) -> tuple[float, float]:
    """The F form of Friedman's statistic and its p-value."""
    rest = datasets * (learners - 1) - statistic
    if rest <= 0:
        return float("inf"), 0.0
    f = (datasets - 1) * statistic / rest
    return f, float(stats.f.sf(f, learners - 1, (learners - 1) * (datasets - 1)))


def groups(learners: tuple[str, ...], ranks: tuple[float, ...], difference: float) -> tuple[tuple[str, ...], ...]:
    """Longest runs of neighbours whose mean ranks differ by less than the critical difference.

    >>> groups(("a", "b", "c"), (1.0, 1.5, 3.0), 1.6)
    (('a', 'b'), ('b', 'c'))
    """
    result: list[tuple[int, int]] = []
    for first, low in enumerate(ranks):
        last = max(place for place, high in enumerate(ranks) if high - low < difference)
        if last > first and not (result and result[-1][1] >= last):
            result.append((first, last))
    return tuple(learners[first : last + 1] for first, last in result)
