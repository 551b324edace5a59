"""Every metric keeps the promises of its declared facts; a new file is tested the moment it exists."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulens
from pulens.counts.tally import Tally
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import estimate, raw_value, value
from pulens.recovery import recover
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.contingency import Contingency
from pulens.scenario import Scenario
from tests_support import pu_rows

THRESHOLD_METRICS = [name for name, metric in METRICS.items() if metric.reads == "threshold"]
RANKING_METRICS = [name for name, metric in METRICS.items() if metric.reads == "ranking"]
rates = st.floats(0, 1)


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_says_what_it_is(name):
    metric = METRICS[name]
    assert metric.summary
    assert not metric.summary.endswith(".")
    assert ">>>" in (metric.compute.__doc__ or ""), "a runnable example"
    assert metric.lowest < metric.highest


@pytest.mark.parametrize("name", THRESHOLD_METRICS)
@given(hits=rates, alarms=rates, prior=st.floats(0.001, 0.999), size=st.floats(1, 1e9))
def test_values_stay_in_their_range_and_do_not_depend_on_the_size(name, hits, alarms, prior, size):
    metric = METRICS[name]

    def at(total):
        table = Contingency(np.zeros(1), np.array([hits]), np.array([alarms]), prior * total, (1 - prior) * total)
        return metric.compute(table)[0]

    small, large = at(1.0), at(size)
    np.testing.assert_allclose(small, large, rtol=1e-6, atol=1e-9)
    if np.isnan(small):
        assert metric.undefined_because
    else:
        assert metric.lowest - 1e-9 <= small <= metric.highest + 1e-9


# the predicted positive rate says how much is flagged, not how well
@pytest.mark.parametrize("name", [name for name in THRESHOLD_METRICS if name != "predicted_positive_rate"])
@given(alarms=rates, prior=st.floats(0.01, 0.99), hits=st.tuples(rates, rates))
def test_finding_more_positives_at_the_same_false_alarms_is_never_worse(name, alarms, prior, hits):
    worse, better = sorted(hits)
    table = Contingency(np.zeros(2), np.array([worse, better]), np.full(2, alarms), prior, 1 - prior)
    before, after = METRICS[name].compute(table)
    if not np.isnan(before + after):
        sign = 1 if METRICS[name].higher_is_better else -1
        assert sign * after >= sign * before - 1e-9


@pytest.mark.parametrize("name", THRESHOLD_METRICS)
@given(rows=pu_rows(negatives=True))
def test_values_for_many_tables_are_those_for_each(name, rows):
    table = recover(Tally.from_arrays(*rows), Assumptions(0.1, scenario=Scenario.CASE_CONTROL))
    together = METRICS[name].compute(table)
    one_by_one = [METRICS[name].compute(table[i : i + 1])[0] for i in range(len(table))]
    np.testing.assert_array_equal(together, one_by_one)


@pytest.mark.parametrize("name", [name for name in METRICS if not METRICS[name].needs_class_prior])
@given(rows=pu_rows(), prior=st.floats(0.01, 0.6))
def test_what_claims_to_need_no_class_prior_does_not_move_with_it(name, rows, prior):
    tally = Tally.from_arrays(*rows)
    first, second = (
        value(METRICS[name], tally, Assumptions(alpha, scenario=Scenario.CASE_CONTROL), 0.5) for alpha in (0.005, prior)
    )
    if METRICS[name].reads == "threshold" and recover_is_clipped(tally, prior):
        return
    np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-9)


def recover_is_clipped(tally, prior):
    from pulens.recovery import recover_at

    return not all(
        recover_at(tally, Assumptions(alpha, scenario=Scenario.CASE_CONTROL), 0.5).is_possible.all()
        for alpha in (0.005, prior)
    )


@pytest.mark.parametrize("name", RANKING_METRICS)
@given(rows=pu_rows())
def test_rankings_are_read_without_looking_at_the_size_of_gaps(name, rows):
    labels, scores = rows
    stretched = Tally.from_arrays(labels, np.sinh(scores))
    assert raw_value(METRICS[name], stretched, Assumptions(0.1, scenario=Scenario.CASE_CONTROL)) == pytest.approx(
        raw_value(METRICS[name], Tally.from_arrays(labels, scores), Assumptions(0.1, scenario=Scenario.CASE_CONTROL)),
        nan_ok=True,
    )


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_callable_with_labels_and_scores(name):
    labels, scores = [1, 1, 0, 0, 0], [0.9, 0.6, 0.7, 0.2, 0.1]
    options = {"threshold": 0.5} if METRICS[name].needs_threshold else {}
    result = getattr(pulens.metrics, name)(labels, scores, class_prior=0.5, **options)
    assert result.metric == name
    if METRICS[name].needs_threshold:
        assert result.threshold == 0.5
        with pytest.raises(pulens.PulensError, match="needs a threshold"):
            getattr(pulens.metrics, name)(labels, scores, class_prior=0.5)


def test_the_example_of_the_contributing_guide_works():
    guide = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"
    source = re.search(r"```python\n(.*?)```", guide.read_text(), re.DOTALL).group(1)
    namespace: dict = {}
    exec(source, namespace)
    result = estimate(
        "false_discovery_rate",
        namespace["METRIC"],
        pulens.evaluate(
            [1, 1, 0, 0], [4, 2, 3, 1], class_prior=0.2, scenario="case-control", labelling="random"
        ).evidence,
        threshold=2,
    )
    precision = pulens.metrics.precision(
        [1, 1, 0, 0], [4, 2, 3, 1], class_prior=0.2, threshold=2, scenario="case-control"
    )
    assert result.value == pytest.approx(1 - precision.value)
