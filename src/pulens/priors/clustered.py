"""An estimated class prior of rows that belong together: its own interval takes them for independent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Tally
from pulens.errors import PulensError
from pulens.estimate import Interval
from pulens.inference.kernels.jackknife import FEW_BUCKETS, FEWEST_BUCKETS, JackknifeCounts, jackknife_error
from pulens.inference.kernels.placements import placement_moments
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.inference.kernels.redraws import compress
from pulens.notice import Notice, Severity
from pulens.priors.class_prior import ClassPrior, population_prior
from pulens.priors.distribution import PriorDistribution
from pulens.priors.feasible import feasible_ranges
from pulens.recovery.point import pairwise_auc
from pulens.scenario import Scenario
from pulens.special import expit, logit
from pulens.types import Floats

GROUPS = 32  # of buckets, each left out once
EDGE = 1e-4  # shares nearer to 0 or 1 count as this near on the scale of log odds


def allowing_for_clusters(
    prior: ClassPrior,
    counted: BucketTally,
    estimated: Callable[[Tally], ClassPrior],
    *,
    scenario: Scenario,
    label_noise: float = 0.0,
) -> ClassPrior:
    r"""The class prior with an interval that allows for clusters, where it was estimated from the rows.

    The estimate is made again without each of 32 groups of buckets; the jackknife of its log odds has the variance
    :math:`v`. Of it the share :math:`1/D` is in the estimate's own interval already, :math:`D` being the design effect
    of the area between labelled and unlabelled rows; the rest, :math:`v(1 - 1/D)`, is added to that interval's
    variance, on the scale of log odds. An estimate near no positives at all hardly moves, and its doubt comes from how
    many rows there are: so it is also made from :math:`D` times fewer rows, and what reaches higher of the two holds.
    The feasible range, whose ends are as far out as chance may carry rates, is that of :math:`D` times fewer rows too.
    """
    if not prior.method.startswith("estimated"):
        return prior
    effect = design_effect(counted)
    world = _World(scenario, label_noise, counted.tally)
    prior, own = _feasible_with_fewer_rows(prior, effect, world), prior.unlabelled_interval
    if own is None or own.confidence is None or own.width == 0:
        return prior
    again = []
    groups = [np.arange(start, len(counted), GROUPS) for start in range(min(GROUPS, len(counted)))]
    for group in groups:
        left = counted.without(group.tolist())
        if not left.labelled.any() or not left.unlabelled.any():
            continue
        try:
            again.append(estimated(left).unlabelled)
        except PulensError:  # too few rows without these
            continue
    if len(again) < 2:
        return prior
    shares = _inside(np.array(again))
    added = float(jackknife_error(logit(shares))) ** 2 * max(1 - 1 / effect, 0.0)
    low, middle, high = logit(_inside(np.array([own.low, prior.unlabelled, own.high])))
    reach = normal_quantile(own.confidence)
    # each half by itself: one that reaches down to no positives at all says nothing of the other
    times = [
        float(np.sqrt(1 + added / (half / reach) ** 2)) if half > 0 else 1.0 for half in (middle - low, high - middle)
    ]
    wide = stretched(prior, world, times[0], times[1])
    fewer = _of_fewer_rows(prior, world, effect, estimated)
    return max((wide, fewer), key=_highest) if fewer is not None else wide


def few_clusters_for_prior(prior: ClassPrior, counted: BucketTally) -> tuple[Notice, ...]:
    """That too few clusters were there to show how an estimate of the class prior moves with them."""
    held, kind = min(zip(counted.held, ("labelled", "unlabelled"), strict=True))
    if held >= FEW_BUCKETS or not prior.method.startswith("estimated"):
        return ()
    severity = Severity.SERIOUS if held < FEWEST_BUCKETS else Severity.WARNING
    words = f"{held} cluster{'' if held == 1 else 's'} hold{'s' if held == 1 else ''} {kind} rows"
    said = f"{words[0].upper()}{words[1:]}: too few to show how clusters differ, and the interval of the class prior "
    return (Notice(severity, "few-clusters-for-prior", f"{said}may be too narrow. More clusters are needed."),)


class _World(NamedTuple):
    """What turns a share among the unlabelled rows into one of all rows."""

    scenario: Scenario
    label_noise: float
    tally: Tally

    def of_all(self, share: float) -> float:
        return population_prior(share, self.tally.totals, self.scenario, self.label_noise)

    def with_fewer_rows(self, times: float) -> Tally:
        """This many times fewer rows with the same scores."""
        tally = self.tally
        kinds = (tally.labelled / times, tally.unlabelled / times, tally.negative / times)
        return Tally(tally.thresholds, *kinds, binning=tally.binning)


def _feasible_with_fewer_rows(prior: ClassPrior, effect: float, world: _World) -> ClassPrior:
    """The class prior with a feasible range that this many times fewer rows would leave."""
    among = prior.unlabelled_feasible
    if among is None or among.confidence is None or effect <= 1:
        return prior
    fewer = world.with_fewer_rows(effect)
    wide, uneven = feasible_ranges(fewer, world.scenario, confidence=among.confidence, label_noise=world.label_noise)
    method = f"{among.method}, allowing for clusters"
    low, high = min(among.low, wide.low), max(among.high, wide.high)
    own = prior.unlabelled_interval
    changed: dict[str, Any] = {}
    if own is not None and own.confidence is None and own.method == "feasible range":  # for want of an interval
        top = max(own.high, min(high, (1 - world.label_noise) * (1 - 1e-6)))
        told = f"{own.method}, allowing for clusters"
        changed["unlabelled_interval"] = Interval(own.low, top, None, told)
        changed["interval"] = Interval(world.of_all(own.low), world.of_all(top), None, told)
    return replace(
        prior,
        feasible=Interval(world.of_all(low), world.of_all(high), among.confidence, method),
        unlabelled_feasible=Interval(low, high, among.confidence, method),
        feasible_uneven=replace(uneven, low=world.of_all(uneven.low), high=world.of_all(uneven.high)),
        unlabelled_feasible_uneven=uneven,
        **changed,
    )


def _of_fewer_rows(
    prior: ClassPrior, world: _World, effect: float, estimated: Callable[[Tally], ClassPrior]
) -> ClassPrior | None:
    """The class prior with the doubt that this many times fewer rows would leave."""
    try:
        result = estimated(world.with_fewer_rows(effect))
    except PulensError:  # too few of them
        return None
    among, whole = result.unlabelled_interval, result.interval
    if among is None or whole is None or among.confidence is None:
        return None
    method = f"{among.method}, allowing for clusters"
    low, high = min(among.low, prior.unlabelled), max(among.high, prior.unlabelled)
    ends = min(whole.low, prior.value), max(whole.high, prior.value)
    return replace(
        prior,
        interval=Interval(*ends, among.confidence, method),
        unlabelled_interval=Interval(low, high, among.confidence, method),
        distribution=result.distribution,
        standard_error=result.standard_error,
    )


def _highest(prior: ClassPrior) -> float:
    return 0.0 if prior.unlabelled_interval is None else prior.unlabelled_interval.high


def design_effect(counted: BucketTally) -> float:
    """How many times the variance of the area between labelled and unlabelled rows is that of independent rows."""
    whole = compress(counted.without([]))
    left = JackknifeCounts.of(counted, whole.thresholds)
    areas = np.array([pairwise_auc(tally, "labelled", "unlabelled") for tally in left.tallies(whole.thresholds)])
    _, alone, _ = placement_moments(whole).bilinear((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    variance = float(alone.sum())
    result = float(jackknife_error(areas)) ** 2 / variance if variance > 0 else 1.0
    return max(result, 1.0) if np.isfinite(result) else 1.0


def stretched(prior: ClassPrior, world: _World, below: float, above: float) -> ClassPrior:
    """The class prior, both ends of its interval this many times as far from its value, on the log odds scale."""
    own = prior.unlabelled_interval
    assert own is not None
    ceiling = (1 - world.label_noise) * (1 - 1e-6)
    middle = float(logit(_inside(np.array(prior.unlabelled))))

    def away(shares: Floats) -> Floats:
        gaps = logit(_inside(shares)) - middle
        return np.asarray(expit(middle + np.where(gaps < 0, below, above) * gaps))

    def moved(share: float) -> float:
        return 0.0 if share <= 0 else min(float(away(np.array(share))), ceiling)

    low, high = min(moved(own.low), prior.unlabelled), max(moved(own.high), prior.unlabelled)
    method = f"{own.method}, allowing for clusters"
    ends = [world.of_all(end) for end in (low, high)]
    distribution = prior.distribution
    if distribution is not None:
        values = away(distribution.values)
        some = np.append(True, np.diff(values) > 0)
        if some.sum() > 1:
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
