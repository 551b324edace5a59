"""Containers, dtypes and single numbers that people hand over: read for what they mean, or refused in words."""

from __future__ import annotations

import decimal
import fractions

import numpy as np
import pandas as pd
import pytest

import pulens
from pulens import calibration
from pulens.errors import InputError, PulensError
from pulens.scalars import real, whole

RNG = np.random.default_rng(38)
LABELS = (RNG.random(300) < 0.3).astype(int)
SCORES = RNG.normal(size=300) + LABELS
GIVEN = {"class_prior": 0.05, "scenario": "case-control"}
EVALUATE = {**GIVEN, "confidence": None}


def area(labels=LABELS, scores=SCORES, **options) -> float:
    return pulens.evaluate(labels, scores, **EVALUATE, **options, labelling="random")["roc_auc"].value


@pytest.mark.slow
def test_tensors_count_whatever_their_gradient_and_precision():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    assert area(torch.tensor(LABELS), torch.tensor(SCORES, requires_grad=True)) == area()
    coarse = torch.tensor(SCORES, dtype=torch.bfloat16)
    assert area(LABELS, coarse) == area(LABELS, coarse.float().numpy())
    assert area(LABELS, [torch.tensor(float(score), requires_grad=True) for score in SCORES]) == pytest.approx(
        area(LABELS, SCORES.astype(np.float32)), abs=1e-3
    )


def test_values_under_a_mask_are_not_there():
    hidden = np.arange(300) < 40
    scores = np.ma.array(np.where(hidden, -999.0, SCORES), mask=hidden)
    weights = np.ma.array(np.ones(300), mask=hidden)
    with pytest.raises(InputError, match=r"scores must be finite numbers.*row 0 .*40 such rows"):
        area(LABELS, scores)
    with pytest.raises(InputError, match=r"weights must be finite numbers.*40 such rows"):
        area(weights=weights)
    labels = np.ma.array(LABELS, mask=hidden)
    assert area(labels) == area(pd.Series(LABELS, dtype="Int64").mask(hidden)) != area()
    assert area(np.ma.array(LABELS), np.ma.array(SCORES)) == area()


def test_an_array_with_fields_is_told_to_give_one():
    fields = np.array(list(zip(LABELS, SCORES, strict=True)), [("label", int), ("score", float)])
    for labels, scores in ((fields, SCORES), (LABELS, fields)):
        with pytest.raises(InputError, match=r"array with fields \('label', 'score'\).*array\['label'\]"):
            area(labels, scores)
    assert area(fields["label"], fields["score"]) == area()


def test_a_label_value_may_be_an_array_without_dimensions():
    assert area(unlabelled=np.array(0)) == area(positive=np.array(1)) == area()
    with pytest.raises(InputError, match="undeclared label value"):
        area(unlabelled=np.array(0.3))
    with pytest.raises(InputError, match="must be text or a number"):
        area(positive=[[1]])


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (np.array(0.5), 0.5),
        (np.float32(0.5), 0.5),
        (decimal.Decimal("0.5"), 0.5),
        (fractions.Fraction(1, 2), 0.5),
        (10**400, float("inf")),
        (-(10**400), float("-inf")),
    ],
)
def test_numbers_of_every_library_are_numbers(value, number):
    assert real(value) == number


@pytest.mark.parametrize(
    "value", [None, "0.5", True, np.True_, pd.NA, pd.NaT, [0.5], np.array([0.5]), 1j, {}, object()]
)
def test_what_is_no_number_is_none(value):
    assert np.isnan(real(value))
    assert whole(value) is None


HUGE = 10**400
SINGLE_NUMBERS = {
    "label_noise": lambda: pulens.evaluate(LABELS, SCORES, **EVALUATE, label_noise=HUGE, labelling="random"),
    "confidence": lambda: pulens.evaluate(LABELS, SCORES, **GIVEN, confidence=HUGE, labelling="random"),
    "worlds": lambda: pulens.evaluate(
        LABELS, SCORES, **EVALUATE, worlds=1e308, cluster=np.arange(300) // 3, labelling="random"
    ),
    "metrics": lambda: pulens.compare(LABELS, {"a": SCORES, "b": -SCORES}, **GIVEN, metrics=1e19, labelling="random"),
    "reviewed_above": lambda: pulens.read_reviews(-LABELS, SCORES, reviewed_above=HUGE),
    "threshold": lambda: pulens.read_reviews(-LABELS, SCORES, reviewed_above=0.0, threshold="1%"),
    "seed": lambda: pulens.read_reviews(-LABELS, SCORES, reviewed_above=0.0, seed=0.5),
    "no confidence": lambda: pulens.bounds(LABELS, SCORES, **GIVEN, confidence=None),
    "band": lambda: pulens.bounds(LABELS, SCORES, **GIVEN, band=pd.NA),
    "long path": lambda: pulens.read_reviews(LABELS, SCORES, reviews="a" * 100_000),
    "delimiter": lambda: pulens.evaluate(LABELS, SCORES, **EVALUATE, delimiter=pd.NA, labelling="random"),
    "scenario": lambda: pulens.evaluate(LABELS, SCORES, class_prior=0.5, scenario=HUGE**20, labelling="random"),
    "class prior": lambda: pulens.evaluate(LABELS, SCORES, class_prior=HUGE**20, labelling="random"),
    "group_by": lambda: pulens.gaps_by(
        pd.DataFrame({"label": LABELS, "score": SCORES}), 3, threshold=0.0, labelling="random"
    ),
    "redraws": lambda: calibration.expected_calibration_error(
        LABELS, SCORES, scores_are="log_odds", **GIVEN, redraws=None, labelling="random"
    ),
}


@pytest.mark.parametrize("call", SINGLE_NUMBERS)
def test_numbers_and_names_that_cannot_be_are_refused_in_words(call):
    with pytest.raises(PulensError) as caught:
        SINGLE_NUMBERS[call]()
    assert 20 < len(str(caught.value)) < 500


@pytest.mark.parametrize("size", [0, float("nan"), -1, None, "a", HUGE])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_bounds_of_the_calibration_error_refuse_sizes_that_no_rows_have(place, size):
    given = [0.3, 100, 200]
    given[place] = size
    for bound in (
        lambda: calibration.best_evaluation_bound(*given),
        lambda: calibration.best_training_bound(*given, vc_dimension=5),
        lambda: calibration.evaluation_bound(*given, 3),
    ):
        with pytest.raises(PulensError, match=r"must be|must lie"):
            bound()


def test_messages_have_a_readable_length_in_python_too():
    with pytest.raises(PulensError) as caught:
        pulens.inputs.read_sample("a/" * 50_000 + "b.csv")
    assert len(str(caught.value)) < 500
    assert len(str(PulensError("a" * 100_000))) == 400
    assert len(str(InputError("no such thing; " * 10_000))) == 2000
