"""Everything said about the learners of an archive under one condition, for one metric and one way to select epochs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pulens.errors import InputError, listed, nearest
from pulens.inference.kernels.holm import holm
from pulens.research.benchmark.analyse import bayesian, cells, costs, paired, ranks, tables
from pulens.research.benchmark.analyse.cells import Cells
from pulens.research.benchmark.analyse.conditions import Condition, choose, conditions_of, newest, selects_with_truth
from pulens.research.benchmark.archive import Archive
from pulens.research.benchmark.archive.counts import METRICS as STORED
from pulens.research.benchmark.archive.measured import check_metric, facts_of_metric, sign_of
from pulens.research.benchmark.published import table_1
from pulens.research.benchmark.vocabulary import base_name, current

SELECTIONS = (
    *("own", "proxy_accuracy", "proxy_roc_auc", "loss", "last"),
    *("oracle_accuracy", "oracle_f1", "oracle_macro_f1"),
)
TRUTH_MARK, SUPPORT_MARK, ORACLE_MARK, PRIOR_MARK = "†", "‡", "§", "¶"
MARKS = {
    TRUTH_MARK: "trained with true classes: a ceiling, no competitor",
    SUPPORT_MARK: "is given a few rows with true labels of both classes, which PU data do not have",
    ORACLE_MARK: "its own criterion selects the epoch with true validation labels, which PU data do not have",
    PRIOR_MARK: "told the class prior though the method takes none",
}
ROPE = 0.01
Row = Mapping[str, Any]


#: How the epoch of a run was chosen, in words for people who do not know the names.
SELECTION_TITLES = {
    "own": "each learner's own rule",
    "proxy_accuracy": "best estimated accuracy on validation rows",
    "proxy_roc_auc": "best ROC AUC of labelled against unlabelled validation rows",
    "loss": "lowest validation loss",
    "last": "last epoch, whatever it is like",
    "oracle_accuracy": "best true accuracy on validation rows",
    "oracle_f1": "best true F1 on validation rows",
    "oracle_macro_f1": "best true macro-F1 on validation rows",
}


def selection_words(selection: str, learners: Iterable[ShownLearner] = ()) -> str:
    """What a selection reads, in words; "own" is what the learners' own criteria read.

    >>> selection_words("proxy_roc_auc")
    'proxy_roc_auc: from PU labels of validation rows'
    """
    if selects_with_truth(selection):
        return f"{selection}: ORACLE, reads TRUE validation labels"
    if selection == "own":
        told = [one.selected_with_truth for one in learners]
        if told and all(told):
            return "own: each learner's own criterion, ORACLE: all of them read TRUE validation labels"
        aside = f", but those marked {ORACLE_MARK} read TRUE validation labels" if any(told) else ""
        return f"own: each learner's own criterion, from PU labels{aside}"
    if selection == "last":
        return "last: the last epoch, nothing is read"
    return f"{selection}: from PU labels of validation rows"


@dataclass(frozen=True)
class ShownLearner:
    """A learner as tables show it."""

    name: str
    title: str
    family: str
    uses_truth: bool
    needs_support: bool
    selected_with_truth: bool = False  # by its own criterion, where that is the selection shown
    told_class_prior: bool = False  # though its published method takes none

    @property
    def mark(self) -> str:
        told = TRUTH_MARK * self.uses_truth + SUPPORT_MARK * self.needs_support
        return told + ORACLE_MARK * self.selected_with_truth + PRIOR_MARK * self.told_class_prior

    @property
    def marked(self) -> str:
        return f"{self.title} {self.mark}".strip()


@dataclass(frozen=True)
class Board:
    """A table of learners by data sets and what can be concluded from it."""

    condition: Condition
    metric: str
    selection: str
    reference: str | None  # compared with; None where it has no run
    learners: Mapping[str, ShownLearner]
    order: tuple[str, ...]  # best mean first, learners that are told the truth last
    datasets: tuple[str, ...]
    rows: tuple[Row, ...]
    cells: Cells
    undefined: Mapping[tuple[str, str], int]  # runs whose metric has nothing to divide by
    published: Mapping[tuple[str, str], float]
    tests: tuple[paired.Paired, ...]
    wilcoxon: Mapping[str, tuple[int, float, float]]  # data sets, p-value, corrected
    records: tuple[paired.Record, ...]
    ranking: ranks.MeanRanks | None
    no_ranking_because: str | None
    beliefs: Mapping[str, bayesian.Belief]
    notices: tuple[str, ...]

    @property
    def competing(self) -> Cells:
        """Cells of learners that are not told the truth, as they are compared."""
        return {place: own for place, own in self.compared.items() if not self.learners[place[0]].uses_truth}

    @property
    def compared(self) -> Cells:
        """The cells as tests and ranks read them: higher is better."""
        return cells.better_is_higher(self.cells, self.metric)

    @property
    def factor(self) -> int:
        """By what values are multiplied where they are shown."""
        return tables.factor_of(self.metric)

    @property
    def unit(self) -> str:
        """ " in percent" where the metric is a share, and which end is the better one where that is the lower."""
        lower = ", lower is better" if sign_of(self.metric) < 0 else ""
        return (" in percent" if self.factor == 100 else "") + lower

    @property
    def verdicts(self) -> dict[tuple[str, str], str]:
        return {(one.learner, one.dataset): one.verdict() for one in self.tests}

    @cached_property
    def seeds(self) -> int:
        """How many seeds occur."""
        return len({row["seed"] for row in self.rows})

    @cached_property
    def other_seeds(self) -> dict[tuple[str, str], int]:
        """Numbers of seeds of the cells that have not all of them."""
        return {place: len(own) for place, own in self.cells.items() if len(own) != self.seeds}

    @property
    def selection_words(self) -> str:
        return selection_words(self.selection, self.learners.values())

    @property
    def marks(self) -> dict[str, str]:
        """The marks that occur and what they mean."""
        return {mark: text for mark, text in MARKS.items() if any(mark in one.mark for one in self.learners.values())}

    def costs(self) -> list[costs.LearnerCost]:
        """Costs beside the metric; learners that are told the truth beat nobody."""
        told = [row for row in self.rows if row["uses_truth"]]
        competing = [row for row in self.rows if not row["uses_truth"]]
        aside = [replace(one, is_efficient=False) for one in costs.costs(told, self.metric)]
        return costs.costs(competing, self.metric) + aside

    def csv(self) -> str:
        about = {"condition": self.condition.name, "selection": self.selection, "metric": self.metric}
        return tables.as_csv(self.cells, self.published, about=about, notes=self._notes())

    def latex(self) -> str:
        marks = {TRUTH_MARK: r"$^\dagger$", SUPPORT_MARK: r"$^\ddagger$", ORACLE_MARK: r"$^\S$", PRIOR_MARK: r"$^\P$"}
        competing = {name: "".join(marks[one] for one in facts.mark) for name, facts in self.learners.items()}
        words = [
            f"{self.metric}{self.unit}, mean and standard deviation over seeds; condition {self.condition.name}",
            f"epoch selected by {self.selection_words}",
            f"over {self.seeds} seeds" + ", or as many as a number in brackets says" * bool(self.other_seeds),
            f"best in bold, second underlined (learners trained with true classes aside); * better than "
            f"{self.reference} by a paired t-test, Holm-corrected",
            *(f"{marks[mark]}: {text}" for mark, text in self.marks.items()),
        ]
        titles = {name: facts.title for name, facts in self.learners.items()}
        aside = frozenset(name for name, facts in self.learners.items() if facts.uses_truth)
        text = tables.as_latex(
            self.cells, titles, self.tests, marks=competing, aside=aside, seeds=self.other_seeds, metric=self.metric
        )
        return "".join(f"% {line}\n" for line in words) + text

    def _notes(self) -> dict[tuple[str, str], str]:
        """What each cell was told of the truth; a learner's own criterion may differ between data sets."""
        oracle = {(row["learner"], row["dataset"]) for row in self.rows if read_truth(row, self.selection)}
        result = {}
        for name, dataset in self.cells:
            facts = self.learners[name]
            told = ["trained with true classes"] * facts.uses_truth
            told += ["true support labels"] * facts.needs_support
            told += ["epoch selected with true validation labels"] * ((name, dataset) in oracle)
            told += [MARKS[PRIOR_MARK]] * facts.told_class_prior
            result[name, dataset] = "; ".join(told)
        return result


