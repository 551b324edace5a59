"""Tables whose columns are numbers or words: how each column becomes numbers that trees can split."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError
from pulens.inputs.frames import is_frame, open_frame
from pulens.types import Floats

APART = 12  # levels of a column that get a column of their own; rarer ones share a rank


@dataclass(frozen=True, slots=True)
class Encoding:
    """Levels of each column that holds categories, most frequent first; ``None`` for a column of numbers.

    A column of two levels becomes one column of 1 and 0, one of more levels a column per level; beyond ``APART``
    levels the rare ones share a column that holds their rank by frequency. What is missing, or was never seen, is none
    of the levels.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [31.0, None], "job": pd.Categorical(["clerk", "none"])})
    >>> how = Encoding.of(table)
    >>> how.levels
    (None, ('clerk', 'none'))
    >>> how(table)
    array([[31.,  1.],
           [nan,  0.]])
    """

    levels: tuple[tuple[str, ...] | None, ...]

    @classmethod
    def of(cls, table: Any) -> Encoding:
        """Learn the levels of a table's columns; an array has numbers alone."""
        if not is_frame(table):
            return cls((None,) * np.shape(table)[1])
        return cls(tuple(_levels(column) for column in open_frame(table).iter_columns()))

    def __call__(self, table: Any) -> Floats:
        """The table as numbers; what is missing is nan."""
        if not self.has_categories:
            return np.asarray(table, float)
        if not is_frame(table):
            raise InputError(
                "training rows had columns of categories, these are an array without any: give a table with the same "
                "columns."
            )
        columns = list(open_frame(table).iter_columns())
        parts = [
            _numbers(column)[:, None] if levels is None else _indicators(_words(column), levels)
            for column, levels in zip(columns, self.levels, strict=True)
        ]
        return np.concatenate(parts, axis=1)

    @property
    def has_categories(self) -> bool:
        return any(levels is not None for levels in self.levels)

    @property
    def width(self) -> int:
        """Columns of numbers that the table becomes."""
        return sum(1 if levels is None else _width(len(levels)) for levels in self.levels)


def has_categories(table: Any) -> bool:
    """Whether a table has a column of words or categories."""
    return is_frame(table) and any(_is_categorical(column) for column in open_frame(table).iter_columns())


def _is_categorical(column: Any) -> bool:
    import narwhals as nw

    if column.dtype in (nw.Categorical, nw.Enum, nw.String):
        return True
    if column.dtype != nw.Object:
        return False
    # numbers in a column of objects stay numbers
    return any(isinstance(value, str) for value in column.to_list())


def _levels(column: Any) -> tuple[str, ...] | None:
    if not _is_categorical(column):
        return None
    counts = Counter(word for word in _words(column) if word is not None)
    return tuple(sorted(counts, key=lambda word: (-counts[word], word)))


def _words(column: Any) -> list[str | None]:
    return [None if value is None or value != value else str(value) for value in column.to_list()]


def _numbers(column: Any) -> Floats:
    try:
        return np.array([np.nan if value is None else value for value in column.to_list()], float)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"column {column.name!r} holds neither numbers nor categories: {error}. Make it a column of numbers, or "
            "of words, or leave it out."
        ) from error


def _width(levels: int) -> int:
    return 1 if levels <= 2 else min(levels, APART + 1)


def _indicators(words: list[str | None], levels: tuple[str, ...]) -> NDArray[np.float64]:
    place = {word: rank for rank, word in enumerate(levels)}
    rank = np.array([place.get(word, -1) if word is not None else -1 for word in words])
    if len(levels) <= 2:
        single: Floats = np.where(rank < 0, np.nan, rank == 0)[:, None]
        return single
    result: Floats = (rank[:, None] == np.arange(min(len(levels), APART))).astype(float)
    if len(levels) > APART:
        result = np.column_stack([result, np.where(rank < 0, np.nan, rank)])
    return result
