"""How doubt about the class prior enters an interval: the hull of intervals over the priors that may be true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pulens.errors import PulensError
from pulens.estimate import Interval
from pulens.evidence import Evidence

PRIORS_TRIED = 17


@dataclass(frozen=True, slots=True)
class PriorDoubt:
    """Unlabelled priors to try, the normal quantile for the sample's part, and what the hull may claim.

    A bare range costs nothing: the truth is in it. A class prior that is itself uncertain takes half of the error
    allowed, where its distribution is known; where only an interval is known, the errors of both add up.
    """

    priors: tuple[float, ...]
    quantile: float
    confidence: float
    own: Interval | None

    @classmethod
    def of(cls, evidence: Evidence, confidence: float) -> PriorDoubt:
        """Settle how an interval of this confidence is to be made.

        >>> from pulens.evidence import gather
        >>> doubt = PriorDoubt.of(gather([1, 0, 0], [0.9, 0.5, 0.1], unlabelled_prior=(0.1, 0.3)), 0.95)
        >>> doubt.priors[0], doubt.priors[-1], round(doubt.quantile, 2), doubt.confidence
        (0.1, 0.3, 1.96, 0.95)
        """
        quantile = normal_quantile(confidence)
        prior = evidence.class_prior
        own = prior.unlabelled_interval
        if own is None:
            return cls((), quantile, confidence, None)
        low, high, claimed = own.low, own.high, confidence
        if own.confidence is not None and prior.distribution is not None:
            shared = (1 + confidence) / 2
            low, high = prior.distribution.interval(shared)
            quantile = normal_quantile(shared)
        elif own.confidence is not None:
            claimed = max(confidence + own.confidence - 1, 0.0)
        highest = (1 - evidence.label_noise) * (1 - 1e-9)  # a share that leaves labels saying nothing
        tried = np.linspace(low, min(high, highest), PRIORS_TRIED) if low < highest else np.array([])
        return cls(tuple(tried.tolist()), quantile, claimed, own)


def normal_quantile(confidence: float) -> float:
    """The normal quantile of a two-sided interval."""
    if not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise PulensError(f"confidence must lie between 0 and 1, got {confidence!r}. Write 95% as 0.95.")
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))
