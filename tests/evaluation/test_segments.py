"""Evaluations per segment: whose class prior is whose, what is left out, what is kept."""

from __future__ import annotations

import pickle
import re

import numpy as np
import polars
import pytest
from scipy.stats import norm

import pulens
from pulens.groups.segments import evaluate_by
from pulens.report.segments import segments_text

PRIORS = {"north": 0.05, "south": 0.4, "west": 0.2}


def rows(n=6000, *, seed=0, frequency=0.3, priors=PRIORS, apart=1.5):
    """One sample whose positives are labelled equally often everywhere; segments differ in their share of them."""
    rng = np.random.default_rng(seed)
    site = rng.choice(list(priors), n)
    positive = rng.random(n) < np.array([priors[name] for name in site])
    labels = (positive & (rng.random(n) < frequency)).astype(int)
    return polars.DataFrame({"score": rng.normal(apart * positive), "label": labels, "site": site})


def true_precision(prior, threshold, apart=1.5):
    hits, alarms = prior * norm.sf(threshold - apart), (1 - prior) * norm.sf(threshold)
    return hits / (hits + alarms)


def test_the_class_prior_of_all_rows_is_not_that_of_every_segment():
    population = sum(PRIORS.values()) / 3
    result = evaluate_by(
        rows(), "site", class_prior=population, scenario="single-set", threshold=1.0, labelling="random"
    )
    for name, prior in PRIORS.items():
        segment = result.segments[name]
        assert segment.prior_source == "implied"
        assert prior in result[name].class_prior.interval
        assert true_precision(prior, 1.0) in segment.estimates["precision"].interval
    forced = evaluate_by(
        rows(),
        "site",
        class_prior=population,
        scenario="single-set",
        threshold=1.0,
        same_prior=True,
        labelling="random",
    )
    assert "One class prior for all segments, as asked" in str(forced)
    assert forced.to_dict()["segments"][0]["prior_source"] == "same for all"
    assert true_precision(0.05, 1.0) not in forced.segments["north"].estimates["precision"].interval


@pytest.mark.slow
def test_intervals_with_implied_priors_hold_the_truth():
    """Precision moves with the segment's own number of labelled rows; 100 samples of three segments."""
    held, population = [], sum(PRIORS.values()) / 3
    for seed in range(100):
        table = rows(1500, seed=seed)
        result = evaluate_by(
            table, "site", class_prior=population, scenario="single-set", threshold=1.0, labelling="random"
        )
        for name, segment in result.segments.items():
            held.append(true_precision(PRIORS[name], 1.0) in segment.estimates["precision"].interval)
    assert 0.91 < np.mean(held) < 0.985, np.mean(held)


def test_one_small_segment_does_not_end_the_run():
    tiny = polars.DataFrame({"score": [1.0, 0.5, 0.2], "label": [1, 0, 0], "site": ["tiny"] * 3})
    table = polars.concat([rows(), tiny])
    result = evaluate_by(table, "site", scenario="single-set", labelling="random")
    assert {"south", "west"} <= set(result)
    assert "cannot be estimated from 1 labelled and 2 unlabelled rows" in result.skipped["tiny"]
    assert "tiny: not evaluated: the class prior cannot be estimated" in " ".join(str(result).split())
    assert {"segment": "tiny", "reason": result.skipped["tiny"]} in result.to_dict()["skipped"]


def test_when_no_segment_can_be_evaluated_the_first_reason_is_told():
    with pytest.raises(pulens.PulensError, match=r"none of the 2 segments of 'site' can be evaluated; the first: "):
        evaluate_by(rows(30, priors={"a": 0.3, "b": 0.3}), "site", scenario="single-set", labelling="random")


def test_without_a_class_prior_each_segment_is_estimated():
    result = evaluate_by(rows(12_000), "site", scenario="single-set", labelling="random")
    for name in result:
        assert result.segments[name].prior_source == "estimated"
        alone = pulens.evaluate(
            rows(12_000).filter(polars.col("site") == name), scenario="single-set", labelling="random"
        )
        assert result[name].class_prior.value == alone.class_prior.value


@pytest.mark.parametrize("given", [0.2, (0.15, 0.25)])
def test_one_class_prior_needs_one_sample(given):
    with pytest.raises(pulens.PulensError, match="nothing says how its positives divide among segments"):
        evaluate_by(rows(), "site", class_prior=given, scenario="case-control", labelling="random")


