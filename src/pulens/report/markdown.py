"""Evaluations as Markdown, for issues, wikis and model cards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pulens.report.audit_summary import (
    NOTHING_ASSUMED,
    RECOVERED,
    AuditSummary,
    limits,
    number,
)
from pulens.report.cells import cell_header, cell_rows
from pulens.report.summary import Row, Summary, summarise
from pulens.report.top import top_rows

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation
    from pulens.evaluation.top import Top
    from pulens.strata import CellTable


def evaluation_markdown(
    evaluation: Evaluation,
    *,
    title: str | None = None,
    typed: Sequence[tuple[str, ...]] | None = None,
    tops: Sequence[Top] = (),
) -> str:
    """Verdict, warnings, two tables, next steps and the assumptions.

    ``typed`` is the command that the evaluation came from, if it came from one: next steps then show commands. Places
    of the list, ``tops``, come first.

    >>> from pulens import evaluate
    >>> text = evaluation_markdown(evaluate([1, 0, 0], [0.9, 0.4, 0.1], class_prior=0.4), title="a|b")
    >>> text.splitlines()[0]
    '# a\\\\|b'
    """
    summary = summarise(evaluation)
    lines = [f"# {plain(title or 'Evaluation')}", ""]
    for top in tops:
        lines += _top(top)
    lines += [*(f"{plain(sentence)}  " for sentence in summary.verdict), ""]
    lines += [
        f"- Rows: {plain(summary.counts)}",
        *([f"- Clusters: {plain(summary.clusters)}"] if summary.clusters else []),
        f"- Prior: {plain(summary.class_prior)}",
        f"- Population: {plain(summary.population)}",
        *([f"- Scenario: {plain(summary.scenario)}"] if summary.scenario else []),
    ]
    for notice in summary.notices:
        lines += ["", f"> **{notice.severity.name.capitalize()}** {plain(str(notice))}"]
    if summary.audit is not None:
        lines += ["", *_audit(summary.audit)]
    lines += ["", *_table("ranking", summary, summary.ranking)]
    lines += [
        "",
        *_table(summary.threshold_title, summary, summary.at_threshold),
    ]
    if summary.cells is not None:
        lines += ["", *_cells(summary.cells)]
    if summary.legend:
        lines += ["", plain(summary.legend)]
    lines += _next(summary, typed)
    lines += ["", "## Assumptions", "", "| assumption | broken by | then |", "| --- | --- | --- |"]
    lines += [
        f"| {plain(result.statement)} | {plain(result.broken_by)} | {plain(result.effect)} |"
        for result in summary.assumptions
    ]
    return "\n".join(lines)


def plain(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no HTML, no line breaks.

    >>> plain("<b>*x*</b>")
    '\\\\<b\\\\>\\\\*x\\\\*\\\\</b\\\\>'
    """
    return re.sub(r"([\\`*_\[\]<>|#&~])", r"\\\1", " ".join(text.split()))


def _next(summary: Summary, typed: Sequence[tuple[str, ...]] | None) -> list[str]:
    lines = ["", "## Next", ""] if summary.next_steps else []
    for place, step in enumerate(summary.next_steps, 1):
        lines.append(f"{place}. {plain(step.sentence)}")
        command = step.call if typed is None else step.shell(typed)
        if command:
            lines += ["", f"   ```{'python' if typed is None else 'console'}", f"   {command}", "   ```", ""]
    return lines


def _audit(audit: AuditSummary) -> list[str]:
    """Numbers beside the recovered ones, what was checked, and what the answers say about the labels."""
    columns = [NOTHING_ASSUMED, "interval", RECOVERED]
    lines = ["## What the checked rows prove", "", plain(audit.checked), ""]
    lines += [f"| metric | {' | '.join(plain(name) for name in columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    for row in audit.rows:
        cells = [number(row.assuming_nothing), limits(row.assuming_nothing)]
        lines.append(f"| {' | '.join(plain(cell) for cell in (row.title, *cells, number(row.recovered)))} |")
    lines += ["", plain(audit.labelling)]
    lines += ["", plain(audit.identified)] if audit.identified else []
    if audit.curve:
        lines += ["", f"{plain(audit.curve_words)}, highest scores first:", ""]
        lines += [f"- {plain(name)}: {plain(rate)}" for name, rate in audit.curve]
    return lines


def _top(top: Top) -> list[str]:
    """The first rows of the list: what to expect of them, and every measure."""
    rows = top_rows(top)
    lines = [f"**{plain(top.sentence)}**", ""]
    lines += [f"| the first {top.k:,.10g} of {top.of:,.10g} rows | value | interval |", "| --- | ---: | ---: |"]
    lines += [f"| {plain(row['title'])} | {row['value']} | {row['interval']} |" for row in rows]
    return [*lines, "", *([f"> **Warning** {plain(top.few_words.capitalize())}", ""] if top.few_words else [])]


def _cells(table: CellTable) -> list[str]:
    """The cells within which labels are random."""
    header = cell_header(table)
    lines = [f"## Labels random within {plain(table.words)}", "", f"| {' | '.join(map(plain, header))} |"]
    lines += [f"| --- |{' ---: |' * (len(header) - 1)}"]
    lines += [f"| {' | '.join(map(plain, cells))} |" for cells in cell_rows(table)]
    return [*lines, "", *(f"{plain(sentence)}  " for sentence in table.sentences)]


def _table(title: str, summary: Summary, rows: tuple[Row, ...]) -> list[str]:
    interval = [summary.interval_name] if summary.interval_name else []
    header = [plain(title), "recovered", *interval, "uncorrected", "meaning"]
    lines = [f"| {' | '.join(header)} |", f"| --- |{' ---: |' * (len(header) - 2)} --- |"]
    for row in rows:
        cells = [row.title, row.marked_value, *([row.interval] if interval else []), row.naive, row.meaning]
        lines.append(f"| {' | '.join(plain(cell) for cell in cells)} |")
    return lines
