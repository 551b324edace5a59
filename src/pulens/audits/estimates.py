r"""Column one: what an audit proves about a classifier without any assumption about labelling.

The positives of a stratum are estimated by :math:`\hat X_k = M_k a_k / n_k`, unbiased; true positives and false
negatives are their sums over the strata above and below the threshold, and metrics are functions of the two. In the
single set labelled positives are constants that are added to them, known negatives to the rows.

**Limits.** A metric that rises with TP and falls with FN has as its lower limit the :math:`\alpha/2` quantile of
metric(TP drawn for its lower limit, FN drawn for its upper limit) with independent draws, and the upper limit the
other way round (melding: Fay, Proschan and Brittain 2015); draws and their one imaginary row are those of
``pulens.audits.limits``. Where one stratum alone is in doubt the limits are exact, without draws.

Rows about which nobody could decide count half in values. Limits hold whatever they are: the lower one of recall takes
those above the threshold as negative and those below as positive, the upper one the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from pulens.audits.counts import AuditCounts
from pulens.audits.formulas import FORMULAS, Formula
from pulens.audits.limits import (
    DRAWS,
    IntervalKind,
    Pair,
    TotalDraws,
    check_interval,
    draw_totals,
    exact_quantile,
    one_tail,
    quantile,
)
from pulens.confidence import check_confidence
from pulens.errors import PulensError, listed, nearest, shown
from pulens.estimate import Estimate, Interval
from pulens.scenario import Scenario
from pulens.types import Floats

Basis = Literal["design", "bounds"]


class MetricLimits(NamedTuple):
    """Lower and upper limits of a metric, one number an audit."""

    low: Floats
    high: Floats


class Margins(NamedTuple):
    """What an audit need not estimate: positives known before, flagged rows and all rows of the population."""

    labelled_above: float
    labelled_below: float
    flagged: float
    rows: float


def margins_of(counts: AuditCounts) -> Margins:
    """In the single set the labelled rows and known negatives belong to the population, in case-control neither.

    >>> margins_of(AuditCounts(rows=[200, 9800], checked=[60, 140], found=[45, 2], labelled=[80, 20], flagged=1))
    Margins(labelled_above=80.0, labelled_below=20.0, flagged=280.0, rows=10100.0)
    """
    above = slice(0, counts.flagged)
    if counts.scenario is Scenario.CASE_CONTROL:
        return Margins(0.0, 0.0, float(counts.rows[above].sum()), float(counts.rows.sum()))
    known = counts.rows + counts.labelled + counts.known_negative
    labelled = float(counts.labelled[above].sum())
    return Margins(labelled, float(counts.labelled.sum()) - labelled, float(known[above].sum()), float(known.sum()))


def estimated_positives(counts: AuditCounts, *, unchecked_share: Any = None) -> Floats:
    """Positives of each stratum, undecided rows counted half; nan for rows of which none was checked.

    ``unchecked_share``: a share of positives for each stratum, used where no row of it was checked.

    >>> estimated_positives(AuditCounts(rows=[200, 9800], checked=[60, 140], found=[45, 2], flagged=1))
    array([150., 140.])
    """
    share = np.full(counts.strata, np.nan) if unchecked_share is None else np.array(unchecked_share, float)
    np.divide(counts.found + counts.undecided / 2, counts.checked, out=share, where=counts.checked > 0)
    return np.where(counts.rows == 0, 0.0, counts.rows * share)


def point_values(counts: AuditCounts, *, unchecked_share: Any = None) -> dict[str, float]:
    """Every metric at the estimated totals; nan where it is undefined or a stratum was left out.

    >>> counts = AuditCounts(rows=[200, 9800], checked=[60, 140], found=[45, 2], flagged=1)
    >>> {name: round(value, 4) for name, value in point_values(counts).items() if name in ("precision", "recall")}
    {'precision': 0.75, 'recall': 0.5172}
    """
    positives = estimated_positives(counts, unchecked_share=unchecked_share)
    margins = margins_of(counts)
    above = positives[: counts.flagged].sum() + margins.labelled_above
    below = positives[counts.flagged :].sum() + margins.labelled_below
    return {name: _at(formula, above, below, margins).item() for name, formula in FORMULAS.items()}


def _at(formula: Formula, above: Any, below: Any, margins: Margins) -> Floats:
    if formula.reads == "everywhere":
        return formula.of(above + below, 0.0, margins.flagged, margins.rows)
    return formula.of(above, below, margins.flagged, margins.rows)


def design_limits(
    counts: AuditCounts,
    *,
    found: Any = None,
    metrics: Iterable[str] | None = None,
    confidence: float = 0.95,
    interval: IntervalKind = "balanced",
    anytime: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, MetricLimits]:
    """Limits alone, of many metrics and of many audits of the same strata at once: for forecasts and simulations.

    ``found`` holds one line of finds for each audit and replaces those of ``counts``, as do its undecided rows (none).
    Limits come as arrays with one number an audit.

    >>> counts = AuditCounts(rows=[200, 9800], checked=[60, 140], found=[45, 2], flagged=1)
    >>> many = design_limits(counts, found=[[45, 2], [40, 9], [60, 0]], metrics=["precision"], draws=2000)
    >>> many["precision"].high.round(3).tolist()
    [0.83, 0.76, 1.0]
    """
    names = _known(metrics)
    lines = counts.found[None, :] if found is None else np.atleast_2d(found).astype(np.int64)
    open_ = counts.undecided if found is None else np.zeros_like(counts.undecided)
    corners = _corners(lines, open_, counts.flagged)
    if anytime:
        return _hull(_at_any_time(counts, corner, names, confidence) for corner in corners)
    return _hull(_limits_of(counts, corner, names, confidence, interval, draws, seed) for corner in corners)


def _corners(result: np.ndarray, undecided: np.ndarray, flagged: int) -> list[np.ndarray]:
    """The finds if undecided rows are all negative or all positive, above and below apart."""
    if not undecided.any():
        return [result]
    above = np.where(np.arange(undecided.size) < flagged, undecided, 0)
    below = undecided - above
    return [result + first + second for first in (0 * above, above) for second in (0 * below, below)]


def _hull(result: Iterable[dict[str, MetricLimits]]) -> dict[str, MetricLimits]:
    hull: dict[str, MetricLimits] = {}
    for limits in result:
        for name, (low, high) in limits.items():
            known = hull.get(name)
            hull[name] = (
                MetricLimits(low, high)
                if known is None
                else MetricLimits(np.minimum(known.low, low), np.maximum(known.high, high))
            )
    return hull


def _known(metrics: Iterable[str] | None) -> tuple[str, ...]:
    names = tuple(FORMULAS) if metrics is None else tuple(metrics)
    for name in names:
        if name not in FORMULAS:
            raise PulensError(
                f"an audit has no limits for {shown(name)}; known are {listed(FORMULAS)}.{nearest(name, FORMULAS)}"
            )
    return names


@dataclass(frozen=True, slots=True)
class _Group:
    """One group of strata: whether anything in it is left to chance, and its total's limits where they are exact."""

    by_chance: int  # strata that were checked in part
    spared: int  # rows of strata that nobody looked into
    exact: Pair | None


