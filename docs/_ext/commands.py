"""A page per command, read off the command line itself: what it does, examples, every option with its default."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

import click
from catalogues import Written


class Command(Written):
    """``{command} evaluate``: its help as a page; of a group, a section for each of its commands."""

    def lines(self) -> Iterable[str]:
        from pulens.cli import COMMANDS, app

        name = self.arguments[0]
        yield COMMANDS[name]
        yield from described(app.get_command(click.Context(app), name), f"pulens {name}", "##")


class CommandList(Written):
    """``{command-list}``: every command with its sentence."""

    def lines(self) -> Iterable[str]:
        from pulens.cli import COMMANDS

        yield ""
        for name, words in COMMANDS.items():
            yield f"- [`pulens {name}`](commands/{name}.md): {words}"
        yield "\n```{toctree}\n:hidden:\n"
        yield from (f"commands/{name}" for name in COMMANDS)
        yield "```"


def described(command: click.Command, path: str, heading: str) -> Iterable[str]:
    inner = getattr(command, "commands", {})
    context = click.Context(command, info_name=path)
    words, examples = parts_of(inspect.cleandoc(command.help or ""))
    yield "\n```text"
    yield f"{path} {' '.join(command.collect_usage_pieces(context))}"
    yield "```\n"
    yield from (prose(paragraph) for paragraph in words)
    if examples:
        yield "\n```sh"
        yield from examples
        yield "```\n"
    for title, records in options_of(command, context).items():
        yield f"\n{heading} {title}\n"
        for names, meaning in records:
            yield f"`{names}`\n: {prose(meaning) or 'No description.'}\n"
    for name, one in inner.items():
        yield f"\n{heading} {path} {name}\n"
        yield from described(one, f"{path} {name}", f"{heading}#")


def parts_of(text: str) -> tuple[list[str], list[str]]:
    """The paragraphs of a help text, and its example lines."""
    text, _, examples = re.sub(r"^\x08\n", "", text, flags=re.MULTILINE).partition("Examples:\n")
    if not examples:
        text, _, example = text.partition("Example: ")
        examples = example.strip()
    lines = [line[2:] if line.startswith("  ") else line for line in examples.splitlines() if line.strip()]
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()], lines


def options_of(command: click.Command, context: click.Context) -> dict[str, list[tuple[str, str]]]:
    """Options by group, those left out of ``--help`` too."""
    from pulens.cli._help import _group_of

    result: dict[str, list[tuple[str, str]]] = {}
    for option in command.get_params(context):
        if isinstance(option, click.Option) and option.name != "help":
            hidden, option.hidden = option.hidden, False
            record = option.get_help_record(context)
            option.hidden = hidden
            if record is not None:
                result.setdefault(_group_of(option), []).append(record)
    return result


def prose(text: str) -> str:
    """Text of a terminal as Markdown: options and brackets are shown as they are."""
    text = re.sub(r"([*_<>\[\]|$\\])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--?[a-z][a-z-]*)", r"`\1`", text)


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("command", Command)
    app.add_directive("command-list", CommandList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
