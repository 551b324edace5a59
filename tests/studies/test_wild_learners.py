"""Learners on real labels: judged by the truth on rows they were not trained on, and resumed where a run ended."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("torch", reason="learners are listed with the networks: pip install 'pulens[torch]'")

from pulens.research.benchmark.datasets import DataUnavailableError
from pulens.research.benchmark.wild import wild_folder, worlds
from pulens.research.studies import Workbench, _wild_learners, wild_learners
from pulens.research.studies._wild_learners import WildRun, complete, read_runs, regrets


@pytest.fixture
def wild(tmp_path, monkeypatch):
    """Two families: one sample with easy positives labelled first, and records beside a survey."""
    rng = np.random.default_rng(0)
    truth = rng.random(400) < 0.3
    X = rng.normal(1.5 * truth[:, None], size=(400, 3)).astype(np.float32)
    labelled = truth & (X[:, 0] > 1.2)
    X[::50, 1] = np.nan
    survey = rng.random(200) < 0.4
    arrays = {"X": X, "truth": truth, "labelled": labelled, "survey": survey}
    arrays |= {"records": rng.normal(1.5, size=(60, 3)), "background": rng.normal(0.5, size=(300, 3))}
    arrays["sites"] = rng.normal(1.5 * survey[:, None], size=(200, 3))
    first = {name: name for name in ("X", "labelled", "truth")}
    second = {name: name for name in ("records", "sites", "survey", "background")}
    worlds = [
        {"world": "easy", "family": "visits", "scenario": "single-set", **first},
        {"world": "again", "family": "visits", "scenario": "single-set", **first},
        {"world": "species", "family": "records", "cells": "north", "scenario": "case-control", **second},
    ]
    place = tmp_path / "wild"
    place.mkdir()
    np.savez(place / "two.npz", worlds=json.dumps(worlds), **arrays)
    monkeypatch.setenv("PULENS_WILD", str(place))
    return tmp_path / "out"


def test_quick_takes_a_data_set_of_each_family_and_trains_nothing_twice(wild, monkeypatch):
    wild.mkdir()
    outcome = wild_learners.run(Workbench(quick=True, out=wild))
    assert "2 data sets in 2 families" in outcome.tables[0]
    assert all(name in outcome.tables[0] for name in wild_learners.QUICK)
    stored = read_runs(wild / "wild-learners-quick-seed-0.jsonl")
    assert {run.family for run in stored} == {"visits", "records, north"}
    assert all(0.6 < run.roc_auc < 1 for run in stored)
    monkeypatch.setattr(wild_learners, "run_world", None)
    assert wild_learners.run(Workbench(quick=True, out=wild)).tables == outcome.tables


def test_judged_rows_never_train(wild):
    (path, world), *_ = worlds(wild_folder())
    with np.load(path) as stored:
        for X, _, judged, population, _ in _wild_learners.parts(world, stored, 0):
            rows = {tuple(row) for row in np.nan_to_num(X).tolist()}
            assert not rows & {tuple(row) for row in np.nan_to_num(judged[population]).tolist()}


def test_without_the_data_the_study_says_where_to_put_them(monkeypatch, tmp_path):
    monkeypatch.delenv("PULENS_WILD", raising=False)
    monkeypatch.setenv("PULENS_MIRROR", str(tmp_path))
    with pytest.raises(DataUnavailableError, match="PULENS_WILD"):
        wild_learners.run(Workbench())


def made(world, family, learner, auc):
    return WildRun(world, family, learner, auc, auc, auc, 1.0, 500, 50, 0.2, "single-set")


def test_a_learner_with_few_runs_does_not_take_data_sets_from_the_others():
    runs = [made(w, "f", n, 0.8) for w in "abcd" for n in ("boosting", "PUET")] + [made("a", "f", "NNPU", 0.9)]
    assert {run.learner for run in complete(runs)} == {"boosting", "PUET"}
    assert len(complete(runs)) == 8


def test_regret_is_against_the_best_learner_of_each_data_set():
    runs = [made("a", "f", "boosting", 0.8), made("a", "f", "PUET", 0.9), made("b", "g", "boosting", 0.7)]
    runs.append(made("b", "g", "PUET", 0.6))
    assert [round(loss, 3) for _, loss in regrets(runs, "roc_auc", "boosting")] == [0.1, 0.0]


def test_the_advice_is_judged_only_where_the_learner_it_names_first_was_run():
    runs = [made(w, "f", n, 0.8) for w in "ab" for n in ("boosting", "PUET")]
    assert not any("advise" in claim.statement for claim in wild_learners.outcome_of(runs).claims)
    runs += [made(w, "f", "BoostedPU", 0.79) for w in "ab"]
    (claim,) = [one for one in wild_learners.outcome_of(runs).claims if "advise" in one.statement]
    assert (claim.verdict, claim.because[:10]) == ("reproduced", "1.0 points")
