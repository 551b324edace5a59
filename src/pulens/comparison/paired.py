"""Paired differences between models: intervals and p-values from joint redraws, corrected for many pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pulens.answer import Answer
from pulens.confidence import check_confidence
from pulens.estimate import Interval
from pulens.inference.kernels.quantiles import expanded_tail, percentiles
from pulens.inference.method import IntervalMethod, Limits
from pulens.inference.prior_uncertainty import KnownOfPrior
from pulens.special import ndtr, ndtri, stdtr
from pulens.types import Floats

ROUGH = 10
FEWEST_LABELLED = 2  # of which anything can be said of how rows differ


@dataclass(frozen=True, slots=True)
class Difference(Answer):
    """How much one model's metric exceeds another's, and how sure that is.

    ``probability`` is the share of redraws in which the first model is the better one. ``p_value`` is about this
    pair alone; ``adjusted_p_value`` allows for all pairs that were looked at (Holm). Over a range of class priors both
    are the largest, and ``interval`` covers all of them; a class prior with a confidence is drawn in every redraw.

    >>> print(Difference("roc_auc", "a", "b", 0.03, Interval(0.01, 0.05, 0.95, "percentile"), 0.99, 0.004, 0.004))
    a - b: roc_auc +0.030 [0.010, 0.050], better with probability 0.99, p 0.004
    """

    _keys = (
        *("first", "second", "value", "probability", "p_value", "adjusted_p_value", "interval"),
        "undefined_because?",
    )

    metric: str
    first: str
    second: str
    value: float
    interval: Interval | None
    probability: float
    p_value: float
    adjusted_p_value: float
    undefined_because: str | None = None

    def is_clear(self, confidence: float) -> bool:
        """Whether the difference is clear at this confidence, all pairs considered."""
        return self.adjusted_p_value < 1 - check_confidence(confidence)

    def __str__(self) -> str:
        if self.undefined_because:
            return f"{self.first} - {self.second}: {self.metric} undefined: {self.undefined_because}"
        return (
            f"{self.first} - {self.second}: {self.metric} {self.value:+.3f} {self.interval}, better with probability "
            f"{self.probability:.2f}, p {self.adjusted_p_value:.3f}"
        )


@dataclass(frozen=True, eq=False)
class DifferenceOfRedraws(IntervalMethod):
    """The difference of two models in joint redraws, at every class prior at which it has to be known.

    Percentiles of redraws, spread as a t distribution spreads: few labelled rows say less than they seem to
    (:func:`~pulens.inference.kernels.quantiles.expanded_tail`). Where the class prior is drawn every redraw has its
    own, and there is one column of them.

    >>> pair = DifferenceOfRedraws(np.array([0.0]), [np.linspace(-1, 1, 2001)], 10**9)
    >>> np.round(pair.ends(0, 0.025), 3).tolist()
    [-0.95, 0.95]
    """

    seen: Floats  # difference at each setting of the class prior, its own value first
    redrawn: Sequence[Floats]  # differences of redraws at each
    n_labelled: int

    method = "percentiles of joint redraws"

    def own_setting(self, doubt: KnownOfPrior) -> int:
        return 0

    def value(self, prior: int) -> float:
        return float(self.seen[prior])

    def ends(self, prior: int | None, tail: float) -> Limits:
        each = expanded_tail(tail, self.n_labelled, FEWEST_LABELLED)
        return percentiles(self.redrawn[0 if prior is None else prior], each, each)

    def spread(self, shares: Sequence[int], confidence: float) -> float:
        return max(float(column.std()) for column in self.redrawn)

    def over(self, doubt: KnownOfPrior) -> Sequence[int]:
        return range(self.seen.size)


def two_sided_p(draws: Floats, n_labelled: int, length: float = 0.0) -> float:
    r"""The level at which the interval of :class:`DifferenceOfRedraws` would just touch zero.

    ``length`` is that of the range of differences over the class priors that may be true, in standard errors: an
    interval over a range may miss with :math:`\Phi(-c)` on the near side and :math:`\Phi(-c - length)` on the other
    (:func:`~pulens.inference.kernels.quantiles.tail_for_range`), so that is the level at which it touches zero at c.

    Where fewer than ten redraws lie on the other side of zero their share is too rough a number, and the distance
    of the mean in standard deviations takes its place.

    >>> round(two_sided_p(np.random.default_rng(0).normal(1.96, 1, 100_000), 10**9), 2)
    0.05
    """
    freedom = max(n_labelled - 1, 1)
    other_side = min(int(np.count_nonzero(draws <= 0)), int(np.count_nonzero(draws >= 0)))
    distance = float(-ndtri((max(other_side, ROUGH) + 1) / (draws.size + 1)))
    if other_side < ROUGH and (spread := float(draws.std())) > 0:
        distance = max(distance, abs(float(draws.mean())) / spread)
    if distance <= 0:
        return 1.0
    near = float(stdtr(freedom, -distance * math.sqrt(freedom / max(n_labelled, 2))))
    return float(min(1.0, near + ndtr(ndtri(near) - length)))
