"""Command lines as they stand in help and on pages: what they call, and whether they would be understood."""

from __future__ import annotations

import click

from pulens.cli import app

EVALUATE = ("evaluate", "--labelling", "random")  # whose numbers follow from the rows alone


def found_command(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that these words call, and the words left for it."""
    command: click.Command = app
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        inner = command.get_command(click.Context(command), words[0])
        assert inner is not None, f"pulens has no command {words[0]!r}"
        command, words = inner, words[1:]
    return command, words


def understood(words: list[str]) -> None:
    """Read a command line as ``pulens`` would, with its options and their values, and do nothing."""
    command, rest = found_command(words)
    try:
        command.make_context("pulens", list(rest))
    except click.exceptions.Exit:
        pass  # an option such as --list has answered already
    except click.ClickException as error:
        raise AssertionError(f"pulens {' '.join(words)}: {error.message}") from error


def known_options(words: list[str]) -> set[str]:
    """The options of a command."""
    command, _ = found_command(words)
    return {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | {
        "--help",
        "--version",
    }
