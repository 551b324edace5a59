"""Whatever people keep rows in. A faithful container holds the values that it was given, and nothing else."""

from __future__ import annotations

import array
import collections
import decimal
import fractions
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from python_calls.libraries import library


class Clothed(NamedTuple):
    """Rows in a container; ``faithful`` if an answer about them is that of a plain array."""

    name: str
    rows: Any
    faithful: bool


def _strided(values: Any) -> Any:
    wide = np.empty((values.size, 3), values.dtype)
    wide[:, 1] = values
    return wide[:, 1]


def _read_only(values: Any) -> Any:
    kept = values.copy()
    kept.flags.writeable = False
    return kept


def _series(values: Any) -> Any:
    return library("pandas").Series(values, index=[7] * len(values), name="a b")


def _tensor(values: Any) -> Any:
    return library("torch").tensor(np.ascontiguousarray(values))


def _column(values: Any) -> Any:
    return library("pandas").Series(values, dtype="Float64" if values.dtype.kind == "f" else "Int64")


def _with_gradient(values: Any) -> Any:
    return library("torch").tensor([float(each) for each in values], dtype=library("torch").float64, requires_grad=True)


FAITHFUL: dict[str, Callable[[Any], Any]] = {
    "array": lambda values: values,
    "list": lambda values: values.tolist(),
    "tuple": lambda values: tuple(values.tolist()),
    "deque": lambda values: collections.deque(values.tolist()),
    "numpy scalars": list,
    "strided": _strided,
    "backwards": lambda values: values[::-1].copy()[::-1],
    "read-only": _read_only,
    "big-endian": lambda values: values.astype(values.dtype.newbyteorder(">")),
    "long double": lambda values: values.astype(np.longdouble) if values.dtype.kind == "f" else values,
    "objects": lambda values: values.astype(object),
    "unmasked": lambda values: np.ma.array(values, mask=False),
    "memoryview": lambda values: memoryview(np.ascontiguousarray(values)),
    "array.array": lambda values: array.array("d" if values.dtype.kind == "f" else "q", values.tolist()),
    "fractions": lambda values: [fractions.Fraction(each) for each in values.tolist()],
    "decimals": lambda values: [decimal.Decimal(each) for each in values.tolist()],
    "series": _series,
    "nullable series": _column,
    "index": lambda values: library("pandas").Index(values),
    "pyarrow": lambda values: library("pyarrow").array(values),
    "pyarrow chunks": lambda values: library("pyarrow").chunked_array([values[:1], values[1:]]),
    "polars": lambda values: library("polars").Series(values),
    "tensor": _tensor,
    "gradient": _with_gradient,
}


def _replaced(values: Any, chance: random.Random, other: Any) -> list[Any]:
    rows = values.tolist()
    for place in range(len(rows)):
        if place == 0 or chance.random() < 0.1:
            rows[place] = other
    return rows


def _structured(values: Any) -> Any:
    result = np.zeros(values.size, dtype=[("label", int), ("score", float)])
    result["score"] = values
    return result


def _with_nulls(values: Any) -> Any:
    pandas = library("pandas")
    return pandas.Series([None, *values.tolist()[1:]], dtype="Float64")


