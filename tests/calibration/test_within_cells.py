"""Calibration where labels are random within cells only."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens import PulensError
from pulens.calibration import (
    brier_score,
    calibration_in_the_large,
    calibration_slope,
    expected_calibration_error,
    log_loss,
    recalibrate,
    reliability,
)
from pulens.calibration.recalibration import _dealt
from pulens.counts.tally import Tally
from pulens.strata import gather_within

MEANS = (expected_calibration_error, calibration_in_the_large, brier_score, log_loss)


def sites(size: int = 4000, seed: int = 0, slope: float = 1.0):
    """Calibrated chances in three sites that label at rates of their own; scores with other logits if asked."""
    rng = np.random.default_rng(seed)
    site = rng.integers(0, 3, size)
    logits = rng.normal(-1.0 + 0.5 * site, 1.2)
    positive = rng.random(size) < 1 / (1 + np.exp(-logits))
    labels = (positive & (rng.random(size) < np.array([0.6, 0.25, 0.1])[site])).astype(int)
    own = np.random.default_rng(99).normal(size=20_000)
    priors = {each: float((1 / (1 + np.exp(-(-1.0 + 0.5 * each + 1.2 * own)))).mean()) for each in range(3)}
    return labels, 1 / (1 + np.exp(-slope * logits)), site, priors


@pytest.mark.parametrize("scenario", ["single-set", "case-control"])
@pytest.mark.parametrize("number", MEANS)
def test_one_cell_says_what_no_cells_say(number, scenario):
    labels, scores, site, _ = sites()
    plain = number(labels, scores, class_prior=0.3, scenario=scenario, labelling="random")
    within = number(labels, scores, class_prior={0: 0.3}, labelled_within=0 * site, scenario=scenario)
    assert within.value == pytest.approx(plain.value, abs=1e-12)
    assert within.interval.width == pytest.approx(plain.interval.width, rel=0.1)


def test_labels_of_busy_sites_make_a_calibrated_model_look_wrong_only_without_cells():
    labels, scores, site, priors = sites(8000)
    within = expected_calibration_error(labels, scores, class_prior=priors, labelled_within=site, labelling="random")
    whole = float(np.array([priors[each] for each in site.tolist()]).mean())
    pooled = expected_calibration_error(labels, scores, class_prior=whole, labelling="random")
    assert within.is_noise
    assert pooled.interval.low > 0.005
    line = calibration_slope(labels, scores, class_prior=priors, labelled_within=site, labelling="random")
    assert 1.0 in line.slope.interval
    assert 1.0 not in calibration_slope(labels, scores, class_prior=whole, labelling="random").slope.interval


def test_bins_within_cells_count_rows_and_hold_the_promise_of_a_calibrated_model():
    labels, scores, site, priors = sites(8000)
    diagram = reliability(labels, scores, class_prior=priors, labelled_within=site, bins=8, labelling="random")
    assert sum(one.labelled for one in diagram.bins) == labels.sum()
    assert sum(one.unlabelled for one in diagram.bins) == (labels == 0).sum()
    assert sum(one.confidence in one.interval for one in diagram.bins) >= 7


def test_a_range_of_cells_class_priors_widens_what_rests_on_them():
    labels, scores, site, priors = sites(1000)
    ranges = {cell: (value - 0.05, value + 0.05) if cell else value for cell, value in priors.items()}
    for number in (brier_score, expected_calibration_error):
        exact = number(labels, scores, class_prior=priors, labelled_within=site)
        wide = number(labels, scores, class_prior=ranges, labelled_within=site)
        assert wide.interval.low <= exact.interval.low
        assert wide.interval.high > exact.interval.high
        assert wide.sources["class prior"].confidence is None
    diagram = reliability(labels, scores, class_prior=ranges, labelled_within=site, bins=4, labelling="random")
    narrow = reliability(labels, scores, class_prior=priors, labelled_within=site, bins=4, labelling="random")
    pairs = zip(diagram.bins, narrow.bins, strict=True)
    assert all(one.interval.width > other.interval.width for one, other in pairs)


def test_rows_counted_five_times_are_as_sure_as_counted_once_within_cells():
    labels, scores, site, priors = sites(1500)
    once = {number: number(labels, scores, class_prior=priors, labelled_within=site) for number in MEANS[1:]}
    five = [np.repeat(each, 5) for each in (labels, scores, site, np.arange(1500))]
    for number, result in once.items():
        told = number(five[0], five[1], class_prior=priors, labelled_within=five[2], cluster=five[3])
        assert told.value == pytest.approx(number(*five[:2], class_prior=priors, labelled_within=five[2]).value)
        assert 0.7 < told.interval.width / result.interval.width < 1.5, number


def test_too_few_clusters_within_cells_leave_the_value_alone():
    labels, scores, site, priors = sites(1500)
    asked = {"class_prior": priors, "labelled_within": site, "cluster": np.arange(1500) % 4}
    assert all(number(labels, scores, **asked).interval is None for number in MEANS)
    assert calibration_slope(labels, scores, **asked, labelling="random").slope.interval is None
    assert "too-few-clusters" in [
        notice.code for notice in reliability(labels, scores, **asked, labelling="random").notices
    ]


@pytest.mark.parametrize("method", ["isotonic"])
def test_a_map_fitted_within_cells_repairs_what_a_map_without_them_does_not(method):
    labels, scores, site, priors = sites(8000, slope=0.5)
    result = recalibrate(labels, scores, method=method, class_prior=priors, labelled_within=site, labelling="random")
    assert result.before.interval.low > 0
    assert result.after.corrected < 0.5 * result.before.corrected
    logits = np.linspace(-3, 2, 11)
    truth = 1 / (1 + np.exp(-logits))
    whole = float(np.array([priors[each] for each in site.tolist()]).mean())
    without = recalibrate(labels, scores, method=method, class_prior=whole, labelling="random")
    seen = 1 / (1 + np.exp(-0.5 * logits))
    assert np.abs(result(seen) - truth).mean() < 0.75 * np.abs(without(seen) - truth).mean()


def test_folds_keep_cells_and_clusters_whole():
    labels, scores, site, priors = sites(1500)
    patients = np.arange(1500) // 5
    evidence = gather_within(labels, scores, class_prior=priors, labelled_within=site, cluster=patients)
    parts = list(_dealt(evidence, 3, np.random.default_rng(0)))
    assert sum(own.cells.cells.totals.sum() for _, own in parts) == 1500
    for others, own in parts:
        assert np.array_equal(others.cells.cells.totals + own.cells.cells.totals, evidence.cells.cells.totals)
        mine, theirs = (set(one.cells.cells.whole.thresholds.tolist()) for one in (own, others))
        rows = [number for number, score in enumerate(scores.tolist()) if score in mine]
        assert not {scores[row] for row in np.flatnonzero(np.isin(patients, patients[rows]))} & theirs


def test_a_weighted_tally_of_cells_is_never_shown_as_rows():
    labels, scores, site, priors = sites(1500)
    evidence = gather_within(labels, scores, class_prior=priors, labelled_within=site)
    assert evidence.cells.evidence.tally == Tally.from_arrays(labels, scores)
    assert evidence.target_population == evidence.cells.evidence.target_population


def test_split_without_cells_is_refused():
    labels, scores, _, _ = sites(300)
    with pytest.raises(PulensError, match="labelled_within="):
        brier_score(labels, scores, class_prior=0.3, split="equal", labelling="random")


def test_the_page_of_an_evaluation_within_cells_may_have_a_diagram():
    labels, scores, site, priors = sites(1500)
    result = pulens.evaluate(
        labels, scores, labelled_within=site, class_prior=priors, redraws=100, threshold=0.5, labelling="random"
    )
    page = result.to_html(scores_are="probability")
    assert '"reliability":{"edges"' in page.replace(" ", "")
