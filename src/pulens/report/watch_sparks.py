"""Small time lines: a whole life in one line of a page, for earlier lives and for segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pulens.monitoring import WatchedWindow, WatchLife

WIDE, HIGH = 300.0, 48.0
Limits = tuple[float, float, float]


@dataclass(frozen=True)
class Spark:
    """A line with its band, the reference, and where changes began; in units of a picture 300 by 48."""

    line: str
    band: str
    reference: float
    starts: tuple[tuple[float, float], ...]  # left end and width
    words: str


def spark_of(life: WatchLife) -> Spark | None:
    """The share of positives (or d) of all windows of a life; None where there is none."""
    windows = list(life.windows.values())
    prior = life.judgement.monitor.prior
    told = _told(windows)
    if not told:
        return None
    base = 0.0 if prior is None else prior.value
    numbers = [base, *(number for ends in told.values() for number in ends)]
    low, high = min(numbers), max(numbers)

    def x(place: float) -> float:
        return round(WIDE * (place + 0.5) / len(windows), 2)

    def y(value: float) -> float:
        return round(HIGH - 3 - (HIGH - 6) * ((value - low) / (high - low) if high > low else 0.5), 2)

    names = {window.name: place for place, window in enumerate(windows)}
    starts = tuple(
        (x(names[alarm.since_low] - 0.5), max(x(names[alarm.since_high] + 0.5) - x(names[alarm.since_low] - 0.5), 1.5))
        for alarm in life.alarms
    )
    upper = [f"{x(place)} {y(ends[2])}" for place, ends in told.items()]
    lower = [f"{x(place)} {y(ends[1])}" for place, ends in told.items()]
    line = "".join(f"{'L' if place - 1 in told else 'M'}{x(place)} {y(ends[0])}" for place, ends in told.items())
    if len(told) == 1:
        line += "h0.01"  # a single window is a point
    what = "shift d" if prior is None else "share of positives"
    last = told[max(told)][0]
    when = f"from {windows[0].name} to {windows[-1].name}"
    words = f"{what} {when}, between {low:.3g} and {high:.3g}, at the end {last:.3g}"
    return Spark(line, "M" + "L".join([*upper, *reversed(lower)]) + "Z", y(base), starts, words)


def _told(windows: Sequence[WatchedWindow]) -> dict[int, Limits]:
    """Value and ends of every window that has them, by its place."""
    told: dict[int, Limits] = {}
    for place, window in enumerate(windows):
        result = window.prior or window.shift
        if not result.undefined_because:
            reach = result.interval
            ends = (result.value, result.value) if reach is None else (reach.low, reach.high)
            told[place] = (result.value, *ends)
    return told
