r"""Aligning the mean prediction with what is known of it: 1 on labelled positives, the class prior on the population.

Dist-PU (Zhao et al. 2022, equations 5 to 11) takes absolute differences; PULDA (Jiang et al. 2023) a smooth distance
and a functional margin.
"""

from __future__ import annotations

from typing import Any

from pulens.learning.risks.losses import _library, logistic, sigmoid


def label_distribution(labelled_mean: Any, population_mean: Any, class_prior: Any) -> Any:
    r""":math:`(1 - m_P) + |m_U - \pi| / 2\pi`: the distance of two label distributions, as the authors scale it.

    >>> label_distribution(1.0, 0.25, 0.25)
    0.0
    """
    return (1 - labelled_mean) + abs(population_mean - class_prior) / (2 * class_prior)


def entropy(z: Any) -> Any:
    r""":math:`-p \ln p - (1-p) \ln(1-p)` of :math:`p = \sigma(z)`.

    >>> import numpy as np
    >>> entropy(np.array([0.0])).round(6)
    array([0.693147])
    """
    chance = sigmoid(z, -1)
    return chance * logistic(z, 1) + (1 - chance) * logistic(z, -1)


def cross_entropy(z: Any, target: Any) -> Any:
    r""":math:`-t \ln p - (1-t) \ln(1-p)` of :math:`p = \sigma(z)` against soft targets.

    >>> import numpy as np
    >>> cross_entropy(np.array([0.0]), np.array([0.3])).round(6)
    array([0.693147])
    """
    return target * logistic(z, 1) + (1 - target) * logistic(z, -1)


def smooth_distance(difference: Any, sharpness: Any) -> Any:
    r""":math:`d_b(u) = [\mathrm{softplus}(bu) + \mathrm{softplus}(-bu)] / b`, with slope :math:`\tanh(bu/2)`.

    >>> import numpy as np
    >>> smooth_distance(np.array([0.0]), 3.5).round(6)
    array([0.396084])
    """
    scaled = sharpness * difference
    return (logistic(scaled, 1) + logistic(scaled, -1)) / sharpness


def margin_cost(z: Any, sign: int, margin: Any) -> Any:
    r"""Cost of a logit inside the margin on the side of ``sign``: :math:`\sigma(z)\sigma(m - z)` for +1.

    >>> import numpy as np
    >>> margin_cost(np.array([0.3]), 1, 0.6).round(6)
    array([0.329984])
    """
    return sigmoid(sign * z, -1) * sigmoid(margin - sign * z, -1)


def clamp(z: Any, limit: float = 10.0) -> Any:
    """Logits held within reach, so that logarithms stay finite and certain rows have no gradient."""
    return _library(z).clip(z, -limit, limit)
