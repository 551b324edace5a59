r"""The share of positives that the data cannot exclude: everything from 0 up to a limit.

Nothing in positive and unlabelled rows speaks against the unlabelled ones being all negative, so the class prior is
identified only from above. A region A with labelled share P(A) and unlabelled share U(A) needs
:math:`\alpha P(A) \le U(A)` (clean labels), hence :math:`\alpha \le \inf_A U(A)/P(A)`. Exact binomial limits for both
shares turn that into a confidence limit: Blanchard, Lee and Scott (2010).

All of this takes labelled rows for a random sample of the positives. Where high scores were labelled up to G times as
often, positives stand above a score with a share of at least :math:`r = P/(P + G(1-P))` instead of P, and

.. math:: \alpha \le \min_t U(t)/r(t)

is the limit. In the single set the labelled rows are positives that the unlabelled rows lack: of
:math:`n_L + \alpha n_U` positives at least a share r stands above t, of which :math:`n_L P` are labelled, hence
:math:`\alpha \le \min_t \{U + (P - r)n_L/n_U\}/r`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.segment_block import SegmentBlock
from pulens.counts.tally import Tally
from pulens.estimate import Interval
from pulens.inference.kernels.exact import binomial_lower, binomial_upper
from pulens.keywords import typed
from pulens.scenario import Scenario
from pulens.types import Floats

REGIONS = 20  # score regions tried, cut at quantiles of the labelled scores
UNEVEN = 3.0  # how many times as often high scores are taken to be labelled where labels may be uneven


def highest_prior(
    tally: Tally,
    *,
    confidence: float = 0.95,
    label_noise: float = 0.0,
    factor: float = 1.0,
    scenario: Scenario = Scenario.CASE_CONTROL,
) -> float:
    r"""Upper confidence limit for the share of positives among the unlabelled rows, assuming no shape at all.

    Regions are :math:`\{score \ge t\}` with t at quantiles of the labelled scores, fixed without a look at the
    unlabelled ones, and the chance of a miss is divided among both samples and all regions.
    With label noise known, :math:`\alpha \le \beta\,\inf U(A)/P(A)`. ``factor`` is how many times as often high scores
    may have been labelled; the scenario matters only where it is more than 1.
    """
    block = SegmentBlock.of_tally(tally)
    return float(highest_priors(block, confidence, label_noise=label_noise, factor=factor, scenario=scenario)[0])


def highest_priors(
    block: SegmentBlock,
    confidence: float,
    *,
    label_noise: float = 0.0,
    factor: float = 1.0,
    scenario: Scenario = Scenario.CASE_CONTROL,
) -> Floats:
    """:func:`highest_prior` of every segment."""
    owner, indices = _regions(block)
    many = np.bincount(owner, minlength=len(block))
    miss = ((1 - confidence) / (2 * many))[owner]
    labelled, unlabelled = block.totals[owner, 0], block.totals[owner, 1]
    above = _limits(binomial_upper, block.running[1][indices].astype(float), unlabelled, miss)
    below = _limits(binomial_lower, block.running[0][indices].astype(float), labelled, miss)
    share = below / (below + factor * (1 - below))
    if scenario is Scenario.SINGLE_SET:
        nothing = np.zeros(indices.size)
        above = above + np.divide((below - share) * labelled, unlabelled, out=nothing, where=unlabelled > 0)
    ratios = np.divide(above, share, out=np.full(indices.size, np.inf), where=below > 0)
    first = np.concatenate([[0], np.cumsum(many)[:-1]])
    return np.minimum(np.minimum.reduceat(ratios, first) * (1 - label_noise), 1 - label_noise)


def _regions(block: SegmentBlock) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the quantiles of each segment's labelled scores lie, each place once, and whose they are."""
    shares = np.arange(1, REGIONS + 1) / REGIONS
    wanted = shares * block.totals[:, :1]
    running, last = block.running[0], block.first + block.sizes - 1
    if running.dtype.kind == "f" or len(block) == 1:
        result = [
            np.minimum(np.searchsorted(running[begin : end + 1], own) + begin, end)
            for begin, end, own in zip(block.first.tolist(), last.tolist(), wanted, strict=True)
        ]
        indices = np.stack(result)
    else:
        # whole numbers: what is passed in the segments before does not blur where a share is reached
        before = np.concatenate([[0], np.cumsum(running[last])[:-1]])
        indices = np.searchsorted(running + block.spread(before), np.ceil(wanted).astype(np.int64) + before[:, None])
    fresh = np.column_stack([np.ones(len(block), bool), indices[:, 1:] != indices[:, :-1]])
    owner = np.broadcast_to(np.arange(len(block))[:, None], indices.shape)
    return owner[fresh], indices[fresh]


def _limits(limit: Any, successes: Floats, trials: Floats, miss: Floats) -> Floats:
    """Binomial limits, each found once: few rows give few different ones."""
    keys = np.stack([successes, trials, miss], axis=1)
    kinds, inverse = np.unique(keys, axis=0, return_inverse=True)
    return np.asarray(limit(kinds[:, 0], kinds[:, 1], kinds[:, 2])[inverse.ravel()])


@typed
def feasible_range(
    tally: Tally,
    *,
    confidence: float = 0.95,
    label_noise: float = 0.0,
    factor: float = 1.0,
    scenario: Scenario = Scenario.CASE_CONTROL,
) -> Interval:
    """Shares of positives among the unlabelled rows that the data cannot exclude, if labels are random.

    With a ``factor`` of 3, if high scores were labelled up to three times as often.

    >>> tally = Tally.from_arrays(np.repeat([1, 0], [200, 800]), np.r_[np.full(200, 1.0), np.zeros(700), np.ones(100)])
    >>> print(feasible_range(tally))
    [0.000, 0.153]
    >>> scores = np.r_[np.ones(160), np.zeros(740), np.ones(100)]
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [200, 800]), scores)
    >>> print(feasible_range(tally), feasible_range(tally, factor=3.0))
    [0.000, 0.211] [0.000, 0.325]
    """
    high = highest_prior(tally, confidence=confidence, label_noise=label_noise, factor=factor, scenario=scenario)
    words = "no region may hold more positives than unlabelled rows"
    if factor > 1:
        words += f", high scores labelled up to {factor:g} times as often"
    return Interval(0.0, high, confidence, words)


def feasible_ranges(
    tally: Tally, scenario: Scenario, *, confidence: float = 0.95, label_noise: float = 0.0
) -> tuple[Interval, Interval]:
    """The range if labels are random, and that if high scores were labelled up to :data:`UNEVEN` times as often."""
    random, uneven = (
        feasible_range(tally, confidence=confidence, label_noise=label_noise, factor=factor, scenario=scenario)
        for factor in (1.0, UNEVEN)
    )
    return random, uneven
