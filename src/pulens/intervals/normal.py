"""Intervals of estimates that are normal at a given class prior, with the doubt about it carried along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pulens.confidence import check_confidence
from pulens.estimate import Interval
from pulens.intervals.construction import Construction, Ends
from pulens.intervals.kernels.quantiles import mixture_ends, one_tail
from pulens.intervals.policy import ends_in_doubt
from pulens.intervals.prior_doubt import SHARES_TRIED, PriorDoubt, holding


@dataclass(frozen=True, eq=False)
class Normal(Construction):
    """A number with a standard error: ``at`` gives both at a share of positives among the unlabelled rows.

    Where the share is drawn the estimate is a mixture of normal distributions, whose quantiles are the ends; number and
    error are computed at a few shares and taken as linear in between.
    """

    at: Callable[[float], tuple[float, float]]
    doubt: PriorDoubt
    _known: dict[float, tuple[float, float]] = field(default_factory=dict)

    method = "normal"
    shares_tried = SHARES_TRIED

    def _number(self, prior: float) -> tuple[float, float]:
        if prior not in self._known:
            self._known[prior] = self.at(prior)
        return self._known[prior]

    def value(self, prior: float) -> float:
        return self._number(prior)[0]

    def ends(self, prior: float | None, tail: float) -> Ends:
        from scipy.special import ndtri

        if prior is None:
            nodes, draws = self.doubt.nodes()
            values, errors = np.array([self._number(share) for share in nodes.tolist()]).T
            return mixture_ends(np.interp(draws, nodes, values), np.interp(draws, nodes, errors), tail)
        value, error = self._number(prior)
        reach = -float(ndtri(tail)) * error
        return value - reach, value + reach

    def spread(self, shares: Sequence[float], confidence: float) -> float:
        return max(self._number(share)[1] for share in shares)


def normal_interval(
    doubt: PriorDoubt, at: Callable[[float], tuple[float, float]], confidence: float
) -> tuple[Interval, dict[str, Interval]]:
    """The interval, and its sources kept apart; ``at`` gives value and standard error at an unlabelled prior."""
    confidence = check_confidence(confidence)
    construction = Normal(at, doubt)
    own = doubt.evidence.class_prior.unlabelled
    value = construction.value(own)
    sample = Interval(*construction.ends(own, one_tail(confidence)), confidence, construction.method)
    sources = {"sample": sample}
    if doubt.own is not None:
        sources["class prior"] = range_over_the_prior(construction, doubt, value)
    if doubt.treatment == "exact":
        return sample, sources
    low, high, method = ends_in_doubt(construction, doubt, confidence)
    return Interval(*holding(value, low, high), confidence, method), sources


def range_over_the_prior(construction: Construction, doubt: PriorDoubt, value: float) -> Interval:
    """Smallest and largest value over the class prior's own interval, the rows being what they are."""
    assert doubt.own is not None
    found = [construction.value(share) for share in doubt.over(construction.shares_tried)]
    return Interval(*holding(value, min(found), max(found)), doubt.own.confidence, "range over the class prior")
