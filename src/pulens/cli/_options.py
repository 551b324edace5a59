"""Options that several commands share, so that they mean the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

import click

from pulens.cli._complete import complete_column, complete_learner
from pulens.confidence import check_confidence
from pulens.errors import AssumptionError, nearest, shown
from pulens.scenario import DEFAULT_SCENARIO, Scenario

Command = TypeVar("Command", bound=Callable[..., Any])


class Prior(click.ParamType[Any]):
    """A share of positives: one number, a range written low:high, or the name of an estimator."""

    name = "SHARE"

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

    name = "SHARE"

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


class Whole(click.ParamType[int]):
    """A whole number, refused in our own words."""

    name = "WHOLE NUMBER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return int(value)
        except ValueError:
            self.fail(f"must be a whole number, got {value!r}", param, ctx)


def _option(help: str, *flags: str, **more: Any) -> dict[str, Any]:
    """One option of the table: its sentence, its spellings where they are not the argument's name, its kind."""
    if "default" in more:
        more.setdefault("show_default", True)
    return {"help": help, "flags": flags, **more}


def _column(help: str, *flags: str, **more: Any) -> dict[str, Any]:
    """The same for an option that names a column."""
    return _option(help, *flags, **{"metavar": "COLUMN", "shell_complete": complete_column} | more)


SCENARIOS = (
    "single-set: labelled rows were found within this table. case-control: they were collected separately, and the "
    "unlabelled rows alone are a sample of the population."
)
#: Every option that more than one command has, by the argument that it sets: said once, the same everywhere.
OPTIONS: dict[str, dict[str, Any]] = {
    "score": _column("Column of scores; higher means more likely positive.", default="score"),
    "label": _column("Column of labels.", default="label"),
    "positive": _option(
        "Label value of labelled positives; all other rows are then unlabelled. Default: 1 is labelled, 0 or empty "
        "unlabelled, -1 known negative.",
        multiple=True,
        metavar="VALUE",
    ),
    "negative": _option(
        "Label value of known negatives. For labels of 1 and -1 alone say --negative -1 or --unlabelled -1.",
        multiple=True,
        metavar="VALUE",
    ),
    "unlabelled": _option(
        "Label value of unlabelled rows; any value not named is then an error.", multiple=True, metavar="VALUE"
    ),
    "weight": _column("Column of weights: how many rows each row counts for."),
    "cluster": _column(
        "Column of groups whose rows are alike (a patient, a customer, a query): intervals allow for it."
    ),
    "format": _option(
        "File format, if the ending does not tell (standard input is read as CSV).",
        type=click.Choice(["csv", "tsv", "jsonl", "parquet", "arrow", "xlsx"]),
    ),
    "delimiter": _option("Column separator of a CSV file.  [default: detected]"),
    "decimal": _option("Decimal mark of a CSV file, . or a comma.  [default: detected]"),
    "thousands": _option("Thousands separator of a CSV file, such as a point or a space."),
    "encoding": _option("Encoding of a CSV file, if not UTF-8 or UTF-16, such as windows-1252."),
    "sheet": _option("Sheet of an Excel file that has several."),
    "table": _option("Table or view of a database (duckdb:///file.db, postgresql://...)."),
    "where": _option("Condition on the rows of a file or table, in SQL.", metavar="SQL"),
    "tolerance": _option(
        "Largest change in an area that binning scores may cause; 0 keeps every score. Default: scores are binned "
        "only beyond four million rows or two million distinct scores, and the effect is reported.",
        type=Number(),
    ),
    "class_prior": _option(
        "Share of positives in the population: 0.2, a range 0.1:0.3, or an estimator.  [default: auto]", type=Prior()
    ),
    "unlabelled_prior": _option("Share of positives among the unlabelled rows, instead.", type=Prior()),
    "label_noise": _option("Share of labelled rows that are really negative.", type=Number(), default=0.0),
    "scenario": _option(SCENARIOS, type=click.Choice([str(one) for one in Scenario]), default=DEFAULT_SCENARIO),
    "audit": _option(
        "K positives were found among R randomly chosen unlabelled rows: sets the class prior, with an exact interval. "
        "It does not repair labels that are not a random draw of the positives.",
        metavar="K/R",
    ),
    "combine": _option(
        "Narrow the audit's interval with an estimate of the class prior (auto, or the one named), whose assumption "
        "must then hold too.",
        is_flag=True,
    ),
    "reviews": _option(
        "Rows that people checked: the queue of pulens audit plan, or a table with a column answer and each row's "
        "chance of being drawn in a column probability. Rows are matched by a column row, by --id, or line by line.",
        metavar="FILE",
    ),
    "reviewed_above": _option(
        "All rows scoring at least this were checked; without --reviews the labels 1 and -1 are the answers.",
        type=Number(),
        metavar="SCORE",
    ),
    "reviewed_below_share": _option(
        "With --reviewed-above: share of the remaining rows, drawn at random, that was checked too.",
        type=Number(),
        metavar="SHARE",
    ),
    "id": _column("Column that identifies rows, in the table and in --reviews."),
    "within": _column(
        "Labels are random only within the values of this column (clinic, channel, month); given more than once, the "
        "columns are crossed.",
        "--within",
        "--labelled-within",
        multiple=True,
    ),
    "threshold": _option("Predicted positive is score >= threshold. Default: best F1.", type=Number()),
    "confidence": _option("Confidence level of intervals.", type=Confidence(), default=0.95),
    "redraws": _option("Number of resamples, for intervals without a closed form.", type=Whole(), default=2000),
    "seed": _option("Random seed.", type=Whole(), default=0),
    "top": _option("Also judge the first rows of the list, by number or share.", metavar="ROWS or 1%"),
    "scores_are": _option("What scores are.", type=click.Choice(["probability", "logit"])),
    "out": _option("File to write.", "-o", "--out", metavar="PATH"),
    "html_path": _option("Write a self-contained page with charts.", "--html", metavar="PATH"),
    "markdown_path": _option("Write Markdown; - for standard output.", "--markdown", metavar="PATH"),
    "json_path": _option("Write the result as JSON; - for standard output.", "--json", metavar="PATH"),
    "quiet": _option("Print errors only, for scripts that want the files.", "-q", "--quiet", is_flag=True),
    "explain": _option("Also print the notes, and what each number means.", is_flag=True),
    "all_metrics": _option("Print every metric, not only the usual five.", is_flag=True),
    "labelling": _option(
        "How positives came to be labelled. practice (the default): easy ones first, as in real data sets; random: a "
        "random draw; a factor such as 3: high scores up to 3 times as likely.",
        metavar="practice, random or FACTOR",
    ),
    "learner": _option(
        "Learner: boosted_pu (trees), nnpu, vpu, dist_pu (networks), ...; pulens learners advise names some.",
        "--learner",
        "--method",
        default="boosted_pu",
        shell_complete=complete_learner,
        metavar="NAME",
    ),
    "settings": _option(
        "A setting of the learner, such as n_estimators=20.", "--set", multiple=True, metavar="NAME=VALUE"
    ),
    "features": _column("Column to learn from.  [default: all others]", "--feature", multiple=True),
    "drop": _column("Column to leave out.", multiple=True),
    "column": _option("Name of the column of scores that is written.", default="score"),
}
WRITING = ("format", "delimiter", "decimal", "thousands", "encoding", "sheet")
COLUMNS = ("label", "weight", "positive", "negative", "unlabelled", *WRITING)


