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
    evaluation = pulens.evaluate(*rows, scenario="case-control", labelling="random")
    assert evaluation.class_prior.method == "estimated: auto"
    assert 0.2 in evaluation.class_prior.interval
    assert evaluation.class_prior.interval.confidence == 0.95
    known = pulens.evaluate(*rows, class_prior=0.2, scenario="case-control", labelling="random")
    assert evaluation.estimates["roc_auc"].value == pytest.approx(known.estimates["roc_auc"].value, abs=0.02)


def test_an_estimator_is_chosen_by_name(rows):
    evaluation = pulens.evaluate(*rows, class_prior="tilt", scenario="case-control", labelling="random")
    assert evaluation.class_prior.value == pulens.estimate_prior(*rows, method="tilt", scenario="case-control").value


def test_an_unknown_estimator_is_refused_with_the_names_there_are(rows):
    with pytest.raises(AssumptionError, match=r"no class-prior estimator 'tlit'.*'tilt'.*Did you mean 'tilt'"):
        pulens.evaluate(*rows, class_prior="tlit", scenario="case-control", labelling="random")


def test_a_sample_too_small_to_estimate_from_is_refused_with_the_way_out():
    with pytest.raises(AssumptionError, match=r"from 3 labelled and 5 unlabelled rows.*Give class_prior="):
        pulens.evaluate(
            [1, 1, 1, 0, 0, 0, 0, 0],
            [0.85, 0.65, 0.45, 0.9, 0.7, 0.5, 0.3, 0.2],
            scenario="case-control",
            labelling="random",
        )


def test_single_set_priors_speak_of_all_rows(rows):
    among_unlabelled = pulens.estimate_prior(*rows, scenario="case-control")
    in_all = pulens.estimate_prior(*rows, scenario="single-set")
    assert in_all.unlabelled == among_unlabelled.unlabelled
    assert in_all.value == pytest.approx((500 + 5000 * in_all.unlabelled) / 5500)
    assert in_all.feasible.high == pytest.approx((500 + 5000 * in_all.unlabelled_feasible.high) / 5500)


def codes(prior):
    return {notice.code for notice in prior.notices}


def test_good_scores_and_many_rows_raise_no_warning(rows):
    assert codes(pulens.estimate_prior(*rows, scenario="case-control")) == {"prior-identified-from-above"}


def test_negatives_wider_than_positives_are_warned_of():
    rng = np.random.default_rng(3)
    scores = np.concatenate([rng.normal(1.5, 1, 6000), rng.normal(0, 1.5, 19_000)])
    prior = pulens.estimate_prior(
        np.repeat([1, 0], [5000, 20_000]), scores, scenario="case-control"
    )  # 1000 of 20000 are positive
    assert codes(prior) & {"shape-dependent-prior", "no-anchor-region", "flat-likelihood"}


def test_weak_scores_and_few_labels_are_warned_of():
    rng = np.random.default_rng(3)
    scores = np.concatenate([rng.normal(0.4, 1, 350), rng.normal(0, 1, 700)])
    prior = pulens.estimate_prior(np.repeat([1, 0], [50, 1000]), scores, scenario="case-control")
    assert {"few-labelled-for-prior", "weak-scores-for-prior", "flat-likelihood"} <= codes(prior)


def test_reversed_scores_are_called_serious(rows):
    labels, scores = rows
    prior = pulens.estimate_prior(labels, -scores, scenario="case-control")
    assert prior.notices[0].code == "reversed-scores"


def test_a_seed_is_accepted_by_every_method_and_matters_only_to_random_ones(rows):
    assert pulens.estimate_prior(*rows, seed=1, scenario="case-control") == pulens.estimate_prior(
        *rows, seed=2, scenario="case-control"
    )
    first, second = (
        pulens.estimate_prior(*rows, method="elkan_noto_e1", seed=seed, scenario="case-control").value
        for seed in (1, 2)
    )
    assert first != second
    assert first == pulens.estimate_prior(*rows, method="elkan_noto_e1", seed=1, scenario="case-control").value
