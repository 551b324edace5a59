"""What every command's help and completion share: the options that people use first, the rest on request.

Options are declared in the commands; which group one belongs to, and what a shell may offer for it, follows from its
name, so a command gets both by using the names that the others use.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import click

from pulens.cli._complete import complete_column, complete_estimator, complete_label_value, complete_metric

ALL = "pulens.help-all"  # in a context's meta: every option is shown
OTHERS = "Other options"
#: Options by what they are about, in the order in which a person meets them; the same in every command.
_GROUPS = {
    "Columns": (
        "score label target positive negative unlabelled weight cluster id keep feature drop category missing "
        "date time by reference_until timezone confirmed_at per"
    ),
    "Assumptions": (
        "class_prior unlabelled_prior scenario labelling label_noise within split cell_prior noise labels_lag "
        "scores_are positives label_frequency labelled mechanism cost_miss cost_alarm cost_flag benefit_hit "
        "cost_ratio capacity volume capacity_certainty recall_at_least precision_at_least"
    ),
    "Checked rows": (
        "audit combine reviews reviewed_above reviewed_below_share plan yes no second reviewer_errors source "
        "allow_changed"
    ),
    "Groups": "group_by gaps segment_prior class_prior_column same_prior control segment",
    "Result": (
        "threshold metric all_metrics explain top goal budget width learner method all binning bins fit "
        "choose sensitivity bounds at interval anytime set confidence"
    ),
    "Output": (
        "out scores column all_columns plot html markdown json csv latex summary sql truth validation test "
        "state show_scores quiet"
    ),
    "Reading files": "format delimiter decimal thousands encoding sheet table where",
    "Advanced": (
        "redraws seed folds worlds tolerance alpha life backbone standardise device validation_share "
        "test_share rejudge accept because"
    ),
}
GROUPS = {title: names.split() for title, names in _GROUPS.items()}
MOST_EXAMPLES = 3  # in the short help
EXAMPLE = 78  # columns of an example's line, which help moves in by two more
COLUMNS = (
    *("score", "label", "target", "weight", "feature", "drop", "id", "keep", "time", "confirmed_at", "group_by"),
    *("cluster", "within", "per", "class_prior_column"),
)
ESTIMATORS = ("class_prior", "unlabelled_prior")
METRICS = ("metric", "gaps")
LABEL_VALUES = ("positive", "negative", "unlabelled")


def dressed(command: click.Command) -> click.Command:
    """The command, its options grouped in help and completed in shells; of a group, all of its commands."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            dressed(one)
        _method(command, "format_help_text", partial(_write_text, command))
        return command
    if hasattr(command, "is_dressed"):
        return command
    _method(command, "format_options", partial(_write_groups, command))
    _method(command, "format_help_text", partial(_write_text, command))
    _method(command, "invoke", partial(_invoke, command, command.invoke))
    _method(command, "is_dressed", True)
    for option in command.params:
        _complete(command, option)
    if _hidden(command):
        command.params.append(_help_all())
    return command


def _method(command: click.Command, name: str, method: Any) -> None:
    setattr(command, name, method)  # of this one command


def _invoke(command: click.Command, invoke: Any, ctx: click.Context) -> Any:
    """Run the command once a table's writing is known: what the user did not say is read off its first lines."""
    if "delimiter" not in ctx.params:
        return invoke(ctx)
    from pulens.cli._detected import detect
    from pulens.errors import PulensError

    lines = list(detect(ctx.params))
    try:
        return invoke(ctx)
    except (PulensError, click.ClickException):  # which leaves one message, about what is wrong
        lines.clear()
        raise
    finally:
        for line in lines:
            click.echo(f"pulens: {line}", err=True)


def _help_all() -> click.Option:
    def show(ctx: click.Context, _: click.Parameter, given: bool) -> None:
        if given and not ctx.resilient_parsing:
            ctx.meta[ALL] = True
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    words = "Show every option and example."
    return click.Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=show, help=words)


def _complete(command: click.Command, option: click.Parameter) -> None:
    if option.param_type_name == "argument" or getattr(option, "is_flag", False):
        return
    if option._custom_shell_complete is not None or isinstance(option.type, click.Choice | click.types.IntParamType):
        return
    for names, complete in (
        (COLUMNS, complete_column),
        (ESTIMATORS, complete_estimator),
        (METRICS, complete_metric),
        (LABEL_VALUES, complete_label_value),
        (("method",) if command.name == "prior" else (), complete_estimator),
    ):
        if name_of(option) in names:
            option._custom_shell_complete = complete


