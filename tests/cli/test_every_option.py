"""No option of any command is lost: what each command takes is listed in a file."""

from __future__ import annotations

from pathlib import Path

import click

from pulens.cli import app

LISTED = Path(__file__).with_name("every_option.txt")


def taken() -> list[str]:
    """A line for each command, its options in order of their names."""

    def lines(command: click.Command, path: str):
        if isinstance(command, click.Group):
            for name in command.list_commands(click.Context(command)):
                inner = command.get_command(click.Context(command), name)
                assert inner is not None
                yield from lines(inner, f"{path} {name}".strip())
            return
        options = [name for one in command.params if isinstance(one, click.Option) for name in one.opts]
        yield f"{path}: {' '.join(sorted(set(options) - {'--help-all'}))}"

    return sorted(lines(app, ""))


def test_every_command_takes_the_options_that_are_listed():
    """An option that goes must say what replaced it; a new one is added to the file."""
    assert taken() == LISTED.read_text(encoding="utf-8").splitlines()
