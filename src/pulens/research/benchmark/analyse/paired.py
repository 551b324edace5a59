"""Is one learner better than another? Tests on the differences of runs with the same seed."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from scipy import special, stats

from pulens.errors import InputError, listed
from pulens.inference.kernels.holm import holm
from pulens.research.benchmark.analyse.cells import Cells, datasets_of, learners_of


@dataclass(frozen=True)
class Paired:
    """A learner against another on one data set."""

    learner: str
    against: str
    dataset: str
    n: int  # seeds that both have
    difference: float  # mean over seeds, learner minus the other
    p_value: float  # two-sided, before correction
    corrected: float  # after Holm's correction over the learners compared on this data set

    def verdict(self, level: float = 0.05) -> str:
        """ "better", "worse" or "tie"."""
        if not self.corrected < level:
            return "tie"
        return "better" if self.difference > 0 else "worse"


def differences(cells: Cells, learner: str, against: str, dataset: str) -> np.ndarray:
    """Learner minus the other, one number per seed that both have, in the order of seeds."""
    mine, theirs = cells.get((learner, dataset), {}), cells.get((against, dataset), {})
    return np.array([mine[seed] - theirs[seed] for seed in sorted(mine.keys() & theirs.keys())])


def t_test(differences: np.ndarray) -> float:
    """Two-sided p-value of the paired t-test; undefined below two pairs, 1 where nothing differs at all.

    >>> round(t_test(np.array([0.1, 0.2, 0.15])), 4)
    0.0351
    """
    if differences.size < 2:
        return nan
    if np.ptp(differences) <= 1e-12 * max(1.0, float(np.abs(differences).max())):
        return 1.0 if abs(differences[0]) < 1e-12 else 0.0
    n = differences.size
    t = float(differences.mean()) / (float(differences.std(ddof=1)) / sqrt(n))
    return float(2 * special.stdtr(n - 1, -abs(t)))


def against_reference(cells: Cells, reference: str = "nnpu") -> list[Paired]:
    """Every learner against one, data set by data set, as Table D.6 of PU-Bench does with nnPU.

    The correction is Holm's over the learners on the same data set (section D.2.2).
    """
    if reference not in learners_of(cells):
        raise InputError(
            f"there is no run of {reference!r} to compare with; learners are {listed(learners_of(cells))}."
        )
    result = []
    for dataset in datasets_of(cells):
        others = [name for name in learners_of(cells) if name != reference and (name, dataset) in cells]
        pairs = [differences(cells, name, reference, dataset) for name in others]
        p_values = [t_test(pair) for pair in pairs]
        for name, pair, p, corrected in zip(others, pairs, p_values, holm(p_values), strict=True):
            mean = float(pair.mean()) if pair.size else nan
            result.append(Paired(name, reference, dataset, pair.size, mean, p, corrected))
    return result


@dataclass(frozen=True)
class Record:
    """How often a learner won, tied and lost against the others, over all data sets."""

    learner: str
    wins: int
    ties: int
    losses: int


def win_tie_loss(cells: Cells, level: float = 0.05) -> list[Record]:
    """Every pair of learners on every data set, Holm-corrected over the pairs of a data set; best record first."""
    names = learners_of(cells)
    counts = {name: [0, 0, 0] for name in names}
    for dataset in datasets_of(cells):
        there = [name for name in names if (name, dataset) in cells]
        pairs = [(a, b) for place, a in enumerate(there) for b in there[place + 1 :]]
        result = [differences(cells, a, b, dataset) for a, b in pairs]
        for (a, b), pair, p in zip(pairs, result, holm([t_test(pair) for pair in result]), strict=True):
            if np.isnan(p):
                continue
            ahead, behind = (a, b) if pair.mean() > 0 else (b, a)
            places = (0, 2) if p < level else (1, 1)
            counts[ahead][places[0]] += 1
            counts[behind][places[1]] += 1
    records = [Record(name, *counts[name]) for name in names]
    return sorted(records, key=lambda one: (one.losses - one.wins, -one.wins, one.learner))


def wilcoxon(cells: Cells, learner: str, against: str) -> tuple[int, float]:
    """Signed-rank test over data sets of the mean differences over seeds: number of data sets and two-sided p-value.

    The right unit for "better in general": seeds of one data set are not independent data sets (Demšar 2006).
    """
    means = [  # rounded as ranks are: in the last digits equal differences are not equal, and ties would be lost
        round(float(pair.mean()), 12)
        for one in datasets_of(cells)
        if (pair := differences(cells, learner, against, one)).size
    ]
    if len(means) < 2 or not any(means):
        return len(means), nan if len(means) < 2 else 1.0
    return len(means), float(stats.wilcoxon(means, zero_method="zsplit").pvalue)
