"""Gaps in two pictures: groups with their intervals, and the differences of pairs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pulens.groups.grouped_rows import title_of
from pulens.plots.backend import pyplot

if TYPE_CHECKING:
    from pulens.groups.gaps import Gaps

MOST_PAIRS = 30
CLEAR, UNCLEAR = "#b3261e", "#8a8a8a"


def draw_gaps(gaps: Gaps, axes: Any = None) -> Any:
    """Groups on the left, the worst on top; on the right the clearest differences; returns both axes."""
    groups = [group for group in reversed(gaps.groups) if not math.isnan(group.estimate.value)]
    pairs = gaps.differences[:MOST_PAIRS]
    if axes is None:
        height = 1.4 + 0.28 * max(len(groups), len(pairs))
        axes = pyplot().subplots(1, 2, figsize=(12, height), layout="constrained")[1]
    left, right = axes
    for place, group in enumerate(groups):
        interval, colour = group.estimate.interval, UNCLEAR if group.untested else "#1f5fa8"
        if interval is not None:
            left.plot([interval.low, interval.high], [place, place], color=colour, linewidth=2)
        left.plot(group.estimate.value, place, "o", color=colour, fillstyle="none" if group.untested else "full")
    left.set_yticks(range(len(groups)), [_short(group.title) for group in groups])
    if gaps.together is not None:
        left.axvline(gaps.together.value, color="#c9c9c9", linewidth=1, zorder=0)
    left.set(xlabel=f"{gaps.metric}, {gaps.confidence:.0%} intervals for all groups at once")
    for place, gap in enumerate(reversed(pairs)):
        colour = CLEAR if gap.is_clear else UNCLEAR
        right.plot([gap.low, gap.high], [place, place], color=colour, linewidth=2)
        right.plot(gap.value, place, "o", color=colour)
    names = [f"{_short(title_of(gap.first))} over {_short(title_of(gap.second))}" for gap in reversed(pairs)]
    right.set_yticks(range(len(pairs)), names)
    right.axvline(0, color="#c9c9c9", linewidth=1, zorder=0)
    right.set(xlabel=f"difference in {gaps.metric}, all pairs at once")
    return axes


def _short(title: str) -> str:
    return (title if len(title) <= 24 else f"{title[:23]}…").replace("$", r"\$")
