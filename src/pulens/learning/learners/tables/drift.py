"""Rows to score whose columns are not as they were in training: what a person should know before using the scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pulens.errors import listed
from pulens.inputs.typed_columns import CATEGORY, TypedTable
from pulens.learning.learners.tables.table_columns import TableColumns
from pulens.notice import Notice, Severity


def drift_notices(columns: TableColumns, table: TypedTable) -> Iterator[Notice]:
    """A notice for each column with words never seen in training, or with gaps where there were none.

    >>> trained = TableColumns().fit({"job": ["clerk", "none", "clerk"], "age": [1, 2, 4]})
    >>> rows = trained.typed({"job": ["pilot", "clerk"], "age": [None, 3]})
    >>> for notice in drift_notices(trained, rows):
    ...     print(notice)
    Column 'job' holds words never seen in training in 1 of 2 rows ('pilot'): they are scored as a rare or unknown one.
    Column 'age' is empty in 1 of 2 rows, and was in none of training.
    """
    by_name = {column.name: column for column in table}
    for planned in columns.columns_:
        column = by_name[planned.name]
        rows = column.values.size
        if planned.kind == CATEGORY:
            new = np.flatnonzero(planned.ranks(column) == -1)
            if new.size:
                words = listed(dict.fromkeys(column.values[new].tolist()), limit=3)
                yield Notice(
                    Severity.WARNING,
                    "unknown-category",
                    f"Column {planned.name!r} holds words never seen in training in {new.size:,} of {rows:,} rows "
                    f"({words}): they are scored as a rare or unknown one.",
                )
        empty = int(column.missing.sum())
        if empty and (empty == rows or not planned.has_gaps):
            seen = "is empty in every row" if empty == rows else f"is empty in {empty:,} of {rows:,} rows"
            beside = "some" if planned.has_gaps else "none"
            yield Notice(
                Severity.WARNING, "new-gaps", f"Column {planned.name!r} {seen}, and was in {beside} of training."
            )
