r"""What binning can change: rigorous bounds on each number read off a binned tally.

The counts at a binned tally's thresholds are exact, so the true curve passes through every point of the binned one
and, between two of them, stays within the rectangle of counts they span. Bins of a single score change nothing.
All bounds hold up to floating-point rounding.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from pulens.counts.exactness import in_precision
from pulens.counts.tally import Tally
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.contingency import ROUNDING
from pulens.recovery.point import Recovery, recall_rises
from pulens.types import Floats


def roc_auc_errors(tally: Tally, assumptions: Assumptions) -> Floats:
    r"""What each bin can change in the direct ROC AUC; their sum bounds the whole.

    Within a bin that holds :math:`p` rows of one kind and :math:`u` of another, all :math:`pu` pairs count one half;
    really each counts 0, one half or 1, so the pairwise area moves by at most :math:`\sum_b p_b u_b / (2PU)`. The
    recovered area is :math:`g^\top A h` with :math:`A_{ji} = 1 - A_{ij}`: an error of :math:`A_{ij}` is multiplied by
    :math:`|g_i h_j - g_j h_i|`, which is :math:`1/(\beta-\alpha)` for labelled and unlabelled rows alone.

    >>> tally = Tally.from_arrays(np.array([1, 0, 1, 0]), np.array([0.9, 0.8, 0.3, 0.1])).binned(bits=1)
    >>> roc_auc_errors(tally, Assumptions(0.0)).tolist()
    [0.125, 0.125]
    """
    recovery = Recovery.of(tally.totals, assumptions)
    hits, alarms = recovery.true_positive_rate, recovery.false_positive_rate
    wide = np.flatnonzero(_wide(tally))
    ends, begins = _counts(tally, wide), _counts(tally, wide - 1)
    rates = [_share(end - begin, total) for end, begin, total in zip(ends, begins, tally.totals, strict=True)]
    result = np.zeros(len(tally))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        result[wide] += abs(hits[i] * alarms[j] - hits[j] * alarms[i]) * rates[i] * rates[j] / 2
    return result


def precision_recall_errors(tally: Tally, assumptions: Assumptions, *, trapezoid: bool = False) -> Floats | None:
    r"""What each bin can change in average precision (or in the trapezoidal area); None with label noise.

    With clean labels precision rises with the labelled rows above a threshold and falls with the others. A step of
    recall inside a bin is weighted with the precision of some point between the bin's beginning
    :math:`(L_0, U_0)` and its end :math:`(L_1, U_1)`, that is between :math:`P(L_0 + 1, U_1)` and
    :math:`P(L_1, U_0)`. Where recovered rates leave [0, 1] the step is weighted at the next point at which they do not:
    one in the bins from the first whose rectangle holds such a point to the first whose end is one. With label
    noise recall moves both ways, and no bound is given.

    >>> tally = Tally.from_arrays(np.array([1, 0, 1, 0]), np.array([0.9, 0.8, 0.3, 0.1])).binned(bits=1)
    >>> from pulens.recovery.assumptions import UNCORRECTED
    >>> precision_recall_errors(tally, UNCORRECTED).round(4).tolist()
    [0.25, 0.0833]
    """
    recovery = Recovery.of(tally.totals, assumptions)
    if not recall_rises(tally, recovery):
        return np.zeros(len(tally)) if tally.binning is None else None
    at_end, in_reach = _possible_bins(tally, recovery)
    index = np.flatnonzero(np.diff(tally.labelled, prepend=tally.labelled.dtype.type(0)))  # where recall moves
    # the bins from which on, and at whose end at the latest, a step of recall is counted
    possible, reached = np.flatnonzero(at_end), np.flatnonzero(in_reach)
    until = possible[np.minimum(np.searchsorted(possible, index), possible.size - 1)]
    begun = reached[np.minimum(np.searchsorted(reached, index), reached.size - 1)]
    if trapezoid:  # which also reads the point before
        before = np.searchsorted(possible, index) - 1
        begun = np.where(before >= 0, possible[before] + 1, 0)
    wide_before = np.append(0, np.cumsum(_wide(tally)))
    touched = wide_before[until + 1] > wide_before[begun]
    index, until, begun = index[touched], until[touched], begun[touched]

    def precision(labelled: Floats, others: list[Floats], empty: float) -> Floats:
        observed = (_share(count, total) for count, total in zip((labelled, *others), tally.totals, strict=True))
        recall, alarms = recovery.rates(*observed)
        hits = recovery.positive * np.asarray(recall)
        called = hits + recovery.negative * np.clip(alarms, 0.0, 1.0)
        shares: Floats = np.divide(hits, called, out=np.full(index.size, empty), where=called > 0)
        return shares

    last, before_first = _counts(tally, until), _counts(tally, begun - 1)
    high = precision(last[0], before_first[1:], 1.0)
    low = precision(before_first[0], last[1:], 0.0)
    labelled, labelled_before = _counts(tally, index)[0], _counts(tally, index - 1)[0]
    steps = (labelled - labelled_before) / tally.totals.labelled
    result = np.zeros(len(tally))
    if trapezoid:
        result[index] = steps * (high - low)
        return result
    if not tally.is_weighted:  # rows are whole: where counting begins in the bin itself, more of them stand above
        half = np.floor((labelled - labelled_before) / 2)
        share = half / (labelled - labelled_before)
        lows = (precision(labelled_before + more + 1, last[1:], 0.0) for more in (0, half))
        low = np.where(begun == index, sum(part * w for part, w in zip(lows, (share, 1 - share), strict=True)), low)
    kept = precision(last[0], last[1:], 0.0)
    result[index] = steps * np.maximum(high - kept, kept - low)
    return result


def _possible_bins(tally: Tally, recovery: Recovery) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Where the recovered rates at a bin's end are rates, and where those of a point in the bin could be."""
    at_end, in_reach = np.empty(len(tally), bool), np.empty(len(tally), bool)
    for block in tally.blocks():
        index = np.arange(block.start, min(block.stop, len(tally)))
        ends, begins = (
            [_share(count, total) for count, total in zip(_counts(tally, at), tally.totals, strict=True)]
            for at in (index, index - 1)
        )
        at_end[block] = _is_rate(np.asarray(recovery.rates(*ends)[1]))
        # more labelled rows above a threshold mean fewer false alarms, more of the others mean more
        most = np.asarray(recovery.rates(begins[0], *ends[1:])[1])
        least = np.asarray(recovery.rates(ends[0], *begins[1:])[1])
        in_reach[block] = at_end[block] | ((most >= -ROUNDING) & (least <= 1 + ROUNDING))
    return at_end, in_reach


