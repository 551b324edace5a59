"""A watch as one self-contained page: the verdict, lines over time with their bands, trust, what to do next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pulens.notice import Severity
from pulens.report.html import render
from pulens.report.watch import next_steps, table_of, verdict, vouching

if TYPE_CHECKING:
    from pulens.estimate import Estimate
    from pulens.watching import Pulse, WatchedWindow

SCRIPTS = ("watch.js", "theme.js")
WIDE, HIGH = 640.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 10.0, 10.0, 24.0
FEW_MARKS = 100  # above, marks are small
MOST_MARKS = 400  # above, marks thin to every second, third, ... window


@dataclass(frozen=True)
class Mark:
    """A window's place and bar in a picture."""

    x: float
    y: float
    low: float
    high: float
    name: str
    value: str
    trust: str


@dataclass(frozen=True)
class Picture:
    """All that the template draws, in the units of the picture."""

    title: str
    words: str
    marks: Sequence[Mark] = ()
    paths: Sequence[tuple[str, str, str]] = ()  # path, class, name
    bands: Sequence[tuple[float, float, float, float, str, str]] = ()  # x, y, width, height, class, name
    levels: Sequence[tuple[float, str, str]] = ()  # height, class, name
    flags: Sequence[tuple[float, str]] = ()
    ticks: Sequence[tuple[float, str]] = ()
    gone: Sequence[tuple[float, str]] = ()


def watch_page(pulse: Pulse, *, title: str | None = None) -> str:
    """The whole page as text."""
    windows = list(pulse.windows.values())
    doubt = vouching(pulse)
    pictures = [_positives(pulse, windows), _evidence(pulse, windows)] if windows else []
    if any(one.f1 is not None for one in windows):
        pictures.insert(1, _metrics(windows))
    return render(
        "watch.html.j2",
        SCRIPTS,
        {},
        title=title or "The pulse of a deployed model",
        status=pulse.status,
        verdict=verdict(pulse),
        doubt=doubt,
        alarms=[str(alarm) for alarm in pulse.alarms],
        about=_about(pulse),
        pictures=pictures,
        radius=2.6 if len(windows) <= FEW_MARKS else 1.5,
        wide=WIDE,
        high=HIGH,
        left=LEFT,
        right=WIDE - RIGHT,
        top=TOP,
        bottom=HIGH - BOTTOM,
        table=table_of(windows),
        steps=next_steps(pulse),
        lives=[(life.accepted_from, life.because) for life in pulse.lives[:-1]],
        alarming=[
            one for one in pulse.notices if one.severity > Severity.NOTE and (doubt is None or str(one) not in doubt)
        ],
        notes=[one for one in pulse.notices if one.severity == Severity.NOTE],
        log_line=pulse.log_line,
    )


def _about(pulse: Pulse) -> str:
    monitor = pulse.life.judgement.monitor
    return (
        f"{len(pulse.windows):,} windows against a reference of {monitor.reference.rows:,.0f} rows, "
        f"{monitor.reference.n_labelled:,.0f} of them labelled"
    )


