"""The numbers of each window, with intervals, and how far they may be trusted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pulens.answer import Answer, plain
from pulens.estimate import Basis, Estimate, Interval
from pulens.metrics.parts.rests_on import BASIS
from pulens.monitoring.judging import FEWEST_ROWS, MISFIT, Judgement, ReducedWindow
from pulens.monitoring.monitor import WEAK_AREA, KnownPrior, Monitor
from pulens.monitoring.rates import Parts, rate_of, recall_among
from pulens.monitoring.readings import Reading
from pulens.notice import Notice, Severity, worst_first
from pulens.selection.tilted import MIXED
from pulens.types import Floats

RATES = ("prior", "precision", "f1", "accuracy")
Trust = Literal["ok", "doubtful", "withheld"]
#: The fit line's running total from which numbers are doubtful before it alarms: reached in a tenth of quiet lives.
SUSPECTED = 10.0
FARTHEST = 2.0  # standard errors by which a shift may leave its range
OUTSIDE, FEW_OUTSIDE = 0.01, 5  # share and number of rows that may score beyond the reference
OTHER_LABELLING = 10.0  # labelled per row may differ so many times before the scenario is asked about


@dataclass(frozen=True)
class WatchedWindow(Answer):
    """One window: what needs no class prior (shift, flagged, recall), what needs one, and whether to quote it."""

    _keys = (
        *("window=name", "rows", "shift", "prior", "precision", "recall", "f1", "accuracy", "flagged"),
        *("labelled_ratio", "fit_p", "trust", "mature", "evidence", "notices"),
    )

    name: str
    rows: float
    labelled: float
    shift: Estimate
    prior: Estimate | None
    precision: Estimate | None
    recall: Estimate | None
    f1: Estimate | None
    accuracy: Estimate | None
    flagged: Estimate | None
    labelled_ratio: Estimate | None  # labelled per row, relative to the reference's: never an alarm
    positives: Literal["reference", "window"]
    fit_p: float | None
    trust: Trust
    mature: bool
    evidence: Mapping[str, float | None]
    notices: tuple[Notice, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        answer = super().to_dict()
        if answer["recall"] is not None:
            answer["recall"]["positives"] = self.positives
        return answer


def watched_windows(judgement: Judgement) -> tuple[WatchedWindow, ...]:
    """All windows of a life."""
    return tuple(_window(judgement, index) for index in range(len(judgement.windows)))


def _window(judgement: Judgement, index: int) -> WatchedWindow:
    monitor, window = judgement.monitor, judgement.windows[index]
    shift, fit, settings = judgement.shifts[index], judgement.fits[index], monitor.settings
    trust, reason = trust_of(judgement, index)
    reach = settings.z * shift.error + _across(monitor, window)
    ends = Interval(shift.value - reach, shift.value + reach, settings.confidence, "delta method")
    flagged = None
    if monitor.flagged is not None:
        tail = (1 - settings.confidence) / 2
        counted = recall_among(float(window.counts.population @ monitor.flagged), window.counts.rows, tail)
        flagged = Estimate("flagged", counted[0], Interval(*counted[1:], settings.confidence, "Jeffreys"))
    rates = rates_of(judgement, index, reason)
    return WatchedWindow(
        window.name,
        window.counts.rows,
        window.counts.n_labelled,
        Estimate("shift", shift.value, ends),
        rates["prior"],
        rates["precision"],
        rates["recall"],
        rates["f1"],
        rates["accuracy"],
        flagged,
        _labelled_ratio(judgement, index),
        "reference" if _own(judgement, index) is None else "window",
        None if fit is None else fit.p_value,
        trust,
        index < judgement.mature[-1],
        plain({name: run.log_totals[index] / math.log(10) for name, run in judgement.runs.items()}),
        _notices(judgement, index, reason),
    )


def rates_of(
    judgement: Judgement,
    index: int,
    reason: str | None,
    names: Sequence[str] = ("prior", "precision", "f1", "accuracy"),
) -> dict[str, Estimate | None]:
    """A window's share of positives and metrics; ``reason`` says why they are withheld."""
    monitor, window = judgement.monitor, judgement.windows[index]
    own, on_request = _own(judgement, index), _on_request(monitor)
    given = {"own_shift": own is not None and on_request}
    parts = [(each, each.parts(window.counts.population, own, **given)) for each in monitor.readings]
    unknown = own is None and monitor.prior is not None and monitor.flagged is not None and monitor.recall is None
    result: dict[str, Estimate | None] = {}
    for name in names:
        why = reason
        if unknown and name != "prior" and monitor.prior is not None:
            why = reason or monitor.prior.ruled_out
        is_there = monitor.prior is not None and (name == "prior" or monitor.flagged is not None)
        if is_there and why is None and name in ("precision", "f1") and not parts[0][1].values[3]:
            why = "no row of this window is flagged"
        if not is_there:
            result[name] = None
        else:
            undefined = Estimate(name, math.nan, undefined_because=why) if why is not None else None
            result[name] = undefined or _read(name, monitor, parts, own, **given)
    result["recall"] = None if monitor.flagged is None else _recall(monitor, parts, own)
    return result


