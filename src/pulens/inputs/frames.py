"""Tables of any frame library (pandas, Polars, PyArrow, ...) through narwhals."""

from __future__ import annotations

from typing import Any

from pulens.errors import InputError
from pulens.inputs.arrays import sample_from_arrays, series_values
from pulens.inputs.columns import Columns, LabelCoding, find_column
from pulens.sample import PUSample


def is_frame(value: Any) -> bool:
    """Whether narwhals knows this object as a table in memory."""
    import narwhals as nw

    frame = nw.from_native(value, eager_only=True, pass_through=True)
    return isinstance(frame, nw.DataFrame)


def sample_from_frame(table: Any, columns: Columns, *, coding: LabelCoding) -> PUSample:
    """Read two or three columns of a table."""
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    taken = [series_values(frame[find_column(name, frame.columns)]) for name in columns.names]
    if not len(frame):
        raise InputError("the table is empty: it has columns but no rows.")
    labels, scores = taken[0], taken[1]
    return sample_from_arrays(labels, scores, taken[2] if columns.weight else None, coding=coding)
