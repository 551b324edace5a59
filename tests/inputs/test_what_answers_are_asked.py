"""Values that no option or method of an answer can take: refused in words of the package, never with a traceback."""

from __future__ import annotations

import datetime
import decimal
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import pulens
from pulens.atomic_write import whole_folder, write_whole
from pulens.audits import agreement_of, from_counts
from pulens.calibration import PUCalibratedClassifier, classwise_calibration_error, reliability
from pulens.errors import PulensError
from pulens.locks import locked

RNG = np.random.default_rng(39)
LABELS = np.repeat([1, 0], [60, 240])
SCORES = RNG.normal(size=300) + LABELS
OTHER = RNG.normal(size=300) + LABELS
PRIOR = {"class_prior": 0.4, "redraws": 100}
COUNTS = {"rows": [100, 50], "checked": [10, 20], "found": [2, 15], "flagged": 1}
HUGE = 10**400
NO_NUMBERS = ["1%", "\ud800", {"a": 0.3}, {1, 2}, [], [[[]]], [HUGE], None, pd.NA, pd.NaT, ..., iter([0.3]), len]
NO_NAMES = [0.3, (0.3,), np.array([]), np.array([None, 1], object), pd.NA, {"a": 1}, [HUGE], len]
NO_SEEDS = ["a", -1, 0.3, np.float32(0.3), np.inf, pd.NA, np.True_, {}, range(3), np.array([]), iter([0.3])]
NO_PATHS = [0, 5e-324, ..., len, (0.4, 0.2), np.True_, pd.NaT, np.datetime64("NaT"), memoryview(b"abc"), b"a"]
NO_FILES = ["", "a\x00b", "\ud800", "x" * 100_000, "."]
short = {"ids": lambda value: repr(value).split(" at 0x")[0][:30].encode("ascii", "replace").decode()}


@pytest.fixture(scope="module")
def frame():
    groups = np.where(np.arange(300) % 2, "a", "b")
    return pd.DataFrame({"label": LABELS, "score": SCORES, "other": OTHER, "group": groups})


@pytest.fixture(scope="module")
def compared():
    return pulens.compare(LABELS, {"score": SCORES, "other": OTHER}, **PRIOR, labelling="random")


@pytest.fixture(scope="module")
def distribution():
    return pulens.estimate_prior(LABELS, SCORES).distribution


@pytest.fixture(scope="module")
def pulse(frame):
    days = [datetime.date(2026, 1, 1) + datetime.timedelta(days=int(day)) for day in np.arange(300) % 75]
    return {
        "reference": frame.assign(day=days, score=SCORES + LABELS),
        "time": "day",
        "by": "month",
        "reference_until": "2026-01",
    }


@pytest.mark.parametrize("seed", NO_SEEDS, **short)
def test_no_seed_but_a_whole_number(seed, frame):
    X = SCORES[:, None]
    for ask in (
        lambda: from_counts(**COUNTS, seed=seed),
        lambda: pulens.estimate_prior_within(frame, labelled_within="group", seed=seed),
        lambda: pulens.metrics.recall(LABELS, SCORES, class_prior=0.4, threshold=0.5, seed=seed),
        lambda: PUCalibratedClassifier(LogisticRegression(), class_prior=0.4, random_state=seed).fit(X, LABELS),
    ):
        with pytest.raises(PulensError, match="seed must be a whole number"):
            ask()


def test_a_seed_of_numpy_is_written_as_json():
    plain = from_counts(**COUNTS, seed=np.int64(3)).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False))["seed"] == 3


def test_a_confidence_of_numpy_is_written_as_json():
    shares = 1 / (1 + np.exp(-SCORES))
    result = reliability(
        LABELS, shares, unlabelled_prior=0.2, confidence=np.array(0.3), redraws=100, labelling="random"
    )
    assert json.dumps(result.to_dict(), allow_nan=False)


@pytest.mark.parametrize("interval", [pd.NA, np.array([]), np.array(["balanced", "strict"]), 3])
def test_an_audit_has_no_such_interval(interval):
    with pytest.raises(PulensError, match="interval must be 'balanced' or 'strict'"):
        from_counts(**COUNTS, interval=interval)


def test_anytime_is_true_or_false():
    with pytest.raises(PulensError, match="anytime must be True or False"):
        from_counts(**COUNTS, anytime="yes")


def test_rows_that_a_judge_left_open_may_be_missing_values():
    first, second = [1, 1, 0, 0, pd.NA], [1, 0, 0, 0, 1]
    assert agreement_of(first, second).to_dict() == agreement_of(first[:4], second[:4]).to_dict()