def _hidden(command: click.Command) -> int:
    """How many options the short help leaves out."""
    shown = _common(command)
    options = [option for option in command.params if option.param_type_name != "argument"]
    return sum(option.name not in shown and not getattr(option, "hidden", False) for option in options if shown)


def _common(command: click.Command) -> frozenset[str]:
    """The arguments whose options the short help shows; none where it shows every one."""
    shown = getattr(command.callback, "common", ())
    return frozenset({*shown, "help", "help_all"} if shown else ())


def _write_groups(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Options under what they are about; where none is sorted, as one list."""
    common = () if ctx.meta.get(ALL) else _common(command)
    result: dict[str, list[tuple[int, tuple[str, str]]]] = {title: [] for title in (*GROUPS, OTHERS)}
    for option in command.get_params(ctx):
        record = None if option.param_type_name == "argument" else option.get_help_record(ctx)
        name = name_of(option)
        if record is not None and (not common or option.name in common or name == "help"):
            title = _group_of(option)
            record = (record[0], _first_sentence(record[1])) if common else record
            result[title].append((GROUPS[title].index(name) if title in GROUPS else 0, record))
    sorted_at_all = any(result[title] for title in GROUPS)
    for title, records in result.items():
        if records:
            with formatter.section(title if sorted_at_all else "Options"):
                formatter.write_dl([record for _, record in sorted(records, key=lambda pair: pair[0])])
    many = _hidden(command) if common else 0
    if many:
        formatter.write_paragraph()
        formatter.write_text(f"{many} more options: {ctx.command_path} --help-all")


def _write_text(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """What the command does; of its examples the first ones, unless everything was asked for."""
    text = inspect.cleandoc(command.help or "").partition("\f")[0]
    if text:
        formatter.write_paragraph()
        with formatter.indentation():
            shown = text if ctx.meta.get(ALL) or not _hidden(command) else _shortened(text)
            formatter.write_text("\n".join(part for line in shown.split("\n") for part in _narrow(line)))


def _shortened(text: str) -> str:
    """The same with a few examples.

    >>> print(_shortened("Do it.\\n\\nExamples:\\n  pulens a\\n  pulens b\\n  pulens c \\\\\\n    --d\\n  pulens e"))
    Do it.
    <BLANKLINE>
    Examples:
      pulens a
      pulens b
      pulens c \\
        --d
    """
    before, title, examples = text.partition("Examples:\n")
    kept: list[str] = []
    commands = 0
    for line in examples.splitlines():
        commands += line.startswith(("  pulens", "  cat "))
        if commands > MOST_EXAMPLES:
            break
        kept.append(line)
    return "\n".join([f"{before}{title}".rstrip("\n"), *kept])


def _narrow(line: str) -> list[str]:
    """An example in lines that fit a terminal, broken before its options as a shell allows.

    >>> print("\\n".join(_narrow("  pulens compare scores.csv --score model_a --score model_b --class-prior 0.1:0.2")))
      pulens compare scores.csv --score model_a --score model_b \\
        --class-prior 0.1:0.2
    """
    if not line.startswith("  ") or len(line) <= EXAMPLE:
        return [line]
    first, *options = line.split(" --")
    result = [first]
    for option in options:
        if len(result[-1]) + len(f" --{option} \\") > EXAMPLE:
            result[-1] += " \\"
            result.append(f"    --{option}")
        else:
            result[-1] += f" --{option}"
    return result


def _first_sentence(words: str) -> str:
    """What an option is for, and its default; the rest is for whoever asks for everything.

    >>> _first_sentence("Rows that were checked. Matched by --id. Default: line by line.  [default: none]")
    'Rows that were checked. Default: line by line.  [default: none]'
    """
    said, bracket, default = words.partition("  [")
    first, *others = said.split(". ")
    kept = [first, *(one for one in others if one.startswith("Default"))]
    return f"{'. '.join(one.rstrip('.') for one in kept)}.{bracket}{default}"


def _group_of(option: click.Parameter) -> str:
    return next((title for title, names in GROUPS.items() if name_of(option) in names), OTHERS)


def name_of(option: click.Parameter) -> str:
    """An option as it is typed, whatever the command calls it: ``group_by`` of ``--group-by``."""
    return long_name(option).lstrip("-").replace("-", "_")


def long_name(option: click.Parameter) -> str:
    """The first spelling with two dashes: further ones are older names, or those of Python."""
    return next((name for name in option.opts if name.startswith("--")), option.opts[0])
