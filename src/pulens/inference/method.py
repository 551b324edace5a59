"""The contract of a construction: a number, and the ends that the rows put around it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from pulens.cached import cached_method
from pulens.inference.kernels.quantiles import normal_quantile, one_tail
from pulens.inference.prior_uncertainty import PRIORS_IN_RANGE, KnownOfPrior, holding

Limits: TypeAlias = tuple[Any, Any]  # low and high: a number each, or an array each for many numbers at once


class IntervalMethod(ABC):
    """How the interval of one number is made from the rows.

    It answers two questions, both at a share of positives among the unlabelled rows (``prior``), and knows nothing of
    how sure that share is; what to do about a share in doubt is the policy's (:mod:`pulens.inference.policy`).

    ``value(prior)``
        the number, if the share is ``prior``;
    ``ends(prior, tail)``
        between what the rows put it, each end being missed with the chance ``tail``. ``prior=None`` asks for the ends
        where the share is drawn from its own distribution, together with the rows.
    """

    method: str  # as the interval names it
    is_smooth: ClassVar[bool] = True  # in the share; if not, shares are never drawn
    shares_tried: ClassVar[int] = PRIORS_IN_RANGE  # over a range: what is found there is smooth in between
    #: ends that fit those of the same number elsewhere, of evidence, parameters and what finds ends at parameters
    fitted: ClassVar[Callable[..., Limits] | None] = None
    #: of a distance, which is nowhere below 0: its lower end at a share and a tail where labelling may be any plausible
    #: one, the least of which counts
    least: ClassVar[Callable[..., float] | None] = None

    @abstractmethod
    def value(self, prior: Any) -> Any: ...

    @abstractmethod
    def ends(self, prior: Any, tail: Any) -> Limits: ...

    def own_setting(self, doubt: KnownOfPrior) -> Any:
        """The share that was given or estimated."""
        return doubt.own_setting

    def spread(self, shares: Sequence[Any], confidence: float) -> Any:
        """The largest standard error at these shares; it says how long a range of shares is in the number's terms."""
        result = np.array([self.ends(share, one_tail(confidence)) for share in shares])
        return (result[:, 1] - result[:, 0]).max(axis=0) / (2 * normal_quantile(confidence))

    def over(self, doubt: KnownOfPrior) -> Sequence[Any]:
        """The shares at which the number is looked at where the share is only known to lie in a range."""
        return doubt.over(self.shares_tried)


@dataclass(frozen=True, eq=False)
class Clipped(IntervalMethod):
    """A construction whose ends hold the known value and are cut to what the number can be.

    ``cut`` is what clipping added to the value: an estimate beyond the edge of what is possible counts as one at the
    edge, with its own spread. What lies within the edges then only grows. ``factor`` says how many times as far from
    the value the rows put the ends as the construction says, where more is drawn than the rows.
    """

    within: IntervalMethod
    known: float
    own_prior: Any
    own_tail: float
    cut: float = 0.0
    lowest: float = 0.0
    highest: float = 1.0
    factor: float = 1.0

    @property
    def method(self) -> str:  # type: ignore[override]
        return self.within.method

    def value(self, prior: Any) -> Any:
        return self.within.value(prior)

    def over(self, doubt: KnownOfPrior) -> Sequence[Any]:
        return self.within.over(doubt)

    @cached_method()
    def ends(self, prior: Any, tail: float) -> Limits:
        low, high = holding(self.known, *(self._cut(prior, tail) if self.factor == 1 else self._wider(prior, tail)))
        return min(max(low, self.lowest), self.highest), min(max(high, self.lowest), self.highest)

    def _cut(self, prior: Any, tail: float) -> Limits:
        low, high = self.within.ends(prior, tail)
        return low + min(self.cut, 0.0), high + max(self.cut, 0.0)

    def _wider(self, prior: Any, tail: float) -> Limits:
        """What is drawn beside the rows adds to their variance; the doubt about the share stays what it is."""
        share = self.own_prior if prior is None else prior
        value = self.known if share == self.own_prior else self.value(share)
        more = math.sqrt(self.factor**2 - 1)
        ends, of_rows = self._cut(prior, tail), self._cut(share, tail)
        below, above = (
            math.hypot(end - value, more * (alone - value)) for end, alone in zip(ends, of_rows, strict=True)
        )
        return value - below, value + above

    def spread(self, shares: Sequence[Any], confidence: float) -> float:
        low, high = self.ends(self.own_prior, self.own_tail)
        return float((high - low) / (2 * normal_quantile(confidence)))
