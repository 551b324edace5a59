"""``pulens.learners.advise``: three learners to try, and what each is expected to lose against the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import Any

from pulens.answer import Answer, ShownAsText
from pulens.counts.sample import LABELLED
from pulens.errors import AssumptionError, InputError, listed
from pulens.estimate import Interval
from pulens.learning.learners.advice.archived import KINDS, Circumstances, archived
from pulens.learning.learners.advice.expected import CONFIDENCE, expected_losses, likeness
from pulens.learning.learners.base.labels import label_codes
from pulens.scenario import DEFAULT_SCENARIO, check_scenario

WIDTH = 80  # of the text
FEW_NEAR = 0.1  # likeness below which no archived condition is called similar


@dataclass(frozen=True)
class Suggestion(Answer):
    """A learner to try. Losses are shares of rows: 0.01 is one point of accuracy."""

    learner: str
    title: str
    call: str  #: what to write in Python
    expected_loss: float  #: mean accuracy lost against the best learner of each data set
    interval: Interval | None  #: of that mean; None where a single data set stands behind it
    worst_loss: float
    worst_on: str


@dataclass(frozen=True)
class Advice(ShownAsText):
    """Learners to try, what was asked, and which archived runs the answer comes from."""

    suggestions: tuple[Suggestion, ...]
    kind: str
    rows: int
    labelled: int
    scenario: str
    class_prior: float | None
    prior_known: bool
    data_sets: tuple[str, ...]  #: the most similar first
    conditions: str  #: under which the archived runs were made
    compared: tuple[str, ...]  #: every learner that was compared there
    left_out: tuple[tuple[str, str], ...]  #: learners whose archived runs do not count, and why
    notice: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            **asdict(self),
            "suggestions": [one.to_dict() for one in self.suggestions],
            "data_sets": list(self.data_sets),
            "compared": list(self.compared),
            "left_out": [{"learner": name, "because": why} for name, why in self.left_out],
        }

    def __str__(self) -> str:
        return self._text(("in Python:", *(f"  {one.call}" for one in self.suggestions), ""))

    def _text(self, calls: Sequence[str] = ()) -> str:
        """The answer in words; ``calls`` are lines below the table."""
        known = "to be estimated" if not self.prior_known else f"{self.class_prior:.3g}"
        first = self.suggestions[0]
        verdict = (
            f"Try {first.title} first: on similar data it loses {100 * first.expected_loss:.1f} points of accuracy on "
            "average against the best learner."
        )
        lines = [
            *wrap(verdict, WIDTH, break_on_hyphens=False),
            "",
            f"{self.rows:,} rows ({self.kind}), {self.labelled:,} labelled, {self.scenario}, class prior {known}",
            "",
            f"  {'try':<27}{'expected loss':>13}  {'95% interval':<14}worst",
        ]
        for one in self.suggestions:
            interval = "one data set" if one.interval is None else _points(one.interval)
            lines.append(
                f"  {one.title:<27}{100 * one.expected_loss:>13.1f}  {interval:<14}"
                f"{100 * one.worst_loss:.1f} on {one.worst_on}"
            )
        lines += ["", *calls]
        said = [
            "Points of accuracy lost against the best learner of each data set, mean over data sets, similar ones "
            f"weighing more. From archived runs on {_data_sets(self.data_sets)}: {self.conditions}.",
            self.notice or "",
        ]
        if self.left_out:
            names = ", ".join(name for name, _ in self.left_out)
            said.append(f"Not considered (too few runs, older ones than the method, or told true labels): {names}.")
        return "\n".join([*lines, *(line for words in said for line in wrap(words, WIDTH, break_on_hyphens=False))])


MOST_NAMED = 5  # data sets in the answer; the JSON names all


def _data_sets(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} data sets"


def _points(interval: Interval) -> str:
    return f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"


def advise(
    labels: Any = None,
    *,
    rows: int | None = None,
    labelled: int | None = None,
    kind: str = "table",
    class_prior: Any = "auto",
    scenario: str = DEFAULT_SCENARIO,
    positive: Any = None,
    suggestions: int = 3,
) -> Advice:
    r"""Which learners to try first, by what archived runs under similar conditions reached.

    The expected loss of a learner is :math:`\sum_d W_d L_d / \sum_d W_d`, where :math:`L_d` is the test accuracy that
    it loses on data set d against the best learner there, and :math:`W_d` says how similar the conditions were: number
    of labelled rows and of rows, class prior, whether it was known, scenario, kind of data. Labels are taken to be a
    random draw of the positives.

    Parameters
    ----------
    labels
        PU labels, 1 and 0; or give their counts, ``rows`` and ``labelled``.
    kind
        ``"table"``, ``"text"`` (vectors of texts) or ``"picture"``.
    class_prior
        A number, or a range, if it is known; ``"auto"`` or an estimator's name if it has to be estimated.
    suggestions
        How many learners to name.

    >>> found = advise(rows=4000, labelled=300, class_prior=0.3)
    >>> len(found.suggestions), found.suggestions[0].expected_loss <= found.suggestions[1].expected_loss
    (3, True)
    """
    if kind not in KINDS:
        raise InputError(f"kind must be one of {listed(KINDS)}, got {kind!r}.")
    rows, labelled = _counts(labels, rows, labelled, positive)
    if isinstance(suggestions, bool) or not isinstance(suggestions, int) or suggestions < 1:
        raise InputError(f"suggestions must be a whole number of at least 1, got {suggestions!r}.")
    where = str(check_scenario(scenario))
    value = _prior(class_prior)
    if value is not None and where == "single-set" and value < labelled / rows:
        raise AssumptionError(
            f"class_prior {value:.6g} is impossible in the single-set scenario: {labelled:,} labelled rows of {rows:,} "
            "are more. Give a larger one, or scenario='case-control' if labelled rows were collected separately."
        )
    asked = Circumstances(kind, rows, labelled, where, value, value is not None)
    table = archived()
    cells = table.of_kind(kind)
    result = expected_losses(cells, asked)
    likest: dict[str, float] = {}
    for cell in cells:
        if cell.condition.kind == kind:
            likest[cell.data_set] = max(likest.get(cell.data_set, 0.0), likeness(asked, cell.condition))
    near = sorted(likest, key=lambda name: (-likest[name], name))
    notice = _notice(asked, max(likest.values()), [cell.condition for cell in cells if cell.condition.kind == kind])
    compared = tuple(sorted(one.learner for one in result))
    return Advice(
        tuple(
            Suggestion(
                one.learner,
                table.titles[one.learner],
                table.calls[one.learner],
                one.loss,
                None if one.high == float("inf") else Interval(one.low, one.high, CONFIDENCE, "skewed t, data sets"),
                one.worst,
                one.worst_on,
            )
            for one in result[:suggestions]
        ),
        kind,
        rows,
        labelled,
        where,
        value,
        value is not None,
        tuple(near),
        table.sources[table.source_of[kind]],
        compared,
        tuple(sorted((name, why) for name, why in table.left_out.items() if name not in compared)),
        notice,
    )


def _notice(asked: Circumstances, nearest: float, there: list[Circumstances]) -> str | None:
    """What the archived runs do not say about this condition."""
    said = []
    if not asked.prior_known and all(one.prior_known for one in there):
        said.append("Learners were told the class prior there; an estimated one costs its error on top.")
    if all(one.scenario != asked.scenario for one in there):
        said.append(f"No archived run on data of this kind is {asked.scenario}.")
    if nearest < FEW_NEAR:
        said.append("None is close to this: take the order for a hint, and compare the learners on your own rows.")
    return " ".join(said) or None


def _counts(labels: Any, rows: int | None, labelled: int | None, positive: Any) -> tuple[int, int]:
    if labels is not None:
        if rows is not None or labelled is not None:
            raise InputError("give labels, or their counts rows and labelled, not both.")
        codes = label_codes(labels, len(labels), positive=positive, who="advise")
        rows, labelled = len(codes), int((codes == LABELLED).sum())
        if rows and not labelled:
            raise InputError(
                f"there is no labelled positive (1) row among {rows:,}. If another value means labelled, say which: "
                "positive=... (--positive on the command line)."
            )
    if rows is None or labelled is None:
        raise InputError("advise needs labels, or both of rows and labelled: how many rows, and how many of them.")
    for name, value in (("rows", rows), ("labelled", labelled)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"{name} must be a whole number of at least 1, got {value!r}.")
    if labelled >= rows:
        raise InputError(
            f"there must be unlabelled rows: {labelled:,} of {rows:,} rows are labelled positive. If other values mean "
            "unlabelled, say which one means labelled: positive=... (--positive on the command line)."
        )
    return rows, labelled


def _prior(given: Any) -> float | None:
    """The number that stands for what is known of the class prior; None where it is to be estimated."""
    if given is None:
        return None
    if isinstance(given, str):
        from pulens.learning.learners.base.prior import check_estimator_name

        check_estimator_name(given)
        return None
    ends = list(given) if isinstance(given, tuple | list) else [getattr(given, "value", given)]
    numbers = all(isinstance(end, int | float) and not isinstance(end, bool) and 0 < end < 1 for end in ends)
    if not numbers or len(ends) not in (1, 2) or ends != sorted(ends):
        raise AssumptionError(
            f"class_prior must lie strictly between 0 and 1, be a range (low, high) of such numbers, or 'auto' where "
            f"it is not known, got {given!r}."
        )
    return float(sum(ends) / len(ends))