@pytest.mark.parametrize("decision", [pd.NA, [pd.NA] * 300, None, {"a": 1}, "yes", [True]], **short)
def test_reviews_are_cut_by_a_decision_about_every_row(decision):
    rows = np.arange(60, 120)
    log = {"row": rows, "answer": (SCORES[rows] > 1).astype(int), "probability": np.full(60, 0.25)}
    reviews = pulens.join_reviews(LABELS, SCORES, reviews=log)
    asked = (reviews.counts, reviews.checked_rows, reviews.chances, reviews.sibling_share, reviews.are_ranges)
    assert reviews.counts(SCORES > 0.5).strata > 0
    for ask in asked:
        with pytest.raises(PulensError, match=r"decisions? "):
            ask(decision)


@pytest.mark.parametrize("threshold", NO_NUMBERS, **short)
def test_buckets_are_cut_at_a_number(threshold):
    buckets = pulens.read_buckets(LABELS, SCORES, cluster=np.arange(300) // 3)
    with pytest.raises(PulensError, match="a threshold must be a number"):
        buckets.at(threshold)
    assert buckets.at(HUGE).sum() == 0


@pytest.mark.parametrize("value", NO_NUMBERS, **short)
def test_a_distribution_of_shares_is_asked_with_numbers(distribution, value):
    for ask in (
        lambda: distribution.quantile(value),
        lambda: distribution.below(value),
        lambda: distribution.interval(value),
        lambda: distribution.times(value),
        lambda: distribution.draw(value, 3),
        lambda: distribution.draw(np.random.default_rng(0), value),
    ):
        with pytest.raises(PulensError, match="must"):
            ask()


def test_no_fewer_shares_than_none_are_drawn(distribution):
    with pytest.raises(PulensError, match="size must be at least 0, got -1"):
        distribution.draw(np.random.default_rng(0), -1)


@pytest.mark.parametrize("name", NO_NAMES, **short)
def test_a_comparison_is_asked_for_metrics_by_name(compared, name):
    for ask in (
        lambda: compared.difference("score", "other", metric=name),
        lambda: compared.rivals(metric=name),
        lambda: compared.bands.over(name, [0.3]),
    ):
        with pytest.raises(PulensError, match="a metric is named by text"):
            ask()


@pytest.mark.parametrize("priors", [3, "x", ["a"], [2], [pd.NA], None], **short)
def test_bands_stand_over_shares(compared, priors):
    with pytest.raises(PulensError):
        compared.bands.over("roc_auc", priors)


@pytest.mark.parametrize("within", [np.inf, len, np.int64(3), np.ma.masked, pd.NA, [0.3]], **short)
def test_a_comparison_within_cells_is_told_columns(frame, within):
    with pytest.raises(PulensError, match="labelled_within must be a name or a list of names"):
        pulens.compare(frame, score=["score", "other"], labelled_within=within, **PRIOR, labelling="random")
    with pytest.raises(PulensError):
        pulens.compare(LABELS, {"score": SCORES, "other": OTHER}, labelled_within=within, **PRIOR, labelling="random")
    with pytest.raises(PulensError, match="score must be a name or a list of names"):
        pulens.compare(frame, score=within, labelled_within="group", **PRIOR, labelling="random")


def test_a_row_of_a_missing_cell_is_in_none():
    cells = np.array(["a", "b", pd.NA] * 100, object)
    missing = np.where(np.arange(300) % 3 == 2, None, cells)
    models = {"score": SCORES, "other": OTHER}
    one, other = (
        pulens.compare(LABELS, models, labelled_within=each, **PRIOR, labelling="random") for each in (cells, missing)
    )
    assert one.to_dict() == other.to_dict()


@pytest.mark.parametrize("columns", [3, [0.3], np.array([0.2, 0.4]), pd.NA, len], **short)
def test_gaps_are_told_their_columns_by_name(frame, columns):
    result = pulens.evaluate_by(frame, "group", threshold=0.5, **PRIOR, labelling="random")
    with pytest.raises(PulensError, match="columns must be a name or a list of names"):
        result.gaps("recall", columns=columns)


@pytest.mark.parametrize("progress", [len, int, 3, lambda done: None], **short)
def test_progress_is_told_to_a_function_of_two_numbers(frame, progress):
    with pytest.raises(PulensError, match="progress must be a function of two numbers"):
        pulens.evaluate_by(frame, "group", threshold=0.5, progress=progress, **PRIOR, labelling="random")


@pytest.mark.parametrize("metric", ["average_precision", "pr_auc"])
@pytest.mark.parametrize("form", ["points", pd.NA, np.array([]), np.array(["point", "roc"]), 3], **short)
def test_a_precision_recall_curve_has_two_forms(metric, form):
    with pytest.raises(PulensError, match="form must be"):
        getattr(pulens.metrics, metric)(LABELS, SCORES, class_prior=0.4, form=form)


def test_a_parameter_that_is_an_array_is_no_parameter_of_a_metric():
    given = {"threshold": 0.5, "beta": np.array([None, 1], object)}
    with pytest.raises(PulensError, match="beta of f_beta"):
        pulens.metrics.f_beta(LABELS, SCORES, class_prior=0.4, **given)
    assert np.isnan(pulens.metrics.f_beta(LABELS, SCORES, class_prior=0.95, **given).value)  # impossible for any beta
    for method in (np.array([]), pd.NA, 3):
        with pytest.raises(PulensError, match="method must be text"):
            pulens.metrics.roc_auc(LABELS, SCORES, class_prior=0.4, method=method)


def test_a_parameter_may_be_a_decimal():
    plain, other = (
        pulens.metrics.rie(LABELS, SCORES, class_prior=0.4, decay=decay) for decay in (0.25, decimal.Decimal("0.25"))
    )
    assert plain == other


def test_a_threshold_beyond_all_floats_lies_below_or_above_all_rows():
    given = {"class_prior": 0.4, "confidence": 0.5, "redraws": 100}
    assert pulens.metrics.recall(LABELS, SCORES, threshold=-HUGE, **given).value == 1
    assert pulens.metrics.recall(LABELS, SCORES, threshold=HUGE, **given).value == 0


@pytest.mark.parametrize("state", NO_PATHS, **short)
def test_a_watch_keeps_its_state_in_a_file(pulse, state):
    with pytest.raises(PulensError, match="state must be the name of a file"):
        pulens.watch(**pulse, state=state)


@pytest.mark.parametrize("name", NO_FILES, **short)
def test_what_names_no_file_is_not_written(pulse, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for ask in (
        lambda: pulens.watch(**pulse, state=name),
        lambda: write_whole(name, "words"),
        lambda: locked(name).__enter__(),
        lambda: whole_folder(name).__enter__(),
    ):
        with pytest.raises(PulensError):
            ask()
    assert not list(tmp_path.iterdir())


def test_a_watch_may_keep_its_state_at_a_path(pulse, tmp_path):
    pulens.watch(**pulse, state=tmp_path / "a.state")
    assert (tmp_path / "a.state").exists()


@pytest.mark.parametrize("segment", [{"a": 1}, [HUGE], {1, 2}, pd.NA, 3], **short)
def test_a_segment_is_accepted_by_its_name(pulse, segment):
    with pytest.raises(PulensError, match="there is no segment"):
        pulens.watch(**pulse).accept("2026-02", segment=segment)


def test_half_a_pair_in_a_title_is_written_as_its_escape(tmp_path):
    result = pulens.evaluate(LABELS, SCORES, class_prior=0.4, confidence=None, labelling="random")
    result.to_html(tmp_path / "page.html", title="\ud800")
    assert "\\ud800" in Path(tmp_path, "page.html").read_text(encoding="utf-8")


NAMES = np.array(["a", "b", None] * 20, object)
SHARES = RNG.dirichlet(np.ones(2), 60)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"classes": np.array(3)}, "classes must be a list"),
        ({"classes": np.ma.masked}, "classes must be a list"),
        ({"classes": b"ab"}, "classes must be a list"),
        ({"classes": ["a", "a"]}, "classes must be a list"),
        ({"classes": [["a"], ["b"]]}, "classes must be a list"),
        ({"class_prior": np.array(0.4)}, "class_prior needs one share per class"),
        ({"class_prior": {}}, "has none of 'a', 'b'"),
        ({"class_prior": [0.4]}, "class_prior needs one share per class, 2 of them, got 1"),
        ({"labels": [["a"]] * 60}, "are not among the classes"),
        ({"labels": [b"a"] * 60}, "are not among the classes"),
    ],
)
def test_several_classes_need_a_name_and_a_share_each(given, words):
    usual = {"labels": NAMES, "scores": SHARES, "classes": ["a", "b"], "class_prior": [0.5, 0.5]}
    assert classwise_calibration_error(**usual).value >= 0
    with pytest.raises(PulensError, match=words):
        classwise_calibration_error(**{**usual, **given})


