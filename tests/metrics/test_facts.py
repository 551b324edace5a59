"""A metric's facts hold all that code asks of it: no other module keeps a list of names or compares one."""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pulens
from pulens.counts.tally import Tally
from pulens.metrics import METRICS, MetricFunction, in_reading_order, leading
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.many import recover_many
from pulens.report.words import title_of
from pulens.scenario import Scenario

SOURCE = Path(pulens.__file__).parent
#: What may name metrics: the leaderboard's stored columns and the published tables it stands beside, studies of one
#: figure each, criteria by which learners stop, the demo's short table, the keys of formats, a picture's legend, marks
#: on a picture's curves, a sentence that says three numbers, the two numbers of the top of a list, worlds that know the
#: truth of some, and the one area of many segments. Audits and windows have formulas of their own for a few (counts
#: that were checked, a line that is called recall).
ALLOWED = (
    *("research/", "learning/learners/"),
    *("demo.py", "evaluation/bounds.py", "report/page_data.py", "plots/curves.py", "report/contradiction.py"),
    *("testing/", "groups/batch", "evaluation/top.py", "report/top.py", "report/one_file.py"),
    "report/notebook_pictures.py",
    *(
        "audits/",
        "monitoring/",
        "evaluation/audit.py",
        "report/audit_summary.py",
        "report/watch.py",
        "report/watch_page.py",
    ),
    "report/watch_data.py",
    "strata/answer.py",
    "metrics/averaged.py",  # declares several metrics
)


def named(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in METRICS


def comparisons_and_lists(tree: ast.AST) -> list[int]:
    """Lines that compare a metric's name, have one as the key of a dictionary, or list several."""
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            compared = [node.left, *node.comparators]
            held = [each for part in compared for each in getattr(part, "elts", [part])]
            lines += [node.lineno] * any(named(part) for part in held)
        elif isinstance(node, ast.Dict):
            lines += [node.lineno] * any(key is not None and named(key) for key in node.keys)
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            lines += [node.lineno] * (len(node.elts) > 1 and all(named(each) for each in node.elts))
        elif isinstance(node, ast.MatchValue):
            lines += [node.value.lineno] * named(node.value)
    return lines


@pytest.mark.slow
def test_names_of_metrics_are_compared_nowhere_but_in_their_own_files() -> None:
    result = []
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if place.startswith(ALLOWED):
            continue
        lines = comparisons_and_lists(ast.parse(path.read_text("utf-8")))
        if path.parent.name == "metrics" and path.stem in METRICS:
            continue
        result += [f"{place}:{line}" for line in lines]
    assert result == []


def test_the_page_script_leaves_names_to_the_facts() -> None:
    for script in ("evaluation.js", "evaluation_charts.js"):
        text = (SOURCE / "report" / "assets" / script).read_text("utf-8")
        assert '["roc_auc"' not in text


@pytest.mark.parametrize("view", ["table", "tiles", "segments", "comparison"])
def test_a_view_leads_with_metrics_in_places_of_their_own(view) -> None:
    places = [getattr(METRICS[name].shown, view) for name in leading(view)]
    assert places == list(range(1, len(places) + 1))
    assert all(METRICS[name].listed for name in leading(view))


def test_an_evaluation_leads_with_rankings_then_by_reading_order() -> None:
    shown = list(
        pulens.evaluate([1, 1, 0, 0], [4, 2, 3, 1], class_prior=0.6, confidence=None, labelling="random").estimates
    )
    rankings = [name for name in shown if METRICS[name].reads == "ranking"]
    assert shown[: len(rankings)] == rankings == list(in_reading_order(rankings))
    assert shown[len(rankings) :] == list(in_reading_order(shown[len(rankings) :]))
    assert set(shown) == {name for name, metric in METRICS.items() if metric.listed}


def test_a_title_is_the_metrics_own_or_its_name_in_words() -> None:
    assert title_of("roc_auc") == METRICS["roc_auc"].title == "ROC AUC"
    assert title_of("balanced_accuracy") == "Balanced accuracy"
    assert title_of("expected_calibration_error") == "Expected calibration error"


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.listed])
def test_a_listed_metric_says_how_it_is_found(name) -> None:
    assert METRICS[name].derivation.endswith(".")


def test_parameters_ask_for_the_declared_number_only_if_they_are_its_own() -> None:
    area = METRICS["roc_auc"]
    assert area.is_as_declared({})
    assert area.is_as_declared({"method": "direct"})
    assert not area.is_as_declared({"method": "indirect"})


def test_a_fact_decides_and_not_a_name(monkeypatch) -> None:
    """The same facts under another name give the same interval, range under other labelling and place."""
    labels, scores = [1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2]
    monkeypatch.setitem(METRICS, "zebra", replace(METRICS["roc_auc"], title="Zebra"))
    evaluation = pulens.evaluate(labels, scores, class_prior=0.5, threshold=5, labelling="random")
    mine, known = evaluation.estimates["zebra"], evaluation.estimates["roc_auc"]
    assert (mine.value, mine.interval) == (known.value, known.interval)
    own = evaluation.sensitivity("zebra", factor=2)
    assert own.interval == evaluation.sensitivity("roc_auc", factor=2).interval
    assert title_of("zebra") == "Zebra"


@pytest.mark.parametrize("confidence", [None, 0.95])
def test_a_function_withholds_what_an_evaluation_withholds_and_a_scorer_has_its_number(confidence):
    rng = np.random.default_rng(0)
    positive = rng.random(600) < 0.3
    labels, scores = (positive & (rng.random(600) < 0.3)).astype(int), rng.normal(0.6 * positive)
    shown = pulens.evaluate(labels, scores, threshold=1.0, labelling="random").at(1.0)["precision"]
    result = pulens.metrics.precision(labels, scores, threshold=1.0, confidence=confidence)
    assert shown.withheld_because
    assert result.withheld_because == shown.withheld_because
    assert math.isnan(result.value)
    number = MetricFunction("precision", METRICS["precision"], withholds=False)(labels, scores, threshold=1.0)
    assert 0 <= number.value <= 1


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.many is not None])
def test_many_replicates_at_once_are_those_one_by_one(name):
    """Ties, known negatives, rates beyond what is possible; wrong labels may have no such form."""
    rng = np.random.default_rng(2)
    metric, thresholds = METRICS[name], np.arange(30.0)[::-1]
    for negatives, noise in ((0, 0.0), (3, 0.0), (3, 0.05)):
        counts = (
            rng.multinomial(60, np.full(30, 1 / 30), (20, 3)).cumsum(axis=2)
            * (np.arange(3) < 2 + (negatives > 0))[:, None]
        )
        priors = rng.uniform(0.05, 0.6, 20)
        totals = tuple(counts[:, kind, -1].astype(float) for kind in range(3))
        rates = [counts[:, kind] / np.maximum(totals[kind], 1)[:, None] for kind in range(3)]
        recoveries = recover_many(totals, priors, noise, Scenario.SINGLE_SET)
        result = metric.many(recoveries, *rates)
        if result is None:
            assert noise
            continue
        each = [
            metric.compute(Tally(thresholds, *(kind.copy() for kind in one)), Assumptions(prior, noise))
            for one, prior in zip(counts, priors.tolist(), strict=True)
        ]
        np.testing.assert_allclose(result, each, rtol=1e-12, atol=1e-14)
