"""pulens evaluate --group-by, --where, --table."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pulens
from pulens.cli import main


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    positive = rng.random(1200) < 0.3
    labels = (positive & (rng.random(1200) < 0.4)).astype(int)
    site = rng.choice(["north", "south"], 1200)
    labels[site == "south"] *= (rng.random((site == "south").sum()) < 0.9).astype(int)
    lines = [f"{s:.4f},{y},{g}" for s, y, g in zip(rng.normal(positive * 1.5), labels, site, strict=True)]
    lines += ["0.5,0,nowhere", "0.25,0,nowhere"]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["score,label,site", *lines]) + "\n")
    return path


def test_each_segment_is_evaluated_as_if_alone(scores, capsys):
    main(["evaluate", str(scores), "--group-by", "site", "--class-prior", "0.2", "--json", "-"])
    answer = json.loads(capsys.readouterr().out)
    assert [segment["segment"] for segment in answer["segments"]] == ["north", "south"]
    assert [segment["segment"] for segment in answer["skipped"]] == ["nowhere"]
    for segment in answer["segments"]:
        condition = f"site = '{segment['segment']}'"
        main(["evaluate", str(scores), "--where", condition, "--class-prior", "0.2", "--json", "-"])
        alone = json.loads(capsys.readouterr().out)
        for name in segment.keys() - {"segment"}:
            assert alone[name] == segment[name]


def test_the_table_names_segments_and_why_one_is_missing(scores, capsys):
    main(["evaluate", str(scores), "--group-by", "site", "--class-prior", "0.2"])
    shown = capsys.readouterr().out
    assert "north" in shown
    assert "nowhere: not evaluated: there is no labelled positive among 2 rows" in " ".join(shown.split())


def test_segments_may_have_class_priors_of_their_own(scores):
    found = pulens.evaluate_by(scores, "site", where="site <> 'nowhere'", class_prior={"north": 0.2, "south": 0.3})
    assert [evaluation.class_prior.value for evaluation in found.values()] == [0.2, 0.3]
    with pytest.raises(pulens.PulensError, match="not for the segment 'south'"):
        pulens.evaluate_by(scores, "site", class_prior={"north": 0.2})


def test_unknown_columns_of_segments_are_named(scores, capsys):
    with pytest.raises(SystemExit) as end:
        main(["evaluate", str(scores), "--group-by", "country", "--class-prior", "0.2"])
    assert end.value.code == 2
    assert "there is no column 'country'" in capsys.readouterr().err


def test_a_database_needs_a_table(tmp_path, capsys):
    import duckdb

    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE march AS SELECT 0.5 AS score, 1 AS label UNION ALL SELECT 0.25, 0")
    url = f"duckdb:///{tmp_path / 'x.db'}"
    with pytest.raises(SystemExit):
        main(["evaluate", url, "--class-prior", "0.2"])
    assert "say which table holds the scores (table=..., or --table); there are 'march'" in capsys.readouterr().err
    main(["evaluate", url, "--table", "march", "--class-prior", "0.6", "--json", "-"])
    assert json.loads(capsys.readouterr().out)["counts"]["labelled"] == 1


def test_where_and_tables_mean_nothing_for_rows_in_memory():
    with pytest.raises(pulens.PulensError, match="where='x > 1' is for databases and files"):
        pulens.evaluate([1, 0, 0], [3, 2, 1], class_prior=0.2, where="x > 1")
    with pytest.raises(pulens.PulensError, match="tolerance must be a number of at least 0 and below 1, got 2"):
        pulens.evaluate([1, 0, 0], [3, 2, 1], class_prior=0.2, tolerance=2)
