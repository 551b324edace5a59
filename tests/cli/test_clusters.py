"""Rows that belong together, on the command line."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import pulens
from command_lines import EVALUATE
from pulens.cli import main


@pytest.fixture
def visits(tmp_path, monkeypatch):
    """Sixty patients with about six visits each; a second score and two sexes."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 1 + rng.poisson(5, 60))
    positive = rng.random(patient.size) < 0.35
    score = rng.normal(0, 0.8, 60)[patient] + rng.normal(size=patient.size) + 1.5 * positive
    frame = pl.DataFrame(
        {
            "label": (positive & (rng.random(patient.size) < 0.6)).astype(int),
            "score": score,
            "other": score + rng.normal(size=patient.size),
            "probability": 1 / (1 + np.exp(-score + 1)),
            "patient": [f"p{one}" for one in patient],
            "sex": np.where(patient % 2, "f", "m"),
        }
    )
    frame.write_csv(tmp_path / "visits.csv")
    monkeypatch.chdir(tmp_path)
    return frame


@pytest.fixture
def run(capsys):
    """What a command prints; its exit status must be as expected."""

    def running(*words: str, code: int = 0) -> str:
        if not code:
            main(list(words))
            return capsys.readouterr().out
        with pytest.raises(SystemExit) as stopped:
            main(list(words))
        assert stopped.value.code == code
        return capsys.readouterr().err

    return running


def test_evaluate_prints_clusters_everywhere(visits, run):
    words = (*EVALUATE, "visits.csv", "--cluster", "patient", "--class-prior", "0.4", "--threshold", "1")
    said = " ".join(run(*words, "--html", "page.html", "--markdown", "page.md").split())
    assert "60 clusters, 6.47 rows each on average; variance of roc_auc" in said
    told = json.loads(run(*words, "--json", "-"))
    result = pulens.evaluate(visits, cluster="patient", class_prior=0.4, threshold=1.0, labelling="random")
    assert told["clusters"] == result.clusters.to_dict()
    assert told["clusters"]["clusters"] == 60
    assert told["clusters"]["rows_per_cluster"] == len(visits) / 60
    assert told["estimates"]["recall"]["low"] == result.estimates["recall"].interval.low
    with open("page.html") as file:
        page = file.read()
    assert "60 clusters, 6.47 rows each on average" in page
    assert '"confidence":null' in page  # sliders show no intervals that take rows for independent
    with open("page.md") as file:
        assert "- Clusters: 60 clusters" in file.read()


def test_a_tally_by_cluster_is_merged_and_evaluated(visits, run):
    for day, part in ((1, visits[:150]), (2, visits[150:])):
        part.write_csv(f"{day}.csv")
        assert "buckets" in run("tally", f"{day}.csv", "--cluster", "patient", "-o", f"{day}.tally")
    run("merge", "1.tally", "2.tally", "-o", "both.tally")
    words = ("--class-prior", "0.4", "--threshold", "1", "--json", "-")
    merged = json.loads(run("evaluate", "--labelling", "random", "both.tally", *words))
    whole = json.loads(run("evaluate", "--labelling", "random", "visits.csv", "--cluster", "patient", *words))
    assert merged["estimates"] == whole["estimates"]
    assert merged["clusters"] == whole["clusters"]


def test_a_tally_without_buckets_and_a_joint_tally_are_refused(visits, run):
    run("tally", "visits.csv", "-o", "plain.tally")
    said = run(*EVALUATE, "plain.tally", "--cluster", "patient", "--class-prior", "0.4", code=2)
    assert "holds no buckets" in said
    said = run("tally", "visits.csv", "--score", "score", "--score", "other", "--cluster", "patient", "-o", "j", code=2)
    assert "--cluster counts the rows of one score" in said


def test_compare_calibrate_and_segments_take_clusters(visits, run):
    common = ("--cluster", "patient", "--class-prior", "0.4")
    said = run("compare", "visits.csv", "--score", "score", "--score", "other", *common, "--explain")
    assert "each of 60 buckets of clusters left out in turn" in said
    told = json.loads(run("calibrate", "visits.csv", "--score", "probability", *common, "--json", "-"))
    assert told["clusters"]["clusters"] == 60
    words = (*EVALUATE, "visits.csv", "--group-by", "sex", "--threshold", "1", "--class-prior", "0.4", "--same-prior")
    plain, result = (json.loads(run(*words, *more, "--json", "-")) for more in ((), ("--cluster", "patient")))
    for mine, theirs in zip(result["segments"], plain["segments"], strict=True):
        assert mine["estimates"]["recall"]["value"] == theirs["estimates"]["recall"]["value"]
        assert mine["estimates"]["recall"]["low"] != theirs["estimates"]["recall"]["low"]


