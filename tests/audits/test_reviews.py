"""Logs of checked rows: cells of equal chance, reviewed rows back among the unlabelled, unknown chances refused."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.audits import ReviewLog, Reviews
from pulens.audits.estimates import design_estimates
from pulens.audits.identified import identify
from pulens.errors import AssumptionError, InputError


def table(rows: int = 100) -> tuple[np.ndarray, np.ndarray]:
    scores = np.arange(rows, 0, -1) / rows
    labels = np.zeros(rows, np.int8)
    labels[[0, 30]] = 1
    return labels, scores


def test_cells_of_equal_chance_are_cut_at_the_threshold() -> None:
    labels, scores = table()
    chance = np.where(scores > 0.8, 0.5, 0.1)
    answer = [""] * 100
    answer[1], answer[15], answer[50], answer[90] = "yes", "no", "no", "?"
    reviews = Reviews.joined({"answer": answer, "probability": chance}, labels, scores)
    counts = reviews.counts(scores >= 0.9)
    assert counts.rows.tolist() == [10, 9, 79]
    assert counts.checked.tolist() == [1, 1, 2]
    assert counts.found.tolist() == [1, 0, 0]
    assert counts.undecided.tolist() == [0, 0, 1]
    assert counts.labelled.tolist() == [1, 0, 1]
    assert counts.flagged == 1
    assert reviews.chances(scores >= 0.9).tolist() == [0.5, 0.5, 0.1]


def test_reviewed_rows_go_back_among_the_unlabelled_whatever_label_they_have_today() -> None:
    labels, scores = table()
    labels[[1, 2]] = 1, -1  # found in the review, and written into the table since
    log = {"row": [1, 2, 60], "answer": [1, 0, 0], "probability": [1.0, 1.0, 1 / 97]}
    chance = np.full(100, 1 / 97)
    reviews = Reviews.joined(
        {"answer": [{1: 1, 2: 0, 60: 0}.get(k, "") for k in range(100)], "probability": chance}, labels, scores
    )
    assert reviews.labels.sum() == 2
    assert (reviews.labels == -1).sum() == 0
    counts = reviews.counts(scores >= 0.5)
    assert counts.rows.sum() == 98
    assert counts.labelled.sum() == 2
    assert counts.known_negative.sum() == 0
    with pytest.raises(InputError, match="do not match ranges of scores"):
        Reviews.joined(log, labels, scores)


def test_a_known_negative_outside_the_review_keeps_its_meaning() -> None:
    labels, scores = table()
    labels[7] = -1
    answer = [1 if k in (2, 50) else "" for k in range(100)]
    counts = Reviews.joined({"answer": answer, "probability": [0.1] * 100}, labels, scores).counts(scores >= 0.5)
    assert counts.known_negative.tolist() == [1, 0]
    assert counts.rows.sum() == 97


def test_a_list_of_drawn_rows_is_read_where_its_chances_make_ranges_of_scores() -> None:
    labels, scores = table()  # 98 unlabelled rows: the 28 highest checked by half, the 70 others by a tenth
    free = np.flatnonzero(labels == 0)
    rows = [*free[:14].tolist(), *free[28:35].tolist()]
    log = {"row": rows, "answer": ["yes"] * 10 + ["no"] * 11, "probability": [0.5] * 14 + [0.1] * 7}
    reviews = Reviews.joined(log, labels, scores)
    counts = reviews.counts(scores >= scores[free[27]])
    assert counts.rows.tolist() == [28, 70]
    assert counts.checked.tolist() == [14, 7]
    assert counts.found.tolist() == [10, 0]
    assert counts.labelled.tolist() == [1, 1]
    assert reviews.are_ranges(scores >= 0.9)


def test_open_answers_of_a_list_are_undecided_before_the_last_answer_and_not_reached_after() -> None:
    labels, scores = table()
    labels[:] = 0
    log = {"row": [3, 9, 40, 70], "answer": ["yes", "", "no", ""], "probability": [0.04] * 4}
    counts = Reviews.joined(log, labels, scores).counts(scores >= 0.5)
    assert counts.checked.tolist() == [3, 0]
    assert counts.undecided.tolist() == [1, 0]


def test_rows_are_joined_by_id() -> None:
    labels, scores = table()
    ids = [f"case {k}" for k in range(100)]
    log = ReviewLog.of({"case": ids[::-1], "answer": ["no"] * 100, "probability": [1.0] * 100}, id="case")
    counts = Reviews.joined(log, labels, scores, ids=ids).counts(scores >= 0.5)
    assert counts.checked.sum() == 100
    with pytest.raises(InputError, match="no row has this id"):
        Reviews.joined(log, labels, scores, ids=[*ids[:-1], "another"])


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ({"answer": [1] * 100}, "say how the rows were chosen"),
        ({"row": [1], "answer": [1]}, "say how the rows were chosen"),
        ({"answer": [1] * 100, "probability": [0.5] * 99 + [""]}, "say how the rows were chosen"),
        ({"answer": [1] * 100, "probability": [0.5] * 99 + [0]}, "its probability is 0"),
        ({"answer": [1] * 100, "probability": [0.5] * 99 + [1.5]}, "must lie in"),
        ({"answer": [1] * 100, "probability": np.arange(1, 101) / 100}, "at most 50"),
        ({"answer": ["perhaps"] * 100, "probability": [1] * 100}, "'perhaps' in"),
        ({"answer": [""] * 100, "probability": [1] * 100}, "no answer yet"),
        ({"probability": [1] * 100}, "no column 'answer'"),
        ({"row": [1, 1], "answer": [1, 0], "probability": [0.5, 0.5]}, "rows 1"),
        ({"row": [100], "answer": [1], "probability": [0.5]}, "rows 0 to 99"),
        ({"answer": [1], "probability": [0.5]}, "which row a line is about"),
        ({"checked": [""] * 100, "answer": [1] * 100, "probability": [1] * 100}, "was it checked"),
    ],
)
def test_what_is_no_audit_is_refused_with_the_way_out(log: dict, words: str) -> None:
    with pytest.raises((InputError, AssumptionError), match=words):
        Reviews.joined(log, *table())


def test_equal_answers_for_one_row_count_once_with_a_note() -> None:
    labels, scores = table()
    labels[:] = 0
    log = {"row": [3, 3, 40], "answer": [1, 1, 0], "probability": [0.02] * 3}
    reviews = Reviews.joined(log, labels, scores)
    assert reviews.counts(scores >= 0.5).checked.sum() == 2
    assert [notice.code for notice in reviews.notices] == ["review-repeated"]


def test_a_list_worked_from_the_top_leaves_the_rest_unchecked() -> None:
    labels, scores = table()
    answers = np.where(scores > 0.8, 1, -2)
    reviews = Reviews.reviewed_above(labels, scores, 0.81, answers=answers)
    counts = reviews.counts(scores >= 0.81)
    assert counts.rows.tolist() == [20, 79]
    assert counts.checked.tolist() == [20, 0]
    below = Reviews.reviewed_above(
        labels, scores, 0.81, below_share=0.1, answers=np.where((scores > 0.8) | (np.arange(100) % 10 == 9), 1, -2)
    )
    assert below.counts(scores >= 0.81).checked.tolist() == [20, 8]
    with pytest.raises(AssumptionError, match="say how the rows were chosen"):
        Reviews.reviewed_above(labels, scores, 0.91, answers=answers)


def test_labels_are_the_answers_of_a_review_from_the_top_if_it_is_so_declared() -> None:
    labels, scores = table()
    labels[:20] = np.where(np.arange(20) % 2, -1, 1)
    reviews = Reviews.reviewed_above(labels, scores, 0.81)
    counts = reviews.counts(scores >= 0.81)
    assert counts.checked.tolist() == [20, 0]
    assert counts.found.tolist() == [10, 0]
    assert counts.labelled.tolist() == [0, 1]
    assert counts.known_negative.sum() == 0
    for options in ({"scenario": "case-control"}, {"below_share": 0.1}):
        with pytest.raises(InputError, match="do not say which rows the review found"):
            Reviews.reviewed_above(labels, scores, 0.81, **options)


def test_rows_certain_to_be_checked_without_an_answer_are_undecided() -> None:
    labels, scores = table()
    reviews = Reviews.reviewed_above(labels, scores, 0.81, answers=np.where(scores > 0.85, 1, -2))
    assert reviews.counts(scores >= 0.81).undecided.tolist() == [5, 0]
    assert [notice.code for notice in reviews.notices] == ["review-incomplete"]


def test_a_share_that_the_rows_checked_do_not_fit_is_said() -> None:
    labels, scores = table(1000)
    answers = np.where(scores > 0.5, 1, np.where(np.arange(1000) < 502, 0, -2))
    reviews = Reviews.reviewed_above(labels, scores, 0.501, below_share=0.5, answers=answers)
    assert [notice.code for notice in reviews.notices] == ["review-share"]


def from_the_top() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two hundred flagged rows, 150 of them positive, all checked; 9,800 below."""
    scores = np.arange(10_000, 0, -1.0)
    answers = np.full(10_000, -2)
    answers[:200] = np.arange(200) % 4 != 3
    return np.zeros(10_000, np.int8), scores, answers


