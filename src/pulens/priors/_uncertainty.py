r"""How far an estimate of the class prior may be believed: discount and doubt.

The shapes behind an estimate may all be wrong. Three things are done about it.

*Discount.* The evidence of the shapes counts only

.. math:: \tau = \frac{1}{1 + D \max(z, 0)\, w},

with z the misfit of the best of them (:mod:`pulens.priors._misfit`) and :math:`w = \sqrt{(1-q)/q}` the weakness of
the score, q being the AUC of positives against negatives that the estimate implies. Misfit grows with the rows where
a shape is wrong, so the discounted evidence does not.

*Doubt.* With probability :math:`\epsilon = C w` no shape is believed at all: what was plausible before seeing scores
stays so, up to the feasible limit. Negatives that look like positives hide even under a perfect fit, and weak scores
hide more of them.

*Purity.* With probability :math:`h(1 - \tau)` the purest scores are nearly pure, and the share lies close below the
feasible limit: that is what is left to assume where shapes fail.

The three constants were learned on worlds made of real tables and models, whole tables being kept out
(``benchmarks/real_worlds.py --only learn``; docs/research/priors.md has the figures).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pulens.containers import distinct
from pulens.priors.distribution import PriorDistribution
from pulens.types import Floats

DISCOUNT, DOUBT, PURITY = 1.0, 0.25, 0.2
MOST_DOUBT = 0.9
WEAKEST_AUC, STRONGEST_AUC = 0.5, 0.995  # no score is taken to be better: its weakness would vanish
NEAR_THE_LIMIT = 4  # the density of nearly pure scores rises with this power of the share
POINTS = 400  # shares at which the densities are held, finer near 0


def plausibility(shares: Floats) -> Floats:
    """Density of the class prior before seeing data, up to a factor."""
    return np.asarray((1 - shares) / np.sqrt(shares))


@dataclass(frozen=True, slots=True, eq=False)
class Doubted:
    """What is left of an estimate after discount and doubt.

    ``distribution`` holds all three parts, ``believed`` the discounted evidence alone, from which the value is read,
    and ``trusted`` the evidence as if one of the shapes were right.
    """

    distribution: PriorDistribution
    believed: PriorDistribution
    trusted: PriorDistribution
    implied_auc: float
    discount: float
    doubt: float


def implied_auc(observed: float, share: float, label_noise: float = 0.0) -> float:
    r"""AUC of positives against negatives: :math:`\frac12 + (A - \frac12)/(\beta - \alpha)`.

    >>> implied_auc(0.8, 0.2)
    0.875
    """
    contrast = max(1 - label_noise - share, 1e-9)
    return float(np.clip(0.5 + (observed - 0.5) / contrast, WEAKEST_AUC, STRONGEST_AUC))


def weakness(auc: float) -> float:
    """1 for a useless score, a third for an AUC of 0.9, never quite 0.

    >>> round(weakness(0.875), 4)
    0.378
    """
    return float(np.sqrt((1 - auc) / auc))


def shares_below(limit: float, among: Floats) -> Floats:
    """Shares up to the limit at which densities are held: finer near 0, and where the evidence was computed."""
    even = limit * ((np.arange(POINTS) + 0.5) / POINTS) ** 2
    return distinct(np.append(even, among[(among > 0) & (among < limit)]))


def doubted(
    values: Floats,
    log_evidence: Floats,
    *,
    limit: float,
    observed_auc: float,
    misfit: float,
    label_noise: float = 0.0,
    discount: float = DISCOUNT,
    doubt: float = DOUBT,
    purity: float = PURITY,
) -> Doubted:
    """Mix the discounted evidence with doubt, all of it up to the feasible limit.

    ``discount=0, doubt=0`` believes the shapes as if one of them were right.

    >>> flat = np.zeros(3)
    >>> found = doubted(np.array([0.1, 0.5, 0.9]), flat, limit=0.4, observed_auc=0.8, misfit=2.0)
    >>> round(found.implied_auc, 3), round(found.discount, 3), round(found.doubt, 3)
    (0.826, 0.521, 0.115)
    """
    shares = shares_below(limit, values)
    evidence = np.interp(shares, values, log_evidence)
    plausible = plausibility(shares)

    def believing(trust: float) -> PriorDistribution:
        height = trust * evidence
        return PriorDistribution(shares, plausible * np.exp(height - height.max()))

    trusted = believing(1.0)
    auc = implied_auc(observed_auc, trusted.quantile(0.5), label_noise)
    weak = weakness(auc)
    trust = 1 / (1 + discount * max(misfit, 0.0) * weak)
    if observed_auc < WEAKEST_AUC and discount:  # labelled rows score lower than the others: nothing was learned
        trust = 0.0
    share = min(doubt * weak, MOST_DOUBT)
    believed = believing(trust)
    pure = purity * (1 - trust)
    masses = (1 - pure) * ((1 - share) * believed.masses + share * believing(0.0).masses)
    masses += pure * PriorDistribution(shares, (shares / limit) ** NEAR_THE_LIMIT).masses
    return Doubted(PriorDistribution.from_masses(shares, masses), believed, trusted, auc, trust, share)
