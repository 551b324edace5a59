"""Models compared where labels are random within cells only."""

from __future__ import annotations

import numpy as np
import polars
import pytest

import pulens
from pulens.cli import main

PRIORS = {"north": 0.1, "south": 0.3}


def two_models(size: int = 2500) -> polars.DataFrame:
    """``a`` is better in the north, where most labels are, and worse in the south, where most positives are."""
    rng = np.random.default_rng(0)
    site = rng.choice(list(PRIORS), size)
    is_north = site == "north"
    positive = rng.random(size) < np.where(is_north, 0.1, 0.3)
    labels = positive & (rng.random(size) < np.where(is_north, 0.9, 0.1))
    a, b = (rng.normal(positive * np.where(is_north, north, south)) for north, south in ((2.5, 0.8), (1.2, 2.0)))
    return polars.DataFrame({"a": a, "b": b, "label": labels * 1, "site": site, "one": ["x"] * size})


def test_one_cell_is_the_plain_comparison():
    asked = {
        "score": ["a", "b"],
        "class_prior": 0.2,
        "threshold": 1.0,
        "metrics": ["recall", "roc_auc"],
        "redraws": 300,
    }
    plain = pulens.compare(two_models(), **asked, labelling="random")
    within = pulens.compare(two_models(), labelled_within="one", **asked, labelling="random")
    for name in plain.differences:
        (before,), (after,) = plain.differences[name], within.differences[name]
        assert after.value == pytest.approx(before.value, abs=1e-12)
        assert after.interval.width == pytest.approx(before.interval.width, rel=0.2)  # 300 redraws of either


def test_cells_turn_a_verdict_that_labels_of_one_place_had_made():
    asked = {"score": ["a", "b"], "threshold": 1.0, "metrics": ["recall"], "redraws": 200}
    pooled = pulens.compare(two_models(), class_prior=0.2, **asked, labelling="random")
    within = pulens.compare(two_models(), class_prior=PRIORS, labelled_within="site", **asked, labelling="random")
    assert pooled.leader() == "a"
    assert within.leader() == "b"
    alone = pulens.evaluate(
        two_models(),
        score="b",
        class_prior=PRIORS,
        labelled_within="site",
        threshold=1.0,
        confidence=None,
        labelling="random",
    )
    assert within.estimates["recall"]["b"].value == pytest.approx(alone.estimates["recall"].value, abs=1e-12)


def test_the_command_compares_within_cells(tmp_path, capsys):
    two_models().write_csv(tmp_path / "two.csv")
    asked = ["compare", str(tmp_path / "two.csv"), "--score", "a", "--score", "b", "--within", "site"]
    main([*asked, "--cell-prior", "north=0.1", "--cell-prior", "south=0.3", "--redraws", "100", "--metric", "roc_auc"])
    assert "labels random within site only" in capsys.readouterr().out


def test_rows_written_five_times_by_cluster_say_as_much_as_rows_written_once():
    once, asked = two_models(1500), {"score": ["a", "b"], "threshold": 1.0, "metrics": ["recall", "precision", "f1"]}
    once = once.with_columns(patient=polars.int_range(once.height))
    five = polars.concat([once] * 5)
    cells = {"class_prior": {"north": 0.2, "south": 0.4}, "labelled_within": "site"}
    rows = pulens.compare(once, redraws=400, **cells, **asked, labelling="random")
    told = pulens.compare(five, cluster="patient", **cells, **asked, labelling="random")
    for name in asked["metrics"]:
        (before,), (after,) = rows.differences[name], told.differences[name]
        assert after.value == pytest.approx(before.value, abs=1e-9)
        assert 0.75 < after.interval.width / before.interval.width < 1.35, name
        assert after.interval.method.startswith("delete-a-bucket jackknife of the difference, within cells")


def test_one_cell_of_clusters_is_the_comparison_of_clusters():
    rows = two_models(1500).with_columns(patient=polars.int_range(1500) // 8)
    asked = {"score": ["a", "b"], "threshold": 1.0, "metrics": ["recall", "roc_auc"], "cluster": "patient"}
    plain = pulens.compare(rows, class_prior=0.2, **asked, labelling="random")
    within = pulens.compare(rows, class_prior=0.2, labelled_within="one", **asked, labelling="random")
    for name in plain.differences:
        (before,), (after,) = plain.differences[name], within.differences[name]
        assert after.value == pytest.approx(before.value, abs=1e-12)
        assert (after.interval.low, after.interval.high) == pytest.approx(
            (before.interval.low, before.interval.high), abs=2e-3
        )
        assert after.p_value == pytest.approx(before.p_value, abs=0.02)


def test_too_few_clusters_leave_no_difference_within_cells():
    rows = two_models(1500).with_columns(patient=polars.int_range(1500) % 4)
    result = pulens.compare(
        rows,
        score=["a", "b"],
        labelled_within="site",
        class_prior=PRIORS,
        cluster="patient",
        metrics=["roc_auc"],
        labelling="random",
    )
    (difference,) = result.differences["roc_auc"]
    assert difference.interval is None
    assert "fewer than 5 clusters" in difference.undefined_because


def test_wrong_labels_within_cells_widen_a_difference_as_they_do_without_cells():
    asked = {"score": ["a", "b"], "threshold": 1.0, "metrics": ["f1", "average_precision"], "redraws": 300}
    noisy = {"label_noise": 0.1, "class_prior": 0.2}
    plain = pulens.compare(two_models(), **asked, **noisy, labelling="random")
    within = pulens.compare(two_models(), labelled_within="one", **asked, **noisy, labelling="random")
    for name in asked["metrics"]:
        (before,), (after,) = plain.differences[name], within.differences[name]
        assert after.value == pytest.approx(before.value, abs=1e-12)
        assert after.interval.width == pytest.approx(before.interval.width, rel=0.2)  # 300 redraws of either
