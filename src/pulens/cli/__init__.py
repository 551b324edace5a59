"""The command line: one command per file, loaded when it is called."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from pulens._version import __version__
from pulens.errors import PulensError, nearest

# one-line help stands here so that `pulens --help` loads no command
COMMANDS = {
    "evaluate": "How good is a classifier, from scores and PU labels?",
    "train": "Train a learner on a table of features with PU labels.",
    "score": "Score the rows of a table with a trained learner.",
    "prior": "What share of rows is positive, from scores and PU labels?",
    "calibrate": "Are a model's probabilities true? Repair them if asked.",
    "compare": "Which of several models is better, and does the class prior decide?",
    "tally": "Count rows into a small file, to merge and evaluate later.",
    "merge": "Add tally files up.",
    "synthesise": "Turn a table with true classes into PU data with a known truth.",
    "reproduce": "Rebuild tables and figures of the papers, with a verdict on each claim.",
    "bench": "Compare PU learners: plan, run and resume, archive, publish.",
    "demo": "Train on PU labels, evaluate from them alone, and show the truth beside it.",
    "completion": "Let the shell complete commands and options.",
}


class Commands(click.Group):
    """Finds a command's file by its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"pulens.cli.{cmd_name}").command
        return command

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
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="pulens")
def app() -> None:
    """Evaluate binary classifiers when nobody ever labelled a negative.

    Example: pulens evaluate scores.csv --class-prior 0.1
    """


def main(arguments: list[str] | None = None) -> None:
    """Run a command; bad input ends with one clear message and exit code 2."""
    try:
        app.main(arguments, prog_name="pulens", standalone_mode=False)
    except PulensError as error:
        click.echo(f"pulens: {error}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("pulens: stopped.", err=True)
        sys.exit(130)
    except BrokenPipeError:  # the reader of a pipe went away, as `head` does
        sys.stderr.close()
        sys.exit(0)
