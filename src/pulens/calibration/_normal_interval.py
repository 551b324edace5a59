"""Intervals of estimates that are normal at a given class prior, with the doubt about it carried along."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pulens.confidence import check_confidence
from pulens.estimate import Interval
from pulens.intervals.kernels.quantiles import mixture_ends
from pulens.intervals.prior_doubt import PRIOR_IN_METHOD, PriorDoubt, holding, range_tail

PRIORS_TRIED = 17


def normal_quantile(confidence: float) -> float:
    """The normal quantile of a two-sided interval."""
    from scipy.special import ndtri

    return float(ndtri((1 + check_confidence(confidence)) / 2))


def normal_interval(
    doubt: PriorDoubt, at: Callable[[float], tuple[float, float]], confidence: float
) -> tuple[Interval, dict[str, Interval]]:
    """The interval, and its sources kept apart; ``at`` gives value and standard error at an unlabelled prior.

    Where the class prior is drawn the estimate is a mixture of normal distributions, whose quantiles are the ends
    (:mod:`pulens.intervals.prior_doubt`); value and error are computed at a few class priors and taken as linear in between.
    """
    from scipy.special import ndtri

    value, error = at(doubt.evidence.class_prior.unlabelled)
    reach = normal_quantile(confidence) * error
    sample = Interval(value - reach, value + reach, confidence, "normal")
    sources = {"sample": sample}
    if doubt.own is None:
        return sample, sources
    over = np.array([at(prior) for prior in doubt.over(PRIORS_TRIED)])
    low, high = holding(value, float(over[:, 0].min()), float(over[:, 0].max()))
    sources["class prior"] = Interval(low, high, doubt.own.confidence, "range over the class prior")
    if doubt.treatment == "exact":
        return sample, sources
    if doubt.treatment == "drawn":
        nodes, draws = doubt.nodes()
        values, errors = np.array([at(prior) for prior in nodes.tolist()]).T
        ends = mixture_ends(np.interp(draws, nodes, values), np.interp(draws, nodes, errors), (1 - confidence) / 2)
    else:
        values, errors = over.T
        reach = -float(ndtri(range_tail(confidence, values, float(errors.max()))))
        ends = float((values - reach * errors).min()), float((values + reach * errors).max())
    return Interval(*holding(value, *ends), confidence, f"normal{PRIOR_IN_METHOD[doubt.treatment]}"), sources
