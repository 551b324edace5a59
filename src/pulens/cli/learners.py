"""pulens learners"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pulens.cli._options import offers, written_options
from pulens.cli.fit import POSITIVE, SCENARIO

if TYPE_CHECKING:
    from pulens.learning.learners.advice.advising import Advice


@click.group(name="learners")
def command() -> None:
    """Which learners there are for your data.

    \b
    Example:
      pulens learners advise claims.csv --class-prior 0.1
    """


@command.command(name="advise")
@click.argument("file")
@offers(
    "label* positive* kind* class_prior* scenario",
    positive=POSITIVE,
    kind={
        "type": click.Choice(["table", "text", "picture"]),
        "default": "table",
        "show_default": True,
        "help": "What the features are: columns of a table, vectors of texts, or pixels.",
    },
    class_prior={
        "default": "auto",
        "show_default": True,
        "help": "Share of positives in the population if you know it, or a range; auto: a learner will have to "
        "estimate it.",
    },
    scenario=SCENARIO,
)
@written_options
@offers("json_path*")
def advise(file: str, **given: Any) -> None:
    """Name three learners to try on the rows of FILE, and what each is expected to lose against the best.

    Of FILE only the column of labels is read. The answer comes from archived runs on data sets with about as many rows
    and labels, and says how many; --json names them.

    \b
    Examples:
      pulens learners advise claims.csv --class-prior 0.1
      pulens learners advise vectors.parquet --label status --positive confirmed --kind text --json -
    """
    from pulens.cli._write import check_targets, to_json, write_text
    from pulens.inputs.columns import LabelCoding
    from pulens.inputs.features import read_labels
    from pulens.learning.learners import advise as ask
    from pulens.learning.learners.base.labels import refuse_known_negatives

    json_path = given["json_path"]
    check_targets({"--json": json_path}, file)
    codes = read_labels(
        file,
        given["label"],
        coding=LabelCoding(given["positive"] or None),
        format=given["format"],
        delimiter=given["delimiter"],
    )
    refuse_known_negatives(codes, "advise")
    result = ask(codes, kind=given["kind"], class_prior=given["class_prior"], scenario=given["scenario"])
    if json_path is not None:
        write_text(json_path, to_json(result.to_dict()))
    if json_path != "-":
        click.echo("\n".join([result._text(), *_next(result, given)]))


def _next(result: Advice, given: dict[str, Any]) -> list[str]:
    """The first learner on this very table, where it can learn from columns of one."""
    from pulens.cli._columns import check_method
    from pulens.cli._typed import typed_command
    from pulens.errors import PulensError
    from pulens.report.lines import pasteable
    from pulens.report.next_steps import another_command

    learner = result.suggestions[0].learner
    try:
        check_method(learner)
    except PulensError:
        return []
    if given["kind"] != "table":
        return []
    typed = typed_command(click.get_current_context())
    known = next((words for words in typed[3:] if words[0] == "--class-prior"), ())
    return ["", "next:", *pasteable(another_command(typed, ("fit",), (*known, "--learner", learner)))]
