r"""Self-PU's weights and gates: Chen, Chen, Chen, Yuan, Gong, Chen and Wang (2020), section 3.

An unlabelled row that is not trusted gets a mix of two losses, its soft-label cross-entropy and its share of the nnPU
risk. The weights are those of one step of meta-learning: how much would a little of either loss, followed by a gradient
step, have lowered a loss on held-out rows? At weights of zero that is an inner product of gradients,
:math:`u_{ik} = \delta\,\langle \nabla L_{\mathrm{out}}, \nabla \ell_{ik} \rangle`.
"""

from __future__ import annotations

import math
from typing import Any

from pulens.learning.risks.losses import Loss, _library, logistic, sigmoid
from pulens.learning.risks.means import masked_mean
from pulens.learning.risks.pu import RiskParts, risk_parts

TINY = 1e-10  # what the nnPU loss gets where neither loss helps


def weighted_parts(
    z: Any, labelled: Any, population: Any, weights: Any, class_prior: Any, loss: Loss = sigmoid
) -> RiskParts:
    """The two parts of the PU risk, every row's losses multiplied by its weight; the authors' loss is the sigmoid."""
    as_positive, as_negative = weights * loss(z, 1), weights * loss(z, -1)
    return risk_parts(
        masked_mean(as_positive, labelled),
        masked_mean(as_negative, labelled),
        masked_mean(as_negative, population),
        class_prior,
    )


def slope_as_negative(z: Any, loss: Loss) -> Any:
    """Derivative of a row's loss if it is negative, of the sigmoid or the logistic loss.

    >>> import numpy as np
    >>> slope_as_negative(np.array([2.0]), sigmoid).round(6), slope_as_negative(np.array([2.0]), logistic).round(6)
    (array([0.104994]), array([0.880797]))
    """
    return sigmoid(z, -1) if loss is logistic else sigmoid(z, 1) * sigmoid(z, -1)


def entropy_slope(z: Any) -> Any:
    r"""Derivative of the entropy of :math:`\sigma(z)`: :math:`-z\,\sigma(z)\,\sigma(-z)`.

    >>> import numpy as np
    >>> entropy_slope(np.array([0.0, 2.0])).round(6)
    array([-0.      , -0.209987])
    """
    return -z * sigmoid(z, 1) * sigmoid(z, -1)


def calibrated(by_entropy: Any, by_risk: Any, labelled: Any, budget: Any) -> tuple[Any, Any]:
    """Weights of the cross-entropy and of the nnPU loss of each row, from the two usefulnesses ``u``.

    They add up to 1. Labelled rows keep nnPU alone, and so do all rows behind the one at which the weights of the
    cross-entropy add up to ``budget``: the last axis is walked from its start.

    >>> import numpy as np
    >>> one, other = calibrated(np.array([3.0, -1.0, 1.0]), np.array([1.0, 2.0, 1.0]), np.array([0, 0, 1]), 8)
    >>> one.round(3), other.round(3)
    (array([0.75, 0.  , 0.  ]), array([0.25, 1.  , 1.  ]))
    """
    first, second = by_entropy.clip(0), by_risk.clip(0) + TINY
    share = first / (first + second) * (1 - labelled)
    spent = share.cumsum(-1) - share
    share = _library(share).where(spent < budget, share, share * 0)
    return share, 1 - share


def is_open(difference: Any, risk: Any, share: Any) -> Any:
    """The gate of mutual learning: students teach one another where they differ little beside what they risk.

    >>> is_open(0.034, 0.35, 0.1), is_open(0.036, 0.35, 0.1)
    (True, False)
    """
    return difference < share * risk


def consistency_weight(epoch: float, largest: float, start: float, length: float) -> float:
    r""":math:`c(e) = c\,e^{-5 (1 - t)^2}` with t rising from 0 at ``start`` to 1 after ``length`` epochs.

    >>> [round(consistency_weight(epoch, 0.3, 30, 400), 6) for epoch in (0, 50, 100, 199)]
    [0.002021, 0.003291, 0.009981, 0.056614]
    """
    part = min(max(epoch - start, 0), length) / length
    return largest * math.exp(-5 * (1 - part) ** 2)