def _counts(tally: Tally, index: NDArray[np.intp]) -> list[Floats]:
    """Rows of each kind at or above some thresholds; none before the first."""
    kinds = (tally.labelled, tally.unlabelled, tally.negative)
    return [np.where(index >= 0, kind[np.maximum(index, 0)], 0).astype(np.float64) for kind in kinds]


def _share(count: Floats, total: float) -> Floats:
    return count / total if total else np.zeros(count.shape)


def bin_errors(tally: Tally, assumptions: Assumptions) -> list[Floats]:
    """What each bin can change in the areas that an evaluation shows, for refining the bins that matter."""
    precision = precision_recall_errors(tally, assumptions)
    return [roc_auc_errors(tally, assumptions), *([] if precision is None else [precision])]


def roc_curve_error(tally: Tally, assumptions: Assumptions, *, max_false_positive_rate: float = 1.0) -> float:
    """What binning can change in the area under Algorithm 1's curve up to a false positive rate.

    Every point of the true curve between two kept ones lies in the rectangle of rates they span. The running
    maximum of the kept points bounds the curve from below; that of all rectangles which begin before the next kept
    point bounds it from above. Where no rectangle reaches in between, the straight line is the curve.

    >>> tally = Tally.from_arrays(np.array([1, 0, 1, 0]), np.array([0.9, 0.8, 0.3, 0.1])).binned(bits=1)
    >>> roc_curve_error(tally, Assumptions(0.0))
    0.5
    """
    wide = _wide(tally)
    if not wide.any():
        return 0.0
    recovery = Recovery.of(tally.totals, assumptions)
    ends = [
        np.append(0.0, count) / total if total else np.zeros(len(tally) + 1)
        for count, total in zip((tally.labelled, tally.unlabelled, tally.negative), tally.totals, strict=True)
    ]
    hits, alarms = (np.broadcast_to(rate, len(tally) + 1) for rate in recovery.rates(*ends))
    possible = _is_rate(hits) & _is_rate(alarms)
    order = np.lexsort((hits[possible], alarms[possible]))
    x, y = np.clip(alarms[possible][order], 0, 1), np.maximum.accumulate(np.clip(hits[possible][order], 0, 1))
    # the rectangle of rates of each wide bin: a linear map takes its extremes at corners, coefficient by coefficient
    low_hits, high_hits = _reach(recovery.true_positive_rate, ends, wide)
    low_alarms, high_alarms = _reach(recovery.false_positive_rate, ends, wide)
    reachable = (low_hits <= 1 + ROUNDING) & (high_hits >= -ROUNDING)
    reachable &= (low_alarms <= 1 + ROUNDING) & (high_alarms >= -ROUNDING)
    top, left, right = (np.clip(v[reachable], 0, 1) for v in (high_hits, low_alarms, high_alarms))
    by_left = np.argsort(left)
    left, top = left[by_left], np.maximum.accumulate(top[by_left])
    # points of equal false positive rate stand in the order of their height: rectangles that begin there come later
    begun = np.searchsorted(left, x[1:], side="left")
    ceiling = np.where(begun > 0, np.append(top, 0.0)[begun - 1], 0.0)
    ended = np.searchsorted(np.sort(right), x[:-1], side="right")
    touched = (begun > ended) | (ceiling > y[:-1])
    width = np.diff(np.minimum(x, max_false_positive_rate))
    height = np.maximum(ceiling, y[1:]) - y[:-1]
    return float(width[touched] @ height[touched])


