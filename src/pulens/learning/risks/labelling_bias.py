r"""The likelihood of labels when positives are labelled with a chance that depends on x: Gong et al. (2022).

:math:`h` is the chance of being positive, :math:`\eta` that of being labelled if positive, and nobody labels a
negative: :math:`P(s = 1 \mid x) = h(x)\,\eta(x)`.
"""

from __future__ import annotations

from typing import Any

from pulens.learning.risks.losses import _library, logistic


def expected_class(h: Any, eta: Any, labelled: Any) -> Any:
    r"""E-step: :math:`q = 1` for labelled rows, :math:`h(1-\eta)/(1-h\eta)` otherwise.

    >>> import numpy as np
    >>> expected_class(np.array([0.9, 0.8]), np.array([0.4, 0.25]), np.array([1.0, 0.0]))
    array([1.  , 0.75])
    """
    return labelled + (1 - labelled) * (h * (1 - eta) / (1 - h * eta))


def log_likelihood(h: Any, eta: Any, labelled: Any) -> Any:
    """Each row's log-likelihood of its label.

    >>> import numpy as np
    >>> log_likelihood(np.array([0.9, 0.8]), np.array([0.4, 0.25]), np.array([1.0, 0.0])).round(6)
    array([-1.021651, -0.223144])
    """
    chance = h * eta
    return _library(chance).log(labelled * chance + (1 - labelled) * (1 - chance))


def propensity_loss(z: Any, labelled: Any, expected: Any) -> Any:
    """M-step of the propensity: cross-entropy of being labelled, weighted by the chance of being positive."""
    return expected * (labelled * logistic(z, 1) + (1 - labelled) * logistic(z, -1))


def balanced_loss(z: Any, labelled: Any, labelled_share: Any) -> Any:
    """Pre-training: labelled against unlabelled rows, each kind with the other's share for a weight."""
    return labelled * (1 - labelled_share) * logistic(z, 1) + (1 - labelled) * labelled_share * logistic(z, -1)