def _group(counts: AuditCounts, result: np.ndarray, where: slice, confidence: float, interval: IntervalKind) -> _Group:
    size, took, hits = counts.rows[where], counts.checked[where], result[:, where]
    spared = int(size[took == 0].sum())
    doubtful = np.flatnonzero((took > 0) & (size > took))
    if doubtful.size > 1:
        return _Group(doubtful.size, spared, None)
    low = high = hits.sum(axis=1)
    if doubtful.size:
        k, tail = int(doubtful[0]), one_tail(confidence)
        ours, index = np.unique(hits[:, k], return_inverse=True)
        down, up = (0.0, 1.0) if interval == "strict" else (0.5, 0.5)
        args = (int(size[k]), int(took[k]), ours)
        low = low - hits[:, k] + exact_quantile(tail, *args, positive_weight=down)[index]
        high = high - hits[:, k] + exact_quantile(1 - tail, *args, positive_weight=up)[index]
    return _Group(doubtful.size, spared, Pair(low.astype(float), (high + spared).astype(float)))


def _limits_of(
    counts: AuditCounts,
    result: np.ndarray,
    names: tuple[str, ...],
    confidence: float,
    interval: IntervalKind,
    draws: int,
    seed: int,
) -> dict[str, MetricLimits]:
    margins, edge = margins_of(counts), counts.flagged
    indices = {"above": slice(0, edge), "below": slice(edge, counts.strata), "everywhere": slice(0, counts.strata)}
    groups = {name: _group(counts, result, where, confidence, interval) for name, where in indices.items()}
    answer: dict[str, MetricLimits] = {}
    drawn: TotalDraws | None = None
    for name in names:
        formula = FORMULAS[name]
        exact = _exact_pairs(formula, groups)
        if exact is not None:
            answer[name] = MetricLimits(*_ends(formula, exact, margins))
            continue
        if drawn is None:
            drawn = draw_totals(counts.rows, counts.checked, result, edge, interval=interval, draws=draws, seed=seed)
        pairs = (drawn.everywhere, NOTHING) if formula.reads == "everywhere" else (drawn.above, drawn.below)
        low, high = _ends(formula, pairs, margins)
        tail = one_tail(confidence)
        answer[name] = MetricLimits(quantile(low, tail), quantile(high, 1 - tail))
    return answer


NOTHING = Pair(np.zeros(1), np.zeros(1))


def _at_any_time(
    counts: AuditCounts, result: np.ndarray, names: tuple[str, ...], confidence: float
) -> dict[str, MetricLimits]:
    """Extremes over all totals that the answers have not ruled out at any moment."""
    from pulens.audits.anytime import anytime_fence

    margins = margins_of(counts)
    fences = [anytime_fence(counts, line, confidence) for line in result]
    answer: dict[str, MetricLimits] = {}
    for name in names:
        formula, ends = FORMULAS[name], []
        for fence in fences:
            pairs = {
                "above": (fence.above, NOTHING),
                "everywhere": (fence.everywhere, NOTHING),
                "both": (fence.hits, fence.missed),
            }[formula.reads]
            lowest, highest = _ends(formula, pairs, margins)
            ends.append((lowest.min(), highest.max()))
        answer[name] = MetricLimits(*np.array(ends).T)
    return answer


