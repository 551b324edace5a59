"""Measures of labelled rows against all others, as the PULP paper compares them: kernels over operating points.

Each takes rows called positive and hits (arrays), all rows and all labelled rows, and gives 0 where it is 0/0, so
that an average over operating points exists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.operating_points import average, read_ranking
from pulens.counts.tally import Tally, Totals
from pulens.metrics.parts.metric import divide
from pulens.recovery.assumptions import Assumptions
from pulens.scenario import Scenario
from pulens.types import Floats


def f1_at(called: Any, hits: Any, rows: int, labelled: int) -> Floats:
    """2k / (i + t).

    >>> f1_at([4], [2], 8, 3).round(6)
    array([0.571429])
    """
    return divide(2 * np.asarray(hits, float), np.asarray(called) + labelled, empty=0.0)


def lee_liu_at(called: Any, hits: Any, rows: int, labelled: int) -> Floats:
    """(k/t)^2 / (i/N): squared recall over the share called positive.

    >>> lee_liu_at([4], [2], 8, 3).round(6)
    array([0.888889])
    """
    recall = np.asarray(hits, float) / labelled
    return divide(recall**2 * rows, called, empty=0.0)


def pseudo_f_at(called: Any, hits: Any, rows: int, labelled: int, *, prior: float | None = None) -> Floats:
    """2 (k/t) / (i/N + prior), the prior being t/N unless it is known.

    >>> pseudo_f_at([4], [2], 8, 3, prior=0.4).round(6)
    array([1.481481])
    """
    known = labelled / rows if prior is None else prior
    return divide(2 * np.asarray(hits, float) / labelled, np.asarray(called) / rows + known, empty=0.0)


def matthews_at(called: Any, hits: Any, rows: int, labelled: int) -> Floats:
    """Correlation of labels and calls: Pearson's for two yes-or-no variables, Matthews's.

    >>> matthews_at([4], [2], 8, 3).round(6)
    array([0.258199])
    """
    i, k = np.asarray(called, float), np.asarray(hits, float)
    spread = np.sqrt(i * (rows - i)) * np.sqrt(float(labelled) * (rows - labelled))
    return divide(k * rows - i * labelled, spread, empty=0.0)


def mutual_information_at(called: Any, hits: Any, rows: int, labelled: int) -> Floats:
    """What a prediction says about the label, in nats: sum over the four cells of p log(p / expected p).

    >>> mutual_information_at([4], [2], 8, 3).round(6)
    array([0.033822])
    """
    i, k = np.asarray(called, float), np.asarray(hits, float)
    cells = (k, i - k, labelled - k, rows - labelled - i + k)
    margins = ((i, labelled), (i, rows - labelled), (rows - i, labelled), (rows - i, rows - labelled))
    total: Floats = np.zeros(np.broadcast(i, k).shape)
    for cell, (first, second) in zip(cells, margins, strict=True):
        ratio = divide(cell * rows, first * second, empty=1.0)
        total = total + cell * np.log(np.where(cell > 0, ratio, 1.0))  # 0 log 0 is 0
    return np.maximum(total / rows, 0.0)  # never negative, but for rounding


def average_over_points(
    tally: Tally, ties: str, name: str, kernel: Callable[..., NDArray[np.float64]], **options: Any
) -> float:
    """Mean of a kernel over the N + 1 operating points of the ranking of all rows: the averages of the PULP paper."""
    ranking, rule = read_ranking(tally, ties, name)
    rows, labelled = ranking.rows, ranking.hits
    return average(ranking, lambda called, hits: kernel(called, hits, rows, labelled, **options), rule)


def recall_and_share(tally: Tally, threshold: float, assumptions: Assumptions) -> tuple[float, float]:
    """Recall of the labelled rows, and the share of the population called positive.

    The population is what the scenario says: the unlabelled rows in case-control, all rows in the single set.
    """
    called, totals = tally.at(threshold), tally.totals
    if assumptions.scenario is Scenario.CASE_CONTROL and totals.unlabelled:
        return called.labelled / totals.labelled, called.unlabelled / totals.unlabelled
    return called.labelled / totals.labelled, called.rows / totals.rows


def class_prior_of(totals: Totals, assumptions: Assumptions) -> float:
    """Share of positives in the population that the scenario defines."""
    if assumptions.scenario is Scenario.CASE_CONTROL and totals.unlabelled:
        return assumptions.unlabelled_prior
    positive = assumptions.labelled_purity * totals.labelled + assumptions.unlabelled_prior * totals.unlabelled
    return positive / totals.rows
