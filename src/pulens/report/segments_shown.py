"""Which segments a table shows where there are too many to read, and what is said of those it leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pulens.notice import Notice, worst_first
from pulens.report.words import title_of as metric_title

if TYPE_CHECKING:
    from pulens.groups.segments import Evaluations

MOST_IN_FULL = 100  # segments that a table for reading shows one and all
AT_EITHER_END = 10  # of more: those with the lowest and highest value
WITH_WARNINGS = 10  # and those with the worst warnings
MOST_SKIPPED = 10  # reasons that are told one by one
NAMED = 4  # segments named in a warning that many share


class ShownSegments(NamedTuple):
    """Segments of a table in the order in which it shows them, and words on those that are left out."""

    segments: list[Any]
    words: str


class About(NamedTuple):
    """A kind of warning, as it was first met, and the segments it is about."""

    notice: Notice
    many: int
    names: list[Any]  # the first few


def shown_segments(result: Evaluations) -> ShownSegments:
    """All of up to a hundred segments; of more the lowest, the highest and those with the worst warnings."""
    many = len(result)
    if many <= MOST_IN_FULL:
        return ShownSegments(list(result), "")
    metric = result.metrics[0]
    ordered = by_value(result, metric)
    lowest, highest = ordered[:AT_EITHER_END], ordered[-AT_EITHER_END:]
    kept = set(map(id, (*lowest, *highest)))
    warned = [segment for segment in _most_alarming(result) if id(segment) not in kept]
    title = metric_title(metric)
    words = (
        f"{many:,} segments: the {AT_EITHER_END} with the lowest {title}, the {AT_EITHER_END} with the highest"
        + (f" and {len(warned)} with the worst warnings" if warned else "")
        + ", in this order. All of them are in the JSON (--json FILE; in Python found.to_dict(), found[segment])."
    )
    return ShownSegments([*lowest, *highest, *warned], words)


def by_value(result: Evaluations, metric: str) -> list[Any]:
    """Segments from the lowest to the highest value of a metric; those without one come last."""
    values = result.segments.column(metric)
    order = np.argsort(values, kind="stable")  # nan comes last
    names = list(result)
    return [names[place] for place in order.tolist()]


def extremes(result: Evaluations, metric: str) -> tuple[Any, Any] | None:
    """The segments with the lowest and the highest value of a metric; ``None`` where it is undefined in all."""
    values = result.segments.column(metric)
    defined = np.flatnonzero(~np.isnan(values))
    if not defined.size:
        return None
    order = defined[np.argsort(values[defined], kind="stable")]
    names = list(result)
    return names[order[0]], names[order[-1]]


def _most_alarming(result: Evaluations) -> list[Any]:
    about = [one for one in warnings_of(result) if one.many < len(result)]  # what holds for all tells none apart
    names = [name for one in about for name in one.names]
    return list({id(name): name for name in names}.values())[:WITH_WARNINGS]


def warnings_of(result: Evaluations) -> list[About]:
    """Each kind of warning once, worst first."""
    first: dict[str, Notice] = {}
    many: dict[str, int] = {}
    names: dict[str, list[Any]] = {}
    for segment, notices in result.segments.alarms():
        for notice in notices:
            first.setdefault(notice.code, notice)
            many[notice.code] = many.get(notice.code, 0) + 1
            told = names.setdefault(notice.code, [])
            if len(told) < NAMED:
                told.append(segment)
    return [About(notice, many[notice.code], names[notice.code]) for notice in worst_first(first.values())]
