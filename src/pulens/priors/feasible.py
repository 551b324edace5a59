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

import numpy as np

from pulens.counts.tally import Tally
from pulens.estimate import Interval
from pulens.intervals.kernels.exact import binomial_lower, binomial_upper
from pulens.keywords import typed
from pulens.scenario import Scenario

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
    labelled_total, unlabelled_total, _ = tally.totals
    shares = np.arange(1, REGIONS + 1) / REGIONS
    places = np.unique(np.minimum(np.searchsorted(tally.labelled, shares * labelled_total), len(tally) - 1))
    miss = (1 - confidence) / (2 * places.size)
    above = binomial_upper(tally.unlabelled[places].astype(float), unlabelled_total, miss)
    below = binomial_lower(tally.labelled[places].astype(float), labelled_total, miss)
    share = below / (below + factor * (1 - below))
    if scenario is Scenario.SINGLE_SET and unlabelled_total:
        above = above + (below - share) * labelled_total / unlabelled_total
    ratios = np.divide(above, share, out=np.full(places.size, np.inf), where=below > 0)
    return float(min(ratios.min() * (1 - label_noise), 1 - label_noise))


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
