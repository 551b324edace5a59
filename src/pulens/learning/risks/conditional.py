r"""The three losses of a class-conditional game: Papic, Kononenko and Bosnic (2023).

A generator draws positives and negatives, a discriminator D judges real against generated, and a classifier A must
score labelled and generated positives alike and generated negatives the other way round. All functions take logits and
average over the last axis; ``positive``, ``drawn_positive`` and ``drawn_negative`` are rows of equal number.
"""

from __future__ import annotations

from typing import Any

from pulens.learning.risks.losses import logistic, sigmoid

LEAST = 1e-7


def half_divergence(one: Any, other: Any) -> Any:
    r""":math:`k(P, Q) = \mathrm{mean}\, P_i \log(P_i / Q_i)` of probabilities given by logits, row by row.

    Half of a Bernoulli divergence, hence not symmetric and sometimes negative: its minimum is :math:`-Q/e`.

    >>> import numpy as np
    >>> logit = lambda p: np.log(np.array([p]) / (1 - np.array([p])))
    >>> round(float(half_divergence(logit(0.3), logit(0.9))), 6)
    -0.329584
    """
    return (sigmoid(one, -1).clip(LEAST, 1) * (logistic(other, 1) - logistic(one, 1))).mean(-1)


def ties(positive: Any, drawn_positive: Any, drawn_negative: Any) -> Any:
    r"""What ties the classes to the labelled rows: :math:`k(a_p, a_{gp}) + k(a_{gp}, 1 - a_{gn})`.

    >>> import numpy as np
    >>> float(ties(np.zeros(2), np.zeros(2), np.zeros(2)))
    0.0
    """
    return half_divergence(positive, drawn_positive) + half_divergence(drawn_positive, -drawn_negative)


def classifier_loss(positive: Any, drawn_positive: Any, drawn_negative: Any, weight: Any = 1.0) -> Any:
    r"""A's loss: :math:`w\,[k(1, a_p) + k(a_p, a_{gp}) + k(a_{gp}, 1 - a_{gn})]`; the first term is the anchor.

    >>> import numpy as np
    >>> round(float(classifier_loss(np.zeros(2), np.zeros(2), np.zeros(2))), 6)
    0.693147
    """
    return weight * (logistic(positive, 1).mean(-1) + ties(positive, drawn_positive, drawn_negative))


def discriminator_loss(positive: Any, unlabelled: Any, drawn_positive: Any, drawn_negative: Any) -> Any:
    """D's loss: half the cross entropies of both real and of both generated kinds of rows.

    >>> import numpy as np
    >>> round(float(discriminator_loss(*[np.zeros(2)] * 4)), 6)
    1.386294
    """
    real = logistic(positive, 1).mean(-1) + logistic(unlabelled, 1).mean(-1)
    return (real + logistic(drawn_positive, -1).mean(-1) + logistic(drawn_negative, -1).mean(-1)) / 2


def deception(drawn_positive: Any, drawn_negative: Any) -> Any:
    """The generator's loss against D: both kinds of generated rows should pass for real.

    >>> import numpy as np
    >>> round(float(deception(np.zeros(2), np.zeros(2))), 6)
    1.386294
    """
    return logistic(drawn_positive, 1).mean(-1) + logistic(drawn_negative, 1).mean(-1)
