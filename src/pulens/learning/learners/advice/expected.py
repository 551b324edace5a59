r"""What a learner is expected to lose against the best one, from cells of similar conditions.

A cell weighs :math:`w = \kappa \exp(-\tfrac12 \sum_j (\Delta_j / h_j)^2)`, where :math:`\Delta` runs over the decimal
logarithms of labelled rows and of all rows, and the class prior where it is known; :math:`\kappa` lowers cells of
another kind of data, another scenario, or where the class prior was known and now is not. The widths :math:`h` were set
beforehand, not fitted to losses. A data set weighs as its nearest cell does, however many it has, and loses the
weighted mean over its cells: data sets are the unit, since runs on one data set are alike.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from pulens.learning.learners.advice.archived import ArchivedCell, Circumstances
from pulens.types import Floats

WIDTHS = {"labelled": 0.5, "rows": 1.0, "class_prior": 0.25}
OTHER_KIND, OTHER_SCENARIO, OTHER_KNOWLEDGE = 0.05, 0.5, 0.3
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Expected:
    """The mean loss of a learner over data sets, its interval, and the largest on data of the kind asked about."""

    learner: str
    loss: float
    low: float
    high: float
    worst: float
    worst_on: str


def likeness(asked: Circumstances, there: Circumstances) -> float:
    """How much a cell of another condition says about this one, 1 where they are the same.

    >>> here = Circumstances("table", 1000, 100, "single-set", 0.3, True)
    >>> likeness(here, here)
    1.0
    >>> round(likeness(here, Circumstances("text", 1000, 100, "single-set", 0.3, False)), 4)
    0.015
    """
    gaps = [
        (math.log10(asked.labelled) - math.log10(there.labelled)) / WIDTHS["labelled"],
        (math.log10(asked.rows) - math.log10(there.rows)) / WIDTHS["rows"],
    ]
    if asked.class_prior is not None and there.class_prior is not None:
        gaps.append((asked.class_prior - there.class_prior) / WIDTHS["class_prior"])
    weight = math.exp(-0.5 * sum(gap * gap for gap in gaps))
    weight *= 1.0 if asked.kind == there.kind else OTHER_KIND
    weight *= 1.0 if asked.scenario == there.scenario else OTHER_SCENARIO
    return weight * (1.0 if asked.prior_known == there.prior_known else OTHER_KNOWLEDGE)


def expected_losses(cells: Sequence[ArchivedCell], asked: Circumstances) -> list[Expected]:
    """Every learner that was run on data of this kind, the least expected loss first."""
    weights: dict[str, dict[str, float]] = defaultdict(dict)
    losses: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    of_kind: set[str] = set()
    alike = {cell.data_set for cell in cells if cell.condition.kind == asked.kind}
    for cell in cells:
        weight = max(likeness(asked, cell.condition), 1e-300)  # far from all is as near as it gets
        for learner, loss in cell.losses.items():
            here = weights[learner]
            here[cell.data_set] = max(here.get(cell.data_set, 0.0), weight)
            losses[learner][cell.data_set].append((weight, loss))
            if cell.condition.kind == asked.kind:
                of_kind.add(learner)
    result = [_expected(learner, weights[learner], losses[learner], alike) for learner in of_kind]
    return sorted(result, key=lambda one: (one.loss, one.learner))


def _expected(
    learner: str, weights: Mapping[str, float], losses: Mapping[str, list[tuple[float, float]]], alike: Set[str]
) -> Expected:
    names = sorted(weights)
    each = np.array([_mean(losses[name]) for name in names])
    mean, low, high = mean_and_interval(each, np.array([weights[name] for name in names]))
    worst = max((place for place, name in enumerate(names) if name in alike), key=lambda place: float(each[place]))
    return Expected(learner, mean, max(0.0, low), high, float(each[worst]), names[worst])


def _mean(pairs: list[tuple[float, float]]) -> float:
    total = sum(weight for weight, _ in pairs)
    return sum(weight * loss for weight, loss in pairs) / total


def mean_and_interval(values: Floats, weights: Floats | None = None) -> tuple[float, float, float]:
    r"""A weighted mean over data sets and a 95% interval of it that allows for skewed values: Hall (1992).

    With :math:`n = (\sum w)^2 / \sum w^2` data sets that count, standard deviation s and skewness :math:`\gamma`,
    :math:`g(T) = T + \gamma T^2/3 + \gamma^2 T^3/27 + \gamma/6n` of :math:`T = (\bar x - \mu)/s` is nearly
    symmetric; Student's t gives its ends. Of a single data set nothing is known: the interval has no end.

    >>> [round(float(value), 2) for value in mean_and_interval(np.array([1.0, 2.0, 3.0, 4.0]))]
    [2.5, 0.45, 4.55]
    """
    share = np.full(values.size, 1.0) if weights is None else np.asarray(weights, float)
    share = share / share.sum()
    mean = float(share @ values)
    n = 1.0 / float((share**2).sum())
    if n < 1.05:
        return mean, -math.inf, math.inf
    around = values - mean
    deviation = math.sqrt(float(share @ around**2) * n / (n - 1))
    if deviation == 0.0:
        return mean, mean, mean
    skewness = float(share @ around**3) / deviation**3
    reach = float(student.ppf(0.5 + CONFIDENCE / 2, n - 1)) / math.sqrt(n)
    ends = [mean - deviation * _untransformed(end, skewness, n) for end in (reach, -reach)]
    return mean, min(ends), max(ends)


def _untransformed(value: float, skewness: float, n: float) -> float:
    if abs(skewness) < 1e-9:
        return value
    return 3 / skewness * (float(np.cbrt(1 + skewness * (value - skewness / (6 * n)))) - 1)
