"""Maps fitted to PU data: what they recover, keep and refuse."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulens.calibration import CalibrationMap, recalibrate
from pulens.calibration._isotonic import isotonic_shares
from pulens.calibration._risk import Points
from pulens.calibration.recalibration import deal
from pulens.calibration.recalibrators import RECALIBRATORS, find
from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError
from pulens.evidence import gather
from pulens.testing import logistic_world

SIZES = (2_000, 15_000)


def drawn(line=(-0.5, 1.5), prior=0.3, sizes=SIZES, seed=0):
    few, many, is_positive = logistic_world(*line, prior).draw(*sizes, np.random.default_rng(seed))
    return np.repeat([1, 0], sizes), np.concatenate([few, many]), is_positive


def true_error(scores, is_positive, bins=15) -> float:
    edges = np.quantile(scores, np.arange(1, bins) / bins)
    place = np.searchsorted(edges, scores, side="left")
    return float(np.abs(np.bincount(place, is_positive - scores, minlength=bins)).sum() / scores.size)


@pytest.mark.parametrize("method", sorted(RECALIBRATORS))
@pytest.mark.parametrize("line", [(-0.5, 1.5), (2 * math.log(0.3 / 0.7), 4.0)])
def test_every_map_halves_the_true_error(method, line):
    if method == "temperature" and line[0] == -0.5:
        line = (0.5 * math.log(0.3 / 0.7), 1.0)  # one temperature can only repair a wrong temperature
    labels, scores, _ = drawn(line)
    fitted = RECALIBRATORS[method].fit(
        Points.of(gather(labels, scores, class_prior=0.3, scenario="case-control")), "probability"
    )
    _, fresh, is_positive = logistic_world(*line, 0.3).draw(1, 60_000, np.random.default_rng(99))
    before, after = true_error(fresh, is_positive), true_error(fitted(fresh), is_positive)
    assert before > 0.04
    assert after < before / 2


@pytest.mark.parametrize("method", sorted(RECALIBRATORS))
def test_maps_rise_and_stay_within_the_unit_interval(method):
    labels, scores, _ = drawn(sizes=(60, 800))
    fitted = RECALIBRATORS[method].fit(
        Points.of(gather(labels, scores, class_prior=0.3, scenario="case-control")), "probability"
    )
    mapped = fitted(np.linspace(0, 1, 501))
    assert mapped.min() >= 0
    assert mapped.max() <= 1
    if method != "histogram":  # bins go their own way
        assert (np.diff(mapped) >= -1e-12).all()


@pytest.mark.parametrize("method", sorted(RECALIBRATORS))
def test_maps_survive_being_written_down(method):
    labels, scores, _ = drawn(sizes=(60, 800))
    fitted = RECALIBRATORS[method].fit(
        Points.of(gather(labels, scores, class_prior=0.3, scenario="case-control")), "probability"
    )
    again = CalibrationMap.from_dict(json.loads(json.dumps(fitted.to_dict())))
    np.testing.assert_array_equal(again(scores), fitted(scores))
    assert method in str(fitted)


@pytest.mark.parametrize(
    "written",
    [
        {},
        {"method": "platt", "scores_are": "logit"},
        {"method": "platt", "scores_are": "logit", "logit": [1.0]},
        {"method": "platt", "scores_are": "logit", "logit": [1.0, float("nan")]},
        {"method": "isotonic", "scores_are": "rank", "knots": [0.0, 1.0], "shares": [0.5]},
    ],
)
def test_a_map_that_cannot_be_one_is_refused(written):
    with pytest.raises(InputError, match="not a calibration map"):
        CalibrationMap.from_dict(written)


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_platt_recovers_the_true_line(scenario):
    world = logistic_world(-0.5, 1.5, 0.3)
    if scenario == "case-control":
        labels, scores, _ = drawn(sizes=(4_000, 25_000))
    else:
        rng = np.random.default_rng(5)
        _, scores, is_positive = world.draw(1, 30_000, rng)
        labels = (is_positive & (rng.random(30_000) < 0.5)).astype(int)
    result = recalibrate(
        labels, scores, class_prior=0.3, scenario=scenario, method="platt", redraws=5, labelling="random"
    )
    assert result.map.logit[0] == pytest.approx(math.log(0.3 / 0.7) + 2 / 3, abs=0.12)
    assert result.map.logit[1] == pytest.approx(4 / 3, abs=0.1)


def test_platt_recovers_the_true_line_from_noisy_labels():
    world = logistic_world(-0.5, 1.5, 0.3)
    rng = np.random.default_rng(1)
    few, many, _ = world.draw(5_400, 30_000, rng)
    _, everyone, is_positive = world.draw(1, 3_000, rng)
    noisy = np.concatenate([few, everyone[~is_positive][:600]])
    labels, scores = np.repeat([1, 0], [6_000, 30_000]), np.concatenate([noisy, many])
    result = recalibrate(
        labels,
        scores,
        class_prior=0.3,
        label_noise=0.1,
        method="platt",
        redraws=5,
        scenario="case-control",
        labelling="random",
    )
    assert result.map.logit[1] == pytest.approx(4 / 3, abs=0.15)


def test_with_every_label_known_isotonic_is_scikit_learns():
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(0)
    scores = rng.random(400)
    positive = rng.random(400) < scores**2
    fitted = RECALIBRATORS["isotonic"].fit(
        Points.of(gather(np.where(positive, 1, -1), scores, negative=-1, scenario="case-control")), "probability"
    )
    peer = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores, positive)
    np.testing.assert_allclose(fitted(scores), peer.predict(scores), atol=1e-12)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=15),
    st.lists(st.integers(0, 9), min_size=2, max_size=30),
)
def test_isotonic_shares_keep_the_mass_of_positives_before_clipping(few, many):
    labels = np.repeat([1, 0], [len(few), len(many)])
    points = Points.of(gather(labels, np.array(few + many) / 9, class_prior=0.2, scenario="case-control"))
    shares = isotonic_shares(points)
    assert (np.diff(shares) >= -1e-12).all()
    mass = float(points.population @ shares)
    assert mass <= 0.2 + 1e-12
    if shares.max() < 1:
        assert mass == pytest.approx(0.2)


@pytest.mark.parametrize("method", ["isotonic", "histogram", "platt"])
def test_scores_that_only_rank_can_be_mapped(method):
    labels, scores, _ = drawn(sizes=(500, 5_000))
    ranks = 1_000 * scores**3 - 7  # any rising change of the scores
    result = recalibrate(
        labels,
        ranks,
        class_prior=0.3,
        scores_are="rank",
        method=method,
        redraws=5,
        scenario="case-control",
        labelling="random",
    )
    assert result.before is None
    assert result.map(ranks).max() <= 1
    if method == "isotonic":
        again = recalibrate(
            labels, scores, class_prior=0.3, method=method, redraws=5, scenario="case-control", labelling="random"
        )
        np.testing.assert_allclose(result.map(ranks), again.map(scores), atol=1e-9)
    assert "only rank" in str(result)


def test_logits_and_probabilities_give_the_same_map():
    labels, scores, _ = drawn(sizes=(300, 3_000))
    logits = np.log(scores) - np.log1p(-scores)
    for method in RECALIBRATORS:
        by_score = recalibrate(
            labels, scores, class_prior=0.3, method=method, redraws=2, scenario="case-control", labelling="random"
        )
        by_logit = recalibrate(
            labels,
            logits,
            class_prior=0.3,
            method=method,
            scores_are="logit",
            redraws=2,
            scenario="case-control",
            labelling="random",
        )
        np.testing.assert_allclose(by_logit(logits), by_score(scores), atol=1e-6)


def test_the_error_after_is_not_that_of_the_rows_the_map_was_fitted_to():
    rng = np.random.default_rng(0)
    few, many = rng.random(40), rng.random(400)  # scores that say nothing: an isotonic fit to itself looks perfect
    labels, scores = np.repeat([1, 0], [40, 400]), np.concatenate([few, many])
    result = recalibrate(
        labels,
        scores,
        class_prior=0.3,
        method="isotonic",
        bins=10,
        redraws=50,
        scenario="case-control",
        labelling="random",
    )
    itself = recalibrate(
        labels,
        result(scores),
        class_prior=0.3,
        method="platt",
        bins=10,
        redraws=50,
        scenario="case-control",
        labelling="random",
    ).before
    assert result.after.value > 2 * itself.value
    assert result.folds == 5


def test_the_error_after_is_near_the_true_error_of_the_map():
    world = logistic_world(-0.5, 1.5, 0.3)
    _, fresh, is_positive = world.draw(1, 100_000, np.random.default_rng(99))
    hits, reported, true = [], [], []
    for seed in range(25):
        labels, scores, _ = drawn(sizes=(300, 3_000), seed=seed)
        result = recalibrate(
            labels,
            scores,
            class_prior=0.3,
            method="isotonic",
            redraws=2,
            seed=seed,
            scenario="case-control",
            labelling="random",
        )
        true.append(true_error(result(fresh), is_positive, 20))
        reported.append(result.after.corrected)
        hits.append(true[-1] in result.after.interval)
    assert np.mean(hits) > 0.85
    assert np.mean(reported) == pytest.approx(np.mean(true), abs=0.012)


def test_recalibrating_a_calibrated_model_says_there_was_no_gain():
    codes = set()
    for seed in range(6):
        labels, scores, _ = drawn((math.log(0.3 / 0.7), 2.0), sizes=(60, 600), seed=seed)
        result = recalibrate(
            labels,
            scores,
            class_prior=0.3,
            method="histogram",
            redraws=20,
            seed=seed,
            scenario="case-control",
            labelling="random",
        )
        codes |= {notice.code for notice in result.notices}
        assert result.to_dict()["after"]["value"] == result.after.value
    assert "no-gain" in codes


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from([1, 0, -1])), min_size=4, max_size=40), st.integers(2, 4))
def test_folds_add_up_to_the_whole_and_share_each_kind_evenly(rows, folds):
    scores, labels = (np.array(column) for column in zip(*rows, strict=True))
    tally = Tally.from_arrays(labels, scores.astype(float))
    parts = deal(tally, folds, np.random.default_rng(0))
    assert len(parts) == folds
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    assert whole == tally
    for kind in range(3):
        counts = [part.totals[kind] for part in parts]
        assert max(counts) - min(counts) <= 1


def test_folds_share_the_weighted_scores_of_each_kind_evenly():
    labels = np.repeat([1, 0, -1], [7, 40, 5])
    scores = np.random.default_rng(1).permutation(labels.size) / 100
    weights = np.where(np.arange(labels.size) < 2, 0.0, 0.5)  # two labelled rows count for nothing
    tally = gather(labels, scores, weights=weights, class_prior=0.3, scenario="case-control").tally
    for seed in range(20):
        parts = deal(tally, 5, np.random.default_rng(seed))
        assert [part.totals.labelled for part in parts] == [0.5] * 5
        assert [part.totals.unlabelled for part in parts] == [4.0] * 5
        assert [part.totals.negative for part in parts] == [0.5] * 5


def test_weighted_rows_can_be_recalibrated():
    labels, scores, _ = drawn(sizes=(300, 3_000))
    once = recalibrate(
        labels, scores, class_prior=0.3, method="platt", redraws=2, scenario="case-control", labelling="random"
    )
    weighted = recalibrate(
        labels,
        scores,
        weights=np.ones(labels.size),
        class_prior=0.3,
        method="platt",
        redraws=2,
        scenario="case-control",
        labelling="random",
    )
    np.testing.assert_allclose(weighted.map.logit, once.map.logit, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "spline"}, "no recalibration method 'spline'; the methods are 'auto', 'beta', 'histogram'"),
        ({"method": "temperature", "scores_are": "rank"}, "reads scores as 'probability', 'logit', not as 'rank'"),
        ({"folds": 1}, "folds must be a whole number of at least 2"),
        ({"folds": 99}, "99 folds need at least 99 labelled positives, got 20"),
        ({"scores_are": "odds"}, "scores_are must be one of"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    labels, scores, _ = drawn(sizes=(20, 100))
    with pytest.raises(PulensError, match=message):
        recalibrate(labels, scores, class_prior=0.3, **options, scenario="case-control", labelling="random")


def test_a_map_of_probabilities_refuses_other_scores():
    labels, scores, _ = drawn(sizes=(50, 500))
    fitted = find("platt").fit(
        Points.of(gather(labels, scores, class_prior=0.3, scenario="case-control")), "probability"
    )
    with pytest.raises(InputError, match=r"outside \[0, 1\]"):
        fitted(np.array([1.5]))


def test_separated_classes_do_not_run_away():
    labels = np.repeat([1, 0], [30, 100])
    scores = np.concatenate([np.full(30, 0.9), np.full(30, 0.9), np.full(70, 0.1)])
    for method in RECALIBRATORS:
        result = recalibrate(
            labels, scores, class_prior=0.3, method=method, redraws=2, scenario="case-control", labelling="random"
        )
        mapped = result(np.array([0.1, 0.9]))
        assert np.isfinite(mapped).all()
        if method != "temperature":
            assert mapped[0] < 0.1
            assert mapped[1] > 0.9


def test_auto_keeps_calibrated_scores_and_mends_others():
    kept = 0
    for seed in range(8):
        labels, scores, _ = drawn((math.log(0.3 / 0.7), 2.0), sizes=(100, 1_000), seed=seed)
        result = recalibrate(labels, scores, class_prior=0.3, redraws=2, scenario="case-control", labelling="random")
        kept += result.method == "identity"
        if result.method == "identity":
            np.testing.assert_allclose(result(scores), scores, atol=1e-12)
            assert "kept-scores" in {notice.code for notice in result.notices}
    assert kept >= 4
    labels, scores, _ = drawn((0.0, 1.0), sizes=(300, 3_000))
    result = recalibrate(labels, scores, class_prior=0.3, redraws=2, scenario="case-control", labelling="random")
    assert result.method in ("platt", "beta", "isotonic")
    assert set(result.considered) == {"identity", "platt", "beta", "isotonic"}
    assert max(result.considered, key=result.considered.get) == result.method
    assert result.to_dict()["considered"]["identity"] < result.considered[result.method]


def test_auto_maps_ranks_with_what_reads_them():
    labels, scores, _ = drawn(sizes=(200, 2_000))
    result = recalibrate(
        labels, 50 * scores, class_prior=0.3, scores_are="rank", redraws=2, scenario="case-control", labelling="random"
    )
    assert set(result.considered) == {"platt", "isotonic"}  # a rank cannot be kept as a probability


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_scale_of_ranks_does_not_matter(scale):
    labels, scores, _ = drawn(sizes=(200, 2_000))
    plain = recalibrate(
        labels,
        scores,
        class_prior=0.3,
        scores_are="rank",
        method="platt",
        redraws=2,
        scenario="case-control",
        labelling="random",
    )
    scaled = recalibrate(
        labels,
        scale * scores,
        class_prior=0.3,
        scores_are="rank",
        method="platt",
        redraws=2,
        scenario="case-control",
        labelling="random",
    )
    np.testing.assert_allclose(scaled(scale * scores), plain(scores), atol=2e-3)


@pytest.mark.parametrize(
    ("labels", "weights", "missing"),
    [
        (np.repeat([1, 0], [8, 3]), None, "other"),  # three unlabelled rows cannot be dealt to five folds
        (np.repeat([1, 0], [8, 20]), np.repeat([0.0, 1.0], [6, 22]), "labelled"),  # two labelled scores that count
    ],
)
def test_a_fold_without_a_kind_of_row_is_refused(labels, weights, missing):
    scores = np.linspace(0.1, 0.9, labels.size)
    with pytest.raises(InputError, match=f"a fold of the rows .* no {missing} row .* Use fewer than 5 folds"):
        recalibrate(
            labels,
            scores,
            weights=weights,
            class_prior=0.6,
            scenario="case-control",
            method="isotonic",
            labelling="random",
        )
