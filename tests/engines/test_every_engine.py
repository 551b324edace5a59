"""One test body for every place that rows can live in: the counts are the same to the bit."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from engines_places import EVERYWHERE, INSIDE_AN_ENGINE
from pulens.counts.joint import JointTally
from pulens.counts.tally import Tally
from pulens.errors import InputError
from pulens.inputs import read_joint, read_tallies, read_tally
from pulens.inputs.engines import drive

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),  # how Ibis asks DuckDB
]

SIZE = 400


def table(seed: int = 0) -> dict[str, list]:
    """Ties, both zeros, tiny and huge scores; labels as numbers and as words; whole weights; segments with null."""
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=SIZE), 2)
    scores[:8] = [0.0, -0.0, 0.1 + 0.2, 0.3, 1e-300, -1e300, 1e300, 123456.78901234567]
    labels = rng.choice([1, 0, -1], SIZE, p=[0.2, 0.7, 0.1])
    words = np.array(["cleared", "", "fraud"], object)[labels + 1]
    return {
        "score": scores.tolist(),
        "label": labels.tolist(),
        "status": [word or None for word in words],
        "weight": rng.integers(0, 4, SIZE).astype(float).tolist(),
        "segment": rng.choice(["north", "south", None], SIZE).tolist(),
    }


def same(got: Tally, expected: Tally) -> None:
    for name in ("thresholds", "labelled", "unlabelled", "negative"):
        mine, theirs = getattr(got, name), getattr(expected, name)
        assert mine.dtype == theirs.dtype, name
        np.testing.assert_array_equal(mine, theirs, err_msg=name)
    assert got == expected


@pytest.mark.parametrize("put", EVERYWHERE, indirect=True)
def test_counts_are_the_same_to_the_bit(put):
    columns = table()
    source, where = put(columns)
    labels, scores, weights = (columns[name] for name in ("label", "score", "weight"))
    expected = read_tally(labels, scores)
    same(read_tally(source, **where), expected)
    words = {"label": "status", "positive": "fraud", "negative": "cleared"}
    same(read_tally(source, **words, **where), expected)
    same(read_tally(source, weight="weight", **where), read_tally(labels, scores, weights=weights))


@pytest.mark.parametrize("put", [place for place in EVERYWHERE if place not in ("csv", "parquet")], indirect=True)
def test_segments_are_counted_in_one_go_and_add_up(put):
    columns = table(1)
    source, where = put(columns)
    result = read_tallies(source, group_by="segment", **where)
    assert list(result) == ["north", "south", None]
    for segment, tally in result.items():
        mine = [place for place, value in enumerate(columns["segment"]) if value == segment]
        same(tally, read_tally([columns["label"][i] for i in mine], [columns["score"][i] for i in mine]))


@pytest.mark.parametrize("put", INSIDE_AN_ENGINE, indirect=True)
def test_binned_counts_are_exact_at_their_thresholds_and_refined_to_the_tolerance(put, monkeypatch):
    rng = np.random.default_rng(2)
    scores = np.concatenate([rng.random(150), 0.5 + rng.random(250) * 1e-4])  # many rows in few cells
    labels = rng.choice([1, 0], 400, p=[0.3, 0.7])
    source, where = put({"score": scores.tolist(), "label": labels.tolist()})
    exact = read_tally(labels, scores)
    monkeypatch.setattr(drive, "EXACT_ROWS", 40)
    monkeypatch.setattr(drive, "CELL_BITS", 4)
    sizes = []
    for tolerance in (0.05, 0.002):
        tally = read_tally(source, tolerance=tolerance, **where)
        assert max(errors.sum() for errors in drive.pair_errors(tally)) <= tolerance
        for place, threshold in enumerate(tally.thresholds):
            assert exact.at(threshold)[:2] == (tally.labelled[place], tally.unlabelled[place])
        sizes.append(len(tally))
    assert sizes[0] < sizes[1] < len(exact)
    same(read_tally(source, tolerance=0, **where), exact)


@pytest.mark.parametrize("put", INSIDE_AN_ENGINE, indirect=True)
@pytest.mark.parametrize("bad", [None, float("nan"), float("inf"), -float("inf")])
def test_scores_that_are_no_finite_numbers_are_refused(put, bad, request):
    source, where = put({"score": [0.5, bad, 0.25, 0.75], "label": [1, 0, 0, 1]})
    with pytest.raises(
        InputError, match=r"scores \(column 'score'\) must be finite numbers, got .* \(1 such row of 4\)"
    ):
        read_tally(source, **where)


@pytest.mark.parametrize("put", INSIDE_AN_ENGINE, indirect=True)
def test_bad_columns_and_labels_are_named(put):
    source, where = put({"p": [0.5, 0.4, 0.3, 0.2], "y": ["yes", "no", "maybe", None], "w": [1.0, -1.0, 1.0, 1.0]})
    columns = {"score": "p", "label": "y", **where}
    with pytest.raises(InputError, match=r"neither a column 'label' .* nor 'score' .*; the columns are"):
        read_tally(source, **where)
    with pytest.raises(InputError, match="undeclared label value 'maybe'"):
        read_tally(source, **columns, positive="yes", unlabelled="no")
    with pytest.raises(InputError, match=r"scores \(column 'y'\) must be"):
        read_tally(source, score="y", label="y", positive="yes", **where)
    with pytest.raises(InputError, match=r"weights \(column 'w'\) must be finite numbers of at least 0"):
        read_tally(source, **columns, weight="w", positive="yes")
    with pytest.raises(InputError, match=r"no labelled positive among 4 rows|no label is 'fraud'"):
        read_tally(source, **columns, positive="fraud")
    evaluation = pulens.evaluate(source, **columns, positive="yes", class_prior=0.4, labelling="random")
    assert evaluation.tally.totals == (1, 3, 0)


@pytest.mark.parametrize("put", EVERYWHERE, indirect=True)
def test_combinations_of_scores_are_counted_and_their_margins_are_the_tallies(put):
    columns = table(3)
    rng = np.random.default_rng(4)
    columns |= {"a": rng.integers(0, 9, SIZE).astype(float).tolist(), "b": np.round(rng.random(SIZE), 1).tolist()}
    source, where = put(columns)
    joint = read_joint(source, score=["a", "b"], **where)
    expected = JointTally.from_rows({name: columns[name] for name in ("a", "b")}, np.array(columns["label"]))
    assert joint == expected
    for name in ("a", "b"):
        same(joint.tally(name), read_tally(source, score=name, **where))


def test_a_joint_tally_needs_two_scores_and_checks_each():
    import polars as pl

    frame = pl.DataFrame({"a": [0.5, 0.25], "b": [0.5, float("nan")], "label": [1, 0]}).lazy()
    with pytest.raises(InputError, match="two or more different columns of scores, got 'a'"):
        read_joint(frame, score="a")
    with pytest.raises(InputError, match=r"scores \(column 'b'\) must be finite numbers, got nan"):
        read_joint(frame, score=["a", "b"])


def test_joint_tallies_add_up():
    rng = np.random.default_rng(5)
    scores = {name: rng.integers(0, 4, 100).astype(float) for name in ("a", "b", "c")}
    labels = rng.choice([1, 0, -1], 100)
    halves = [
        JointTally.from_rows({name: values[part] for name, values in scores.items()}, labels[part])
        for part in (slice(0, 30), slice(30, None))
    ]
    assert halves[0] + halves[1] == halves[1] + halves[0] == JointTally.from_rows(scores, labels)


@pytest.mark.parametrize("put", EVERYWHERE, indirect=True)
def test_what_minus_one_means_is_asked_where_no_row_is_unlabelled(put):
    labels = [1, -1, -1, 1, -1]
    source, where = put({"score": [0.5, 0.25, 0.75, 1.0, 0.0], "label": labels, "text": [str(y) for y in labels]})
    for label in ("label", "text"):
        with pytest.raises(InputError, match=r"-1 and neither 0 nor null.*negative=-1 or unlabelled=-1"):
            read_tally(source, label=label, **where)
        assert read_tally(source, label=label, unlabelled=-1, **where).totals == (2, 3, 0)
        assert read_tally(source, label=label, negative=-1, **where).totals == (2, 0, 3)
        with pytest.raises(InputError, match=r"undeclared label value '?1'?, "):
            read_tally(source, label=label, positive=2, unlabelled=-1, **where)


@pytest.mark.parametrize("put", EVERYWHERE, indirect=True)
def test_whole_numbers_that_a_double_cannot_tell_apart_are_refused(put):
    source, where = put({"score": [2**53 + 1, 2**53, 7, -5], "label": [1, 0, 0, 1], "kept": [2**53, 2**53 - 1, 7, -5]})
    with pytest.raises(InputError, match=r"whole numbers up to 2\^53 = 9007199254740992, got 9007199254740993"):
        read_tally(source, **where)
    with pytest.raises(InputError, match="got 9007199254740993"):
        read_joint(source, score=["kept", "score"], **where)
    assert read_tally(source, score="kept", **where).thresholds.tolist() == [2**53, 2**53 - 1, 7, -5]