def _own(judgement: Judgement, index: int) -> Floats | None:
    """The labelled rows that say a window's recall, where they are its own: on request, or since positives moved."""
    if index >= judgement.mature[-1] or judgement.monitor.flagged is None:
        return None
    run = judgement.runs.get("recall")
    since = None if run is None else run.since
    if not _on_request(judgement.monitor) and (since is None or index < since[1]):
        return None
    result = judgement.own_labelled(index)
    return result if result.sum() > 0 else None


def _on_request(monitor: Monitor) -> bool:
    return monitor.settings.positives == "window" and monitor.prior is not None


def _recall(monitor: Monitor, parts: Sequence[tuple[Reading, Parts]], own: Floats | None) -> Estimate:
    """The reference's recall, or the window's own once it is mature and the recall line stands."""
    prior, settings = monitor.prior, monitor.settings
    if own is None and prior is not None and (prior.ruled_out or prior.possible_recall):
        return _possible_recall(prior, settings.confidence)
    if settings.label_noise:
        if prior is None:
            reason = "with label noise recall needs the class prior of the reference"
            return Estimate("recall", math.nan, undefined_because=reason)
        return _read("recall", monitor, parts[:1], own)
    found = monitor.recall_of(own) if own is not None else monitor.recall
    assert found is not None
    value, low, high = found
    return Estimate("recall", value, _interval(monitor, low, high, "Jeffreys"), basis=_basis(monitor))


def _basis(monitor: Monitor) -> Basis:
    return BASIS["random" if monitor.labels is None or not monitor.labels.explains_any_rows else "practice"]


def _interval(monitor: Monitor, low: float, high: float, method: str) -> Interval:
    """An interval with what it rests on: the labelling is one more source of uncertainty where it is not random."""
    confidence, labels = monitor.settings.confidence, monitor.labels
    if labels is None:
        return Interval(low, high, confidence, method)
    return Interval(low, high, confidence, f"{method}, {MIXED}", labels.guarantee)


def _possible_recall(prior: KnownPrior, confidence: float) -> Estimate:
    """Of the reference where recall among its labelled rows cannot be, as an evaluation of it says."""
    if prior.possible_recall is None:
        return Estimate("recall", math.nan, undefined_because=prior.ruled_out)
    value, low, high = prior.possible_recall
    if prior.ruled_out is None:
        return Estimate("recall", value, Interval(low, high, confidence, "redraws, cut to what is possible"))
    return Estimate("recall", value, Interval(low, high, None, "possible worlds"), basis="possible worlds")


def _read(
    name: str,
    monitor: Monitor,
    parts: Sequence[tuple[Reading, Parts]],
    own: Floats | None,
    *,
    own_shift: bool = False,
) -> Estimate:
    """At every class prior that may be: the interval holds all of them."""
    settings, prior = monitor.settings, monitor.prior
    assert prior is not None
    given = {"noise": settings.label_noise, "z": settings.z}
    given["prior_variance"] = 0.0 if name == "recall" else prior.variance
    found = [reading.rate(name, each, own, own_shift=own_shift, **given) for reading, each in parts]
    method = "delta method" if len(found) == 1 else "hull over range"
    ends = min(each.low for each in found), max(each.high for each in found)
    return Estimate(name, found[0].value, _interval(monitor, *ends, method), basis=_basis(monitor))


def trust_of(judgement: Judgement, index: int) -> tuple[Trust, str | None]:
    """Whether a window's numbers may be quoted; the reason where they are withheld."""
    monitor, rows = judgement.monitor, float(judgement.rows[index])
    if rows < FEWEST_ROWS:
        return "withheld", f"the window has {rows:,.0f} rows, fewer than {FEWEST_ROWS}"
    shift = judgement.shifts[index].value
    end = monitor.held(shift)
    if abs(shift - end) > FARTHEST * _error_at(monitor, end, rows):
        words = "more positives than rows" if shift > end else "fewer positives than none"
        return "withheld", f"the scores say {words} (d {shift:+.2f}): more or fewer positives is not what happened"
    fit = judgement.fits[index]
    doubtful = monitor.area < WEAK_AREA or (fit is not None and fit.p_value < MISFIT)
    since = judgement.misfit_since
    doubtful = doubtful or (since is not None and index >= since)
    run = judgement.runs.get("fit")
    if run is not None:
        doubtful = doubtful or bool(run.log_totals[index] >= math.log(SUSPECTED))
        if run.certain is not None and run.since is not None:
            doubtful = doubtful or index >= min(run.since[1], run.certain)
    return ("doubtful" if doubtful else "ok"), None