def read_truth(row: Row, selection: str) -> bool:
    """Whether the epoch of a run was selected with true validation labels."""
    return selects_with_truth((row["own_selection"] or "last") if selection == "own" else selection)


def facts_of(rows: Iterable[Row], selection: str | None = None) -> dict[str, ShownLearner]:
    """Facts of every learner that occurs; with the selection "own", also whose own criterion reads the truth.

    One run that is told the truth marks its learner.
    """
    result: dict[str, ShownLearner] = {}
    for row in rows:
        name, told = row["learner"], selection == "own" and read_truth(row, "own")
        if name not in result:
            title, family = row["title"] or name, row["family"] or "other"
            given = row["uses_truth"], row["needs_support"], told, bool(row["told_class_prior"])
            result[name] = ShownLearner(name, title, family, *given)
        elif told and not result[name].selected_with_truth:
            result[name] = replace(result[name], selected_with_truth=True)
    return result


def check_selection(selection: str) -> str:
    selection = current(selection)
    if selection not in SELECTIONS:
        raise InputError(
            f"selection must be one of {listed(SELECTIONS)}, got {selection!r}.{nearest(selection, SELECTIONS)}"
        )
    return selection


def board(
    archive: Archive,
    *,
    metric: str = "accuracy",
    selection: str = "own",
    reference: str = "nnpu",
    condition: str | None = None,
) -> Board:
    """Read an archive under one condition; everything that cannot be said is left empty with a notice.

    >>> import tempfile
    >>> from pulens.research.benchmark.archive import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     board(read(folder))
    Traceback (most recent call last):
    pulens.errors.InputError: the archive has no finished run yet: there is nothing to report.
    """
    metric, selection = check_metric(metric), check_selection(selection)
    chosen = choose(conditions_of(archive.done), condition)
    mine = [row for row in archive.results(selection, metric) if chosen.holds(row)]
    if not mine:
        raise InputError(f"no run under {chosen.name} has the selection {selection!r}; try 'own' or 'last'.")
    known = {row["learner"] for row in archive.done}
    if reference not in known:
        if reference != "nnpu":
            raise InputError(
                f"--reference {reference!r} has no run here; learners are {listed(sorted(known), limit=40)}."
            )
        reference = ""
    return from_rows(mine, chosen, metric, selection, reference or None)


