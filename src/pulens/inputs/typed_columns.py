"""Tables of features as people have them: columns of numbers, truth values, dates and categories, with gaps.

What a column is, its values say: numbers where every value is one, and so on; where some are and some are not nobody
guesses, the column is refused by name with the options that say it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.containers import plain_array
from pulens.errors import InputError, listed, shown
from pulens.inputs.arrays import plain_values, series_values
from pulens.inputs.columns import RowName, array_row, find_column, is_null
from pulens.inputs.frames import is_frame, open_frame
from pulens.inputs.tables.whole import Table, plain
from pulens.types import Booleans, Floats

NUMBER, BOOLEAN, DATE, CATEGORY = "number", "boolean", "date", "category"
KINDS = (NUMBER, BOOLEAN, DATE, CATEGORY)
LARGEST = float(np.finfo(np.float32).max)  # learners hold rows in single precision
SECONDS = 86_400
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:?\d{2})?)?")
_OTHER_DATE = re.compile(r"\d{1,2}[./-]\d{1,2}[./-](\d{2}|\d{4})|\d{4}[./]\d{1,2}[./]\d{1,2}")
NO_VALUES = (dict, list, tuple, set, bytes, np.ndarray)
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True, eq=False)
class TypedColumn:
    """A column of one kind: numbers (nan where missing), or of a category words (``None`` where missing).

    Dates are days since 1970, truth values 1 and 0.
    """

    name: str
    kind: str
    values: NDArray[Any]

    @property
    def missing(self) -> Booleans:
        """Which rows have no value."""
        if self.kind != CATEGORY:
            gaps: Booleans = np.isnan(self.values)
            return gaps
        return np.fromiter((word is None for word in self.values.tolist()), bool, self.values.size)


@dataclass(frozen=True, slots=True, eq=False)
class TypedTable:
    """Columns of features by name, each of one kind."""

    columns: tuple[TypedColumn, ...]

    def __len__(self) -> int:
        return self.columns[0].values.size

    def __iter__(self) -> Iterator[TypedColumn]:
        return iter(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def kinds(self) -> dict[str, str]:
        return {column.name: column.kind for column in self.columns}

    def take(self, rows: NDArray[Any]) -> TypedTable:
        """Some of the rows."""
        return TypedTable(tuple(replace(column, values=column.values[rows]) for column in self.columns))

    def chosen(self, names: Collection[str]) -> TypedTable:
        """Some of the columns, in the table's order."""
        return TypedTable(tuple(column for column in self.columns if column.name in names))


