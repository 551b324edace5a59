"""Without a class prior the evaluation estimates it."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.errors import AssumptionError


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    scores = np.concatenate([rng.normal(2, 1, 1500), rng.normal(0, 1, 4000)])
    return np.repeat([1, 0], [500, 5000]), scores  # 1000 of the 5000 unlabelled rows are positive


def test_evaluation_estimates_the_class_prior_when_none_is_given(rows):
    evaluation = pulens.evaluate(*rows)
    assert evaluation.class_prior.method == "estimated: auto"
    assert 0.2 in evaluation.class_prior.interval
    assert evaluation.class_prior.interval.confidence == 0.95
    known = pulens.evaluate(*rows, class_prior=0.2)
    assert evaluation.estimates["roc_auc"].value == pytest.approx(known.estimates["roc_auc"].value, abs=0.02)


def test_an_estimator_is_chosen_by_name(rows):
    evaluation = pulens.evaluate(*rows, class_prior="tilt")
    assert evaluation.class_prior.value == pulens.estimate_prior(*rows, method="tilt").value


def test_an_unknown_estimator_is_refused_with_the_names_there_are(rows):
    with pytest.raises(AssumptionError, match=r"no class-prior estimator 'tlit'.*'tilt'.*Did you mean 'tilt'"):
        pulens.evaluate(*rows, class_prior="tlit")


def test_a_sample_too_small_to_estimate_from_is_refused_with_the_way_out():
    with pytest.raises(AssumptionError, match=r"from 3 labelled and 5 unlabelled rows.*Give class_prior="):
        pulens.evaluate([1, 1, 1, 0, 0, 0, 0, 0], [0.85, 0.65, 0.45, 0.9, 0.7, 0.5, 0.3, 0.2])


def test_single_set_priors_speak_of_all_rows(rows):
    among_unlabelled = pulens.estimate_prior(*rows)
    in_all = pulens.estimate_prior(*rows, scenario="single-set")
    assert in_all.unlabelled == among_unlabelled.unlabelled
    assert in_all.value == pytest.approx((500 + 5000 * in_all.unlabelled) / 5500)
    assert in_all.feasible.high == pytest.approx((500 + 5000 * in_all.unlabelled_feasible.high) / 5500)
