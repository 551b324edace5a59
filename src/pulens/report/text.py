"""Evaluations as plain text, for terminals and logs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pulens.notice import Notice
from pulens.report.audit_text import audit_block
from pulens.report.cells import shown_cells
from pulens.report.summary import Row, Summary, summarise

if TYPE_CHECKING:
    from pulens.doors.evaluate import Evaluation

WIDTH = 80
AGAINST = "labelling-not-random"


def evaluation_text(evaluation: Evaluation) -> str:
    """The verdict, a table of recovered and uncorrected numbers, the warnings, worst first, and what to do next."""
    summary = summarise(evaluation, "python")
    lines = [line for sentence in summary.verdict for line in textwrap.wrap(sentence, WIDTH)]
    lines.append("")
    lines += [*_head(summary), *_audit(summary)]
    lines += [
        "",
        _header(summary, "ranking"),
        *(_line(summary, row) for row in summary.ranking),
        "",
        _header(summary, f"at threshold {summary.threshold}"),
        *(_line(summary, row) for row in summary.at_threshold),
    ]
    lines += _cells(summary)
    if summary.legend:
        lines += ["", *textwrap.wrap(summary.legend, WIDTH, subsequent_indent="  ")]
    above = AGAINST if summary.audit is not None else ""  # said before the numbers that it speaks of
    lines += _notices(notice for notice in summary.notices if notice.code != above)
    return "\n".join([*lines, *_next(summary)])


def _head(summary: Summary) -> list[str]:
    lines = []
    for title, text in (
        ("rows", summary.counts),
        *([("clusters", summary.clusters)] if summary.clusters else []),
        ("prior", summary.class_prior),
        ("speaks of", summary.population),
        *([("scenario", summary.scenario)] if summary.scenario else []),
        ("threshold", f"{summary.threshold} ({summary.threshold_choice})"),
    ):
        lines += textwrap.wrap(f"{title:<13}{text}", WIDTH, subsequent_indent=" " * 13)
    return lines


def _audit(summary: Summary) -> list[str]:
    """What checked rows prove, and what they say against the numbers that follow."""
    if summary.audit is None:
        return []
    against = _notices(notice for notice in summary.notices if notice.code == AGAINST)
    return ["", *audit_block(summary.audit), *against]


def _notices(notices: Iterable[Notice]) -> list[str]:
    return [line for notice in notices for line in _notice(notice)]


def _notice(notice: Notice) -> list[str]:
    return ["", *textwrap.wrap(f"{notice.severity.name.lower()}: {notice}", WIDTH, subsequent_indent="  ")]


def _cells(summary: Summary) -> list[str]:
    """The cells within which labels are random, and what they say together."""
    if summary.cells is None:
        return []
    lines = ["", *shown_cells(summary.cells), ""]
    for sentence in summary.cells.sentences:
        lines += textwrap.wrap(sentence, WIDTH)
    return lines


def _next(summary: Summary) -> list[str]:
    lines = ["", "next"] if summary.next_steps else []
    for number, step in enumerate(summary.next_steps, 1):
        lines += textwrap.wrap(f"{number}. {step.sentence}", WIDTH, initial_indent="  ", subsequent_indent="     ")
        lines.append(f"     {step.call}")
    return lines


def _header(summary: Summary, title: str) -> str:
    interval = f"{summary.interval_name:>18}" if summary.interval_name else ""
    return f"{title:<38}{'recovered':>10}{interval}{'uncorrected':>13}"


def _line(summary: Summary, row: Row) -> str:
    interval = f"{row.interval:>18}" if summary.interval_name else ""
    return f"  {row.name:<36}{row.marked_value:>10}{interval}{row.naive:>13}".rstrip()
