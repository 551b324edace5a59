"""Evaluations as Markdown, for issues, wikis and model cards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pulens.report.summary import Row, Summary, summarise

if TYPE_CHECKING:
    from pulens.doors.evaluate import Evaluation


def evaluation_markdown(
    evaluation: Evaluation, *, title: str | None = None, typed: Sequence[tuple[str, ...]] | None = None
) -> str:
    """Verdict, warnings, two tables, next steps and the assumptions.

    ``typed`` is the command that the evaluation came from, if it came from one: next steps then show commands.

    >>> from pulens import evaluate
    >>> text = evaluation_markdown(evaluate([1, 0, 0], [0.9, 0.4, 0.1], class_prior=0.4), title="a|b")
    >>> text.splitlines()[0]
    '# a\\\\|b'
    """
    summary = summarise(evaluation)
    lines = [f"# {plain(title or 'Evaluation')}", "", *(f"{plain(sentence)}  " for sentence in summary.verdict), ""]
    lines += [
        f"- Rows: {plain(summary.counts)}",
        *([f"- Clusters: {plain(summary.clusters)}"] if summary.clusters else []),
        f"- Prior: {plain(summary.class_prior)}",
        f"- Speaks of {plain(summary.population)}",
        *([f"- Scenario: {plain(summary.scenario)}"] if summary.scenario else []),
    ]
    for notice in summary.notices:
        lines += ["", f"> **{notice.severity.name.capitalize()}** {plain(str(notice))}"]
    lines += ["", *_table("ranking", summary, summary.ranking)]
    lines += [
        "",
        *_table(summary.threshold_title, summary, summary.at_threshold),
    ]
    if summary.legend:
        lines += ["", plain(summary.legend)]
    lines += _next(summary, typed)
    lines += ["", "## What is taken for granted", "", "| assumption | broken by | then |", "| --- | --- | --- |"]
    lines += [
        f"| {plain(found.statement)} | {plain(found.broken_by)} | {plain(found.effect)} |"
        for found in summary.assumptions
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
    for number, step in enumerate(summary.next_steps, 1):
        lines.append(f"{number}. {plain(step.sentence)}")
        command = step.call if typed is None else step.shell(typed)
        if command:
            lines += ["", f"   ```{'python' if typed is None else 'console'}", f"   {command}", "   ```", ""]
    return lines


def _table(title: str, summary: Summary, rows: tuple[Row, ...]) -> list[str]:
    interval = [summary.interval_name] if summary.interval_name else []
    header = [plain(title), "recovered", *interval, "uncorrected", "meaning"]
    lines = [f"| {' | '.join(header)} |", f"| --- |{' ---: |' * (len(header) - 2)} --- |"]
    for row in rows:
        cells = [row.title, row.marked_value, *([row.interval] if interval else []), row.naive, row.meaning]
        lines.append(f"| {' | '.join(plain(cell) for cell in cells)} |")
    return lines