@dataclass(frozen=True)
class Typing:
    """How raw values become typed ones.

    ``kinds`` holds what columns are known to be (those of training); ``missing`` are texts that mean no value, beside
    empty cells; ``dates`` holds how dates are written, as ``strptime`` has it, by column.
    """

    kinds: Mapping[str, str] | None = None
    missing: Collection[str] = ()
    dates: Mapping[str, str] | None = None
    row_name: RowName = array_row

    def column(self, name: str, raw: Any) -> TypedColumn:
        """One column, of the kind that is known or that all its values are."""
        written, kind = (self.dates or {}).get(name), (self.kinds or {}).get(name)
        is_plain = type(raw) is np.ndarray and raw.dtype.kind in "iuf" and written is None and not self.missing
        if is_plain and kind in (None, NUMBER):  # as a whole: value by value takes ten times as long
            numbers = raw.astype(float)
            self._check_numbers(name, NUMBER, numbers)
            return TypedColumn(name, NUMBER, numbers)
        values = self._plain(name, raw)
        if written is not None:
            values = self._written_dates(name, values, written)
        if kind is None:
            kind = DATE if written is not None else _kind_of(values)
            if kind is None:
                raise InputError(self._mixed(name, values))
            read: Any = READ[kind](values)
        else:
            read = READ[kind](values)
        if isinstance(read, int):
            raise InputError(self._changed(name, kind, values[read], read))
        if kind != CATEGORY:
            self._check_numbers(name, kind, read)
        return TypedColumn(name, kind, read)

    def _plain(self, name: str, raw: Any) -> list[Any]:
        values = plain(raw) if hasattr(raw, "to_pylist") else plain_values(raw)
        values = values.tolist() if isinstance(values, np.ndarray) else list(values)
        left_out = set(self.missing)
        result: list[Any] = []
        for value in values:
            if isinstance(value, str):
                value = value.strip()
            result.append(None if is_null(value) or (left_out and str(value) in left_out) else value)
        odd = next((row for row, value in enumerate(result) if isinstance(value, NO_VALUES)), None)
        if odd is not None:
            raise InputError(
                f"column {name!r} holds {shown(result[odd])} in {self.row_name(odd)}, which is neither a number nor a "
                "date nor a word. Leave the column out: drop= (--drop on the command line)."
            )
        return result

    def _written_dates(self, name: str, values: list[Any], written: str) -> list[Any]:
        result = list(values)
        for row, value in enumerate(values):
            if isinstance(value, str):
                try:
                    result[row] = datetime.strptime(value, written)
                except (ValueError, OverflowError) as error:
                    raise InputError(
                        f"column {name!r} holds {shown(value)} in {self.row_name(row)}, which is not a date written as "
                        f"{shown(written)}: {' '.join(str(error).split())[:80]}. Dates are written with %d, %m, %Y, "
                        "such as %d.%m.%Y for 31.12.2026."
                    ) from error
        return result

    def _check_numbers(self, name: str, kind: str, numbers: Floats) -> None:
        wrong = np.flatnonzero(np.abs(np.nan_to_num(numbers, nan=0.0, posinf=np.inf, neginf=-np.inf)) > LARGEST)
        if wrong.size:
            raise InputError(
                f"column {name!r} must hold numbers of at most 3.4e38 either way, got {float(numbers[wrong[0]])!r} in "
                f"{self.row_name(int(wrong[0]))}. Scale the column first, repair the value, or say that it means "
                "missing: missing= (--missing on the command line)."
            )

    def _mixed(self, name: str, values: list[Any]) -> str:
        """Why a column that is neither one thing nor another is refused, and how to say what it is."""
        others = [row for row, value in enumerate(values) if value is not None and _number(value) is None]
        row = others[0]
        if all(isinstance(value, str) and _OTHER_DATE.fullmatch(value) for value in values if value is not None):
            return (
                f"column {name!r} holds what looks like dates, {shown(values[row])} in {self.row_name(row)}, and "
                f"it is unclear which part is the day: give their format, --date {name}=%d.%m.%Y (dates= in "
                f"Python), or write them as 2026-12-31, or read them as words with --category {name}."
            )
        return (
            f"column {name!r} must hold numbers, as most of its rows do, got {shown(values[row])} in "
            f"{self.row_name(row)} ({len(others):,} such row{'s' if len(others) > 1 else ''}). Say that it means no "
            f"value: --missing {shown(values[row])}; or that the column is a category: --category {name}; or leave it "
            f"out: --drop {name} (missing=, categories=, drop= in Python)."
        )

    def _changed(self, name: str, kind: str, value: Any, row: int) -> str:
        """A column is not what it was when the model was trained."""
        return (
            f"column {name!r} must hold {WORDS[kind]}, as it did when the model was trained, got {shown(value)} in "
            f"{self.row_name(row)}. Repair the value, leave the cell empty if it is not known, or train again."
        )


WORDS = {NUMBER: "numbers", BOOLEAN: "true or false", DATE: "dates such as 2026-12-31", CATEGORY: "words"}


def typed_table(
    table: Any, typing: Typing, names: Sequence[str] | None = None, drop: Collection[str] = ()
) -> TypedTable:
    """A frame, an array, a mapping of columns or a table of a file as typed columns: the named, or all but ``drop``.

    >>> rows = typed_table({"age": ["31", ""], "job": ["clerk", "none"], "since": ["2024-01-02", None]}, Typing())
    >>> rows.kinds
    {'age': 'number', 'job': 'category', 'since': 'date'}
    >>> rows.columns[0].values, rows.columns[2].values
    (array([31., nan]), array([19724.,    nan]))
    """
    if isinstance(table, TypedTable):
        return table
    columns = raw_columns(table)
    for name in (*(names or ()), *drop):
        find_column(name, columns)
    chosen = [name for name in (names or columns) if names or name not in drop]
    if not chosen:
        raise InputError(f"there is no column left to learn from; the columns are {listed(columns, limit=30)}.")
    return TypedTable(tuple(typing.column(name, columns[name]) for name in chosen))


