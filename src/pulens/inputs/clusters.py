"""Which rows belong together: the ids of clusters as text, the same on every road."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from pulens.counts.exactness import LARGEST_WHOLE
from pulens.errors import InputError, shown
from pulens.inputs.arrays import plain_values
from pulens.inputs.columns import RowName, array_row, is_null

#: Text that says a number with a fraction; a column of nothing else holds measurements, not ids.
FRACTION = r"[+-]?[0-9]*[.][0-9]*[1-9][0-9]*([eE][+-]?[0-9]+)?"
WORDS = "Cluster ids say which rows belong together (a patient, a customer): they must be text or whole numbers"


@dataclass(frozen=True, slots=True)
class ClusterSurvey:
    """What a column of clusters holds: rows, rows without a value, with a fraction, different values."""

    column: str
    rows: int
    nulls: int
    fractions: int
    distinct: int
    is_text: bool = False
    example: Any = None

    def check(self) -> None:
        """Refuse what cannot say which rows belong together."""
        named = f"the cluster column {shown(self.column)}"
        if self.nulls:
            condition = f'"{self.column}" IS NOT NULL'
            raise InputError(
                f"{named} has no value in {self.nulls:,} of {self.rows:,} rows: so their cluster is unknown. Leave "
                f"them out (where={shown(condition)}, or --where {shown(condition)} on the command line), or "
                "give each its own id."
            )
        if self.fractions and (not self.is_text or self.fractions == self.rows):
            raise InputError(
                f"{named} holds numbers with fractions{_such(self.example)} in {self.fractions:,} of {self.rows:,} "
                f"rows. {WORDS}: name another column, or turn it into text first."
            )
        if self.distinct == 1 and self.rows > 1:
            raise InputError(
                f"{named} has one value in all {self.rows:,} rows: one cluster alone does not show how clusters "
                "differ. Name the column that identifies patients (customers, queries), or leave cluster= out."
            )


class ClusterIds:
    """Collects the ids of rows, chunk by chunk: every text once, and for each row which text it has."""

    def __init__(self, column: str) -> None:
        self.column = column
        self.texts: dict[str, int] = {}
        self._rows = self._nulls = self._fractions = 0
        self._is_text = True
        self._example: Any = None
        self.last: NDArray[np.int64] = np.zeros(0, np.int64)  # what `add` found in the last chunk

    def add(self, values: Any, *, row_name: RowName = array_row, first_row: int = 0) -> None:
        """Read a chunk: the place of each row's id among all texts so far; rows without an id get -1."""
        self.last = self._places(values, row_name, first_row)

    def _places(self, values: Any, row_name: RowName, first_row: int) -> NDArray[np.int64]:
        plain = plain_values(values)
        if isinstance(plain, np.ndarray) and plain.ndim != 1:
            raise InputError(f"clusters must be one-dimensional, one id per row, got shape {plain.shape}.")
        self._rows += len(plain)
        if isinstance(plain, np.ndarray) and plain.dtype.kind in "iu":
            numbers, place = np.unique(plain, return_inverse=True)
            self._is_text = False
            return np.array([self._place(str(number)) for number in numbers.tolist()], np.int64)[place]
        known: dict[Any, int] = {}
        result = np.empty(len(plain), np.int64)
        for row, value in enumerate(plain.tolist() if isinstance(plain, np.ndarray) else plain):
            key = (type(value), value)
            try:
                place_of = known.get(key)
            except TypeError:
                raise InputError(_no_id(value, row_name(first_row + row))) from None
            if place_of is None or place_of < 0:
                place_of = known[key] = self._read(value, lambda row=row: row_name(first_row + row))
            result[row] = place_of
        return result

    def _read(self, value: Any, where: Any) -> int:
        if is_null(value):
            self._nulls += 1
            return -1
        if isinstance(value, str):
            if value not in self.texts and re.fullmatch(FRACTION, value):
                self._fractions += 1
                self._example = value
            return self._place(value)
        if isinstance(value, UUID):
            return self._place(str(value))
        self._is_text = False
        if isinstance(value, Integral) and not isinstance(value, bool | np.bool_):
            return self._place(str(int(value)))
        if isinstance(value, Real | Decimal) and not isinstance(value, bool | np.bool_):
            number = float(value)
            if not number.is_integer() or abs(number) > LARGEST_WHOLE:
                self._fractions += 1
                self._example = value
                return -1
            return self._place(str(int(number)))
        raise InputError(_no_id(value, where()))

    def _place(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))

    def check(self, *, is_whole: bool = True) -> None:
        """Refuse what cannot say which rows belong together, in all rows or in those so far."""
        many = len(self.texts)
        fractions = self._fractions
        if self._is_text and many:  # each different text was looked at once
            fractions = self._rows if fractions >= many else 0
        seen = many if is_whole else max(many, 2)
        ClusterSurvey(self.column, self._rows, self._nulls, fractions, seen, self._is_text, self._example).check()


def cluster_codes(values: Any, column: str = "cluster", rows: int | None = None) -> tuple[list[str], NDArray[np.int64]]:
    """The different ids as text, and the place among them for each row, of which there must be ``rows``.

    >>> cluster_codes([7, 7, 9])
    (['7', '9'], array([0, 0, 1]))
    >>> cluster_codes([0.5, 1.0])
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: the cluster column 'cluster' holds numbers with fractions such as 0.5 in 1 of 2 rows. ...
    """
    ids = ClusterIds(column)
    ids.add(values)
    ids.check()
    if rows is not None and ids.last.size != rows:
        raise InputError(f"{column} must hold one id per row, got {ids.last.size:,} ids for {rows:,} rows.")
    return list(ids.texts), ids.last


def _such(example: Any) -> str:
    return "" if example is None else f" such as {shown(example)}"


def _no_id(value: Any, where: str) -> str:
    return f"got {shown(value)} as the cluster of {where}. {WORDS}."
