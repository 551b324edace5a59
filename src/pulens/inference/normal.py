"""Intervals of estimates that are normal at a given class prior, with the doubt about it carried along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.cached import cached_method
from pulens.confidence import check_confidence
from pulens.estimate import Interval
from pulens.inference.kernels.quantiles import mixture_ends, one_tail
from pulens.inference.method import IntervalMethod, Limits
from pulens.inference.policy import ends_in_doubt
from pulens.inference.prior_uncertainty import SHARES_TRIED, KnownOfPrior, PriorUncertainty, holding, key_of_setting


@dataclass(frozen=True, eq=False)
class Normal(IntervalMethod):
    """A number with a standard error: ``at`` gives both at a setting of the class prior.

    Where a share is drawn the estimate is a mixture of normal distributions, whose quantiles are the ends; number and
    error are computed at a few shares and taken as linear in between. Settings of strata have their draws in the error.
    """

    at: Callable[[Any], tuple[float, float]]
    doubt: KnownOfPrior

    method = "normal"
    shares_tried = SHARES_TRIED

    @cached_method(key_of_setting)
    def _number(self, prior: Any) -> tuple[float, float]:
        return self.at(prior)

    def value(self, prior: Any) -> float:
        return self._number(prior)[0]

    def ends(self, prior: Any, tail: float) -> Limits:
        from pulens.special import ndtri

        if prior is None and isinstance(self.doubt, PriorUncertainty):
            nodes, draws = self.doubt.nodes()
            values, errors = np.array([self._number(share) for share in nodes.tolist()]).T
            return mixture_ends(np.interp(draws, nodes, values), np.interp(draws, nodes, errors), tail)
        value, error = self._number(self.doubt.setting(prior))
        reach = -float(ndtri(tail)) * error
        return value - reach, value + reach

    def spread(self, shares: Sequence[Any], confidence: float) -> float:
        return max(self._number(share)[1] for share in shares)


def normal_interval(
    doubt: KnownOfPrior, at: Callable[[Any], tuple[float, float]], confidence: float
) -> tuple[Interval, dict[str, Interval]]:
    """The interval, and its sources kept apart; ``at`` gives value and standard error at a setting of the prior."""
    confidence = check_confidence(confidence)
    construction = Normal(at, doubt)
    own = doubt.own_setting
    value = construction.value(own)
    sample = Interval(*construction.ends(own, one_tail(confidence)), confidence, construction.method)
    sources = {"sample": sample}
    reach = doubt.own if isinstance(doubt, PriorUncertainty) else None
    if reach is not None or doubt.treatment == "range":
        tried = [construction.value(setting) for setting in doubt.over(construction.shares_tried)]
        sure = None if reach is None else reach.confidence
        sources["class prior"] = Interval(*holding(value, min(tried), max(tried)), sure, "range over the class prior")
    if doubt.treatment == "exact":
        return sample, sources
    low, high, method = ends_in_doubt(construction, doubt, confidence)
    return Interval(*holding(value, low, high), confidence, method), sources
