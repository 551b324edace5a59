"""Options that several commands share, so that they mean the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

import click

from pulens.cli._complete import complete_column, complete_learner
from pulens.confidence import check_confidence
from pulens.errors import AssumptionError, PulensError, nearest, shown
from pulens.scenario import DEFAULT_SCENARIO, Scenario

Command = TypeVar("Command", bound=Callable[..., Any])


class Prior(click.ParamType[Any]):
    """A share of positives: one number, a range written low:high, or the name of an estimator."""

    name = "SHARE"

    def __init__(self, allowed: str = "a number such as 0.2, a range such as 0.1:0.3 or an estimator") -> None:
        self.allowed = allowed

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
                f"{param.opts[0] if param else 'class_prior'} must be {self.allowed} ({', '.join(names())}), got "
                f"{shown(value)}.{nearest(value, names())}"
            ) from None
        return numbers[0] if len(numbers) == 1 else tuple(numbers)


TRAINING_PRIOR = Prior("one number such as 0.2, or an estimator")  # whether a learner takes a range, its command says


class NamedPrior(click.ParamType[Any]):
    """A segment or cell and its class prior, written north=0.1, north=0.05:0.15 or north=auto."""

    def __init__(self, kind: str) -> None:
        self.name = f"{kind}=SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        name, equals, share = value.rpartition("=")
        if not equals or not name:
            option = param.opts[0] if param else self.name
            raise AssumptionError(f"{option} is written {self.name}, such as north=0.1, got {value!r}.")
        return name, Prior().convert(share, param, ctx)


class Value(click.ParamType[Any]):
    """A value read off a word, refused in our own words."""

    def __init__(self, name: str, words: str, read: Callable[[Any], Any], more: Callable[[], str] = str) -> None:
        self.name, self.words, self.read, self.more = name, words, read, more

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self.read(value)
        except PulensError:
            raise
        except ValueError:
            self.fail(f"must be {self.words}, got {value!r}{self.more()}", param, ctx)


def _row_by_row() -> str:
    from pulens.decisions.costs import ROW_BY_ROW

    return f". {ROW_BY_ROW}"


def _two_rates(value: Any) -> Any:
    rates = [tuple(map(float, rate.split(":"))) for rate in str(value).split(",")]
    if len(rates) != 2 or any(len(ends) > 2 for ends in rates):
        raise ValueError(value)
    return tuple(ends if len(ends) == 2 else ends[0] for ends in rates)


NUMBER, WHOLE = Value("NUMBER", "a number", float), Value("WHOLE NUMBER", "a whole number", int)
CONFIDENCE = Value("NUMBER", "a number", lambda value: check_confidence(float(value)))
COST_PER_ROW = Value("NUMBER", "a number", float, _row_by_row)  # a column of amounts is refused with the reason
RATES_WORDS = (
    "two rates, of negatives called positive and of positives called negative, each a number or low:high (0.02,0.05 or "
    "0:0.02,0:0.1)"
)
ERROR_RATES = Value("FP,FN", RATES_WORDS, _two_rates)


def _option(help: str, *flags: str, **more: Any) -> dict[str, Any]:
    """One option of the table: its sentence, its spellings where they are not the argument's name, its kind."""
    if "default" in more:
        more.setdefault("show_default", True)
    return {"help": help, "flags": flags, **more}


def _number(help: str, default: float | None = None, **more: Any) -> dict[str, Any]:
    """The same for a number."""
    return _option(help, **{"type": NUMBER} | more | ({} if default is None else {"default": default}))