def test_classes_may_be_an_array_and_shares_a_mapping():
    plain = classwise_calibration_error(NAMES, SHARES, classes=["a", "b"], class_prior=[0.4, 0.6])
    other = classwise_calibration_error(NAMES, SHARES, classes=np.array(["a", "b"]), class_prior={"b": 0.6, "a": 0.4})
    assert plain.to_dict() == other.to_dict()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"y": LABELS[:-1]}, "X and y must have as many rows, got 300 and 299"),
        ({"X": None}, "X must hold one row of features per label"),
        ({"y": np.zeros(300, int)}, "no row of the labelled positive class"),
        ({"y": np.array([1, pd.NA] * 150, object)}, "Unknown label type"),
        ({"sample_weight": "a"}, "sample_weight must be 300 numbers"),
        ({"sample_weight": [1.0]}, "sample_weight must be 300 numbers"),
    ],
)
def test_a_calibrated_classifier_says_what_is_wrong_with_its_rows(given, words):
    model = PUCalibratedClassifier(LogisticRegression(), class_prior=0.4, method="platt")
    with pytest.raises(PulensError, match=words):
        model.fit(**{"X": SCORES[:, None], "y": LABELS, **given})


def test_a_splitter_must_leave_labelled_rows_to_learn_from():
    split = [(np.arange(60, 300), np.arange(60)), (np.arange(60), np.arange(60, 300))]
    with pytest.raises(PulensError, match="rows of one class alone"):
        PUCalibratedClassifier(LogisticRegression(), class_prior=0.4, cv=split).fit(SCORES[:, None], LABELS)


