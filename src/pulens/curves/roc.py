"""The recovered ROC curve: true positive rate against false positive rate (Jain et al. 2017, Algorithm 1)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pulens.curves._ties import level
from pulens.estimate import Curve
from pulens.recovery.contingency import Contingency

Interpolation = Literal["trapezoid", "step-left", "step-right"]


def roc_curve(table: Contingency) -> Curve:
    """Points that could belong to a ROC curve, in order, made non-decreasing: Jain et al. 2017, Algorithm 1.

    Tables whose recovered rates leave [0, 1] are dropped (rates within 1e-12 of it are kept: the end point
    (1, 1) must survive rounding), the rest sorted by false and then true positive rate, and each true positive
    rate replaced by the largest so far.

    >>> import numpy as np
    >>> curve = roc_curve(Contingency(np.array([np.inf, .9, .5]), np.array([0, .6, 1]), np.array([0, -.1, 1]), 1, 1))
    >>> curve.x, curve.y
    (array([0., 1.]), array([0., 1.]))
    """
    possible = table[table.is_possible]
    alarms = level(possible.alarm_rate)
    hits = possible.hit_rate
    order = np.lexsort((hits, alarms))
    return Curve(
        "ROC",
        alarms[order],
        np.maximum.accumulate(hits[order]),
        possible.thresholds[order],
        "false positive rate",
        "true positive rate",
    )


def roc_area(curve: Curve, interpolation: Interpolation = "trapezoid") -> float:
    """Area under a recovered ROC curve: straight lines, or steps at the left or right point's height.

    >>> import numpy as np
    >>> points = Curve("ROC", np.array([0, .5, 1]), np.array([0, 1., 1]), np.array([np.inf, 1, 0]), "fpr", "tpr")
    >>> roc_area(points), roc_area(points, "step-left"), roc_area(points, "step-right")
    (0.75, 0.5, 1.0)
    """
    widths = np.diff(curve.x)
    if interpolation == "trapezoid":
        heights = (curve.y[1:] + curve.y[:-1]) / 2
    else:
        heights = curve.y[:-1] if interpolation == "step-left" else curve.y[1:]
    return float((widths * heights).sum())


def partial_area(curve: Curve, max_false_positive_rate: float) -> float:
    """Trapezoidal area up to a false positive rate, standardised to 0.5 for chance and 1 for perfection.

    McClish's correction, as scikit-learn's ``roc_auc_score(max_fpr=...)``.

    >>> import numpy as np
    >>> points = Curve("ROC", np.array([0, 1.]), np.array([0, 1.]), np.array([np.inf, 0]), "fpr", "tpr")
    >>> partial_area(points, 0.2)
    0.5
    """
    limit = max_false_positive_rate
    inside = int(np.searchsorted(curve.x, limit, side="right"))
    end = np.interp(limit, curve.x, curve.y)
    x = np.append(curve.x[:inside], limit)
    y = np.append(curve.y[:inside], end)
    area = float((np.diff(x) * (y[1:] + y[:-1])).sum() / 2)
    chance = limit**2 / 2
    return 0.5 * (1 + (area - chance) / (limit - chance))