def _reach(
    coefficients: tuple[float, float, float], ends: list[Floats], wide: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    low, high = np.zeros(int(wide.sum())), np.zeros(int(wide.sum()))
    for coefficient, end in zip(coefficients, ends, strict=True):
        begins, finishes = coefficient * end[:-1][wide], coefficient * end[1:][wide]
        low += np.minimum(begins, finishes)
        high += np.maximum(begins, finishes)
    return low, high


def _is_rate(rate: Floats) -> NDArray[np.bool_]:
    return np.asarray((rate >= -ROUNDING) & (rate <= 1 + ROUNDING))


def _wide(tally: Tally) -> NDArray[np.bool_]:
    return np.zeros(len(tally), bool) if tally.binning is None else tally.binning.wide(tally.thresholds)


def corners(tally: Tally, threshold: float) -> list[Tally]:
    """Tallies in which the rows of the bin around a threshold stand above or below it, kind by kind.

    Only the tally itself where the threshold cuts through no bin.

    >>> tally = Tally.from_arrays(np.array([1, 0, 0]), np.array([0.9, 0.8, 0.1])).binned(bits=1)
    >>> [corner.at(0.85)[:2] for corner in corners(tally, 0.85)]
    [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]
    """
    threshold = in_precision(threshold, tally.thresholds.dtype)
    below = np.float64(-threshold)  # beside float32 a Python number would be read as one
    index = np.searchsorted(-tally.highest, below, side="right") - 1 if tally.binning is not None else -1
    if index < 0 or not float(tally.thresholds[index]) < threshold <= float(tally.highest[index]):
        return [tally]
    kinds = (tally.labelled, tally.unlabelled, tally.negative)
    ranges = []
    for kind in kinds:
        before = kind[index - 1] if index else kind.dtype.type(0)
        ranges.append([before] if before == kind[index] else [before, kind[index]])
    is_held = float(tally.thresholds.dtype.type(threshold)) == threshold
    scores = tally.thresholds if is_held else tally.thresholds.astype(np.float64)
    thresholds = np.insert(scores, index, threshold)
    return [
        Tally(
            thresholds,
            np.insert(tally.labelled, index, labelled),
            np.insert(tally.unlabelled, index, unlabelled),
            np.insert(tally.negative, index, negative),
        )
        for labelled, unlabelled, negative in product(*ranges)
    ]
