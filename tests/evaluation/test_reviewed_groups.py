"""Checked rows beside cells, and beside rows that belong together."""

from __future__ import annotations

import numpy as np
import polars
import pytest

import pulens
from pulens.cli import main
from pulens.evaluation.reviewed_groups import GroupedReviews
from pulens.evaluation.reviews import ReviewOptions
from pulens.inputs import ReadOptions

PRIORS = {"n": 0.15, "s": 0.4}


def table(size: int = 3000, seed: int = 3) -> tuple[polars.DataFrame, dict, np.ndarray]:
    rng = np.random.default_rng(seed)
    site = rng.choice(list(PRIORS), size)
    positive = rng.random(size) < np.where(site == "n", 0.15, 0.4)
    labels = positive & (rng.random(size) < np.where(site == "n", 0.8, 0.1))
    scores = rng.normal(positive * np.where(site == "n", 2.0, 1.0))
    free = np.flatnonzero(~labels)
    rows = rng.choice(free, 400, replace=False)
    log = {"row": rows, "answer": positive[rows] * 1, "probability": np.full(400, 400 / free.size)}
    frame = polars.DataFrame({"score": scores, "label": labels * 1, "site": site, "who": rng.integers(0, 150, size)})
    return frame, log, positive


def test_checked_rows_tell_the_class_prior_of_every_cell():
    frame, log, positive = table(seed=5)
    result = pulens.evaluate(frame, reviews=log, labelled_within="site", threshold=1.0, labelling="random")
    site = frame["site"].to_numpy()
    for cell in result.cells:
        truth = positive[site == cell.name].mean()
        assert cell.prior_interval.low < truth < cell.prior_interval.high
    assert result.class_prior.method == "audit in 2 of 2 cells of site, pooled"
    truth = (frame["score"].to_numpy()[positive] >= 1.0).mean()
    assert truth in result.estimates["recall"].interval
    busy = (frame.filter(polars.col("label") == 1)["score"].to_numpy() >= 1.0).mean()
    assert truth < result.estimates["recall"].interval.high < busy  # most labels are where the model is better


@pytest.mark.parametrize("groups", [{"cluster": "who"}, {"labelled_within": "site"}])
def test_what_checked_rows_prove_does_not_depend_on_groups(groups):
    frame, log, _ = table(1500)
    plain = pulens.evaluate(frame, reviews=log, threshold=1.0, labelling="random")
    told = pulens.evaluate(frame, reviews=log, threshold=1.0, **groups, labelling="random")
    assert told.audit.to_dict() == plain.audit.to_dict()
    assert (told.cells is None) == ("cluster" in groups)


def test_clusters_widen_what_is_recovered_beside_checked_rows():
    frame, log, _ = table()
    moved = frame.with_columns(
        score=polars.col("score") + np.random.default_rng(1).normal(0, 1.5, 150)[frame["who"].to_numpy()]
    )
    plain = pulens.evaluate(moved, reviews=log, threshold=1.0, labelling="random")
    told = pulens.evaluate(moved, reviews=log, threshold=1.0, cluster="who", labelling="random")
    both = pulens.evaluate(moved, reviews=log, threshold=1.0, cluster="who", labelled_within="site", labelling="random")
    assert told.class_prior.value == plain.class_prior.value
    assert told.estimates["recall"].interval.width > 1.2 * plain.estimates["recall"].interval.width
    assert both.clusters is not None
    assert both.audit is not None


def test_shares_of_cells_are_those_of_strata_by_hand():
    frame, _, positive = table(1000)
    labels, scores, site = (frame[name].to_numpy() for name in ("label", "score", "site"))
    free = np.flatnonzero(labels == 0)
    high = scores[free] >= 1.0
    rng = np.random.default_rng(0)
    picked = [rng.choice(free[high], 60, replace=False), rng.choice(free[~high], 60, replace=False)]
    chance = [60 / high.sum(), 60 / (~high).sum()]
    rows = np.concatenate(picked)
    log = {"row": rows, "answer": positive[rows] * 1, "probability": np.repeat(chance, 60)}
    read = GroupedReviews.read(labels, scores, ReadOptions(), ReviewOptions(reviews=log), site, scenario="single-set")
    shares = read.shares(read.cells())
    for name in PRIORS:
        value = 0.0
        for part, drawn in zip((free[high], free[~high]), picked, strict=True):
            mine = drawn[site[drawn] == name]
            value += (site[part] == name).sum() * positive[mine].mean()
        assert shares[name].share == pytest.approx(value / (site[free] == name).sum(), abs=1e-12)
        assert shares[name].checked == (site[rows] == name).sum()


def test_models_are_compared_by_checked_rows_beside_groups():
    frame, log, _ = table(1500)
    both = frame.with_columns(b=polars.col("score") + np.random.default_rng(2).normal(size=1500))
    asked = {"score": ["score", "b"], "threshold": 1.0, "reviews": log, "metrics": ["recall"], "redraws": 100}
    plain = pulens.compare(both, **asked, labelling="random")
    for groups in ({"cluster": "who"}, {"labelled_within": "site"}, {"labelled_within": "site", "cluster": "who"}):
        result = pulens.compare(both, **groups, **asked, labelling="random")
        assert result.reviewed.differences == plain.reviewed.differences
        assert result.differences["recall"][0].interval is not None


def test_promises_are_judged_by_checked_rows_beside_groups(tmp_path, capsys):
    frame, log, _ = table(1500)
    frame.with_columns(score=1 / (1 + (-polars.col("score")).exp())).write_csv(tmp_path / "rows.csv")
    polars.DataFrame(log).write_csv(tmp_path / "log.csv")
    asked = ["calibrate", str(tmp_path / "rows.csv"), "--reviews", str(tmp_path / "log.csv")]
    main([*asked, "--within", "site", "--cluster", "who"])
    told = " ".join(capsys.readouterr().out.split())
    assert "400 checked rows" in told
    assert "audit in 2 of 2 cells of site" in told
    assert "150 clusters" in told
