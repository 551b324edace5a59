r"""One policy for a class prior that is not known exactly, in every door that makes an interval.

Let :math:`\alpha_0` be the true share of positives among the unlabelled rows, :math:`\theta(\alpha)` what a statistic
tends to when the share is taken to be :math:`\alpha`, and :math:`\hat\theta(\alpha)` what the rows show. The truth is
:math:`\theta(\alpha_0)`. What may be done depends on what is known of :math:`\alpha_0`:

*exact*
    A number, or a range of width zero: the interval of the rows at that share.

*drawn*
    A share :math:`\hat\alpha` that misses the truth by chance, with an interval at a confidence or a distribution: in
    every redraw of the rows the share is drawn too, once, and everything that redraw measures (each model of a
    comparison, both coefficients of a line) uses it. To first order the error of
    :math:`\hat\theta(\hat\alpha)` is that of the rows at :math:`\alpha_0` plus
    :math:`\theta'(\alpha_0)(\hat\alpha - \alpha_0)`; redraws vary by the same two terms, so their percentiles hold the
    truth as often as they claim wherever :math:`\theta` is smooth. Where the interval at a fixed share has a closed
    form nothing is redrawn: the ends are quantiles of the mixture of its distributions over the shares.

*range*
    Bounds and nothing else: the truth may lie anywhere between them, and no distribution may be put on it. The
    interval is the hull of those at every share of the range. A truth at one end of a range of length
    :math:`\Delta` can be missed on the near side, and on the other only by an error of :math:`\Delta` more, so
    each interval may miss as often as Imbens and Manski (2004) allow
    (:func:`~pulens.inference.kernels.quantiles.tail_for_range`).

*split*
    The calibration error has a kink: over the share :math:`\sum_b |g_b(\alpha)|` is lowest where the model is best
    calibrated, and moving the share either way raises it. Draws around :math:`\hat\alpha` are then all too high and
    their percentiles leave out a truth at the kink however many rows there are. A hull needs no smoothness:
    if the share's interval misses :math:`\alpha_0` with chance at most :math:`\delta_1`, and that of the rows misses
    :math:`\theta(\alpha_0)` with chance at most :math:`\delta_2`, the hull of the second over the first
    misses with chance at most :math:`\delta_1 + \delta_2`, dependent or not (Bonferroni). Half of the error allowed for
    each makes the sum exactly the confidence asked for: 97.5% twice for 95%. A share known by an interval at
    another confidence is stretched to the level needed as the draws are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.inference.kernels.quantiles import spread_of_interval, tail_for_range
from pulens.recovery.many import HIGHEST_SHARE
from pulens.types import Floats

Treatment = Literal["exact", "drawn", "range"]
PRIORS_IN_RANGE = 5  # shares of a range at which an interval is found; what it holds is smooth in between
PRIOR_IN_METHOD = {"exact": "", "drawn": ", class prior drawn", "range": ", over the range of the class prior"}
SHARES_TRIED = 17  # and those of a number that is quick to compute
GRID = 201  # quantiles that stand for the distribution of the share
NODES = np.linspace(-3.0, 3.0, 17)  # normal quantiles at which a costly statistic is computed, and linear in between


class Mixture(NamedTuple):
    """A number and its standard error at some class priors, and where others lie between these; or at all of them."""

    values: Floats
    errors: Floats
    nodes: Floats | None = None
    draws: Floats | None = None

    def over(self, numbers: Floats) -> Floats:
        """Numbers at the nodes, linear in between."""
        return numbers if self.nodes is None or self.draws is None else np.interp(self.draws, self.nodes, numbers)


class KnownOfPrior(Protocol):
    """What a policy has to know of a class prior: of all rows (:class:`PriorUncertainty`), or of every stratum.

    A setting is one way in which the class prior may be: a share, or one for each stratum.
    """

    @property
    def treatment(self) -> Treatment: ...
    @property
    def own_setting(self) -> Any: ...
    def setting(self, prior: Any) -> Any: ...
    def mixture(self, prior: Any, value: Callable[..., float], error: Callable[..., float]) -> Mixture | None: ...
    def over(self, many: int, confidence: float | None = None) -> Sequence[Any]: ...
    def of_contrast(self) -> KnownOfPrior:
        """For a difference of two such numbers."""


@dataclass(frozen=True)
class PriorUncertainty:
    """What is known of the share of positives among the unlabelled rows, and what that allows.

    >>> from pulens.evidence import gather
    >>> doubt = PriorUncertainty(gather([1, 0, 0], [0.9, 0.5, 0.1], unlabelled_prior=(0.1, 0.3)))
    >>> doubt.treatment, doubt.over(3)
    ('range', [0.1, 0.2, 0.3])
    """

    evidence: Evidence
    matters: bool = True  # whether the number in question depends on the share at all

    @property
    def own(self) -> Interval | None:
        """The share's own interval or range, however narrow, without what redraws of the rows bring along."""
        return self.evidence.class_prior.drawn_interval

    @property
    def treatment(self) -> Treatment:
        if not self.matters or self.evidence.class_prior.is_exact or self.own is None:
            return "exact"
        return "range" if self.own.confidence is None else "drawn"

    @property
    def own_setting(self) -> float:
        """The share that was given or estimated."""
        return self.evidence.class_prior.unlabelled

    def setting(self, prior: float | None) -> float:
        """The share around which ends lie, where ``None`` asks for one that is drawn."""
        return self.own_setting if prior is None else prior

    def of_contrast(self) -> PriorUncertainty:
        return self

    def mixture(
        self, prior: float | None, value: Callable[[float], float], error: Callable[[float], float]
    ) -> Mixture | None:
        """Values and standard errors over the distribution of the share; ``None`` where it is held."""
        if prior is not None:
            return None
        nodes, draws = self.nodes()
        some = nodes[np.unique([0, nodes.size // 2, nodes.size - 1])]
        values = np.array([value(share) for share in nodes.tolist()])
        errors = np.interp(nodes, some, [error(share) for share in some.tolist()])
        known = ~np.isnan(values) & ~np.isnan(errors)
        return Mixture(values[known], errors[known], nodes[known], draws)

    def drawn(self, normal: Any) -> Any:
        """The share in each redraw, from one standard normal number each; beyond what is possible here and there."""
        from pulens.special import ndtr

        known, own = self.evidence.class_prior, self.own
        if self.treatment != "drawn" or own is None or own.confidence is None:
            return known.unlabelled
        if known.distribution is not None:
            return np.interp(ndtr(normal), *self._quantiles)
        return spread_of_interval(known.unlabelled, own.low, own.high, own.confidence, np.asarray(normal))

    @cached_property
    def _quantiles(self) -> tuple[Floats, Floats]:
        """Quantiles of the estimated share's own distribution."""
        distribution = self.evidence.class_prior.distribution
        assert distribution is not None
        levels = np.concatenate([[0.0], (np.arange(GRID) + 0.5) / GRID, [1.0]])
        return levels, distribution.quantiles(levels)

    def possible(self, shares: Any) -> Floats:
        """Shares kept from 0 to just below the purity of the labelled rows, where labels would say nothing."""
        highest = (1 - self.evidence.label_noise) * HIGHEST_SHARE
        return np.asarray(np.clip(np.asarray(shares, float), 0.0, highest))

    def over(self, many: int, confidence: float | None = None) -> list[float]:
        """This many shares, evenly over the share's own interval, or over the one it would have at ``confidence``."""
        own = self.own
        if own is None:
            return [self.evidence.class_prior.unlabelled]
        low, high = own.low, own.high
        if confidence is not None and self.treatment == "drawn":
            low, high = self._at_confidence(confidence)
        low, high = self.possible([low, high]).tolist()
        return [float(share) for share in np.linspace(low, high, many)]

    def _at_confidence(self, confidence: float) -> tuple[float, float]:
        distribution = self.evidence.class_prior.distribution
        if distribution is not None:
            return distribution.interval(confidence)
        from pulens.special import ndtri

        reach = float(ndtri((1 + confidence) / 2))
        low, high = self.drawn(np.array([-reach, reach]))
        return float(low), float(high)

    def lowest_first(self, spread: float = 0.0) -> list[float]:
        """Even quantiles of the share; of a range its lower end, of which nothing else can be said to be likely.

        ``spread`` is the standard error of a share that follows from the class prior of the population.
        """
        if self.treatment == "drawn":
            return self._listed(self.drawn(_even_normals()))
        share = self.evidence.class_prior.unlabelled if self.treatment == "exact" else self.over(1)[0]
        return self._listed(share + spread * _even_normals()) if spread else [share]

    def _listed(self, shares: Any) -> list[float]:
        return [float(share) for share in self.possible(shares)]

    def nodes(self) -> tuple[Floats, Floats]:
        """Shares from end to end of the distribution, in rising order, and the even quantiles they stand for."""
        draws = self.possible(self.drawn(_even_normals()))
        nodes = np.unique(self.possible(self.drawn(NODES)))
        return nodes, np.clip(draws, nodes[0], nodes[-1])


def key_of_setting(prior: Any) -> Any:
    """What tells settings of the class prior apart: a share itself, or those of strata with their draws."""
    return getattr(prior, "key", prior)


@singledispatch
def known_of_prior(evidence: Evidence, order: Callable[[Any], Floats]) -> KnownOfPrior:
    """What is known of the class prior; of those of strata, which extreme splits fill in this ``order``."""
    return PriorUncertainty(evidence)


def _even_normals() -> Floats:
    """Quantiles of the standard normal distribution at even levels."""
    from pulens.special import ndtri

    return np.asarray(ndtri((np.arange(GRID) + 0.5) / GRID))


def half_of_the_error(confidence: float) -> float:
    """The confidence of each of two intervals that must both hold, for the two together to have this one.

    >>> half_of_the_error(0.95)
    0.975
    """
    return (1 + confidence) / 2


def range_tail(confidence: float, values: Sequence[Any] | Floats, spread: Any) -> Any:
    """How often an interval within a hull over a range may miss on either side; ``values`` are those over the range.

    With an array for each share of the range, one tail for each of its places.
    """
    kept = np.asarray(values, float)
    if kept.ndim > 1:
        return tail_for_range(confidence, np.ptp(kept, axis=0), spread)
    kept = kept[~np.isnan(kept)]
    return float(tail_for_range(confidence, float(np.ptp(kept)) if kept.size else 0.0, spread))


def holding(value: float, low: float, high: float) -> tuple[float, float]:
    """Ends that hold the value: a percentile of redraws that all err to one side may leave it out.

    The value is the best answer that the rows give, so an interval without it would contradict itself; holding it only
    widens the interval. It is done before anything is cut to what a metric can be, so that a value
    beyond the possible and its interval are cut alike.

    >>> holding(0.1234, 0.1263, 0.2)
    (0.1234, 0.2)
    """
    return min(low, value), max(high, value)
