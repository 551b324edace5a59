"""Diagnostics speak up when something is wrong, and keep quiet when nothing is."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pulens
from pulens.diagnostics import check_labelling, labelled_needed


def sample(seed: int = 0, labelled: int = 300, unlabelled: int = 3000, negative: int = 0, gap: float = 1.5):
    rng = np.random.default_rng(seed)
    positive = int(0.2 * unlabelled)
    means = np.repeat([gap, gap, 0.0, 0.0], [labelled, positive, unlabelled - positive, negative])
    labels = np.repeat([1, 0, -1], [labelled, unlabelled, negative])
    return labels, rng.normal(means, 1)


def codes(labels, scores, **options) -> set[str]:
    options = {"class_prior": 0.2, "scenario": "case-control", "threshold": 1.0, "redraws": 100, **options}
    if "audit" in options:
        del options["class_prior"]
    return {notice.code for notice in pulens.evaluate(labels, scores, **options, labelling="random").notices}


def test_sound_data_raise_no_alarm() -> None:
    for seed in range(10):
        alarms = codes(*sample(seed, negative=200))
        assert not alarms - {"impossible-rates", "scenario-matters", "known-negatives"}  # said, not warned of


def test_few_labelled_rows_are_told_how_many_are_needed() -> None:
    labels, scores = sample(labelled=20)
    result = pulens.evaluate(
        labels, scores, class_prior=0.2, scenario="case-control", threshold=1.0, redraws=100, labelling="random"
    )
    message = next(str(notice) for notice in result.notices if notice.code == "wide-recall")
    assert "labelled positives" in message
    assert labelled_needed(0.05, rate=0.5) == 385
    assert labelled_needed(0.1, rate=0.9, confidence=0.9) == 25


def test_a_class_prior_beyond_what_scores_allow_is_serious() -> None:
    assert "prior-not-feasible" in codes(*sample(gap=3.0), class_prior=0.5)
    assert "prior-not-feasible" not in codes(*sample(gap=3.0), class_prior=0.2)


def test_known_negatives_show_that_labelling_is_not_random() -> None:
    labels, scores = sample(negative=1000)
    favoured = scores + np.where(labels == 1, 1.0, 0.0)  # high positives were labelled more often
    assert "not-a-mixture" in codes(labels, favoured)
    assert "not-a-mixture" not in codes(labels, scores)


def test_heavy_ties_are_noted() -> None:
    labels, scores = sample()
    assert "heavy-ties" in codes(labels, np.round(scores), threshold=1.0)
    assert "heavy-ties" not in codes(labels, scores)


def test_labelled_rows_left_among_the_unlabelled_are_noticed() -> None:
    labels, scores = sample()
    twice = np.concatenate([scores, scores[labels == 1]]), np.concatenate([labels, np.zeros(300, int)])
    assert "labelled-among-unlabelled" in codes(twice[1], twice[0])
    assert "labelled-among-unlabelled" not in codes(labels, np.round(scores))  # ties everywhere prove nothing


def test_groups_and_second_scores_test_the_labelling() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [200, 2000])
    fair = rng.choice(["a", "b", "c"], labels.size)
    assert check_labelling(labels, fair, class_prior=0.3) == ()
    biased = np.where((labels == 1) & (rng.random(labels.size) < 0.9), "b", "a")
    notices = check_labelling(labels, biased, class_prior=0.3)
    assert [notice.code for notice in notices] == ["labelling-not-random"]
    assert "'b'" in str(notices[0])
    second = rng.normal(np.where(labels == 1, 3.0, 0.0), 1)
    assert check_labelling(labels, second, class_prior=0.3)
    assert check_labelling(labels, rng.normal(size=labels.size), class_prior=0.3) == ()
    with pytest.raises(pulens.PulensError, match="one value per row"):
        check_labelling(labels, fair[:-1], class_prior=0.3)


def test_an_audit_whose_interval_reaches_what_is_feasible_is_no_alarm():
    labels, scores = sample(gap=3.0)
    reach = pulens.priors.feasible_range(pulens.counts.tally.Tally.from_arrays(labels, scores), confidence=0.999)
    result = math.ceil(reach.high * 50) + 1  # by the share alone it would be too high
    assert "prior-not-feasible" not in codes(labels, scores, audit=(result, 50))
    assert "prior-not-feasible" in codes(labels, scores, audit=(200 * result, 10_000))
    assert "prior-not-feasible" in codes(labels, scores, class_prior=result / 50)
