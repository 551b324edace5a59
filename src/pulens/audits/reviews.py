"""Reviews that people already have: an audit, if every row's chance of being checked is known.

Rows of one chance are a cell, and given how many of a cell were checked, they are a simple random sample of it. Cells
are cut at whatever is decided about rows (a threshold, the decisions of two models): given how many checked rows fell
into each part, these are again simple random samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.audits.answers import NEGATIVE, POSITIVE, UNDECIDED
from pulens.audits.counts import AuditCounts, CheckedRows
from pulens.audits.review_log import UNCHECKED, ReviewLog, answer_codes
from pulens.containers import plain_array
from pulens.errors import AssumptionError, InputError, shown
from pulens.inputs.columns import array_row, file_row
from pulens.notice import Notice, Severity
from pulens.scalars import real
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario

MOST_CHANCES = 50
OUTSIDE = -1  # the cell of rows whose class was known without the review
UNLIKELY = 6.0  # standard deviations by which the rows checked may miss the share that was said
HOW_CHOSEN = (
    "say how the rows were chosen: a column 'probability' (the chance that each row would be checked), or "
    "reviewed_above= with reviewed_below_share= (--reviewed-above, --reviewed-below-share). Rows that somebody picked "
    "prove nothing about the others."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Reviews:
    """What is known of every row of a table after a review; rows named in it are unlabelled rows that were looked at.

    ``cell`` is the cell of equal chance that a row lies in (-1: its class was known without the review), ``answer``
    1, 0, -1 (could not be decided) or -2 (not checked), ``labels`` those of the table with reviewed rows put back among
    the unlabelled ones, ``probability`` the chance of each cell.

    >>> reviews = Reviews.reviewed_above([0, 0, -1, 0, 0], [9, 8, 7, 3, 2], 7, answers=[1, 1, 0, None, None])
    >>> reviews.probability, reviews.labels, reviews.answer
    (array([1., 0.]), array([0, 0, 0, 0, 0], dtype=int8), array([ 1,  1,  0, -2, -2], dtype=int8))
    >>> counts = reviews.counts(reviews.scores >= 8)
    >>> counts.rows, counts.checked, counts.found
    (array([2, 1, 2]), array([2, 1, 0]), array([2, 0, 0]))
    """

    cell: NDArray[np.int64]
    answer: NDArray[np.int8]
    labels: NDArray[np.int8]
    scores: NDArray[np.floating[Any]]
    probability: NDArray[np.float64]
    scenario: Scenario = Scenario.SINGLE_SET
    how: str = "probabilities given row by row"
    relabelled: int = 0  # checked rows whose answer stands in the table as a label by now
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        for values in (self.cell, self.answer, self.labels, self.probability):
            values.flags.writeable = False  # frozen guards the names, not what the arrays hold

    def __str__(self) -> str:
        checked = int((self.answer != UNCHECKED).sum())
        result = int((self.answer == POSITIVE).sum())
        return f"Reviews({checked:,} rows checked, {result:,} positive, {self.probability.size} chances)"

    @property
    def is_checked(self) -> NDArray[np.bool_]:
        return np.asarray(self.answer != UNCHECKED)

    @classmethod
    def joined(
        cls,
        log: Any,
        labels: Any,
        scores: Any,
        *,
        ids: Sequence[Any] | None = None,
        scenario: str = DEFAULT_SCENARIO,
    ) -> Reviews:
        """A log with chances, joined to the rows of the table by position, row number or id.

        The log may say the chance of every row; or list only the rows that were drawn. Then a cell's size is what its
        rows and its chance say (listed / probability), and must be found in the table: cells that are ranges of scores.
        """
        result = ReviewLog.of(log)
        label, score = np.array(labels, np.int8), np.asarray(scores)
        if not result.says_probability:
            raise AssumptionError(f"{result.name} does not say with what probability rows were checked: {HOW_CHOSEN}")
        indices = result.places(label.size, ids)
        kept, notices = result.once(indices)
        indices, answers, chances = indices[kept], result.answers[kept], result.probability[kept]
        _refuse_unknown_chance(result, kept, answers, chances)
        answer = np.full(label.size, UNCHECKED, np.int8)
        answer[indices] = answers
        chance = np.full(label.size, np.nan)
        chance[indices] = chances
        put_back = _put_back(label, answer)
        is_open = put_back == 0
        if np.isnan(chance[is_open]).any():
            answer[indices] = _as_worked_through(answers)
            put_back = _put_back(label, answer)
            cell, values = _ranges(score, put_back == 0, indices, chances, result.name)
        else:
            cell, values = _cells(chance, is_open)
        told = cls(
            cell=cell,
            answer=answer,
            labels=put_back,
            scores=score,
            probability=values,
            scenario=Scenario(check_scenario(scenario)),
            relabelled=int((put_back != label).sum()),
            notices=notices,
        )
        return told._with_open_certain()

    @classmethod
    def reviewed_above(
        cls,
        labels: Any,
        scores: Any,
        above: Any,
        *,
        below_share: float | None = None,
        answers: Any = None,
        scenario: str = DEFAULT_SCENARIO,
    ) -> Reviews:
        """Every row that scores ``above`` or more was checked, and a random share of the others if one is said.

        Without ``answers`` the labels are the answers: rows that score as much and are labelled positive or known
        negative were found so by the review.
        """
        label, score = np.array(labels, np.int8), np.asarray(scores)
        threshold = _check_above(above)
        share = _check_share(below_share)
        checked_scenario = Scenario(check_scenario(scenario))
        high = score >= threshold
        if not high.any():
            raise InputError(
                f"no row scores {threshold:g} or more, the highest {float(score.max()):g}: was nothing reviewed?"
            )
        answer = _answers_in_labels(label, high, checked_scenario, share) if answers is None else _codes(answers)
        if answer.size != label.size:
            raise InputError(f"there are {answer.size:,} answers for {label.size:,} rows: give one for each, or empty.")
        low_checked = int((answer[~high] != UNCHECKED).sum())
        if low_checked and not share:
            first = int(np.flatnonzero(~high & (answer != UNCHECKED))[0])
            raise AssumptionError(
                f"{low_checked:,} rows below {threshold:g} were checked too, {array_row(first)} the first: {HOW_CHOSEN}"
            )
        put_back = _put_back(label, answer)
        cell = np.where(put_back != 0, OUTSIDE, np.where(high, 0, 1)).astype(np.int64)
        told = cls(
            cell=cell,
            answer=answer,
            labels=put_back,
            scores=score,
            probability=np.array([1.0, share or 0.0]),
            scenario=checked_scenario,
            relabelled=int((put_back != label).sum()),
            how=f"all rows that score {threshold:g} or more" + (f", {share:.4g} of the others" if share else ""),
        )
        return told._with_open_certain()._beside_the_share()

    def counts(self, decision: Any) -> AuditCounts:
        """Rows, checked and found in each cell, cut by a decision about every row; flagged cells come first."""
        return self._cut(self._decided(decision))[0]

    def checked_rows(self, decision: Any) -> CheckedRows:
        """The rows that were looked at, with the stratum that :meth:`counts` gives them."""
        stratum = self._cut(self._decided(decision))[1]
        rows = np.flatnonzero(self.is_checked)
        return CheckedRows(
            stratum=stratum[rows], score=self.scores[rows].astype(np.float64), answer=self.answer[rows].astype(np.int64)
        )

    def chances(self, decision: Any) -> NDArray[np.float64]:
        """The chance of each stratum that :meth:`counts` gives."""
        chosen = self._strata(self._decided(decision))
        return np.array([self.probability[cell] for _, cell in chosen])

    def sibling_share(self, decision: Any) -> NDArray[np.float64]:
        """The share found in the whole cell of each stratum: what stands in where a part of it was not checked."""
        seen = (self.answer == POSITIVE) + (self.answer == UNDECIDED) / 2
        of_cell = np.full(self.probability.size, np.nan)
        for cell in range(of_cell.size):
            mine = self.is_checked & (self.cell == cell)
            if mine.any():
                of_cell[cell] = float(seen[mine].mean())
        return np.array([of_cell[cell] for _, cell in self._strata(self._decided(decision))])

    def are_ranges(self, decision: Any) -> bool:
        """Whether each stratum is a range of scores, so that the chance of being checked depends on the score alone."""
        flagged = self._decided(decision)
        return self._ranges(self._strata(flagged), flagged) is not None

    def _strata(self, flagged: NDArray[np.bool_]) -> list[tuple[bool, int]]:
        """Which cells there are on each side, the flagged first, higher scores before lower ones."""
        inside = self.cell != OUTSIDE
        result = []
        for side in (True, False):
            here = inside & (flagged == side)
            cells = np.unique(self.cell[here])
            means = [_mean(self.scores[here & (self.cell == one)]) for one in cells]
            result += [(side, int(cells[index])) for index in np.argsort(np.negative(means), kind="stable")]
        return result

    def _ranges(self, strata: list[tuple[bool, int]], flagged: NDArray[np.bool_]) -> list[float] | None:
        """The lowest score of each stratum, if every stratum lies below the one before it."""
        lowest: list[float] = []
        for side, cell in strata:
            mine = self.scores[(self.cell == cell) & (flagged == side)]
            if lowest and float(mine.max()) >= lowest[-1]:
                return None
            lowest.append(float(mine.min()))
        return lowest

    def _decided(self, decision: Any) -> NDArray[np.bool_]:
        """A decision about every row, checked."""
        result = plain_array(decision)
        if result.dtype.kind not in "biuf":
            raise InputError(f"a decision must be True or False for each row, got {shown(decision)}.")
        if result.shape != self.cell.shape:
            raise InputError(f"there are {result.size:,} decisions for {self.cell.size:,} rows: give one for each.")
        return result.astype(bool)

    def _cut(self, flagged: NDArray[np.bool_]) -> tuple[AuditCounts, NDArray[np.int64]]:
        strata = self._strata(flagged)
        stratum = np.full(self.cell.size, -1, np.int64)
        for index, (side, cell) in enumerate(strata):
            stratum[(self.cell == cell) & (flagged == side)] = index
        size, inside = len(strata), stratum >= 0

        def per_stratum(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
            return np.bincount(stratum[inside & rows], minlength=size)

        counts = AuditCounts(
            rows=per_stratum(inside),
            checked=per_stratum(self.is_checked),
            found=per_stratum(self.answer == POSITIVE),
            undecided=per_stratum(self.answer == UNDECIDED),
            labelled=self._known(1, flagged, strata),
            known_negative=self._known(-1, flagged, strata),
            flagged=sum(side for side, _ in strata),
            scenario=self.scenario,
        )
        return counts, stratum

    def _known(self, code: int, flagged: NDArray[np.bool_], strata: list[tuple[bool, int]]) -> NDArray[np.int64]:
        """Rows whose class was known before, in the range that their score lies in.

        Where cells are no ranges these rows belong to none of them, and the first on their side holds them: all that
        numbers at the threshold read of them is the side.
        """
        result = np.zeros(len(strata), np.int64)
        edges = self._ranges(strata, flagged)
        for side in (True, False):
            mine = self.scores[(self.labels == code) & (flagged == side)].astype(np.float64)
            here = [index for index, (one, _) in enumerate(strata) if one is side]
            if not mine.size:
                continue
            if not here:
                raise InputError(
                    f"{mine.size:,} labelled rows and no unlabelled one lie {'at or above' if side else 'below'} the "
                    "threshold: choose a threshold between unlabelled rows."
                )
            at = np.zeros(mine.size, np.int64)
            if edges is not None:
                lowest = np.array([edges[index] for index in here[:-1]])
                at = (mine[:, None] < lowest[None, :]).sum(axis=1)
            result += np.bincount(np.array(here)[at], minlength=len(strata))
        return result

    def _with_open_certain(self) -> Reviews:
        """Rows that were certain to be checked and have no answer: nobody knows, which is not that nobody looked."""
        certain = (self.cell != OUTSIDE) & (self.probability[np.maximum(self.cell, 0)] == 1)
        missing = certain & (self.answer == UNCHECKED)
        if not missing.any():
            return self
        words = (
            f"{int(missing.sum()):,} rows that were certain to be checked have no answer: they count as undecided, and "
            "every range holds both of what they may be."
        )
        answer = np.where(missing, UNDECIDED, self.answer).astype(np.int8)
        return replace(
            self, answer=answer, notices=(*self.notices, Notice(Severity.WARNING, "review-incomplete", words))
        )

    def _beside_the_share(self) -> Reviews:
        """A word if far more or fewer rows were checked below than was said."""
        share, below = float(self.probability[-1]), self.cell == 1
        rows, checked = int(below.sum()), int((below & self.is_checked).sum())
        if not share or abs(checked - share * rows) <= UNLIKELY * math.sqrt(rows * share * (1 - share)) + 1:
            return self
        words = (
            f"{checked:,} of {rows:,} rows below were checked, and a share of {share:.4g} would be about "
            f"{share * rows:,.0f}: were they drawn at random among all rows below?"
        )
        return replace(self, notices=(*self.notices, Notice(Severity.WARNING, "review-share", words)))


def _codes(answers: Any) -> NDArray[np.int8]:
    given = np.asarray(answers)
    if given.dtype.kind == "i" and np.isin(given, (POSITIVE, NEGATIVE, UNDECIDED, UNCHECKED)).all():
        return given.astype(np.int8)
    return answer_codes(list(answers))


def _put_back(labels: NDArray[np.int8], answer: NDArray[np.int8]) -> NDArray[np.int8]:
    """Rows of the review back among the unlabelled ones: a found positive is no label, a found negative no draw."""
    return np.where(answer != UNCHECKED, 0, labels).astype(np.int8)


def _refuse_unknown_chance(
    log: ReviewLog, kept: NDArray[np.int64], answers: NDArray[np.int8], chances: NDArray[np.float64]
) -> None:
    looked = answers != UNCHECKED
    unknown = np.flatnonzero(looked & (np.isnan(chances) | (chances == 0)))
    if unknown.size:
        seen = "none" if np.isnan(chances[unknown[0]]) else "0"
        raise InputError(
            f"{log.name}: the row of {file_row(int(kept[unknown[0]]))} was checked and its probability is {seen}, so "
            f"{unknown.size:,} of {int(looked.sum()):,} checked rows had no known chance: {HOW_CHOSEN}"
        )
    if not looked.any():
        raise InputError(f"{log.name} has no answer yet: no row was checked.")
    different = np.unique(chances[~np.isnan(chances)])
    if different.size > MOST_CHANCES:
        raise InputError(
            f"{log.name} has {different.size:,} different probabilities, at most {MOST_CHANCES} are handled. "
            "Round them down to a few values before the rows are drawn: rounding afterwards makes them wrong."
        )


def _cells(chance: NDArray[np.float64], inside: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    values = np.unique(chance[inside])[::-1]
    cell = np.full(chance.size, OUTSIDE, np.int64)
    for index, value in enumerate(values):
        cell[inside & (chance == value)] = index
    return cell, np.ascontiguousarray(values)


def _as_worked_through(answers: NDArray[np.int8]) -> NDArray[np.int8]:
    """A list of drawn rows, from its top: open before the last answer is undecided, after it not reached."""
    answered = np.flatnonzero((answers == POSITIVE) | (answers == NEGATIVE))
    last = int(answered[-1]) if answered.size else -1
    before = np.arange(answers.size) <= last
    return np.where(before & (answers == UNCHECKED), UNDECIDED, answers).astype(np.int8)


def _mean(scores: NDArray[np.floating[Any]]) -> float:
    """Each divided before the sum, which scores near the largest number would overflow."""
    return float((scores / max(scores.size, 1)).sum())


def _ranges(
    scores: NDArray[np.floating[Any]],
    inside: NDArray[np.bool_],
    indices: NDArray[np.int64],
    chances: NDArray[np.float64],
    name: str,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Cells of a log that lists drawn rows only: ranges of scores whose sizes the rows and their chance give."""
    refused = (
        f"{name} lists only the rows that were drawn, and their probabilities do not match ranges of scores of this "
        f"table ({{}}). Give the probability of every row, checked or not; or keep the plan file next to the queue."
    )
    drawn = inside[indices]
    indices, chances = indices[drawn], chances[drawn]
    values, of = np.unique(chances, return_inverse=True)
    with np.errstate(over="ignore"):  # a chance may be next to nothing: rows without number, which are refused below
        sizes = np.bincount(of) / values
    whole = np.round(np.minimum(sizes, scores.size + 1.0)).astype(np.int64)
    if (np.abs(sizes - whole) > 1e-6 * np.maximum(sizes, 1)).any() or int(whole.sum()) != int(inside.sum()):
        told = f"they are about {sizes.sum():,.6g} rows, there are {int(inside.sum()):,} unlabelled ones"
        raise InputError(refused.format(told))
    order = np.argsort([-_mean(scores[indices[of == one]]) for one in range(values.size)], kind="stable")
    ranked = np.sort(scores[inside])[::-1]
    ends = np.cumsum(whole[order])
    cell = np.full(scores.size, OUTSIDE, np.int64)
    start = 0
    for index, (one, end) in enumerate(zip(order, ends, strict=True)):
        high, low = ranked[start], ranked[end - 1]
        if end < ranked.size and ranked[end] == low:
            raise InputError(refused.format(f"the score {low:g} lies in two of them"))
        mine = scores[indices[of == one]]
        if (mine > high).any() or (mine < low).any():
            stray = float(mine[(mine > high) | (mine < low)][0])
            raise InputError(refused.format(f"a row of chance {values[one]:.6g} scores {stray:g}"))
        cell[inside & (scores <= high) & (scores >= low)] = index
        start = int(end)
    return cell, values[order]