def test_a_review_from_the_top_gives_precision_exactly_and_bounds_for_the_rest() -> None:
    labels, scores, answers = from_the_top()
    reviews = Reviews.reviewed_above(labels, scores, 9801, answers=answers, scenario="case-control")
    result = design_estimates(reviews.counts(scores >= 9801))
    assert (result["precision"].value, result["precision"].interval.low, result["precision"].interval.high) == (
        0.75,
    ) * 3
    assert result["recall"].interval.low == pytest.approx(150 / 9950, abs=1e-12)
    assert result["recall"].interval.high == 1
    assert result["f1"].interval.low == pytest.approx(0.029557, abs=1e-6)
    assert result["f1"].interval.high == pytest.approx(0.857143, abs=1e-6)
    for name in ("recall", "f1", "class_prior"):
        assert result[name].basis == "bounds"
        assert result[name].interval.confidence is None
    told = identify(reviews, scores >= 9801)
    assert told.exactly == ("precision",)
    assert "9,800 rows had no chance of being checked" in told.sentence
    ranked = told.if_it_ranks["recall"]  # the lowest 50 reviewed rows hold 37 positives: at most .85 of those below
    assert 150 / 9950 < ranked.low < 150 / (150 + 9800 * 37 / 50)


def test_a_random_share_below_identifies_everything() -> None:
    labels, scores, answers = from_the_top()
    below = np.arange(200, 10_000, 50)
    answers[below] = np.isin(below, below[:4])
    reviews = Reviews.reviewed_above(labels, scores, 9801, below_share=0.02, answers=answers, scenario="case-control")
    assert not reviews.notices
    result = design_estimates(reviews.counts(scores >= 9801))
    assert result["recall"].value == pytest.approx(0.428571, abs=1e-6)
    assert result["f1"].value == pytest.approx(0.545455, abs=1e-6)
    assert result["class_prior"].value == pytest.approx(0.035)
    for name, low, high in (("recall", 0.241, 0.698), ("f1", 0.365, 0.723), ("class_prior", 0.021, 0.062)):
        assert result[name].interval.low == pytest.approx(low, abs=1e-3)
        assert result[name].interval.high == pytest.approx(high, abs=1e-3)
        assert result[name].basis == "design"
    assert identify(reviews, scores >= 9801).bounded == ()
