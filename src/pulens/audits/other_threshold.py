"""An audit read at another threshold: strata are cut where it passes through them.

How many rows of a stratum lie on either side is counted, not estimated, and given how many of its checked rows fell on
each side these are again simple random samples of the two parts. A part without a checked row has its sibling's share
as an estimate, and nothing and all of its rows as limits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pulens.audits.counts import AuditCounts, CheckedRows
from pulens.counts.exactness import in_precision
from pulens.counts.tally import Tally
from pulens.errors import AssumptionError, InputError, shown
from pulens.scalars import real
from pulens.types import Floats


class Cut(NamedTuple):
    """Counts of the parts, the checked rows in them, and shares for parts without a checked row (nan: none known)."""

    counts: AuditCounts
    rows: CheckedRows
    unchecked_share: Floats


def check_threshold(threshold: object) -> float:
    """A number; an audit does not choose a threshold, for the rows that choose it cannot judge it.

    >>> check_threshold("best")
    Traceback (most recent call last):
    ...
    pulens.errors.AssumptionError: threshold must be a number, got 'best'. A threshold chosen by the answers of an...
    """
    number = real(threshold)
    if not math.isfinite(number):
        raise AssumptionError(
            f"threshold must be a number, got {shown(threshold)}. A threshold chosen by the answers of an audit would "
            "need checked rows of its own: choose it before, and give its value."
        )
    return number


def cut_at(counts: AuditCounts, rows: CheckedRows, tally: Tally, threshold: float) -> Cut:
    """The same audit with the strata cut at another threshold.

    >>> scores = np.arange(10.0, 0.0, -1.0)
    >>> checked = CheckedRows(stratum=np.array([0, 1, 1]), score=np.array([9.0, 6.0, 2.0]), answer=np.array([1, 1, 0]))
    >>> counts = AuditCounts(rows=[3, 7], checked=[1, 2], found=[1, 1], flagged=1)
    >>> cut = cut_at(counts, checked, Tally.from_arrays(np.zeros(10, int), scores), 5.0)
    >>> cut.counts.rows, cut.counts.checked, cut.counts.found, cut.counts.flagged
    (array([3, 3, 4]), array([1, 1, 1]), array([1, 1, 0]), 2)
    """
    if int(tally.totals.unlabelled) != int(counts.rows.sum()):
        raise InputError(
            f"the tally holds {tally.totals.unlabelled:,.0f} unlabelled rows and the audit {counts.rows.sum():,}: "
            "count the same rows, those checked among the unlabelled ones."
        )
    there = tally.at(threshold)
    high = np.asarray(rows.score) >= in_precision(threshold, tally.thresholds.dtype)
    sides: dict[str, tuple[Any, Any]] = {}
    known = zip(("rows", "labelled", "known_negative"), (there.unlabelled, there.labelled, there.negative), strict=True)
    for name, reaching in known:
        of = getattr(counts, name)
        above = np.clip(int(reaching) - (np.cumsum(of) - of), 0, of)
        sides[name] = (above, of - above)
    seen = {"checked": np.ones(len(rows), bool), "found": rows.answer == 1, "undecided": rows.answer == -1}
    for name, which in seen.items():
        above = np.bincount(rows.stratum[which & high], minlength=counts.strata)
        sides[name] = (above, getattr(counts, name) - above)
    held = [sum(sides[name][side] for name in ("rows", "labelled", "known_negative")) > 0 for side in (0, 1)]
    parts = [(k, side) for side in (0, 1) for k in range(counts.strata) if held[side][k]]
    columns = {name: np.array([both[side][k] for k, side in parts], np.int64) for name, both in sides.items()}
    flagged = sum(side == 0 for _, side in parts)
    number = {part: index for index, part in enumerate(parts)}
    stratum = np.array([number[(int(k), 1 - int(up))] for k, up in zip(rows.stratum, high, strict=True)], np.int64)
    share = np.full(counts.strata, np.nan)
    np.divide(counts.found + counts.undecided / 2, counts.checked, out=share, where=counts.checked > 0)
    return Cut(
        AuditCounts(**columns, flagged=flagged, scenario=counts.scenario),
        CheckedRows(stratum=stratum, score=rows.score, answer=rows.answer),
        np.array([share[k] for k, _ in parts]),
    )
