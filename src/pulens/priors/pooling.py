r"""Class priors of several cells that borrow from one another: a normal hierarchy on the scale of log odds.

Each cell has an estimate :math:`t_g` of its log odds with variance :math:`v_g`; the true ones are
:math:`N(\mu, \tau^2)` with :math:`\mu` flat and :math:`\tau` flat on 61 even points of [0, 3]. With
:math:`w_g = 1/(v_g + \tau^2)` and :math:`W = \sum w_g` a :math:`\tau` has the weight

.. math:: \prod_g w_g^{1/2} \; W^{-1/2} \exp\bigl(-\tfrac12 \sum_g w_g (t_g - \hat\mu)^2\bigr),
   \qquad \hat\mu = \sum_g w_g t_g / W,

(Gelman, Carlin, Stern and Rubin, Bayesian Data Analysis, section 5.4). A cell without an estimate of its own is drawn
from what the others leave: :math:`N(\mu, \tau^2)`.
"""

from __future__ import annotations

import numpy as np

from pulens.types import Floats

SPREADS = np.linspace(0.0, 3.0, 61)  # standard deviations of the cells' log odds that are tried


def spread_weights(logits: Floats, variances: Floats) -> tuple[Floats, Floats, Floats]:
    """The probability of each spread, and the mean and variance of the common log odds at it.

    >>> chance, _, _ = spread_weights(np.array([-2.0, -2.0, -2.0]), np.full(3, 0.01))
    >>> bool(chance[0] == chance.max())
    True
    """
    known = np.isfinite(logits) & np.isfinite(variances)
    own, noise = logits[known], variances[known]
    weights = 1.0 / (noise + SPREADS[:, None] ** 2)
    total = weights.sum(axis=1)
    centre = weights @ own / total
    height = np.log(weights).sum(axis=1) / 2 - np.log(total) / 2
    height -= (weights * (own - centre[:, None]) ** 2).sum(axis=1) / 2
    chance = np.exp(height - height.max())
    return chance / chance.sum(), centre, 1.0 / total


def pooled_logits(logits: Floats, variances: Floats, size: int, seed: int = 0) -> Floats:
    """Draws of every cell's log odds, of shape (size, cells), each given all cells' estimates.

    ``nan`` stands for a cell without an estimate; one at least must have one.

    >>> drawn = pooled_logits(np.array([-2.0, -1.0, np.nan]), np.array([1.0, 1.0, np.nan]), 4000)
    >>> np.median(drawn, axis=0).round(1).tolist()
    [-1.8, -1.3, -1.5]
    """
    rng = np.random.Generator(np.random.PCG64([seed, 23]))
    chance, centre, variance = spread_weights(logits, variances)
    levels = rng.permutation((np.arange(size) + 0.5) / size)  # even: the draws of the spread add no noise
    place = np.minimum(np.searchsorted(np.cumsum(chance), levels), SPREADS.size - 1)
    spread = SPREADS[place, None]
    common = (centre[place] + np.sqrt(variance[place]) * rng.standard_normal(size))[:, None]
    known = np.isfinite(logits) & np.isfinite(variances)
    own, noise = np.where(known, logits, 0.0), np.where(known, variances, 1.0)
    # how much of a cell's own estimate is kept: all of it where cells differ much, nothing where they do not
    kept = np.where(known, spread**2 / (spread**2 + noise), 0.0)
    middle = kept * own + (1 - kept) * common
    left = np.where(known, kept * noise, spread**2)
    return np.asarray(middle + np.sqrt(left) * rng.standard_normal(middle.shape))
