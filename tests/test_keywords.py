"""A misspelt keyword is named at the door that was called, with the one that was meant."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import pulens
import pulens.calibration
import pulens.metrics
import pulens.sklearn
from pulens import Tally
from pulens.errors import PulensError
from pulens.inputs import read_joint, read_tallies, read_tally
from pulens.keywords import KeywordError, forwards_keywords
from pulens.priors.from_features import estimate_prior_from_features

RNG = np.random.default_rng(0)
LABELS = np.repeat([1, 0], [40, 160])
SCORES = 1 / (1 + np.exp(-RNG.normal(LABELS)))
TALLY = Tally.from_arrays(LABELS, SCORES)
FRAME = pl.DataFrame({"score": SCORES, "other": 1 - SCORES, "label": LABELS, "site": np.arange(200) % 2})
ASSUMED = {"class_prior": 0.4, "scenario": "single-set"}
EVALUATION = pulens.evaluate(TALLY, threshold=0.5, confidence=None, **ASSUMED, labelling="random")

#: a call of each door with further keywords, and the name that its message must give
DOORS = {
    "evaluate": lambda **more: pulens.evaluate(LABELS, SCORES, **more, labelling="random"),
    "evaluate a tally": lambda **more: pulens.evaluate(TALLY, **more, labelling="random"),
    "evaluate inside an engine": lambda **more: pulens.evaluate(FRAME.lazy(), **more, labelling="random"),
    "evaluate_by": lambda **more: pulens.evaluate_by(FRAME, "site", **more, labelling="random"),
    "gaps_by": lambda **more: pulens.gaps_by(FRAME, "site", **more, labelling="random"),
    "compare": lambda **more: pulens.compare(LABELS, {"a": SCORES, "b": -SCORES}, **more, labelling="random"),
    "compare inside an engine": lambda **more: pulens.compare(
        FRAME.lazy(), score=["score", "other"], **more, labelling="random"
    ),
    "bounds": lambda **more: pulens.bounds(LABELS, SCORES, **more),
    "estimate_prior": lambda **more: pulens.estimate_prior(LABELS, SCORES, **more),
    "estimate_prior of a tally": lambda **more: pulens.estimate_prior(TALLY, **more),
    "estimate_prior_and_noise": lambda **more: pulens.estimate_prior_and_noise(TALLY, **more),
    "estimate_prior_from_features": lambda **more: estimate_prior_from_features(SCORES[:, None], LABELS, **more),
    "roc_auc": lambda **more: pulens.metrics.roc_auc(LABELS, SCORES, **more),
    "pulp": lambda **more: pulens.metrics.pulp(LABELS, SCORES, **more),
    "precision": lambda **more: pulens.metrics.precision(LABELS, SCORES, threshold=0.5, **more),
    "scorer": lambda **more: pulens.sklearn.scorer("roc_auc", **more),
    "from_predictions": lambda **more: pulens.sklearn.RocCurveDisplay.from_predictions(LABELS, SCORES, **more),
    "read_tally": lambda **more: read_tally(FRAME.lazy(), **more),
    "read_tallies": lambda **more: read_tallies(FRAME, group_by="site", **more),
    "read_joint": lambda **more: read_joint(FRAME.lazy(), score=["score", "other"], **more),
    "synthesise": lambda **more: pulens.synthesise(SCORES[:, None], LABELS, **more),
    **{
        name: lambda name=name, **more: getattr(pulens.calibration, name)(LABELS, SCORES, **more)
        for name in (
            "expected_calibration_error",
            "reliability",
            "brier_score",
            "log_loss",
            "calibration_in_the_large",
            "calibration_slope",
            "recalibrate",
        )
    },
    "classwise_calibration_error": lambda **more: pulens.calibration.classwise_calibration_error(
        ["a", None], [[1.0], [0.5]], classes=["a"], class_prior=[0.5], **more
    ),
}
SAID = {
    "read_tally": ("postive", "positive"),
    "read_tallies": ("postive", "positive"),
    "read_joint": ("postive", "positive"),
    "estimate_prior": ("scenrio", "scenario"),
    "estimate_prior of a tally": ("scenrio", "scenario"),
    "estimate_prior_and_noise": ("scenrio", "scenario"),
    "estimate_prior_from_features": ("scenrio", "scenario"),
    "classwise_calibration_error": ("confidance", "confidence"),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_misspelt_keyword_is_named_at_the_door_that_was_called(door):
    typed, meant = SAID.get(door, ("class_piror", "class_prior"))
    with pytest.raises(TypeError, match=rf"\b{door.split()[0]}\(\).*Did you mean '{meant}'\?") as caught:
        DOORS[door](**{typed: 0.3})
    assert isinstance(caught.value, PulensError)
    assert repr(typed) in str(caught.value)


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: EVALUATION.sensitivity("recall", factor=2, treshold=0.5), "threshold"),
        (lambda: EVALUATION.sensitivity_curve("recall", factor=[1, 2]), "factors"),
        (lambda: EVALUATION.robustness("recall > 0.1", favors="low"), "favours"),
        (lambda: EVALUATION.best_threshold("f_beta", bta=2), "beta"),
        (lambda: EVALUATION.bounds().metric("f_beta", threshold=0.5, bta=2), "beta"),
        (lambda: pulens.metrics.f_beta(TALLY, threshold=0.5, bta=2, **ASSUMED), "beta"),
        (lambda: pulens.sklearn.scorer("f_beta", threshold=0.5, bta=2), "beta"),
    ],
)
def test_parameters_of_metrics_are_named_too(call, meant):
    with pytest.raises(KeywordError, match=f"Did you mean '{meant}'"):
        call()


def test_a_keyword_like_no_other_is_answered_with_all_there_are():
    with pytest.raises(KeywordError, match=r"evaluate\(\) has no argument 'xyz'\. It takes 'audit',.*'reviews'"):
        pulens.evaluate(LABELS, SCORES, xyz=1, labelling="random")


def test_rows_may_be_given_by_name():
    result = pulens.evaluate(labels=LABELS, scores=SCORES, confidence=None, **ASSUMED, labelling="random")
    assert result.tally == TALLY


def test_what_a_door_hands_on_is_known_to_the_doors_before_it():
    @forwards_keywords(("tolerance",))
    def inner(rows, *, where=None, **more):
        return where, more

    @forwards_keywords(inner)
    def outer(rows, *, prior=None, **more):
        return prior, inner(rows, **more)

    assert outer([], prior=1, where=2, tolerance=3) == (1, (2, {"tolerance": 3}))
    with pytest.raises(KeywordError, match=r"outer\(\) has no argument 'were'\. Did you mean 'where'"):
        outer([], were=2)
