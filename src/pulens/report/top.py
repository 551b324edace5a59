"""The first rows of a list in a report: a sentence, a table, and what the page needs to follow its sliders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pulens.metrics import leading
from pulens.report.lines import titled, wrapped
from pulens.report.summary import MARK
from pulens.report.words import percent, title_of

if TYPE_CHECKING:
    from pulens.estimate import Estimate
    from pulens.evaluation.top import Top, TopOfQueries


def top_rows(top: Top) -> list[dict[str, str]]:
    """A row for each measure: those that people ask for first in front."""
    first = leading("top")
    names = sorted(top, key=lambda name: first.index(name) if name in first else len(first))
    return [
        {"name": name, "title": title_of(name), "value": _value(top[name]), "interval": _interval(top[name])}
        for name in names
    ]


def _value(result: Estimate) -> str:
    if result.withheld_because:
        return MARK
    return "undefined" if result.undefined_because else f"{result.value:.3f}"


def _interval(result: Estimate) -> str:
    interval = result.interval
    return "" if interval is None or interval.width == 0 else f"{interval.low:.3f} to {interval.high:.3f}"


def queries_text(top: TopOfQueries) -> str:
    """The first rows of every query: how many queries there are, then a line for each measure."""
    each = f"The first {top.k:,.10g} rows" if top.k % 1 == 0 else f"The first rows ({top.k:,.3g} on average)"
    head = f"{each} of each of {top.queries:,} queries by {top.per} ({top.share:.2%} of {top.of:,.10g} rows)"
    short = f"; {top.short:,} have fewer rows than that, and missing ones count against precision" if top.short else ""
    left = f"; {top.left_out:,} more have labelled rows but no list, and were left out" if top.left_out else ""
    lines = wrapped(f"{head}; {top.with_labels:,} have labelled rows{short}{left}.", 0)
    for name, result in top.estimates.items():
        if result.undefined_because:
            lines += wrapped(f"  {title_of(name)}: unknown, {result.undefined_because}", 4)
        else:
            lines.append(f"  {title_of(name):<24}{_value(result):>8}{_interval(result):>18}".rstrip())
    return "\n".join([*lines, *titled("assumes", "random labels")])


def top_places(tops: Sequence[Top]) -> list[dict[str, Any]]:
    """What the page's template shows of each place of the list."""
    return [
        {
            "title": f"The first {top.k:,.10g} of {top.of:,.10g} rows",
            "sentence": top.sentence,
            "bars": [_positive(top), _bar("of all positives", top["recall_at_k"])],
            "rows": top_rows(top),
            "few": top.few_words,
        }
        for top in tops
    ]


def _positive(top: Top) -> tuple[str, str, str]:
    """The share of positives among the rows; only its ends where the value is where it was cut."""
    title = "positive among them"
    if top.hits is None or top.hits.low is None or top.hits.high is None or not top.is_cut:
        return _bar(title, top["precision_at_k"])
    return title, "0", f"{percent(top.hits.low / top.k)[:-1]} to {percent(top.hits.high / top.k)}"


def _bar(title: str, result: Estimate) -> tuple[str, str, str]:
    """A share as a bar: its name, its length, and the share in words; no length where it is not known."""
    if result.withheld_because or result.undefined_because:
        return title, "0", _value(result)
    return title, f"{100 * result.value:.1f}%", percent(result.value)


def ladder_rows(steps: Sequence[Top]) -> list[dict[str, str]]:
    """A row for each number of rows to check: how many positives to expect, and which share of all they are."""
    result = []
    for step in steps:
        interval = "" if step.hits is None or step.hits.low is None else _reach(step.hits.low, step.hits.high)
        is_open = step.hits is not None and math.isnan(step.hits.expected)
        hits = "unknown" if step.hits is None else MARK if is_open else f"{step.hits.expected:,.0f}"
        result.append(
            {
                "k": f"{step.k:,.10g}",
                "hits": hits,
                "interval": interval,
                "recall": _percent(step["recall_at_k"]),
            }
        )
    return result


def top_lines(tops: Sequence[Top]) -> list[str]:
    """The same rows for a terminal, and where a number rests on a handful of labelled rows."""
    if not tops:
        return []
    lines = [f"{'first rows':>12}{'positives expected':>22}{'interval':>18}{'share of all positives':>26}"]
    for top, row in zip(tops, ladder_rows(tops), strict=True):
        lines.append(f"{row['k']:>12}{row['hits']:>22}{row['interval']:>18}{row['recall']:>26}")
        lines += wrapped(f"{'':<6}{top.few_words}", 6) if top.few_words else []
    return lines


def _reach(low: float, high: float | None) -> str:
    ends = f"{low:,.0f}", f"{high:,.0f}"
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _percent(result: Estimate) -> str:
    return "undefined" if result.undefined_because else percent(result.value)