def _exact_pairs(formula: Formula, groups: Mapping[str, _Group]) -> tuple[Pair, Pair] | None:
    """Totals at their own limits, where chance moves one stratum only of those the metric reads."""
    if formula.reads == "everywhere":
        whole = groups["everywhere"].exact
        return None if whole is None else (whole, NOTHING)
    above, below = groups["above"], groups["below"]
    if formula.reads == "above":
        return None if above.exact is None else (above.exact, NOTHING)
    if above.exact is None or below.exact is None or above.by_chance + below.by_chance > 1:
        return None
    return above.exact, below.exact


def _ends(formula: Formula, pairs: tuple[Pair, Pair], margins: Margins) -> tuple[Floats, Floats]:
    """The metric at totals for its lower and for its upper limit; what is undefined says nothing."""
    first, second = pairs
    worst: tuple[Any, Any]
    best: tuple[Any, Any]
    if formula.reads == "everywhere":
        worst, best = (first.low, 0.0), (first.high, 0.0)
    elif formula.rises:
        worst, best = (first.low, second.high), (first.high, second.low)
    else:
        worst, best = (first.high, second.low), (first.low, second.high)
    low, high = (
        _at(formula, above + margins.labelled_above, below + margins.labelled_below, margins)
        for above, below in (worst, best)
    )
    return np.where(np.isnan(low), formula.lowest, low), np.where(np.isnan(high), _highest(formula, margins), high)


def _highest(formula: Formula, margins: Margins) -> float:
    if math.isfinite(formula.highest) or margins.flagged == 0:
        return formula.highest
    return margins.rows / margins.flagged


def design_estimates(
    counts: AuditCounts,
    *,
    confidence: float = 0.95,
    interval: str = "balanced",
    anytime: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
    threshold: float | None = None,
    metrics: Iterable[str] | None = None,
    unchecked_share: Any = None,
) -> dict[str, Estimate]:
    """Metrics of the classifier from the answers alone, with intervals; nothing is assumed about labelling.

    Where rows were left out of the audit altogether the number is a range of possibilities: ``basis`` is then
    ``"bounds"`` rather than ``"design"``, and its confidence is ``None`` if no chance is left in it.

    >>> counts = AuditCounts(rows=[200, 300, 900, 2600, 6000], checked=[60, 40, 35, 30, 35],
    ...     found=[45, 8, 2, 0, 0], flagged=1, scenario="case-control")
    >>> found = design_estimates(counts)
    >>> print(found["precision"])
    precision 0.750 [0.650, 0.830]
    >>> round(found["recall"].value, 6), found["recall"].basis, found["recall"].interval.method
    (0.57377, 'design', 'audit, balanced')
    """
    confidence, kind, names = check_confidence(confidence), check_interval(interval), _known(metrics)
    values = point_values(counts, unchecked_share=unchecked_share)
    limits = design_limits(
        counts, metrics=names, confidence=confidence, interval=kind, anytime=anytime, draws=draws, seed=seed
    )
    answer = {}
    for name in names:
        low, high = float(limits[name].low[0]), float(limits[name].high[0])
        made = Interval(low, high, confidence, "audit, anytime" if anytime else f"audit, {kind}")
        answer[name] = _estimate(counts, name, values[name], made, threshold)
    return answer


def _estimate(counts: AuditCounts, name: str, value: float, interval: Interval, threshold: float | None) -> Estimate:
    formula = FORMULAS[name]
    used = slice(0, counts.flagged if formula.reads == "above" else counts.strata)
    left_out = np.flatnonzero(counts.left_out[used])
    by_chance = ((counts.checked[used] > 0) & (counts.rows[used] > counts.checked[used])).any()
    basis: Basis = "bounds" if left_out.size else "design"
    if left_out.size and not by_chance:
        interval = replace(interval, confidence=None, method="bounds: rows nobody checked")
    reason = None
    if math.isnan(value):
        reason = _not_checked(left_out, counts) if left_out.size else formula.undefined_because
    limits = None if math.isinf(interval.high) else interval
    if limits is not None and not math.isnan(value):
        # a value may lie beyond its limits by rounding, or where undecided rows count half
        limits = replace(limits, low=min(limits.low, value), high=max(limits.high, value))
    return Estimate(name, value, limits, reason, threshold, basis=basis, rests_on=RESTS_ON)


RESTS_ON = ("checked rows drawn at random within each range of scores, and judged correctly",)


def _not_checked(left_out: np.ndarray, counts: AuditCounts) -> str:
    rows = int(counts.rows[left_out].sum())
    where = "below the threshold" if (left_out >= counts.flagged).all() else "that decide it"
    return f"{rows:,} rows {where} lie where no row was checked, so there are only bounds"
