"""Audits as plain text: the headline, the numbers of the checked rows, the test of labelling, what more rows give."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from pulens.report.audit_summary import (
    IF_RANDOM,
    NOTHING_ASSUMED,
    RECOVERED,
    AuditRow,
    AuditSummary,
    audit_verdict,
    limits,
    number,
    summarise_audit,
)
from pulens.report.lines import WIDTH, folded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pulens.audits import AuditResult
    from pulens.estimate import Estimate

IN_SHORT = ("precision", "recall", "f1", "class_prior", "roc_auc")


def audit_text(
    result: AuditResult,
    *,
    recovered: Mapping[str, Estimate] | None = None,
    more: str = "",
    way: str = "python",
    explain: bool = False,
) -> str:
    """What ``pulens audit read`` prints; the other columns and the labelling by score where the reader asked.

    >>> from pulens.audits import from_counts
    >>> print(audit_text(from_counts(rows=[200, 9800], checked=[60, 140], found=[45, 2], flagged=1)).split("\\n")[0])
    Of the rows flagged, 75% (95%: 65 to 83) are truly positive; they are 52% (95%:
    """
    summary = summarise_audit(result, recovered=recovered, more=more)
    lines = [line for sentence in audit_verdict(result) for line in textwrap.wrap(sentence, WIDTH)]
    lines += ["", *audit_block(summary, explain=explain)]
    return "\n".join([*lines, *folded(result.notices, way, explain=explain)])


def audit_block(summary: AuditSummary, *, explain: bool = True) -> list[str]:
    """The part that every text with an audit shares; in short one column, of the numbers to quote."""
    lines = textwrap.wrap(summary.checked, WIDTH)
    if summary.identified:
        lines += textwrap.wrap(summary.identified, WIDTH)
    if not explain:
        lines += ["", f"{'':<24}{NOTHING_ASSUMED:>33}"]
        lines += [
            f"  {row.title:<22}{number(row.assuming_nothing):>9}{limits(row.assuming_nothing):>24}".rstrip()
            for row in summary.rows
            if row.name in IN_SHORT
        ]
        lines += ["", *textwrap.wrap(summary.labelling, WIDTH)]
        return [*lines, *(["", *textwrap.wrap(summary.more, WIDTH)] if summary.more else [])]
    two = summary.has_if_random and not summary.contradicted
    lines += ["", _header(summary, two), *(_line(summary, row, two) for row in summary.rows)]
    lines += ["", *textwrap.wrap(summary.labelling, WIDTH)]
    if summary.has_if_random and summary.contradicted:
        lines += ["", f"{IF_RANDOM}: {summary.contradicted}"]
        lines += [
            f"  {row.title:<22}{number(row.if_random):>9}{limits(row.if_random):>24}"
            for row in summary.rows
            if row.if_random is not None
        ]
    if summary.curve:
        lines += ["", *textwrap.wrap(f"{summary.curve_words}, highest scores first:", WIDTH)]
        lines += [f"  {name:<22}{rate}" for name, rate in summary.curve]
    if summary.more:
        lines += ["", *textwrap.wrap(summary.more, WIDTH)]
    return lines


def _header(summary: AuditSummary, two: bool) -> str:
    words = f"{'':<24}{NOTHING_ASSUMED:>31}"
    if two:
        words += f"{IF_RANDOM:>24}"
    return words + (f"{RECOVERED:>11}" if summary.has_recovered else "")


def _line(summary: AuditSummary, row: AuditRow, two: bool) -> str:
    words = f"  {row.title:<22}{number(row.assuming_nothing):>9}{limits(row.assuming_nothing):>22}"
    if two:
        words += f"{number(row.if_random):>7}{limits(row.if_random):>17}"
    return (words + (f"{number(row.recovered):>11}" if summary.has_recovered else "")).rstrip()
