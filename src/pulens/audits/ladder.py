"""The counts that travel with a plan: a tally, thinned where it is long, exact wherever an answer will need it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.binning import Binning
from pulens.counts.tally import Tally, check_counts
from pulens.errors import InputError

MOST_STEPS = 4096  # distinct scores that are all kept
_KINDS = ("labelled", "unlabelled", "negative")


def thinned(tally: Tally, exact_at: Iterable[float], most: int = MOST_STEPS) -> Tally:
    """A tally of about ``most`` thresholds; the counts at and just above the scores named stay exact.

    Thresholds that are left out are joined to the next lower one that is kept, as in any binned tally.

    >>> tally = Tally.from_arrays(np.zeros(100, np.int8), np.arange(100.0))
    >>> short = thinned(tally, [42.0], most=10)
    >>> len(short) < 20, short.at(42.0) == tally.at(42.0), short.at(43.0) == tally.at(43.0)
    (True, True, True)
    """
    if len(tally) <= most:
        return tally
    falling = -tally.thresholds.astype(np.float64)
    named = np.searchsorted(falling, -np.array(sorted(set(exact_at)), np.float64), "right") - 1
    indices: list[NDArray[np.intp]] = [named, named - 1, np.array([len(tally) - 1])]
    for kind in (getattr(tally, name) for name in _KINDS):
        if kind[-1]:
            ranks = np.linspace(0, float(kind[-1]), most // 3)
            indices.append(np.searchsorted(kind, ranks))
    kept = np.unique(np.concatenate(indices))
    kept = kept[(kept >= 0) & (kept < len(tally))].astype(np.intp)
    first = np.append(0, kept[:-1] + 1)
    return Tally(
        tally.thresholds[kept],
        tally.labelled[kept],
        tally.unlabelled[kept],
        tally.negative[kept],
        binning=Binning(tally.highest[first]),
    )


def ladder_to_dict(tally: Tally) -> dict[str, Any]:
    """Plain numbers, whole counts at or above each threshold."""
    result: dict[str, Any] = {
        "precision": str(tally.thresholds.dtype),
        "threshold": [float(one) for one in tally.thresholds],
    }
    if tally.binning is not None:
        result["highest"] = [float(one) for one in tally.highest]
    for name in _KINDS:
        result[name] = [int(one) for one in getattr(tally, name)]
    return result


def ladder_from_dict(result: Any) -> Tally:
    """The tally that was written, checked like any other.

    >>> tally = Tally.from_arrays(np.array([1, 0, 0]), np.array([0.9, 0.5, 0.2]))
    >>> ladder_from_dict(ladder_to_dict(tally)) == tally
    True
    """
    dtype = np.dtype(np.float32 if result.get("precision") == "float32" else np.float64)
    thresholds = _numbers(result["threshold"], dtype)
    counts = [_numbers(result[name], np.dtype(np.int64)) for name in _KINDS]
    highest = None if result.get("highest") is None else Binning(_numbers(result["highest"], dtype))
    tally = Tally(thresholds, *counts, binning=highest)
    check_counts(tally)
    return tally


def _numbers(values: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    kinds = (int,) if dtype.kind == "i" else (int, float)
    if not isinstance(values, list) or not all(type(one) in kinds for one in values):
        raise InputError("the counts of the plan must be lists of numbers.")
    return np.array(values, dtype)
