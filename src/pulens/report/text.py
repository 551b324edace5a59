"""Evaluations as plain text, for terminals and logs."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from pulens.report.summary import Row, Summary, summarise

if TYPE_CHECKING:
    from pulens.evaluation import Evaluation


def evaluation_text(evaluation: Evaluation) -> str:
    """A table of recovered and uncorrected numbers, then the warnings, worst first."""
    summary = summarise(evaluation, "python")
    lines = [
        f"rows         {summary.counts}",
        f"prior        {summary.class_prior}",
        f"speaks of    {summary.population}",
        *_scenario(summary),
        "",
        _header(summary, "ranking"),
        *(_line(summary, row) for row in summary.ranking),
        "",
        _header(summary, f"at threshold {summary.threshold}"),
        *(_line(summary, row) for row in summary.at_threshold),
    ]
    for notice in summary.notices:
        lines += [
            "",
            *textwrap.wrap(f"{notice.severity.name.lower()}: {notice}", 100, subsequent_indent="  "),
        ]
    return "\n".join(lines)


def _scenario(summary: Summary) -> list[str]:
    if not summary.scenario:
        return []
    return textwrap.wrap(summary.scenario, 100, initial_indent="scenario     ", subsequent_indent=" " * 13)


def _header(summary: Summary, title: str) -> str:
    interval = f"{summary.interval_name:>18}" if summary.interval_name else ""
    return f"{title:<38}{'recovered':>10}{interval}{'uncorrected':>13}"


def _line(summary: Summary, row: Row) -> str:
    interval = f"{row.interval:>18}" if summary.interval_name else ""
    return f"  {row.name:<36}{row.value:>10}{interval}{row.naive:>13}".rstrip()