def _choice(help: str, *choices: str, default: str | None = None) -> dict[str, Any]:
    """The same for one of a few words."""
    return _option(help, type=click.Choice(choices), **({} if default is None else {"default": default}))


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
        "File format, if the file name does not show it (standard input is read as CSV).",
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
        type=NUMBER,
    ),
    "class_prior": _option(
        "Share of positives in the population: 0.2, a range 0.1:0.3, or an estimator.  [default: auto]", type=Prior()
    ),
    "unlabelled_prior": _option("Share of positives among the unlabelled rows, instead.", type=Prior()),
    "label_noise": _option("Share of labelled rows that are really negative.", type=NUMBER, default=0.0),
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
        type=NUMBER,
        metavar="SCORE",
    ),
    "reviewed_below_share": _option(
        "With --reviewed-above: share of the remaining rows, drawn at random, that was checked too.",
        type=NUMBER,
        metavar="SHARE",
    ),
    "id": _column("Column that identifies rows, in the table and in --reviews."),
    "labelled_within": _column(
        "Labels are random only within the values of this column (clinic, channel, month); given more than once, the "
        "columns are crossed.",
        *("--within", "--labelled-within"),
        multiple=True,
    ),
    "split": _choice(
        "With --within: how one class prior is divided among cells, by estimates (default) or equally.",
        *("estimated", "equal"),
    ),
    "cell_priors": _option(
        "With --within: class prior of one cell, north=0.1 or north=0.05:0.15 (crossed: 'north / f=0.1'); once for "
        "each cell.",
        "--cell-prior",
        type=NamedPrior("CELL"),
        multiple=True,
    ),
    "group_by": _column(
        "One evaluation per value of a column; with --gaps, once for each column to compare by.", multiple=True
    ),
    "gaps": _option("With --group-by: differences between groups in a metric, such as recall.", metavar="METRIC"),
    "segment_priors": _option(
        "Class prior of one segment: north=0.1, north=0.05:0.15 or north=auto; once for each segment.",
        "--segment-prior",
        type=NamedPrior("SEGMENT"),
        multiple=True,
    ),
    "class_prior_column": _column("Column that contains each segment's class prior."),
    "same_prior": _option("Use one class prior for all segments, although segments may differ.", is_flag=True),
    "metrics": _option(
        "With --group-by: metrics for each segment; the table shows the first three.",
        "--metric",
        metavar="NAME",
        multiple=True,
    ),
    "cost_miss": _number("What a missed positive costs.", type=COST_PER_ROW),
    "cost_alarm": _number("What a false alarm costs; see --cost-flag for every alarm.", type=COST_PER_ROW),
    "cost_flag": _number("What each flagged row costs, right or wrong.", type=COST_PER_ROW),
    "benefit_hit": _number("What a hit brings.", type=COST_PER_ROW),
    "capacity": _option("How many rows can be checked.", metavar="ROWS, SHARE or 5%"),
    "volume": _number("Rows that arrive together, such as per day; the capacity is for these.", type=WHOLE),
    "capacity_certainty": _number("Probability with which a volume must have no more alarms than that."),
    "recall_at_least": _number("Lowest recall allowed, at the confidence level."),
    "precision_at_least": _number("Lowest precision allowed, at the confidence level."),
    "choose": _choice(
        "cost: cheapest; regret: smallest loss if the class prior is at either end of its range.",
        *("cost", "regret"),
        default="cost",
    ),
    "cost_ratio": _number(
        "Price of a flag over worth of a hit: compares by net benefit, and says where two models are worth the same."
    ),
    "k": _option("Rows of the list that are looked at: compares by what they hold.", "--top", metavar="ROWS or 1%"),
    "sensitivity": _number(
        "What --labelling FACTOR was called before.",
        metavar="FACTOR",
        hidden=True,
    ),
    "worlds": _number(
        "If the data contradict random labels: how far from random the labels may be, as a multiple of the least "
        "departure that fits the data.",
        3.0,
        metavar="MULTIPLE",
        hidden=True,
    ),
    "binning": _choice("Bins of equal population share, or of equal width.", "mass", "width", default="mass"),
    "bins": _option("Number of bins. Default: by the number of rows.", type=int),
    "folds": _option("Number of folds; each is scored by a model of the others.", type=WHOLE, default=5),
    "budget": _number("How many rows to check.  [default: 200]", type=WHOLE),
    "width": _number("Instead of --budget: width of the goal's interval (F1 for all); the number of rows follows."),
    "goal": _option(
        "What to measure best: precision, recall, f1, class_prior, or all of them.", default="all", metavar="NAME"
    ),
    "keep": _column("Column that the reviewer needs to see; once for each.", multiple=True),
    "show_scores": _option("Show score and stratum. Reviewers who see a high score tend to say yes.", is_flag=True),
    "plan": _option("The plan, if it is not in the same folder as the queue.", metavar="PATH"),
    "interval": _option(
        "balanced, or strict: wider, with proven coverage where there is a proof.", default="balanced", metavar="KIND"
    ),
    "anytime": _option("Intervals that are valid whenever checking stops; wider.", is_flag=True),
    "at": _number("Another threshold than the plan's."),
    "yes": _option("A further word that means positive; once for each.", multiple=True, metavar="WORD"),
    "no": _option("A further word that means negative; once for each.", multiple=True, metavar="WORD"),
    "reviewer_errors": _option(
        "Share of negatives that a reviewer calls positive and of positives called negative: 0.02,0.05, or ranges "
        "0:0.02,0:0.1. Adds corrected numbers.",
        type=ERROR_RATES,
    ),
    "second": _option(
        "A second reviewer's answers on some rows: a column of the queue, or another queue file. Adds agreement and "
        "the error rates it suggests.",
        metavar="COLUMN|FILE",
    ),
    "source": _option("The table; the answers are refused if it has changed.", metavar="FILE"),
    "allow_changed": _option("With --source: use the plan's counts if it has changed.", is_flag=True),
    "time": _column("REFERENCE is one table, and this column says which window a row belongs to."),
    "by": _choice("Length of the windows that --time is cut into.", "hour", "day", "week", "month"),
    "reference_until": _option("The last window of --time that belongs to the reference.", metavar="WHEN"),
    "timezone": _option("Time zone in which --by cuts, such as Europe/Paris.", default="UTC", metavar="ZONE"),
    "control": _choice(
        "For segments: control the chance of any false alarm, or the share of false ones among those in alarm (for "
        "more than 20).",
        *("family", "fdr"),
        default="family",
    ),
    "confirmed_at": _column("When a label was confirmed: labels of one age are compared."),
    "alpha": _number("Chance of any false alarm until the reference is renewed.", 0.05),
    "life": _number("Number of windows over which half of --alpha is spent.", 40.0),
    "noise": _choice(
        "How far neighbouring windows may share day-to-day noise.",
        *("default", "independent", "slow"),
        default="default",
    ),
    "labels_lag": _option("After how long a window's own labels are complete.", metavar="90d or WINDOWS"),
    "positives": _choice(
        "Whose labelled positives judge a window once its own labels are complete.",
        *("reference", "window"),
        default="reference",
    ),
    "state": _option("Read if it exists, then rewritten: a new day costs one window.", metavar="PATH"),
    "rejudge": _option("Judge every window again, whatever the state says.", is_flag=True),
    "accept": _option("Accept the alarm: windows from this one on become the reference.", metavar="WINDOW"),
    "segment": _option("With --accept: the alarm of this segment alone.", metavar="NAME"),
    "because": _option("Why it is accepted; kept in the state.", default="", show_default=False, metavar="WORDS"),
    "threshold": _option("Predicted positive is score >= threshold. Default: best F1.", type=NUMBER),
    "confidence": _option("Confidence level of intervals.", type=CONFIDENCE, default=0.95),
    "redraws": _option("Number of resamples, for intervals without a closed form.", type=WHOLE, default=2000),
    "seed": _option("Random seed.", type=WHOLE, default=0),
    "with_bounds": _option("Also show bounds that need no class prior.", "--bounds", is_flag=True),
    "top": _option(
        "Judge the first rows of the list: precision, recall, enrichment, DCG. Repeat it for another depth.",
        multiple=True,
        metavar="ROWS or 1%",
    ),
    "per": _column(
        "With --top: column of queries (users, targets); the first rows of each, averaged over positives and queries."
    ),
    "scores_are": _choice(
        "Say that scores are probabilities or logits: adds a reliability diagram to the page.", "probability", "logit"
    ),
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
    "categories": _column("Column of numbers to treat as categories, such as codes.", "--category", multiple=True),
    "missing": _option("Text that means a missing value, in addition to empty cells.", multiple=True, metavar="TEXT"),
    "dates": _option(
        "Date format of a column, if it is not 2026-12-31, such as day=%d.%m.%Y.",
        "--date",
        multiple=True,
        metavar="COLUMN=FORMAT",
    ),
    "sql": _option("Print the WHERE line that gives the rows to flag, and nothing else.", is_flag=True),
    "plot_path": _option("Save the diagram: .png, .svg, .pdf.", "--plot", metavar="PATH"),
}
#: Options that go together; a star marks those that the short help shows.
GROUPED = {
    "WRITING": "format delimiter decimal thousands encoding sheet",
    "ROWS": "score* label* weight positive* negative unlabelled WRITING",
    "ENGINE": "table where tolerance",
    "ASSUMPTIONS": "class_prior* unlabelled_prior label_noise scenario",
    "AUDIT": "audit combine",
    "REVIEWS": "reviews* reviewed_above reviewed_below_share id",
    "WITHIN": "labelled_within split cell_priors",
    "SEGMENTS": "group_by* gaps segment_priors class_prior_column same_prior metrics",
    "INTERVALS": "confidence redraws seed",
    "COLUMN_KINDS": "categories missing dates",
}
SEVERAL = {"multiple": True, "default": None, "show_default": False}  # of scores, one for each model


