r"""Lowest PU risk of a tree's node: the closed forms behind :class:`~pulens.learners.PUET`.

A node with :math:`n_P(S)` labelled and :math:`n_U(S)` unlabelled rows has weights
:math:`W_P = \pi n_P(S) / n_P`, :math:`W_U = n_U(S) / n_U`, :math:`W_N = W_U - W_P`. A constant prediction v there has
risk :math:`W_P \ell(v) + W_N \ell(-v)` (unbiased) or :math:`W_P \ell(v) + \max(0, W_N \ell(-v))` (non-negative); the
impurity is its minimum over v (Wilton et al., 2022).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from pulens.types import Floats

RISKS = ("nnpu", "upu")
LOSSES = ("quadratic", "logistic", "savage")
#: weights this small are zero: sums of counts divided by totals carry rounding, and its sign must not decide
TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class NodeRisk:
    """Everything that turns counts in a node into a risk.

    >>> risk = NodeRisk(labelled=5, unlabelled=20, class_prior=0.4)
    >>> float(risk.impurity(np.array(5), np.array(20)))
    0.96
    """

    labelled: int
    unlabelled: int
    class_prior: float
    risk: str = "nnpu"
    loss: str = "quadratic"

    def weights(self, n_labelled: Any, n_unlabelled: Any) -> tuple[Floats, Floats, Floats]:
        """Weights of positives, unlabelled and negatives; what is zero but for rounding is zero."""
        positive = np.asarray(n_labelled) * (self.class_prior / self.labelled)
        unlabelled = np.asarray(n_unlabelled) / self.unlabelled
        negative = unlabelled - positive
        return positive, unlabelled, np.where(np.abs(negative) <= TOLERANCE, 0.0, negative)

    def impurity(self, n_labelled: Any, n_unlabelled: Any) -> Floats:
        positive, unlabelled, negative = self.weights(n_labelled, n_unlabelled)
        below = negative < 0
        inner = (negative > 0) & (positive > 0)
        if self.loss == "logistic":  # W_U times the entropy of W_P / W_U, in nats
            value = xlogy(unlabelled, unlabelled) - xlogy(positive, positive)
            result = np.where(inner, value - xlogy(np.maximum(negative, 0), np.maximum(negative, 0)), 0.0)
            return np.where(below, -np.inf, result) if self.risk == "upu" else result
        with np.errstate(divide="ignore", invalid="ignore"):
            curve = 4 * positive * negative / unlabelled
        result = np.where(inner, curve, 0.0)
        if self.risk == "nnpu":
            return result
        if self.loss == "savage":
            return np.where(below, 4 * negative, result)
        return np.where(below, np.where(unlabelled > 0, curve, -np.inf), result)

    def is_final(self, n_labelled: Any, impurity: Floats) -> NDArray[np.bool_]:
        """Whether splitting a node cannot lower its risk any more."""
        if self.risk == "nnpu":
            return impurity <= 0
        final: NDArray[np.bool_] = np.isneginf(impurity) | ((np.asarray(n_labelled) == 0) & (impurity <= 0))
        return final

    def posterior(self, n_labelled: Any, n_unlabelled: Any) -> Floats:
        """Estimated P(positive) in a node, W_P / W_U, at most 1; 1 where there are only labelled rows."""
        positive, unlabelled, _ = self.weights(n_labelled, n_unlabelled)
        share = np.divide(positive, unlabelled, out=np.ones_like(unlabelled), where=unlabelled > 0)
        return np.minimum(share, 1.0)