def test_an_audit_of_all_rows_is_implied_too_and_one_per_segment_is_each_s_own():
    whole = evaluate_by(rows(), "site", audit=(30, 200), scenario="single-set", labelling="random")
    assert {segment.prior_source for segment in whole.segments.values()} == {"implied"}
    assert whole["south"].class_prior.value > 4 * whole["north"].class_prior.value
    audits = {"north": (2, 100), "south": (35, 100), "west": (15, 100)}
    each = evaluate_by(rows(), "site", audit=audits, scenario="single-set", labelling="random")
    assert each["south"].class_prior.value > each["west"].class_prior.value > each["north"].class_prior.value


def test_all_segments_share_one_threshold_unless_each_chooses():
    given = {"class_prior": PRIORS, "scenario": "single-set"}
    shared = evaluate_by(rows(), "site", **given, labelling="random")
    assert len({evaluation.threshold for evaluation in shared.values()}) == 1
    assert "best F1 on the rows of all segments together" in shared.threshold_words
    each = evaluate_by(rows(), "site", **given, threshold="each", labelling="random")
    assert len({evaluation.threshold for evaluation in each.values()}) == 3
    with pytest.raises(pulens.PulensError, match="threshold must be a number, 'each'"):
        evaluate_by(rows(), "site", **given, threshold="best", labelling="random")


def test_the_table_s_numbers_are_those_of_the_evaluation_behind_it():
    result = evaluate_by(
        rows(), "site", class_prior=sum(PRIORS.values()) / 3, scenario="single-set", threshold=1.0, labelling="random"
    )
    for name, segment in result.segments.items():
        assert "_doubts" not in vars(segment.evaluation), "what was drawn is let go: a table may have 100,000 segments"
        for metric, estimate in segment.estimates.items():
            alone = result[name].estimates[metric]
            assert estimate.value == alone.value
            tolerance = 0.05 * alone.interval.width if metric == "roc_auc" else 1e-12
            assert estimate.interval.low == pytest.approx(alone.interval.low, abs=tolerance)
            assert estimate.interval.high == pytest.approx(alone.interval.high, abs=tolerance)


def test_segments_survive_pickling():
    result = evaluate_by(rows(), "site", class_prior=PRIORS, scenario="single-set", threshold=1.0, labelling="random")
    assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()


def test_metrics_are_those_asked_for():
    asked = ("f1", "average_precision")
    result = evaluate_by(
        rows(), "site", class_prior=PRIORS, scenario="single-set", threshold=1.0, metrics=asked, labelling="random"
    )
    assert tuple(result.to_dict()["segments"][0]["estimates"]) == asked
    assert "Average precision" in result.to_markdown()
    with pytest.raises(pulens.PulensError, match="recal"):
        evaluate_by(rows(), "site", class_prior=PRIORS, scenario="single-set", metrics=["recal"], labelling="random")


def test_undefined_numbers_and_no_intervals_are_shown():
    result = evaluate_by(
        rows(), "site", class_prior=PRIORS, scenario="single-set", threshold=99.0, confidence=None, labelling="random"
    )
    assert "undefined" in str(result)
    assert "undefined" in result.to_html()


def test_markdown_takes_names_as_they_are():
    table = rows().with_columns(polars.col("site").replace("north", "a|b*<i>"))
    priors = {**PRIORS, "a|b*<i>": 0.05}
    text = evaluate_by(
        table, "site", class_prior=priors, scenario="single-set", threshold=1.0, labelling="random"
    ).to_markdown()
    assert "| a\\|b\\*\\<i\\> |" in text


def test_a_column_of_class_priors_is_read_from_every_kind_of_table(tmp_path):
    import duckdb
    import sqlalchemy

    table = rows().with_columns(polars.col("site").replace_strict(PRIORS).alias("prior"))
    kept = table.to_pandas()
    file = tmp_path / "scores.parquet"
    table.write_parquet(file)
    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM kept")
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'x.sqlite'}")
    kept.to_sql("t", engine)
    places = [(table, {}), (kept, {}), (table.lazy(), {}), (file, {}), (engine, {"table": "t"})]
    places.append((f"duckdb:///{tmp_path / 'x.db'}", {"table": "t"}))
    asked = {"class_prior_column": "prior", "scenario": "single-set", "threshold": 1.0}
    answers = [
        evaluate_by(source, "site", **options, **asked, labelling="random").to_dict() for source, options in places
    ]
    assert all(answer == answers[0] for answer in answers)
    assert [segment["class_prior"]["value"] for segment in answers[0]["segments"]] == list(PRIORS.values())


