"""Options that several commands share, so that they mean the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import click

from pulens.cli._complete import complete_column
from pulens.confidence import check_confidence
from pulens.errors import AssumptionError, nearest, shown
from pulens.scenario import DEFAULT_SCENARIO, Scenario

Command = TypeVar("Command", bound=Callable[..., Any])


class Prior(click.ParamType[Any]):
    """A share of positives: one number, a range written low:high, or the name of an estimator."""

    name = "SHARE, LOW:HIGH or METHOD"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            numbers = [float(part) for part in value.split(":")]
        except ValueError:
            from pulens.priors import knows, names

            if knows(value):
                return value
            raise AssumptionError(
                f"{param.opts[0] if param else 'the class prior'} must be a number such as 0.2, a range such as "
                f"0.1:0.3 or an estimator ({', '.join(names())}), got {shown(value)}.{nearest(value, names())}"
            ) from None
        return numbers[0] if len(numbers) == 1 else tuple(numbers)


class TrainingPrior(Prior):
    """The share of positives that a learner trains with: one number, an estimator's name, or a range to keep it in.

    Whether the learner takes a range is for the command to say.
    """

    name = "SHARE, LOW:HIGH or METHOD"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        from pulens.priors import knows, names

        option = param.opts[0] if param else "class_prior"
        allowed = f"one number such as 0.2, or an estimator ({', '.join(names())})"
        try:
            return float(value)
        except ValueError:
            pass
        low, colon, high = value.partition(":")
        if colon:
            try:
                return float(low), float(high)
            except ValueError:
                raise AssumptionError(f"{option} must be {allowed}, or a range 0.1:0.3, got {value!r}.") from None
        if not knows(value):
            raise AssumptionError(f"{option} must be {allowed}, got {shown(value)}.{nearest(value, names())}")
        return value


class Number(click.ParamType[float]):
    """A number, refused in our own words."""

    name = "NUMBER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return float(value)
        except ValueError:
            self.fail(f"must be a number, got {value!r}", param, ctx)


class Confidence(Number):
    """How sure intervals should be: refused before anything is read."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return check_confidence(super().convert(value, param, ctx))


def reading_options(command: Command) -> Command:
    """Where rows come from and what their columns mean."""
    score = click.option(
        "--score",
        default="score",
        show_default=True,
        shell_complete=complete_column,
        help="Column of scores; higher is more positive.",
    )
    return _apply([score, *_column_options()], command)


def many_scores_options(help: str) -> Callable[[Command], Command]:
    """The same for commands that read several columns of scores."""
    score = click.option("--score", multiple=True, shell_complete=complete_column, help=help)

    def add(command: Command) -> Command:
        return _apply([score, *_column_options()], command)

    return add


def _column_options() -> list[Callable[[Any], Any]]:
    return [
        click.option(
            "--label", default="label", show_default=True, shell_complete=complete_column, help="Column of labels."
        ),
        click.option(
            "--weight",
            default=None,
            shell_complete=complete_column,
            help="Column of weights: how many rows a row stands for.",
        ),
        click.option(
            "--positive",
            multiple=True,
            help="Label value that means labelled positive; everything else is then unlabelled. "
            "Default: labels are 1, 0 (or empty) and -1.",
        ),
        click.option(
            "--negative",
            multiple=True,
            help="Label value that means known negative. For labels of 1 and -1 alone say --negative -1 or "
            "--unlabelled -1.",
        ),
        click.option(
            "--unlabelled", multiple=True, help="Label value that means unlabelled; undeclared values are then errors."
        ),
        *_writing_options(),
    ]


def _writing_options() -> list[Callable[[Any], Any]]:
    """How a file is written."""
    return [
        click.option(
            "--format",
            type=click.Choice(["csv", "tsv", "jsonl", "parquet", "arrow", "xlsx"]),
            help="File format, when the file's ending does not tell (standard input is CSV).",
        ),
        click.option("--delimiter", help="Field separator of a CSV file, when it is not a comma."),
        click.option("--decimal", help="Decimal sign of the numbers in a CSV file, when it is a comma."),
        click.option("--thousands", help="What stands between thousands in a CSV file, such as a point or a space."),
        click.option("--encoding", help="Encoding of a CSV file, when it is not UTF-8 or UTF-16: windows-1252."),
        click.option("--sheet", help="Sheet of an Excel file that has several."),
    ]


def written_options(command: Command) -> Command:
    """The same for commands that hand what is said on as one argument, ``delimiter``."""

    @wraps(command)
    def told(**given: Any) -> Any:
        from pulens.inputs.tables.dialect import NAMES, written_as

        said = [given.pop(name) for name in NAMES]
        return command(**given, delimiter=written_as(*said))

    return _apply(_writing_options(), cast(Command, told))


def cluster_option(command: Command) -> Command:
    """Which rows belong together."""
    option = click.option(
        "--cluster",
        metavar="COLUMN",
        shell_complete=complete_column,
        help="Column that says which rows belong together (a patient, a customer, a query): intervals then allow for "
        "rows that are alike.",
    )
    return option(command)


def table_options(command: Command) -> Command:
    """Which rows of a database or of large files."""
    options = [
        click.option("--table", help="Table or view of a database (duckdb:///file.db, postgresql://...)."),
        click.option("--where", metavar="SQL", help="Condition on the rows of a file or table, in SQL."),
    ]
    return _apply(options, command)


