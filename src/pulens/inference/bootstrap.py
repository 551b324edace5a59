"""Metrics of many redraws at once: what the loops of ordinary metrics would give, in a few array operations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.inference.kernels.redraws import BootstrapCounts
from pulens.recovery.contingency import Contingency
from pulens.recovery.many import ManyRecoveries
from pulens.types import Floats

STEADY_ROWS = 10  # rows of either kind above a threshold from which on the precision there is left uncut
MOST_PRECISION = 2.0  # and even there this is noise


def average_precisions(
    recoveries: ManyRecoveries, redrawn: BootstrapCounts, labelled_at: Floats, *, own_rows_redrawn: bool = True
) -> tuple[Floats, Floats]:
    r"""Average precision of each redraw, read twice: with precision cut to [0, 1], and without where it is steady.

    Both are :math:`\sum_j \Delta R_j P_j` over all thresholds. The recovered precision
    :math:`P = \pi\gamma/(\pi\gamma + (1-\pi)\eta)` leaves [0, 1] where the recovered :math:`\eta` falls below zero,
    which near the top of a good ranking happens half of the time: cutting it biases the sum downwards, not
    cutting it makes it noisy. The second reading cuts only where fewer than ten labelled or unlabelled rows have
    been passed, and takes out what a row's own weight adds to recall at its own score (twice as much in a redraw,
    where rows repeat, as in the data). ``labelled_at`` are the labelled rows of the data at each threshold.
    """
    recall, alarms = recoveries.rates(*redrawn[:3])
    n_labelled, n_unlabelled = (total[:, None] for total in redrawn.totals[:2])
    called = recoveries.positive[:, None] * recall + recoveries.negative[:, None] * alarms
    steps = _increments(recall)
    hits = recoveries.positive[:, None] * recall
    cut = np.divide(
        hits,
        called,
        out=(hits > 0).astype(float),
        where=called > 1e-9 * (recoveries.positive + recoveries.negative)[:, None],
    )
    np.clip(cut, 0.0, 1.0, out=cut)
    found_cut = np.einsum("nt,nt->n", steps, cut)
    own: Any = 1.0
    if own_rows_redrawn:
        drawn = _increments(redrawn.labelled)
        drawn *= n_labelled
        drawn -= 1.0
        weighty = labelled_at > 1e-9 * n_labelled  # a weight of 1e-308 would overflow, and moves nothing
        own = 1.0 + np.divide(drawn, labelled_at, out=np.zeros(drawn.shape), where=weighty)
    hits -= own * (recoveries.positive[:, None] * 0.5 / n_labelled)
    called += 0.5
    steady = (redrawn.labelled * n_labelled >= STEADY_ROWS) & (redrawn.unlabelled * n_unlabelled >= STEADY_ROWS)
    free = np.divide(hits, called, out=np.ones(hits.shape), where=called > 0)
    np.clip(free, 0.0, np.where(steady, MOST_PRECISION, 1.0), out=free)
    return found_cut, np.einsum("nt,nt->n", steps, free)


def _increments(running: Floats) -> Floats:
    """What each threshold adds to shares at or above it."""
    result = np.array(running)
    result[:, 1:] -= running[:, :-1]
    return result


def best_places(values: Floats, possible: NDArray[np.bool_], *, higher_is_better: bool) -> NDArray[np.intp]:
    """The first best threshold of each redraw; the last threshold where nothing is possible."""
    worst = -np.inf if higher_is_better else np.inf
    kept = np.where(possible & ~np.isnan(values), values, worst)
    indices = kept.argmax(axis=1) if higher_is_better else kept.argmin(axis=1)
    nothing = ~np.isfinite(kept).any(axis=1)
    return np.asarray(np.where(nothing, values.shape[1] - 1, indices))


def values_at_threshold(compute: Any, table: Contingency, lowest: float, highest: float, **parameters: Any) -> Floats:
    """A threshold metric of many tables, clipped as single values are."""
    return np.asarray(np.clip(compute(table, **parameters), lowest, highest))
