"""The recovered precision-recall curve and its two areas."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np

from pulens.counts.kernels import rises
from pulens.counts.tally import Tally
from pulens.curves._ties import level
from pulens.curves.roc import roc_curve
from pulens.errors import PulensError, shown
from pulens.estimate import Curve
from pulens.recovery import Recovery, observed_rates, recall_rises, recover
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.contingency import ROUNDING, Contingency
from pulens.recovery.many import ManyRecoveries
from pulens.scalars import is_among
from pulens.types import Floats, Places

Form = Literal["point", "roc"]


def check_form(form: object) -> None:
    """Which way from recovered rates to a curve.

    >>> check_form("points")
    Traceback (most recent call last):
    ...
    pulens.errors.PulensError: form must be 'point' or 'roc', got 'points'.
    """
    if not is_among(form, get_args(Form)):
        raise PulensError(f"form must be 'point' or 'roc', got {shown(form)}.")


class PrecisionRecallAreas(NamedTuple):
    """Average precision (no interpolation) and the trapezoidal area."""

    average_precision: float
    trapezoid: float


def precision_recall_curve(table: Contingency, *, form: Form = "point") -> Curve:
    r"""Precision against recall, recall never falling.

    ``form="point"`` recovers each threshold by itself, precision :math:`TP/(TP+FP)` in the target population:
    Jain et al. 2017, equations 1 and 3. ``form="roc"`` first corrects the ROC curve (Algorithm 1) and reads precision
    off it. With label noise the first is biased down for strong classifiers, the second up for weak ones.

    >>> import numpy as np
    >>> table = Contingency(np.array([np.inf, .9, .5]), np.array([0, .5, 1]), np.array([0, 0, .5]), 10, 20)
    >>> curve = precision_recall_curve(table)
    >>> curve.x, curve.y
    (array([0.5, 1. ]), array([1. , 0.5]))
    """
    check_form(form)
    if form == "roc":
        corrected = roc_curve(table)
        possible = Contingency(corrected.thresholds, corrected.y, corrected.x, table.positive, table.negative)
    else:
        possible = table[table.is_possible]
    called = possible.predicted_positive
    possible, called = possible[called > 0], called[called > 0]
    recall, precision = possible.hit_rate, possible.true_positive / called
    if form == "point":
        recall = level(recall)
        order = np.lexsort((called, recall))  # of equal recalls the one with the fewest rows comes first
        recall, precision, thresholds = recall[order], precision[order], possible.thresholds[order]
    else:
        thresholds = possible.thresholds
    return Curve("precision-recall", recall, precision, np.array(thresholds), "recall", "precision")


def curve_areas(curve: Curve) -> PrecisionRecallAreas:
    """Both areas of a precision-recall curve, summed in its order; the first step takes the first precision.

    >>> import numpy as np
    >>> points = Curve("pr", np.array([.5, 1]), np.array([1, .5]), np.array([.9, .5]), "recall", "precision")
    >>> curve_areas(points)
    PrecisionRecallAreas(average_precision=0.75, trapezoid=0.875)
    """
    if len(curve) == 0:
        return PrecisionRecallAreas(float("nan"), float("nan"))
    steps = np.diff(curve.x, prepend=0.0)
    before = np.concatenate([curve.y[:1], curve.y[:-1]])
    return PrecisionRecallAreas(float((steps * curve.y).sum()), float((steps * (curve.y + before)).sum() / 2))


def precision_recall_areas(tally: Tally, assumptions: Assumptions, *, form: Form = "point") -> PrecisionRecallAreas:
    """Areas under the recovered curve, without building it where the ranking already is its order.

    Where recall never falls along the ranking the sum can be walked in blocks; where it moves both ways the points must
    be sorted.
    """
    recovery = Recovery.of(tally.totals, assumptions)
    if is_among(form, ("point",)) and recall_rises(tally, recovery):
        return _walk(tally, recovery)
    return curve_areas(precision_recall_curve(recover(tally, assumptions), form=form))


class _Walked(NamedTuple):
    """Both areas up to a threshold, and where the curve stands there; the first precision counts from recall 0 on."""

    average_precision: float
    trapezoid: float
    recall: float
    precision: float | None


def _walk(tally: Tally, recovery: Recovery) -> PrecisionRecallAreas:
    # sums of products, not @: a threaded BLAS costs more than it saves on blocks, and its last bits depend on threads
    so_far = _Walked(0.0, 0.0, 0.0, None)
    for block in tally.blocks():
        labelled = tally.labelled[block]
        places = rises(labelled, tally.labelled[block.start - 1] if block.start else 0)
        few = so_far.precision is not None and 2 * places.size < labelled.size
        if few and _is_possible(tally, block, recovery):
            so_far = _passed_few(tally, block, recovery, places, so_far)
        else:
            so_far = _passed(tally, block, recovery, so_far)
    if so_far.precision is None:
        return PrecisionRecallAreas(float("nan"), float("nan"))
    return PrecisionRecallAreas(so_far.average_precision, so_far.trapezoid)


def _passed(tally: Tally, block: slice, recovery: Recovery, so_far: _Walked) -> _Walked:
    recall, alarms = recovery.rates(*observed_rates(tally, block))
    possible = (alarms >= -ROUNDING) & (alarms <= 1 + ROUNDING)
    hits, alarms = recovery.positive * recall, recovery.negative * np.clip(alarms, 0.0, 1.0)
    alarms += hits
    possible &= alarms > 0
    if not possible.all():
        recall, hits, alarms = recall[possible], hits[possible], alarms[possible]
    if not recall.size:
        return so_far
    precision = hits / alarms
    before = float(precision[0]) if so_far.precision is None else so_far.precision
    steps = np.diff(recall, prepend=so_far.recall)
    trapezoid = float((steps[1:] * (precision[1:] + precision[:-1])).sum()) / 2
    return _Walked(
        so_far.average_precision + float((steps * precision).sum()),
        so_far.trapezoid + trapezoid + float(steps[0] * (precision[0] + before)) / 2,
        float(recall[-1]),
        float(precision[-1]),
    )


def _is_possible(tally: Tally, block: slice, recovery: Recovery) -> bool:
    """Whether all thresholds of a block surely are: rates of each kind of row rise, so its ends bound the alarms."""
    rates = observed_rates(tally, np.array([block.start, min(block.stop, len(tally)) - 1]))
    used = [pair for pair in zip(recovery.false_positive_rate, rates, strict=True) if pair[0]]
    least, most = (sum(each * rate[int((each > 0) == at_end)] for each, rate in used) for at_end in (False, True))
    called = recovery.negative * min(max(least, 0.0), 1.0) + recovery.positive * rates[0][0]
    return bool(least >= -ROUNDING and most <= 1 + ROUNDING and called > 0)


def _passed_few(tally: Tally, block: slice, recovery: Recovery, places: Places, so_far: _Walked) -> _Walked:
    """:func:`_passed` where recall rises at few thresholds, all of them possible: only these add to the sums."""
    average_precision, trapezoid, reached, before = so_far
    end = np.array([min(block.stop, len(tally)) - 1])
    if not places.size:
        return _Walked(average_precision, trapezoid, reached, float(_precision(tally, end, recovery)[1][0]))
    recall, precision = _precision(tally, np.append(block.start + places, end), recovery)
    _, until = _precision(tally, np.maximum(block.start + places - 1, 0), recovery)
    last, recall, precision = float(precision[-1]), recall[:-1], precision[:-1]
    if places[0] == 0 and before is not None:
        until[0] = before
    steps = np.diff(recall, prepend=reached)
    average_precision += float((steps * precision).sum())
    trapezoid += float((steps * (precision + until)).sum()) / 2
    return _Walked(average_precision, trapezoid, float(recall[-1]), last)


def _precision(tally: Tally, which: Places, recovery: Recovery) -> tuple[Floats, Floats]:
    recall, alarms = recovery.rates(*observed_rates(tally, which))
    hits, called = recovery.positive * recall, recovery.negative * np.clip(alarms, 0.0, 1.0)
    called += hits
    return recall, hits / called


def average_precisions_of_many(recoveries: ManyRecoveries, *rates: Floats) -> Floats | None:
    """Average precision of many replicates, whose rates have the shape (replicates, thresholds).

    ``None`` where recall moves both ways, as with wrong labels: every curve then has an order of its own.

    >>> from pulens.recovery.many import recover_many
    >>> from pulens.scenario import Scenario
    >>> many = recover_many((3.0, 5.0, 0.0), np.array([0.2]), 0.0, Scenario.SINGLE_SET)
    >>> labelled, unlabelled = np.array([[0.0, 1 / 3, 1 / 3, 1.0]]), np.array([[0.2, 0.2, 0.4, 1.0]])
    >>> average_precisions_of_many(many, labelled, unlabelled, np.zeros((1, 4))).round(6)
    array([0.555556])
    """
    first, second, third = recoveries.hits
    if (first != 1).any() or second.any() or third.any():
        return None
    recall, alarms = recoveries.rates(*rates)
    if (recall[:, 1:] < recall[:, :-1] - ROUNDING).any() or (recall[:, 0] < -ROUNDING).any():
        return None
    possible = (alarms >= -ROUNDING) & (alarms <= 1 + ROUNDING)
    hits = recoveries.positive[:, None] * recall
    called = recoveries.negative[:, None] * np.clip(alarms, 0.0, 1.0)
    called += hits
    possible &= called > 0
    precision = np.divide(hits, called, out=np.zeros(called.shape), where=possible)
    # recall never falls, so its largest value so far is that of the last threshold that is possible
    before = np.maximum.accumulate(np.where(possible, recall, 0.0), axis=1)
    steps = recall.copy()
    steps[:, 1:] -= before[:, :-1]
    precision *= steps
    return np.where(possible.any(axis=1), precision.sum(axis=1), np.nan)
