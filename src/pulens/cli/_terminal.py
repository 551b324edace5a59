"""Evaluations on a terminal; colours go away by themselves when the output is not one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pulens.report.lines import pasteable, titled
from pulens.report.summary import summarise
from pulens.report.text import answer_lines

if TYPE_CHECKING:
    from rich.console import Console

    from pulens.evaluation.evaluate import Evaluation
    from pulens.evaluation.top import Top

COLOURS = {"NOTE": "dim", "WARNING": "yellow", "SERIOUS": "bold red"}


def show_evaluation(
    evaluation: Evaluation,
    console: Console,
    typed: Sequence[tuple[str, ...]] = (),
    *,
    model: str = "",
    tops: Sequence[Top] = (),
    more: Sequence[tuple[str, str]] = (("more", "--explain, --all-metrics, --html report.html"),),
    all_metrics: bool = False,
    explain: bool = False,
) -> None:
    """The answer as :func:`pulens.report.text.answer_lines` has it; ``typed`` is the command, for the next step."""
    summary = summarise(evaluation, "command")
    last = [] if explain else [line for title, words in more for line in titled(title, words)]
    lines = answer_lines(
        summary,
        lambda step: pasteable(typed_next) if (typed_next := step.shell(typed)) else [],
        model=model,
        tops=tops,
        more=last,
        all_metrics=all_metrics,
        explain=explain,
    )
    for line in lines:
        style = COLOURS.get(line.style, line.style)
        console.print(line.text, style=style or None, highlight=False, markup=False, soft_wrap=True)
