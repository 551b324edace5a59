"""Audits as plain text: the headline, the numbers of the checked rows, the test of labelling, what more rows give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulens.report.audit_summary import (
    NOTHING_ASSUMED,
    RECOVERED,
    AuditRow,
    AuditSummary,
    audit_verdict,
    limits,
    number,
    summarise_audit,
)
from pulens.report.lines import folded, wrapped

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
    """What ``pulens audit read`` prints; recovered numbers and the labelling by score where the reader asked.

    >>> from pulens.audits import from_counts
    >>> print(audit_text(from_counts(rows=[200, 9800], checked=[60, 140], found=[45, 2], flagged=1)).split("\\n")[0])
    Of the rows flagged, 75% (95%: 65 to 83) are truly positive; they are 52% (95%:
    """
    summary = summarise_audit(result, recovered=recovered, more=more)
    blocks = [wrapped(" ".join(audit_verdict(result)), 0), *audit_blocks(summary, explain=explain)]
    lines = [line for block in blocks for line in (*block, "")][:-1]
    return "\n".join([*lines, *folded(result.notices, way, explain=explain)])


def audit_blocks(summary: AuditSummary, *, explain: bool = True) -> list[list[str]]:
    """The part that every text with an audit shares; in short one column, of the numbers to quote."""
    blocks = [[*wrapped(summary.checked, 0), *wrapped(summary.identified, 0)]]
    if explain:
        blocks += [[_header(summary), *(_line(summary, row) for row in summary.rows)]]
    else:
        quoted = [row for row in summary.rows if row.name in IN_SHORT]
        lines = [
            f"  {row.title:<22}{number(row.assuming_nothing):>9}{limits(row.assuming_nothing):>24}" for row in quoted
        ]
        blocks += [[f"{'':<24}{NOTHING_ASSUMED:>33}", *map(str.rstrip, lines)]]
    blocks += [wrapped(summary.labelling, 0)]
    if explain and summary.curve:
        title = wrapped(f"{summary.curve_words}, highest scores first:", 0)
        blocks += [[*title, *(f"  {name:<22}{rate}" for name, rate in summary.curve)]]
    return [*blocks, wrapped(summary.more, 0)] if summary.more else blocks


def _header(summary: AuditSummary) -> str:
    return f"{'':<24}{NOTHING_ASSUMED:>31}" + (f"{RECOVERED:>11}" if summary.has_recovered else "")


def _line(summary: AuditSummary, row: AuditRow) -> str:
    words = f"  {row.title:<22}{number(row.assuming_nothing):>9}{limits(row.assuming_nothing):>22}"
    return (words + (f"{number(row.recovered):>11}" if summary.has_recovered else "")).rstrip()