def _answers_in_labels(
    labels: NDArray[np.int8], high: NDArray[np.bool_], scenario: Scenario, share: float | None
) -> NDArray[np.int8]:
    if scenario is not Scenario.SINGLE_SET or share:
        why = "rows below were checked too" if share else "labelled rows were collected separately"
        raise InputError(
            f"the labels alone do not say which rows the review found, since {why}: give the answers (reviews=, "
            "--reviews FILE)."
        )
    if not (high & (labels == -1)).any():
        raise InputError(
            "no reviewed row is known to be negative, so the labels are not the answers of a review: give the answers "
            "(reviews=, --reviews FILE), or label what was checked and found negative as -1."
        )
    below = int((~high & (labels == -1)).sum())
    if below:
        raise AssumptionError(f"{below:,} rows below are known to be negative too: {HOW_CHOSEN}")
    return np.where(high & (labels != 0), (labels == 1).astype(np.int8), UNCHECKED).astype(np.int8)


def _check_above(above: Any) -> float:
    number = real(above)
    if math.isnan(number):
        raise AssumptionError(
            f"reviewed_above must be a score, got {shown(above)}: rows that score it or more were checked."
        )
    return number


def _check_share(share: Any) -> float | None:
    if share is None:
        return None
    number = real(share)
    if not 0 < number <= 1:
        raise AssumptionError(
            f"reviewed_below_share must lie in (0, 1], got {shown(share)}: the share of the rows below, drawn at "
            "random."
        )
    return number