def raw_columns(table: Any) -> dict[str, Any]:
    """The columns of a table in memory by name; those of an array are x0, x1, ..."""
    if isinstance(table, Table):
        return dict(zip(table.names, table.columns, strict=True))
    if isinstance(table, Mapping):
        return dict(table)
    if is_frame(table):
        return dict(_frame_columns(table))
    array = plain_array(table)
    if array.ndim != 2:
        raise InputError(f"a table must have rows and columns, got an array of shape {array.shape}.")
    return {f"x{place}": array[:, place] for place in range(array.shape[1])}


def _frame_columns(table: Any) -> Iterator[tuple[str, Any]]:
    frame = open_frame(table)
    for name in frame.columns:
        find_column(name, frame.columns)  # two columns of one name could not be distinguished
        yield str(name), series_values(frame.get_column(name))


def _kind_of(values: list[Any]) -> str | None:
    """What all values of a column are; ``None`` where most are numbers, or all look like dates, and nobody can say."""
    known = [value for value in values if value is not None]
    kinds = {type(value) for value in known}
    if kinds and kinds <= {bool, np.bool_}:
        return BOOLEAN
    if kinds and all(issubclass(kind, date) for kind in kinds):
        return DATE
    numbers = sum(_number(value) is not None for value in known)
    if numbers == len(known):
        return NUMBER
    words = [value for value in known if isinstance(value, str)]
    if len(words) == len(known):
        if all(word.lower() in _TRUTH for word in words):
            return BOOLEAN
        if all(_ISO.fullmatch(word) for word in words) and not isinstance(_days(known), int):
            return DATE
        if all(_OTHER_DATE.fullmatch(word) for word in words):
            return None
    return None if 2 * numbers > len(known) else CATEGORY


def _number(value: Any) -> float | None:
    """A value as a number, the text of one too; a truth value is none."""
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, str):
        if "_" in value:  # Python's own way to write 1_000
            return None
    elif not isinstance(value, Real) and not hasattr(value, "as_integer_ratio"):  # the second: decimals
        return None
    try:
        return float(value)
    except (ValueError, TypeError):
        return None
    except OverflowError:
        return float("inf")


def _read(values: list[Any], read: Callable[[Any], float | None]) -> Floats | int:
    """Values as numbers, nan where missing; or the first row whose value is none."""
    result = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if value is not None:
            number = read(value)
            if number is None:
                return row
            result[row] = number
    return result


def _number_or_row(values: list[Any]) -> Floats | int:
    return _read(values, lambda value: float(value) if isinstance(value, bool | np.bool_) else _number(value))


def _truth(values: list[Any]) -> Floats | int:
    def read(value: Any) -> float | None:
        if isinstance(value, str):
            value = _TRUTH.get(value.lower(), _number(value))
        return float(value) if value in (0, 1) else None

    return _read(values, read)


def _days(values: list[Any]) -> Floats | int:
    def read(value: Any) -> float | None:
        if isinstance(value, str):
            if not _ISO.fullmatch(value):
                return None
            try:
                value = datetime.fromisoformat(value)
            except ValueError:  # the 31st of February
                return None
        if isinstance(value, datetime):
            moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
            try:
                return moment.timestamp() / SECONDS
            except (OverflowError, ValueError):
                return None
        return float(value.toordinal() - date(1970, 1, 1).toordinal()) if isinstance(value, date) else None

    return _read(values, read)


def _words(values: list[Any]) -> NDArray[Any]:
    """Values as words; a whole number is the same word whether it came as 1, 1.0 or their text."""
    result = np.empty(len(values), object)
    result[:] = [None if value is None else _word(value) for value in values]
    return result


def _word(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


READ: dict[str, Callable[[list[Any]], Any]] = {
    NUMBER: _number_or_row,
    BOOLEAN: _truth,
    DATE: _days,
    CATEGORY: _words,
}
