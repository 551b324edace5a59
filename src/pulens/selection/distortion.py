r"""What labels that favour easy positives do to recall: a distortion of the labelled rows' own recall.

Let :math:`v(s)` be the rank of a score among the labelled rows, from 0 to 1. Hidden positives are taken to be
labelled ones tilted along that rank, :math:`q(s) \propto g(s) e^{-\theta v(s)}`: with a positive tilt they score lower.
Where a share :math:`p` of the labelled rows is flagged, a share

.. math:: h_\theta(p) = \frac{e^{\theta p} - 1}{e^\theta - 1}

of the hidden positives is, whatever the shape of the scores, and of all positives

.. math:: D(p) = c\,p + (1 - c)\,h_\theta(p)

with :math:`c` the label frequency: labelled rows stand for themselves. In case-control the labelled rows are no part
of the population, so :math:`c = 0`. A tilt of 0 is random labelling. The mean rank of the hidden positives among the
labelled ones is :math:`1/\theta - 1/(e^\theta - 1)`, from which :func:`tilt_of` finds a tilt.

No tilt puts a hidden positive below the lowest labelled one. Where labels are confined to one kind of positive, most
others are there, so a share :math:`\epsilon` of the hidden positives may be *aside*: they score like any unlabelled
row, :math:`h = (1 - \epsilon) h_\theta(p) + \epsilon u` with :math:`u` the share of the unlabelled rows that is
flagged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Tally
from pulens.evidence import Evidence
from pulens.priors import ClassPrior, population_prior
from pulens.recovery.many import HIGHEST_SHARE
from pulens.scenario import Scenario
from pulens.types import Floats

FLAT = 1e-9  # a tilt so small is none
STEEPEST = 700.0  # beyond it the exponential overflows, and hidden positives are all at one end anyway


def distort(rates: Any, tilt: Any, label_frequency: Any = 0.0, aside: Any = 0.0, rest: Any = 0.0) -> Floats:
    """Recall of all positives from that of the labelled ones and, for those aside, of the unlabelled rows ``rest``.

    Arguments broadcast.

    >>> distort(0.5, [0.0, 2.0, -2.0]).round(4).tolist()
    [0.5, 0.2689, 0.7311]
    >>> distort(0.5, 2.0, label_frequency=0.4).round(4).tolist()
    0.3614
    >>> distort(0.5, 2.0, aside=0.5, rest=0.1).round(4).tolist()
    0.1845
    """
    p, theta, c = (np.asarray(value, float) for value in (rates, tilt, label_frequency))
    theta = np.clip(theta, -STEEPEST, STEEPEST)
    is_flat = np.abs(theta) < FLAT
    safe = np.where(is_flat, 1.0, theta)
    hidden = np.expm1(safe * p) / np.expm1(safe)
    if is_flat.any():
        hidden = np.where(is_flat, p, hidden)
    if np.any(aside):
        hidden = (1.0 - aside) * hidden + aside * rest
    return np.asarray(c * p + (1.0 - c) * hidden if c.ndim or c else hidden)


def tilt_of(mean_rank: float) -> float:
    """The tilt at which hidden positives have this mean rank among the labelled ones.

    >>> round(tilt_of(0.5), 6), round(tilt_of(0.343482), 4)
    (0.0, 2.0)
    """
    from scipy.optimize import brentq

    def gap(tilt: float) -> float:
        if abs(tilt) < 1e-4:
            return 0.5 - tilt / 12 - mean_rank
        return 1 / tilt - 1 / math.expm1(tilt) - mean_rank

    steepest = 500.0
    if not 1 / steepest < mean_rank < 1 - 1 / steepest:
        return math.copysign(steepest, 0.5 - mean_rank)
    return float(brentq(gap, -steepest, steepest))


def label_frequency(totals: Any, class_prior: Any, scenario: Scenario) -> Any:
    """The share of the population's positives that are labelled; 0 where the labelled rows are no part of it.

    >>> label_frequency((20, 80, 0), 0.4, Scenario.SINGLE_SET)
    array(0.5)
    """
    labelled, rows = np.asarray(totals[0], float), sum(np.asarray(total, float) for total in totals)
    prior = np.asarray(class_prior, float)
    if scenario is not Scenario.SINGLE_SET:
        return np.zeros(np.broadcast(labelled, prior).shape)
    positives = np.maximum(prior * rows, labelled)
    return np.divide(labelled, positives, out=np.zeros(np.shape(positives)), where=positives > 0)


def list_of(tally: Tally, scenario: Scenario) -> Floats:
    """Rows of the population at or above each threshold: all of them, or in case-control the unlabelled ones."""
    listed = np.asarray(tally.unlabelled, float)
    if scenario is Scenario.SINGLE_SET:
        listed = listed + np.asarray(tally.labelled, float) + np.asarray(tally.negative, float)
    return listed


def mean_square_weight(observed: Floats, recall: Floats) -> Floats:
    """How many times as few labelled rows of equal weight would say as much: the mean square of their weights (Kish).

    Both are shares at or above the same scores, of the labelled rows and of all positives; scores along the last axis.

    >>> mean_square_weight(np.array([0.5, 1.0]), np.array([[0.5, 1.0], [0.2, 1.0]])).round(2).tolist()
    [1.0, 1.36]
    """
    own, moved = np.diff(observed, prepend=0.0), np.diff(recall, axis=-1, prepend=0.0)
    return np.asarray(np.divide(moved**2, own, out=np.zeros(moved.shape), where=own > 0).sum(axis=-1))


def distorted(
    evidence: Evidence,
    tilt: float,
    unlabelled_prior: float | None = None,
    aside: float = 0.0,
    *,
    of_these_rows: bool = False,
) -> Evidence:
    r"""The evidence whose labelled rows stand for all positives, at one tilt: numbers are read off it as off any other.

    Its population is the list, so its scenario is case-control; how many labelled rows it counts is how many of equal
    weight would say as much (Kish), so that errors come out right. ``of_these_rows``: where the hidden positives at
    hand score is a matter of chance, too. There are :math:`N` of them, so that the variance of a share of all positives
    grows from :math:`K/n` times that of one row to :math:`K/n + (1 - c)^2/N`, with :math:`K` the mean square weight.

    >>> from pulens.evidence import gather
    >>> rows = gather([1, 1, 0, 0, 0, 0], [6, 3, 5, 4, 2, 1], class_prior=0.5)
    >>> distorted(rows, 2.0).tally.labelled.round(3).tolist()[0] < 1.0
    True
    """
    tally, scenario = evidence.tally, evidence.recovery_scenario
    share = evidence.class_prior.unlabelled if unlabelled_prior is None else unlabelled_prior
    prior = population_prior(share, tally.totals, scenario, 0.0)
    c = label_frequency(tally.totals, prior, scenario)
    total = float(tally.totals.labelled)
    observed = np.asarray(tally.labelled, float) / total
    rest = np.asarray(tally.unlabelled, float) / float(tally.totals.unlabelled)
    recall = distort(observed, tilt, c, aside, rest)
    squares = float(mean_square_weight(observed, distort(observed, tilt, c, aside)))
    listed = list_of(tally, scenario)
    if of_these_rows:
        hidden = (1 - float(c)) * prior * float(listed[-1])
        squares += (1 - float(c)) ** 2 * total / max(hidden, 1.0)
    counts = Tally(tally.thresholds, recall * total / squares, listed, np.zeros(len(tally)), binning=tally.binning)
    buckets = evidence.buckets
    if buckets is not None:
        others = float(1 - c) * aside * total / squares / float(tally.totals.unlabelled) * buckets.unlabelled
        buckets = _distorted_buckets(buckets, counts, scenario, lambda rates: distort(rates, tilt, c, aside), squares)
        buckets = replace(buckets, labelled=buckets.labelled + others)
    given = evidence.class_prior
    reach = given.interval  # where all of the list are positive, labels say nothing
    reach = None if reach is None else replace(reach, high=min(reach.high, HIGHEST_SHARE))
    population = ClassPrior(prior, prior, given.method, reach, reach, given.assumption, given.notices)
    return replace(
        evidence,
        tally=counts,
        class_prior=population,
        scenario=Scenario.CASE_CONTROL,
        buckets=buckets,
        labelling="practice",
    )


def _distorted_buckets(
    buckets: BucketTally, tally: Tally, scenario: Scenario, recall_of: Callable[[Floats], Floats], squares: float
) -> BucketTally:
    """The same rows by bucket: a labelled row counts as much as its rank says, so that all buckets add up to the tally.

    Without a bucket the others keep these weights.
    """
    labelled = np.bincount(buckets.block, buckets.labelled, buckets.lowest.size)
    shares = np.cumsum(labelled) / labelled.sum()
    own, moved = np.diff(shares, prepend=0.0), np.diff(recall_of(shares), prepend=0.0)
    weights = np.divide(moved, own, out=np.zeros(own.size), where=own > 0) / squares
    listed = np.asarray(buckets.unlabelled, float)
    if scenario is Scenario.SINGLE_SET:
        listed = listed + buckets.labelled + buckets.negative
    nothing = np.zeros(listed.size)
    return replace(
        buckets, tally=tally, labelled=buckets.labelled * weights[buckets.block], unlabelled=listed, negative=nothing
    )
