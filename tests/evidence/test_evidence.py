"""What is given about the class prior is used, refused or warned of: never dropped without a word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulens
import pulens.calibration
import pulens.metrics
import pulens.sklearn
from pulens import ClassPrior, Tally
from pulens.errors import AssumptionError
from pulens.estimate import Interval

LABELS, SCORES = np.repeat([1, -1], [30, 50]), np.linspace(1, 0, 80)
TALLY = Tally.from_arrays(LABELS, SCORES)
COUNTED = 30 / 80

DOORS = {
    "evaluate": lambda **more: pulens.evaluate(
        LABELS, SCORES, negative=-1, confidence=None, **more, labelling="random"
    ),
    "evaluate a tally": lambda **more: pulens.evaluate(TALLY, confidence=None, **more, labelling="random"),
    "metric": lambda **more: pulens.metrics.precision(TALLY, threshold=0.5, **more),
    "compare": lambda **more: pulens.compare(
        LABELS,
        {"a": SCORES, "b": 1 - SCORES},
        negative=-1,
        redraws=100,
        metrics=["roc_auc"],
        **more,
        labelling="random",
    ),
    "calibration": lambda **more: pulens.calibration.calibration_in_the_large(TALLY, **more, labelling="random"),
    "scorer": lambda **more: pulens.sklearn.scorer("precision", threshold=0.5, negative=-1, **more)(
        Ranker(), SCORES, LABELS
    ),
}


class Ranker:
    def decision_function(self, X):
        return X


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "class_prior", [0.2, (0.1, 0.3), (0.4, 0.5), ClassPrior(0.2, 0.2, "given"), 0.0, np.float64(0.9)]
)
def test_a_class_prior_that_contradicts_counted_rows_is_refused_with_both_numbers(door, scenario, class_prior):
    told = class_prior.value if isinstance(class_prior, ClassPrior) else class_prior
    with pytest.raises(AssumptionError, match=r"counted: 0\.375, which contradicts class_prior=") as caught:
        DOORS[door](class_prior=class_prior, scenario=scenario)
    assert repr(told) in str(caught.value)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("class_prior", [COUNTED, (0.3, 0.4), ClassPrior(COUNTED, 0.0, "counted"), "auto", None])
def test_a_class_prior_that_agrees_with_counted_rows_is_taken(door, class_prior):
    DOORS[door](class_prior=class_prior, scenario="single-set")


@pytest.mark.parametrize("door", DOORS)
def test_an_unlabelled_prior_without_unlabelled_rows_is_refused(door):
    with pytest.raises(AssumptionError, match=r"unlabelled_prior=0\.3 is about unlabelled rows, and there are none"):
        DOORS[door](unlabelled_prior=0.3, scenario="single-set")
    DOORS[door](unlabelled_prior=0, scenario="single-set")


def test_an_audit_without_unlabelled_rows_is_refused():
    with pytest.raises(AssumptionError, match=r"audit=\(3, 20\) is about unlabelled rows, and there are none"):
        pulens.evaluate(TALLY, audit=(3, 20), scenario="single-set", labelling="random")


def test_metrics_that_need_no_class_prior_take_rows_that_are_all_known():
    known = np.where(LABELS == 1, 1, 0)
    assert pulens.metrics.pulp(TALLY).value == pulens.metrics.pulp(known, SCORES).value
    pulens.compare(
        LABELS, {"a": SCORES, "b": 1 - SCORES}, negative=-1, redraws=100, metrics=["pulp"], labelling="random"
    )


@given(labelled=st.integers(1, 40), negative=st.integers(1, 40), noise=st.sampled_from([0.0, 0.2]))
def test_whatever_is_counted_may_be_given(labelled, negative, noise):
    labels = np.repeat([1, -1], [labelled, negative])
    share = (1 - noise) * labelled / (labelled + negative)
    options = {"negative": -1, "label_noise": noise, "scenario": "single-set", "confidence": None}
    result = pulens.evaluate(labels, np.arange(labels.size), class_prior=share, **options, labelling="random")
    assert result.class_prior.value == share
    with pytest.raises(AssumptionError, match="contradicts"):
        pulens.evaluate(labels, np.arange(labels.size), class_prior=share / 2, **options, labelling="random")


def test_a_class_prior_and_an_unlabelled_prior_are_never_taken_together():
    prior = ClassPrior(0.3, 0.3, "given")
    for class_prior in (prior, 0.3, "auto"):
        with pytest.raises(AssumptionError, match="give exactly one of class_prior"):
            pulens.evaluate([1, 0, 0], [3, 2, 1], class_prior=class_prior, unlabelled_prior=0.2, labelling="random")


def test_a_class_prior_of_another_scenario_or_of_other_rows_is_warned_of_first():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [200, 800])
    scores = rng.normal(labels)
    prior = ClassPrior(0.36, 0.2, "estimated", Interval(0.3, 0.4, 0.95, ""), Interval(0.125, 0.25, 0.95, ""))
    options = {"class_prior": prior, "confidence": None, "threshold": 0.5}
    fits = pulens.evaluate(labels, scores, scenario="single-set", **options, labelling="random")
    assert not any(notice.code == "prior-of-other-rows" for notice in fits.notices)
    moved = pulens.evaluate(labels, scores, scenario="case-control", **options, labelling="random")
    assert moved.notices[0].code == "prior-of-other-rows"
    assert "0.36 in the population and 0.2 among" in moved.warnings[0]
    fewer = pulens.evaluate(labels[150:], scores[150:], scenario="single-set", **options, labelling="random")
    assert fewer.notices[0].code == "prior-of-other-rows"
    again = pulens.evaluate(
        fewer.tally, scenario="single-set", **{**options, "class_prior": fewer.class_prior}, labelling="random"
    )
    assert [notice.code for notice in again.notices].count("prior-of-other-rows") == 1


def test_bounds_refuse_label_noise_instead_of_ignoring_it():
    with pytest.raises(AssumptionError, match=r"clean labels only, got label_noise=0\.3"):
        pulens.bounds([1, 0, 0], [3, 2, 1], class_prior=0.4, label_noise=0.3, scenario="single-set")
