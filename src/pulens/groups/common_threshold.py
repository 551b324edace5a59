"""The threshold with the best F1 on the rows of all segments together, without putting them into one tally."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pulens.counts.tallies import ROWS_AT_ONCE, Tallies
from pulens.counts.tally import Totals
from pulens.evaluation.evaluate import best_threshold
from pulens.evidence import Evidence
from pulens.groups.segment_priors import SharedAssumptions
from pulens.metrics import METRICS
from pulens.priors import ClassPrior
from pulens.recovery import Recovery
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.contingency import Contingency
from pulens.scenario import Scenario


def common_threshold(tallies: Tallies, keep: NDArray[np.bool_], share: float, shared: SharedAssumptions) -> float:
    """What :func:`pulens.evaluation.evaluate.best_threshold` finds for all rows, ``share`` of the unlabelled positive.

    The scores are walked in rising order, a block at a time: beside them only their order is held.

    >>> tallies = Tallies.from_increments("ab", [0, 0, 1, 1], [4.0, 1.0, 3.0, 2.0], [1, 0, 1, 0], [0, 5, 0, 5])
    >>> common_threshold(tallies, np.ones(2, bool), 0.0, SharedAssumptions(0.0, Scenario.SINGLE_SET, "population"))
    3.0
    """
    if tallies.labelled.dtype.kind == "f":  # the last digit of a sum depends on how it is taken
        prior = ClassPrior(share, share, "of all segments")
        return best_threshold(Evidence(tallies.whole(keep), prior, shared.label_noise, shared.scenario))
    scores = tallies.thresholds
    order = np.argsort(scores, kind="stable")
    if not keep.all():
        order = order[np.repeat(keep, np.diff(tallies.bounds))[order]]
    totals = Totals(*tallies.totals[keep].sum(axis=0).tolist())
    scenario = Scenario.SINGLE_SET if share == 0 else shared.scenario
    recovery = Recovery.of(totals, Assumptions(share, shared.label_noise, scenario))
    is_first = np.zeros(scores.size, bool)
    is_first[tallies.bounds[:-1][np.diff(tallies.bounds) > 0]] = True
    best, result = -math.inf, float(scores[order[0]]) + 0.0
    below, reach = np.zeros(3, np.int64), -math.inf
    for start in range(0, order.size, ROWS_AT_ONCE):
        rows = order[start : start + ROWS_AT_ONCE]
        lowest = scores[rows]
        highest = lowest if tallies.highest is None else tallies.highest[rows]
        reached = np.maximum.accumulate(np.concatenate([[reach], highest]))
        begins = lowest > reached[:-1]
        at = np.stack([_at(running, rows, is_first) for running in (tallies.labelled, tallies.unlabelled)])
        at = np.vstack([at, np.zeros(rows.size) if tallies.negative is None else _at(tallies.negative, rows, is_first)])
        passed = np.cumsum(at.astype(np.int64), axis=1)
        counts = np.array(totals)[:, None] - (below[:, None] + passed - at)[:, begins]
        rates = [count / total if total else np.zeros(count.shape) for count, total in zip(counts, totals, strict=True)]
        gamma, eta = (np.broadcast_to(rate, counts[0].shape) for rate in recovery.rates(*rates))
        table = Contingency(lowest[begins], gamma, eta, recovery.positive, recovery.negative)
        values = np.where(table.is_possible, METRICS["f1"].compute(table), -math.inf)
        values[np.isnan(values)] = -math.inf
        if values.size and values.max() > -math.inf and values.max() >= best:  # of equal ones the highest threshold
            best = float(values.max())
            result = float(table.thresholds[np.flatnonzero(values == best)[-1]]) + 0.0
        below, reach = below + passed[:, -1], float(reached[-1])
    return result


def _at(running: NDArray[np.integer], rows: NDArray[np.intp], is_first: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows exactly at some scores, from running sums within segments."""
    before = np.where(is_first[rows], 0, running[np.maximum(rows - 1, 0)])
    return np.asarray(running[rows] - before, np.int64)
