"""pulens evaluate --group-by, --where, --table."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pulens
from command_lines import EVALUATE
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


GIVEN = ["--segment-prior", "north=0.4", "--segment-prior", "south=0.3"]
SINGLE = ["--scenario", "single-set"]


def test_each_segment_is_evaluated_as_if_alone(scores, capsys):
    shared = ["--threshold", "0.7", *SINGLE, "--json", "-"]
    main(["evaluate", "--labelling", "random", str(scores), "--group-by", "site", *GIVEN, *shared])
    answer = json.loads(capsys.readouterr().out)
    assert [segment["segment"] for segment in answer["segments"]] == ["north", "south"]
    assert [segment["segment"] for segment in answer["skipped"]] == ["nowhere"]
    for segment, prior in zip(answer["segments"], ("0.4", "0.3"), strict=True):
        condition = f"site = '{segment['segment']}'"
        main(["evaluate", "--labelling", "random", str(scores), "--where", condition, "--class-prior", prior, *shared])
        alone = json.loads(capsys.readouterr().out)
        for name in ("class_prior", "scenario", "target_population", "counts", "threshold"):
            assert alone[name] == segment[name]
        for name, result in segment["estimates"].items():
            assert result["value"] == alone["estimates"][name]["value"]
            for end in ("low", "high"):
                assert result[end] == pytest.approx(alone["estimates"][name][end], abs=1e-6)


def test_the_table_names_segments_and_why_one_is_missing(scores, capsys):
    main(["evaluate", "--labelling", "random", str(scores), "--group-by", "site", "--class-prior", "0.3", *SINGLE])
    shown = capsys.readouterr().out
    assert "north" in shown
    assert "nowhere: not evaluated: there is no labelled positive among 2 rows" in " ".join(shown.split())


def test_quiet_shows_no_table(scores, tmp_path, capsys):
    out = tmp_path / "segments.json"
    main([*EVALUATE, str(scores), "--group-by", "site", *GIVEN, *SINGLE, "--json", str(out), "--quiet"])
    assert capsys.readouterr().out == ""
    assert len(json.loads(out.read_text())["segments"]) == 2


def test_no_line_of_the_table_is_longer_than_a_terminal(scores, capsys):
    main(["evaluate", "--labelling", "random", str(scores), "--group-by", "site", "--class-prior", "0.3", *SINGLE])
    shown = capsys.readouterr().out
    assert max(len(line) for line in shown.splitlines() if str(scores) not in line) <= 80
    answer = pulens.evaluate_by(scores, "site", class_prior=0.3, scenario="single-set", labelling="random")
    assert max(map(len, str(answer).splitlines())) <= 80
    for segment in answer.segments.values():  # every interval is in the table
        for name in ("roc_auc", "precision", "recall"):
            interval = segment.estimates[name].interval
            assert f"{interval.low:.3f}-{interval.high:.3f}" in shown


def test_segments_may_have_class_priors_of_their_own(scores):
    given = {"class_prior": {"north": 0.4, "south": 0.3}, "scenario": "single-set"}
    result = pulens.evaluate_by(scores, "site", where="site <> 'nowhere'", **given, labelling="random")
    assert [evaluation.class_prior.value for evaluation in result.values()] == [0.4, 0.3]
    assert [segment.prior_source for segment in result.segments.values()] == ["given", "given"]
    with pytest.raises(pulens.PulensError, match="not for the segment 'south'"):
        pulens.evaluate_by(scores, "site", class_prior={"north": 0.4}, scenario="single-set", labelling="random")


def test_a_column_may_hold_the_class_priors(scores, tmp_path, capsys):
    head, *rows = scores.read_text().splitlines()
    priors = {"north": "0.4", "south": "0.3", "nowhere": "0.1"}
    table = tmp_path / "with_priors.csv"
    table.write_text("\n".join([f"{head},prior", *(f"{row},{priors[row.split(',')[2]]}" for row in rows)]) + "\n")
    main([*EVALUATE, str(table), "--group-by", "site", "--class-prior-column", "prior", *SINGLE, "--json", "-"])
    segments = json.loads(capsys.readouterr().out)["segments"]
    assert [segment["class_prior"]["value"] for segment in segments] == [0.4, 0.3]
    table.write_text(table.read_text().replace("north,0.4", "north,0.5", 1))
    with pytest.raises(SystemExit):
        main([*EVALUATE, str(table), "--group-by", "site", "--class-prior-column", "prior", *SINGLE])
    said = capsys.readouterr().err
    assert "column 'prior' must hold one number in each segment of 'site', got numbers from 0.4 to 0.5" in said


def test_one_class_prior_in_case_control_data_is_refused_with_the_ways_out(scores, capsys):
    asked = [*EVALUATE, str(scores), "--group-by", "site", "--class-prior", "0.2", "--scenario", "case-control"]
    with pytest.raises(SystemExit):
        main(asked)
    said = capsys.readouterr().err
    for way_out in ("--segment-prior", "--class-prior-column", "--same-prior", "single-set", "estimated"):
        assert way_out in said
    main([*asked, "--same-prior"])
    assert "One class prior for all segments, as asked (--class-prior 0.2)" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--same-prior"], "--same-prior is for segments: name their column with --group-by"),
        (["--segment-prior", "north=0.1"], "--segment-prior is for segments"),
        (["--group-by", "site", *GIVEN, "--class-prior", "0.2"], "--segment-prior and --class-prior both say"),
        (["--group-by", "site", "--same-prior"], "--same-prior takes one class prior for every segment"),
        (["--group-by", "site", "--segment-prior", "0.1"], "is written SEGMENT=SHARE, such as north=0.1, got '0.1'"),
        (["--group-by", "site", "--bounds"], "'--bounds' is for one evaluation"),
        (["--group-by", "site", *GIVEN, "--metric", "recal"], "recal"),
    ],
)
def test_options_that_contradict_one_another_are_refused(scores, capsys, options, said):
    with pytest.raises(SystemExit):
        main(["evaluate", "--labelling", "random", str(scores), *options])
    assert said in capsys.readouterr().err


def test_unknown_columns_of_segments_are_named(scores, capsys):
    with pytest.raises(SystemExit) as end:
        main(
            ["evaluate", "--labelling", "random", str(scores), "--group-by", "country", "--class-prior", "0.2", *SINGLE]
        )
    assert end.value.code == 2
    assert "there is no column 'country'" in capsys.readouterr().err


def test_a_database_needs_a_table(tmp_path, capsys):
    import duckdb

    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE march AS SELECT 0.5 AS score, 1 AS label UNION ALL SELECT 0.25, 0")
    url = f"duckdb:///{tmp_path / 'x.db'}"
    with pytest.raises(SystemExit):
        main(["evaluate", url, "--class-prior", "0.2"])
    assert "say which table holds the scores (--table); there are 'march'" in capsys.readouterr().err
    main(["evaluate", url, "--table", "march", "--class-prior", "0.6", "--json", "-"])
    assert json.loads(capsys.readouterr().out)["counts"]["labelled"] == 1


def test_where_and_tables_mean_nothing_for_rows_in_memory():
    with pytest.raises(pulens.PulensError, match="where='x > 1' is for databases and files"):
        pulens.evaluate([1, 0, 0], [3, 2, 1], class_prior=0.2, where="x > 1", labelling="random")
    with pytest.raises(pulens.PulensError, match="tolerance must be a number of at least 0 and below 1, got 2"):
        pulens.evaluate([1, 0, 0], [3, 2, 1], class_prior=0.2, tolerance=2, labelling="random")
