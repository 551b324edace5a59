"""Tables of any frame library (pandas, Polars, PyArrow, ...) through narwhals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from pulens.counts.sample import PUSample
from pulens.errors import InputError, MissingDependencyError, listed, shown
from pulens.inputs.arrays import sample_from_arrays, series_values
from pulens.inputs.columns import Columns, LabelCoding, find_columns
from pulens.inputs.tables.dialect import PLAIN, Dialect

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def is_frame(value: Any) -> bool:
    """Whether narwhals knows this object as a table in memory."""
    if isinstance(value, str | bytes | list | tuple | np.ndarray):
        return False
    import narwhals as nw

    try:
        frame = nw.from_native(value, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:  # only a table can have two columns of one name
        return True
    return isinstance(frame, nw.DataFrame)


def is_lazy(value: Any) -> bool:
    """Whether narwhals knows this object as a table inside an engine."""
    if isinstance(value, str | bytes | list | tuple | np.ndarray):
        return False
    import narwhals as nw

    try:
        return isinstance(nw.from_native(value, pass_through=True), nw.LazyFrame)
    except nw.exceptions.DuplicateError:  # a table in memory: those inside an engine are not looked into yet
        return False


def open_frame(table: Any, *wanted: str, roles: Sequence[str] = ()) -> Any:
    """A table as narwhals has it; the wanted columns must be there once, others of one name do not matter."""
    import narwhals as nw

    try:
        frame = nw.from_native(table, eager_only=True)
        names = list(frame.columns)
    except nw.exceptions.DuplicateError:  # pandas and PyArrow allow it, narwhals does not
        is_arrow = hasattr(table, "column_names")
        names = list(table.column_names if is_arrow else table.columns)
        places = [names.index(name) for name in dict.fromkeys(find_columns(wanted, names, roles=roles))]
        frame = nw.from_native(table.select(places) if is_arrow else table.iloc[:, places], eager_only=True)
    find_columns(wanted, names, roles=roles)
    return frame


def sample_from_frame(table: Any, columns: Columns, *, coding: LabelCoding, dialect: Dialect = PLAIN) -> PUSample:
    """Read two or three columns of a table."""
    frame = open_frame(table, *columns.names, roles=columns.roles)
    taken = [series_values(frame.get_column(name)) for name in columns.names]
    if not len(frame):
        raise InputError("the table is empty: it has columns but no rows.")
    labels, scores = taken[0], taken[1]
    return sample_from_arrays(labels, scores, taken[2] if columns.weight else None, coding=coding, dialect=dialect)


LIBRARIES = ("polars", "pandas", "pyarrow")  # in the order in which they are tried


def library_of(*given: Any) -> str | None:
    """The library that a table or column came from; ``None`` for files, arrays and lists.

    >>> import polars
    >>> library_of(polars.DataFrame({"a": [1]})), library_of([1, 2])
    ('polars', None)
    """
    names = (type(one).__module__.partition(".")[0] for one in given)
    return next((name for name in names if name in LIBRARIES), None)


def keeps_library(door: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Marks a door whose answer makes tables of the library that its rows came from."""

    @wraps(door)
    def remembered(*given: Given.args, **named: Given.kwargs) -> Answer:
        answer, library = door(*given, **named), library_of(*given)
        if library is not None and hasattr(answer, "__dict__"):
            object.__setattr__(answer, "_library", library)
        return answer

    return remembered


def frame_of(columns: dict[str, list[Any]], library: str | None = None, answer: object = None) -> Any:
    """A table of the library named, else of that which the rows of the answer came from, else of one installed.

    >>> frame_of({"a": [1, 2]}, "pyarrow").num_rows
    2
    """
    import importlib.util

    import narwhals as nw

    if library is not None and (not isinstance(library, str) or library not in LIBRARIES):
        raise InputError(f"tables are made by {listed(LIBRARIES)}, got {shown(library)}.")
    library = library or getattr(answer, "_library", None)
    there = [name for name in LIBRARIES if importlib.util.find_spec(name) is not None]
    wanted = library or next(iter(there), None)
    if wanted is None or wanted not in there:
        raise MissingDependencyError(wanted or "polars, pandas or pyarrow", purpose="a table", extra="data")
    chosen: Any = wanted
    return nw.from_dict(columns, backend=chosen).to_native()
