"""What an audit knows: how many rows each range of scores holds, how many were checked, how many were positive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError, shown
from pulens.scalars import whole
from pulens.scenario import Scenario, check_scenario

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditCounts:
    """Counts per stratum, highest scores first; the first ``flagged`` strata lie at or above the threshold.

    ``rows`` are the unlabelled rows of the stratum (M), ``checked`` those that somebody looked at (n), ``found`` the
    positives among these (a), ``undecided`` those of the checked about which nobody could decide; ``labelled`` (L) and
    ``known_negative`` are the rows of the table whose class was known before.

    >>> counts = AuditCounts(rows=[200, 9800], checked=[60, 140], found=[45, 2], flagged=1)
    >>> counts.strata, int(counts.rows.sum()), int(counts.found.sum())
    (2, 10000, 47)
    """

    rows: Counts
    checked: Counts
    found: Counts
    labelled: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    known_negative: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    undecided: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    flagged: int
    scenario: Scenario = Scenario.SINGLE_SET

    def __post_init__(self) -> None:
        size = len(self.rows)
        for name in ("rows", "checked", "found", "labelled", "known_negative", "undecided"):
            values = _whole(name, getattr(self, name), size)
            values.flags.writeable = False  # frozen guards the names, not what the arrays hold
            object.__setattr__(self, name, values)
        object.__setattr__(self, "scenario", Scenario(check_scenario(self.scenario)))
        _refuse_more("checked", self.checked, "rows", self.rows)
        _refuse_more("found and undecided", self.found + self.undecided, "checked", self.checked)
        flagged = whole(self.flagged)
        if flagged is None or not 0 <= flagged <= size:
            raise InputError(f"flagged must be a number of strata, 0 to {size}, got {shown(self.flagged)}.")
        object.__setattr__(self, "flagged", flagged)

    @property
    def strata(self) -> int:
        return len(self.rows)

    @property
    def left_out(self) -> NDArray[np.bool_]:
        """Strata with rows of which none was checked: any number of them can be positive."""
        return np.asarray((self.checked == 0) & (self.rows > 0))


def _whole(name: str, values: Any, size: int) -> Counts:
    if len(values) == 0 and size:
        return np.zeros(size, np.int64)
    given: NDArray[Any] = np.array(values)
    if given.shape != (size,) or given.dtype.kind not in "iuf":
        raise InputError(f"{name} must hold one number for each of {size} strata, got {_shown(values)}.")
    if not np.isfinite(given).all() or (given < 0).any() or (given != np.floor(given)).any() or (given > 2**53).any():
        raise InputError(f"{name} must hold whole numbers of rows, 0 or more, got {_shown(values)}.")
    return given.astype(np.int64)


def _refuse_more(inner: str, fewer: Counts, outer: str, more: Counts) -> None:
    wrong = np.flatnonzero(fewer > more)
    if wrong.size:
        index = int(wrong[0])
        raise InputError(
            f"stratum {index + 1} says {inner} {fewer[index]} of {outer} {more[index]}: there cannot be more."
        )


def _shown(values: Any) -> str:
    text = repr(list(values) if isinstance(values, Sequence | np.ndarray) else values)
    return text if len(text) <= 80 else text[:77] + "..."


@dataclass(frozen=True, eq=False, kw_only=True)
class CheckedRows:
    """The rows that were looked at: their stratum (0 is the highest), their score, and 1, 0 or -1 for undecided."""

    stratum: Counts
    score: NDArray[np.float64]
    answer: Counts

    def __len__(self) -> int:
        return len(self.stratum)
