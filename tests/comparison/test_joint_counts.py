"""Models are compared on counts per combination of scores: where the rows lie, and in which order, does not matter."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.comparison import redraws as counting
from pulens.comparison.joint import JointCounts, read_models
from pulens.comparison.redraws import View
from pulens.counts.joint import JointTally
from pulens.errors import InputError
from pulens.inputs import read_joint
from pulens.inputs.tally_files import TallyFile, write_tally_file
from pulens.scenario import Scenario

SETTINGS = {"class_prior": 0.3, "redraws": 100}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    positive = rng.random(500) < 0.3
    labels = (positive & (rng.random(500) < 0.5)).astype(int)
    return labels, {name: np.round(rng.normal(positive * by), 1) for name, by in (("a", 2.0), ("b", 0.5), ("c", 1.0))}


def test_the_order_of_the_rows_does_not_matter(rows):
    labels, models = rows
    order = np.random.default_rng(1).permutation(labels.size)
    there = pulens.compare(labels, models, **SETTINGS, labelling="random")
    back = pulens.compare(
        labels[order], {name: scores[order] for name, scores in models.items()}, **SETTINGS, labelling="random"
    )
    assert there.to_dict() == back.to_dict()


def test_a_joint_tally_is_compared_as_its_rows_are(rows, tmp_path):
    labels, models = rows
    joint = JointTally.from_rows(models, labels)
    write_tally_file(tmp_path / "x.tally", TallyFile.of(joint))
    expected = pulens.compare(labels, models, **SETTINGS, labelling="random").to_dict()
    assert pulens.compare(joint, **SETTINGS, labelling="random").to_dict() == expected
    assert pulens.compare(tmp_path / "x.tally", **SETTINGS, labelling="random").to_dict() == expected
    two = pulens.compare(labels, {name: models[name] for name in ("c", "a")}, **SETTINGS, labelling="random").to_dict()
    assert pulens.compare(joint, score=["c", "a"], **SETTINGS, labelling="random").to_dict() == two


def test_one_score_of_a_joint_tally_is_evaluated_as_its_rows_are(rows, tmp_path):
    labels, models = rows
    joint = JointTally.from_rows(models, labels)
    write_tally_file(tmp_path / "x.tally", TallyFile.of(joint))
    expected = pulens.evaluate(labels, models["b"], class_prior=0.3, labelling="random").to_dict()
    assert pulens.evaluate(joint, score="b", class_prior=0.3, labelling="random").to_dict() == expected
    assert (
        pulens.evaluate(str(tmp_path / "x.tally"), score="b", class_prior=0.3, labelling="random").to_dict() == expected
    )
    for source in (joint, tmp_path / "x.tally"):
        with pytest.raises(InputError, match=r"no score 'score' in this joint tally, which holds 'a', 'b', 'c'"):
            pulens.evaluate(source, class_prior=0.3, labelling="random")


@pytest.mark.parametrize("scenario", list(Scenario))
def test_redraws_by_cell_spread_as_redraws_by_row(rows, monkeypatch, scenario):
    """Means and variances of every count: those of the multinomial distribution, on both roads."""
    labels, models = rows
    labels = labels.copy()
    labels[:40] = -1
    joint = read_models(labels, {name: np.round(models[name]) for name in ("a", "b")}).joint
    kinds = [joint.labelled, joint.unlabelled, joint.negative]
    assert joint.totals.rows > 8 * len(joint)  # the quick road by itself
    spread = {}
    for road, limit in (("by cell", 0), ("by row", 10**9)):
        monkeypatch.setattr(counting, "ROWS_PER_CELL", limit)
        paired = JointCounts(joint).paired(scenario)
        view = View.of(paired, "a", joint.tally("a"), np.nan, 10**9)
        drawn = paired.redraws(3000, np.random.default_rng(0))
        spread[road] = np.array([view.above(each)[0, 3] for each in drawn])
    first = joint.tally("a").thresholds[3]
    inside = joint.column("a") >= first
    for place, kind in enumerate(kinds):
        total = sum(one.sum() for one in kinds) if scenario is Scenario.SINGLE_SET else kind.sum()
        share = kind[inside].sum() / total
        for result in spread.values():
            deviation = np.sqrt(total * share * (1 - share))
            assert result[:, place].mean() == pytest.approx(total * share, abs=4 * deviation / np.sqrt(3000))
            assert result[:, place].std() == pytest.approx(deviation, rel=0.08)


def test_a_billion_rows_of_few_scores_are_redrawn_in_no_time(rows):
    labels, models = rows
    joint = JointTally.from_rows({name: np.round(models[name]) for name in ("a", "b")}, labels)
    many = JointTally(joint.names, joint.scores, *(2_000_000 * kind for kind in (joint.labelled, joint.unlabelled)),
                      joint.negative, joint.types)  # fmt: skip
    assert many.totals.rows == 1e9
    comparison = pulens.compare(many, **SETTINGS, labelling="random")
    assert comparison.winner == "a"
    assert comparison.difference("a", "b").interval.width < 1e-3


def test_rows_of_one_kind_are_refused_wherever_they_lie(tmp_path):
    import polars as pl

    frame = pl.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.1], "label": [1, 1]})
    frame.write_csv(tmp_path / "x.csv")
    for source in (frame, frame.lazy(), tmp_path / "x.csv"):
        with pytest.raises(InputError, match="all 2 rows are labelled positive"):
            pulens.compare(source, score=["a", "b"], **SETTINGS, labelling="random")
        assert read_joint(source, score=["a", "b"], allow_one_kind=True).totals == (2, 0, 0)


def test_conditions_beside_arrays_are_refused(rows):
    with pytest.raises(InputError, match="where='a > 0' is for databases and files"):
        pulens.compare(*rows, where="a > 0", **SETTINGS, labelling="random")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scores": np.array([[np.nan, 1.0]])}, "scores must be finite numbers, got nan"),
        ({"scores": np.array([[1.0]])}, r"one column of scores per name, got shape \(1, 1\) for 'a', 'b'"),
        ({"labelled": np.array([-1])}, r"counts \(labelled rows\) must be at least 0, got -1"),
        ({"unlabelled": np.array([0.5])}, "one whole number of unlabelled rows per combination"),
        ({"negative": np.array([1, 2])}, "one whole number of known negative rows per combination"),
    ],
)
def test_counts_that_no_rows_could_have_given_are_refused(change, said):
    good = {"scores": np.array([[1.0, 2.0]]), **dict.fromkeys(("labelled", "unlabelled", "negative"), np.array([1]))}
    joint = JointTally(("a", "b"), **(good | change))
    with pytest.raises(InputError, match=said):
        pulens.compare(joint, **SETTINGS, labelling="random")
    with pytest.raises(InputError, match=said):
        pulens.evaluate(joint, score="a", class_prior=0.3, labelling="random")
