"""Cells and clusters together: one cell is no cell, one row per cluster is no cluster, patients leave every cell."""

from __future__ import annotations

import numpy as np
import polars
import pytest

import pulens
from pulens.cli import main
from pulens.errors import InputError
from pulens.inference.kernels.jackknife import ClusterCounts, student_quantile

PRIORS = {"n": 0.2, "s": 0.4}


@pytest.fixture(scope="module")
def visits():
    rng = np.random.default_rng(3)
    patient = np.repeat(np.arange(80), rng.geometric(1 / 20, 80))
    many = patient.size
    clinic = rng.choice(["n", "s"], many, p=[0.6, 0.4])
    positive = rng.random(many) < np.where(clinic == "n", 0.2, 0.4)
    labels = positive & (rng.random(many) < np.where(clinic == "n", 0.6, 0.3))
    score = rng.normal(0.8 * rng.normal(size=80)[patient] + 1.8 * positive)
    table = {"score": score, "label": labels * 1, "clinic": clinic, "patient": patient, "one": ["all"] * many}
    return polars.DataFrame(table).with_columns(sex=polars.Series(rng.choice(["f", "m"], many)))


def evaluate(table, within="clinic", cluster="patient", **options):
    asked = {"threshold": 1.0, "class_prior": PRIORS, "redraws": 400, **options}
    return pulens.evaluate(table, labelled_within=within, cluster=cluster, **asked, labelling="random")


@pytest.mark.parametrize("assumed", [{}, {"scenario": "case-control"}, {"label_noise": 0.1}, {"threshold": None}])
def test_one_cell_is_the_plain_evaluation_of_clusters(visits, assumed):
    options = {"class_prior": 0.28, **assumed}
    within = evaluate(visits, "one", **options)
    plain = pulens.evaluate(
        visits, cluster="patient", **{"threshold": 1.0, "redraws": 400, **options}, labelling="random"
    )
    for metric in ("roc_auc", "average_precision", "recall", "precision", "f1", "lift", "predicted_positive_rate"):
        mine, theirs = within.estimates[metric], plain.estimates[metric]
        assert mine.value == pytest.approx(theirs.value, abs=1e-12)
        assert mine.interval.width == pytest.approx(theirs.interval.width, rel=0.1)


def test_one_row_per_cluster_is_near_the_intervals_of_cells(visits):
    alone = visits.with_columns(patient=polars.int_range(polars.len()))
    mine, theirs = evaluate(alone), evaluate(alone, cluster=None)
    for metric in ("roc_auc", "recall", "precision", "f1", "lift"):
        one, other = mine.estimates[metric], theirs.estimates[metric]
        assert one.value == other.value
        assert one.interval.width == pytest.approx(other.interval.width, rel=0.12)


def test_the_error_is_that_of_evaluations_without_each_patient(visits):
    """The slow way: a whole evaluation within cells without each patient, class priors as given."""
    result, without = evaluate(visits), []
    for patient in range(80):
        rest = visits.filter(polars.col("patient") != patient)
        without.append(evaluate(rest, cluster=None, confidence=None).estimates)
    own = visits.filter(polars.col("label") == 1)["patient"].value_counts()["count"].to_numpy().astype(float)
    held = own.sum() ** 2 / (own**2).sum()  # patients of one size that would say as much of labelled rows
    for metric in ("recall", "precision", "roc_auc"):
        slow = np.array([estimates[metric].value for estimates in without])
        error = np.sqrt(79 / 80 * ((slow - slow.mean()) ** 2).sum())
        value, interval = result.estimates[metric].value, result.estimates[metric].interval
        reach = student_quantile(held - 1, 0.025)
        odds = np.log(value / (1 - value)) + reach * error / (value * (1 - value)) * np.array([-1, 1])
        assert (interval.low, interval.high) == pytest.approx(tuple(1 / (1 + np.exp(-odds))), abs=1e-4)
        assert "jackknife" in interval.method


def test_values_are_those_of_cells_and_intervals_allow_for_patients(visits):
    clustered, plain = evaluate(visits), evaluate(visits, cluster=None)
    for metric in ("recall", "precision", "roc_auc"):
        assert clustered.estimates[metric].value == plain.estimates[metric].value
    assert clustered.estimates["recall"].interval.width > 1.3 * plain.estimates["recall"].interval.width
    assert clustered.clusters.buckets == 80
    assert clustered.pooled.clusters.buckets == 80
    assert clustered.cells[0].recall_interval.width > plain.cells[0].recall_interval.width
    assert clustered.cells.equal_rates is None  # that test takes rows for independent
    assert plain.cells.equal_rates is not None