def offers(spec: str, *, shown: str = "", **changed: Any) -> Callable[[Command], Command]:
    """Adds options of the table, by the arguments that they set; ``changed`` is another sentence or other facts.

    Words in capitals stand for several; a star, or ``shown``, marks what the short help shows.

    >>> @click.command()
    ... @offers("score* seed", seed="Which rows are drawn.")
    ... def command(**given): ...
    >>> [(option.name, option.help) for option in command.params]  # doctest: +NORMALIZE_WHITESPACE
    [('score', 'Column of scores; higher means more likely positive.'), ('seed', 'Which rows are drawn.')]
    >>> sorted(command.callback.common)
    ['score']
    """
    words = list(_spelt_out(spec))
    names = [word.removesuffix("*") for word in words]
    common = {word.removesuffix("*") for word in words if word.endswith("*")}.union(shown.split())

    def add(command: Command) -> Command:
        for name in reversed((*names, *(name for name in changed if name not in names))):
            said = changed.get(name, {})
            facts = OPTIONS.get(name, {"flags": ()}) | ({"help": said} if isinstance(said, str) else said)
            flags = facts.pop("flags") or (f"--{name.replace('_', '-')}",)
            command = click.option(*flags, name, **facts)(command)
        vars(command)["common"] = common.union(getattr(command, "common", ()))
        return command

    return add


