"""Rows read and counted per cell: one column or several that cross, or cells given beside labels and scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Tally, Totals
from pulens.errors import InputError, listed, shown
from pulens.inputs import ReadOptions, read_counts, read_sample
from pulens.inputs.arrays import listed_values
from pulens.inputs.clusters import cluster_codes
from pulens.inputs.columns import is_null
from pulens.inputs.tallies import buckets_of_part, check_totals
from pulens.strata.counts import LabellingCells, cell_title, check_cells


def read_cells(source: Any, scores: Any, within: Any, reading: ReadOptions, **options: Any) -> LabellingCells:
    """Count rows per cell. ``within`` names a column or several; beside labels and scores it holds a value per row.

    >>> cells = read_cells([1, 0, 1, 0], [4, 3, 2, 1], ["a", "a", "b", "b"], ReadOptions())
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: labelled_within='cell' makes 2 cells, and 2 labelled rows allow 0 at most (5 rows for...
    """
    if scores is not None:
        cells = _beside_arrays(source, scores, within, reading)
    else:
        columns = columns_of(within, reading)
        group_by: Any = columns[0] if len(columns) == 1 else columns
        cells = LabellingCells.of(columns, read_counts(source, group_by=group_by, **options, **reading.arguments))
    check_totals(Totals(*(float(total) for total in cells.totals.sum(axis=0))))
    check_cells(cells)
    return cells


def columns_of(within: Any, reading: ReadOptions) -> tuple[str, ...]:
    """The columns whose values make strata; what names none is refused."""
    names = (within,) if isinstance(within, str) else within
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) and name for name in names):
        raise InputError(
            f"labelled_within must name a column of the table, or several that cross, got {shown(within)}. Beside "
            "arrays of labels and scores it holds each row's cell."
        )
    result = tuple(names)
    if len(set(result)) < len(result):
        raise InputError(f"labelled_within names a column twice: {listed(result)}.")
    for taken, what in ((reading.score, "scores"), (reading.label, "labels"), (reading.weight, "weights")):
        if taken in result:
            raise InputError(
                f"labelled_within={taken!r} is the column of {what}: cells made of it would say nothing about where "
                "labels come from. Name a column such as a clinic, a channel or a month."
            )
    return result


def _beside_arrays(labels: Any, scores: Any, within: Any, reading: ReadOptions) -> LabellingCells:
    from pulens.inputs.engines.coded import CodedSegments
    from pulens.inputs.engines.counts import in_order, rows_of_segments

    sample = read_sample(labels, scores, **reading.rows)
    if isinstance(within, str) or not hasattr(within, "__len__"):
        raise InputError(
            f"labelled_within must hold one cell per row of the labels and scores, got {shown(within)}. A "
            "column's name is for tables, files and databases."
        )
    values = np.fromiter((None if is_null(value) else value for value in listed_values(within)), object, len(within))
    if values.size != sample.scores.size:
        raise InputError(
            f"labelled_within holds {values.size:,} cells for {sample.scores.size:,} rows: one is needed for each."
        )
    rows = rows_of_segments(CodedSegments.of(values))
    texts, codes = ([], None) if reading.cluster is None else cluster_codes(reading.cluster, "cluster", values.size)
    result: dict[Any, Tally | BucketTally] = {}
    for cell in in_order(rows):
        part = sample.of(rows[cell])
        if len(part.counted()):
            result[cell_title(cell)] = (
                Tally.from_sample(part) if codes is None else buckets_of_part(part, texts, codes[rows[cell]])
            )
    return LabellingCells.of("cell", result)
