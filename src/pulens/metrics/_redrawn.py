"""Metrics of many redraws at once: what the loops of ordinary metrics would give, in a few array operations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.contingency import ROUNDING, Contingency
from pulens.recovery.many import ManyRecoveries
from pulens.uncertainty.redraws import Redrawn

Floats = NDArray[np.float64]


def average_precisions(recoveries: ManyRecoveries, redrawn: Redrawn) -> Floats:
    """Average precision of each redraw, clean labels: recall then never falls along the ranking.

    A threshold whose recovered false positive rate is impossible is skipped, its step of recall going to the next
    possible one; since recall never falls, the last possible recall is the largest so far.
    """
    recall, alarms = recoveries.rates(*redrawn[:3])
    possible = (alarms >= -ROUNDING) & (alarms <= 1 + ROUNDING)
    hits = recoveries.positive[:, None] * recall
    called = recoveries.negative[:, None] * np.clip(alarms, 0.0, 1.0)
    called += hits
    possible &= called > 0
    reached = np.where(possible, recall, 0.0)
    np.maximum.accumulate(reached, axis=1, out=reached)
    steps = np.diff(reached, axis=1, prepend=0.0)
    precision = np.divide(hits, called, out=np.zeros(hits.shape), where=possible)
    return np.asarray((steps * precision).sum(axis=1))


def best_places(values: Floats, possible: NDArray[np.bool_], *, higher_is_better: bool) -> NDArray[np.intp]:
    """The first best threshold of each redraw; the last threshold where nothing is possible."""
    worst = -np.inf if higher_is_better else np.inf
    kept = np.where(possible & ~np.isnan(values), values, worst)
    places = kept.argmax(axis=1) if higher_is_better else kept.argmin(axis=1)
    nothing = ~np.isfinite(kept).any(axis=1)
    return np.asarray(np.where(nothing, values.shape[1] - 1, places))


def at_places(redrawn: Redrawn, places: NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
    """Observed rates of each redraw at its own threshold."""
    rows = np.arange(places.size)
    return tuple(rates[rows, places] for rates in redrawn[:3])  # type: ignore[return-value]


def values_at_threshold(compute: Any, table: Contingency, lowest: float, highest: float, **parameters: Any) -> Floats:
    """A threshold metric of many tables, clipped as single values are."""
    return np.asarray(np.clip(compute(table, **parameters), lowest, highest))
