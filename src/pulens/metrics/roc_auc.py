"""ROC AUC: the chance that a random positive outscores a random negative, ties counting one half."""

from __future__ import annotations

from typing import Literal

from pulens.counts.tally import Tally
from pulens.curves import roc_area, roc_curve
from pulens.errors import PulensError
from pulens.inference.area import AreaUnderROC
from pulens.metrics.parts.labelling_range import range_of_area
from pulens.metrics.parts.metric import Metric, OtherLabelling, Shown
from pulens.metrics.parts.possible_worlds import WorldsAt
from pulens.recovery import direct_roc_auc, recover
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.binning_error import roc_auc_errors, roc_curve_error
from pulens.recovery.many import ManyRecoveries
from pulens.types import Floats


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


def _many(recoveries: ManyRecoveries, *rates: Floats, method: str = "direct") -> Floats | None:
    return recoveries.roc_areas(*rates) if method == "direct" else None


def _binning_error(tally: Tally, assumptions: Assumptions, *, method: str = "direct") -> float:
    if method == "direct":
        return float(roc_auc_errors(tally, assumptions).sum())
    return roc_curve_error(tally, assumptions)


def _construction(*, method: str = "direct") -> type[AreaUnderROC] | None:
    return AreaUnderROC if method == "direct" else None


METRIC = Metric(
    roc_auc,
    "Chance that a random positive outscores a random negative",
    reads="ranking",
    parameters={"method": "direct"},
    binning_error=_binning_error,
    many=_many,
    construction=_construction,
    other_labelling=OtherLabelling(range_of_area, WorldsAt.roc_auc),
    order_is_fixed=True,  # the area is an increasing straight line of that against unlabelled rows
    title="ROC AUC",
    derivation="(A − (1 − (β − α)) / 2) / (β − α), with A the share of pairs in which a labelled row "
    "outscores an unlabelled one, ties counting one half (equation 4).",
    shown=Shown(table=1, tiles=1, segments=1, comparison=1),
    page_computes=True,
)
