"""A log of rows that people looked at: which row, whether it was checked, the answer, the chance of being checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.audits.answers import NO, OPEN, POSITIVE, UNDECIDED, YES, Words
from pulens.audits.queue import read_queue
from pulens.errors import InputError, listed, shown
from pulens.inputs.arrays import listed_values, python_values
from pulens.inputs.columns import file_row, find_column, is_null
from pulens.inputs.frames import is_frame, open_frame
from pulens.inputs.tables.whole import read_table
from pulens.notice import Notice, Severity
from pulens.scalars import is_among

UNCHECKED = OPEN  # of a row that nobody looked at


@dataclass(frozen=True, eq=False, kw_only=True)
class ReviewLog:
    """The lines of a log, in its order; ``rows`` (0-based) or ``ids`` say which row of the table each is about.

    ``answers`` holds 1, 0, -1 where a person looked and could not decide, -2 where nobody looked. ``probability`` is
    the chance that the row would be checked; nan where the log says none.

    >>> log = ReviewLog.of({"row": [3, 0], "answer": ["yes", "no"], "probability": [0.5, 1.0]})
    >>> log.rows, log.answers, log.probability
    (array([3, 0]), array([1, 0], dtype=int8), array([0.5, 1. ]))
    """

    answers: NDArray[np.int8]
    probability: NDArray[np.float64]
    rows: NDArray[np.int64] | None = None
    ids: list[Any] | None = None
    name: str = "the reviews"
    says_probability: bool = True
    notices: tuple[Notice, ...] = field(default=())

    def __len__(self) -> int:
        return int(self.answers.size)

    @classmethod
    def of(cls, source: Any, *, id: str | None = None, yes: Sequence[str] = (), no: Sequence[str] = ()) -> ReviewLog:
        """Read a file, a table in memory or a mapping of columns: ``answer``, and perhaps ``checked``, ``probability``,
        ``row`` or the column that ``id`` names.
        """
        if isinstance(source, ReviewLog):
            return source
        columns, name = _columns(source)
        if id is not None:
            find_column(id, columns)
        if "answer" not in columns:
            raise InputError(
                f"{name} has no column 'answer'; its columns are {listed(list(columns), limit=30)}. A review needs "
                "one: 1 or yes, 0 or no, ? where a person could not decide, empty where nobody looked."
            )
        answers = answer_codes(columns["answer"], yes=yes, no=no)
        if "checked" in columns:
            answers = _where_checked(columns["checked"], answers)
        size = answers.size
        given = columns.get("probability")
        probability = np.full(size, np.nan) if given is None else _probabilities(given)
        ids = columns[id] if id is not None else None
        rows = _row_numbers(columns["row"]) if ids is None and "row" in columns else None
        return cls(
            answers=answers,
            probability=probability,
            rows=rows,
            ids=ids,
            name=name,
            says_probability=given is not None,
        )

    def places(self, size: int, ids: Sequence[Any] | None = None) -> NDArray[np.int64]:
        """The row of the table that each line is about; lines without a number or an id are about all rows in order."""
        if self.ids is not None:
            return self._places_of_ids(ids)
        if self.rows is None:
            if len(self) != size:
                raise InputError(
                    f"{self.name} has {len(self):,} lines and no column 'row', the table {size:,} rows: nothing says "
                    "which row a line is about. Add a column 'row' (0 is the first), or name the column of ids."
                )
            return np.arange(size)
        wrong = np.flatnonzero((self.rows < 0) | (self.rows >= size))
        if wrong.size:
            raise InputError(
                f"{self.name} is about row {self.rows[wrong[0]]} in {file_row(int(wrong[0]))}, and the table has rows "
                f"0 to {size - 1}. Was the table changed or sorted since the rows were drawn?"
            )
        return self.rows

    def _places_of_ids(self, ids: Sequence[Any] | None) -> NDArray[np.int64]:
        if ids is None:
            raise InputError(f"{self.name} names rows by an id, and the rows were given without one.")
        known: dict[str, int] = {}
        for index, one in enumerate(ids):
            if known.setdefault(str(one), index) != index:
                raise InputError(f"the id {shown(one)} occurs twice in the table: it does not say which row is meant.")
        result = np.empty(len(self), np.int64)
        for line, one in enumerate(self.ids or ()):
            if str(one) not in known:
                raise InputError(f"{self.name} is about {shown(one)} in {file_row(line)}: no row has this id.")
            result[line] = known[str(one)]
        return result

    def once(self, indices: NDArray[np.int64]) -> tuple[NDArray[np.int64], tuple[Notice, ...]]:
        """The lines to keep, one a row of the table; two different answers for one row are refused."""
        order = np.argsort(indices, kind="stable")
        same = np.flatnonzero(indices[order][1:] == indices[order][:-1])
        if not same.size:
            return np.arange(indices.size), ()
        first, second = order[same], order[same + 1]
        other = (self.answers[first] != self.answers[second]) | (
            np.nan_to_num(self.probability[first], nan=-1) != np.nan_to_num(self.probability[second], nan=-1)
        )
        if other.any():
            rows = listed([int(row) for row in np.unique(indices[first[other]])], limit=10)
            raise InputError(
                f"{self.name} has different answers or chances for the same row: rows {rows}. Keep one line a row; if "
                "two people disagree, write ?."
            )
        kept = np.setdiff1d(np.arange(indices.size), second)
        words = f"{second.size:,} lines of {self.name} repeat a row with the same answer; each row was counted once."
        return kept, (Notice(Severity.NOTE, "review-repeated", words),)


def answer_codes(values: Sequence[Any], *, yes: Sequence[str] = (), no: Sequence[str] = ()) -> NDArray[np.int8]:
    """Answers as people write them: 1, 0, -1 for ``?`` or ``unsure``, -2 for an empty cell.

    >>> answer_codes(["Yes", "no", "?", "", None, 1.0, True])
    array([ 1,  0, -1, -2, -2,  1,  1], dtype=int8)
    """
    words = Words(yes, no)
    result = np.empty(len(values), np.int8)
    for line, value in enumerate(values):
        # in a log somebody looked and did not know
        meaning = UNDECIDED if is_among(value, ("?",)) else words.meaning(value)
        if meaning is None:
            raise InputError(
                f"the answer {shown(value)} in {file_row(line)} is none of {', '.join((*YES, *NO))}, ? or empty. "
                "Declare it: yes=[...] or no=[...]."
            )
        result[line] = meaning
    return result


def _where_checked(values: Sequence[Any], answers: NDArray[np.int8]) -> NDArray[np.int8]:
    """Whether somebody looked decides: an answer without a look is refused, a look without one is undecided."""
    checked = answer_codes(values) == POSITIVE
    stray = np.flatnonzero(~checked & (answers != UNCHECKED))
    if stray.size:
        raise InputError(
            f"{file_row(int(stray[0]))} has an answer, and its column 'checked' does not say 1: was it checked?"
        )
    return np.where(checked & (answers == UNCHECKED), UNDECIDED, answers).astype(np.int8)


def _probabilities(values: Sequence[Any]) -> NDArray[np.float64]:
    result = np.full(len(values), np.nan)
    for line, value in enumerate(values):
        if is_null(value) or str(value).strip() == "":
            continue
        try:
            result[line] = float(value)
        except (TypeError, ValueError, OverflowError):  # a whole number may have 400 digits
            result[line] = np.inf
        if not 0 <= result[line] <= 1:
            raise InputError(
                f"the probability {shown(value)} in {file_row(line)} must lie in (0, 1], or be 0 for "
                "rows that nobody could have checked."
            )
    return result


def _row_numbers(values: Sequence[Any]) -> NDArray[np.int64]:
    result = np.empty(len(values), np.int64)
    for line, value in enumerate(values):
        try:
            number = float(value)
            result[line] = int(number)
        except (TypeError, ValueError, OverflowError):
            number = np.nan
        if number != result[line]:
            raise InputError(f"the row {shown(value)} in {file_row(line)} is not a whole number; 0 is the first row.")
    return result


def _columns(source: Any) -> tuple[dict[str, list[Any]], str]:
    if isinstance(source, str | Path):
        is_sheet = Path(source).suffix.lower() == ".xlsx"
        table = read_queue(source) if is_sheet else read_table(source)
        return {name: table.column(name) for name in table.names}, Path(source).name
    if isinstance(source, Mapping):
        result = {str(name): listed_values(values) for name, values in source.items()}
        if len({len(values) for values in result.values()}) > 1:
            raise InputError("the columns of the reviews have different lengths.")
        return result, "the reviews"
    if is_frame(source):
        frame = open_frame(source)
        return {name: python_values(frame.get_column(name)) for name in frame.columns}, "the reviews"
    raise InputError(
        f"reviews must be a file, a table, a mapping of columns or the answer of an audit, got {type(source).__name__}."
    )
