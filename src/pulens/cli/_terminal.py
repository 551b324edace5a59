"""Evaluations on a terminal; colours go away by themselves when the output is not one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pulens.report.summary import summarise
from pulens.report.text import StyledLine, answer_lines

if TYPE_CHECKING:
    from rich.console import Console

    from pulens.doors.evaluate import Evaluation

COLOURS = {"NOTE": "dim", "WARNING": "yellow", "SERIOUS": "bold red"}


def show_evaluation(
    evaluation: Evaluation,
    console: Console,
    typed: Sequence[tuple[str, ...]] = (),
    *,
    all_metrics: bool = False,
    explain: bool = False,
) -> None:
    """The answer as :func:`pulens.report.text.answer_lines` has it; ``typed`` is the command, for the next step."""
    summary = summarise(evaluation, "command")
    lines = answer_lines(summary, lambda step: step.shell(typed), all_metrics=all_metrics, explain=explain)
    if not explain:
        lines.append(StyledLine("more       --explain, --all-metrics, --html report.html", "dim"))
    for line in lines:
        style = COLOURS.get(line.style, line.style)
        console.print(line.text, style=style or None, highlight=False, markup=False, soft_wrap=True)
