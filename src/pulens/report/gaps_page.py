"""Gaps between groups as one self-contained page: groups as dots, and differences that light up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pulens.groups.grouped_rows import title_of as group_title
from pulens.metrics import METRICS
from pulens.report.axis import Axis, ends_of
from pulens.report.gaps import (
    assumed_words,
    audit_words,
    equal_words,
    heading_of,
    in_points,
    needs_words,
    shown_groups,
    verdict_of,
)
from pulens.report.html import render
from pulens.report.segments import LONGEST_NAME, shortened
from pulens.report.words import Assumption, of_labelling, title_of

if TYPE_CHECKING:
    from pulens.groups.gaps import Gap, Gaps, GroupRate

SCRIPTS = ("words.js", "chart.js", "figures.js", "sorting.js", "theme.js")
MOST_PAIRS = 300  # differences on the page; the JSON has all
MOST_UNTESTED = 100
LONGEST_TITLE = 300  # characters of a group's name in the table of groups

_RANDOM = Assumption(
    "Within each group labelled positives are a random draw of its positives.",
    "A group whose easy cases are labelled, and whose hard ones are not.",
    "Its recall is off, and every gap with it; an audit of its unlabelled rows shows it.",
)
_PRIORS = Assumption(
    "The class prior of each group is right.",
    "Priors from another year or definition; one prior for groups that differ.",
    "Gaps in this number are off; those in the share flagged are not.",
)
_KNOWN = Assumption(
    "Groups have different rows, and rows are independent.",
    "Several rows of one person, or a person in two groups.",
    "Intervals are too narrow.",
)
_CLUSTERS = Assumption(
    "Rows of different clusters are independent.",
    "A family whose members are patients of their own; the same visits in two files.",
    "Intervals are too narrow.",
)


def gaps_page(result: Sequence[Gaps], *, title: str | None = None) -> str:
    """The whole page as text, with a part for each column."""
    first = result[0]
    return render(
        "gaps.html.j2",
        SCRIPTS,
        {},
        title=title or f"Gaps by {', '.join(gaps.group_by for gaps in result)}",
        parts=[_part(gaps, place) for place, gaps in enumerate(result)],
        metric=title_of(first.metric),
        needs=needs_words(first),
        confidence=f"{first.confidence:.0%}",
        columns=len(result),
        assumes=assumed_words(first),
        assumptions=_assumptions(first),
    )


def _part(gaps: Gaps, place: int) -> dict[str, Any]:
    """One column: what its tables show."""
    shown, left = shown_groups(gaps, MOST_UNTESTED)
    tested = [group.estimate for group in shown if group.estimate.interval is not None]
    axis = Axis.around(end for one in tested for end in ends_of(one.value, one.interval))
    widest = max((max(abs(gap.low), abs(gap.high)) for gap in (*gaps.differences, *gaps.against_rest)), default=0.1)
    reach = math.ceil(10 * widest) / 10 or 0.1
    rest = {id(gap.first): gap for gap in gaps.against_rest}
    together = gaps.together
    return {
        "place": place,
        "group_by": gaps.group_by,
        "verdict": _isolated(gaps),
        "test": equal_words(gaps),
        "heading": heading_of(gaps),
        "axis": axis.ticks,
        "reach": f"{100 * reach:.0f}" if in_points(gaps) else f"{reach:.3g}",
        "in_points": in_points(gaps),
        "whole": None if together is None else {"at": axis.at(together.value), "value": f"{together.value:.3f}"},
        "weighed_by": gaps.rest_weighed_by,
        "groups": [_group(group, axis, rest.get(id(group.name)), reach, gaps) for group in shown],
        "left": left,
        "pairs": [_pair(gap, reach, gaps) for gap in gaps.differences[:MOST_PAIRS]],
        "clear_pairs": sum(gap.is_clear for gap in gaps.differences),
        "in_all": len(gaps.differences),
        "audit": audit_words(gaps),
        "notes": [f"{note[:1].upper()}{note[1:]}." for note in gaps.notes],
        "turns": any(gap.turns_at is not None for gap in gaps.differences),
    }


def _isolated(gaps: Gaps) -> str:
    """The verdict; names that read from right to left keep to themselves."""
    words, lead = verdict_of(gaps), gaps.lead
    if lead is None:
        return words
    for name in dict.fromkeys(shortened(group_title(name), LONGEST_NAME) for name in (lead.first, lead.second)):
        if not name.isascii():
            words = words.replace(name, f"\u2068{name}\u2069", 1)
    return words


def _group(group: GroupRate, axis: Axis, rest: Gap | None, reach: float, gaps: Gaps) -> dict[str, Any]:
    estimate, interval = group.estimate, group.estimate.interval
    return {
        "name": shortened(group.title, LONGEST_TITLE),
        "labelled": f"{group.labelled:,.10g}",
        "value": "undefined" if math.isnan(estimate.value) else f"{estimate.value:.3f}",
        "sorts": "" if math.isnan(estimate.value) else f"{estimate.value:.6g}",
        "ends": "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}",
        "picture": None if interval is None else axis.picture(estimate.value, interval),
        "flagged": "" if math.isnan(group.flagged) else f"{group.flagged:.3f}",
        "flagged_width": "0%" if math.isnan(group.flagged) else f"{100 * group.flagged:.2f}%",
        "rest": None if rest is None else _pair(rest, reach, gaps),
        "untested": group.untested,
    }


def _pair(gap: Gap, reach: float, gaps: Gaps) -> dict[str, Any]:
    scale, digits = (100, 0) if in_points(gaps) else (1, 3)

    def number(value: float) -> str:
        return f"{round(scale * value, digits) + 0:.{digits}f}".replace("-", "−")

    axis = Axis(-reach, reach)
    return {
        "first": shortened(group_title(gap.first), LONGEST_NAME),
        "second": shortened(group_title(gap.second), LONGEST_NAME),
        "value": number(gap.value),
        "sorts": f"{gap.value:.6g}",
        "ends": f"{number(gap.low)} to {number(gap.high)}",
        "is_clear": gap.is_clear,
        "at": axis.at(gap.value),
        "low": axis.at(gap.low),
        "high": axis.at(gap.high),
        "turns_at": "" if gap.turns_at is None else f"{gap.turns_at:.3g}",
    }


def _assumptions(gaps: Gaps) -> tuple[Assumption, ...]:
    facts = METRICS[gaps.metric]
    random = () if facts.counted else (of_labelling(gaps.labelling, _RANDOM),)
    return (*random, *((_PRIORS,) if gaps.needs_prior else ()), _KNOWN if gaps.buckets is None else _CLUSTERS)
