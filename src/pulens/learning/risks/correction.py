r"""What nnPU steps on: the risk, or the way back up when its negative part fell too low (Kiryo et al. 2017, Alg. 1)."""

from __future__ import annotations

from typing import Any

from pulens.learning.risks.losses import _library
from pulens.learning.risks.pu import RiskParts


def corrected(parts: RiskParts, tolerance: Any = 0.0, step_back: Any = 1.0) -> Any:
    r"""An objective whose gradient is nnPU's step.

    With :math:`r` the negative part: :math:`\pi R_P^+ + r` while :math:`r \ge -\beta`, and :math:`-\gamma r`
    otherwise, so that descending it raises :math:`r` again. ``tolerance`` is the paper's beta, ``step_back`` its gamma.

    >>> import numpy as np
    >>> low = RiskParts(np.array([0.05]), np.array([-0.4]))
    >>> corrected(low), corrected(low, tolerance=0.5)
    (array([0.4]), array([-0.35]))
    """
    return _library(parts.negative).where(
        parts.negative < -tolerance, -step_back * parts.negative, parts.positive + parts.negative
    )


def corrected_value(parts: RiskParts, tolerance: Any = 0.0) -> Any:
    """The value to report beside that step: the negative part never counts below ``-tolerance``.

    >>> import numpy as np
    >>> corrected_value(RiskParts(np.array([0.05]), np.array([-0.4])))
    array([0.05])
    """
    return _library(parts.negative).where(
        parts.negative < -tolerance, parts.positive - tolerance, parts.positive + parts.negative
    )