class _Scale:
    """From values to the units of a picture."""

    def __init__(self, count: int, low: float, high: float) -> None:
        room = (high - low) * 0.05 or 0.05
        self.low, self.high, self.count = low - room, high + room, count

    def x(self, place: float) -> float:
        return round(LEFT + (WIDE - LEFT - RIGHT) * (place + 0.5) / self.count, 2)

    def y(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * share, 2)

    def levels(self) -> list[tuple[float, str, str]]:
        step = 10 ** math.floor(math.log10((self.high - self.low) / 2))
        step *= 2 if (self.high - self.low) / step > 6 else 1
        first = math.ceil(self.low / step)
        values = [place * step for place in range(first, math.floor(self.high / step) + 1)]
        return [(self.y(value), "grid", f"{value:.3g}") for value in values]

    def ticks(self, names: Sequence[str]) -> list[tuple[float, str]]:
        chosen = sorted({0, self.count // 2, self.count - 1}) if self.count > 2 else range(self.count)
        return [(self.x(place), names[place]) for place in chosen]


def _ends(found: Estimate) -> tuple[float, float, float]:
    reach = found.interval
    return (found.value, found.value, found.value) if reach is None else (found.value, reach.low, reach.high)


def _positives(pulse: Pulse, windows: list[WatchedWindow]) -> Picture:
    """The share of positives, or d without a class prior; the level since the change as a step with its band."""
    prior = pulse.life.judgement.monitor.prior
    told = _shares(windows)
    base = 0.0 if prior is None else prior.value
    reach = [base, *(number for each in told.values() for number in each)]
    scale = _Scale(len(windows), min(reach), max(reach))
    names = [one.name for one in windows]
    step = math.ceil(len(windows) / MOST_MARKS)
    gone = [(scale.x(place), name) for place, name in enumerate(names) if place not in told]
    marks = [_mark(scale, place, windows[place], each) for place, each in told.items() if place % step == 0]
    bands, paths, flags = _changes(pulse, scale, names, base)
    levels = [*scale.levels(), (scale.y(base), "reference", "")]
    title = "Positives: shift d of each window" if prior is None else "Positives: share in each window"
    words = (
        "One mark with its interval per window; the dashed line is the reference. Hollow marks are doubtful, a cross "
        "is a window whose number is withheld. Shaded: when the change began."
    )
    return Picture(title, words, marks, paths, bands, levels, flags, scale.ticks(names), gone)


def _shares(windows: list[WatchedWindow]) -> dict[int, tuple[float, float, float]]:
    """The number drawn for each window that has one, by place: the share of positives, or d."""
    shown = {place: one.prior or one.shift for place, one in enumerate(windows)}
    return {place: _ends(found) for place, found in shown.items() if not found.undefined_because}


def _mark(scale: _Scale, place: int, window: WatchedWindow, ends: tuple[float, float, float]) -> Mark:
    value, low, high = ends
    words = f"{value:.3f} ({low:.3f} to {high:.3f})"
    return Mark(scale.x(place), scale.y(value), scale.y(low), scale.y(high), window.name, words, window.trust)


Bands = list[tuple[float, float, float, float, str, str]]


def _changes(
    pulse: Pulse, scale: _Scale, names: list[str], base: float
) -> tuple[Bands, list[tuple[str, str, str]], list[tuple[float, str]]]:
    """Where each alarm's change began, the level since, and the window after which it was certain."""
    bands: Bands = []
    paths, flags = [], []
    monitor = pulse.life.judgement.monitor
    slope = 1.0 if monitor.prior is None else 1 - monitor.settings.label_noise - base
    for alarm in pulse.alarms:
        left, right = scale.x(names.index(alarm.since_low) - 0.5), scale.x(names.index(alarm.since_high) + 0.5)
        told = f"{alarm.line}: since about {alarm.since}"
        bands.append((left, TOP, max(right - left, 1.0), HIGH - TOP - BOTTOM, "starts", told))
        flags.append((scale.x(names.index(alarm.certain)), f"{alarm.line} certain at {alarm.certain}"))
        if alarm.line == "share" and alarm.interval is not None:
            level, low, high = (base + slope * d for d in (alarm.level, alarm.interval.low, alarm.interval.high))
            x = scale.x(names.index(alarm.since) - 0.5)
            bands.append((x, scale.y(high), WIDE - RIGHT - x, max(scale.y(low) - scale.y(high), 1.0), "since", "level"))
            paths.append((f"M{x} {scale.y(level)}H{WIDE - RIGHT}", "level", "level since the change"))
    return bands, paths, flags


def _metrics(windows: list[WatchedWindow]) -> Picture:
    scale = _Scale(len(windows), 0.0, 1.0)
    paths = []
    for name in ("precision", "recall", "f1"):
        line, upper, lower = "", [], []
        for place, one in enumerate(windows):
            found = getattr(one, name)
            if found is None or found.undefined_because:
                continue
            value, low, high = _ends(found)
            x = scale.x(place)
            line += f"{'L' if line else 'M'}{x} {scale.y(value)}"
            upper.append(f"{x} {scale.y(high)}")
            lower.append(f"{x} {scale.y(low)}")
        if line:
            paths.append(("M" + "L".join([*upper, *reversed(lower)]) + "Z", f"band {name}", f"{name}, interval"))
            paths.append((line, f"line {name}", name))
    doubtful = [
        (scale.x(place - 0.5), TOP, (WIDE - LEFT - RIGHT) / len(windows), HIGH - TOP - BOTTOM, "grey", one.name)
        for place, one in enumerate(windows)
        if one.trust != "ok"
    ]
    words = (
        "At the deployed threshold: precision (blue), recall (orange), F1 (green), with their intervals. Grey: "
        "doubtful or withheld, true only if the share of positives alone had changed."
    )
    ticks = scale.ticks([one.name for one in windows])
    return Picture("Precision, recall, F1", words, (), paths, doubtful, scale.levels(), (), ticks)


def _evidence(pulse: Pulse, windows: list[WatchedWindow]) -> Picture:
    lines = pulse.lines
    values = [min(max(value, 0.0), 12.0) for line in lines.values() for value in line.evidence if math.isfinite(value)]
    scale = _Scale(len(windows), 0.0, max([*values, 2.2]))
    paths: list[tuple[str, str, str]] = []
    for name, line in lines.items():
        path = ""
        for place, value in enumerate(line.evidence):
            if math.isfinite(value):
                path += f"{'L' if path else 'M'}{scale.x(place)} {scale.y(max(float(value), 0.0))}"
        paths.append((path, f"line of-{name}", f"{name}: log10 of the evidence"))
    levels: list[tuple[float, str, str]] = [*scale.levels()]
    for bar in sorted({round(line.bar, 6) for line in lines.values()}):
        levels.append((scale.y(bar), "bar", ""))
    words = (
        "How sure, not how much: log10 of the evidence of each line, share (blue), fit (orange), recall (green); "
        "dashed: the bars at which share, and fit and recall, alarm. Drawn from 0 to 12."
    )
    return Picture("Evidence", words, (), paths, (), levels, (), scale.ticks([one.name for one in windows]))