def from_rows(rows: Sequence[Row], condition: Condition, metric: str, selection: str, reference: str | None) -> Board:
    """The same from rows that have been chosen already."""
    kept, dropped = newest(rows)
    facts = facts_of(kept, selection)
    table = cells.cells_of(kept, metric)
    compared = cells.better_is_higher(table, metric)
    competing = {place: own for place, own in compared.items() if not facts[place[0]].uses_truth}
    if reference is not None and reference not in cells.learners_of(competing):
        reference = None
    ordered = tables.ordered(compared)
    ranking, reason = _ranked(competing)
    return Board(
        condition,
        metric,
        selection,
        reference,
        facts,
        tuple(sorted(ordered, key=lambda name: (facts[name].uses_truth, ordered.index(name)))),
        tuple(cells.datasets_of(table)),
        tuple(kept),
        table,
        _undefined(kept, metric),
        published_beside(table) if condition.is_conventional and metric == "accuracy" else {},
        tuple(paired.against_reference(competing, reference)) if reference else (),
        _wilcoxons(competing, reference),
        tuple(paired.win_tie_loss(competing)),
        ranking,
        reason,
        _beliefs(competing, reference),
        tuple(_notices(dropped, reference, metric, table)),
    )


def _undefined(rows: Iterable[Row], metric: str) -> dict[tuple[str, str], int]:
    """How many runs of a learner and data set have no such metric, where there are any."""
    result: dict[tuple[str, str], int] = {}
    for row in rows:
        if not cells.is_defined(row[metric]):
            place = row["learner"], row["dataset"]
            result[place] = result.get(place, 0) + 1
    return result


def _notices(dropped: int, reference: str | None, metric: str, table: Cells) -> Iterator[str]:
    """What a reader of the board should know before believing it."""
    if dropped:
        yield (
            f"{dropped} runs of the same learner, data set and seed with other settings were left out: the newest "
            "count."
        )
    if reference is None:
        yield "there is no run of the reference learner here: nothing is compared with it."
    if facts_of_metric(metric).reads == "ranking" and metric not in STORED:
        yield (
            f"{metric} was computed from archived counts, whose scores are binned where they are many: in the last "
            "digits it may differ from that of all scores."
        )
    if any(len(own) < 2 for own in table.values()):
        yield "some cells have a single seed: they have no spread and no test."


def _ranked(table: Cells) -> tuple[ranks.MeanRanks | None, str | None]:
    try:
        return ranks.rank(table), None
    except InputError as error:
        return None, str(error)


def _others(table: Cells, reference: str) -> list[str]:
    return [name for name in cells.learners_of(table) if name != reference]


def _wilcoxons(table: Cells, reference: str | None) -> dict[str, tuple[int, float, float]]:
    """Data sets, p-value and corrected p-value of every learner against the reference, where there is one."""
    if not reference:
        return {}
    result = {name: paired.wilcoxon(table, name, reference) for name in _others(table, reference)}
    corrected = holm([p for _, p in result.values()])
    return {name: (sets, p, own) for (name, (sets, p)), own in zip(result.items(), corrected, strict=True)}


def _beliefs(table: Cells, reference: str | None) -> dict[str, bayesian.Belief]:
    result: dict[str, bayesian.Belief] = {}
    if not reference:
        return result
    for name in _others(table, reference):
        try:
            result[name] = bayesian.compare(table, name, reference, ROPE)
        except InputError:  # too few data sets in common
            continue
    return result


def published_beside(places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Accuracies of PU-Bench's Table 1 for learners and data sets that it has, as shares.

    >>> published_beside([("dist_pu", "spambase"), ("dist_pu", "digits")])
    {('dist_pu', 'spambase'): 0.8571}
    """
    from pulens.research.benchmark.methods import plain

    known = table_1()
    result = {place: known.get((plain(base_name(place[0])), place[1])) for place in places}
    return {place: round(one.accuracy / 100, 6) for place, one in result.items() if one is not None}


def selections_of(archive: Archive) -> list[str]:
    """Selections that some run has, in their usual order."""
    there = {name for row in archive.done for name in archive._choices[row["key"]]}
    return [name for name in SELECTIONS if name == "own" or name in there]
