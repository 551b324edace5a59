r"""Soft labels that a few rows of known class correct: LaGAM (Long et al. 2024).

Every row carries a stored chance :math:`l_i` of being positive. With :math:`p_i = \sigma(z_i)` the loss of a batch
gives each class column its own total weight, so that few positives count as much as many negatives. Labels move along
the gradient of the loss on a support set, after a virtual step of the last layer's weights.
"""

from __future__ import annotations

import math
from typing import Any

from pulens.learning.risks.losses import logistic, sigmoid

FLOOR = 1e-4  # probabilities are held within FLOOR and 1 - FLOOR
CHEAPEST, DEAREST = -math.log1p(-FLOOR), -math.log(FLOOR)  # what they then cost


def class_balanced(z: Any, positive: Any, valid: Any = 1.0) -> Any:
    r"""Cross-entropy against soft labels, each class divided by its own label mass, over the last axis:

    .. math:: L = \sum_{c \in \{0, 1\}} \frac{\sum_i Y_{ic} (-\log Q_{ic})}{\sum_i Y_{ic}}, \qquad Y_i = (1-l_i, l_i)

    with :math:`Q_i = (1 - p_i, p_i)` clipped to [1e-4, 1 - 1e-4]. A class without any mass adds nothing.

    >>> import numpy as np
    >>> float(class_balanced(np.array([1.0, -0.5, 0.2]), np.array([1.0, 0.1, 0.0])).round(6))
    1.017972
    """
    total = 0.0
    for sign, mass in ((1, positive * valid), (-1, (1 - positive) * valid)):
        cost = logistic(z, sign).clip(CHEAPEST, DEAREST)
        whole = mass.sum(-1)
        total = total + (mass * cost).sum(-1) / (whole + (whole == 0))
    return total


def slopes(z: Any) -> tuple[Any, Any]:
    """Derivatives of the two clipped costs by the logit: as a negative, as a positive.

    >>> import numpy as np
    >>> [float(slope) for slope in slopes(np.array(0.0))]
    [0.5, -0.5]
    """
    chance = sigmoid(z, -1)
    moves = (chance > FLOOR) & (chance < 1 - FLOOR)
    return chance * moves, (chance - 1) * moves


def layer_slopes(z: Any, features: Any, positive: Any, valid: Any) -> tuple[list[Any], list[Any], Any]:
    r"""For either class: the gradient :math:`A_c` of its loss by the last weights, and its label mass :math:`s_c`.

    .. math:: A_c = \frac{1}{s_c} \sum_i Y_{ic} (p_i - c) h_i, \qquad s_c = \sum_i Y_{ic}

    ``features`` [..., rows, width] are what the last layer reads. Also gives the rows' own slopes.
    """
    own = slopes(z)
    masses = ((1 - positive) * valid, positive * valid)
    totals = [mass.sum(-1) for mass in masses]
    means = [
        ((mass * slope)[..., None] * features).sum(-2) / (total + (total == 0))[..., None]
        for mass, slope, total in zip(masses, own, totals, strict=True)
    ]
    return means, totals, own


def support_slope(z: Any, features: Any, as_positive: Any, as_negative: Any) -> Any:
    r"""Gradient by the last weights of :math:`\sum_j w^+_j (-\log p_j) + w^-_j (-\log(1 - p_j))` on support rows.

    Rows of known class weigh one over the size of their class. From positive and unlabelled rows alone,
    :math:`w^+ = 1/n_P` on labelled rows, and :math:`E_n = (E - \pi E_p)/(1 - \pi)` makes :math:`w^-` equal to
    :math:`1/((1-\pi) n_U)` on population rows and :math:`-\pi/((1-\pi) n_P)` on labelled ones.
    """
    negative, positive = slopes(z)
    return ((as_positive * positive + as_negative * negative)[..., None] * features).sum(-2)


def label_gradient(
    means: list[Any], totals: list[Any], own: Any, features: Any, direction: Any, rate: float
) -> tuple[Any, Any]:
    r"""How the support loss answers to a row's label, for either class: the meta-gradient in closed form.

    .. math:: G_{ic} = -\frac{\eta_m}{s_c} \Big\langle v,\; (p_i - c) h_i - A_c \Big\rangle

    with :math:`v` the support loss's gradient at the virtual weights :math:`W - \eta_m (A_0 + A_1)` (``direction``).
    Only the last layer's weights are virtual, so no second-order graph is needed.
    """
    along = (features * direction[..., None, :]).sum(-1)
    result = [
        -rate * (slope * along - (mean * direction).sum(-1)[..., None]) / (total + (total == 0))[..., None]
        for mean, total, slope in zip(means, totals, own, strict=True)
    ]
    return result[0], result[1]


def kept_share(epoch: int, epochs: int, first: float = 0.95, last: float = 0.8) -> float:
    r""":math:`\rho(e) = .95 + (e/E)(.8 - .95)`: how much of the stored label one update keeps.

    >>> [round(kept_share(epoch, 400), 6) for epoch in (20, 100, 399)]
    [0.9425, 0.9125, 0.800375]
    """
    return first + epoch / epochs * (last - first)
