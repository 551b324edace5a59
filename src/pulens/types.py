"""Names for arrays and arguments, written once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Booleans",
    "Clusters",
    "Column",
    "Counted",
    "Floats",
    "LabelValues",
    "Places",
    "RowsLike",
    "Scores",
    "Strata",
    "TableLike",
    "Values",
    "Whole",
]

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]  # positions in another array
Counted: TypeAlias = NDArray[Any]  # float64 for weighted rows; else int64, or int32 from a million rows on
Scores: TypeAlias = NDArray[np.floating[Any]]  # single or double precision, as they came

#: What names a column of a table: text, or the number that pandas gives a column without a name.
Column: TypeAlias = str | int
#: One label value, or several that mean the same.
LabelValues: TypeAlias = str | float | bool | Sequence[str | float | bool]


class TableLike(Protocol):
    """A table of any library that has named columns: pandas, Polars, PyArrow, DuckDB, Spark, Ibis."""

    @property
    def columns(self) -> Any: ...


class HoldsTotals(Protocol):
    """Rows that were counted before: a tally, or the evidence of an evaluation."""

    @property
    def totals(self) -> Any: ...


class HoldsTally(Protocol):
    """What holds such counts."""

    @property
    def tally(self) -> Any: ...


#: One number, text or truth value per row: a list, an array, a column of a table.
Values: TypeAlias = ArrayLike
#: Rows: labels as an array; or a table, a mapping of columns, the path of a file, the address of a database, counts.
RowsLike: TypeAlias = ArrayLike | TableLike | Mapping[Any, Any] | PathLike[str] | HoldsTotals | HoldsTally
#: Which rows belong together: a column's name, or one id per row beside arrays.
Clusters: TypeAlias = Column | ArrayLike
#: Within what labels are random: a column's name, several that cross, or one value per row beside arrays.
Strata: TypeAlias = Column | Sequence[Column] | ArrayLike
