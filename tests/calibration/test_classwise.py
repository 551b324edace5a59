"""Several classes, each against the rest."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pulens.calibration import classwise_calibration_error, expected_calibration_error
from pulens.errors import InputError


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    scores = rng.dirichlet([1, 1, 1], 3_000)
    drawn = (scores.cumsum(axis=1) > rng.random((3_000, 1))).argmax(axis=1)
    names = np.array(["cat", "dog", "owl"], object)[drawn]
    labels = np.where(rng.random(3_000) < 0.3, names, None)
    return labels, scores


def test_it_is_the_mean_of_one_against_the_rest(rows):
    labels, scores = rows
    options = {"class_prior": [0.3, 0.4, 0.3], "bins": 6, "redraws": 10}
    result = classwise_calibration_error(
        labels, scores, classes=["cat", "dog", "owl"], **options, scenario="case-control"
    )
    alone = []
    for place, name in enumerate(["cat", "dog", "owl"]):
        kept = (labels == name) | (labels == None)  # noqa: E711
        alone.append(
            expected_calibration_error(
                (labels[kept] == name).astype(int),
                scores[kept, place],
                class_prior=options["class_prior"][place],
                bins=6,
                redraws=10,
                scenario="case-control",
                labelling="random",
            ).value
        )
    assert result.value == pytest.approx(np.mean(alone))
    assert [result.classes[name].value for name in ("cat", "dog", "owl")] == pytest.approx(alone)
    assert result.interval.low <= result.value <= result.interval.high
    assert json.loads(json.dumps(result.to_dict()))["classes"]["owl"]["bins"] == 6


def test_in_the_single_set_rows_of_other_classes_are_known_negatives(rows):
    labels, scores = rows
    third = [1 / 3] * 3
    result = classwise_calibration_error(
        labels, scores, classes=["cat", "dog", "owl"], class_prior=third, scenario="single-set", redraws=50
    )
    assert result.corrected < result.value
    assert all(one.value < 3 * one.noise_floor for one in result.classes.values())  # the world is calibrated


def test_priors_may_be_given_by_name(rows):
    labels, scores = rows
    options = {"classes": ["cat", "dog", "owl"], "bins": 4, "redraws": 5}
    named = classwise_calibration_error(
        labels, scores, class_prior={"owl": 0.3, "dog": 0.4, "cat": 0.3}, **options, scenario="case-control"
    )
    assert named == classwise_calibration_error(
        labels, scores, class_prior=[0.3, 0.4, 0.3], **options, scenario="case-control"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classes": ["cat", "dog"]}, "one column per class, 2 of them"),
        ({"classes": ["cat", "dog", "cow"]}, "'owl' are not among the classes"),
        ({"class_prior": [0.5, 0.5]}, "one share per class, 3 of them, got 2"),
    ],
)
def test_mismatches_are_refused(rows, change, message):
    labels, scores = rows
    options = {"classes": ["cat", "dog", "owl"], "class_prior": [0.3, 0.4, 0.3], **change}
    with pytest.raises(InputError, match=message):
        classwise_calibration_error(labels, scores, **options, scenario="case-control")
    with pytest.raises(InputError, match="same length"):
        classwise_calibration_error(
            labels[1:], scores, classes=["cat", "dog", "owl"], class_prior=[0.3, 0.4, 0.3], scenario="case-control"
        )
