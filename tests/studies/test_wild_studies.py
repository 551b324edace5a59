"""Intervals and audits on real labels: judged by the truth, in families that were left out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pulens.research.benchmark.wild import WildAnswer
from pulens.research.studies import Workbench, _wild, wild_audits, wild_coverage, wild_functions
from pulens.research.studies.wild_audits import WildAudit


@pytest.fixture
def wild(tmp_path, monkeypatch):
    """Three families of one small data set each, easy positives labelled first."""
    rng = np.random.default_rng(0)
    arrays, listed = {}, []
    for family in ("swiss_a", "swiss_b", "mine"):
        truth = rng.random(300) < 0.4
        X = rng.normal(1.5 * truth[:, None], size=(300, 3)).astype(np.float32)
        arrays |= {f"X_{family}": X, f"truth_{family}": truth, f"labelled_{family}": truth & (X[:, 0] > 1.2)}
        named = {key: f"{key}_{family}" for key in ("X", "labelled", "truth")}
        listed.append({"world": family, "family": family, "scenario": "single-set", **named})
    place = tmp_path / "wild"
    place.mkdir()
    np.savez(place / "three.npz", worlds=json.dumps(listed), **arrays)
    monkeypatch.setenv("PULENS_WILD", str(place))
    return tmp_path


def test_coverage_is_told_for_every_way_of_asking_and_kept(wild):
    outcome = wild_coverage.run(Workbench(quick=True, out=wild))
    table = outcome.tables[0]
    for way in (wild_coverage.GIVEN, wild_coverage.RANGE, wild_coverage.NO_PRIOR, wild_coverage.CHOSEN):
        assert way in table
    assert "3 runs, 3 families" in table
    rows = [json.loads(line) for line in outcome.files[0].read_text().splitlines()]
    assert len(rows) == 6 * 3 * 5
    held = [row for row in rows if row["way"] == wild_coverage.NO_PRIOR and row["metric"] == "recall"]
    assert all(0 <= row["low"] <= row["high"] <= 1 for row in held)
    verdicts = {claim.statement: claim.verdict for claim in outcome.claims}
    assert verdicts["No family of 10 runs or more is below 80%"] == "not testable here"


def test_every_function_is_judged_by_families_and_kinds_left_out(wild):
    outcome = wild_functions.run(Workbench(quick=True, out=wild))
    rows = [json.loads(line) for line in outcome.files[0].read_text().splitlines()]
    asked = {(row["function"], row["metric"]) for row in rows}
    assert {("compare", "f1"), ("decide", "cost"), ("decide", "recall floor"), ("calibrate", "bin")} <= asked
    firsts = ("precision_at_k, first 1%", "recall_at_k, first 10%", "positives among the first 10%")
    assert {("top", name) for name in firsts} <= asked
    assert {row["labels"] for row in rows} == {"practice", "random", wild_functions.KIND}
    costs = {
        way: [r["high"] - r["low"] for r in rows if (r["metric"], r["labels"]) == ("cost", way)]
        for way in ("practice", "random")
    }
    assert np.mean(costs["practice"]) > np.mean(costs["random"])
    assert "compare: roc_auc" in outcome.tables[0]
    assert "practice: roc_auc" in outcome.tables[1]


def answers(*held):
    ends = {True: (0.4, 0.6), False: (0.6, 0.7)}
    return [WildAnswer("f", str(i), "m", "f1", 9, 0.5, 0.5, *ends[each], 0.1) for i, each in enumerate(held)]


def test_the_lowest_family_is_one_with_enough_runs():
    few = [WildAnswer("few", "x", "m", "f1", 9, 0.5, 0.5, 0.6, 0.7, 0.1)]
    assert wild_coverage.lowest_family(answers(*[True] * 9, False) + few, "f1") == 0.9


def test_families_of_one_kind_are_left_out_together():
    assert wild_coverage.kind_of("swiss_a") == wild_coverage.kind_of("hubbard_brook") != wild_coverage.kind_of("mine")


def test_audits_hold_the_truth_of_the_rows_they_were_drawn_from(wild):
    outcome = wild_audits.run(Workbench(quick=True, out=wild))
    rows = [WildAudit(**json.loads(line)) for line in outcome.files[0].read_text().splitlines()]
    assert {row.rows for row in rows} == {60, 100, 200}
    assert {row.metric for row in rows} == set(wild_audits.METRICS)
    assert np.mean([row.holds for row in rows]) >= 0.85
    widths = {many: np.mean([r.width for r in rows if r.rows == many and r.metric == "f1"]) for many in (60, 200)}
    assert widths[200] < widths[60]
    assert {row.labels for row in rows} <= {"favour high scores", "favour low scores", "not contradicted", "not tested"}


def test_all_answers_of_an_audit_are_the_truth(wild):
    (problem, *_) = _wild.wild_problems(Workbench(quick=True))
    result = wild_audits.audit_of(problem, budget=int((~problem.labelled).sum()), seed=0)
    assert result.estimates["f1"].value == pytest.approx(problem.truths()["f1"])
    assert result.class_prior.value == pytest.approx(problem.class_prior)


def double(value):
    return 2 * value


def test_results_keep_the_order_of_the_jobs():
    assert _wild.on_all_cores(double, range(20)) == [2 * value for value in range(20)]
