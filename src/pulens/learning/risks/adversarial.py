r"""The predictive adversarial game: Hu et al. (2021).

A discriminator D tells labelled positives from unlabelled rows, a classifier C follows its opinion of the unlabelled
rows, and D is pushed away from what C already calls positive:

.. math:: V(D, C) = E_P \log D + E_U \log(1 - D) + \lambda E_U[(\log(1 - C) - \log C)(2D - 1)],

maximised over D and minimised over C. All functions take logits :math:`d` and :math:`c`.
"""

from __future__ import annotations

from typing import Any

from pulens.learning.risks.losses import _library, logistic, sigmoid

EPSILON = 1e-2  # inside every logarithm of the authors' program


def coupling(classifier: Any, discriminator: Any) -> Any:
    r"""The last bracket, row by row: :math:`-c\,(2D - 1)`.

    It equals :math:`KL(D \| C) - KL(D \| 1 - C)` of Bernoulli distributions, so the pull on C has the same strength
    for positive and for negative calls.

    >>> import numpy as np
    >>> coupling(np.array([2.0, -1.0]), np.array([0.0, 0.0]))
    array([-0.,  0.])
    """
    return -classifier * (1 - 2 * sigmoid(discriminator, 1))


def predictive_game(labelled: Any, unlabelled: Any, classifier: Any, weight: Any) -> Any:
    r"""V from D's logits of labelled and unlabelled rows and C's of the unlabelled ones; means over the last axis.

    >>> import numpy as np
    >>> zero = np.zeros(3)
    >>> round(float(predictive_game(zero, zero, zero, 1.0)), 6)  # 2 log(1/2)
    -1.386294
    """
    result = -logistic(labelled, 1).mean(-1) - logistic(unlabelled, -1).mean(-1)
    return result + weight * coupling(classifier, unlabelled).mean(-1)


def predictive_game_in_sums(labelled: Any, unlabelled: Any, classifier: Any, weight: Any) -> Any:
    """The authors' program: sums, a small number inside every logarithm, and hidden positives left alone.

    The second term reads as many unlabelled rows as there are labelled ones, the first of them, and counts only those
    whose D lies below their mean.

    >>> import numpy as np
    >>> zero = np.zeros(3)
    >>> round(float(predictive_game_in_sums(zero, zero, zero, 1.0)), 6)
    -1.960626
    """
    library = _library(labelled)
    as_labelled, as_unlabelled, positive = (sigmoid(z, -1) for z in (labelled, unlabelled, classifier))
    some = as_unlabelled[..., : labelled.shape[-1]]
    mean = some.mean(-1)[..., None]
    mean = mean.detach() if hasattr(mean, "detach") else mean
    excess = (library.log(1 - some + EPSILON) - library.log(1 - mean)).clip(0)
    pull = (library.log(1 - positive + EPSILON) - library.log(positive + EPSILON)) * (2 * as_unlabelled - 1)
    return library.log(as_labelled + EPSILON).sum(-1) + excess.sum(-1) + weight * pull.sum(-1)
