"""A watch in three pictures over time: the share of positives, the metrics at the threshold, the evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.plots.backend import pyplot

if TYPE_CHECKING:
    from pulens.estimate import Estimate
    from pulens.monitoring import Alarm, Change, Pulse, WatchedWindow

MAIN, LEVEL, SOFT = "#1459b3", "#b3500b", "#8a8a8a"
MOST_MARKS = 400  # above, marks become a line with its band
MOST_TICKS = 8


def draw_watch(pulse: Pulse, axes: Any = None) -> Any:
    """Positives, metrics (where there is a threshold and a class prior) and evidence; returns the axes."""
    windows = list(pulse.windows.values())
    has_metrics = any(window.f1 is not None for window in windows)
    if axes is None:
        count = 3 if has_metrics else 2
        axes = pyplot().subplots(count, 1, figsize=(9, 2.6 * count), sharex=True, layout="constrained")[1]
    if len(axes) < (3 if has_metrics else 2):
        raise ValueError(f"a watch is drawn on {3 if has_metrics else 2} axes, got {len(axes)}.")
    _positives(axes[0], pulse, windows)
    if has_metrics:
        _metrics(axes[1], windows)
    _evidence(axes[-1], pulse)
    names = [window.name.replace("$", r"\$") for window in windows]
    chosen = sorted({round(place) for place in np.linspace(0, len(names) - 1, MOST_TICKS)}) if names else []
    axes[-1].set_xticks(chosen, [names[place] for place in chosen], rotation=20, ha="right")
    return axes


def _positives(ax: Any, pulse: Pulse, windows: Sequence[WatchedWindow]) -> None:
    """One mark with its interval per window, hollow where it is doubtful; the reference, and the level since."""
    prior = pulse.life.judgement.monitor.prior
    shown = {place: one.prior or one.shift for place, one in enumerate(windows)}
    ends = {place: _ends(result) for place, result in shown.items() if not result.undefined_because}
    if len(windows) > MOST_MARKS:
        _band(ax, ends, MAIN, None)
    else:
        for place, (value, low, high) in ends.items():
            filled = windows[place].trust == "ok"
            ax.plot([place, place], [low, high], color=MAIN, linewidth=1, alpha=1 if filled else 0.45)
            ax.plot(place, value, "o", color=MAIN, markersize=3.5, fillstyle="full" if filled else "none")
    base = 0.0 if prior is None else prior.value
    ax.axhline(base, color=SOFT, linewidth=1, linestyle="--", zorder=0)
    places = {window.name: place for place, window in enumerate(windows)}
    told: list[tuple[Alarm | Change, str]] = [(alarm, "-") for alarm in pulse.alarms]
    told += [(change, "--") for change in pulse.changes]
    for one, style in told:
        ax.axvspan(places[one.since_low] - 0.5, places[one.since_high] + 0.5, color="#d99a00", alpha=0.2, lw=0)
        if one.line == "share":
            since = [places[one.since] - 0.5, len(windows) - 0.5]
            level = one.level
            if prior is not None:
                level = pulse.life.judgement.monitor.share_at(level, level, level)[0]
            ax.plot(since, [level] * 2, color=LEVEL, linewidth=2, linestyle=style)
    for alarm in pulse.alarms:
        ax.axvline(places[alarm.certain], color="#b3261e", linewidth=1)
    ax.set(ylabel="shift d" if prior is None else "share of positives")
    ax.set_title(pulse.verdict.split(". ")[0].replace("$", r"\$"), fontsize=10, loc="left", wrap=True)


def _metrics(ax: Any, windows: Sequence[WatchedWindow]) -> None:
    for name, colour in (("precision", MAIN), ("recall", LEVEL), ("f1", "#1a7f4b")):
        result: dict[int, Estimate] = {
            place: one for place, window in enumerate(windows) if (one := getattr(window, name)) is not None
        }
        _band(ax, {place: _ends(one) for place, one in result.items() if not one.undefined_because}, colour, name)
    for place, window in enumerate(windows):
        if window.trust != "ok":
            ax.axvspan(place - 0.5, place + 0.5, color=SOFT, alpha=0.2, linewidth=0)
    ax.set(ylabel="at the threshold", ylim=(0, 1))
    ax.legend(loc="lower left", ncols=3, frameon=False, fontsize=8)


def _evidence(ax: Any, pulse: Pulse) -> None:
    for name, colour in (("share", MAIN), ("fit", LEVEL), ("recall", "#1a7f4b")):
        line = pulse.lines.get(name)
        if line is not None:
            ax.plot(np.maximum(line.evidence, 0.0), color=colour, linewidth=1.5, label=name)
            ax.axhline(line.bar, color=colour, linewidth=0.8, linestyle=":")
    ax.set(ylabel="log10 of evidence")
    if pulse.lines:
        ax.legend(loc="upper left", ncols=3, frameon=False, fontsize=8)


def _band(ax: Any, ends: dict[int, tuple[float, float, float]], colour: str, name: str | None) -> None:
    """A line with its band, broken where windows have no number."""
    last = max(ends, default=-1)
    rows = np.array([ends.get(place, (math.nan,) * 3) for place in range(last + 1)]).reshape(-1, 3)
    ax.fill_between(np.arange(last + 1), rows[:, 1], rows[:, 2], color=colour, alpha=0.16, linewidth=0)
    ax.plot(np.arange(last + 1), rows[:, 0], color=colour, linewidth=1.5, label=name)


def _ends(result: Estimate) -> tuple[float, float, float]:
    reach = result.interval
    return (result.value, result.value, result.value) if reach is None else (result.value, reach.low, reach.high)