def _spelt_out(spec: str) -> Iterator[str]:
    for word in spec.split():
        yield from _spelt_out(GROUPED[word]) if word in GROUPED else (word,)


def written_options(command: Command) -> Command:
    """How a file is written, for commands that hand it on as one argument, ``delimiter``."""

    @wraps(command)
    def told(**given: Any) -> Any:
        from pulens.inputs.tables.dialect import NAMES, written_as

        said = [given.pop(name) for name in NAMES]
        return command(**given, delimiter=written_as(*said))

    return offers("WRITING")(cast(Command, told))


def asked(taker: Callable[..., Any], given: Mapping[str, Any], **changed: Any) -> dict[str, Any]:
    """Options that were given, as keyword arguments of a function: those that it takes, by its own names.

    >>> from pulens.inputs import read_sample
    >>> asked(read_sample, {"score": "p", "positive": (), "labelled_within": (), "redraws": 100})
    {'score': 'p'}
    """
    from pulens.keywords import keywords_of

    taken, said = keywords_of(taker), {**given, **_within(given), **changed}
    return {name: value for name, value in said.items() if name in taken and value is not None and value != ()}


def _within(given: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of cells as Python takes them, and the class priors of cells as the class prior."""
    within, split, priors = (given.get(name) for name in GROUPED["WITHIN"].split())
    if not within:
        for option, value in (("--split", split), ("--cell-prior", priors)):
            if value:
                raise PulensError(f"{option} is for cells: name their column with --within.")
        return {}
    columns = within[0] if len(within) == 1 else list(within)
    if not priors:
        return {"labelled_within": columns}
    if given["class_prior"] is not None:
        raise PulensError("--cell-prior and --class-prior both say what a cell's class prior is: give one of them.")
    return {"labelled_within": columns, "class_prior": dict(priors)}


def targets(given: Mapping[str, Any]) -> dict[str, str | None]:
    """Files that a command writes, by the options that name them."""
    written = ("out", "state", "scores_path", "plot_path", "html_path", "markdown_path", "json_path")
    return {f"--{name.removesuffix('_path')}": given[name] for name in written if name in given}


def files_read(file: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    """What a command reads, so that nothing is written over it."""
    return (file,) if given["reviews"] is None else (file, given["reviews"])
