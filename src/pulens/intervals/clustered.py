r"""Intervals where rows belong together: every metric without one bucket of clusters at a time.

One construction for all metrics, whatever they read: the number is found without each bucket, through the same
recovery, and the spread of these numbers is its standard error (:mod:`pulens.intervals.kernels.jackknife`). Ends are
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
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pulens.evidence import Evidence
from pulens.intervals.construction import Construction, Ends
from pulens.intervals.kernels.jackknife import (
    FEW_BUCKETS,
    FEWEST_BUCKETS,
    UNIT,
    LeftOut,
    jackknife_error,
    logit_ends,
    student_quantile,
)
from pulens.intervals.kernels.mover import jeffreys_ends
from pulens.intervals.kernels.quantiles import expanded_tail, mixture_ends, normal_quantile
from pulens.intervals.kernels.redraws import Redrawn
from pulens.intervals.of_metric import MetricConstruction, Target
from pulens.intervals.prior_doubt import KnownOfPrior, Mixture
from pulens.intervals.prior_draws import PriorDraws
from pulens.intervals.replicates import Replicates
from pulens.intervals.threshold import ChosenThreshold
from pulens.intervals.workshop import Workshop
from pulens.recovery.contingency import missing_of
from pulens.types import Floats

METHOD = "delete-a-bucket jackknife, Student"


@dataclass(frozen=True, eq=False)
class Jackknife(Construction):
    """A number whose replicates without each bucket are known at any setting of the class prior."""

    at: Callable[[Any], float]
    replicates: Callable[[Any], Floats]
    doubt: KnownOfPrior
    buckets: int  # that hold labelled rows, or others if those are fewer
    rows: float  # labelled ones
    freedom: float
    within: tuple[float, float] = (0.0, 1.0)
    _errors: dict[Any, float] = field(default_factory=dict)

    method = METHOD

    def value(self, prior: Any) -> float:
        return self.at(self.doubt.setting(prior))

    def error(self, prior: Any) -> float:
        """The standard error at a setting of the class prior."""
        setting = self.doubt.setting(prior)
        if setting not in self._errors:
            self._errors[setting] = float(jackknife_error(self.replicates(setting)))
        return self._errors[setting]

    def ends(self, prior: Any, tail: float) -> Ends:
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

    def _held(self, prior: Any, tail: float) -> Ends:
        """The ends with the class prior as it is."""
        reach = student_quantile(self.freedom, tail), normal_quantile(1 - 2 * tail)
        return ends_around(self.value(prior), self.error(prior), tail, reach, self.buckets, self.rows, self.within)

    def less(self, other: Jackknife, doubt: KnownOfPrior) -> Jackknife:
        """The difference of two numbers of the same rows: what a bucket does to both cancels."""
        width = self.within[1] - self.within[0]
        return replace(
            self,
            at=lambda setting: self.at(setting) - other.at(setting),
            replicates=lambda setting: self.replicates(setting) - other.replicates(setting),
            doubt=doubt,
            within=(-width, width),
            _errors={},
        )


def mixed_ends(mixture: Mixture, wider: float, tail: float, rows: float, within: tuple[float, float]) -> Ends:
    """Over draws of the class prior: a mixture on the scale of log odds where the number has one.

    Standard errors count ``wider`` times: Student's width as a normal one.
    """
    from scipy.special import expit, logit

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
) -> Ends:
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
    value: float, error: float, reach: float, buckets: int, within: tuple[float, float], ends: Ends
) -> Ends:
    """With few buckets, of a number from 0 to anything, also what the scale of logarithms says."""
    if buckets >= FEW_BUCKETS or within[0] != 0 or value <= 0:
        return ends
    times = math.exp(min(reach * error / value, 700.0))
    return min(ends[0], value / times), max(ends[1], value * times)


@dataclass(frozen=True)
class DeleteABucket(MetricConstruction):
    """Any metric of rows that belong together."""

    method = METHOD

    @cached_property
    def _jackknife(self) -> Jackknife:
        metric, shop = self.target.metric, self.shop
        return Jackknife(
            self.target.value_at,
            self._widest,
            shop.draws.doubt,
            shop.fewest_buckets,
            shop.evidence.tally.totals.labelled,
            shop.freedom,
            (metric.lowest, metric.highest),
        )

    def error(self, prior: float) -> float:
        return self._jackknife.error(prior)

    def ends(self, prior: float | None, tail: float) -> Ends:
        return self._jackknife.ends(prior, tail)

    def _widest(self, prior: float) -> Floats:
        """The metric without each bucket; of the tables that an interval reads, those that show most spread."""
        return max(self._readings(prior), key=lambda values: float(np.nan_to_num(jackknife_error(values))))

    def replicates(self, prior: float) -> Floats:
        """The metric without each bucket, not clipped: what is cut off shows no spread."""
        return self._readings(prior)[0]

    def _readings(self, prior: float) -> list[Floats]:
        metric, shop = self.target.metric, self.shop
        evidence, threshold = shop.evidence, float(self.target.threshold or 0.0)
        left = shop.left_out if metric.reads == "ranking" else shop.left_out_at(threshold)
        none = np.zeros(len(left.totals))
        priors = np.broadcast_to(shop.draws.priors(prior, none, left.kinds), none.shape)
        redrawn = Redrawn(*left.rates(), left.kinds, none)
        thresholds = np.array([threshold, min(threshold - 1.0, float(evidence.tally.thresholds[-1]))])
        if metric.reads == "ranking":
            thresholds = shop.compressed.thresholds
        found = Replicates(redrawn, priors, evidence.label_noise, evidence.recovery_scenario)
        return found.readings(metric, self._missing(prior), thresholds, threshold, **self.target.parameters)

    def _missing(self, prior: float) -> tuple[Any, Any]:
        """What the recovered rates of all rows lack to be rates."""
        evidence, own = self.shop.evidence, self.shop.evidence.tally.totals
        above = evidence.tally.at(float(self.target.threshold or 0.0))
        here = [np.array([hits / total if total else 0.0]) for hits, total in zip(above, own, strict=True)]
        hits, alarms = missing_of(*self.shop.draws.recoveries(tuple(own), np.array([prior])).rates(*here))
        return hits, alarms


@dataclass(frozen=True)
class ChosenWithBuckets(ChosenThreshold):
    """A threshold chosen on rows that belong together: buckets are redrawn, the choice repeated, both joined."""

    method = "redraws of buckets with the threshold chosen anew, and delete-a-bucket jackknife"

    @cached_property
    def _beforehand(self) -> DeleteABucket:  # type: ignore[override]
        return DeleteABucket(self.shop, self.target)

    def error(self, prior: float) -> float:
        return self._beforehand.error(prior)

    def _tail(self, tail: float) -> float:
        return expanded_tail(tail, self.shop.fewest_buckets)

    def ends(self, prior: float | None, tail: float) -> Ends:
        if self.shop.fewest_buckets < FEWEST_BUCKETS:
            return math.nan, math.nan
        return super().ends(prior, tail)


def inflation_at(evidence: Evidence, threshold: float, rate: str) -> float:
    """How many times the standard error of a recovered rate is that of independent rows; at least once.

    ``rate`` is "true positive rate" or "false positive rate".
    """
    buckets, draws = evidence.buckets, PriorDraws(evidence)
    assert buckets is not None
    if buckets.holds_single_rows:  # independent rows: what is possible does not depend on how their error is found
        return 1.0
    left = LeftOut.of(buckets, np.array([threshold]))
    share = evidence.class_prior.unlabelled
    priors = np.broadcast_to(draws.priors(share, np.zeros(len(left.totals)), left.kinds), len(left.totals))
    place = 0 if rate.startswith("true") else 1
    if not left.totals[:, 1].all():  # a cluster that holds all unlabelled rows
        return 1.0
    found = draws.recoveries(left.kinds, priors).rates(*(one[:, 0] for one in left.rates()))[place]
    totals, above = evidence.tally.totals, buckets.at(threshold).sum(axis=0)
    coefficients = (evidence.recovery.true_positive_rate, evidence.recovery.false_positive_rate)[place]
    alone = 0.0
    for coefficient, hits, total in zip(coefficients, above.tolist(), totals, strict=True):
        if coefficient and total:
            smoothed = (hits + 0.5) / (total + 1)
            alone += coefficient**2 * smoothed * (1 - smoothed) / total
    error = float(jackknife_error(np.broadcast_to(found, len(left.totals))))
    return max(1.0, error / math.sqrt(alone)) if alone > 0 and math.isfinite(error) else 1.0


def construction_with_buckets(shop: Workshop, target: Target, *, is_chosen: bool) -> DeleteABucket | ChosenWithBuckets:
    """The construction for rows that belong together."""
    of: Any = ChosenWithBuckets if is_chosen and target.metric.reads == "threshold" else DeleteABucket
    found: DeleteABucket | ChosenWithBuckets = of(shop, target)
    return found
