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

GROUPS = 32  # of buckets, each left out once
EDGE = 1e-4  # shares nearer to 0 or 1 count as this near on the scale of log odds


def allowing_for_clusters(
    evidence: Evidence, counted: BucketTally, estimated: Callable[[Tally], ClassPrior]
) -> ClassPrior:
    r"""The class prior with an interval that allows for clusters, where it was estimated from the rows.

    The estimate is made again without each of 32 groups of buckets; the jackknife of its log odds has the variance
    :math:`v`. Of it the share :math:`1/D` is in the estimate's own interval already, :math:`D` being the design effect
    of the area between labelled and unlabelled rows; the rest, :math:`v(1 - 1/D)`, is added to that interval's
    variance, on the scale of log odds.
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
    low, high = logit(_inside(np.array([own.low, own.high])))
    known = (float(high - low) / (2 * normal_quantile(own.confidence))) ** 2
    return stretched(prior, evidence, float(np.sqrt(1 + added / known))) if known > 0 else prior


def design_effect(counted: BucketTally) -> float:
    """How many times the variance of the area between labelled and unlabelled rows is that of independent rows."""
    whole = compress(counted.without([]))
    left = LeftOut.of(counted, whole.thresholds)
    areas = np.array([pairwise_auc(tally, "labelled", "unlabelled") for tally in left.tallies(whole.thresholds)])
    _, alone, _ = placement_moments(whole).bilinear(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    variance = float(alone.sum())
    found = float(jackknife_error(areas)) ** 2 / variance if variance > 0 else 1.0
    return max(found, 1.0) if np.isfinite(found) else 1.0


def stretched(prior: ClassPrior, evidence: Evidence, factor: float) -> ClassPrior:
    """The class prior with all its doubt so many times as far from its value, on the scale of log odds."""
    own = prior.unlabelled_interval
    assert own is not None
    ceiling = (1 - evidence.label_noise) * (1 - 1e-6)
    middle = float(logit(_inside(np.array(prior.unlabelled))))

    def moved(share: float) -> float:
        away = float(expit(middle + factor * (float(logit(_inside(np.array(share)))) - middle)))
        return 0.0 if share <= 0 else min(away, ceiling)

    low, high = min(moved(own.low), prior.unlabelled), max(moved(own.high), prior.unlabelled)
    method = f"{own.method}, allowing for clusters"
    totals = evidence.tally.totals
    ends = [population_prior(end, totals, evidence.scenario, evidence.label_noise) for end in (low, high)]
    distribution = prior.distribution
    if distribution is not None:
        values = expit(middle + factor * (logit(_inside(distribution.values)) - middle))
        some = np.append(True, np.diff(values) > 0)
        distribution = PriorDistribution.from_masses(values[some], distribution.masses[some])
    error = None if prior.standard_error is None else factor * prior.standard_error
    return replace(
        prior,
        interval=Interval(min(ends), max(ends), own.confidence, method),
        unlabelled_interval=Interval(low, high, own.confidence, method),
        distribution=distribution,
        standard_error=error,
    )


def _inside(shares: np.ndarray) -> np.ndarray:
    return np.clip(shares, EDGE, 1 - EDGE)