def engine_options(command: Command) -> Command:
    """Which rows of a database or of large files, and how finely their scores are kept."""
    options = [
        table_options,
        click.option(
            "--tolerance",
            type=Number(),
            help="What binning may change in an area; 0 keeps every distinct score. Default: keep those of up to "
            "four million rows, or two million distinct scores, bin beyond, and say what that can change.",
        ),
    ]
    return _apply(options, command)


def engine_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Engine options as arguments of :func:`pulens.inputs.read_tally`."""
    return {name: given[name] for name in ("table", "where", "tolerance")}


SCENARIOS = (
    "single-set: rows were labelled out of one sample, the unlabelled ones are what is left. case-control: labelled "
    "rows were collected apart, the unlabelled ones alone are a sample of the population."
)


def scenario_option(help: str = SCENARIOS) -> Callable[[Command], Command]:
    """How the labelled and the unlabelled rows came together, with what that means for the command."""
    kinds = click.Choice([str(one) for one in Scenario])
    return click.option("--scenario", type=kinds, default=DEFAULT_SCENARIO, show_default=True, help=help)


def assumption_options(command: Command) -> Command:
    """What is taken for granted."""
    options = [
        click.option(
            "--class-prior",
            type=Prior(),
            help="Share of positives in the population: 0.2, or 0.1:0.3, or an estimator.  [default: auto]",
        ),
        click.option("--unlabelled-prior", type=Prior(), help="Share of positives among the unlabelled rows, instead."),
        click.option(
            "--label-noise",
            type=Number(),
            default=0.0,
            show_default=True,
            help="Share of labelled rows that are in truth negative.",
        ),
        scenario_option(),
    ]
    return _apply(options, command)


def audit_options(command: Command) -> Command:
    """Rows checked by hand, and whether an estimate may sharpen what they say."""
    options = [
        click.option(
            "--audit",
            metavar="K/R",
            help="K positives were found among R randomly chosen unlabelled rows: decides the class prior by itself, "
            "with an exact interval. It does not repair labels that are not a random draw of the positives.",
        ),
        click.option(
            "--combine",
            is_flag=True,
            help="Sharpen the audit by an estimate of the class prior (auto, or the one named), whose assumption must "
            "then hold too.",
        ),
    ]
    return _apply(options, command)


def review_options(command: Command) -> Command:
    """Rows that people checked, and how they were chosen."""
    options = [
        click.option(
            "--reviews",
            metavar="FILE",
            help="Rows that people checked: the queue of pulens audit plan, or a table with a column answer and the "
            "chance of each row in a column probability; rows by a column row, by --id, or line by line.",
        ),
        click.option(
            "--reviewed-above",
            type=Number(),
            metavar="SCORE",
            help="Every row that scores so much was checked; without --reviews the labels 1 and -1 are the answers.",
        ),
        click.option(
            "--reviewed-below-share",
            type=Number(),
            metavar="SHARE",
            help="Beside --reviewed-above: this share of the other rows, drawn at random, was checked too.",
        ),
        click.option("--id", metavar="COLUMN", help="Column that tells rows apart, in the table and in --reviews."),
    ]
    return _apply(options, command)


REVIEWS = ("reviews", "reviewed_above", "reviewed_below_share", "id")


def review_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Review options as arguments of :func:`pulens.evaluate`."""
    return {name: given[name] for name in REVIEWS}


def files_read(file: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    """What a command reads, so that nothing is written over it."""
    return (file,) if given["reviews"] is None else (file, given["reviews"])


class Whole(click.ParamType[int]):
    """A whole number, refused in our own words."""

    name = "WHOLE NUMBER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return int(value)
        except ValueError:
            self.fail(f"must be a whole number, got {value!r}", param, ctx)


def interval_options(command: Command) -> Command:
    """How sure the intervals should be, and how they are found."""
    options = [
        click.option(
            "--confidence", type=Confidence(), default=0.95, show_default=True, help="Level of the intervals."
        ),
        click.option(
            "--redraws",
            type=Whole(),
            default=2000,
            show_default=True,
            help="How many times counts are redrawn, for intervals that have no closed form.",
        ),
        click.option(
            "--seed", type=Whole(), default=0, show_default=True, help="Where chance starts; the same gives the same."
        ),
    ]
    return _apply(options, command)


def page_options(command: Command) -> Command:
    """Where results are written, and whether the terminal shows them too."""
    options = [
        click.option(
            "--html", "html_path", metavar="PATH", help="Write a self-contained page with sliders and charts."
        ),
        click.option("--markdown", "markdown_path", metavar="PATH", help="Write Markdown; - for standard output."),
        click.option("--json", "json_path", metavar="PATH", help="Write the result as JSON; - for standard output."),
        click.option("--quiet", "-q", is_flag=True, help="Show nothing but errors; for scripts that only want files."),
    ]
    return _apply(options, command)


def _apply(options: Sequence[Callable[[Any], Any]], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def reading_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Shared reading options as arguments of :func:`pulens.inputs.read_sample`."""
    names = ("score", "label", "weight", "format", "delimiter", "decimal", "thousands", "encoding", "sheet")
    chosen = {name: given[name] for name in names}
    return chosen | {name: given[name] or None for name in ("positive", "negative", "unlabelled")}
