"""Arrays, lists and series as a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.containers import plain_array
from pulens.counts.sample import PUSample
from pulens.errors import InputError, cut, shown
from pulens.inputs.columns import LabelCoding, array_row, check_scores, check_weights, one_per_row
from pulens.inputs.tables.dialect import PLAIN, Dialect


def sample_from_arrays(
    labels: Any, scores: Any, weights: Any = None, *, coding: LabelCoding, dialect: Dialect = PLAIN
) -> PUSample:
    """Check three sequences of one length each; ``dialect`` says how numbers among texts are written."""
    lengths = {"labels": _length(labels), "scores": _length(scores)}
    if weights is not None:
        lengths["weights"] = _length(weights)
    if len(set(lengths.values())) > 1:
        seen = ", ".join(f"{count:,} {name}" for name, count in lengths.items())
        raise InputError(f"labels, scores and weights must have the same length, got {seen}.")
    label_values = plain_values(labels)
    if one_per_row(label_values).ndim != 1:
        raise InputError(f"labels must be one-dimensional, one per row, got shape {np.shape(label_values)}.")
    return PUSample(
        coding.encode(label_values),
        check_scores(_plainly(scores, "scores", dialect)),
        None if weights is None else check_weights(_plainly(weights, "weights", dialect)),
    )


def _plainly(values: Any, name: str, dialect: Dialect) -> Any:
    result = plain_values(values)
    if not dialect.is_plain and isinstance(result, np.ndarray) and result.dtype.kind in "OU" and result.ndim == 1:
        result = result.tolist()
    return dialect.numbers(result, name, array_row)


def _length(values: Any) -> int:
    try:
        return len(values)
    except TypeError:
        raise InputError(f"expected one value per row, got {shown(values)}.") from None


def plain_values(values: Any) -> Any:
    """A numpy array or a list; what is masked, and the nulls of frame libraries, become None.

    >>> plain_values(np.ma.array([3.0, 999.0], mask=[False, True]))
    array([3.0, None], dtype=object)
    """
    if isinstance(values, list | tuple):
        return list(values)
    if isinstance(values, np.ndarray):
        return plain_array(values)
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series_values(series)
    return plain_array(values)


def listed_values(values: Any) -> list[Any]:
    """The same as Python values."""
    plain = plain_values(values)
    if isinstance(plain, np.ndarray) and plain.ndim == 0:
        raise InputError(f"expected one value per row, got {shown(values)}.")
    return list(plain.tolist() if isinstance(plain, np.ndarray) else plain)


def series_values(series: Any) -> Any:
    """Values of a narwhals series: an array where it is complete and simple, a list with None otherwise."""
    import narwhals as nw

    simple = series.dtype.is_numeric() or series.dtype == nw.Boolean
    if simple and not isinstance(series.dtype, nw.Decimal) and series.null_count() == 0:
        return series.to_numpy()
    return python_values(series)


def python_values(column: Any) -> list[Any]:
    """A column of Arrow or of a frame as Python values, null as None; what Python has no value for is refused in words.

    >>> import pyarrow as pa
    >>> python_values(pa.array([0, None], pa.date32()))
    [datetime.date(1970, 1, 1), None]
    >>> python_values(pa.array([10**12], pa.timestamp("s")))
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: a column of timestamp[s] holds what Python has no value for (date value out of range): \
its dates end with the year 9999. Write them as text, or leave the column out.
    """
    try:
        return list(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())
    except (OverflowError, ValueError) as error:  # Arrow's own errors are ValueErrors: a time zone that nobody knows
        kind = getattr(column, "type", None) or getattr(column, "dtype", "dates")
        why = ": its dates end with the year 9999" if isinstance(error, OverflowError) else ""
        raise InputError(
            f"a column of {cut(str(kind), 60)} holds what Python has no value for ({cut(str(error), 80)}){why}. Write "
            "them as text, or leave the column out."
        ) from error