@pytest.mark.parametrize(
    "share", ["0.3", {"value": 0.3}, pd.NA, np.datetime64("NaT"), np.array([0.2, 0.4]), 2], **short
)
def test_a_label_frequency_is_a_share(share):
    with pytest.raises(PulensError, match="label_frequency must be above 0"):
        pulens.synthesise(SCORES[:, None], LABELS, label_frequency=share)


@pytest.mark.parametrize("many", ["a", 0, 2.5, np.inf, pd.NA, [3], HUGE], **short)
def test_labelled_is_a_number_of_rows(many):
    with pytest.raises(PulensError, match="labelled must be a whole number"):
        pulens.synthesise(SCORES[:, None], LABELS, labelled=many)


@pytest.mark.parametrize("name", NO_NAMES, **short)
def test_a_mechanism_and_what_is_unlabelled_have_names(name):
    with pytest.raises(PulensError, match="there is no labelling mechanism"):
        pulens.synthesise(SCORES[:, None], LABELS, mechanism=name)
    with pytest.raises(PulensError, match="unlabelled must be one of"):
        pulens.synthesise(SCORES[:, None], LABELS, unlabelled=name)


def test_a_width_that_no_number_of_rows_gives():
    with pytest.raises(PulensError, match="ask for a wider one"):
        pulens.priors.rows_to_audit(0.2, 5e-324)
    assert pulens.plan_audit(LABELS, SCORES, threshold=0.5, width=5e-324).strata


@pytest.mark.parametrize("shares", ["nan", [0.3], {"a": 1}, pd.NA], **short)
def test_cells_are_weighed_by_a_share_each(frame, shares):
    cells = pulens.decide(frame, labelled_within="group", cost_miss=5, cost_alarm=1, **PRIOR, labelling="random").within
    with pytest.raises(PulensError, match="shares must be 2 numbers"):
        cells.weights(shares=shares)


@pytest.mark.parametrize("name", NO_NAMES, **short)
def test_choices_between_words_are_words(name):
    with pytest.raises(PulensError, match="choose must be 'cost' or 'regret'"):
        pulens.decide(LABELS, SCORES, cost_miss=5, cost_alarm=1, choose=name, **PRIOR, labelling="random")
    with pytest.raises(PulensError, match="goal must be"):
        pulens.plan_audit(LABELS, SCORES, threshold=0.5, budget=10, goal=name)
    with pytest.raises(PulensError, match="binning must be"):
        reliability(LABELS, 1 / (1 + np.exp(-SCORES)), class_prior=0.4, binning=name, labelling="random")


def test_evidence_takes_numbers_and_tallies():
    evidence = pulens.evaluate(LABELS, SCORES, class_prior=0.4, confidence=None, labelling="random").evidence
    for share in (slice(1, 2), [0.3], "a", pd.NA):
        with pytest.raises(PulensError, match="the share of positives among the unlabelled rows must"):
            evidence.assumptions_at(share)
    with pytest.raises(PulensError, match="tally must be a Tally"):
        evidence.with_tally(HUGE)
    with pytest.raises(PulensError, match="buckets must be a BucketTally, or None"):
        evidence.with_tally(evidence.tally, pd.Timestamp("2026-01-01"))
