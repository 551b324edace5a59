"""What the Python side of the fuzzer found: refused in words, or answered in plain JSON."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

import pulens
from pulens.errors import PulensError

LABELS = np.array([1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0] * 10)
SCORES = np.random.default_rng(0).normal(LABELS)


def test_a_decay_that_weighs_all_ranks_alike_is_refused():
    with pytest.raises(PulensError, match="must be a number above 0, got 5e-324; the least is 1e-06"):
        pulens.metrics.bedroc(LABELS, SCORES, class_prior=0.7, decay=5e-324)


def test_an_array_as_the_threshold_of_segments_is_refused():
    rows = pytest.importorskip("pyarrow").table({"label": LABELS, "score": SCORES, "site": ["a", "b"] * 60})
    with pytest.raises(PulensError, match="threshold must be a number"):
        pulens.evaluate_by(rows, "site", unlabelled_prior=0.1, threshold=np.array([]))


def test_thresholds_without_end_are_null_in_the_json_of_a_reviewed_comparison():
    free = np.flatnonzero(LABELS == 0)[:30]
    reviews = {"row": free, "answer": np.arange(30) % 3 == 0, "probability": np.full(30, 30 / (LABELS == 0).sum())}
    models = {"a": SCORES, "b": np.round(SCORES, 1)}
    found = pulens.compare(LABELS, models, reviews=reviews, threshold=-np.inf, class_prior=0.6, redraws=100)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(told["reviewed"]["thresholds"].values()) == {None}


@pytest.mark.parametrize("method", ["tilt", "elkan_noto_e2"])
def test_numbers_of_other_libraries_are_numbers_for_an_estimated_prior(method):
    pyarrow = pytest.importorskip("pyarrow")
    given = {"method": method, "cluster": np.arange(LABELS.size) // 4}
    noise = pyarrow.scalar(0.1) if method == "tilt" else 0.0
    plain = pulens.estimate_prior(LABELS, SCORES, label_noise=float(0.1 if method == "tilt" else 0.0), **given)
    assert pulens.estimate_prior(LABELS, SCORES, label_noise=noise, **given).value == plain.value
    with pytest.raises(PulensError, match="seed must be a whole number"):
        pulens.estimate_prior(LABELS, SCORES, seed=np.array([0.2, 0.4]), method="elkan_noto_e2")


def test_a_cost_ratio_of_another_library_is_a_number():
    models = {"a": SCORES, "b": np.round(SCORES, 1)}
    asked = {"class_prior": 0.6, "redraws": 100}
    price = pytest.importorskip("pyarrow").scalar(0.3)
    found, plain = (pulens.compare(LABELS, models, cost_ratio=each, **asked) for each in (price, 0.3))
    assert found.to_dict()["metrics"] == plain.to_dict()["metrics"]


def test_one_number_names_no_two_columns_of_scores():
    rows = pytest.importorskip("pyarrow").table({"label": LABELS, "score": SCORES})
    for more in ({}, {"cluster": "label"}):
        with pytest.raises(PulensError, match="score must name a column"):
            pulens.compare(rows, score=np.array(0.3), class_prior=0.6, **more)


@pytest.mark.parametrize("factor", [None, "x" * 100_000, np.inf])
def test_what_is_no_factor_is_refused_by_the_power_of_a_plan(factor):
    plan = pulens.plan_audit(LABELS, SCORES, threshold=0.5, budget=20)
    with pytest.raises(PulensError, match="with a factor of 1 or more") as refused:
        plan.power(factor=factor)
    assert len(str(refused.value)) < 400


def test_more_unlabelled_rows_for_each_labelled_one_than_there_can_be_are_refused():
    with pytest.raises(PulensError, match="unlabelled_per_labelled must be above 0 and at most"):
        pulens.calibration.sample_size_for_error(error=0.05, class_prior=0.1, unlabelled_per_labelled=1e308)


def test_a_watch_without_rows_in_its_reference_is_refused():
    pyarrow = pytest.importorskip("pyarrow")
    none = pyarrow.table({"label": pyarrow.array([], "int64"), "score": pyarrow.array([], "float64")})
    with pytest.raises(PulensError, match=r"no labelled row|no rows"):
        pulens.watch(none, {"may": none})


FEATURES = np.stack([SCORES, np.random.default_rng(1).normal(size=SCORES.size)], axis=1)
ODD_FEATURES = {
    "no columns": FEATURES[:, :0],
    "one dimension": FEATURES[:, 0],
    "ragged": [row[: 1 + place % 2] for place, row in enumerate(FEATURES.tolist())],
    "texts": FEATURES.astype(str).astype(object) + "a",
    "complex": FEATURES.astype(complex),
    "none": None,
}
LEARNERS = ("ElkanNoto", "KernelPUSB", "PUET", "BoostedPU", "NNPU")


@pytest.mark.parametrize("odd", ODD_FEATURES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_table_that_no_learner_can_read_is_refused_in_this_packages_words(learner, odd):
    pytest.importorskip("torch")
    from pulens import learners

    if (learner, odd) == ("BoostedPU", "texts"):
        return  # takes words as they are
    with pytest.raises(PulensError):
        getattr(learners, learner)(class_prior=0.5).fit(ODD_FEATURES[odd], LABELS)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("state", ["three", -1, np.array([1, 2])])
def test_what_chance_cannot_begin_with_is_refused_by_every_learner(learner, state):
    pytest.importorskip("torch")
    from pulens import learners

    with pytest.raises(PulensError, match="random_state must be a whole number"):
        getattr(learners, learner)(class_prior=0.5, random_state=state).fit(FEATURES, LABELS)


def test_the_order_of_a_table_in_memory_does_not_choose_the_penalty():
    from pulens.learners import KernelPUSB

    rng = np.random.default_rng(3)
    rows = np.stack([rng.normal(size=25), rng.integers(0, 4, 25), rng.normal(size=25)], axis=1)
    labels = np.array([1, 0, 1, 0, 0] * 5)
    kept = [
        KernelPUSB(class_prior=0.5, centres=9, folds=2, bandwidths=0.01, random_state=0).fit(each, labels)
        for each in (rows, np.asfortranarray(rows), rows * (1 + 1e-15))
    ]
    assert len({each.penalty_ for each in kept}) == 1


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("features", 3, "features must be a name or a list of names"),
        ("features", np.array([None, 1], dtype=object), "features must be a name"),
        ("dates", np.nan, "dates must say how columns are written"),
        ("method", {"a": 0.3}, "method must be a learner's name"),
        ("method", True, "method must be a learner's name"),
    ],
)
def test_what_fit_cannot_mean_is_refused(option, value, words):
    with pytest.raises(PulensError, match=words):
        pulens.fit(FEATURES, LABELS, class_prior=0.5, **{option: value})


def test_labels_that_can_be_read_once_only_are_refused_by_fit():
    with pytest.raises(PulensError, match="one value per row"):
        pulens.fit(FEATURES, iter(LABELS.tolist()), class_prior=0.5)


def test_the_seed_of_fit_is_that_of_a_learner_without_one(tmp_path):
    from pulens.learners import PUET

    asked = {"method": PUET(n_estimators=3, max_depth=4), "class_prior": 0.5, "folds": 2, "redraws": 100}
    first, second = (pulens.fit(FEATURES, LABELS, seed=3, **asked) for _ in range(2))
    np.testing.assert_array_equal(first.scores, second.scores)
    with pytest.raises(PulensError, match="folder must be the name of a file"):
        first.save(-1)


def test_fewer_trees_than_threads_are_grown():
    from pulens.learners import PUET

    found = PUET(n_estimators=3, max_depth=4, class_prior=0.5, random_state=0, n_jobs=4).fit(FEATURES, LABELS)
    alone = PUET(n_estimators=3, max_depth=4, class_prior=0.5, random_state=0, n_jobs=1).fit(FEATURES, LABELS)
    np.testing.assert_array_equal(found.predict_proba(FEATURES), alone.predict_proba(FEATURES))


@pytest.mark.parametrize("positive", [7, 1e19, np.int64(3)])
def test_a_number_that_no_label_is_is_refused_with_the_values_there_are(positive):
    with pytest.raises(PulensError, match="no label is"):
        pulens.evaluate(LABELS, SCORES, class_prior=0.6, positive=positive)


@pytest.mark.parametrize("factor", [(0.2, 0.4), {}, b"0.3", np.inf, 0.5])
def test_what_is_no_multiple_of_errors_is_refused(factor):
    found = pulens.evaluate(LABELS, SCORES, class_prior=0.6, redraws=100)
    with pytest.raises(PulensError, match="factor must be a number"):
        found.with_errors_times(factor)


def test_a_table_as_labels_is_refused_by_fit():
    table = pytest.importorskip("pyarrow").table({"a": LABELS})
    with pytest.raises(PulensError, match="one value per row"):
        pulens.fit(FEATURES, table, class_prior=0.5)


def test_copies_are_found_among_rows_of_objects():
    from pulens.learners import WeightedElkanNoto

    asked = {"class_prior": 0.5, "random_state": 0, "labelled_in_unlabelled": True}
    found, plain = (WeightedElkanNoto(**asked).fit(each, LABELS) for each in (FEATURES.astype(object), FEATURES))
    np.testing.assert_allclose(found.predict_proba(FEATURES), plain.predict_proba(FEATURES))


def test_label_values_with_nulls_next_to_them_are_refused_in_words():
    import pandas as pd

    labels = np.array([1, pd.NA, "x", 0] * 10, dtype=object)
    with pytest.raises(pulens.PulensError, match="undeclared label value"):
        pulens.metrics.recall(labels, np.arange(40.0), class_prior=0.5, threshold=3, positive="1", unlabelled=0)


def test_a_folder_whose_name_is_too_long_is_refused_in_words(tmp_path):
    from pulens.learning.learners.saving.folder import check_target

    with pytest.raises(pulens.PulensError):
        check_target(tmp_path / ("x" * 5000))


def test_groups_whose_rate_is_undefined_differ_from_none():
    from pulens.doors.gap_rates import quantile_of_equality

    rates = SimpleNamespace()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pulens.doors.gap_rates.difference_ends", lambda *_: (np.array([np.nan]), np.array([np.nan])))
        assert quantile_of_equality(rates, np.array([0]), np.array([1])) == 0.0
