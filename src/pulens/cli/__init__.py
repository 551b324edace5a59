"""The command line: one command per file, loaded when it is called."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import TextIOBase, TextIOWrapper, UnsupportedOperation
from typing import TextIO

import click

from pulens._version import __version__
from pulens.errors import PulensError, nearest, one_message, shown

__all__ = ["COMMANDS", "main"]

# one-line help is here so that `pulens --help` loads no command
GROUPS = {
    "Evaluate": {
        "evaluate": "How good is a classifier, from scores and PU labels?",
        "compare": "Which of several models is better, and how sure is that?",
        "calibrate": "Are a model's probabilities right? Repair them if asked.",
        "prior": "What share of rows is positive, from scores and PU labels?",
        "decide": "Which threshold, given costs, capacity and targets?",
        "audit": "Which rows should a person check, and what do the answers show?",
        "watch": "Has anything changed since a model was deployed?",
    },
    "Train": {
        "fit": "Train on a table and evaluate the model, in one command.",
        "score": "Score the rows of a table with a trained model.",
        "train": "Train a learner on a table of features with PU labels.",
        "learners": "Which learners to try on your data.",
    },
    "Data": {
        "tally": "Count rows into a small file, to merge and evaluate later.",
        "merge": "Add tally files.",
        "synthesise": "Turn a table with true classes into PU data with a known truth.",
    },
    "Research": {
        "bench": "Benchmark PU learners: plan, run, archive, publish.",
        "reproduce": "Rebuild tables and figures of papers, with a verdict on each claim.",
    },
    "Help": {
        "demo": "A worked example: PU labels against the truth.",
        "page": "Write one HTML file that evaluates tables in any browser.",
        "completion": "Set up completion in your shell.",
    },
}
COMMANDS = {name: words for commands in GROUPS.values() for name, words in commands.items()}


class Commands(click.Group):
    """Finds a command's file by its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        from pulens.cli._help import dressed

        command: click.Command = import_module(f"pulens.cli.{cmd_name}").command
        return dressed(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            hint = nearest(args[0], COMMANDS)
            if not hint:
                raise
            raise click.UsageError(f"{error.message}{hint}", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))  # so that the groups line up
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), words) for name, words in commands.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="pulens")
def app() -> None:
    """Evaluate binary classifiers when nobody ever labelled a negative.

    Example: pulens evaluate scores.csv --class-prior 0.1

    Each command explains itself: pulens evaluate --help
    """


def main(arguments: list[str] | None = None) -> None:
    """Run a command; bad input ends with one clear message and exit code 2."""
    with _output_that_can_fail():
        _run(arguments)


def _run(arguments: list[str] | None) -> None:
    try:
        _accept_any_letter()
        app.main(arguments, prog_name="pulens", standalone_mode=False)
        sys.stdout.flush()  # what could not be written must show now, and not as Python ends
    except PulensError as error:
        from pulens.command_words import in_command_words

        _end(2, in_command_words(one_message(error)))
    except click.ClickException as error:
        if not isinstance(error, NO_COMMAND):  # whose message is the help
            vars(error)["message"] = one_message(error.message) + _way_out(error)  # values may be long
        error.show()
        _end(2)
    except click.exceptions.Exit as end:
        _end(end.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _end(130, "stopped.")
    except BrokenPipeError:  # the reader of a pipe went away, as `head` does
        _end(1)  # not all of the answer was taken; the same as when click finds out
    except RecursionError:
        _end(2, "the input is nested too deeply to be read.")
    except OverflowError as error:  # where sizes are checked the sentence is better: this is the last gate
        _end(2, f"a number is too large to be computed with ({one_message(error)}). Look for one of many digits.")
    except MemoryError as error:
        said = f" ({one_message(error)})" if str(error) else ""
        _end(2, f"the memory of this machine does not suffice{said}. Read fewer rows, or on a larger machine.")
    except OSError as error:
        _end(2, _said_by_system(error))


def _way_out(error: click.ClickException) -> str:
    """What to do instead of an option that is gone, or where a shell turned a pattern into several files."""
    if isinstance(error, click.NoSuchOption):
        from pulens.keywords import GONE

        instead = GONE.get(error.option_name.lstrip("-").replace("-", "_"), "")
        return f" {instead}" if instead else ""
    left = error.message.partition("unexpected extra argument")[2].partition("(")[2].rstrip(")").split()
    if not left or not all(os.path.exists(name) for name in left):
        return ""
    return f". To read several files, quote the pattern: 'folder/*{os.path.splitext(left[0])[1]}', or give the folder."


NO_COMMAND = getattr(click.exceptions, "NoArgsIsHelpError", ())  # since click 8.2
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ClosedOutput(TextIOBase):
    """Stands for a standard output that cannot be written to: Python says nothing where it is closed."""

    def write(self, text: str) -> int:
        if text:
            raise PulensError(
                "standard output is closed, so the answer is lost: redirect it to a file, or to /dev/null "
                "to discard it."
            )
        return 0


@contextmanager
def _output_that_can_fail() -> Iterator[None]:
    """Let a closed standard output be noticed by whoever writes to it: lost output is no success."""
    given = sys.stdout
    if not _is_open(given):
        sys.stdout = ClosedOutput()
    try:
        yield
    finally:
        sys.stdout = given


def _is_open(output: TextIO | None) -> bool:
    """Whether text can be written; nothing is written to find out, so a disk may still be full."""
    if output is None or output.closed:
        return False
    try:
        os.write(output.fileno(), b"")
    except UnsupportedOperation:  # not a file of the operating system's
        return True
    except OSError as error:
        return error.errno != errno.EBADF  # open for reading only; other faults speak for themselves when it matters
    return True


def _accept_any_letter() -> None:
    """Write a question mark where the terminal's encoding has no such letter, rather than fail."""
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")


def _end(code: int | str | None, words: str = "") -> None:
    """Leave with an exit code, after one message; nothing that cannot be written may change the code."""
    if words:
        click.echo(f"pulens: {words}", err=True)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _forget_output()
    sys.exit(code)


def _forget_output() -> None:
    """Python flushes standard output as it ends, and would fail again on what cannot be written."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _said_by_system(error: OSError) -> str:
    try:
        os.getcwd()
    except OSError:
        return "the folder you are in is no longer there: change to another one."
    if error.errno in FULL and error.filename is None:  # whatever else is written to has a name
        return f"standard output cannot be written: {error.strerror}."
    place = "" if error.filename is None else f"{shown(str(error.filename))}: "
    return one_message(f"{place}{error.strerror or error}.")
