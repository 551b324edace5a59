"""Contract checks pass what keeps its promises and name what does not."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.metrics import METRICS, Metric, divide
from pulens.testing import check_metric

FREE = {"predicted_positive_rate"}  # says how much is flagged, not how well


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_of_ours_keeps_its_promises(name):
    check_metric(METRICS[name], rewards_hits=name not in FREE)


def precision(table):
    return divide(table.true_positive, table.predicted_positive)


def in_place(table):
    table.true_positive_rate[:] = 0.5
    return table.true_positive_rate


BROKEN = {
    "summary is a phrase": Metric(precision, "Precision.", undefined_because="nothing is flagged"),
    "lowest lies below highest": Metric(precision, "Precision", lowest=1, highest=0, undefined_because="0/0"),
    "undefined_because says why": Metric(precision, "Precision"),
    "one value per table": Metric(lambda table: 0.5, "Half"),
    "leaves the table as it was": Metric(in_place, "Changes its input"),
    "values lie between 0 and 1": Metric(lambda table: 2 * table.true_positive_rate, "Twice recall"),
    "size of the population": Metric(lambda table: table.true_positive / 100, "Hits"),
    "tables next to it": Metric(lambda table: table.true_positive_rate / max(len(table), 1), "Share of all"),
    "never worse": Metric(lambda table: 1 - table.true_positive_rate, "Misses"),
    "needs_class_prior is False": Metric(precision, "Precision", needs_class_prior=False, undefined_because="0/0"),
    "without looking at the gaps": Metric(
        lambda tally, assumptions: float(np.ptp(tally.thresholds)), "Width", reads="ranking", highest=np.inf
    ),
    "reads is 'threshold'": Metric(precision, "Precision", reads="rows"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("promise", BROKEN)
def test_a_broken_promise_is_named(promise):
    with pytest.raises(AssertionError, match=promise):
        check_metric(BROKEN[promise])
