"""The numbers of each window, with intervals, and how far they may be trusted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from pulens.estimate import Estimate, Interval
from pulens.monitoring.judging import FEWEST_ROWS, MISFIT, Judgement, ReducedWindow
from pulens.monitoring.monitor import WEAK_AREA, KnownPrior, Monitor
from pulens.monitoring.rates import Parts, parts_of, rate_of, recall_among, with_own_positives
from pulens.notice import Notice, Severity, worst_first
from pulens.types import Booleans, Floats

Trust = Literal["ok", "doubtful", "withheld"]
#: The fit line's running total from which numbers are doubtful before it alarms: reached in a tenth of quiet lives.
SUSPECTED = 10.0
FARTHEST = 2.0  # standard errors by which a shift may leave its range
OUTSIDE = 0.01  # share of rows that may score beyond the reference
OTHER_LABELLING = 10.0  # labelled per row may differ so many times before the scenario is asked about


@dataclass(frozen=True)
class WatchedWindow:
    """One window: what needs no class prior (shift, flagged, recall), what needs one, and whether to quote it."""

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
    parts: Parts | None = field(default=None, repr=False, compare=False)  # what numbers at another prior are made of

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        estimates = ("shift", "prior", "precision", "recall", "f1", "accuracy", "flagged", "labelled_ratio")
        result = {name: getattr(self, name) for name in estimates}
        told = {name: None if one is None else one.to_dict() for name, one in result.items()}
        if told["recall"] is not None:
            told["recall"]["positives"] = self.positives
        return {
            "window": self.name,
            "rows": self.rows,
            **told,
            "fit_p": self.fit_p,
            "trust": self.trust,
            "mature": self.mature,
            "evidence": dict(self.evidence),
            "notices": [str(notice) for notice in self.notices],
        }


def watched_windows(judgement: Judgement) -> tuple[WatchedWindow, ...]:
    """All windows of a life."""
    return tuple(_window(judgement, index) for index in range(len(judgement.windows)))


def _window(judgement: Judgement, index: int) -> WatchedWindow:
    monitor, window = judgement.monitor, judgement.windows[index]
    shift, fit = judgement.shifts[index], judgement.fits[index]
    settings = monitor.settings
    is_mature = index < judgement.mature[-1]
    own = is_mature and judgement.own_labelled(index).sum() > 0 and _judged_by_own(judgement, index)
    trust, reason = _trust(judgement, index)
    reach = settings.z * shift.error + _across(monitor, window)
    ends = Interval(shift.value - reach, shift.value + reach, settings.confidence, "delta method")
    parts = parts_of(monitor.reference, window.counts.population, _cells(monitor), shift.value)
    flagged = recall = None
    if monitor.flagged is not None:
        tail = (1 - settings.confidence) / 2
        counted = float(window.counts.population @ monitor.flagged)
        flagged = _share("flagged", counted, window.counts.rows, settings.confidence, tail)
        recall, parts = _recall(judgement, index, parts, own, tail)
    unknown = None if own or monitor.prior is None or monitor.recall is not None else monitor.prior.ruled_out
    rates = {name: _rate(name, monitor, parts, reason or unknown) for name in ("precision", "f1", "accuracy")}
    rates["prior"] = _rate("prior", monitor, parts, reason)
    return WatchedWindow(
        window.name,
        window.counts.rows,
        window.counts.n_labelled,
        Estimate("shift", shift.value, ends),
        rates["prior"],
        rates["precision"],
        recall,
        rates["f1"],
        rates["accuracy"],
        flagged,
        _labelled_ratio(judgement, index),
        "window" if own else "reference",
        None if fit is None else fit.p_value,
        trust,
        is_mature,
        {name: _log10(run.log_totals[index]) for name, run in judgement.runs.items()},
        _notices(judgement, index, reason),
        parts,
    )


def _judged_by_own(judgement: Judgement, index: int) -> bool:
    """Whether a mature window speaks by its own positives: on request, or since the recall line says they moved."""
    if judgement.monitor.flagged is None:
        return False
    run = judgement.runs.get("recall")
    since = None if run is None else run.since
    return _on_request(judgement.monitor) or (since is not None and index >= since[1])


def _on_request(monitor: Monitor) -> bool:
    return monitor.settings.positives == "window" and monitor.prior is not None


def _cells(monitor: Monitor) -> Booleans:
    return np.zeros(monitor.edges.size, bool) if monitor.flagged is None else monitor.flagged


def _share(name: str, hits: float, size: float, confidence: float, tail: float) -> Estimate:
    value, low, high = recall_among(hits, size, tail)
    return Estimate(name, value, Interval(low, high, confidence, "Jeffreys"))


def _recall(judgement: Judgement, index: int, parts: Parts, own: bool, tail: float) -> tuple[Estimate | None, Parts]:
    """The reference's recall, or the window's own once it is mature and the recall line stands."""
    monitor, window = judgement.monitor, judgement.windows[index]
    cells, reference, settings = _cells(monitor), monitor.reference, monitor.settings
    prior = monitor.prior
    if not own and prior is not None and (prior.ruled_out or prior.possible_recall):
        return _possible_recall(
            prior, settings.confidence
        ), parts  # of the other numbers hits are held at the rows flagged
    labelled = judgement.own_labelled(index) if own else reference.labelled
    result = _share("recall", float(labelled @ cells), float(labelled.sum()), settings.confidence, tail)
    if own:
        values, covariance = parts.values.copy(), parts.covariance.copy()
        values[1] = result.value
        covariance[1, :] = covariance[:, 1] = 0.0
        size = float(labelled.sum())
        covariance[1, 1] = (result.value * (1 - result.value) + 0.25 / size) / size
        parts = Parts(values, covariance)
    if own and _on_request(monitor) and monitor.prior is not None:
        parts = with_own_positives(reference, window.counts.population, labelled, cells, monitor.prior.value)
    if settings.label_noise:
        if monitor.prior is None:
            reason = "with label noise recall needs the class prior of the reference"
            return Estimate("recall", math.nan, undefined_because=reason), parts
        rate = rate_of("recall", parts, monitor.prior.value, noise=settings.label_noise, z=settings.z)
        result = Estimate("recall", rate.value, Interval(rate.low, rate.high, settings.confidence, "delta method"))
    return result, parts


def _possible_recall(prior: KnownPrior, confidence: float) -> Estimate:
    """Of the reference where recall among its labelled rows cannot be, as an evaluation of it says."""
    if prior.possible_recall is None:
        return Estimate("recall", math.nan, undefined_because=prior.ruled_out)
    value, low, high = prior.possible_recall
    if prior.ruled_out is None:
        return Estimate("recall", value, Interval(low, high, confidence, "redraws, cut to what is possible"))
    return Estimate("recall", value, Interval(low, high, None, "possible worlds"), basis="possible worlds")


def _rate(name: str, monitor: Monitor, parts: Parts, reason: str | None) -> Estimate | None:
    if monitor.prior is None or (name != "prior" and monitor.flagged is None):
        return None
    if reason is not None:
        return Estimate(name, math.nan, undefined_because=reason)
    if name in ("precision", "f1") and parts.values[3] <= 0:
        return Estimate(name, math.nan, undefined_because="no row of this window is flagged")
    settings, prior = monitor.settings, monitor.prior
    given = {"noise": settings.label_noise, "z": settings.z, "prior_variance": prior.variance}
    middle = rate_of(name, parts, prior.value, **given)
    if prior.low == prior.high:
        return Estimate(name, middle.value, Interval(middle.low, middle.high, settings.confidence, "delta method"))
    ends = [middle, *(rate_of(name, parts, end, **given) for end in np.linspace(prior.low, prior.high, 5))]
    hull = Interval(min(end.low for end in ends), max(end.high for end in ends), settings.confidence, "hull over range")
    return Estimate(name, middle.value, hull)


def _trust(judgement: Judgement, index: int) -> tuple[Trust, str | None]:
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
    if window.counts.outside > OUTSIDE * rows:
        result.append(
            Notice(
                Severity.WARNING,
                "outside",
                f"{window.name}: {window.counts.outside / rows:.1%} of its rows score beyond all of the reference: "
                "they count in the outermost cells.",
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


def _log10(value: float) -> float | None:
    return float(value) / math.log(10) if math.isfinite(value) else None
