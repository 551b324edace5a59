"""pulens.fit: scores of rows that a model had not seen, judged against a truth that nobody told it."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.learners import BoostedPU, ElkanNoto

import pulens
from pulens.errors import InputError
from pulens.inputs.typed_columns import Typing, typed_table
from pulens.learning.fitting.folds import deal_folds
from pulens.learning.fitting.leaks import leak_notices
from pulens.learning.fitting.priors import training_prior

QUICK = BoostedPU(n_estimators=4, iterations=10, random_trees=10)


@pytest.mark.slow
def test_bank_marketing_as_it_is_published(shared):
    """The journey of a newcomer: words and numbers as they come, a third of the positives labelled."""
    parquet = pytest.importorskip("pyarrow.parquet")
    whole = parquet.read_table(shared / "data" / "bank_marketing.parquet")
    rng = np.random.default_rng(0)
    table = whole.take(np.sort(rng.permutation(whole.num_rows)[:2500]))
    positive = np.array(table["y"].to_pylist()) == "yes"
    labels = (positive & (rng.random(2500) < 0.4)).astype(int)
    known = {"class_prior": (0.09, 0.14), "folds": 2, "redraws": 100, "method": QUICK}
    result = pulens.fit(table.drop_columns(["y"]), labels, **known)
    assert sorted(result.columns.values()) == ["category"] * 9 + ["number"] * 7
    flagged = result.scores >= result.evaluation.threshold
    truth = {"recall": flagged[positive].mean(), "precision": positive[flagged].mean()}
    truth["roc_auc"] = np.mean(result.scores[positive][:, None] > result.scores[~positive])
    assert truth["roc_auc"] > 0.8
    for name, true in truth.items():
        interval = result.evaluation.estimates[name].interval
        assert interval.low <= true <= interval.high, name


def test_no_row_is_scored_by_a_model_that_saw_it():
    """Labels of noise: scores of seen rows would look good, those of unseen ones do not."""
    rng = np.random.default_rng(1)
    table = {"a": rng.normal(size=300), "b": rng.choice(["x", "y", "z"], 300)}
    labels = (rng.random(300) < 0.3).astype(int)
    result = pulens.fit(table, labels, method=QUICK, class_prior=0.5, folds=3, confidence=None)
    assert abs(result.evaluation.uncorrected["roc_auc"].value - 0.5) < 0.1
    seen = result.model.predict_proba(table)[:, 1]
    assert np.mean(seen[labels == 1][:, None] > seen[labels == 0]) > 0.65


def test_a_column_that_counts_rows_is_left_out_of_every_fold():
    """Rows sorted by label: in a fold the count has holes, and would give the labels away all the same."""
    rng = np.random.default_rng(4)
    table = {"row": list(range(200)), "a": rng.normal(size=200)}
    labels = np.repeat([1, 0], [60, 140])
    result = pulens.fit(table, labels, method=QUICK, class_prior=0.5, folds=2, confidence=None)
    assert list(result.left_out) == ["row"]
    assert result.evaluation.uncorrected["roc_auc"].value < 0.65


def test_folds_hold_both_kinds_evenly_and_never_split_a_group():
    rng = np.random.default_rng(2)
    labelled = rng.random(100) < 0.3
    alone = deal_folds(labelled, 5, 0, None)
    assert np.ptp(np.bincount(alone[labelled])) <= 1
    groups = np.repeat(np.arange(25), 4)
    together = deal_folds(labelled, 5, 0, groups)
    assert all(np.unique(together[groups == group]).size == 1 for group in range(25))


@pytest.mark.slow
def test_a_class_prior_is_estimated_without_rows_of_the_same_cluster():
    rng = np.random.default_rng(3)
    positive = np.repeat(rng.random(100) < 0.4, 3)
    table = {"a": rng.normal(3 * positive), "patient": np.repeat(np.arange(100), 3)}
    labels = (positive & (rng.random(300) < 0.6)).astype(int)
    learner = ElkanNoto(class_prior="auto", random_state=0)
    result = pulens.fit(table, labels, method=learner, cluster="patient", folds=2, confidence=None)
    assert list(result.columns) == ["a"]
    assert isinstance(result.model[-1].class_prior, float)


@pytest.mark.parametrize(
    ("given", "audit", "expected"),
    [
        (0.3, None, 0.3),
        ((0.2, 0.4), None, (0.2, 0.4)),
        ("dedpul", None, "dedpul"),
        (None, None, None),
        (None, (9, 99), 0.1 + 0.9 * 9.5 / 100),  # the labelled tenth, and of the others what the audit found
    ],
)
def test_the_learner_trains_with_what_the_evaluation_is_told(given, audit, expected):
    prior, told = training_prior(given, audit, "single-set", 100, 1000, BoostedPU)
    assert prior == (pytest.approx(expected) if isinstance(expected, float) else expected)
    assert told == ()


def test_a_learner_of_one_class_prior_gets_the_middle_of_a_range_and_says_so():
    prior, told = training_prior((0.2, 0.4), None, "single-set", 100, 1000, ElkanNoto)
    assert prior == pytest.approx(0.3)
    assert "given the middle of the range, 0.3" in str(told[0])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.arange(40.0), "every labelled row lies below every other"),
        (-np.arange(40.0), "every labelled row lies above every other"),
        (["sold"] * 12 + ["open", "new"] * 14, "no value of the labelled rows occurs in any other"),
        ([None] * 12 + [1.0] * 28, "it is empty in the labelled rows"),
        ([1.0, 2.0] * 20, None),
        ([f"name {row}" for row in range(40)], None),  # identifiers are left out, and told otherwise
    ],
)
def test_columns_that_give_the_labels_away_are_told(values, words):
    table = typed_table({"x": list(values)}, Typing())
    told = [str(notice) for notice in leak_notices(table, np.arange(40) < 12)]
    assert (words is None and not told) or words in told[0]


def test_a_repeated_id_and_labels_of_another_length_are_told():
    table = {"a": [row % 7 for row in range(40)], "who": [row // 2 for row in range(40)]}
    labels = [1, 0] * 20
    result = pulens.fit(table, labels, id="who", method=ElkanNoto(random_state=0), class_prior=0.6, folds=2)
    assert "ids-repeat" in [notice.code for notice in result.evaluation.notices]
    with pytest.raises(InputError, match="there are 40 rows but 41 labels"):
        pulens.fit(table, [*labels, 0], class_prior=0.6)


def test_a_truth_value_among_numbers_is_named():
    """It is read as 1 where the column is known to hold numbers, and nobody guesses where it is not."""
    with pytest.raises(InputError, match=r"column 'age' must hold numbers, .* got True in .* \(1 such row\)"):
        Typing().column("age", [1.5, 2.0, None, True])