def test_a_column_of_class_priors_must_be_constant_and_stands_alone():
    table = rows().with_columns(polars.lit(0.2).alias("prior"))
    broken = table.with_columns(polars.when(polars.col("label") == 1).then(0.3).otherwise(0.2).alias("prior"))
    with pytest.raises(pulens.PulensError, match="must hold one number in each segment of 'site', got numbers from"):
        evaluate_by(broken, "site", class_prior_column="prior", scenario="single-set", labelling="random")
    with pytest.raises(pulens.PulensError, match=r"class_prior=0\.2 says something else of it: give one of them"):
        evaluate_by(
            table, "site", class_prior_column="prior", class_prior=0.2, scenario="single-set", labelling="random"
        )
    empty = polars.when(polars.int_range(polars.len()) < 3).then(None).otherwise(0.2)
    missing = table.with_columns(empty.alias("prior"), site=polars.lit("all"))
    with pytest.raises(pulens.PulensError, match="3 rows without a number in the segment"):
        evaluate_by(missing, "site", class_prior_column="prior", scenario="single-set", labelling="random")


def test_many_segments_are_found_in_one_pass():
    """A table of 3,000 segments: each row was looked at once per segment before, nine million times in all."""
    n = 12_000
    table = polars.DataFrame({"score": np.arange(n) % 97, "label": np.arange(n) % 4 == 0, "site": np.arange(n) // 4})
    from pulens.inputs import read_tallies

    tallies = read_tallies(table, group_by="site")
    assert len(tallies) == 3000
    assert list(tallies)[:3] == [0, 1, 2]
    assert {tally.totals.rows for tally in tallies.values()} == {4.0}


def test_a_segment_nobody_labelled_is_said_to_raise_the_others():
    label = polars.when(polars.col("site") == "west").then(0).otherwise(polars.col("label"))
    table = rows().with_columns(label.alias("label"))
    result = evaluate_by(table, "site", class_prior=0.2, scenario="single-set", threshold=1.0, labelling="random")
    assert "no labelled positive" in result.skipped["west"]
    assert "leave its rows out, or the class priors of all others are too high" in result.skipped["west"]


def test_a_missing_file_is_called_missing(tmp_path):
    with pytest.raises(pulens.PulensError, match=r"nothing\.csv.*(no such file|does not exist|not found)"):
        evaluate_by(str(tmp_path / "nothing.csv"), "site", class_prior=0.2, scenario="single-set", labelling="random")


def many_segments(many=130):
    rng = np.random.default_rng(8)
    site = np.repeat(np.arange(many), 40)
    positive = rng.random(site.size) < 0.3
    labels = (positive & (rng.random(site.size) < 0.4)).astype(int)
    table = polars.DataFrame({"score": rng.normal(1.5 * positive), "label": labels, "site": site})
    return evaluate_by(table, "site", class_prior=0.3, scenario="single-set", threshold=1.0, labelling="random")


def test_of_many_segments_the_table_shows_the_ends_and_says_where_the_rest_is():
    result = many_segments()
    assert len(str(result).splitlines()) <= 24
    assert "6 of 130 segments: lowest and highest ROC AUC" in str(result)
    text = segments_text(result, explain=True)
    assert len(text.splitlines()) < 110
    assert "130 segments: the 10 with the lowest ROC AUC" in " ".join(text.split())
    assert "All of them are in the JSON" in " ".join(text.split())
    assert len(result.to_dict()["segments"]) == len(result) == 130


def test_explained_segments_have_a_line_each_and_a_warning_that_names_the_others():
    """Two lines per segment under heads of two lines, and "116 segments (0, 1, 2, 3 and 112 more), such as 0: Only"."""
    text = segments_text(many_segments(12), "command", explain=True)
    heads = [line.split() for line in text.splitlines() if line.startswith("site ")]
    assert heads[0] == ["site", "labelled", "ROC", "AUC", "Precision", "Recall"]
    assert heads[1] == ["site", "unlabelled", "class", "prior", "from"]
    assert len([line for line in text.splitlines() if line.startswith("11 ")]) == 2
    said = " ".join(text.split())
    assert "such as" not in said
    assert re.search(r"warning: site \d+: .* Likewise \d+ more segments \(", said)
    assert 'scenario="case-control"' not in said


@pytest.mark.parametrize("indented", [1_000, 10])
def test_json_in_pieces_is_the_whole_answer(indented, monkeypatch):
    import json

    from pulens.report import segments_json

    monkeypatch.setattr(segments_json, "INDENTED", indented)
    result = many_segments(30)
    text = "".join(segments_json.json_parts(result))
    assert json.loads(text) == result.to_dict()
    if indented == 1_000:
        assert text == json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def test_an_assumption_that_cannot_be_is_refused_before_any_row_is_read():
    with pytest.raises(pulens.PulensError, match=r"^label_noise must be a number of at least 0 and below 1, got 2"):
        evaluate_by("nothing.csv", "site", class_prior=0.3, label_noise=2, labelling="random")


def test_the_text_begins_with_the_worst_segment_or_that_none_differs():
    """A table of numbers left it to the reader which segment is worst, and whether that is more than chance."""
    rng = np.random.default_rng(3)
    site = np.repeat(["good", "bad", "fine"], 1500)
    positive = rng.random(4500) < 0.3
    labels = (positive & (rng.random(4500) < 0.5)).astype(int)
    shift = np.where(site == "bad", 0.3, 3.0)
    told = {}
    for name, by in (("apart", shift), ("alike", 2.0)):
        table = polars.DataFrame({"score": rng.normal(by * positive), "label": labels, "site": site})
        priors = dict.fromkeys(("good", "bad", "fine"), 0.3)
        told[name] = str(
            evaluate_by(table, "site", class_prior=priors, scenario="single-set", threshold=1.0, labelling="random")
        )
    assert told["apart"].startswith("Worst: bad, with ")
    assert told["alike"].startswith("No clear difference between the segments of site (")
    for text in told.values():
        assert len(text.splitlines()) <= 24
        assert max(map(len, text.splitlines())) <= 80


def test_one_door_takes_what_segments_need():
    columns = {"score": [0.9, 0.8, 0.3, 0.2] * 20, "label": [1, 0, 0, 0] * 20, "site": ["a"] * 40 + ["b"] * 40}
    table = polars.DataFrame(columns)
    by = pulens.evaluate(table, group_by="site", class_prior=0.4, same_prior=True, metrics=["recall"])
    assert by.says_same_prior
    assert len(by) == 2
    with pytest.raises(pulens.PulensError, match="same_prior= is for segments: name their column with group_by="):
        pulens.evaluate(table, class_prior=0.4, same_prior=True)


def people_with_three_rows(seed=0, people=300):
    """Labels favour high scores, so that random ones leave part of a range of class priors impossible."""
    rng = np.random.default_rng(seed)
    positive = rng.random(people) < 0.4
    scores = rng.normal(1.5 * positive)
    labels = positive & (rng.random(people) < np.where(scores > 1.5, 0.6, 0.1))
    half = np.where(rng.random(people) < 0.5, "north", "south")
    each = polars.DataFrame({"score": scores, "label": labels.astype(int), "person": np.arange(people), "half": half})
    return polars.concat([each] * 3).with_columns(site=polars.lit("here"))


@pytest.mark.parametrize("clusters", [{}, {"cluster": "person"}], ids=["rows", "people"])
@pytest.mark.parametrize("labelling", ["random", "practice"])
@pytest.mark.parametrize("threshold", [1.0, None])
def test_a_range_of_class_priors_is_cut_alike_in_one_segment_and_in_all_rows(clusters, labelling, threshold):
    frame = people_with_three_rows()
    asked = {"class_prior": (0.2, 0.5), "threshold": threshold, "labelling": labelling, "redraws": 100, **clusters}
    whole, segments = pulens.evaluate(frame, **asked), evaluate_by(frame, "site", **asked)
    own = segments["here"]
    assert own.class_prior == whole.class_prior
    assert own.threshold == whole.threshold
    assert ("cut to what random labels allow" in own.class_prior.method) == (labelling == "random")
    for name in ("precision", "f1"):
        assert segments.segments["here"].estimates[name] == whole.estimates[name]


@pytest.mark.parametrize("clusters", [{}, {"cluster": "person"}], ids=["rows", "people"])
@pytest.mark.parametrize("labelling", ["random", "practice"])
def test_class_priors_of_segments_follow_from_that_which_all_rows_are_evaluated_with(clusters, labelling):
    frame = people_with_three_rows()
    asked = {"class_prior": (0.2, 0.5), "threshold": 1.0, "labelling": labelling, "confidence": None, **clusters}
    whole = pulens.evaluate(frame, **asked)
    assert f"(overall {whole.class_prior})" in evaluate_by(frame, "half", **asked).prior_words
