"""Signs of trouble in many segments: recovered rates that cannot be, class priors that do not fit, rows met twice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.diagnostics import SIGNIFICANT
from pulens.doors.many_segments.block import SegmentBlock
from pulens.doors.many_segments.known_priors import KnownPriors
from pulens.doors.many_segments.recovered import World, recoveries
from pulens.intervals.kernels.exact import binomial_lower, binomial_upper
from pulens.priors.feasible import REGIONS
from pulens.recovery.contingency import ROUNDING
from pulens.types import Booleans, Floats


def outside_by(block: SegmentBlock, share: Floats, world: World) -> tuple[Floats, Booleans]:
    """What :func:`pulens.recovery.feasibility.impossible_rates` finds: the largest excess in standard errors, and
    whether any recovered rate leaves [0, 1]."""
    totals = tuple(block.totals[:, kind] for kind in range(3))
    maps = recoveries(totals, share, world)  # type: ignore[arg-type]
    worst, outside = np.zeros(len(block)), np.zeros(len(block), bool)
    owner = np.repeat(np.arange(len(block)), block.sizes)
    for coefficients in (maps.hits, maps.alarms):
        each = [np.broadcast_to(coefficient, (len(block),)) for coefficient in coefficients]
        rate: Any = 0.0
        for kind in block.kinds:
            if each[kind].any():
                rate = rate + each[kind][owner] * block.rates[kind]
        excess = np.maximum(-rate, rate - 1)
        rows = np.flatnonzero(excess > ROUNDING)
        if not rows.size:
            continue
        own, missing = owner[rows], np.clip(rate[rows], 0.0, 1.0) - rate[rows]
        variance = np.zeros(rows.size)
        for kind in block.kinds:
            here, total = each[kind][own], block.totals[own, kind]
            counts = (here != 0) & (total > 0)
            observed = block.rates[kind][rows]
            edge = np.clip(observed + missing / np.where(counts, here, 1.0), 0.0, 1.0)
            spread = np.maximum(_binomial_variance(observed, total), _binomial_variance(edge, total))
            variance += np.where(counts, here**2 * spread, 0.0)
        np.maximum.at(worst, own, excess[rows] / np.sqrt(variance))
        outside[own] = True
    return worst, outside


def _binomial_variance(rate: Floats, total: Floats) -> Floats:
    smoothed = (rate * total + 0.5) / (total + 1)
    return np.asarray(smoothed * (1 - smoothed) / np.maximum(total, 1e-300))


def highest_priors(block: SegmentBlock, confidence: float, label_noise: float) -> Floats:
    """:func:`pulens.priors.feasible.highest_prior` of every segment; each needs a labelled row."""
    labelled_total, unlabelled_total = block.totals[:, 0], block.totals[:, 1]
    owner, places = _regions(block)
    many = np.bincount(owner, minlength=len(block))
    miss = ((1 - confidence) / (2 * many))[owner]
    above = _limits(binomial_upper, block.running[1][places].astype(float), unlabelled_total[owner], miss)
    below = _limits(binomial_lower, block.running[0][places].astype(float), labelled_total[owner], miss)
    ratios = np.divide(above, below, out=np.full(places.size, np.inf), where=below > 0)
    first = np.concatenate([[0], np.cumsum(many)[:-1]])
    lowest = np.minimum.reduceat(ratios, first)
    return np.minimum(lowest * (1 - label_noise), 1 - label_noise)


def _regions(block: SegmentBlock) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places of the thresholds at quantiles of each segment's labelled scores, each once, and whose they are."""
    shares = np.arange(1, REGIONS + 1) / REGIONS
    wanted = shares * block.totals[:, :1]
    running, ends = block.running[0], block.first + block.sizes
    if running.dtype.kind == "f":
        found = [
            np.minimum(np.searchsorted(running[begin:end], own), end - begin - 1) + begin
            for begin, end, own in zip(block.first.tolist(), ends.tolist(), wanted, strict=True)
        ]
        places = np.stack(found)
    else:
        # whole numbers: what is passed in the segments before does not blur where a share is reached
        before = np.concatenate([[0], np.cumsum(running[ends - 1])[:-1]])
        places = np.searchsorted(running + block.spread(before), np.ceil(wanted).astype(np.int64) + before[:, None])
    fresh = np.column_stack([np.ones(len(block), bool), places[:, 1:] != places[:, :-1]])
    owner = np.broadcast_to(np.arange(len(block))[:, None], places.shape)
    return owner[fresh], places[fresh]


def _limits(limit: Any, successes: Floats, trials: Floats, miss: Floats) -> Floats:
    """Binomial limits, each found once: few rows give few different ones."""
    keys = np.stack([successes, trials, miss], axis=1)
    kinds, inverse = np.unique(keys, axis=0, return_inverse=True)
    return np.asarray(limit(kinds[:, 0], kinds[:, 1], kinds[:, 2])[inverse.ravel()])


def labelled_twice(block: SegmentBlock) -> Booleans:
    """Where labelled rows meet unlabelled ones as in :func:`pulens.diagnostics.diagnose`."""
    at_labelled, at_unlabelled, _ = block.at
    labelled, unlabelled = block.totals[:, 0], block.totals[:, 1]
    meeting = block.sums(np.where(at_unlabelled > 0, at_labelled, 0)) / np.maximum(labelled, 1e-300)
    among = block.sums(np.where(at_unlabelled > 1, at_unlabelled, 0)) / np.maximum(unlabelled, 1e-300)
    return np.asarray((labelled >= 10) & (unlabelled >= 10) & ~((meeting < 0.5) | (among > 0.05)))


def not_a_mixture(block: SegmentBlock, priors: KnownPriors, world: World) -> Booleans:
    """Where unlabelled rows are no mixture of labelled and known negative ones, as in ``diagnose``."""
    from scipy.special import kolmogorov

    found = np.zeros(len(block), bool)
    if not block.has_negatives or world.label_noise:
        return found
    has_reach = ~np.isnan(priors.reach_low)
    shares = priors.over_reach(33) if has_reach.any() else priors.share[:, None]
    shares = np.where(has_reach[:, None], shares, priors.share[:, None])
    totals = np.where(block.totals > 0, block.totals, 1.0)
    most = np.zeros(len(block))
    for share in shares.T:
        mixed = block.spread(share) * block.rates[0] + (1 - block.spread(share)) * block.rates[2]
        gap = np.maximum.reduceat(np.abs(block.rates[1] - mixed), block.first)
        variance = 1 / totals[:, 1] + share**2 / totals[:, 0] + (1 - share) ** 2 / totals[:, 2]
        most = np.maximum(most, kolmogorov(gap / np.sqrt(variance)))
    return np.asarray((most <= SIGNIFICANT) & (block.totals > 0).all(axis=1))
