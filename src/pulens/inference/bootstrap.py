"""Metrics of many redraws at once: what the loops of ordinary metrics would give, in a few array operations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.inference.kernels.redraws import BootstrapCounts
from pulens.recovery.contingency import Contingency
from pulens.recovery.many import ManyRecoveries
from pulens.types import Floats

STEADY_ROWS = 10  # rows of either kind above a threshold from which on the precision there is left uncut
MOST_PRECISION = 2.0  # and even there this is noise


@dataclass(frozen=True, eq=False)
class PrecisionReadings:
    r"""Average precision of each redraw, read twice: with precision cut to [0, 1], and without where it is steady.

    Both are :math:`\sum_j \Delta R_j P_j` over all thresholds. The recovered precision
    :math:`P = \pi\gamma/(\pi\gamma + (1-\pi)\eta)` leaves [0, 1] where the recovered :math:`\eta` falls below zero,
    which near the top of a good ranking happens half of the time: cutting it biases the sum downwards, not
    cutting it makes it noisy. The second reading cuts only where fewer than ten labelled or unlabelled rows have
    been passed, and takes out what a row's own weight adds to recall at its own score (twice as much in a redraw,
    where rows repeat, as in the data). ``labelled_at`` are the labelled rows of the data at each threshold.

    What several class priors do not move is found once. Where all labels are right, recall rises at labelled rows
    alone (``labels_are_right``): other thresholds are not looked at.
    """

    redrawn: BootstrapCounts
    labelled_at: Floats
    labels_are_right: bool = False

    def of(self, recoveries: ManyRecoveries) -> tuple[Floats, Floats]:
        """Both readings."""
        recall, alarms = recoveries.rates(*self._rates)
        positive, negative = recoveries.positive[:, None], recoveries.negative[:, None]
        steps = self._labelled_steps if self.labels_are_right else _increments(recall)
        hits = positive * recall
        called = negative * alarms
        called += hits
        share = (hits > 0).astype(float)
        np.divide(hits, called, out=share, where=called > 1e-9 * (positive + negative))
        np.clip(share, 0.0, 1.0, out=share)
        found_cut = np.einsum("nt,nt->n", steps, share)
        hits -= self._own_weight * (positive * 0.5 / self.redrawn.totals[0][:, None])
        called += 0.5
        share.fill(1.0)
        np.divide(hits, called, out=share, where=called > 0)
        np.maximum(share, 0.0, out=share)
        np.minimum(share, self._most, out=share)
        return found_cut, np.einsum("nt,nt->n", steps, share)

    @cached_property
    def _columns(self) -> Any:
        return np.flatnonzero(self.labelled_at) if self.labels_are_right else slice(None)

    @cached_property
    def _rates(self) -> tuple[Floats, Floats, Floats]:
        labelled, unlabelled, negative = self.redrawn[:3]
        if not self.labels_are_right:
            return labelled, unlabelled, negative
        rest = negative.take(self._columns, axis=1) if self.redrawn.totals[2].any() else np.zeros((1, 1))
        return labelled.take(self._columns, axis=1), unlabelled.take(self._columns, axis=1), rest

    @cached_property
    def _labelled_steps(self) -> Floats:
        return _increments(self._rates[0])

    @cached_property
    def _own_weight(self) -> Floats:
        """How often each row at a threshold was drawn, over all rows there, and once more."""
        # a weight of 1e-308 would overflow, and moves nothing
        weighty = self.labelled_at > 1e-9 * self.labelled_at.sum()
        result = self._labelled_steps * self.redrawn.totals[0][:, None]
        result -= 1.0
        result /= np.where(weighty, self.labelled_at, np.inf)[self._columns]
        result += 1.0
        return result

    @cached_property
    def _most(self) -> Floats:
        """The largest precision that is read where it is not cut."""
        labelled, unlabelled = (total[:, None] for total in self.redrawn.totals[:2])
        steady = self._rates[0] * labelled >= STEADY_ROWS
        steady &= self._rates[1] * unlabelled >= STEADY_ROWS
        return np.where(steady, MOST_PRECISION, 1.0)


def _increments(running: Floats) -> Floats:
    """What each threshold adds to shares at or above it."""
    result = np.empty_like(running)
    result[:, :1] = running[:, :1]
    np.subtract(running[:, 1:], running[:, :-1], out=result[:, 1:])
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
