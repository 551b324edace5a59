"""Bounds of paper 001: tight against brute force, exact in their rounding, honest about ranges of the class prior."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulens
from pulens.counts.tally import Tally
from pulens.inference.kernels.bands import rank_band
from pulens.recovery.bounds import SurrogateBands, latent_count, round_down, round_up

LABELS = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1]
SCORES = [9, 8, 5, 3, 9, 7, 6, 5, 4, 2, 2, 1, 6, 2, 1]


@given(st.integers(0, 99), st.integers(1, 10**6))
def test_whole_products_stay_whole(percent: int, rows: int) -> None:
    exact = Fraction(percent, 100) * rows
    product = percent / 100 * rows
    assert float(round_up(product)) == -((-exact) // 1)
    assert float(round_down(product)) == exact // 1
    assert latent_count(percent / 100, rows) == (exact + Fraction(1, 2)) // 1


@given(st.integers(1, 400), st.integers(1, 10**7), st.data())
def test_shares_of_counts_round_exactly(known: int, latent: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, known))
    exact = Fraction(hits, known) * latent
    assert float(round_up(hits / known * latent)) == -((-exact) // 1)
    assert float(round_down(hits / known * latent)) == exact // 1


def limits(tally, latent, confidence, band, approach):
    return SurrogateBands.of(tally, confidence, band, approach, (latent, latent)).limits(latent)


@pytest.mark.parametrize("approach", ["positives", "negatives"])
@pytest.mark.parametrize("latent", [0, 1, 3, 6, 8])
def test_no_assignment_within_the_band_leaves_the_limits_and_some_reach_them(approach: str, latent: int) -> None:
    tally = Tally.from_arrays(np.array(LABELS), np.array(SCORES))
    fewest, most = limits(tally, latent, 0.5, "clopper-pearson", approach)
    unlabelled = np.array(SCORES)[np.array(LABELS) == 0]
    thresholds = np.append(np.inf, tally.thresholds)
    known = np.append(0, tally.labelled if approach == "positives" else tally.negative)
    size = latent if approach == "positives" else unlabelled.size - latent
    band = rank_band(known, known[-1], 0.5, "clopper-pearson")
    for place, threshold in enumerate(thresholds):
        head = unlabelled >= threshold
        seen = set()
        for chosen in combinations(range(unlabelled.size), latent):
            hits = int(head[list(chosen)].sum())
            own = hits if approach == "positives" else int(head.sum()) - hits
            # theta is rounded outwards: the share may pass the band by less than one row
            if np.floor(band.low[place] * size + 1e-9) <= own <= np.ceil(band.high[place] * size - 1e-9):
                seen.add(hits)
        if seen:
            assert (min(seen), max(seen)) == (fewest[place], most[place])


def test_tighter_lies_within_both_at_its_own_level() -> None:
    tally = Tally.from_arrays(np.array(LABELS), np.array(SCORES))
    both = limits(tally, 3, 0.9, "dkw", "tighter")
    for approach in ("positives", "negatives"):
        alone = limits(tally, 3, 0.95, "dkw", approach)
        assert (both[0] >= alone[0]).all()
        assert (both[1] <= alone[1]).all()


@pytest.mark.parametrize("turned", [False, True], ids=["better than chance", "worse than chance"])
@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_a_range_of_priors_holds_the_bounds_at_every_prior_in_it(turned: bool, scenario: str) -> None:
    rng = np.random.default_rng(3)
    scores = np.concatenate([rng.normal(1, 1, 40), rng.normal(1, 1, 60), rng.normal(-1, 1, 140)]) * (-1) ** turned
    labels = np.repeat([1, 0], [40, 200])
    wide = pulens.bounds(labels, scores, unlabelled_prior=(0.2, 0.4), scenario=scenario)
    for prior in (0.2, 0.25, 0.3, 0.4):
        narrow = pulens.bounds(labels, scores, unlabelled_prior=prior, scenario=scenario)
        for area in ("roc_auc", "average_precision"):
            assert getattr(wide, area).low <= getattr(narrow, area).low + 1e-12
            assert getattr(wide, area).high >= getattr(narrow, area).high - 1e-12
        for metric in ("precision", "recall", "f1", "matthews_correlation", "accuracy", "specificity"):
            outer, inner = (result.metric(metric, threshold=0.0) for result in (wide, narrow))
            assert outer.low <= inner.low + 1e-12
            assert outer.high >= inner.high - 1e-12


def test_true_values_lie_within_simultaneous_bounds() -> None:
    missed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = np.repeat([1, 1, 0], [50, 100, 300])
        scores = rng.normal(truth * 1.5, 1)
        labels = np.repeat([1, 0], [50, 400])
        result = pulens.bounds(labels, scores, unlabelled_prior=0.25, scenario="case-control")
        positive = truth[50:] == 1
        called = scores[50:] >= 0.7
        precision = (positive & called).sum() / called.sum()
        missed += precision not in result.metric("precision", threshold=0.7)
    assert missed <= 4


def test_two_sample_band_holds_the_latent_ranks_where_the_one_sample_band_does_not() -> None:
    held = {"dkw": 0, "dkw-two-sample": 0}
    for seed in range(200):
        rng = np.random.default_rng(seed)
        known, latent = np.sort(rng.random(100)), np.sort(rng.random(20))
        grid = np.concatenate([known, latent])
        truth = (latent[None, :] >= grid[:, None]).mean(1)
        hits = (known[None, :] >= grid[:, None]).sum(1)
        for band in held:
            limits = rank_band(hits, 100, 0.95, band, latent=20)
            held[band] += bool(((limits.low <= truth) & (truth <= limits.high)).all())
    assert held["dkw-two-sample"] >= 185
    assert held["dkw"] < 60


def test_bad_requests_are_named() -> None:
    with pytest.raises(pulens.PulensError, match=r"no band 'wald'; the bands are 'dkw-two-sample'"):
        pulens.bounds(LABELS, SCORES, class_prior=0.2, band="wald", scenario="case-control")
    with pytest.raises(pulens.PulensError, match="approach must be one of 'positives'"):
        pulens.bounds(LABELS, SCORES, class_prior=0.2, approach="both", scenario="case-control")
    with pytest.raises(pulens.PulensError, match="needs known negatives, and there are none"):
        pulens.bounds([1, 0, 0], [3, 2, 1], class_prior=0.2, approach="negatives", scenario="case-control")
    with pytest.raises(pulens.PulensError, match="reads the whole ranking"):
        pulens.bounds(LABELS, SCORES, class_prior=0.2, scenario="case-control").metric("roc_auc", threshold=1)


def test_noisy_labels_are_refused_at_the_door() -> None:
    for call in (
        lambda: pulens.bounds(LABELS, SCORES, class_prior=0.2, label_noise=0.3, scenario="case-control"),
        lambda: pulens.evaluate(
            LABELS,
            SCORES,
            class_prior=0.2,
            label_noise=0.3,
            scenario="case-control",
            confidence=None,
            labelling="random",
        ).bounds(),
    ):
        with pytest.raises(pulens.PulensError, match=r"clean labels only, got label_noise=0.3"):
            call()
    clean = pulens.bounds(LABELS, SCORES, class_prior=0.2, label_noise=0.0, scenario="case-control")
    assert clean.roc_auc == pulens.bounds(LABELS, SCORES, class_prior=0.2, scenario="case-control").roc_auc
    with pytest.raises(pulens.PulensError, match=r"label_noise must be a number"):
        pulens.bounds(LABELS, SCORES, class_prior=0.2, label_noise="some", scenario="case-control")
