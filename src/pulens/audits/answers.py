"""What people wrote into a queue: which rows are positive, which negative, which nobody could decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.audits.counts import AuditCounts, CheckedRows
from pulens.audits.plan import AuditPlan
from pulens.audits.queue import ENDINGS, RESERVED, ROW, read_queue
from pulens.errors import InputError, listed, shown
from pulens.inputs.columns import file_row, find_column, is_null
from pulens.inputs.tables.whole import Table
from pulens.notice import Notice, Severity

POSITIVE, NEGATIVE, UNDECIDED = 1, 0, -1
OPEN = -2  # nobody wrote anything
YES = ("1", "yes", "true", "positive", "+")
NO = ("0", "no", "false", "negative", "-", "\u2212")
UNSURE = ("unsure", "undecided", "unclear", "unknown", "maybe", "don't know", "dont know", "not sure", "skip")
MOST_UNDECIDED = 0.05  # share of rows looked at, above which a reader is warned


@dataclass(frozen=True, eq=False)
class ReadAnswers:
    """Rows that were looked at, in the order of the queue, and what was noticed while they were read."""

    counts: AuditCounts
    checked: CheckedRows
    notices: tuple[Notice, ...]
    reached: int

    def __len__(self) -> int:
        return len(self.checked)


class Words:
    """Which words mean yes and which no, in any case; what a caller adds comes before what is usual.

    >>> words = Words(yes=["fraud"], no=["ok"])
    >>> [words.meaning(one) for one in ("Fraud", "OK", " yes", True, 0.0, "?", None, "unsure")]
    [1, 0, 1, 1, 0, -2, -2, -1]
    """

    def __init__(self, yes: Iterable[str] | str = (), no: Iterable[str] | str = ()) -> None:
        given = [[_word(one) for one in ([words] if isinstance(words, str) else words)] for words in (yes, no)]
        both = sorted(set(given[0]) & set(given[1]))
        if both or "" in given[0] + given[1]:
            raise InputError(
                f"a word must mean one answer: {shown(both[0]) if both else 'an empty one'} was given as "
                f"{'both yes and no' if both else 'a word'}."
            )
        self._meanings = dict.fromkeys(YES, POSITIVE) | dict.fromkeys(NO, NEGATIVE) | dict.fromkeys(UNSURE, UNDECIDED)
        self._meanings |= {"": OPEN, "?": OPEN} | dict.fromkeys(given[0], POSITIVE) | dict.fromkeys(given[1], NEGATIVE)

    def meaning(self, value: Any) -> int | None:
        """1, 0, -1 for a person who could not decide, -2 for no answer; ``None`` for a word that means nothing."""
        return self._meanings.get(_word(value))


def _word(value: Any) -> str:
    if is_null(value):
        return ""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = " ".join(str(value).split()).casefold()
    return text[:-2] if text in ("1.0", "0.0") else text


def read_answers(
    plan: AuditPlan, path: str | PathLike[str], *, yes: Iterable[str] | str = (), no: Iterable[str] | str = ()
) -> ReadAnswers:
    """Match the rows of a queue, in whatever order they come, to those of its plan, and count what was found.

    Rows after the last answered one were not reached and are cut off: what is left is an audit as valid as the whole.
    Rows before it without an answer, or missing in the file, are rows that nobody could decide; they are never dropped.
    """
    table = read_queue(path)
    try:
        return answers_of(plan, table, Words(yes, no))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def answers_of(plan: AuditPlan, table: Table, words: Words) -> ReadAnswers:
    """The same of a table that is read already."""
    codes, given, twice = _codes(plan, table, "answer", words)
    return _counted(plan, codes, twice, sum(name not in given for name in plan.rows.name))


def is_queue_name(name: str | PathLike[str]) -> bool:
    """Whether a name ends like that of a queue's file, rather than being a column's.

    >>> is_queue_name("other.csv"), is_queue_name("answer2")
    (True, False)
    """
    return Path(name).suffix.lower() in ENDINGS


def read_second(
    plan: AuditPlan,
    path: str | PathLike[str],
    second: str | PathLike[str],
    *,
    yes: Iterable[str] | str = (),
    no: Iterable[str] | str = (),
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What two judges said about each planned row: 1, 0, or below 0 where one of them did not say.

    ``second`` is a file if its name ends like one of a queue, else a column of the first judge's queue.
    """
    words, apart = Words(yes, no), is_queue_name(second)
    ours = (*RESERVED, ROW if plan.id is None else plan.id)
    if str(second) in ours or (apart and Path(second).resolve() == Path(path).resolve()):
        raise InputError(
            f"{second}: this is the first reviewer's queue, or one of its own columns. The second reviewer's "
            "answers go in another column of it, or in their own queue."
        )
    result = []
    for source, column in ((path, "answer"), (second, "answer") if apart else (path, str(second))):
        table = read_queue(source)
        try:
            result.append(_codes(plan, table, column, words)[0])
        except InputError as error:
            asked = ""
            if column != "answer" and column not in table.names:
                asked = f" The second reviewer's answers are a column of the queue, or a file ({', '.join(ENDINGS)})."
            raise InputError(f"{source}: {error}{asked}") from error
    return result[0], result[1]


