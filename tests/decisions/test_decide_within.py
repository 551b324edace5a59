"""Decisions where labels are random within cells only, and where rows belong together."""

from __future__ import annotations

import json
import pickle

import numpy as np
import polars
import pytest

import pulens
from pulens.cli import main
from pulens.decisions.actions import Actions
from pulens.strata import gather_within

PRIORS = {"north": 0.15, "south": 0.35}
COSTS = {"cost_miss": 100, "cost_alarm": 20, "redraws": 300}


def visits(size: int = 3000, seed: int = 0) -> polars.DataFrame:
    rng = np.random.default_rng(seed)
    site = rng.choice(list(PRIORS), size)
    is_north = site == "north"
    positive = rng.random(size) < np.where(is_north, 0.15, 0.35)
    labels = positive & (rng.random(size) < np.where(is_north, 0.8, 0.1))
    scores = rng.normal(positive * np.where(is_north, 2.0, 1.2))
    patient = np.arange(size) // 10
    return polars.DataFrame(
        {"score": scores, "label": labels * 1, "site": site, "patient": patient, "one": ["x"] * size, "y": positive * 1}
    )


@pytest.mark.parametrize("scenario", ["single-set", "case-control"])
def test_one_cell_decides_as_no_cells_do(scenario):
    rows = visits()
    plain = pulens.decide(rows, class_prior=0.25, scenario=scenario, **COSTS, labelling="random")
    within = pulens.decide(
        rows, class_prior=0.25, scenario=scenario, labelled_within="one", **COSTS, labelling="random"
    )
    assert within.threshold == plain.threshold
    for before, after in (
        (plain.cost, within.cost),
        (plain.saving["flag none"], within.saving["flag none"]),
        (plain.flagged, within.flagged),
        (plain.recall, within.recall),
        (plain.precision, within.precision),
    ):
        assert after.value == pytest.approx(before.value, rel=1e-12)
        assert after.interval.width == pytest.approx(before.interval.width, rel=0.25), before.metric
    assert within.priors == pytest.approx(plain.priors, abs=1e-9)


def test_costs_are_those_of_cells_added_up_by_hand():
    rows = visits()
    result = pulens.decide(rows, class_prior=PRIORS, labelled_within="site", **COSTS, labelling="random")
    hits = held = 0.0
    for site, prior in PRIORS.items():
        own = rows.filter(polars.col("site") == site)
        labelled = own.filter(polars.col("label") == 1)["score"]
        held += prior * own.height
        hits += prior * own.height * float((labelled >= result.threshold).mean())
    flagged = float((rows["score"] >= result.threshold).sum())
    cost = (100 * (held - hits) + 20 * (flagged - hits)) / rows.height * 1000
    assert result.cost.value == pytest.approx(cost, rel=1e-9)
    assert result.recall.value == pytest.approx(hits / held, rel=1e-9)
    truth = rows.filter(polars.col("y") == 1)["score"]
    assert float((truth >= result.threshold).mean()) in result.recall.interval


def test_rows_written_five_times_decide_as_sure_as_rows_written_once():
    once = visits(1200).with_columns(patient=polars.int_range(1200))
    priors = {"north": 0.2, "south": 0.4}
    alone = pulens.decide(once, class_prior=priors, labelled_within="site", **COSTS, labelling="random")
    five = pulens.decide(
        polars.concat([once] * 5),
        class_prior=priors,
        labelled_within="site",
        cluster="patient",
        **COSTS,
        labelling="random",
    )
    assert five.threshold == alone.threshold
    assert five.cost.value == pytest.approx(alone.cost.value, rel=1e-9)
    for before, after in ((alone.cost, five.cost), (alone.flagged, five.flagged), (alone.recall, five.recall)):
        assert 0.7 < after.interval.width / before.interval.width < 1.5, before.metric
    assert five.hits.high - five.hits.low > 2 * (alone.hits.high - alone.hits.low)  # five times as many, in fives


def test_clusters_without_cells_widen_costs_and_keep_values():
    rows = visits()
    shifted = rows.with_columns(
        score=polars.col("score") + np.random.default_rng(1).normal(0, 1.0, 300)[rows["patient"].to_numpy()]
    )
    plain = pulens.decide(shifted, class_prior=0.25, **COSTS, labelling="random")
    told = pulens.decide(shifted, class_prior=0.25, cluster="patient", **COSTS, labelling="random")
    assert told.threshold == plain.threshold
    assert told.cost.value == pytest.approx(plain.cost.value, rel=1e-9)
    assert told.flagged.interval.width > 1.5 * plain.flagged.interval.width
    assert told.clusters.clusters == (300, 300)
    assert "300 clusters" in str(told)
    again = pulens.evaluate(shifted, class_prior=0.25, cluster="patient", labelling="random").decide(
        **COSTS, labelling="random"
    )
    assert again.cost.value == told.cost.value


