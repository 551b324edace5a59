"""Average precision: precision averaged over the positives in the order in which they are found."""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.curves.precision_recall import Form, average_precisions_of_many, precision_recall_areas
from pulens.inference.percentile import AveragePrecisionReadTwice
from pulens.metrics.parts.labelling_range import range_of_average_precision
from pulens.metrics.parts.metric import Metric, OtherLabelling, Shown
from pulens.metrics.parts.possible_worlds import WorldsAt
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.binning_error import precision_recall_errors
from pulens.recovery.many import ManyRecoveries
from pulens.types import Floats


def average_precision(tally: Tally, assumptions: Assumptions, *, form: Form = "point") -> float:
    r""":math:`\sum_j (R_j - R_{j-1}) P_j` over the recovered precision-recall curve; no interpolation.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(average_precision(tally, Assumptions(0.2)), 6)
    0.666667
    """
    return precision_recall_areas(tally, assumptions, form=form).average_precision


def _many(recoveries: ManyRecoveries, *rates: Floats, form: Form = "point") -> Floats | None:
    return average_precisions_of_many(recoveries, *rates) if form == "point" else None


def _binning_error(tally: Tally, assumptions: Assumptions, *, form: Form = "point") -> float:
    errors = precision_recall_errors(tally, assumptions) if form == "point" else None
    return float("nan") if errors is None else float(errors.sum())


def _construction(*, form: Form = "point") -> type[AveragePrecisionReadTwice] | None:
    return AveragePrecisionReadTwice if form == "point" else None


METRIC = Metric(
    average_precision,
    "Precision averaged over the positives as they are found",
    reads="ranking",
    undefined_because="no threshold has recovered rates within [0, 1]",
    parameters={"form": "point"},
    binning_error=_binning_error,
    many=_many,
    construction=_construction,
    other_labelling=OtherLabelling(range_of_average_precision, WorldsAt.average_precision),
    derivation="Σ (Rⱼ − Rⱼ₋₁) Pⱼ over the recovered precision-recall curve, no interpolation.",
    shown=Shown(table=2, tiles=5, comparison=2),
    page_computes=True,
)