def test_a_patient_in_two_cells_leaves_both(visits):
    result = evaluate(visits)
    buckets = ClusterCounts(result.within.cells.buckets)
    assert buckets.totals.shape == (80, 2, 3)
    assert (buckets.totals.sum(axis=2) > 0).all(axis=1).any()
    assert buckets.totals.sum(axis=0) == pytest.approx(result.within.cells.totals)


def test_files_frames_and_arrays_agree_also_on_crossed_cells(visits, tmp_path):
    visits.write_parquet(tmp_path / "visits.parquet")
    options = {"class_prior": 0.28, "split": "equal"}
    crossed = evaluate(visits, ["clinic", "sex"], **options)
    again = evaluate(str(tmp_path / "visits.parquet"), ["clinic", "sex"], **options)
    assert len(crossed.cells) == 4
    assert crossed.estimates["recall"].interval == again.estimates["recall"].interval
    labels, scores, cells, ids = (visits[name].to_numpy() for name in ("label", "score", "clinic", "patient"))
    arrays = pulens.evaluate(
        labels,
        scores,
        labelled_within=cells,
        cluster=ids,
        threshold=1.0,
        class_prior=PRIORS,
        redraws=400,
        labelling="random",
    )
    assert arrays.estimates["recall"].interval == evaluate(visits).estimates["recall"].interval


def test_class_priors_in_doubt_widen_what_rests_on_them(visits):
    exact, ranged = (
        evaluate(visits),
        evaluate(visits, class_prior={"n": (0.15, 0.25), "s": (0.3, 0.5)}),
    )
    audited = evaluate(visits, class_prior=None, audit={"n": (8, 80), "s": (12, 60)})
    for result in (ranged, audited):
        assert result.estimates["precision"].interval.width > exact.estimates["precision"].interval.width


def test_few_patients_have_no_interval_and_ids_must_fit(visits):
    few = evaluate(visits.with_columns(patient=polars.col("patient") % 4))
    assert few.estimates["recall"].interval is None
    assert "too-few-clusters" in {notice.code for notice in few.notices}
    labels, scores, cells = (visits[name].to_numpy() for name in ("label", "score", "clinic"))
    with pytest.raises(InputError, match="one id per row"):
        pulens.evaluate(labels, scores, labelled_within=cells, cluster=[1, 2], class_prior=PRIORS, labelling="random")


def test_estimated_class_priors_of_cells_allow_for_rows_that_belong_together():
    """Patients differ in how often they are positive and in their scores: 80 of them say less than 1,600 rows would."""
    rng = np.random.default_rng(4)
    patient = np.repeat(np.arange(80), 20)
    site = rng.choice(["n", "s"], 1600)
    odds = np.where(site == "n", -1.1, -0.4) + rng.normal(0, 1, 80)[patient]
    positive = rng.random(1600) < 1 / (1 + np.exp(-odds))
    labels = (positive & (rng.random(1600) < 0.5)) * 1
    scores = rng.normal(2.5 * positive + rng.normal(0, 0.8, 80)[patient])
    alone = pulens.estimate_prior_within(labels, scores, labelled_within=site)
    together = pulens.estimate_prior_within(labels, scores, labelled_within=site, cluster=patient)
    for rows, patients in zip(alone.cells, together.cells, strict=True):
        assert patients.value == pytest.approx(rows.value, abs=0.01)
        assert patients.interval.width > 1.05 * rows.interval.width


def test_the_command_line_takes_both(visits, tmp_path, capsys):
    visits.write_csv(tmp_path / "visits.csv")
    priors = ["--cell-prior", "n=0.2", "--cell-prior", "s=0.4", "--threshold", "1"]
    main(
        [
            "evaluate",
            "--labelling",
            "random",
            str(tmp_path / "visits.csv"),
            "--within",
            "clinic",
            "--cluster",
            "patient",
            *priors,
        ]
    )
    shown = " ".join(capsys.readouterr().out.split())
    assert "80 clusters" in shown
    interval = evaluate(visits).estimates["recall"].interval
    assert f"{interval.low:.3f} to {interval.high:.3f}" in shown
