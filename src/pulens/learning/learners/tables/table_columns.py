"""A scikit-learn transformer from tables of mixed columns to rows of numbers, whose state is plain facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pulens.errors import InputError, listed
from pulens.inputs.columns import RowName, array_row, find_column
from pulens.inputs.typed_columns import CATEGORY, TypedTable, Typing, raw_columns, typed_table
from pulens.learning.learners.tables.planned import PlannedColumn
from pulens.types import Floats


def planned_columns(table: TypedTable) -> tuple[tuple[PlannedColumn, ...], dict[str, str]]:
    """How each column is read, and why others are left out.

    >>> planned_columns(typed_table({"age": [31, 52], "one": ["a", "a"]}, Typing()))[1]
    {'one': 'holds the same word in every row'}
    """
    result = [(PlannedColumn.of(column), column) for column in table]
    left_out = {planned.name: why for planned, column in result if (why := planned.useless(column))}
    columns = tuple(planned for planned, _ in result if planned.name not in left_out)
    if not columns:
        reasons = "; ".join(f"{name!r} {why}" for name, why in list(left_out.items())[:3])
        raise InputError(f"there is no column to learn from: {reasons}.")
    return columns, left_out


@dataclass(kw_only=True, eq=False, repr=False)
class TableColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn columns of numbers, truth values, dates and categories into numbers that learners take.

    Parameters
    ----------
    categories
        Columns to be taken as categories though they hold numbers, such as codes.
    missing
        Texts that mean no value, beside empty cells: ``["NA", "unknown"]``.
    dates
        How dates are written, by column, where it is not 2026-12-31: ``{"day": "%d.%m.%Y"}``.
    fill
        Replace missing numbers by the median of the training rows, with a column that says where; for learners that
        take no gaps.
    scale
        To mean 0 and deviation 1; for learners that measure distances.

    Attributes
    ----------
    columns_, left_out_
        How each column is read; and why others are not: identifiers, free text, one value in every row.

    A word never seen in training is none of the levels, or one of the rare ones; a column that is not there is an
    error that names it. Works last but one in a ``Pipeline``, with ``set_output`` and ``clone``.

    >>> table = {"age": [31, None, 52], "job": ["clerk", "none", "clerk"]}
    >>> columns = TableColumns().fit(table)
    >>> columns.transform(table)
    array([[31.,  1.,  0.],
           [nan,  0.,  1.],
           [52.,  1.,  0.]])
    >>> columns.get_feature_names_out().tolist()
    ['age', 'job=clerk', 'job=none']
    """

    categories: Sequence[str] = ()
    missing: Sequence[str] = ()
    dates: Mapping[str, str] | None = None
    fill: bool = False
    scale: bool = False

    columns_: tuple[PlannedColumn, ...] = field(init=False)
    gaps_: NDArray[np.bool_] = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what the columns are; labels are not looked at."""
        if hasattr(self, "columns_"):
            del self.columns_  # what was learned before does not bind
        table = self.typed(X)
        if not len(table):
            raise InputError("the table is empty: it has no data rows.")
        columns, left_out = planned_columns(table)
        self.columns_ = columns
        self.left_out_ = left_out
        self.n_features_in_ = len(table.names)
        self.feature_names_in_ = np.array(table.names, dtype=object)
        rows = self._rows(table)
        self.gaps_ = np.atleast_1d(np.isnan(rows).any(axis=0) & bool(self.fill))
        if self.fill:
            self.median_ = np.nanmedian(rows, axis=0)
            rows = self._filled(rows)
        if self.scale:
            self.mean_ = rows.mean(axis=0)
            deviation = rows.std(axis=0)
            self.deviation_ = np.where(deviation > 0, deviation, 1.0)
        return self

    def transform(self, X: Any) -> Floats:
        """Rows of numbers; nan where a number or date is missing, unless ``fill``."""
        check_is_fitted(self)
        rows = self._rows(self.typed(X))
        if self.fill:
            rows = self._filled(rows)
        if self.scale:
            rows = (rows - self.mean_) / self.deviation_
        return rows

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns of numbers."""
        check_is_fitted(self)
        names = [name for column in self.columns_ for name in column.outputs]
        gaps = [f"{name}=(missing)" for name, gap in zip(names, self.gaps_, strict=True) if gap]
        return np.array([*names, *gaps], dtype=object)

    def typed(self, X: Any) -> TypedTable:
        """Columns of their kinds: found out before fitting, those of training afterwards."""
        if isinstance(X, TypedTable):
            return X
        columns = raw_columns(X)
        if hasattr(self, "columns_"):
            return self.typed_as_trained(columns)
        for name in (*self.categories, *(self.dates or {})):
            find_column(name, columns)
        return typed_table(columns, self._typing(dict.fromkeys(self.categories, CATEGORY)))

    def _typing(self, kinds: dict[str, str], row_name: RowName = array_row) -> Typing:
        return Typing(kinds, tuple(self.missing), self.dates, row_name)

    def typed_as_trained(self, columns: Mapping[str, Any], row_name: RowName = array_row) -> TypedTable:
        """The columns that training used, of the kinds that they were; those that are not there are named."""
        wanted = [column.name for column in self.columns_]
        absent = [name for name in wanted if name not in columns]
        if len(absent) > 1:
            raise InputError(
                f"there are no columns {listed(absent)}, which the model was trained with; the columns are "
                f"{listed(columns, limit=30)}."
            )
        return typed_table(dict(columns), self._typing(self.kinds, row_name), names=wanted)

    @property
    def kinds(self) -> dict[str, str]:
        """What each column of training was."""
        return {column.name: column.kind for column in self.columns_}

    def _rows(self, table: TypedTable) -> Floats:
        by_name = {column.name: column for column in table}
        result: Floats = np.concatenate([column(by_name[column.name]) for column in self.columns_], axis=1)
        return result

    def _filled(self, rows: Floats) -> Floats:
        gaps = np.isnan(rows)
        result: Floats = np.column_stack([np.where(gaps, self.median_, rows), gaps[:, self.gaps_].astype(float)])
        return result

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "columns_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.requires_fit = True
        return tags
