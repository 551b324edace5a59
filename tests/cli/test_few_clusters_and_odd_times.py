"""Rows of few clusters, odd times and numbers at their edges: an answer or a sentence, never a warning."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pulens
from command_lines import EVALUATE
from pulens import calibration
from pulens.cli import main
from pulens.inference.kernels.jackknife import redraw_buckets
from pulens.inference.kernels.resampling import Resampling
from pulens.inputs.periods import Period
from pulens.monitoring.rates import recall_among


def write(path, **columns):
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.fixture
def table(tmp_path):
    """All labelled rows belong to one of six clusters."""
    rng = np.random.default_rng(2)
    clusters = np.arange(240) % 6
    labels = ((clusters == 2) & (np.arange(240) < 150)).astype(int)
    scores = (rng.normal(size=240) + labels).round(4)
    other = (scores + rng.normal(size=240)).round(4)
    return write(tmp_path / "a.csv", score=scores, other=other, label=labels, patient=clusters)


def test_no_redraw_of_buckets_lacks_a_kind_of_rows():
    above = np.zeros((6, 2, 3))
    above[2, :, 0] = 20.0, 40.0
    above[:, :, 1] = 10.0, 30.0
    assert redraw_buckets(above, Resampling(redraws=500), lambda chunk: chunk.totals[0].min()) == [40.0]


@pytest.mark.parametrize("prior", ["0.3", "0.25:0.35", "auto"])
def test_labelled_rows_of_one_cluster_make_no_warning(table, prior):
    out = table.with_suffix(".json")
    main([*EVALUATE, str(table), "--cluster", "patient", "--class-prior", prior, "-q", "--json", str(out)])
    assert json.loads(out.read_bytes())["estimates"]["recall"]["value"] > 0


def test_models_compared_over_a_range_of_priors_with_one_labelled_cluster(table):
    result = pulens.compare(
        table, score=["score", "other"], cluster="patient", class_prior=(0.25, 0.35), redraws=100, labelling="random"
    )
    assert "fewer than 5 clusters" in " ".join(str(result).split())


def test_a_confidence_of_one_half_in_cells_with_clusters(table):
    rng = np.random.default_rng(5)
    site = np.arange(240) % 2
    rows = np.loadtxt(table, delimiter=",", skiprows=1)
    labels = (rng.random(240) < 0.2).astype(int)
    columns = {"score": rows[:, 0], "label": labels, "site": site, "patient": rows[:, 3].astype(int)}
    path = write(table.with_name("b.csv"), **columns)
    options = {"labelled_within": "site", "cluster": "patient", "class_prior": (0.3, 0.35), "confidence": 0.5}
    result = pulens.evaluate(path, **options, redraws=100, labelling="random")
    f1 = result.estimates["f1"]
    assert f1.interval.low <= f1.value <= f1.interval.high


def test_a_threshold_above_every_score_is_null_in_the_json_of_gaps(tmp_path):
    rng = np.random.default_rng(3)
    labels, site = (rng.random(400) < 0.2).astype(int), rng.integers(0, 2, 400)
    path = write(tmp_path / "a.csv", score=rng.random(400).round(3), label=labels, site=site)
    out = tmp_path / "out.json"
    call = [*EVALUATE, str(path), "--group-by", "site", "--gaps", "recall", "--threshold", "inf", "-q"]
    main([*call, "--class-prior", "0.3", "--json", str(out)])
    assert json.loads(out.read_bytes())["gaps"]["threshold"] is None


@pytest.mark.parametrize("time", ["10000-01-01", "0001-01-01 (BC)", "10000-01-01 11:00:00"])
def test_years_that_python_lacks_are_refused_by_name(time):
    with pytest.raises(pulens.PulensError, match=r"'day' must hold dates or times"):
        Period("day", "day").named(time)


def test_a_time_that_another_zone_moves_out_of_the_calendar_is_refused():
    with pytest.raises(pulens.PulensError, match=r"'day' must hold dates or times"):
        Period("day", "hour", "Asia/Tokyo").name("9999-12-31 23:30")


def test_reviewed_rows_with_scores_near_the_largest_number(tmp_path):
    rng = np.random.default_rng(4)
    scores = np.where(rng.random(60) < 0.5, 1.7e308, 1.6e308)
    write(tmp_path / "a.csv", case=np.arange(60), score=scores, label=(np.arange(60) < 12).astype(int))
    answers = [str(place % 2) if place % 3 else "" for place in range(48)]
    write(tmp_path / "log.csv", case=np.arange(12, 60), answer=answers, probability=[0.6] * 48)
    main(["prior", str(tmp_path / "a.csv"), "--reviews", str(tmp_path / "log.csv"), "--id", "case", "--json", "-"])


def test_a_decision_on_rows_of_few_clusters_has_no_band_in_its_json(table):
    out = table.with_suffix(".json")
    asked = ["--cluster", "patient", "--cost-miss", "5", "--cost-alarm", "1", "--class-prior", "0.3", "--redraws=100"]
    main(["decide", str(table), *asked, "-q", "--json", str(out)])
    curve = json.loads(out.read_bytes())["curve"]
    assert curve["low"] is None
    assert curve["high"] is None
    assert curve["simultaneous"] is False


def test_draws_of_cells_without_a_single_unlabelled_row_are_defined(tmp_path):
    """Two unlabelled rows in all: one draw in seven has none."""
    rng = np.random.default_rng(6)
    labels = np.repeat([1, 0], [30, 2])
    path = write(tmp_path / "a.csv", score=rng.random(32).round(3), label=labels, site=np.arange(32) % 2)
    options = {"labelled_within": "site", "class_prior": 0.5, "split": "equal", "scenario": "case-control"}
    assert 0 <= pulens.evaluate(path, **options, labelling="random").estimates["recall"].value <= 1


def test_half_a_character_as_delimiter_is_kept_as_json_writes_it(tmp_path):
    rng = np.random.default_rng(7)
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"score": rng.random(20), "label": (np.arange(20) < 6).astype(int)}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    out = tmp_path / "out.tally"
    main(["tally", str(tmp_path / "a.parquet"), "--delimiter", "\udcff", "-o", str(out)])
    assert pulens.evaluate(out, class_prior=0.4, labelling="random").tally.totals.labelled == 6


def test_a_fold_that_no_cluster_fell_into_is_left_out(tmp_path):
    """Three clusters in five folds, within cells."""
    rng = np.random.default_rng(8)
    labels = (rng.random(120) < 0.4).astype(int)
    columns = {"score": rng.random(120).round(3), "label": labels, "site": np.arange(120) % 2}
    path = write(tmp_path / "a.csv", **columns, patient=np.arange(120) % 3)
    out = tmp_path / "out.json"
    asked = ["--cluster", "patient", "--within", "site", "--split", "equal", "--scores-are", "rank"]
    main(["calibrate", str(path), *asked, "--fit", "isotonic", "--class-prior", "0.5", "-q", "--json", str(out)])
    assert json.loads(out.read_bytes())


def test_comparisons_within_cells_do_not_depend_on_the_order_of_rows(tmp_path):
    rng = np.random.default_rng(9)
    labels = (rng.random(300) < 0.3).astype(int)
    scores = rng.normal(size=300).round(2) + labels
    columns = {"score": scores, "other": (scores + rng.normal(size=300)).round(2), "label": labels}
    columns["site"] = np.arange(300) % 2
    turned = rng.permutation(300)
    answers = []
    for name, order in (("a.csv", np.arange(300)), ("b.csv", turned)):
        path = write(tmp_path / name, **{key: values[order] for key, values in columns.items()})
        options = {"labelled_within": "site", "split": "equal", "class_prior": 0.5, "redraws": 100}
        answers.append(
            pulens.compare(path, score=["score", "other"], **options, labelling="random").to_dict()["metrics"]
        )
    assert answers[0] == answers[1]


def test_checked_rows_whose_chance_was_next_to_nothing_are_refused_in_words(tmp_path):
    labels, case = (np.arange(60) < 12).astype(int), np.arange(60)
    write(tmp_path / "a.csv", case=case, score=case / 60, label=labels)
    write(tmp_path / "log.csv", case=case[20:40], answer=case[20:40] % 2, probability=[1e-300] * 20)
    with pytest.raises(pulens.PulensError, match=r"they are about 2e\+301 rows"):
        pulens.evaluate(
            tmp_path / "a.csv", reviews=tmp_path / "log.csv", id="case", class_prior=0.4, labelling="random"
        )


def test_a_confidence_of_zero_is_refused_for_clusters_too(tmp_path, capsys):
    rng = np.random.default_rng(10)
    labels = (rng.random(300) < 0.3).astype(int)
    path = write(tmp_path / "a.csv", score=rng.random(300).round(3), label=labels, patient=np.arange(300) % 30)
    out = tmp_path / "out.json"
    asked = ["--cluster", "patient", "--class-prior", "0.5", "--confidence", "0", "-q", "--json", str(out)]
    with pytest.raises(SystemExit) as end:
        main(["calibrate", str(path), "--fit", "isotonic", *asked])
    assert end.value.code == 2
    assert "confidence must lie strictly between 0 and 1" in capsys.readouterr().err


@pytest.mark.parametrize("confidence", [1e-9, 0.5])
def test_a_share_lies_within_its_interval_however_little_is_asked_of_it(confidence):
    value, low, high = recall_among(9, 11, (1 - confidence) / 2)
    assert low <= value <= high


def test_a_page_without_a_band_where_none_can_be_made(tmp_path):
    path = write(tmp_path / "a.csv", score=[0.9, 0.4, 0.3, 0.2], label=[1, 0, 0, 0])
    out = tmp_path / "a.html"
    main([*EVALUATE, str(path), "--class-prior", "0.5", "--confidence", "0.999", "-q", "--html", str(out)])
    assert out.exists()


@pytest.mark.parametrize("command", ["evaluate", "calibrate", "prior", "compare", "decide"])
def test_a_confidence_next_to_nothing_is_refused_before_anything_is_read(command, tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main([command, str(tmp_path / "none.csv"), "--confidence", "1e-300"])
    assert "confidence must lie strictly between 0 and 1, got 1e-300" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("judge", [calibration.calibration_slope, calibration.brier_score])
def test_calibration_of_clusters_refuses_a_confidence_without_width(judge):
    rng = np.random.default_rng(3)
    labels, clusters = np.repeat([1, 0], [60, 240]), np.arange(300) % 30
    scores = 1 / (1 + np.exp(-rng.normal(size=300) - labels))
    with pytest.raises(pulens.PulensError, match="strictly between 0 and 1"):
        judge(labels, scores, class_prior=0.4, scenario="single-set", cluster=clusters, confidence=1e-300)


def test_a_chance_next_to_nothing_in_a_log_is_refused_without_a_warning(tmp_path, capsys):
    rows = write(tmp_path / "a.csv", id=range(40), score=np.linspace(0, 1, 40).round(3), label=[1] * 8 + [0] * 32)
    log = write(tmp_path / "log.csv", id=[10, 20], probability=[5e-324, 0.5], answer=["positive", "negative"])
    with pytest.raises(SystemExit, match="2"):  # warnings are errors in tests
        main(["prior", str(rows), "--reviews", str(log), "--id", "id", "--scenario", "single-set"])
    assert "their probabilities do not match ranges of scores" in " ".join(capsys.readouterr().err.split())
