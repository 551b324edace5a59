"""Segments as dots with their intervals, the lowest first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pulens.plots.backend import pyplot

if TYPE_CHECKING:
    from pulens.groups.segments import Evaluations

MOST = 60  # segments in one picture; of more the lowest and the highest


def draw_segments(result: Evaluations, metric: str | None = None, ax: Any = None) -> Any:
    """One metric of every segment with its interval, the lowest below; returns the axes."""
    name = metric or result.metrics[0]
    rows = sorted(
        (segment for segment in result.segments.values() if not math.isnan(segment.estimates[name].value)),
        key=lambda segment: segment.estimates[name].value,
    )
    if len(rows) > MOST:
        rows = [*rows[: MOST // 2], *rows[-MOST // 2 :]]
    if ax is None:
        ax = pyplot().subplots(figsize=(7, 1.2 + 0.28 * len(rows)), layout="constrained")[1]
    for place, segment in enumerate(rows):
        estimate = segment.estimates[name]
        if estimate.interval is not None:
            ends = [estimate.interval.low, estimate.interval.high]
            ax.plot(ends, [place, place], color="#1f5fa8", linewidth=2, alpha=0.6)
        ax.plot(estimate.value, place, "o", color="#1f5fa8")
    titles = [segment.title if len(segment.title) <= 30 else f"{segment.title[:29]}…" for segment in rows]
    ax.set_yticks(range(len(rows)), [title.replace("$", r"\$") for title in titles])
    ax.set(xlabel=name, ylabel=result.group_by.replace("$", r"\$"))
    return ax
