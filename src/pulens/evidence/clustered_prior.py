"""An estimated class prior of rows that belong together: its own interval takes them for independent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import expit, logit

from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Tally
from pulens.errors import PulensError
from pulens.estimate import Interval
from pulens.evidence.evidence import Evidence
from pulens.intervals.kernels.jackknife import LeftOut, jackknife_error
from pulens.intervals.kernels.placements import placement_moments
from pulens.intervals.kernels.quantiles import normal_quantile
from pulens.intervals.kernels.redraws import compress
from pulens.priors import ClassPrior, population_prior
from pulens.priors.distribution import PriorDistribution
from pulens.recovery.point import pairwise_auc
from pulens.types import Floats

GROUPS = 32  # of buckets, each left out once
EDGE = 1e-4  # shares nearer to 0 or 1 count as this near on the scale of log odds


def allowing_for_clusters(
    evidence: Evidence, counted: BucketTally, estimated: Callable[[Tally], ClassPrior]
) -> ClassPrior:
    r"""The class prior with an interval that allows for clusters, where it was estimated from the rows.

    The estimate is made again without each of 32 groups of buckets; the jackknife of its log odds has the variance
    :math:`v`. Of it the share :math:`1/D` is in the estimate's own interval already, :math:`D` being the design effect
    of the area between labelled and unlabelled rows; the rest, :math:`v(1 - 1/D)`, is added to that interval's
    variance, on the scale of log odds. An estimate near no positives at all hardly moves, and its doubt comes from how
    many rows there are: so it is also made from :math:`D` times fewer rows, and what reaches higher of the two holds.
    """
    prior, own = evidence.class_prior, evidence.class_prior.unlabelled_interval
    if not prior.method.startswith("estimated") or own is None or own.confidence is None or own.width == 0:
        return prior
    again = []
    groups = [np.arange(start, len(counted), GROUPS) for start in range(min(GROUPS, len(counted)))]
    for group in groups:
        try:
            again.append(estimated(counted.without(group.tolist())).unlabelled)
        except PulensError:  # too few rows without these
            continue
    if len(again) < 2:
        return prior
    shares = _inside(np.array(again))
    effect = design_effect(counted)
    added = float(jackknife_error(logit(shares))) ** 2 * max(1 - 1 / effect, 0.0)
    low, middle, high = logit(_inside(np.array([own.low, prior.unlabelled, own.high])))
    reach = normal_quantile(own.confidence)
    # each half by itself: one that reaches down to no positives at all says nothing of the other
    times = [
        float(np.sqrt(1 + added / (half / reach) ** 2)) if half > 0 else 1.0 for half in (middle - low, high - middle)
    ]
    wide = stretched(prior, evidence, times[0], times[1])
    fewer = _of_fewer_rows(prior, counted, effect, estimated)
    return max((wide, fewer), key=_highest) if fewer is not None else wide


def _of_fewer_rows(
    prior: ClassPrior, counted: BucketTally, effect: float, estimated: Callable[[Tally], ClassPrior]
) -> ClassPrior | None:
    """The class prior with the doubt that so many times fewer rows would leave."""
    tally = counted.tally
    kinds = (tally.labelled / effect, tally.unlabelled / effect, tally.negative / effect)
    try:
        found = estimated(Tally(tally.thresholds, *kinds, binning=tally.binning))
    except PulensError:  # too few of them
        return None
    among, whole = found.unlabelled_interval, found.interval
    if among is None or whole is None or among.confidence is None:
        return None
    method = f"{among.method}, allowing for clusters"
    low, high = min(among.low, prior.unlabelled), max(among.high, prior.unlabelled)
    ends = min(whole.low, prior.value), max(whole.high, prior.value)
    return replace(
        prior,
        interval=Interval(*ends, among.confidence, method),
        unlabelled_interval=Interval(low, high, among.confidence, method),
        distribution=found.distribution,
        standard_error=found.standard_error,
    )


def _highest(prior: ClassPrior) -> float:
    return 0.0 if prior.unlabelled_interval is None else prior.unlabelled_interval.high


def design_effect(counted: BucketTally) -> float:
    """How many times the variance of the area between labelled and unlabelled rows is that of independent rows."""
    whole = compress(counted.without([]))
    left = LeftOut.of(counted, whole.thresholds)
    areas = np.array([pairwise_auc(tally, "labelled", "unlabelled") for tally in left.tallies(whole.thresholds)])
    _, alone, _ = placement_moments(whole).bilinear(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    variance = float(alone.sum())
    found = float(jackknife_error(areas)) ** 2 / variance if variance > 0 else 1.0
    return max(found, 1.0) if np.isfinite(found) else 1.0


def stretched(prior: ClassPrior, evidence: Evidence, below: float, above: float) -> ClassPrior:
    """The class prior with its doubt below and above so many times as far from its value, on the scale of log odds."""
    own = prior.unlabelled_interval
    assert own is not None
    ceiling = (1 - evidence.label_noise) * (1 - 1e-6)
    middle = float(logit(_inside(np.array(prior.unlabelled))))

    def away(shares: Floats) -> Floats:
        gaps = logit(_inside(shares)) - middle
        return np.asarray(expit(middle + np.where(gaps < 0, below, above) * gaps))

    def moved(share: float) -> float:
        return 0.0 if share <= 0 else min(float(away(np.array(share))), ceiling)

    low, high = min(moved(own.low), prior.unlabelled), max(moved(own.high), prior.unlabelled)
    method = f"{own.method}, allowing for clusters"
    totals = evidence.tally.totals
    ends = [population_prior(end, totals, evidence.scenario, evidence.label_noise) for end in (low, high)]
    distribution = prior.distribution
    if distribution is not None:
        values = away(distribution.values)
        some = np.append(True, np.diff(values) > 0)
        distribution = PriorDistribution.from_masses(values[some], distribution.masses[some])
    error = None if prior.standard_error is None else max(below, above) * prior.standard_error
    return replace(
        prior,
        interval=Interval(min(ends), max(ends), own.confidence, method),
        unlabelled_interval=Interval(low, high, own.confidence, method),
        distribution=distribution,
        standard_error=error,
    )


def _inside(shares: Floats) -> Floats:
    return np.clip(shares, EDGE, 1 - EDGE)
