"""Bands on the rank CDF: how far the share of positives at or above a threshold may be from the observed share."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from pulens.errors import PulensError, listed
from pulens.inference.kernels.exact import binomial_lower, binomial_upper
from pulens.types import Floats

BandName = Literal["dkw-two-sample", "dkw", "clopper-pearson", "bootstrap"]
BAND_NAMES: tuple[str, ...] = get_args(BandName)


class Band(NamedTuple):
    """Lower and upper limit of a rate at each threshold."""

    low: Floats
    high: Floats


def rank_band(
    hits: Any, total: float, confidence: float, band: str = "dkw-two-sample", *, latent: float = math.inf
) -> Band:
    r"""Limits on the rank CDF of the latent rows, given that ``hits`` of ``total`` known ones stand in the head.

    ``dkw-two-sample``
        simultaneous, :math:`\hat F \pm \sqrt{\frac12\ln\frac2a\,(1/n + 1/m)}` with n known and m latent rows:
        the only one of the four that is about the latent rows' own CDF.
    ``dkw``
        simultaneous, the same without 1/m: it covers the distribution, not the m rows drawn from it.
    ``clopper-pearson``
        exact, at each threshold by itself.
    ``bootstrap``
        the percentile bootstrap of infinitely many resamples, at each threshold by itself: the number of hits
        of a resample is binomial, so its percentiles are binomial quantiles. No width before the first hit.

    >>> band = rank_band(np.array([5]), 12, 0.95, "clopper-pearson")
    >>> band.low.round(6), band.high.round(6)
    (array([0.151652]), array([0.72333]))
    """
    hits = np.asarray(hits, float)
    a = 1.0 - confidence
    if total == 0:
        return Band(np.zeros(hits.shape), np.ones(hits.shape))
    if band in ("dkw", "dkw-two-sample"):
        rows = 1 / total + (1 / max(latent, 1.0) if band == "dkw-two-sample" else 0.0)
        reach = math.sqrt(math.log(2 / a) / 2 * rows)
        share = hits / total
        return Band(np.maximum(share - reach, 0.0), np.minimum(share + reach, 1.0))
    # the same number of hits at many thresholds: one limit for all of them
    hits, index = np.unique(hits, return_inverse=True)
    if band == "clopper-pearson":
        low, high = binomial_lower(hits, total, a / 2), binomial_upper(hits, total, a / 2)
        return Band(low[index], high[index])
    if band == "bootstrap":
        from scipy.stats import binom

        share = hits / total
        ends = (binom.ppf(level, total, share) / total for level in (a / 2, 1 - a / 2))
        return Band(*(np.clip(end, 0.0, 1.0)[index] for end in ends))
    raise PulensError(f"there is no band {band!r}; the bands are {listed(BAND_NAMES)}.")
