"""PU risks, written once with array operators so that numpy arrays and torch tensors share them.

>>> import numpy as np
>>> z = np.array([2.0, 1.0])
>>> zero_one(z, 1), zero_one(z, -1)
(array([0., 0.]), array([1., 1.]))
"""

from pulens.learning.risks.losses import LOSSES, Loss, logistic, sigmoid, zero_one
from pulens.learning.risks.pu import RiskParts, nonnegative, risk_parts, unbiased

__all__ = ["LOSSES", "Loss", "RiskParts", "logistic", "nonnegative", "risk_parts", "sigmoid", "unbiased", "zero_one"]