ODD: dict[str, Callable[[Any, random.Random], Any]] = {
    "none": lambda values, chance: None,
    "generator": lambda values, chance: (each for each in values.tolist()),
    "iterator": lambda values, chance: iter(values.tolist()),
    "number": lambda values, chance: 3,
    "text": lambda values, chance: "scores",
    "bytes": lambda values, chance: b"123",
    "mapping": lambda values, chance: {"a": values.tolist()},
    "set": lambda values, chance: set(values.tolist()),
    "empty": lambda values, chance: [],
    "too short": lambda values, chance: values[:-1],
    "too long": lambda values, chance: np.append(values, values[:1]),
    "0-d": lambda values, chance: np.array(0.5),
    "column": lambda values, chance: values.reshape(-1, 1),
    "row": lambda values, chance: values.reshape(1, -1),
    "two columns": lambda values, chance: np.stack([values, values], axis=1),
    "3-d": lambda values, chance: values.reshape(-1, 1, 1),
    "nested": lambda values, chance: [[each] for each in values.tolist()],
    "ragged": lambda values, chance: [[each] * (1 + place % 2) for place, each in enumerate(values.tolist())],
    "range": lambda values, chance: range(values.size),
    "half": lambda values, chance: values.astype(np.float16),
    "single": lambda values, chance: values.astype(np.float32),
    "int8": lambda values, chance: values.astype(np.int8),
    "uint64": lambda values, chance: np.abs(values).astype(np.uint64),
    "booleans": lambda values, chance: values > 0,
    "complex": lambda values, chance: values.astype(complex),
    "texts": lambda values, chance: values.astype(str),
    "byte texts": lambda values, chance: values.astype("S20"),
    "dates": lambda values, chance: np.abs(values).astype("datetime64[s]"),
    "times": lambda values, chance: np.abs(values).astype("timedelta64[s]"),
    "void": lambda values, chance: np.zeros(values.size, "V8"),
    "structured": lambda values, chance: _structured(values),
    "record": lambda values, chance: _structured(values).view(np.recarray),
    "matrix": lambda values, chance: np.asmatrix(values),
    "masked": lambda values, chance: np.ma.array(values, mask=np.arange(values.size) % 4 == 0),
    "hidden": lambda values, chance: np.ma.array(np.where(np.arange(values.size) % 3, values, -999), mask=True),
    "with nan": lambda values, chance: _replaced(values, chance, float("nan")),
    "with inf": lambda values, chance: _replaced(values, chance, chance.choice((np.inf, -np.inf))),
    "with None": lambda values, chance: _replaced(values, chance, None),
    "with NA": lambda values, chance: _replaced(values, chance, library("pandas").NA),
    "with text": lambda values, chance: _replaced(values, chance, chance.choice(("", "a", "x" * 100_000))),
    "with huge": lambda values, chance: _replaced(values, chance, 10**400),
    "with lists": lambda values, chance: _replaced(values, chance, [1]),
    "with objects": lambda values, chance: _replaced(values, chance, object()),
    "with bytes": lambda values, chance: _replaced(values, chance, b"1"),
    "objects with None": lambda values, chance: np.array(_replaced(values, chance, None), dtype=object),
    "nulls": lambda values, chance: _with_nulls(values),
    "category": lambda values, chance: library("pandas").Series(values).astype("category"),
    "text series": lambda values, chance: library("pandas").Series(values.astype(str), dtype="string"),
    "sparse": lambda values, chance: library("pandas").Series(library("pandas").arrays.SparseArray(values)),
    "frame": lambda values, chance: library("pandas").DataFrame({"a": values}),
    "arrow nulls": lambda values, chance: library("pyarrow").array(_replaced(values, chance, None)),
    "arrow dictionary": lambda values, chance: library("pyarrow").array(values).dictionary_encode(),
    "arrow texts": lambda values, chance: library("pyarrow").array(values.astype(str)),
    "arrow table": lambda values, chance: library("pyarrow").table({"a": values}),
    "polars nulls": lambda values, chance: library("polars").Series(_replaced(values, chance, None)),
    "polars frame": lambda values, chance: library("polars").DataFrame({"a": values}),
    "bfloat16": lambda values, chance: _tensor(values).to(library("torch").bfloat16),
    "half tensor": lambda values, chance: _tensor(values).half(),
    "tensor column": lambda values, chance: _tensor(values).reshape(-1, 1),
    "sparse tensor": lambda values, chance: _tensor(values).to_sparse(),
    "meta tensor": lambda values, chance: _tensor(values).to("meta"),
    "complex tensor": lambda values, chance: _tensor(values).to(library("torch").complex64),
}


def clothed(chance: random.Random, values: Any, share_of_odd: float = 0.5) -> Clothed:
    """The rows in some container that can hold them."""
    values = np.asarray(values)
    while True:
        odd = chance.random() < share_of_odd
        name = chance.choice(tuple(ODD if odd else FAITHFUL))
        try:
            with np.errstate(all="ignore"):
                rows = ODD[name](values, chance) if odd else FAITHFUL[name](values)
        except Exception:  # this container cannot hold these values, or its library is missing
            continue
        return Clothed(name, rows, not odd)
