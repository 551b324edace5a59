"""Planning an audit: which rows, from which source, at which threshold; and adding rows to it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from pulens import evaluate, more_audit, plan_audit, read_audit
from pulens.audits.queue import queue_bytes
from pulens.counts.tally import Tally
from pulens.errors import AssumptionError, InputError, PulensError

ROWS = 3000


@pytest.fixture(autouse=True)
def quick_forecasts(monkeypatch):
    """How well widths are forecast is tested elsewhere; here it matters that they are."""
    monkeypatch.setattr("pulens.audits.forecast.AUDITS", 6)
    monkeypatch.setattr("pulens.audits.forecast.BUDGETS", (25, 100, 400))


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    rng = np.random.default_rng(2)
    truth = rng.random(ROWS) < 0.15
    scores = (rng.normal(size=ROWS) + 2 * truth).round(3)
    labels = (truth & (rng.random(ROWS) < 0.3)).astype(int)
    return pl.DataFrame({"score": scores, "label": labels, "case": np.arange(ROWS) + 7, "truth": truth.astype(int)})


@pytest.fixture
def files(table, tmp_path) -> dict[str, tuple[object, dict]]:
    import duckdb
    import sqlalchemy

    table.write_csv(tmp_path / "scores.csv")
    table.write_parquet(tmp_path / "scores.parquet", row_group_size=500)
    with duckdb.connect(str(tmp_path / "scores.db")) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM '{tmp_path / 'scores.parquet'}' ORDER BY score")
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'scores.sqlite'}")
    kept = sqlalchemy.Table(
        "t",
        sqlalchemy.MetaData(),
        *(
            sqlalchemy.Column(name, sqlalchemy.Double if name == "score" else sqlalchemy.Integer)
            for name in table.columns
        ),
    )
    with engine.begin() as connection:
        kept.create(connection)
        connection.execute(kept.insert(), table.to_dicts())
    engine.dispose()
    return {
        "csv": (tmp_path / "scores.csv", {}),
        "parquet": (str(tmp_path / "scores.parquet"), {}),
        "polars": (table, {}),
        "pandas": (table.to_pandas(), {}),
        "duckdb": (f"duckdb:///{tmp_path / 'scores.db'}", {"table": "t"}),
        "sqlite": (f"sqlite:///{tmp_path / 'scores.sqlite'}", {"table": "t"}),
    }


def test_one_seed_gives_one_queue_wherever_the_rows_are(files):
    plans = {
        name: plan_audit(source, seed=4, id="case", keep=["truth"], budget=80, **reading)
        for name, (source, reading) in files.items()
    }
    written = {name: queue_bytes(plan, "csv") for name, plan in plans.items()}
    assert len(set(written.values())) == 1
    assert len({plan.digest for plan in plans.values()}) == 1
    by_row = [
        queue_bytes(plan_audit(files[name][0], seed=4, budget=80), "csv") for name in ("csv", "parquet", "polars")
    ]
    assert len(set(by_row)) == 1
    other = plan_audit(files["polars"][0], seed=5, id="case", keep=["truth"], budget=80)
    assert queue_bytes(other, "csv") != written["polars"]


def test_the_rows_of_a_queue_are_unlabelled_rows_of_their_strata(table):
    plan = plan_audit(table, budget=100)
    rows = np.array([int(name) for name in plan.rows.name])
    assert not table["label"].to_numpy()[rows].any()
    assert plan.rows.score.tolist() == table["score"].to_numpy()[rows].tolist()
    assert plan.strata.of(plan.rows.score).tolist() == plan.rows.stratum.tolist()
    assert np.bincount(plan.rows.stratum).tolist() == plan.allocation.tolist()
    assert len(set(rows.tolist())) == plan.budget == 100


def test_the_default_threshold_is_that_of_evaluate(table):
    plan = plan_audit(table, class_prior=0.15)
    assert plan.threshold == evaluate(table, class_prior=0.15, confidence=None, labelling="random").threshold
    assert plan.threshold_choice == "best F1"
    with pytest.raises(InputError, match="threshold="):
        plan_audit(np.zeros(50, int), np.arange(50.0))


def test_more_rows_hold_the_fewer_ones_and_keep_their_order(table, files, tmp_path):
    source = files["csv"][0]
    small = plan_audit(source, budget=100, seed=9)
    small.write(tmp_path / "queue.csv")
    large = more_audit(tmp_path / "queue.csv", budget=200)
    assert large.rows.name[:100] == small.rows.name
    assert set(large.rows.name) == set(plan_audit(source, budget=200, seed=9).rows.name)
    assert large.strata.edges == small.strata.edges
    assert [batch.sum() for batch in large.batches] == [100, 100]
    assert (large.probability >= small.probability).all()
    large.write(tmp_path / "queue2.csv")
    assert read_audit(tmp_path / "queue2.csv").plan.rows.name == large.rows.name
    unanswered = read_audit(tmp_path / "queue2.csv")
    assert str(unanswered).startswith("No row is answered yet. Fill in the column answer of")  # it gave empty bounds
    assert repr(unanswered).startswith("QueueResult(0 of ")  # it was every field with every row
    assert len(repr(unanswered)) < 80
    assert "No row is answered yet" in unanswered._repr_html_()
    third = read_audit(tmp_path / "queue2.csv").more(250)
    assert third.rows.name[:200] == large.rows.name


@pytest.mark.parametrize("place", ["duckdb", "sqlite", "parquet"])
def test_more_rows_are_drawn_inside_the_engine_that_drew_the_first(files, tmp_path, place):
    source, reading = files[place]
    plan_audit(source, budget=50, id="case", seed=9, threshold=1.0, **reading).write(tmp_path / "queue.xlsx")
    large = more_audit(tmp_path / "queue.xlsx", budget=90, source=source)
    other = plan_audit(files["polars"][0], budget=50, id="case", seed=9, threshold=1.0)
    other.write(tmp_path / "other.csv")
    assert large.rows.name == more_audit(tmp_path / "other.csv", budget=90, source=files["polars"][0]).rows.name


def test_a_table_that_changed_since_the_plan_is_refused_unless_allowed(table, tmp_path):
    path = tmp_path / "scores.csv"
    table.write_csv(path)
    plan_audit(path, budget=50, id="case").write(tmp_path / "queue.csv")
    assert read_audit(tmp_path / "queue.csv", source=path).plan.budget == 50
    table[:-200].write_csv(path)
    for call in (more_audit, read_audit):
        options = {"budget": 90} if call is more_audit else {"source": path}
        with pytest.raises(InputError, match="the table has changed since the plan"):
            call(tmp_path / "queue.csv", **options)
    larger = more_audit(tmp_path / "queue.csv", budget=90, allow_changed=True)
    assert (larger.budget, len(set(larger.rows.name))) == (90, 90)
    assert read_audit(tmp_path / "queue.csv", source=path, allow_changed=True).plan.budget == 50
    path.unlink()
    with pytest.raises(InputError, match="neither next to the queue nor here"):
        more_audit(tmp_path / "queue.csv", budget=90)


def test_more_means_more_in_all(table, tmp_path):
    plan_audit(table, budget=50).write(tmp_path / "queue.csv")
    with pytest.raises(AssumptionError, match="50 are planned already"):
        more_audit(tmp_path / "queue.csv", budget=50, source=table)


def test_few_rows_all_rows_and_few_labels_are_noted(table):
    def codes(**options):
        return {notice.code for notice in plan_audit(table, **options).notices}

    assert codes(budget=10, threshold=1.0) == {"few-rows"}
    assert codes(budget=25, threshold=1.0) == set()
    assert codes(budget=5000, threshold=1.0) == {"every-row"}
    assert codes(budget=60, threshold=99.0) == {"none-flagged"}
    assert codes(budget=60, threshold=-99.0) == {"all-flagged"}
    few = plan_audit([1, 1] + [0] * 98, np.arange(100.0), threshold=50, budget=20)
    assert "few-labelled" in {notice.code for notice in few.notices}


def test_every_row_is_queued_and_nothing_is_left_to_chance(tmp_path):
    scores = np.arange(40.0)
    plan = plan_audit((scores > 35).astype(int), scores, threshold=30, budget=200)
    assert plan.budget == 36
    plan.write(tmp_path / "queue.csv")
    text = (tmp_path / "queue.csv").read_text().splitlines()
    (tmp_path / "queue.csv").write_text("\n".join([text[0], *(line + "yes" for line in text[1:])]))
    result = read_audit(tmp_path / "queue.csv")
    assert result.estimates["precision"].interval.width == 0
    assert result.estimates["class_prior"].value == 1


@pytest.mark.parametrize("threshold", [99.0, -99.0])
def test_a_threshold_on_one_side_of_all_rows_is_read_without_harm(table, tmp_path, threshold):
    plan = plan_audit(table, budget=60, threshold=threshold)
    plan.write(tmp_path / "queue.csv")
    text = (tmp_path / "queue.csv").read_text().splitlines()
    truth = table["truth"].to_list()
    filled = [line + ("yes" if truth[int(line.split(",")[0])] else "no") for line in text[1:]]
    (tmp_path / "queue.csv").write_text("\n".join([text[0], *filled]))
    result = read_audit(tmp_path / "queue.csv")
    assert result.estimates["class_prior"].interval.low < 0.15 < result.estimates["class_prior"].interval.high
    assert str(result)


def test_a_width_says_how_many_rows(table):
    plan = plan_audit(table, width=0.4, goal="precision", threshold=1.5)
    assert 10 <= plan.budget < 200
    low, high = plan.forecast.width("precision", plan.budget)
    assert low <= high == pytest.approx(0.4, rel=0.25)
    assert plan.rows_for("precision", width=0.2).most > plan.budget


def test_a_plan_prints_strata_and_forecast(table):
    words = str(plan_audit(table, budget=100, threshold=1.5))
    assert "100 of 2,8" in words
    assert "1.5 and more (flagged)" in words
    assert "With 100 rows: F1 known to ± " in words


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": 9}, "10 to 200,000"),
        ({"budget": 50.0}, "whole number"),
        ({"budget": 50, "width": 0.1}, "not both"),
        ({"width": 2}, "between 0 and 1"),
        ({"goal": "average_precision"}, "validated"),
        ({"goal": "recal"}, "Did you mean 'recall'"),
        ({"threshold": float("inf")}, "finite"),
        ({"threshold": "x"}, "must be a number"),
        ({"seed": -1}, "seed must be"),
        ({"label_noise": 0.1}, "case-control"),
        ({"weight": "truth"}, "weighted rows are not supported"),
        ({"id": "nothing"}, "no column 'nothing'"),
        ({"keep": ["answer"]}, "queue has one of its own"),
        ({"keep": "row"}, "queue has one of its own"),
        ({"keep": "score", "show_scores": True}, "queue has one of its own"),
        ({"scenario": "both"}, "scenario must be"),
        ({"budgte": 5}, "budget"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_words(table, options, words):
    with pytest.raises(PulensError, match=words):
        plan_audit(table, **{"threshold": 1.0, **options})


def test_sources_without_rows_to_draw_are_refused(table, tmp_path):
    with pytest.raises(InputError, match="counts and no rows"):
        plan_audit(Tally.from_arrays(np.array([1, 0]), np.array([1.0, 2.0])), threshold=1.0)
    with pytest.raises(InputError, match="read once only"):
        plan_audit("-", threshold=1.0)
    with pytest.raises(InputError, match="no unlabelled row"):
        plan_audit([1, 1], [1.0, 2.0], threshold=1.0)
    with pytest.raises(InputError, match="finite"):
        plan_audit([1, 0], [1.0, float("nan")], threshold=1.0)
    with pytest.raises(InputError, match="arrays have no column"):
        plan_audit([1, 0, 0], [1.0, 2.0, 3.0], threshold=1.0, id="case")
    with pytest.raises(InputError, match="weighted rows"):
        plan_audit([1, 0, 0], [1.0, 2.0, 3.0], threshold=1.0, weights=[1, 2, 3])


def test_noisy_labels_leave_only_what_needs_no_labels(table, tmp_path):
    plan = plan_audit(table, budget=60, threshold=1.0, label_noise=0.1, scenario="case-control")
    plan.write(tmp_path / "queue.csv")
    text = (tmp_path / "queue.csv").read_text().replace(",\n", ",yes\n")
    (tmp_path / "queue.csv").write_text(text)
    result = read_audit(tmp_path / "queue.csv")
    assert result.labelling is None
    assert "noisy-labels" in {notice.code for notice in result.notices}
    assert result.estimates["precision"].value == 1
