r"""Early-learning regularisation: Liu, Niles-Weed, Razavian and Fernandez-Granda (2020), equation 6.

Networks fit clean labels first and noisy ones later; staying near what was learned early keeps the noise out.
"""

from __future__ import annotations

from typing import Any

from pulens.learning.risks.losses import _library, sigmoid


def early_learning(z: Any, expected: Any) -> Any:
    r""":math:`\log(1 - \langle e, q \rangle)` of :math:`q = (1-p, p)`, :math:`p = \sigma(z)`, against a teacher.

    ``expected`` is the teacher's chance of the positive class. The value is negative, and the lower the more the two
    agree; hold z within reach first, since full agreement on a certain row is minus infinity.

    >>> import numpy as np
    >>> early_learning(np.array([0.0]), np.array([0.9])).round(6)
    array([-0.693147])
    """
    chance = sigmoid(z, -1)
    return _library(z).log(expected * (1 - chance) + (1 - expected) * chance)
