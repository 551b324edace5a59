"""Two models judged by the same checked rows: exact where all rows were checked, honest where few were."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.audits import Reviews
from pulens.audits.comparing import compare_reviewed
from pulens.errors import PulensError
from pulens.scenario import Scenario


def truth_of(decision: np.ndarray, positive: np.ndarray) -> dict[str, float]:
    hits = (decision & positive).sum()
    return {
        "precision": hits / decision.sum(),
        "recall": hits / positive.sum(),
        "f1": 2 * hits / (decision.sum() + positive.sum()),
    }


def audited(seed: int, budget: int = 200, rows: int = 3000) -> tuple[Reviews, np.ndarray, np.ndarray, np.ndarray]:
    """Rows in four ranges of the first model's score, some of each checked; both models' decisions, and the truth."""
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.15
    shared = rng.normal(size=rows)
    first, second = (gap * positive + 0.8 * shared + 0.6 * rng.normal(size=rows) for gap in (1.6, 1.2))
    cell = np.sum(first[:, None] < np.array([1.2, 0.6, 0.0]), axis=1)
    answer = np.full(rows, -2, np.int8)
    chance = np.zeros(4)
    for stratum, share in enumerate((0.4, 0.2, 0.2, 0.2)):
        inside = np.flatnonzero(cell == stratum)
        taken = rng.choice(inside, int(share * budget), replace=False)
        answer[taken] = positive[taken]
        chance[stratum] = taken.size / inside.size
    reviews = Reviews(
        cell=cell,
        answer=answer,
        labels=np.zeros(rows, np.int8),
        scores=first,
        probability=chance,
        scenario=Scenario.CASE_CONTROL,
    )
    return reviews, first >= 1.2, second >= 1.0, positive


def test_all_rows_checked_gives_the_difference_itself() -> None:
    rng = np.random.default_rng(0)
    positive, one, two = rng.random((3, 60)) < 0.4
    reviews = Reviews.reviewed_above(np.zeros(60), np.ones(60), 1, answers=positive.astype(int))
    result = compare_reviewed(reviews, one, two)
    for name, pair in result.items():
        expected = truth_of(one, positive)[name] - truth_of(two, positive)[name]
        assert pair.value == pytest.approx(expected)
        assert pair.interval.width == pytest.approx(0)


def test_labelled_positives_count_in_the_single_set_and_not_in_case_control() -> None:
    labels = np.array([1, 0, 0, 0, 0, 0])
    answers = [None, 1, 0, 1, 0, 0]
    one, two = np.arange(6) < 3, np.arange(6) % 2 == 1
    single = compare_reviewed(Reviews.reviewed_above(labels, np.arange(6), 0, answers=answers), one, two)
    apart = compare_reviewed(
        Reviews.reviewed_above(labels, np.arange(6), 0, answers=answers, scenario="case-control"), one, two
    )
    assert single["recall"].value == pytest.approx(2 / 3 - 2 / 3)
    assert apart["recall"].value == pytest.approx(1 / 2 - 2 / 2)
    assert apart["precision"].value == pytest.approx(1 / 2 - 2 / 3)


def test_intervals_hold_the_difference_about_as_often_as_they_say() -> None:
    held = {"f1": 0, "precision": 0, "recall": 0}
    audits = 150
    for seed in range(audits):
        reviews, one, two, positive = audited(seed)
        for name, pair in compare_reviewed(reviews, one, two, draws=1000, seed=seed).items():
            held[name] += truth_of(one, positive)[name] - truth_of(two, positive)[name] in pair.interval
    for name, count in held.items():
        assert count >= 0.90 * audits, name  # 95% less three simulation errors


def test_a_model_against_itself_differs_by_nothing() -> None:
    reviews, one, _, _ = audited(3)
    for pair in compare_reviewed(reviews, one, one).values():
        assert (pair.value, pair.interval.low, pair.interval.high) == (0, 0, 0)
        assert not pair.is_clear


def test_turning_the_pair_turns_the_sign() -> None:
    reviews, one, two, _ = audited(4)
    there, back = compare_reviewed(reviews, one, two)["f1"], compare_reviewed(reviews, two, one)["f1"]
    assert there.value == pytest.approx(-back.value)
    assert there.interval.low == pytest.approx(-back.interval.high, abs=0.02)


def test_parts_without_a_checked_row_widen_the_interval_to_all_they_may_hold() -> None:
    answers = [1, 1, 0, 0, "", "", "", ""]
    scores = np.arange(8, 0, -1.0)
    reviews = Reviews.reviewed_above(np.zeros(8), scores, 5, answers=answers)
    pair = compare_reviewed(reviews, scores >= 7, scores <= 2)["recall"]
    assert pair.interval.low <= (2 - 2) / 4
    assert pair.interval.high == pytest.approx(1)


def test_undecided_rows_may_be_either() -> None:
    scores = np.arange(6, 0, -1.0)
    reviews = Reviews.reviewed_above(np.zeros(6), scores, 1, answers=[1, "?", 0, 1, 0, 0])
    pair = compare_reviewed(reviews, scores >= 5, scores >= 3)["precision"]
    assert pair.interval.low == pytest.approx(0.5 - 2 / 4)
    assert pair.interval.high == pytest.approx(1 - 3 / 4)


def test_metrics_without_a_difference_by_checked_rows_are_refused() -> None:
    reviews, one, two, _ = audited(5)
    with pytest.raises(PulensError, match="got 'roc_auc'"):
        compare_reviewed(reviews, one, two, metrics=("roc_auc",))
