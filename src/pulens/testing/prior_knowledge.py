"""What a simulation tells an evaluation about the class prior, when it is not the truth itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pulens.estimate import Interval
from pulens.priors import ClassPrior

__all__ = ["another_study"]

GOLDEN = (math.sqrt(5) - 1) / 2
METHOD = "another study"


def another_study(
    class_prior: float, labels: Any, scenario: str, place: int, *, relative_error: float = 0.1
) -> ClassPrior:
    """An estimate of the class prior from elsewhere, with its 95% interval, whose error is normal.

    The errors of the sets ``place`` = 0, 1, 2, ... are spread evenly over their distribution (by the golden ratio): all
    metrics of a set share one error, so a few hundred drawn at random would move all coverages together.

    >>> print(another_study(0.3, np.repeat([1, 0], [20, 80]), "case-control", 0).interval)
    [0.241, 0.359]
    """
    from pulens.special import ndtri

    error = relative_error * class_prior
    result = class_prior + error * float(ndtri((0.5 + place * GOLDEN) % 1))
    result = min(max(result, 0.1 * class_prior), 0.95)
    population = max(result - 1.96 * error, 0.0), result, result + 1.96 * error
    share = population
    if scenario == "single-set":  # the study is about the population; what is left of it is unlabelled
        codes = np.asarray(labels)
        labelled, unlabelled = (int(np.count_nonzero(codes == code)) for code in (1, 0))
        low, middle, high = (max((end * codes.size - labelled) / unlabelled, 0.0) for end in population)
        share = low, middle, high
    own, rest = (Interval(ends[0], ends[2], 0.95, METHOD) for ends in (population, share))
    return ClassPrior(result, share[1], METHOD, own, rest)