def _codes(
    plan: AuditPlan, table: Table, column: str, words: Words
) -> tuple[NDArray[np.int64], dict[str, list[int]], int]:
    """The meaning of each planned row's answer, the rows of the table by name, and how many stand there twice."""
    answers = table.column(find_column(column, table.names))
    _check_probabilities(table)
    given: dict[str, list[int]] = {}
    for name, index in _matched(plan, table):
        meaning = words.meaning(answers[index])
        if meaning is None:
            raise InputError(
                f"the answer {shown(answers[index])} in {file_row(index)} is neither yes nor no. Answers are "
                f"{', '.join(YES)} or {', '.join(NO[:-1])}, nothing or ? where there is none, unsure; declare other "
                "words where the queue is read: read_audit(..., yes=..., no=...), or pulens audit read --yes and --no."
            )
        given.setdefault(name, []).append(meaning)
    meanings, twice = _once(given)
    return np.array([meanings.get(name, OPEN) for name in plan.rows.name], np.int64), given, twice


def cells_of(plan: AuditPlan, table: Table) -> dict[str, dict[str, Any]]:
    """What stands in each row of a queue and stays in it when more rows are added, answers in any words.

    Of a row that stands there twice the one with an answer counts.
    """
    answers = table.column(find_column("answer", table.names))
    ours = (ROW if plan.id is None else plan.id, "batch", "probability")
    result: dict[str, dict[str, Any]] = {}
    for name, index in _matched(plan, table):
        cells = {
            column: values[index]
            for column, values in zip(table.names, table.columns, strict=True)
            if column and column not in ours
        }
        if name in result and not is_null(answers[index]) and not is_null(result[name]["answer"]):
            if _word(answers[index]) != _word(result[name]["answer"]):
                raise InputError(
                    f"the row {shown(name)} was answered twice, and differently. Keep one answer for each."
                )
        elif name not in result or not is_null(answers[index]):
            result[name] = cells
    return result


def _matched(plan: AuditPlan, table: Table) -> list[tuple[str, int]]:
    """The planned row that each row of a table is, and its place there; blank lines are left out."""
    column = ROW if plan.id is None else plan.id
    told = table.column(column)
    find = _finder(plan.rows.name)
    named = [values for name, values in zip(table.names, table.columns, strict=True) if name]
    result, strange = [], []
    for index, value in enumerate(told):
        if is_null(value) and all(is_null(values[index]) for values in named):
            continue
        name = find(value)
        if name is None:
            strange.append((value, index))
        else:
            result.append((name, index))
    _refuse_strange(strange, column)
    return result


def _finder(names: Sequence[str]) -> Any:
    """Finds the planned row that a cell names; spreadsheets turn 007 into 7 and 7 into 7.0."""
    exact = set(names)
    loose: dict[str, str | None] = {}
    for name in names:
        key = _loose(name)
        loose[key] = None if key in loose else name

    def find(value: Any) -> str | None:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = "" if is_null(value) else str(value)
        if text in exact:
            return text
        return loose.get(_loose(text))

    return find


