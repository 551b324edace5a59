"""Boosted trees for tables: what they accept, and that nobody's own label decides his score."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pulens.learners import BoostedPU, load
from sklearn.metrics import roc_auc_score

from pulens.errors import AssumptionError, InputError
from pulens.learning.learners.parts.bags import BagScores, Size, deal_bags
from pulens.learning.learners.parts.label_weights import label_weights
from pulens.learning.learners.parts.soft_targets import platt, soft_targets
from pulens.learning.learners.parts.training_rows import TrainingRows, copies_together
from pulens.scenario import Scenario


@pytest.fixture(scope="module")
def world():
    """Rows of which half are positive and two in five of these labelled; the second feature says nothing."""
    rng = np.random.default_rng(0)
    positive = rng.random(900) < 0.5
    X = np.column_stack([rng.normal(size=900) + 3 * positive, rng.normal(size=900)])
    return X, (positive & (rng.random(900) < 0.4)).astype(int), positive


@pytest.fixture(scope="module")
def fitted(world):
    return quick(class_prior=0.5).fit(*world[:2])


def quick(**more):
    return BoostedPU(n_estimators=4, iterations=7, random_trees=20, **{"centres": 50, **more})


def test_it_finds_the_positives_and_their_share(world, fitted):
    X, labels, positive = world
    assert np.mean(fitted.predict(X) == positive) > 0.9
    assert fitted.predict_proba(X)[:, 1].mean() == pytest.approx(0.5, abs=0.05)
    assert fitted.score(X, labels) == pytest.approx(np.mean(fitted.predict(X) == positive), abs=0.05)
    apart = fitted.out_of_fold_scores_
    assert (apart[positive & (labels == 0)].mean() - apart[~positive].mean()) > 3 * apart[~positive].std() / 2


def test_case_control_speaks_of_the_unlabelled_rows_alone(world):
    X, _, positive = world
    pool, collected = np.arange(450, 900), np.flatnonzero(positive[:450])
    rows = np.concatenate([collected, pool])
    labels = np.repeat([1, 0], [collected.size, pool.size])
    model = quick(class_prior=0.5, scenario="case-control").fit(X[rows], labels)
    assert model.predict_proba(X[pool])[:, 1].mean() == pytest.approx(0.5, abs=0.06)


def test_same_rows_give_the_same_answer_whatever_the_number_of_threads(world, fitted):
    X, labels, _ = world
    again = quick(class_prior=0.5, n_jobs=2).fit(X, labels)
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    other = quick(class_prior=0.5, random_state=1).fit(X, labels)
    assert (other.predict_proba(X) != fitted.predict_proba(X)).any()


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_categories_and_missing_values_are_taken_as_they_are(world):
    X, labels, positive = world
    rng = np.random.default_rng(1)
    words = np.where(positive, rng.choice(["a", "b", "c"], 900), rng.choice(["d", "e", "f"], 900)).astype(object)
    words[::50] = None
    number = np.where(rng.random(900) < 0.2, np.nan, X[:, 1])
    table = pd.DataFrame({"number": number, "word": pd.Categorical(words)})
    model = quick(class_prior=0.5).fit(table, labels)
    said = words != None  # noqa: E711
    assert np.mean(model.predict(table)[said] == positive[said]) > 0.95
    others = pd.DataFrame({"number": [0.0, np.nan], "word": pd.Categorical(["never seen", None])})
    assert np.isfinite(model.predict_proba(others)).all()
    model = quick(class_prior=0.5).fit(pl.DataFrame({"number": number, "word": words}), labels)
    assert np.mean(model.predict(table)[said] == positive[said]) > 0.95
    with pytest.raises(InputError, match="had columns of categories, these are an array without any"):
        model.predict(np.zeros((3, 2)))


def test_a_range_keeps_the_estimate_inside(world):
    X, labels, _ = world
    assert quick(class_prior=(0.7, 0.8)).fit(X, labels).class_prior_ == 0.7
    free = quick().fit(X, labels).class_prior_
    assert free == pytest.approx(0.5, abs=0.12)
    assert quick(class_prior=(0.3, 0.9)).fit(X, labels).class_prior_ == free


def test_the_middle_of_a_range_stands_where_rows_are_too_few_for_an_estimate(world):
    X, labels, _ = world
    few = labels * (np.cumsum(labels) <= 12)
    with pytest.raises(AssumptionError, match=r"cannot be estimated from 12 labelled .* as a number or a range"):
        quick().fit(X, few)
    assert quick(class_prior=(0.3, 0.6)).fit(X, few).class_prior_ == pytest.approx(0.45)


@pytest.mark.parametrize("wrong", [(0.2,), (0.4, 0.2), (0, 0.5), (0.1, True)])
def test_a_range_that_is_none_is_refused(wrong, world):
    with pytest.raises(AssumptionError, match="class_prior as a range must be"):
        quick(class_prior=wrong).fit(*world[:2])


def test_rows_of_no_weight_do_not_count(world, fitted):
    X, labels, _ = world
    noise = np.random.default_rng(2).normal(size=(100, 2)) * 100
    model = quick(class_prior=0.5).fit(
        np.concatenate([X, noise]), np.concatenate([labels, np.ones(100)]), np.repeat([1.0, 0.0], [900, 100])
    )
    np.testing.assert_array_equal(model.predict_proba(X), fitted.predict_proba(X))
    heavy = quick(class_prior=0.5).fit(X, labels, np.where(X[:, 0] > 1.5, 3.0, 1.0))
    assert (heavy.predict_proba(X) != fitted.predict_proba(X)).any()
    with pytest.raises(InputError, match="sample_weight is 0 for every row of one kind"):
        quick(class_prior=0.5).fit(X, labels, 1 - labels)


def test_a_row_is_kept_apart_from_every_fourth_bag_whether_labelled_or_not():
    labelled = np.arange(300) < 41
    known = TrainingRows(np.zeros((300, 1), np.float32), labelled, np.ones(300))
    dealt = list(deal_bags(known, 8, np.random.default_rng(0)))
    apart = np.array([bag.apart for bag in dealt])
    assert (apart.sum(0) == 2).all()  # labelled or not
    for bags in ([bag.boosting for bag in dealt], [bag.fine for bag in dealt], [bag.coarse for bag in dealt]):
        inside = np.array([np.isin(np.arange(300), bag) for bag in bags])
        assert (inside[:, labelled].sum(0) == 6).all()
        assert not (inside & apart).any()
        assert all(np.unique(bag).size == bag.size for bag in bags)
    assert (inside == ~apart).all()  # the coarse forest sees all that it may
    for bags in ([bag.boosting for bag in dealt], [bag.fine for bag in dealt]):
        assert 0 < np.mean([np.isin(np.flatnonzero(~labelled), bag) for bag in bags]) <= 0.5


def test_unseen_scores_are_of_models_that_saw_no_row_of_the_same_group():
    """Features tell the patient and nothing else: only who saw the patient can know who is labelled."""
    patient = np.repeat(np.arange(60), 12)
    areas = []
    for seed in (3, 4, 5):  # sixty patients alone may have an order by chance
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 4))[patient] + 0.01 * rng.normal(size=(720, 4))
        labels = (rng.random(60) < 0.4)[patient].astype(int)
        scores = quick(class_prior=0.5).fit(X, labels, groups=patient).out_of_fold_scores_
        areas.append(roc_auc_score(labels, scores))
    assert np.mean(areas) < 0.65
    assert roc_auc_score(labels, quick(class_prior=0.5).fit(X, labels).out_of_fold_scores_) > 0.9
    with pytest.raises(AssumptionError, match="labelled rows lie in 1 group"):
        quick(class_prior=0.5).fit(X, patient == 7, groups=patient)
    with pytest.raises(InputError, match="one id per row, got 3 ids for 720 rows"):
        quick(class_prior=0.5).fit(X, labels, groups=[1, 2, 3])


def test_targets_are_the_worked_posteriors_of_unlabelled_rows():
    rng = np.random.default_rng(0)
    labelled = np.arange(400) < 60
    scores = np.where(labelled, 1.0, -0.5) + rng.normal(size=400)
    known = TrainingRows(np.zeros((400, 1), np.float32), labelled, np.ones(400))
    intercept, slope = platt(known, scores, 0.3, Scenario.SINGLE_SET)
    chance = 1 / (1 + np.exp(-(intercept + slope * scores)))
    both = BagScores(scores, scores)
    result = soft_targets(known, both, 0.3, Scenario.SINGLE_SET)
    assert (result[labelled] == 1).all()
    np.testing.assert_allclose(result[~labelled], (0.5 * chance / (1 - 0.5 * chance))[~labelled])  # half are labelled
    assert soft_targets(known, both, 0.3, Scenario.CASE_CONTROL)[~labelled].mean() == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("labelled", [1, 2, 5])
def test_a_handful_of_labels_is_enough_to_train(world, labelled):
    X, labels, _ = world
    few = np.zeros(900, int)
    few[np.flatnonzero(labels)[:labelled]] = 1
    chances = quick(class_prior=0.5).fit(X, few).predict_proba(X)[:, 1]
    assert np.isfinite(chances).all()
    assert chances.mean() == pytest.approx(0.5, abs=0.15)


def test_what_is_saved_scores_the_same(world, tmp_path):
    X, labels, _ = world
    table = pd.DataFrame({"first": X[:, 0], "second": pd.Categorical(np.where(X[:, 1] > 0, "up", "down"))})
    table.loc[::9, "first"] = np.nan
    model = quick(class_prior=(0.4, 0.6)).fit(table, labels)
    again = load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    assert again.class_prior_ == model.class_prior_


def test_without_centres_it_is_trees_alone_and_learners_saved_before_there_were_any_still_load(world, fitted, tmp_path):
    X, labels, _ = world
    trees = quick(class_prior=0.5, centres=0).fit(X, labels)
    assert trees.kernel_ is None
    assert (trees.predict_proba(X) != fitted.predict_proba(X)).any()
    folder = trees.save(tmp_path / "model")
    facts = json.loads((folder / "learner.json").read_text())
    del facts["parameters"]["centres"], facts["fitted"]["weights_"]  # all kinds of models counted alike then
    (folder / "learner.json").write_text(json.dumps(facts))
    trees.weights_ = np.array([0.5, 0.5])
    np.testing.assert_array_equal(load(folder).predict_proba(X), trees.predict_proba(X))
    for wrong in (-1, 2.5, False):
        with pytest.raises(AssumptionError, match=r"centres .0 leaves the regression out. must be a whole number"):
            quick(centres=wrong).fit(X, labels)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("boosted_left", lambda values: np.zeros_like(values), "must name nodes that come after their parent"),
        ("random_feature", lambda values: values + 7, "must be places among 2 features"),
        ("boosted_value", lambda values: values * np.nan, "not finite"),
        ("random_nodes", lambda values: values[:0], "numbers of nodes"),
        ("random_threshold", lambda values: values[:-1], "was expected"),
    ],
)
def test_damaged_trees_are_refused(name, change, words, fitted, tmp_path):
    folder = fitted.save(tmp_path / "model")
    with np.load(folder / "arrays.npz") as stored:
        arrays = {one: stored[one] for one in stored.files}
    np.savez_compressed(folder / "arrays.npz", **{**arrays, name: change(arrays[name])})
    with pytest.raises(InputError, match=words):
        load(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("calibration_", [1.0]),
        ("calibration_", [1.0, "x"]),
        ("levels", [None]),
        ("levels", [[1], None]),
        ("start_", "a"),
        ("weights_", [0.5, 0.5]),
        ("weights_", [0.5, 0.5, "x"]),
    ],
)
def test_damaged_facts_are_refused(key, value, fitted, tmp_path):
    folder = Path(shutil.copytree(fitted.save(tmp_path / "one"), tmp_path / "two"))
    facts = json.loads((folder / "learner.json").read_text())
    facts["fitted"][key] = value
    (folder / "learner.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match="is damaged"):
        load(folder)


def test_a_column_without_a_value_in_some_part_of_the_rows_is_no_obstacle(world):
    """Boosting cannot bin a column of missing values alone; parts and bags of few rows have such columns."""
    X, labels, _ = (part[:40] for part in world)
    thin = np.full(40, np.nan)
    thin[3] = 1.0
    model = quick(class_prior=0.5).fit(np.column_stack([X, thin, np.full(40, np.nan)]), labels)
    assert np.isfinite(model.decision_function(np.column_stack([X, np.ones(40), np.zeros(40)]))).all()


def test_two_groups_that_fall_into_one_part_still_have_scores(world):
    """Ids with nothing between them leave a part of the groups empty."""
    X, labels, _ = (part[:60] for part in world)
    for seed in range(6):
        model = quick(class_prior=0.5, random_state=seed).fit(X, labels, groups=np.arange(60) % 2)
        assert np.isfinite(model.out_of_fold_scores_).all()


def test_models_count_as_labels_tell_and_alike_where_labels_are_few():
    """The first model knows who is positive, the second guesses: thousands of labels tell them apart, five do not."""
    rng = np.random.default_rng(0)
    positive = rng.random(8000) < 0.4
    labelled = positive & (rng.random(8000) < 0.3)
    unseen = np.array([rng.normal(np.where(positive, 1.5, -1.5)), rng.normal(size=8000)])
    single = TrainingRows(np.zeros((8000, 1), np.float32), labelled, np.ones(8000))
    # collected apart: the unlabelled rows are the whole sample, and labelled ones come twice
    both = np.concatenate([np.flatnonzero(labelled), np.arange(8000)])
    apart = TrainingRows(
        np.zeros((both.size, 1), np.float32), np.arange(both.size) < labelled.sum(), np.ones(both.size)
    )
    for known, scores, scenario in (
        (single, unseen, Scenario.SINGLE_SET),
        (apart, unseen[:, both], Scenario.CASE_CONTROL),
    ):
        result = label_weights(known, scores, 0.4, scenario)
        assert result.sum() == pytest.approx(1)
        assert result[0] > 0.9
    few = TrainingRows(single.rows, labelled & (np.cumsum(labelled) <= 5), np.ones(8000))
    np.testing.assert_allclose(label_weights(few, unseen, 0.4, Scenario.SINGLE_SET), 0.5, atol=0.1)
    doubled = TrainingRows(single.rows, labelled, np.full(8000, 2.0))
    np.testing.assert_allclose(
        label_weights(doubled, unseen, 0.4, Scenario.SINGLE_SET),
        label_weights(single, unseen, 0.4, Scenario.SINGLE_SET),
    )
    in_tens = TrainingRows(single.rows, labelled, np.ones(8000), np.arange(8000) // 10)
    assert label_weights(in_tens, unseen, 0.4, Scenario.SINGLE_SET)[0] < result[0]


def test_many_labels_make_larger_machines():
    assert [Size.for_labels(20, labelled).trees for labelled in (1, 250, 1000, 4000, 10**7)] == [20, 20, 120, 240, 240]
    assert [Size.for_labels(20, labelled).leaves for labelled in (250, 999, 1000)] == [16, 16, 31]
    assert [Size.for_labels(20, labelled).step for labelled in (250, 999, 1000)] == [0.3, 0.3, 0.1]


def test_copies_of_labelled_rows_among_the_unlabelled_ones_do_not_tell_who_is_labelled():
    """Who was collected as a positive is in the population, too; features say nothing, only the copy could."""
    areas = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        population, collected = rng.normal(size=(400, 3)), rng.choice(400, 60, replace=False)
        X, labels = np.concatenate([population[collected], population]), np.repeat([1, 0], [60, 400])
        model = quick(class_prior=0.4, scenario="case-control").fit(X, labels)
        was_collected = np.isin(np.arange(400), collected)
        areas.append(roc_auc_score(was_collected, model.out_of_fold_scores_[60:]))
    assert np.mean(areas) < 0.65  # .90 where copies are dealt like other rows
    few_values = np.random.default_rng(0).integers(0, 2, (300, 2)).astype(np.float32)
    assert copies_together(few_values, np.arange(300) < 60) is None
