"""The first k rows of every query: exact with ties, one query is one list, queries are what intervals leave out."""

from __future__ import annotations

import itertools
import json
import math
import pickle

import numpy as np
import polars
import pytest

import pulens
from pulens.cli import main
from pulens.errors import InputError, PulensError
from pulens.evaluation.top import top_of_queries
from pulens.evidence import gather
from pulens.inputs import ReadOptions
from pulens.inputs.queries import read_queries
from pulens.metrics.parts.top_per_query import MACRO, FirstRowsOfQueries

LABELS = [1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0]
SCORES = [3, 3, 2, 2, 1, 2, 2, 1, 1, 3, 2]
IDS = ["a"] * 5 + ["b"] * 4 + ["c"] * 2


def per_query(labels, scores, ids, k, **given):
    evidence = gather(labels, scores, **given)
    return top_of_queries(evidence, read_queries(labels, scores, ids, ReadOptions(negative=given.get("negative"))), k)


def in_every_order(labels, scores, k):
    """Mean hits and mean gain of the first k rows over all orders that the scores allow."""
    hits, gains, orders = 0.0, 0.0, 0
    for order in itertools.permutations(range(len(labels))):
        if any(scores[one] < scores[two] for one, two in itertools.pairwise(order)):
            continue
        first = [labels[row] for row in order[:k]]
        hits += sum(first)
        gains += sum(label / math.log2(place + 2) for place, label in enumerate(first))
        orders += 1
    return hits / orders, gains / orders


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_ties_within_queries_are_the_mean_over_all_orders(k):
    known = [1 if label else -1 for label in LABELS]
    result = per_query(known, SCORES, IDS, k, negative=-1)
    parts = []
    for query in "abc":
        rows = [row for row, name in enumerate(IDS) if name == query]
        parts.append((*in_every_order([LABELS[row] for row in rows], [SCORES[row] for row in rows], k), len(rows)))
    hits, gains = np.array([part[0] for part in parts]), np.array([part[1] for part in parts])
    assert result["recall_at_k"].value == pytest.approx(hits.sum() / 3, abs=1e-14)
    assert result[MACRO].value == pytest.approx((hits[0] / 2 + hits[1] / 1) / 2, abs=1e-14)  # c has no positive
    assert result["precision_at_k"].value == pytest.approx(hits.mean() / k, abs=1e-14)  # and counts as 0 here
    assert result["dcg_at_k"].value == pytest.approx(gains.mean(), abs=1e-14)
    best = [sum(1 / math.log2(place + 2) for place in range(min(k, many))) for many in (2, 1)]
    assert result["ndcg_at_k"].value == pytest.approx((gains[0] / best[0] + gains[1] / best[1]) / 2, abs=1e-14)
    assert result.short == sum(k > length for *_, length in parts)


@pytest.mark.parametrize(
    "given",
    [
        {"class_prior": 0.5},
        {"unlabelled_prior": 0.2, "scenario": "case-control"},
        {"unlabelled_prior": 0.2, "scenario": "case-control", "label_noise": 0.1},
    ],
)
@pytest.mark.parametrize("k", [2, 4, 0.5])
def test_one_query_is_one_list(given, k):
    labels, scores = [1, 1, 1, 0, 0, 0, 0, 0], [0.85, 0.65, 0.45, 0.9, 0.7, 0.5, 0.3, 0.2]
    evidence = gather(labels, scores, **given)
    queries = read_queries([*labels, 0], [*scores, 0.1], ["a"] * 8 + ["b"], ReadOptions())
    alone = FirstRowsOfQueries(evidence, type(queries.tallies).of({"a": queries.tallies["a"]}), k)
    result = alone.estimates(None)
    counts = () if given.get("label_noise") else ("recall_at_k", "precision_at_k")  # they fit together over k
    for name in (*counts, "dcg_at_k"):
        whole = getattr(pulens.metrics, name)(labels, scores, k=k, **given).value
        assert result[name].value == pytest.approx(whole, abs=1e-14)
    assert bool(result[MACRO].undefined_because) is bool(given.get("label_noise"))


def test_a_share_of_each_query_is_counted_query_by_query():
    result = per_query(LABELS, SCORES, IDS, "50%", class_prior=0.5)
    assert result.looked_at == 3 + 2 + 1
    assert result.share == pytest.approx(6 / 11)


def test_intervals_leave_out_one_query_at_a_time():
    rng = np.random.default_rng(3)
    ids = np.repeat(np.arange(12), 20)
    labels = (rng.random(240) < 0.15).astype(int)
    scores = rng.normal(labels).round(1)
    evidence = gather(labels, scores, class_prior=0.3)
    rows = FirstRowsOfQueries(evidence, read_queries(labels, scores, ids, ReadOptions()).tallies, 5)
    names = ("recall_at_k", "precision_at_k", "dcg_at_k")
    without = []
    for query in range(12):
        kept = ids != query
        result = per_query(labels[kept], scores[kept], ids[kept], 5, class_prior=0.3)
        without.append([result[name].value for name in names])
    for place, name in enumerate(names):
        result = rows.numbers[name].replicates(evidence.class_prior.unlabelled)
        assert np.sort(result) == pytest.approx(np.sort([row[place] for row in without]), abs=1e-12)