def test_a_floor_within_cells_asks_for_more_than_labels_of_the_busy_site_show():
    rows = visits()
    within = pulens.decide(rows, class_prior=PRIORS, labelled_within="site", recall_at_least=0.8, labelling="random")
    pooled = pulens.decide(rows, class_prior=0.15, recall_at_least=0.8, labelling="random")
    assert within.threshold < pooled.threshold
    truth = rows.filter(polars.col("y") == 1)["score"].to_numpy()
    assert (truth >= within.threshold).mean() >= 0.8 > (truth >= pooled.threshold).mean()
    kept = pulens.decide(
        rows, class_prior=PRIORS, labelled_within="site", precision_at_least=0.4, cluster="patient", labelling="random"
    )
    assert kept.precision.value > 0.4


def test_where_random_labels_are_ruled_out_the_floor_holds_in_every_possible_world():
    rows = visits()
    decision = pulens.decide(rows, class_prior=0.25, recall_at_least=0.8, labelling="random")
    assert "labels-not-random" in [notice.code for notice in decision.notices]
    assert (
        decision.recall == pulens.evaluate(rows, class_prior=0.25, labelling="random").at(decision.threshold)["recall"]
    )
    assert decision.recall.interval.low >= 0.8


def test_regret_and_curves_within_cells():
    rows = visits()
    ranges = {"north": (0.13, 0.2), "south": (0.25, 0.4)}
    result = pulens.decide(
        rows, class_prior=ranges, labelled_within="site", choose="regret", **COSTS, labelling="random"
    )
    assert len(result.regret) == 2
    assert result.regret[0].class_prior < result.regret[1].class_prior
    exact = pulens.decide(rows, class_prior=PRIORS, labelled_within="site", **COSTS, labelling="random")
    assert result.cost.interval.width > exact.cost.interval.width
    curve = exact.curve
    assert ((curve.low <= curve.model) & (curve.model <= curve.high)).all()
    evaluation = pulens.evaluate(
        rows, class_prior=PRIORS, labelled_within="site", threshold=exact.threshold, labelling="random"
    )
    assert evaluation.decision_curve(ratios=curve.ratios).model == pytest.approx(curve.model)
    clustered = pulens.evaluate(rows, class_prior=0.25, cluster="patient", threshold=1.0, labelling="random")
    assert clustered.decision_curve(ratios=[0.2, 0.4]).low is not None


def test_rows_that_belong_together_make_a_capacity_less_certain():
    rows = visits()
    shifted = rows.with_columns(
        score=polars.col("score") + np.random.default_rng(1).normal(0, 1.5, 300)[rows["patient"].to_numpy()]
    )
    asked = {"class_prior": 0.25, "capacity": 60, "volume": 300, "capacity_certainty": 0.95}
    plain = pulens.decide(shifted, **asked, labelling="random")
    told = pulens.decide(shifted, cluster="patient", **asked, labelling="random")
    assert told.threshold > plain.threshold


def test_too_few_clusters_decide_without_intervals():
    rows = visits(1000).with_columns(patient=polars.int_range(1000) % 4)
    result = pulens.decide(
        rows, class_prior=PRIORS, labelled_within="site", cluster="patient", **COSTS, labelling="random"
    )
    assert result.flagged.interval is None
    assert "too-few-clusters" in {notice.code for notice in result.notices}


def test_the_command_decides_within_cells_and_tells_rows_not_weights(tmp_path, capsys):
    rows = visits(1500)
    rows.write_csv(tmp_path / "visits.csv")
    asked = ["decide", str(tmp_path / "visits.csv"), "--within", "site", "--cluster", "patient", "--json", "-"]
    main(
        [*asked, "--cell-prior", "north=0.15", "--cell-prior", "south=0.35", "--cost-miss", "100", "--cost-alarm", "20"]
    )
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["labelled"] == int(rows["label"].sum())
    assert told["counts"]["unlabelled"] == int((rows["label"] == 0).sum())
    assert told["scenario"] == "single-set"
    assert [cell["cell"] for cell in told["within"]["cells"]] == ["north", "south"]
    assert told["clusters"]["clusters"] == 150
    evidence = gather_within(str(tmp_path / "visits.csv"), labelled_within="site", class_prior=PRIORS)
    assert told["flagged"]["share"]["value"] == pytest.approx(
        float(Actions.at(evidence, told["threshold"], evidence.class_prior.unlabelled).flagged[0])
    )


def test_a_decision_within_cells_travels_without_its_replicates():
    result = pulens.decide(visits(1000), class_prior=PRIORS, labelled_within="site", **COSTS, labelling="random")
    sent = pickle.loads(pickle.dumps(result))
    assert sent.cost == result.cost
    assert sent.within.cells.names == ("north", "south")
    assert len(pickle.dumps(result)) < 400_000