def _loose(text: str) -> str:
    word = text.strip()
    whole = word[:-2] if word.endswith(".0") else word
    return str(int(whole)) if whole.isascii() and whole.isdigit() and len(whole) < 300 else word


def _refuse_strange(strange: list[tuple[Any, int]], column: str) -> None:
    if not strange:
        return
    name, index = strange[0]
    if is_null(name):
        raise InputError(f"{file_row(index)} has no {column!r}, so it is unclear which row was answered.")
    raise InputError(
        f"{len(strange):,} row{'s are' if len(strange) > 1 else ' is'} not in the plan: {column} "
        f"{listed([name for name, _ in strange], limit=5)}, first in {file_row(index)}. Is the plan that of this "
        "queue? Rows that were not drawn by it say nothing about the others: take them out."
    )


def _once(given: Mapping[str, list[int]]) -> tuple[dict[str, int], int]:
    """One meaning for each row; a row answered twice must have been answered alike."""
    result: dict[str, int] = {}
    different, twice = [], 0
    for name, answers in given.items():
        meanings = set(answers) - {OPEN}
        twice += len(answers) > 1
        if len(meanings) > 1:
            different.append(name)
        result[name] = next(iter(meanings), OPEN)
    if different:
        raise InputError(
            f"{len(different):,} row{'s were' if len(different) > 1 else ' was'} answered twice, and differently: "
            f"{listed(different, limit=5)}. Keep one answer for each."
        )
    return result, twice


def _check_probabilities(table: Table) -> None:
    """The plan knows each row's chance; a queue that tells another story was damaged."""
    if "probability" not in table.names:
        return
    names = [index for index, name in enumerate(table.names) if name]
    for index, value in enumerate(table.column("probability")):
        if all(is_null(table.columns[column][index]) for column in names):
            continue
        try:
            number = float(str(value).replace(",", "."))
        except ValueError:
            number = float("nan")
        if not 0 < number <= 1:
            seen = "nothing" if is_null(value) else shown(value)
            raise InputError(
                f"the probability in {file_row(index)} must lie above 0 and be at most 1, got {seen}. It is the chance "
                "that the row was drawn: take the file that was written, or leave the column out."
            )


def _counted(
    plan: AuditPlan,
    codes: NDArray[np.int64],
    twice: int,
    missing: int,
) -> ReadAnswers:
    answered = np.flatnonzero(codes != OPEN)
    reached = int(answered[-1]) + 1 if answered.size else 0
    seen = np.where(codes[:reached] == OPEN, UNDECIDED, codes[:reached])
    stratum = plan.rows.stratum[:reached]
    size = len(plan.strata)

    def count(which: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(stratum[which], minlength=size).astype(np.int64)

    counts = plan.counts_of(count(seen >= UNDECIDED), count(seen == POSITIVE), count(seen == UNDECIDED))
    checked = CheckedRows(stratum=stratum.astype(np.int64), score=plan.rows.score[:reached], answer=seen)
    return ReadAnswers(counts, checked, tuple(_notices(seen, twice, missing, len(codes))), reached)


def _notices(seen: NDArray[np.int64], twice: int, missing: int, planned: int) -> Iterator[Notice]:
    undecided = int((seen == UNDECIDED).sum())
    if 0 < undecided <= MOST_UNDECIDED * seen.size:  # more are warned of where numbers are made of them
        yield Notice(
            Severity.NOTE,
            "undecided-rows",
            f"{undecided:,} of {seen.size:,} checked rows have no yes or no: values count them half, and "
            "intervals hold whatever they are.",
        )
    if missing:
        yield Notice(
            Severity.NOTE,
            "missing-rows",
            f"{missing:,} of the {planned:,} rows of the plan are missing in the queue: those before the last "
            "answered row count as undecided, the others as not reached.",
        )
    if twice:
        yield Notice(
            Severity.NOTE,
            "doubled-rows",
            f"{twice:,} row{'s stand' if twice > 1 else ' stands'} in the queue more than once, answered alike: "
            "counted once.",
        )
