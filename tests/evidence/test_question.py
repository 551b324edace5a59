"""One question, one door: what is assumed is checked once, and evidence that is given is not read again."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import pulens
from pulens import calibration
from pulens.errors import InputError, PulensError
from pulens.evidence import ASSUMED, Evidence, IntervalOptions, gather
from pulens.inputs import READING, ReadOptions, read_tally
from pulens.keywords import KeywordError, keywords_of
from pulens.recovery import Recovery


def rows(size: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    positive = rng.random(size) < 0.4
    return (positive & (rng.random(size) < 0.5)).astype(int), rng.beta(1 + 2 * positive, 2)


def test_a_question_is_checked_when_it_is_asked() -> None:
    for wrong in ({"scenario": "x"}, {"label_noise": 1.0}, {"confidence": 2}, {"confidence": 0.9, "redraws": 3}):
        with pytest.raises(PulensError):
            IntervalOptions(**wrong)


@pytest.mark.parametrize("door", [gather, pulens.evaluate, pulens.bounds, calibration.brier_score])
def test_a_misspelt_name_gets_the_nearest_one(door) -> None:
    with pytest.raises(KeywordError, match="Did you mean 'class_prior'"):
        door(*rows(), class_piror=0.4)


def test_every_door_takes_what_a_reading_holds() -> None:
    assert keywords_of(read_tally) - {"bin_errors", "allow_one_kind"} == READING
    assert keywords_of(ReadOptions) == READING | {"cluster"}  # which doors without intervals of rows do not take
    assert keywords_of(pulens.evaluate) >= keywords_of(ReadOptions) | set(ASSUMED)


@pytest.mark.parametrize(
    "door",
    [
        pulens.evaluate,
        pulens.bounds,
        pulens.metrics.roc_auc,
        pulens.metrics.proxy_roc_auc,
        calibration.reliability,
        calibration.brier_score,
        calibration.log_loss,
        calibration.calibration_slope,
        calibration.recalibrate,
    ],
    ids=lambda door: door.__name__,
)
def test_evidence_given_to_a_door_answers_as_its_rows_do(door, monkeypatch) -> None:
    assumed = {"class_prior": 0.4, "scenario": "single-set"}
    evidence, expected = gather(*rows(), **assumed), door(*rows(), **assumed)
    monkeypatch.setattr("pulens.evidence.question.read_counts", None)  # reading again would call it
    assert str(door(evidence)) == str(expected)


def test_nothing_can_be_said_of_evidence_that_is_settled() -> None:
    evidence = gather(*rows(), class_prior=0.4)
    with pytest.raises(InputError, match="class_prior= cannot be changed now"):
        pulens.evaluate(evidence, class_prior=0.3, labelling="random")
    with pytest.raises(InputError, match="score= cannot be changed now"):
        calibration.brier_score(evidence, score="p", labelling="random")
    with pytest.raises(InputError, match="scores= cannot be changed now"):
        pulens.bounds(evidence, rows()[1])


def test_evidence_derives_its_recovery_once(monkeypatch) -> None:
    evidence = gather(*rows(), class_prior=0.4)
    derived = []
    derive = Recovery.of.__func__
    monkeypatch.setattr(Recovery, "of", classmethod(lambda cls, *given: derived.append(1) or derive(cls, *given)))
    for _ in range(3):
        assert evidence.recovery.class_prior == pytest.approx(0.4)
        assert evidence.target_population
    assert len(derived) == 1


def test_evidence_that_travels_leaves_behind_what_it_derived() -> None:
    evidence = gather(*rows(), class_prior=0.4)
    assert evidence.recovery.positive > 0
    for travelled in (pickle.loads(pickle.dumps(evidence)), copy.deepcopy(evidence)):
        assert isinstance(travelled, Evidence)
        assert "recovery" not in travelled.__dict__
        assert travelled.recovery == evidence.recovery
