"""What a cell is: the rows with one value of the columns within which labels are random, counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.containers import plain_array
from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Tally, Totals
from pulens.errors import InputError, listed, shown
from pulens.inputs.columns import CROSSED, NULL
from pulens.types import Floats

ROWS_PER_CELL = 5  # labelled rows that a cell must have on average


def cell_title(value: Any) -> str:
    """A cell as tables and mappings name it.

    >>> cell_title(None), cell_title(("north", None)), cell_title(3)
    ('(null)', 'north / (null)', '3')
    """
    if isinstance(value, tuple):
        return CROSSED.join(map(cell_title, value))
    return NULL if value is None else str(value)


@dataclass(frozen=True, eq=False)
class LabellingCells:
    """One tally per cell, in a fixed order.

    >>> cells = LabellingCells.of("site", {"a": Tally.from_arrays(np.array([1, 0]), np.array([2.0, 1.0]))})
    >>> cells.names, cells.totals.tolist()
    (('a',), [[1.0, 1.0, 0.0]])
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    tallies: tuple[Tally, ...]
    buckets: tuple[BucketTally, ...] = ()  # the rows of each cell by bucket of clusters, where some belong together

    @classmethod
    def of(cls, columns: str | tuple[str, ...], counted: Mapping[Any, Tally | BucketTally]) -> LabellingCells:
        named = (columns,) if isinstance(columns, str) else tuple(columns)
        buckets = tuple(one for one in counted.values() if isinstance(one, BucketTally))
        tallies = tuple(one.tally if isinstance(one, BucketTally) else one for one in counted.values())
        return cls(named, tuple(cell_title(name) for name in counted), tallies, buckets)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def words(self) -> str:
        """The columns, as a sentence says them.

        >>> LabellingCells(("clinic", "sex"), (), ()).words
        'clinic and sex'
        """
        return " and ".join(self.columns)

    @cached_property
    def totals(self) -> Floats:
        """Rows of each kind in every cell, of shape (cells, 3)."""
        return np.array([tally.totals for tally in self.tallies], float).reshape(-1, 3)

    @cached_property
    def whole(self) -> Tally:
        """The rows of all cells as one tally."""
        parts = [(tally, tally.increments()) for tally in self.tallies if len(tally)]
        is_binned = any(tally.binning is not None for tally, _ in parts)
        labelled, unlabelled, negative = (np.concatenate([kinds[kind] for _, kinds in parts]) for kind in range(3))
        return Tally.from_increments(
            np.concatenate([tally.thresholds for tally, _ in parts]),
            labelled,
            unlabelled,
            negative if self.totals[:, 2].any() else None,
            np.concatenate([tally.highest for tally, _ in parts]) if is_binned else None,
        )

    @cached_property
    def whole_buckets(self) -> BucketTally | None:
        """The rows of all cells by bucket of clusters; ``None`` where they were not counted so."""
        if not self.buckets:
            return None
        starts = np.cumsum([0, *(len(counted) for counted in self.buckets)])
        most = sum(counted.counted_clusters[1] for counted in self.buckets)
        return BucketTally.from_increments(
            self.whole,
            [name for counted in self.buckets for name in counted.names],
            np.concatenate(
                [one.bucket.astype(np.int64) + start for one, start in zip(self.buckets, starts, strict=False)]
            ),
            (
                np.concatenate([counted.lowest[counted.block] for counted in self.buckets]),
                np.concatenate([counted.highest[counted.block] for counted in self.buckets]),
            ),
            [
                np.concatenate([getattr(counted, kind) for counted in self.buckets])
                for kind in ("labelled", "unlabelled", "negative")
            ],
            clusters=(max(counted.counted_clusters[0] for counted in self.buckets), most),
            rows=sum(counted.rows for counted in self.buckets),
        )

    def above(self, thresholds: Any) -> NDArray[np.float64]:
        """Rows of each kind at or above each threshold in every cell, of shape (cells, 3, thresholds)."""
        wanted = np.atleast_1d(plain_array(thresholds))
        if wanted.ndim > 1 or wanted.dtype.kind not in "fiu":
            raise InputError(f"thresholds must be numbers, got {shown(thresholds)}.")
        result = np.zeros((len(self), 3, wanted.size))
        for index, tally in enumerate(self.tallies):
            result[index] = counts_above(tally, wanted)
        return result


def counts_above(tally: Tally, thresholds: NDArray[Any]) -> Floats:
    """Rows of each kind at or above thresholds, of shape (3, thresholds).

    >>> tally = Tally.from_arrays(np.array([1, 0, 0]), np.array([3.0, 2.0, 1.0]))
    >>> counts_above(tally, np.array([2.5, 1.0])).tolist()
    [[1.0, 1.0], [0.0, 2.0], [0.0, 0.0]]
    """
    if tally.thresholds.dtype == np.float32 and thresholds.dtype != np.float32:
        return np.array([tally.at(float(threshold)) for threshold in thresholds], float).T
    rows = np.searchsorted(-tally.thresholds, -thresholds, side="right")
    kinds = (tally.labelled, tally.unlabelled, tally.negative)
    return np.array([np.concatenate([[0.0], np.asarray(kind, float)])[rows] for kind in kinds])


def check_cells(cells: LabellingCells) -> None:
    """Refuse cells from which nothing could be recovered, and columns that are the label in disguise."""
    totals = cells.totals
    labelled, others = totals[:, 0], totals[:, 1] + totals[:, 2]
    many, rows = len(cells), float(labelled.sum())
    named = f"labelled_within={listed(cells.columns)}"
    if many > 1 and many * ROWS_PER_CELL > rows:
        raise InputError(
            f"{named} makes {many:,} cells, and {rows:,.10g} labelled rows allow {int(rows // ROWS_PER_CELL):,} at "
            f"most ({ROWS_PER_CELL} rows for each on average): name fewer columns, or merge values with similar "
            "labelling."
        )
    # where every cell holds one kind of row, however many cells there are, the column tells the label
    if many > 1 and others.sum() and not ((labelled > 0) & (others > 0)).any():
        if NULL in cells.names and others[cells.names.index(NULL)] == others.sum():
            raise InputError(
                f"{named}: the column is known for labelled rows only, and null for all {others.sum():,.10g} others. "
                "Cells must be known for unlabelled rows too, or the number of positives in each is unknown."
            )
        raise InputError(
            f"{named}: no cell holds both labelled and unlabelled rows, so the column is the label itself. Name a "
            "column that says where a row comes from, such as a clinic, a channel or a month."
        )
    if not totals[:, 1].sum():
        raise InputError(f"{named}: there are no unlabelled rows, so there is nothing to recover: leave it out.")


def totals_of(row: Floats) -> Totals:
    return Totals(*(float(count) for count in row))
