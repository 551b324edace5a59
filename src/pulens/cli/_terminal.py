"""Evaluations on a terminal; colours go away by themselves when the output is not one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from pulens.report.lines import pasteable, titled
from pulens.report.summary import summarise
from pulens.report.text import answer_lines

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation
    from pulens.evaluation.top import Top

STYLES: dict[str, dict[str, Any]] = {
    "bold": {"bold": True},
    "dim": {"dim": True},
    "cyan": {"fg": "cyan"},
    "NOTE": {"dim": True},
    "WARNING": {"fg": "yellow"},
    "SERIOUS": {"fg": "red", "bold": True},
}


def show_evaluation(
    evaluation: Evaluation,
    typed: Sequence[tuple[str, ...]] = (),
    *,
    model: str = "",
    first: str = "",
    tops: Sequence[Top] = (),
    more: Sequence[tuple[str, str]] | None = None,
    all_metrics: bool = False,
    explain: bool = False,
) -> None:
    """The answer as :func:`pulens.report.text.answer_lines` has it; ``typed`` is the command, for the next step.

    ``first`` is a sentence about what the next step needs before it can be taken.
    """
    summary = summarise(evaluation, "command")
    if first and summary.next_steps:
        step, *steps = summary.next_steps
        summary = replace(summary, next_steps=(replace(step, sentence=f"{first} {step.sentence}"), *steps))
    others = "--explain, --html report.html" if all_metrics else "--explain, --all-metrics, --html report.html"
    shown = (("more", others),) if more is None else more
    last = [] if explain else [line for title, words in shown for line in titled(title, words)]
    lines = answer_lines(
        summary,
        lambda step: pasteable(typed_next) if (typed_next := step.shell(typed)) else [],
        model=model,
        tops=tops,
        more=last,
        all_metrics=all_metrics,
        explain=explain,
    )
    colour = False if os.environ.get("NO_COLOR") else None  # None: where the output is a terminal
    for line in lines:
        click.secho(line.text, color=colour, **STYLES.get(line.style, {}))
