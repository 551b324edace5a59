"""Columns that know too much: what gives the labels away, or identifies rows instead of describing them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import rankdata

from pulens.inputs.typed_columns import CATEGORY, TypedColumn, TypedTable
from pulens.notice import Notice, Severity
from pulens.types import Booleans

FEWEST = 10  # labelled rows of which a perfect separation is no accident
GAP = 0.98  # area from which a single column separates as good as perfectly


def leak_notices(table: TypedTable, labelled: Booleans) -> Iterator[Notice]:
    """A notice for each column that alone tells labelled from unlabelled rows.

    If some unlabelled rows are positive, as they are in PU data, nothing that describes rows can set the labelled ones
    apart from all others: the area of labelled against unlabelled rows is at most 1 less half the unlabelled prior.
    A column that does was filled in after the label, or because of it.

    >>> gone = TypedColumn("closed_on", "number", np.where(np.arange(40) < 12, 1.0, np.nan))
    >>> [notice.code for notice in leak_notices(TypedTable((gone,)), np.arange(40) < 12)]
    ['leaking-column']
    """
    if int(labelled.sum()) < FEWEST or int((~labelled).sum()) < FEWEST:
        return
    for column in table:
        said = _gives_away(column, labelled)
        if said:
            yield Notice(
                Severity.SERIOUS,
                "leaking-column",
                f"Column {column.name!r} gives the labels away: {said}. If some unlabelled rows are positive, only a "
                "column that was filled in after the label, or because of it, can do that, and it will not be there "
                f"for new rows. Leave it out: --drop {column.name} (drop= in Python).",
            )


def _gives_away(column: TypedColumn, labelled: Booleans) -> str:
    missing = column.missing
    if (missing != labelled).all():
        return "the labelled rows have a value in it, and no other row has"
    if (missing == labelled).all():
        return "it is empty in the labelled rows, and in no other"
    if column.kind == CATEGORY:
        words = column.values
        ours, theirs = set(words[labelled & ~missing].tolist()), set(words[~labelled & ~missing].tolist())
        if ours and theirs and not (ours & theirs) and not missing[labelled].any() and len(ours) <= labelled.sum() / 2:
            return "no value of the labelled rows occurs in any other"
        return ""
    area = separation(column.values, labelled & ~missing, ~labelled & ~missing)
    if max(area, 1 - area) == 1 and not missing[labelled].any():
        return f"every labelled row lies {'above' if area == 1 else 'below'} every other"
    if max(area, 1 - area) >= GAP:
        return f"alone it tells labelled from unlabelled rows with an area of {max(area, 1 - area):.3f}"
    return ""


def separation(values: np.ndarray, ours: Booleans, theirs: Booleans) -> float:
    """Area of one kind of rows against another, ties counting half.

    >>> separation(np.array([1.0, 2, 3, 3]), np.array([0, 0, 0, 1], bool), np.array([1, 1, 1, 0], bool))
    0.8333333333333334
    """
    first, second = int(ours.sum()), int(theirs.sum())
    if not first or not second:
        return 0.5
    ranks = rankdata(np.concatenate([values[ours], values[theirs]]))[:first]
    return float((ranks.sum() - first * (first + 1) / 2) / (first * second))