def test_a_difference_of_two_scores_is_surer_than_both():
    rng = np.random.default_rng(5)
    ids = np.repeat(np.arange(40), 20)
    positive = rng.random(800) < 0.25
    labels = (positive & (rng.random(800) < 0.5)).astype(int)
    common = rng.normal(1.2 * positive)
    one, two = (
        pulens.evaluate(
            labels, common + rng.normal(size=800) * noise, per=ids, class_prior=0.25, labelling="random"
        ).top(5, per="query")
        for noise in (0.2, 0.3)
    )
    result = one.less(two)
    for name in ("recall_at_k", MACRO, "precision_at_k", "dcg_at_k"):
        assert result[name].value == pytest.approx(one[name].value - two[name].value, abs=1e-12)
        assert result[name].interval.width < 0.8 * one[name].interval.width
        assert result[name].value in result[name].interval
    assert pickle.loads(pickle.dumps(one)).less(two)["dcg_at_k"] == result["dcg_at_k"]
    backwards = two.less(one)["recall_at_k"].interval
    assert (-backwards.high, -backwards.low) == pytest.approx(
        (result["recall_at_k"].interval.low, result["recall_at_k"].interval.high)
    )
    other = pulens.evaluate(labels[:-20], common[:-20], per=ids[:-20], class_prior=0.25, labelling="random").top(
        5, per="query"
    )
    with pytest.raises(PulensError, match="not counted on the same rows"):
        one.less(other)


def test_arrays_frames_files_and_engines_agree(tmp_path):
    frame = polars.DataFrame({"label": LABELS, "score": [float(score) for score in SCORES], "query": IDS})
    frame.write_csv(tmp_path / "run.csv")
    expected = (
        pulens.evaluate(LABELS, SCORES, per=IDS, class_prior=0.5, labelling="random").top(2, per="query").to_dict()
    )
    assert expected["per"] == "query"
    assert expected["queries"] == 3
    for source in (frame, frame.lazy(), tmp_path / "run.csv"):
        assert (
            pulens.evaluate(source, per="query", class_prior=0.5, labelling="random").top(2, per="query").to_dict()
            == expected
        )


def test_what_has_no_ranks_within_queries_is_refused(tmp_path):
    frame = polars.DataFrame({"label": LABELS, "score": SCORES, "query": IDS, "weight": [1.0] * 11})
    with pytest.raises(InputError, match="not in a tally"):
        pulens.evaluate(gather(LABELS, SCORES, class_prior=0.5).tally, per="query", class_prior=0.5, labelling="random")
    with pytest.raises(InputError, match="ranks within queries need rows"):
        pulens.evaluate(frame, per="query", weight="weight", class_prior=0.5, labelling="random")
    with pytest.raises(InputError, match="queries are the clusters"):
        pulens.evaluate(frame, per="query", cluster="query", class_prior=0.5, labelling="random")
    missing = frame.with_columns(query=polars.Series(["a", None, *IDS[2:]]))
    with pytest.raises(InputError, match="no value in 1 rows"):
        pulens.evaluate(missing, per="query", class_prior=0.5, labelling="random")
    with pytest.raises(PulensError, match="counted without their queries"):
        pulens.evaluate(frame, class_prior=0.5, labelling="random").top(2, per="query")
    with pytest.raises(PulensError, match="identified by 'query'"):
        pulens.evaluate(frame, per="query", class_prior=0.5, labelling="random").top(2, per="user")
    with pytest.raises(PulensError, match="longest list has 5"):
        pulens.evaluate(frame, per="query", class_prior=0.5, labelling="random").top(6, per="query")
    with pytest.raises(InputError, match="one query per row"):
        pulens.evaluate(LABELS, SCORES, per=IDS[:-1], class_prior=0.5, labelling="random")


def test_the_command_leads_with_the_first_rows_of_each_query(tmp_path, capsys):
    frame = polars.DataFrame({"label": LABELS, "score": SCORES, "query": IDS})
    frame.write_csv(tmp_path / "run.csv")
    given = ["evaluate", "--labelling", "random", str(tmp_path / "run.csv"), "--per", "query", "--class-prior", "0.5"]
    main([*given, "--top", "2", "--json", str(tmp_path / "run.json")])
    assert capsys.readouterr().out.startswith("The first 2 rows of each of 3 queries by query")
    told = json.loads((tmp_path / "run.json").read_text())["top"][0]
    assert (told["per"], told["estimates"]["recall_at_k"]["value"]) == ("query", pytest.approx(2 / 3))
    with pytest.raises(SystemExit) as left:
        main(given)
    assert left.value.code == 2
    assert "--top 10" in capsys.readouterr().err


def test_fewer_than_five_queries_with_labels_have_no_interval():
    result = pulens.evaluate(LABELS, SCORES, per=IDS, class_prior=0.5, labelling="random").top(2, per="query")
    assert result["recall_at_k"].interval is None
    assert result["ndcg_at_k"].undefined_because.startswith("the best order of a query")
