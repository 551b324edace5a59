"""Archives of format 1, whose columns had older names: read as if they had been written today.

Nothing on disk is changed. Format 1 said ``method``, ``strategy``, ``auc``, ``proxy_auc`` and ``test_auc``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pulens.research.benchmark.archive.row import SCHEMA
from pulens.research.benchmark.vocabulary import CURRENT, OLDER

NAMES = {word: OLDER[word] for word in ("learner", "mechanism_alias", "roc_auc", "proxy_roc_auc", "test_roc_auc")}
CRITERIA = ("proxy_auc",)  # of values, not of names: a column that holds criteria may hold this one
SUPPORTED_BEFORE = frozenset({"lagam"})  # who read true support labels in archives older than the column


def _older_type(kind: Any) -> Any:
    if not (pa.types.is_list(kind) and pa.types.is_struct(kind.value_type)):
        return kind
    return pa.list_(pa.struct([(NAMES.get(part.name, part.name), part.type) for part in kind.value_type]))


#: The columns of format 1, in the order of today's.
SCHEMA_1 = pa.schema([(NAMES.get(part.name, part.name), _older_type(part.type)) for part in SCHEMA])


def is_format_1(names: Sequence[str]) -> bool:
    """Whether the columns of a file are those of format 1.

    >>> is_format_1(["key", "method", "dataset"]), is_format_1(["key", "learner", "dataset"])
    (True, False)
    """
    return "method" in names and "learner" not in names


def read_format_1(path: Path, columns: Sequence[str]) -> pa.Table:
    """Columns of a file of format 1 under today's names; what the oldest versions did not write is filled in."""
    wanted = {name: NAMES.get(name, name) for name in columns}
    extra = ["method"] if "needs_support" in wanted and "learner" not in wanted else []
    table = pq.read_table(path, columns=[*wanted.values(), *extra], schema=SCHEMA_1)
    result = {name: _translated(table[stored], SCHEMA.field(name).type) for name, stored in wanted.items()}
    if "own_selection" in result:
        result["own_selection"] = _in_todays_words(result["own_selection"])
    if "needs_support" in result and result["needs_support"].null_count:
        known = [name in SUPPORTED_BEFORE for name in table["method"].to_pylist()]
        result["needs_support"] = pa.array(known, pa.bool_())
    return pa.table(result)


def _translated(column: Any, kind: Any) -> Any:
    """A column with today's names inside; a cast by name would silently make nulls of what is called otherwise."""
    if column.type == kind:
        return column
    whole = column.combine_chunks()
    inner = whole.values
    parts = [
        _in_todays_words(inner.field(place)) if part.name == "selection" else inner.field(place)
        for place, part in enumerate(kind.value_type)
    ]
    rows = pa.StructArray.from_arrays(parts, fields=list(kind.value_type))
    return pa.ListArray.from_arrays(whole.offsets, rows, type=kind, mask=whole.is_null())


def _in_todays_words(values: Any) -> Any:
    for word in CRITERIA:
        values = pc.if_else(pc.equal(values, word), CURRENT[word], values)
    return values
