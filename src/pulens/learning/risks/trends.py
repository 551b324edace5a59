r"""How a row's predicted chance of being positive drifts during training: Wang et al. (2023), Holistic-PU.

Trained as negatives, true negatives drift down steadily while hidden positives wander. A trend score is a robust mean
of the changes :math:`s_j - s_i` along the trajectory :math:`s_1, \dots, s_T`; time is the second to last axis.
"""

from __future__ import annotations

from typing import Any

from pulens.learning.risks.losses import _library

TRENDS = ("adjacent", "pairwise")


def adjacent_trend(trajectory: Any) -> Any:
    r"""The authors' score: the mean of :math:`\log(1 + \delta + \delta^2/2)` over changes from one epoch to the next.

    >>> import numpy as np
    >>> adjacent_trend(np.array([[0.5, 0.5], [0.4, 0.55], [0.3, 0.45], [0.2, 0.6]])).round(6)
    array([-0.09982 ,  0.033219])
    """
    change = trajectory[..., 1:, :] - trajectory[..., :-1, :]
    return _library(change).log(1 + change + change**2 / 2).mean(-2)


def pairwise_trend(trajectory: Any, scale: float = 1.0) -> Any:
    r"""The paper's score: the mean of :math:`\psi(a(s_j - s_i))` over all pairs of epochs :math:`i < j`.

    The influence :math:`\psi(u) = \mathrm{sign}(u) \log(1 + |u| + u^2/2)` is odd: reversing time changes the sign.

    >>> import numpy as np
    >>> pairwise_trend(np.array([[0.5, 0.5], [0.4, 0.55], [0.3, 0.45], [0.2, 0.6]])).round(6)
    array([-0.165605,  0.033246])
    """
    library, epochs = _library(trajectory), trajectory.shape[-2]
    total = 0.0
    for lag in range(1, epochs):
        change = scale * (trajectory[..., lag:, :] - trajectory[..., :-lag, :])
        total = total + (library.sign(change) * library.log(1 + abs(change) + change**2 / 2)).sum(-2)
    return total * (2 / (epochs * (epochs - 1)))
