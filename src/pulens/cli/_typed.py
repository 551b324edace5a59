"""The command as the user typed it, for showing what to type next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pulens.cli._help import long_name

if TYPE_CHECKING:
    from pulens.counts.tally import Tally

LEFT_OUT = ("html_path", "markdown_path", "json_path", "quiet")  # where answers go is no part of the question
Typed = tuple[tuple[str, ...], ...]


def typed_command(context: click.Context) -> Typed:
    """Program, command and arguments, then every option that was given, each with its value.

    >>> from pulens.cli.evaluate import command
    >>> context = command.make_context("evaluate", ["scores.csv", "--positive", "a b", "--class-prior", "0.1:0.2"])
    >>> typed_command(context)
    (('pulens',), ('evaluate',), ('scores.csv',), ('--positive', 'a b'), ('--class-prior', '0.1:0.2'))
    """
    words: list[tuple[str, ...]] = [("pulens",), (str(context.command.name),)]
    words += [(_place(str(context.params[p.name])),) for p in context.command.params if _is_argument(p) and p.name]
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if _is_argument(parameter) or name in LEFT_OUT or source is not click.core.ParameterSource.COMMANDLINE:
            continue
        option = long_name(parameter)
        if getattr(parameter, "is_flag", False):
            words.append((option,))
            continue
        value = context.params[name]
        words += [(option, _written(one)) for one in (value if parameter.multiple else (value,))]
    return tuple(words)


def check_lines(tally: Tally, said: str, *options: str) -> list[str]:
    """The check of rows that would settle this command's question, to paste; nothing where no row is left to check."""
    from pulens.report.lines import pasteable
    from pulens.report.next_steps import another_command, rows_to_check

    rows = rows_to_check(tally.totals.unlabelled)
    if not rows:
        return []
    options = (*options, "--budget", str(rows), "--out", "queue.csv")
    command = another_command(typed_command(click.get_current_context()), ("audit", "plan"), options)
    return ["", f"next: check {rows} rows, {said}:", *pasteable(command)]


def _place(argument: str) -> str:
    """The file as it was typed, but no address of a database: it may hold a password."""
    scheme, apart, rest = argument.partition("://")
    return "ADDRESS" if apart and scheme != "duckdb" and ("@" in rest or "?" in rest) else argument


def _is_argument(parameter: click.Parameter) -> bool:
    return parameter.param_type_name == "argument"


def _written(value: Any) -> str:
    """As it would be typed: ranges as low:high, a cell's class prior as north=0.1, numbers without needless digits."""
    if isinstance(value, tuple) and isinstance(value[0], str):
        return f"{value[0]}={_written(value[1])}"
    if isinstance(value, tuple):
        return ":".join(map(_written, value))
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)
