"""What the Python side of the fuzzer found: refused in words, or answered in plain JSON."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import pulens
from pulens.diagnostics import diagnose
from pulens.errors import InputError, PulensError
from pulens.estimate import Estimate
from pulens.strata import gather_within

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
    result = pulens.compare(LABELS, models, reviews=reviews, threshold=-np.inf, class_prior=0.6, redraws=100)
    told = json.loads(json.dumps(result.to_dict(), allow_nan=False))
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
    result, plain = (pulens.compare(LABELS, models, cost_ratio=each, **asked) for each in (price, 0.3))
    assert result.to_dict()["metrics"] == plain.to_dict()["metrics"]


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


def test_recall_without_a_value_leaves_no_note_of_its_width():
    """A number that is withheld says nothing of how many labelled rows would be enough."""
    recall = Estimate("recall", np.nan, pulens.Interval(0.1, 0.9, 0.95, "any"), withheld_because="too wide")
    evidence = pulens.evaluate(LABELS, SCORES, class_prior=0.6).evidence
    assert not [one for one in diagnose(evidence, recall) if one.code == "wide-recall"]


FEATURES = np.stack([SCORES, np.random.default_rng(1).normal(size=SCORES.size)], axis=1)
ODD_FEATURES = {
    "no columns": FEATURES[:, :0],
    "one dimension": FEATURES[:, 0],
    "ragged": [row[: 1 + place % 2] for place, row in enumerate(FEATURES.tolist())],
    "texts": FEATURES.astype(str).astype(object) + "a",
    "complex": FEATURES.astype(complex),
    "none": None,
    "dictionary": {"a": 1},
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

    result = PUET(n_estimators=3, max_depth=4, class_prior=0.5, random_state=0, n_jobs=4).fit(FEATURES, LABELS)
    alone = PUET(n_estimators=3, max_depth=4, class_prior=0.5, random_state=0, n_jobs=1).fit(FEATURES, LABELS)
    np.testing.assert_array_equal(result.predict_proba(FEATURES), alone.predict_proba(FEATURES))


@pytest.mark.parametrize("positive", [7, 1e19, np.int64(3)])
def test_a_number_that_no_label_is_is_refused_with_the_values_there_are(positive):
    with pytest.raises(PulensError, match="no label is"):
        pulens.evaluate(LABELS, SCORES, class_prior=0.6, positive=positive)


@pytest.mark.parametrize("factor", [(0.2, 0.4), {}, b"0.3", np.inf, 0.5])
def test_what_is_no_multiple_of_errors_is_refused(factor):
    result = pulens.evaluate(LABELS, SCORES, class_prior=0.6, redraws=100)
    with pytest.raises(PulensError, match="factor must be a number"):
        result.with_errors_times(factor)


def test_a_table_as_labels_is_refused_by_fit():
    table = pytest.importorskip("pyarrow").table({"a": LABELS})
    with pytest.raises(PulensError, match="one value per row"):
        pulens.fit(FEATURES, table, class_prior=0.5)


def test_copies_are_found_among_rows_of_objects():
    from pulens.learners import WeightedElkanNoto

    asked = {"class_prior": 0.5, "random_state": 0, "labelled_in_unlabelled": True}
    result, plain = (WeightedElkanNoto(**asked).fit(each, LABELS) for each in (FEATURES.astype(object), FEATURES))
    np.testing.assert_allclose(result.predict_proba(FEATURES), plain.predict_proba(FEATURES))


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
    from pulens.groups.gap_rates import quantile_of_equality

    rates = SimpleNamespace()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pulens.groups.gap_rates.difference_ends", lambda *_: (np.array([np.nan]), np.array([np.nan])))
        assert quantile_of_equality(rates, np.array([0]), np.array([1])) == 0.0


def test_factors_on_their_way_through_a_gradient_are_numbers():
    torch = pytest.importorskip("torch")
    result = pulens.evaluate(LABELS, SCORES, class_prior=0.6, redraws=100)
    low, high = result.sensitivity_curve("roc_auc", factors=torch.tensor([2.0, 1.0], requires_grad=True))
    plain = result.sensitivity_curve("roc_auc", factors=[1, 2])
    np.testing.assert_array_equal([low.y, high.y], [each.y for each in plain])


@pytest.mark.parametrize("odd", [np.array([1j, 2.0]), np.array(["2026-01-01"], "datetime64[D]"), [[1.0]], [], "a"])
def test_what_is_no_number_is_no_factor(odd):
    result = pulens.evaluate(LABELS, SCORES, class_prior=0.6, redraws=100)
    with pytest.raises(PulensError, match="factors must be numbers of at least 1"):
        result.sensitivity_curve("roc_auc", factors=odd)


def test_an_audit_holds_its_threshold_as_a_float():
    from fractions import Fraction

    asked = {"rows": [100, 50], "checked": [10, 20], "found": [2, 15], "flagged": 1}
    result, plain = (pulens.audits.from_counts(**asked, threshold=each) for each in (Fraction(1, 4), 0.25))
    assert result.to_html() == plain.to_html()


def test_a_group_named_infinity_is_plain_json():
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"label": LABELS, "score": SCORES, "site": [1.5, np.inf] * 60})
    told = pulens.evaluate_by(rows, "site", class_prior=0.6, redraws=100, labelling="random").to_dict()
    assert {line["segment"] for line in json.loads(json.dumps(told, allow_nan=False))["segments"]} == {1.5, "inf"}


def test_a_group_whose_rows_may_all_be_positive_is_answered():
    rows = pytest.importorskip("pandas").DataFrame({"label": LABELS, "score": SCORES, "site": ["a", "b"] * 60})
    result = pulens.evaluate_by(rows, "site", class_prior=0.6, redraws=100)
    assert set(result) == {"a", "b"}
    assert not result.skipped


@pytest.mark.parametrize("more", [{}, {"cluster": np.arange(240) // 3}])
def test_a_decision_curve_within_cells_withholds_what_an_evaluation_does(more):
    rng = np.random.default_rng(5)
    truth = rng.random(240) < 0.5
    scores = np.round(rng.normal(size=240) + 0.7 * truth, 1)
    labels = (truth & (rng.random(240) < 0.5)).astype(int)
    asked = {"threshold": -0.6, "redraws": 100, "labelling": "random", "labelled_within": np.arange(240) % 2}
    result = pulens.evaluate(labels, scores, **asked, **more)
    known, curve = result.at(-0.6)["net_benefit"], result.decision_curve(ratios=[0.5])
    assert known.withheld_because
    assert np.isnan(curve.model[0])
    assert (curve.low[0], curve.high[0]) == pytest.approx((known.interval.low, known.interval.high))


def test_what_the_class_priors_of_cells_leave_open_is_found_at_the_cost_ratio_asked_for():
    models = {"a": SCORES, "b": np.round(SCORES, 1)}
    asked = {"labelled_within": np.arange(120) % 2, "class_prior": (0.6, 0.8), "split": "equal", "redraws": 100}
    dear, cheap = (
        pulens.compare(LABELS, models, cost_ratio=each, threshold=0.0, **asked).estimates["net_benefit"]["a"]
        for each in (0.5, 0.1)
    )
    assert cheap.sources["class prior"].low <= cheap.value <= cheap.sources["class prior"].high
    assert cheap.sources["class prior"].width < dear.sources["class prior"].width


def test_a_number_without_a_lowest_value_is_judged_by_its_larger_end():
    from pulens.estimate import Estimate, Interval
    from pulens.metrics.parts.withholding import withhold

    def shown(low, high):
        reach = Interval(low, high, 0.95, "range")
        more = {"sources": {"class prior": reach}, "rests_on": ("class prior (estimated)",)}
        return withhold(Estimate("net_benefit", low, reach, **more), pulens.metrics.METRICS["net_benefit"])

    assert shown(-0.43, -0.40).withheld_because is None
    assert shown(-0.4, -0.1).withheld_because
    assert shown(-0.1, 0.4).withheld_because


@pytest.mark.parametrize("cluster", [np.array([None, 1], dtype=object), np.array([0.2, 0.4]), {1, 2}])
def test_what_names_no_column_is_no_cluster_of_fit(cluster):
    with pytest.raises(PulensError, match="there is no column"):
        pulens.fit(FEATURES, LABELS, class_prior=0.5, cluster=cluster)


@pytest.mark.parametrize("name", ["x" * 100_000, "x" * 5_000 + "/*.csv", "sqlite:///" + "x" * 5_000, "a\0b"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda name: pulens.evaluate(name, class_prior=0.5),
        lambda name: pulens.plan_audit(name, budget=10, threshold=0.5, id="id"),
        lambda name: pulens.watch(name, {"may": name}),
        lambda name: pulens.evaluate_by(name, "site", class_prior=0.5),
        lambda name: pulens.fit(name, label="label"),
        lambda name: pulens.evaluate(LABELS, SCORES, class_prior=0.6, reviews=name),
    ],
)
def test_a_name_that_no_file_can_have_is_refused_in_words(ask, name):
    with pytest.raises(PulensError) as refused:
        ask(name)
    assert len(str(refused.value)) < 500


def test_a_number_too_large_for_a_float_is_refused_by_learners():
    from pulens import learners

    rows = FEATURES.astype(object)
    rows[0, 0] = 10**400
    for learner in LEARNERS:
        if learner != "NNPU" or pytest.importorskip("torch"):
            with pytest.raises(PulensError):
                getattr(learners, learner)(class_prior=0.5).fit(rows, LABELS)


def test_a_tensor_is_no_flag_of_a_learner():
    from pulens.learners import PUET, ElkanNoto, WeightedElkanNoto

    tensor = pytest.importorskip("torch").tensor([0.2, 0.4], requires_grad=True)
    for learner, name in (
        (WeightedElkanNoto, "keep_labelled"),
        (ElkanNoto, "labelled_in_unlabelled"),
        (PUET, "strict_leaves"),
    ):
        with pytest.raises(PulensError, match=f"{name} must be True or False"):
            learner(class_prior=0.5, **{name: tensor}).fit(FEATURES, LABELS)


def test_labels_without_values_are_refused_by_fit():
    meta = pytest.importorskip("torch").tensor(LABELS).to("meta")
    with pytest.raises(PulensError, match="has no values to give"):
        pulens.fit(FEATURES, meta, class_prior=0.5)


def test_fewer_rows_than_one_have_one_bin():
    asked = {"class_prior": 0.1, "labelled": 0.3, "lipschitz": 0.3}
    assert pulens.calibration.optimal_bins(unlabelled=5e-324, **asked) == 1


@pytest.mark.parametrize("backbone", [int, len, lambda shape: 3])
def test_what_makes_no_network_is_no_backbone(backbone):
    pytest.importorskip("torch")
    from pulens.learners import UPU

    with pytest.raises(PulensError, match="backbone must be one of"):
        UPU(class_prior=0.5, backbone=backbone, epochs=1, progress=False).fit(FEATURES, LABELS)


def test_a_model_whose_library_is_missing_is_refused_in_words(tmp_path, monkeypatch):
    from pulens.learners import ElkanNoto

    from pulens.errors import MissingDependencyError

    result = pulens.fit(FEATURES, LABELS, method=ElkanNoto(), class_prior=0.5, folds=2, redraws=100)
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(MissingDependencyError, match="skops"):
        result.save(tmp_path / "model")


def test_an_array_is_no_flag_of_a_gap():
    rows = pytest.importorskip("pyarrow").table({"label": LABELS, "score": SCORES, "site": ["a", "b"] * 60})
    gaps = pulens.gaps_by(rows, "site", threshold=0.5)
    with pytest.raises(PulensError, match="needs_prior must be True or False"):
        gaps.lead.to_dict(needs_prior=np.array([0.2, 0.4]))


def test_a_fold_without_labelled_rows_is_refused_under_labels_as_in_practice():
    labels, scores = np.array([1, 1] + [0] * 40), np.linspace(0.95, 0.05, 42)
    weights = np.where(np.arange(42) < 30, 0.0, 1.0)
    weights[0] = 1.0
    with pytest.raises(PulensError, match="leaves no labelled row"):
        pulens.calibration.recalibrate(labels, scores, weights=weights, unlabelled_prior=0.2, folds=5)


def test_nothing_is_no_number_of_rows_for_a_regret():
    asked = {"unlabelled_prior": (0.1, 0.3), "cost_miss": 5, "cost_alarm": 1, "volume": 1000, "redraws": 100}
    result = pulens.decide(LABELS, SCORES, **asked).regret_over_range
    with pytest.raises(PulensError, match="per must be a number"):
        result.to_dict(per=None)


def test_an_array_says_nothing_of_labels():
    said = np.array([None, 1], dtype=object)
    with pytest.raises(PulensError, match="labelling"):
        pulens.compare(LABELS, {"a": SCORES, "b": -SCORES}, labelling=said, class_prior=0.6)


def test_what_the_sample_leaves_open_of_an_error_after_recalibration_holds_it():
    rng = np.random.default_rng(18)
    labels, scores = (rng.random(60) < 0.42).astype(int), np.round(rng.uniform(0.52, 0.72, 60), 3)
    told = pulens.calibration.recalibrate(labels, scores, unlabelled_prior=0.2, redraws=100).after.to_dict()
    for ends in (told, told["sources"]["sample"]):
        assert ends["low"] <= told["value"] <= ends["high"]


def test_dates_are_no_numbers_for_a_forest():
    from pulens.learners import PUET

    with pytest.raises(PulensError, match="it holds dates"):
        PUET(class_prior=0.5).fit(np.abs(100 * FEATURES).astype("datetime64[s]"), LABELS)


def test_no_column_makes_no_strata_in_a_comparison_either(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("label,a,b\n" + "\n".join(f"{k % 2},{k},{k * 7 % 10}" for k in range(10)))
    with pytest.raises(InputError, match="labelled_within must name a column"):
        pulens.compare(str(path), score=["a", "b"], class_prior=0.6, labelled_within=[])


def test_a_slice_is_no_share_of_positives_in_strata():
    rows = [1, 0, 1, 0, 0, 1, 0, 0, 0, 1] * 4
    cells = gather_within(rows, list(range(40)), labelled_within=["a", "b"] * 20, class_prior=0.6, split="equal").within
    with pytest.raises(InputError, match="shares must be 2 numbers"):
        cells.coefficients(slice(1, 2))


@pytest.mark.parametrize("positive", [np.array([None, 1], dtype=object), np.array([1]), [1], 1])
def test_an_array_of_label_values_says_which_are_positive_in_fit(positive):
    from pulens.learners import ElkanNoto

    asked = {"method": ElkanNoto(), "class_prior": 0.5, "folds": 2, "redraws": 100}
    result = pulens.fit(FEATURES, LABELS, positive=positive, **asked)
    np.testing.assert_array_equal(result.scores, pulens.fit(FEATURES, LABELS, **asked).scores)


def test_zero_as_the_positive_label_value_is_not_left_out_by_fit():
    from pulens.learners import ElkanNoto

    asked = {"method": ElkanNoto(), "class_prior": 0.8, "folds": 2, "redraws": 100}
    result = pulens.fit(FEATURES, LABELS, positive=0, **asked)
    np.testing.assert_array_equal(result.scores, pulens.fit(FEATURES, 1 - LABELS, **asked).scores)


@pytest.mark.parametrize("budget", ["2026-01-01", 0, -3, 2.5, None, np.array([1, 2])])
def test_what_is_no_number_of_rows_has_no_forecast(budget):
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"label": LABELS, "score": SCORES, "id": np.arange(120)})
    result = pulens.plan_audit(rows, budget=20, threshold=0.5, id="id").forecast
    assert result.width("f1", 20)[0] > 0
    for given in (budget, pandas.Timestamp("2026-01-01")):
        with pytest.raises(PulensError, match="budget must be a whole number of rows"):
            result.width("f1", given)


@pytest.mark.parametrize("bins", [0, -1, -(10**400), 10**400])
@pytest.mark.parametrize("basis", ["noise", "guarantee"])
def test_what_is_no_number_of_bins_is_refused_by_guarantees(bins, basis):
    with pytest.raises(PulensError, match="bins must be a whole number"):
        pulens.calibration.sample_size_for_error(0.1, 0.3, bins=bins, basis=basis)
    with pytest.raises(PulensError, match="bins must be a whole number"):
        pulens.calibration.evaluation_bound(0.3, 100, 1000, bins)


@pytest.mark.parametrize("bins", [0, -1, 10**12])
def test_what_is_no_number_of_bins_is_refused_by_checked_rows(bins):
    from pulens.audits import Reviews

    reviews = Reviews.reviewed_above([0] * 8, np.arange(8) / 10, 0, answers=[1, 0] * 4)
    with pytest.raises(PulensError, match="bins must be a whole number"):
        pulens.calibration.reviewed_reliability(reviews, np.arange(8) / 10, bins=bins)


@pytest.mark.parametrize("odd", ["0.3", True, [[1.0]], None, np.datetime64("NaT"), object()])
def test_what_is_no_threshold_has_no_recall_in_strata(odd):
    rows = [1, 0, 1, 0, 0, 1, 0, 0, 0, 1] * 4
    strata = {"labelled_within": ["a", "b"] * 20, "class_prior": 0.6, "split": "equal"}
    within = gather_within(rows, list(range(40)), **strata).within
    assert within.recalls(20).shape == (2,)
    with pytest.raises(PulensError, match="thresholds must be numbers"):
        within.recalls(odd)


@pytest.mark.parametrize("odd", ["0.3", [0.1, 0.2], object(), 10**400])
def test_what_is_no_rate_is_recovered_from_nothing(odd):
    recovery = pulens.decide(LABELS, SCORES, class_prior=0.6, capacity=5, redraws=100).evidence.counted.recovery
    with pytest.raises(PulensError, match="rates must be numbers"):
        recovery.rates(0.5, odd, 0.0)


@pytest.mark.parametrize(
    ("name", "setting"),
    [("PAN", "objective"), ("CGenPU", "noise"), ("NNPU", "precision"), ("PULCPBF", "fence"), ("PULCPBF", "loss")],
)
def test_an_array_is_no_word_for_a_learner(name, setting):
    from pulens import learners

    odd = {setting: np.array([None, 1], dtype=object)}
    with pytest.raises(InputError, match=f"{setting} must be one of"):
        getattr(learners, name)(class_prior=0.5, **odd).fit(FEATURES, LABELS)


def test_missing_is_no_number_of_features_for_a_forest():
    pandas = pytest.importorskip("pandas")
    from pulens.learners import PUET

    with pytest.raises(PulensError, match="max_features must be"):
        PUET(class_prior=0.5, max_features=pandas.NA).fit(FEATURES, LABELS)


def test_bytes_in_a_row_name_no_column():
    table = {"label": LABELS, "score": SCORES}
    with pytest.raises(InputError, match="labelled_within must name a column"):
        pulens.evaluate(table, labelled_within=memoryview(np.array(["a", "b"])), unlabelled_prior=0.1)


def test_what_an_answer_reads_its_numbers_from_is_nobodys_to_ask():
    result = pulens.evaluate(LABELS, SCORES, class_prior=0.6, redraws=100)
    assert not {"masses", "intervals"} & set(dir(result))
    assert "counted" not in dir(pulens.decide(LABELS, SCORES, class_prior=0.6, capacity=5, redraws=100))


def test_a_decision_withholds_recall_where_an_evaluation_at_its_threshold_does():
    rng = np.random.default_rng(1)
    labels = np.repeat([1, 0], [60, 100])
    rows = labels, np.round(rng.normal(labels), 2)
    asked = {"scenario": "case-control", "label_noise": 0.05, "redraws": 100, "cluster": np.arange(160) % 12}
    decision = pulens.decide(*rows, cost_miss=5, cost_alarm=1, **asked, labelling="random")
    there = pulens.evaluate(*rows, threshold=decision.threshold, **asked, labelling="random").at(decision.threshold)
    assert there["recall"].withheld_because
    assert decision.recall.withheld_because == there["recall"].withheld_because
    assert np.isnan(decision.recall.value)
    assert decision.recall.rests_on == there["recall"].rests_on
    assert json.loads(json.dumps(decision.to_dict(), allow_nan=False))["recall"]["value"] is None
    assert decision.to_html()
