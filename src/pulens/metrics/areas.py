"""Areas under the recovered ROC and precision-recall curves."""

from __future__ import annotations

from typing import Literal

from pulens.catalogue import Declared
from pulens.counts.tally import Tally
from pulens.curves import partial_area, roc_area, roc_curve
from pulens.curves.precision_recall import Form, average_precisions_of_many, precision_recall_areas
from pulens.errors import PulensError, shown
from pulens.inference.area import AreaUnderROC
from pulens.inference.percentile import AveragePrecisionReadTwice
from pulens.metrics.parts.labelling_range import range_of_area, range_of_average_precision
from pulens.metrics.parts.metric import Metric, OtherLabelling, Shown
from pulens.metrics.parts.possible_worlds import WorldsAt
from pulens.recovery import direct_roc_auc, recover
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.binning_error import precision_recall_errors, roc_auc_errors, roc_curve_error
from pulens.recovery.many import ManyRecoveries
from pulens.scalars import real
from pulens.types import Floats

METRIC = Declared(Metric, reads="ranking")


def _many_of_roc_auc(recoveries: ManyRecoveries, *rates: Floats, method: str = "direct") -> Floats | None:
    return recoveries.roc_areas(*rates) if method == "direct" else None


def _binning_error_of_roc_auc(tally: Tally, assumptions: Assumptions, *, method: str = "direct") -> float:
    if method == "direct":
        return float(roc_auc_errors(tally, assumptions).sum())
    return roc_curve_error(tally, assumptions)


def _construction_of_roc_auc(*, method: str = "direct") -> type[AreaUnderROC] | None:
    return AreaUnderROC if method == "direct" else None


@METRIC(
    "Chance that a random positive outscores a random negative",
    parameters={"method": "direct"},
    binning_error=_binning_error_of_roc_auc,
    many=_many_of_roc_auc,
    construction=_construction_of_roc_auc,
    other_labelling=OtherLabelling(range_of_area, WorldsAt.roc_auc),
    order_is_fixed=True,  # the area is an increasing straight line of that against unlabelled rows
    title="ROC AUC",
    derivation="(A − (1 − (β − α)) / 2) / (β − α), with A the share of pairs in which a labelled row "
    "outscores an unlabelled one, ties counting one half (equation 4).",
    shown=Shown(table=1, tiles=1, segments=1, comparison=1),
    page_computes=True,
)
def roc_auc(tally: Tally, assumptions: Assumptions, *, method: Literal["direct", "indirect"] = "direct") -> float:
    r"""Jain et al. 2017, equation 4 (``direct``, unbiased), or the area under Algorithm 1's curve (``indirect``).

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(roc_auc(tally, Assumptions(0.2)), 6), round(roc_auc(tally, Assumptions(0.2), method="indirect"), 6)
    (0.625, 0.722222)
    """
    if method == "direct":
        return direct_roc_auc(tally, assumptions)
    if method == "indirect":
        return roc_area(roc_curve(recover(tally, assumptions)))
    raise PulensError(f"method of roc_auc must be 'direct' or 'indirect', got {method!r}.")


def _binning_error_of_partial_roc_auc(
    tally: Tally, assumptions: Assumptions, *, max_false_positive_rate: float = 0.1
) -> float:
    area = roc_curve_error(tally, assumptions, max_false_positive_rate=max_false_positive_rate)
    return 0.5 * area / (max_false_positive_rate - max_false_positive_rate**2 / 2)


@METRIC(
    "Standardised ROC area up to a false positive rate of 0.1",
    listed=False,
    parameters={"max_false_positive_rate": 0.1},
    binning_error=_binning_error_of_partial_roc_auc,
)
def partial_roc_auc(tally: Tally, assumptions: Assumptions, *, max_false_positive_rate: float = 0.1) -> float:
    """Area under Algorithm 1's curve up to a false positive rate; 0.5 is chance, 1 perfection (McClish 1989).

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 0, 0]), np.array([4, 3, 2, 1]))
    >>> partial_roc_auc(tally, Assumptions(0.0))
    1.0
    """
    most = real(max_false_positive_rate)
    if not 0 < most <= 1:
        raise PulensError(
            "max_false_positive_rate of partial_roc_auc must be above 0 and at most 1, "
            f"got {shown(max_false_positive_rate)}."
        )
    return partial_area(roc_curve(recover(tally, assumptions)), most)


def _many_of_average_precision(recoveries: ManyRecoveries, *rates: Floats, form: Form = "point") -> Floats | None:
    return average_precisions_of_many(recoveries, *rates) if form == "point" else None


def _binning_error_of_average_precision(tally: Tally, assumptions: Assumptions, *, form: Form = "point") -> float:
    errors = precision_recall_errors(tally, assumptions) if form == "point" else None
    return float("nan") if errors is None else float(errors.sum())


def _construction_of_average_precision(*, form: Form = "point") -> type[AveragePrecisionReadTwice] | None:
    return AveragePrecisionReadTwice if form == "point" else None


@METRIC(
    "Precision averaged over the positives as they are found",
    undefined_because="no threshold has recovered rates within [0, 1]",
    parameters={"form": "point"},
    binning_error=_binning_error_of_average_precision,
    many=_many_of_average_precision,
    construction=_construction_of_average_precision,
    other_labelling=OtherLabelling(range_of_average_precision, WorldsAt.average_precision),
    derivation="Σ (Rⱼ − Rⱼ₋₁) Pⱼ over the recovered precision-recall curve, no interpolation.",
    shown=Shown(table=2, tiles=5, comparison=2),
    page_computes=True,
)
def average_precision(tally: Tally, assumptions: Assumptions, *, form: Form = "point") -> float:
    r""":math:`\sum_j (R_j - R_{j-1}) P_j` over the recovered precision-recall curve; no interpolation.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(average_precision(tally, Assumptions(0.2)), 6)
    0.666667
    """
    return precision_recall_areas(tally, assumptions, form=form).average_precision


def _binning_error_of_pr_auc(tally: Tally, assumptions: Assumptions, *, form: Form = "point") -> float:
    errors = precision_recall_errors(tally, assumptions, trapezoid=True) if form == "point" else None
    return float("nan") if errors is None else float(errors.sum())


@METRIC(
    "Trapezoidal area under the precision-recall curve",
    listed=False,
    undefined_because="no threshold has recovered rates within [0, 1]",
    parameters={"form": "point"},
    binning_error=_binning_error_of_pr_auc,
    title="PR AUC",
)
def pr_auc(tally: Tally, assumptions: Assumptions, *, form: Form = "point") -> float:
    """Straight lines between the points; the first step takes the first precision. Prefer average precision.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(pr_auc(tally, Assumptions(0.2)), 6)
    0.496296
    """
    return precision_recall_areas(tally, assumptions, form=form).trapezoid
