"""Known negatives are said to be taken for a random draw, or to be left out, and doubted where they cannot be one."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.notice import Severity
from pulens.priors import estimate_prior, names


def sample(seed: int = 0, from_the_top: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    known = rng.normal(0, 1, 2000)
    known = np.sort(known)[-200:] if from_the_top else known[:200]
    scores = np.r_[rng.normal(1.5, 1, 500), rng.normal(0, 1, 1300), known]
    return np.repeat([1, 0, -1], [200, 1600, 200]), scores


@pytest.mark.parametrize("method", ["auto", "tilt", "best_bin", "patra_sen"])
def test_each_estimator_says_what_it_makes_of_known_negatives(method: str) -> None:
    labels, scores = sample()
    codes = {notice.code for notice in estimate_prior(labels, scores, method=method).notices}
    assert ("known-negatives-drawn" in codes) == (method in ("auto", "tilt"))
    assert ("known-negatives-unread" in codes) == (method in ("best_bin", "patra_sen"))


def test_an_estimator_reads_known_negatives_where_it_says_so() -> None:
    from pulens.priors import find

    labels, scores = sample()
    for method in names():
        without = estimate_prior(labels[labels >= 0], scores[labels >= 0], method=method).unlabelled
        moves = estimate_prior(labels, scores, method=method).unlabelled != without
        assert moves == find(method).reads_negatives, method


@pytest.mark.parametrize("scenario", ["single-set", "case-control"])
def test_negatives_from_the_top_of_a_list_are_warned_of(scenario: str) -> None:
    for from_the_top, severity in ((False, Severity.NOTE), (True, Severity.WARNING)):
        labels, scores = sample(from_the_top=from_the_top)
        result = pulens.evaluate(labels, scores, class_prior=0.3, scenario=scenario, redraws=100, labelling="random")
        (notice,) = [one for one in result.notices if one.code == "known-negatives"]
        assert notice.severity == severity
        assert "--reviewed-above" in notice.message


def test_without_known_negatives_nothing_is_said() -> None:
    labels, scores = sample()
    result = pulens.evaluate(labels[labels >= 0], scores[labels >= 0], class_prior=0.3, redraws=100, labelling="random")
    assert not [one for one in result.notices if one.code.startswith("known-negatives")]


def test_a_known_negative_of_hardly_any_weight_gives_no_warning_of_python() -> None:
    labels, scores = sample()
    labels[labels == -1] = 0
    labels[-1], weights = -1, np.ones(labels.size)
    weights[-1] = 5e-324  # the smallest number there is: its products are 0, and quotients by them infinite
    result = pulens.evaluate(labels, scores, weights=weights, class_prior=0.3, redraws=100, labelling="random").notices
    assert "known-negatives" in {notice.code for notice in result}