def offers(*names: str, **changed: Any) -> Callable[[Command], Command]:
    """Adds options of the table, by the arguments that they set; ``changed`` is another sentence or other facts.

    >>> @click.command()
    ... @offers("score", "seed", seed="Which rows are drawn.")
    ... def command(**given): ...
    >>> [(option.name, option.help) for option in command.params]  # doctest: +NORMALIZE_WHITESPACE
    [('score', 'Column of scores; higher means more likely positive.'), ('seed', 'Which rows are drawn.')]
    """

    def add(command: Command) -> Command:
        for name in reversed((*names, *(name for name in changed if name not in names))):
            said = changed.get(name, {})
            facts = OPTIONS[name] | ({"help": said} if isinstance(said, str) else said)
            flags = facts.pop("flags") or (f"--{name.replace('_', '-')}",)
            command = click.option(*flags, name, **facts)(command)
        return command

    return add


reading_options = offers("score", *COLUMNS)
engine_options = offers("table", "where", "tolerance")
table_options = offers("table", "where")
cluster_option = offers("cluster")
assumption_options = offers("class_prior", "unlabelled_prior", "label_noise", "scenario")
audit_options = offers("audit", "combine")
review_options = offers("reviews", "reviewed_above", "reviewed_below_share", "id")
interval_options = offers("confidence", "redraws", "seed")
page_options = offers("html_path", "markdown_path", "json_path", "quiet")


def many_scores_options(help: str) -> Callable[[Command], Command]:
    """Options of rows for commands that read several columns of scores."""
    return offers("score", *COLUMNS, score={"help": help, "multiple": True, "default": None, "show_default": False})


def scenario_option(help: str = SCENARIOS) -> Callable[[Command], Command]:
    """How the labelled and the unlabelled rows came together, with what that means for the command."""
    return offers(scenario=help)


def written_options(command: Command) -> Command:
    """How a file is written, for commands that hand it on as one argument, ``delimiter``."""

    @wraps(command)
    def told(**given: Any) -> Any:
        from pulens.inputs.tables.dialect import NAMES, written_as

        said = [given.pop(name) for name in NAMES]
        return command(**given, delimiter=written_as(*said))

    return offers(*WRITING)(cast(Command, told))


def engine_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Engine options as arguments of :func:`pulens.inputs.read_tally`."""
    return {name: given[name] for name in ("table", "where", "tolerance")}


REVIEWS = ("reviews", "reviewed_above", "reviewed_below_share", "id")


def review_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Review options as arguments of :func:`pulens.evaluate`."""
    return {name: given[name] for name in REVIEWS}


def files_read(file: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    """What a command reads, so that nothing is written over it."""
    return (file,) if given["reviews"] is None else (file, given["reviews"])


def reading_arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Shared reading options as arguments of :func:`pulens.inputs.read_sample`."""
    names = ("score", "label", "weight", "format", "delimiter", "decimal", "thousands", "encoding", "sheet")
    chosen = {name: given[name] for name in names}
    return chosen | {name: given[name] or None for name in ("positive", "negative", "unlabelled")}
