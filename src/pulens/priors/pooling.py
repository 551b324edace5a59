r"""Class priors of several cells that borrow from one another: a normal hierarchy on the scale of log odds.

Each cell has an estimate :math:`t_g` of its log odds with variance :math:`v_g`; the true ones are
:math:`N(\mu, \tau^2)` with :math:`\mu` flat and :math:`\tau` flat on 61 even points of [0, 3]. With
:math:`w_g = 1/(v_g + \tau^2)` and :math:`W = \sum w_g` a :math:`\tau` has the weight

.. math:: \prod_g w_g^{1/2} \; W^{-1/2} \exp\bigl(-\tfrac12 \sum_g w_g (t_g - \hat\mu)^2\bigr),
   \qquad \hat\mu = \sum_g w_g t_g / W,

(Gelman, Carlin, Stern and Rubin, Bayesian Data Analysis, section 5.4). A cell without an estimate of its own is drawn
from what the others leave: :math:`N(\mu, \tau^2)`.

What is seen of a cell next to its estimate, such as how many of its rows score high, may say more of its class prior
than the other cells do. Then the mean is a line in that number, :math:`\mu_g = \mu + \beta x_g`, with
:math:`\beta \sim N(0, 1)`: a regression of the cells' estimates (the same book, section 15.3; in reviews of studies,
Thompson and Higgins 2002). Without it cells that differ are drawn to one another, whatever their scores show.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pulens.types import Floats

SPREADS = np.linspace(0.0, 3.0, 61)  # standard deviations of the cells' log odds that are tried


SLOPE_ERROR = 1.0  # standard deviation of the line's slope before anything is seen


class Pooling(NamedTuple):
    """The probability of each spread, and the coefficients of the common line at it with roots of their variances."""

    chance: Floats  # of shape (spreads,)
    coefficients: Floats  # (spreads, 1 or 2)
    roots: Floats  # (spreads, 1 or 2, 1 or 2)


def pooling(logits: Floats, variances: Floats, beside: Floats | None = None) -> Pooling:
    """What the cells together say of their common line; ``beside`` is the number that it is a line in.

    >>> bool(pooling(np.array([-2.0, -2.0, -2.0]), np.full(3, 0.01)).chance.argmax() == 0)
    True
    >>> scores = np.linspace(-3, 3, 9)
    >>> line = pooling(scores - 2.0, np.full(9, 0.01), scores)
    >>> (line.chance @ line.coefficients).round(1).tolist()
    [-2.0, 1.0]
    """
    known = np.isfinite(logits) & np.isfinite(variances)
    own, noise, design = logits[known], variances[known], _design(logits.size, beside)[known]
    weights = 1.0 / (noise + SPREADS[:, None] ** 2)
    precision = np.einsum("sg,gi,gj->sij", weights, design, design)
    prior = np.diag([0.0, SLOPE_ERROR**-2][: design.shape[1]])
    left = np.linalg.inv(precision + prior)
    centre = np.einsum("sij,gj,sg,g->si", left, design, weights, own)
    residuals = own - centre @ design.T
    height = np.log(weights).sum(axis=1) / 2 + np.linalg.slogdet(left)[1] / 2
    height -= (weights * residuals**2).sum(axis=1) / 2 + np.einsum("si,ij,sj->s", centre, prior, centre) / 2
    chance = np.exp(height - height.max())
    return Pooling(chance / chance.sum(), centre, np.linalg.cholesky(left))


def pooled_logits(logits: Floats, variances: Floats, size: int, seed: int = 0, beside: Floats | None = None) -> Floats:
    """Draws of every cell's log odds, of shape (size, cells), each given all cells' estimates.

    ``nan`` stands for a cell without an estimate; one at least must have one. ``beside`` as for :func:`pooling`.

    >>> drawn = pooled_logits(np.array([-2.0, -1.0, np.nan]), np.array([1.0, 1.0, np.nan]), 4000)
    >>> np.median(drawn, axis=0).round(1).tolist()
    [-1.8, -1.3, -1.5]
    """
    rng = np.random.Generator(np.random.PCG64([seed, 23]))
    result = pooling(logits, variances, beside)
    levels = rng.permutation((np.arange(size) + 0.5) / size)  # even: the draws of the spread add no noise
    index = np.minimum(np.searchsorted(np.cumsum(result.chance), levels), SPREADS.size - 1)
    spread = SPREADS[index, None]
    design = _design(logits.size, beside)
    normal = rng.standard_normal((design.shape[1], size)).T
    line = result.coefficients[index] + np.einsum("sij,sj->si", result.roots[index], normal)
    common = line @ design.T
    known = np.isfinite(logits) & np.isfinite(variances)
    own, noise = np.where(known, logits, 0.0), np.where(known, variances, 1.0)
    # how much of a cell's own estimate is kept: all of it where cells differ much, nothing where they do not
    kept = np.where(known, spread**2 / (spread**2 + noise), 0.0)
    middle = kept * own + (1 - kept) * common
    left = np.where(known, kept * noise, spread**2)
    return np.asarray(middle + np.sqrt(left) * rng.standard_normal(middle.shape))


def _design(cells: int, beside: Floats | None) -> Floats:
    ones = np.ones((cells, 1))
    return ones if beside is None else np.column_stack([ones, beside])