def _error_at(monitor: Monitor, shift: float, rows: float) -> float:
    """The standard error of d at an end of its range."""
    reference, w = monitor.reference, monitor.reference.weights
    mixture = np.maximum((1 - shift) * reference.q + shift * reference.p, 0)
    mixture = mixture / mixture.sum()
    own = float((mixture + reference.p / (2 * rows)) @ (w - mixture @ w) ** 2) / rows
    return float(np.sqrt(own + reference.covariance(w[:, None], shift)[0, 0]))


def _across(monitor: Monitor, window: ReducedWindow) -> float:
    """What bins of scores that an edge cuts can change in d at most."""
    w: Floats = monitor.reference.weights
    moved = (
        rows * (w[first : last + 1].max() - w[first : last + 1].min()) for rows, first, last in window.counts.across
    )
    return float(sum(moved)) / window.counts.rows


def _labelled_ratio(judgement: Judgement, index: int) -> Estimate | None:
    """Labelled per row against the reference's; of the same age, where it is known when labels were confirmed."""
    if judgement.is_later_life:  # labelled rows of the first reference, and rows of another
        return None
    monitor, window = judgement.monitor, judgement.windows[index]
    own, known = window.counts.n_labelled, monitor.reference.n_labelled
    if judgement.confirmed is not None and window.confirmed is not None:
        age = judgement.reached(index)
        if age is None:
            return None
        own, known = float(window.confirmed[age].sum()), float(judgement.confirmed[age].sum())
    if not own or not known:
        return None
    ratio = own / window.counts.rows / (known / monitor.reference.rows)
    reach = math.exp(monitor.settings.z * math.sqrt(1 / own + 1 / known))
    return Estimate(
        "labelled_ratio", ratio, Interval(ratio / reach, ratio * reach, monitor.settings.confidence, "log ratio")
    )


def _notices(judgement: Judgement, index: int, reason: str | None) -> tuple[Notice, ...]:
    monitor, window = judgement.monitor, judgement.windows[index]
    result = []
    rows = window.counts.rows
    if reason is not None:
        result.append(Notice(Severity.NOTE, "withheld", f"{window.name}: {reason}."))
    if window.counts.outside > max(OUTSIDE * rows, FEW_OUTSIDE):
        result.append(
            Notice(
                Severity.WARNING,
                "outside",
                f"{window.name}: {window.counts.outside / rows:.1%} of its rows score beyond all of the reference: "
                "they count as its lowest or highest scores.",
            )
        )
    if rows > 1 and monitor.edges.size > 1 and np.count_nonzero(window.counts.population) == 1:
        result.append(
            Notice(
                Severity.SERIOUS,
                "one-cell",
                f"{window.name}: all {rows:,.0f} rows fall into one bin of the reference's scores: a constant score or "
                "another scale. Is this the same model?",
            )
        )
    ratio = _labelled_ratio(judgement, index)
    if monitor.settings.scenario == "case-control" and ratio is not None:
        far = max(ratio.value, 1 / ratio.value)
        if far >= OTHER_LABELLING:
            result.append(
                Notice(
                    Severity.SERIOUS,
                    "other-labelling",
                    f"{window.name}: labelled rows per row differ {far:.0f} times from the reference. If labels were "
                    "picked out of these rows, say scenario='single-set': a young window otherwise looks richer.",
                )
            )
    return worst_first(result)


def of_reference(monitor: Monitor, name: str) -> float:
    """A number of the reference, as of a window without a shift; nan where there is none."""
    known = {
        "prior": math.nan if monitor.prior is None else monitor.prior.value,
        "recall": math.nan if monitor.recall is None else monitor.recall[0],
    }
    if name in known:
        return known[name]
    if monitor.prior is None or monitor.recall is None:
        return math.nan
    reading = monitor.readings[0]
    flagged, among = float(reading.reference.q @ reading.flagged), float(reading.reference.p @ reading.flagged)
    if not flagged:
        return math.nan
    parts = Parts(np.array([0.0, among, flagged, flagged]), np.zeros((4, 4)))
    return rate_of(name, parts, reading.class_prior, noise=monitor.settings.label_noise).value