def test_bounds_are_refused_beside_clusters(visits, run):
    said = run(*EVALUATE, "visits.csv", "--cluster", "patient", "--class-prior", "0.4", "--bounds", code=2)
    assert "take rows for independent" in said


def test_train_leaves_the_cluster_out_of_the_features_and_of_the_folds(visits, run):
    frame = visits.select("label", "score", "other", "patient")
    frame.write_csv("train.csv")
    words = ("train", "train.csv", "--method", "elkan_noto", "--class-prior", "elkan_noto_e1")
    said = run(*words, "--cluster", "patient", "--out", "model")
    assert "with 2 features" in said
    said = run(*words, "--cluster", "patients", "--out", "again", code=2)
    assert "'patients'" in said


def test_train_tells_a_network_which_rows_belong_together(visits, run, monkeypatch):
    from pulens.learners import NNPU

    told = {}
    monkeypatch.setattr(NNPU, "fit", lambda self, X, y, *, groups=None: told.update(groups=groups, rows=len(X)))
    monkeypatch.setattr(NNPU, "save", lambda self, path: path)
    visits.select("label", "score", "other", "patient").write_csv("train.csv")
    words = ("train", "train.csv", "--method", "nnpu", "--class-prior", "0.4")
    run(*words, "--cluster", "patient", "--out", "model")
    assert len(told["groups"]) == told["rows"] == len(visits)
    assert np.unique(told["groups"]).size == visits["patient"].n_unique()


def test_prior_prints_clusters_and_widens_with_them(visits, run, monkeypatch):
    from pulens.priors import clustered

    monkeypatch.setattr(clustered, "GROUPS", 4)
    monkeypatch.setattr(clustered, "design_effect", lambda counted: 3.0)
    words = ("prior", "visits.csv")
    alone = json.loads(run(*words, "--json", "-"))["class_prior"]
    told = json.loads(run(*words, "--cluster", "patient", "--json", "-"))
    prior = told["class_prior"]
    assert prior["value"] == alone["value"]
    assert prior["unlabelled_high"] > alone["unlabelled_high"]
    assert prior["feasible_high"] > alone["feasible_high"]
    assert told["clusters"]["clusters"] == 60
    result = pulens.estimate_prior(visits, cluster="patient")
    assert (result.interval.low, result.interval.high) == (prior["low"], prior["high"])
    run("tally", "visits.csv", "--cluster", "patient", "-o", "visits.tally")
    assert json.loads(run("prior", "visits.tally", "--json", "-"))["class_prior"] == prior
    assert "60 clusters, 6.47 rows each" in run(*words, "--cluster", "patient")


def test_prior_says_which_doubts_do_not_go_with_clusters(visits, run):
    words = ("prior", "visits.csv", "--cluster", "patient")
    assert "assumes independent rows" in run(*words, "--label-noise", "estimate", code=2)
    assert "--cluster is about one class prior" in run(*words, "--within", "sex", code=2)


def test_an_estimate_without_an_interval_has_a_feasible_range_that_allows_for_clusters(visits, monkeypatch):
    from pulens.priors import clustered

    monkeypatch.setattr(clustered, "design_effect", lambda counted: 3.0)
    alone, told = (pulens.estimate_prior(visits, method="elkan_noto_e1", **one) for one in ({}, {"cluster": "patient"}))
    assert told.interval.confidence is None
    assert told.interval.high > alone.interval.high
    assert "allowing for clusters" in told.interval.method


def test_few_clusters_are_said_where_the_class_prior_is_estimated(visits):
    few = visits.with_columns(patient=pl.col("patient").str.slice(1).cast(pl.Int64) // 15)
    assert "4 clusters hold labelled rows" in str(pulens.estimate_prior(few, cluster="patient").notices[0])


def test_segments_tell_of_clusters_in_every_face(visits, run):
    words = (*EVALUATE, "visits.csv", "--group-by", "sex", "--class-prior", "0.4", "--same-prior", "--threshold", "1")
    told = json.loads(run(*words, "--cluster", "patient", "--json", "-"))
    assert told["clusters"]["clusters"] == 60
    effects = {one["segment"]: one["design_effect"] for one in told["clusters"]["design_effects"]}
    result = pulens.evaluate_by(
        visits, "sex", class_prior=0.4, same_prior=True, threshold=1.0, cluster="patient", labelling="random"
    )
    assert effects == {sex: evaluation.clusters.design_effect for sex, evaluation in result.items()}
    sentence = "60 clusters in all segments together; variance of "
    said = " ".join(run(*words, "--cluster", "patient").split())
    for face in (said, " ".join(str(result).split()), result.to_markdown(), result.to_html()):
        assert sentence in " ".join(face.split())
    assert "clusters" not in json.loads(run(*words, "--json", "-"))
