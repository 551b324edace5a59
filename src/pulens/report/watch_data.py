"""What the charts of a watch's page are drawn from: every window, every line, labels, scores."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.inputs.periods import last_day
from pulens.monitoring.answer import Change
from pulens.monitoring.monitor import AGES
from pulens.monitoring.numbers import WatchedWindow
from pulens.monitoring.rates import recall_among
from pulens.report.watch_histogram import histogram_data
from pulens.report.watch_live import level_since, live_data, sizes_of, usual

if TYPE_CHECKING:
    from pulens.estimate import Estimate
    from pulens.monitoring import Alarm, Pulse

SHOWN = ("prior", "precision", "recall", "f1")
Limits = list[float] | None  # value, low, high


def watch_data(pulse: Pulse) -> dict[str, Any]:
    """Everything that the page's scripts read; only what the slider computes with is in full precision."""
    monitor = pulse.life.judgement.monitor
    windows = list(pulse.windows.values())
    prior = monitor.prior
    places = {window.name: place for place, window in enumerate(windows)}
    return {
        "names": list(places),
        "rows": [window.rows for window in windows],
        "trust": [window.trust for window in windows],
        "why": [None if window.prior is None else window.prior.undefined_because for window in windows],
        "fit": [None if window.fit_p is None else short(window.fit_p) for window in windows],
        "shift": [_ends(window.shift) for window in windows],
        "home": {name: [_ends(getattr(window, name)) for window in windows] for name in SHOWN},
        "base": None if prior is None else prior.value,
        "sizes": [_finite(one) for one in _sizes(pulse)],
        "live": live_data(pulse),
        "lines": {
            name: {"evidence": [_finite(value) for value in line.evidence], "bar": line.bar}
            for name, line in pulse.lines.items()
        },
        "alarms": [_alarm(alarm, places) for alarm in pulse.alarms],
        "changes": [_alarm(change, places) for change in pulse.changes],
        "labels": _labels(pulse, windows),
        "scores": histogram_data(pulse) if windows else None,
        "confidence": monitor.settings.confidence,
    }


def short(value: float) -> float:
    """Six digits: enough to draw, and to read."""
    return float(f"{value:.6g}")


def _finite(value: float) -> float | None:
    return short(float(value)) if math.isfinite(value) else None


def _ends(result: Estimate | None) -> Limits:
    if result is None or result.undefined_because:
        return None
    reach = result.interval
    return [short(one) for one in ((result.value,) * 3 if reach is None else (result.value, reach.low, reach.high))]


def _sizes(pulse: Pulse) -> list[float]:
    """Between which numbers quiet windows lie, and the level since a change: shares of positives, or d without any."""
    monitor, reach = pulse.life.judgement.monitor, usual(pulse.life.judgement)
    if monitor.prior is not None:
        return sizes_of(pulse, monitor)
    return [-reach, reach, *(level_since(pulse) or (math.nan,) * 3)]


def _alarm(alarm: Alarm | Change, places: dict[str, int]) -> dict[str, Any]:
    reach = alarm.interval
    level = None if reach is None else [short(one) for one in (alarm.level, reach.low, reach.high)]
    when = {name: places[getattr(alarm, name)] for name in ("since", "since_low", "since_high")}
    certain = None if isinstance(alarm, Change) else places[alarm.certain]
    return {"line": alarm.line, "level": level, **when, "certain": certain}


def _labels(pulse: Pulse, windows: Iterable[WatchedWindow]) -> dict[str, Any]:
    """Labelled rows per 1,000, and how many of a window's own positives are found, with the day they are complete."""
    judgement = pulse.life.judgement
    monitor = judgement.monitor
    settings, reference = monitor.settings, monitor.reference
    tail = (1 - settings.confidence) / 2
    recall: list[Limits] = []
    if monitor.flagged is not None:
        for place in range(len(judgement.windows)):
            labelled = judgement.own_labelled(place)
            size = float(labelled.sum())
            own = recall_among(float(labelled @ monitor.flagged), size, tail) if size else None
            recall.append(None if own is None else [short(number) for number in own])
    known = None
    if monitor.flagged is not None:  # at the age at which windows are judged
        same_age = judgement.reference_labelled
        known = recall_among(float(same_age @ monitor.flagged), float(same_age.sum()), tail)
    per_thousand: list[Limits] = []
    for window in windows:
        value = window.labelled / window.rows * 1000
        # of so many labelled rows as of a Poisson number, on the scale of its square root
        spread = settings.z / 2
        root = math.sqrt(window.labelled + 0.25)
        low, high = max(root - spread, 0.0) ** 2, (root + spread) ** 2
        per_thousand.append([short(value), *(short(max(end - 0.25, 0.0) / window.rows * 1000) for end in (low, high))])
    return {
        "per_thousand": per_thousand,
        # after an accepted alarm the labelled rows are not of the reference's windows
        "base": None if len(pulse.lives) > 1 else short(reference.n_labelled / reference.rows * 1000),
        "recall": recall,
        "known": None if known is None else [short(number) for number in known],
        "mature": [window.mature for window in pulse.windows.values()],
        "matures": _maturity(pulse),
        "waits": settings.lag is not None,
        "any": bool(np.any([window.labelled for window in pulse.windows.values()])),
    }


def _maturity(pulse: Pulse) -> list[str | None]:
    """When the labels of each window that is not mature are complete, in words; None for the others."""
    judgement = pulse.life.judgement
    lag, age = judgement.monitor.settings.lag, judgement.monitor.settings.age
    result: list[str | None] = []
    for window in pulse.windows.values():
        if lag is None or window.mature:
            result.append(None)
            continue
        day = last_day(window.name)
        if lag[1] == "days" and day is not None:
            wait = lag[0] if age is None else AGES[age]
            result.append(f"labels complete on {day + timedelta(days=math.ceil(wait))}")
        else:
            result.append(f"labels complete {lag[0]:g} windows later")
    return result
