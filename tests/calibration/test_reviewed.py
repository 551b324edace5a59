"""Reliability by checked rows: what they stand for, how sure it is, nothing assumed about labels."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.audits import Reviews
from pulens.calibration import reviewed_reliability
from pulens.errors import InputError
from pulens.scenario import Scenario


def audited(seed: int, rows: int = 3000) -> tuple[Reviews, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    promised = rng.beta(0.6, 2.0, rows)
    positive = rng.random(rows) < promised**1.5
    cell = np.sum(promised[:, None] < np.array([0.5, 0.2]), axis=1)
    answer = np.full(rows, -2, np.int8)
    for stratum, many in enumerate((80, 80, 80)):
        taken = rng.choice(np.flatnonzero(cell == stratum), many, replace=False)
        answer[taken] = positive[taken]
    reviews = Reviews(
        cell=cell,
        answer=answer,
        labels=np.zeros(rows, np.int8),
        scores=promised,
        probability=np.array([0.2, 0.1, 0.05]),
        scenario=Scenario.CASE_CONTROL,
    )
    return reviews, promised, positive


def test_intervals_hold_the_share_of_their_bin() -> None:
    held = []
    for seed in range(40):
        reviews, promised, positive = audited(seed)
        for one in reviewed_reliability(reviews, promised, draws=800, seed=seed).bins:
            inside = (promised > (one.low or -1)) & (promised <= one.high)
            assert one.rows == inside.sum()
            assert one.promised == pytest.approx(promised[inside].mean())
            held.append(positive[inside].mean() in one.interval)
    assert np.mean(held) >= 0.93  # 400 bins


def test_bins_that_promise_too_much_are_named() -> None:
    reviews, promised, _ = audited(1)
    result = reviewed_reliability(reviews, promised)
    assert {one.verdict for one in result.bins} == {"", "overconfident"}
    assert 0.03 < result.error < 0.2
    assert "too high" in str(result)
    assert result.to_dict()["bins"][0]["basis"] == "design"


def test_rows_stand_for_those_of_their_own_stratum() -> None:
    promised = np.full(30, 0.5)
    answers = np.full(30, -2)
    answers[:10] = 1  # all ten of the first stratum are positive, and two checked of twenty are not
    answers[10:12] = 0
    reviews = Reviews(
        cell=np.repeat([0, 1], [10, 20]),
        answer=answers.astype(np.int8),
        labels=np.zeros(30, np.int8),
        scores=promised,
        probability=np.array([1.0, 0.1]),
    )
    (one,) = reviewed_reliability(reviews, promised, bins=1).bins
    assert one.share == pytest.approx(10 / 30)


def test_labelled_rows_belong_to_the_single_set() -> None:
    promised = np.array([0.9, 0.8, 0.7, 0.6])
    reviews = Reviews.reviewed_above([1, 0, 0, 0], promised, 0.5, answers=[None, 1, 0, 0])
    (one,) = reviewed_reliability(reviews, promised, bins=1).bins
    assert (one.rows, one.share) == (4, 0.5)
    apart = Reviews.reviewed_above([1, 0, 0, 0], promised, 0.5, answers=[None, 1, 0, 0], scenario="case-control")
    (one,) = reviewed_reliability(apart, promised, bins=1).bins
    assert (one.rows, one.share) == (3, pytest.approx(1 / 3))


@pytest.mark.parametrize(("promised", "words"), [([0.5], "give one each"), ([0.5, 1.5, 0.1], "must lie in")])
def test_what_is_no_probability_is_refused(promised: list[float], words: str) -> None:
    reviews = Reviews.reviewed_above([0, 0, 0], [0.9, 0.5, 0.1], 0, answers=[1, 0, 0])
    with pytest.raises(InputError, match=words):
        reviewed_reliability(reviews, promised)
