r"""Intervals where rows belong together: every metric without one bucket of clusters at a time.

One construction for all metrics, whatever they read: the number is found without each bucket, through the same
recovery, and the spread of these numbers is its standard error (:mod:`pulens.inference.kernels.jackknife`). Limits are
Student's on the scale of log odds where the number has a lowest and a highest value. Degrees of freedom are those of
the buckets that hold labelled rows (or others, if that is less), by Kish's effective number of them: what labelled rows
add to the variance is seen in these alone, however many other buckets there are. Blocks of scores that are coarser than
the rows move all replicates alike, so that nothing of it enters the spread; the value is that of all rows.

A number at its edge shows no spread, and counts as a rate of which every bucket with labelled rows is one row; one that
shows none elsewhere counts as a rate of the labelled rows. With fewer than twenty buckets that hold labelled rows a
ratio, such as lift, also holds what the scale of logarithms says. With fewer than five there is no interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pulens.cached import cached_method
from pulens.evidence import Evidence
from pulens.inference.kernels.jackknife import (
    FEW_BUCKETS,
    FEWEST_BUCKETS,
    JACKKNIFE,
    UNIT,
    JackknifeCounts,
    jackknife_error,
    logit_ends,
    student_quantile,
)
from pulens.inference.kernels.mover import jeffreys_ends
from pulens.inference.kernels.quantiles import mixture_ends, normal_quantile
from pulens.inference.method import IntervalMethod, Limits
from pulens.inference.of_metric import MetricIntervalMethod
from pulens.inference.prior_draws import PriorDraws
from pulens.inference.prior_uncertainty import KnownOfPrior, Mixture
from pulens.inference.threshold import ChosenThreshold
from pulens.types import Floats

METHOD = JACKKNIFE


@dataclass(frozen=True, eq=False)
class Jackknife(IntervalMethod):
    """A number whose replicates without each bucket are known at any setting of the class prior."""

    at: Callable[[Any], float]
    replicates: Callable[[Any], Floats]
    doubt: KnownOfPrior
    buckets: int  # that hold labelled rows, or others if those are fewer
    rows: float  # labelled ones
    freedom: float
    within: tuple[float, float] = (0.0, 1.0)

    method = METHOD

    def value(self, prior: Any) -> float:
        return self.at(self.doubt.setting(prior))

    def error(self, prior: Any) -> float:
        """The standard error at a setting of the class prior."""
        return self._error(self.doubt.setting(prior))

    @cached_method()
    def _error(self, setting: Any) -> float:
        return float(jackknife_error(self.replicates(setting)))

    def ends(self, prior: Any, tail: float) -> Limits:
        if self.buckets < FEWEST_BUCKETS:
            return math.nan, math.nan
        low, high = self._held(prior, tail)
        mixture = self.doubt.mixture(prior, self.value, self.error)
        if mixture is None:
            return low, high
        student, normal = student_quantile(self.freedom, tail), normal_quantile(1 - 2 * tail)
        wider = student / normal if normal > 0 else 1.0  # at a confidence of zero neither reaches anywhere
        drawn = mixed_ends(mixture, wider, tail, self.rows, self.within)
        return min(low, drawn[0]), max(high, drawn[1])

    def _held(self, prior: Any, tail: float) -> Limits:
        """The ends with the class prior as it is."""
        reach = student_quantile(self.freedom, tail), normal_quantile(1 - 2 * tail)
        return ends_around(self.value(prior), self.error(prior), tail, reach, self.buckets, self.rows, self.within)

    def less(self, other: Jackknife) -> Jackknife:
        """The difference of two numbers of the same rows: what a bucket does to both cancels."""
        width = self.within[1] - self.within[0]
        return replace(
            self,
            at=lambda setting: self.at(setting) - other.at(setting),
            replicates=lambda setting: self.replicates(setting) - other.replicates(setting),
            within=(-width, width),
        )


def mixed_ends(mixture: Mixture, wider: float, tail: float, rows: float, within: tuple[float, float]) -> Limits:
    """Over draws of the class prior: a mixture on the scale of log odds where the number has one.

    Standard errors count ``wider`` times: Student's width as a normal one.
    """
    from pulens.special import expit, logit

    values, errors = mixture.values, mixture.errors * wider
    if not values.size:
        return math.nan, math.nan
    lowest, width = within[0], within[1] - within[0]
    if not math.isfinite(width):
        return mixture_ends(mixture.over(values), mixture.over(errors), tail)
    edge = 0.5 / (rows + 1)
    shares = np.clip((values - lowest) / width, edge, 1 - edge)
    errors = errors / width / (shares * (1 - shares))
    low, high = mixture_ends(mixture.over(logit(shares)), mixture.over(errors), tail)
    return lowest + width * float(expit(low)), lowest + width * float(expit(high))


def ends_around(
    value: float,
    error: float,
    tail: float,
    reach: tuple[float, float],
    buckets: int,
    rows: float,
    within: tuple[float, float] = UNIT,
) -> Limits:
    """Ends of a number with a standard error from buckets, of which some hold this many labelled rows.

    ``reach`` is how many standard errors away an end lies that is missed with the chance ``tail``: Student's and the
    normal one.

    >>> np.round(ends_around(0.6, 0.1623866, 0.025, (3.1824463, 1.959964), 20, 10), 6).tolist()
    [0.148323, 0.928159]
    """
    student, normal = reach
    low, high = logit_ends(value, error, student, within)
    lowest, highest = within
    if math.isnan(low):
        return low, high
    if not math.isfinite(highest - lowest):
        return _ratio_of_few(value, error, student, buckets, within, (low, high))
    share = min(max((value - lowest) / (highest - lowest), 0.0), 1.0)
    seen = math.inf
    if share in (0.0, 1.0):
        seen = float(buckets)
    elif error == 0:
        seen = rows * (normal / student) ** 2
    if math.isfinite(seen):
        least, most = (float(end) for end in jeffreys_ends(share * seen, seen, tail))
        low = min(low, lowest + (highest - lowest) * least)
        high = max(high, lowest + (highest - lowest) * most)
    return low, high


def _ratio_of_few(
    value: float, error: float, reach: float, buckets: int, within: tuple[float, float], ends: Limits
) -> Limits:
    """With few buckets, of a number from 0 to anything, also what the scale of logarithms says."""
    if buckets >= FEW_BUCKETS or within[0] != 0 or value <= 0:
        return ends
    times = math.exp(min(reach * error / value, 700.0))
    return min(ends[0], value / times), max(ends[1], value * times)


def _shares_of(setting: Any) -> Any:
    """What tells settings of the class prior apart, draws of it aside."""
    shares = getattr(setting, "shares", setting)
    return shares.tobytes() if isinstance(shares, np.ndarray) else shares


@dataclass(frozen=True)
class ClusterJackknife(MetricIntervalMethod):
    """Any metric of rows that belong together."""

    fits_any_design, named = True, "jackknife"

    @cached_property
    def jackknife(self) -> Jackknife:
        """Of the tables that an interval reads, those that show most spread."""

        def widest(setting: Any) -> Floats:
            return max(self._readings(setting), key=lambda values: float(np.nan_to_num(jackknife_error(values))))

        return self.at(self.target.value_at, widest, self.shop.known_of_prior(self.target))

    def at(self, value: Callable[[Any], float], replicates: Callable[[Any], Floats], doubt: KnownOfPrior) -> Jackknife:
        """The jackknife of a number with these replicates."""
        shop, metric = self.shop, self.target.metric
        within, buckets = (metric.lowest, metric.highest), shop.buckets
        return Jackknife(value, replicates, doubt, buckets.fewest, shop.n_labelled, buckets.freedom, within)

    def error(self, prior: Any) -> float:
        return self.jackknife.error(prior)

    def ends(self, prior: Any, tail: float) -> Limits:
        return self.jackknife.ends(prior, tail)

    def replicates(self, prior: Any) -> Floats:
        """The metric without each bucket, not clipped: what is cut off shows no spread."""
        return self._readings(prior)[0]

    @cached_method(_shares_of)
    def _readings(self, setting: Any) -> list[Floats]:
        return self.shop.left_out_readings(self.target, setting)


@dataclass(frozen=True)
class ChosenWithBuckets(ChosenThreshold):
    """A threshold chosen on rows that belong together: buckets are redrawn, the choice repeated, both joined."""

    named = "jackknife, chosen"

    @cached_property
    def _beforehand(self) -> ClusterJackknife:
        return ClusterJackknife(self.shop, self.target)

    def ends(self, prior: Any, tail: float) -> Limits:
        if self.shop.buckets.fewest < FEWEST_BUCKETS:
            return math.nan, math.nan
        return super().ends(prior, tail)


def inflation_at(evidence: Evidence, threshold: float, rate: str) -> float:
    """How many times the standard error of a recovered rate is that of independent rows; at least once.

    ``rate`` is "true positive rate" or "false positive rate".
    """
    buckets, draws = evidence.buckets, PriorDraws(evidence)
    assert buckets is not None
    left = JackknifeCounts.of(buckets, np.array([threshold]))
    share = evidence.class_prior.unlabelled
    priors = np.broadcast_to(draws.priors(share, np.zeros(len(left.totals)), left.kinds), len(left.totals))
    index = 0 if rate.startswith("true") else 1
    if not left.totals[:, 1].all():  # a cluster that holds all unlabelled rows
        return 1.0
    result = draws.recoveries(left.kinds, priors).rates(*(one[:, 0] for one in left.rates()))[index]
    totals, above = evidence.tally.totals, buckets.at(threshold).sum(axis=0)
    coefficients = (evidence.recovery.true_positive_rate, evidence.recovery.false_positive_rate)[index]
    alone = 0.0
    for coefficient, hits, total in zip(coefficients, above.tolist(), totals, strict=True):
        if coefficient and total:
            smoothed = (hits + 0.5) / (total + 1)
            alone += coefficient**2 * smoothed * (1 - smoothed) / total
    error = float(jackknife_error(np.broadcast_to(result, len(left.totals))))
    return max(1.0, error / math.sqrt(alone)) if alone > 0 and math.isfinite(error) else 1.0
