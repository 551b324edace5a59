"""Audits in words: every odd audit has a text and a page, nothing is nan, no bare 1 and no column two by itself."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.audits import from_counts
from pulens.report.audit_text import audit_text

ODD = {
    "nothing found": {"rows": [200, 300], "checked": [60, 40], "found": [0, 0], "flagged": 1},
    "all found": {"rows": [200, 300], "checked": [60, 40], "found": [60, 40], "flagged": 1},
    "none found below": {"rows": [200, 9800], "checked": [60, 140], "found": [45, 0], "flagged": 1},
    "nothing flagged": {"rows": [500], "checked": [60], "found": [10], "flagged": 0},
    "all flagged": {"rows": [500], "checked": [60], "found": [10], "flagged": 1},
    "every row": {"rows": [200, 300], "checked": [200, 300], "found": [60, 40], "flagged": 1, "labelled": [20, 5]},
    "none checked below": {"rows": [200, 300], "checked": [60, 0], "found": [6, 0], "flagged": 1},
    "none checked above": {"rows": [200, 300], "checked": [0, 40], "found": [0, 4], "flagged": 1},
    "undecided": {"rows": [90, 300], "checked": [60, 40], "found": [20, 0], "undecided": [5, 5], "flagged": 1},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_audits_have_words_and_a_page(name: str) -> None:
    result = from_counts(**ODD[name])
    text, page = audit_text(result), result.to_html()
    assert max(map(len, text.splitlines())) <= 80
    assert "nan" not in text
    assert ">nan" not in page
    assert "assuming nothing" in text


@pytest.mark.parametrize("name", ODD)
def test_short_words_fit_a_screen_and_leave_one_number_to_quote(name: str) -> None:
    text = audit_text(from_counts(**ODD[name]))
    assert len(text.splitlines()) <= 24
    assert "recovered" not in text
    assert "assuming random labels" not in text


def test_recall_of_one_is_never_shown_bare() -> None:
    text = audit_text(from_counts(**ODD["none found below"], scenario="case-control"))
    (line,) = [one for one in text.splitlines() if one.startswith("  Recall")]
    assert line.split()[1:4] == ["1.000", "at", "least"]
    assert "they are at least" in " ".join(text.split())


def test_cells_that_are_no_ranges_of_scores_have_one_column() -> None:
    """Rows were checked by the office they came from, so nobody knows the chance at a labelled row's score."""
    rng = np.random.default_rng(0)
    truth = rng.random(2000) < 0.2
    scores = rng.normal(1.5 * truth)
    labels = (truth & (rng.random(2000) < 0.3)).astype(int)
    chance = np.where(rng.random(2000) < 0.5, 0.2, 0.05)
    looked = (rng.random(2000) < chance) & (labels == 0)
    answer = ["" if not one else int(y) for one, y in zip(looked, truth, strict=True)]
    result = pulens.read_reviews(labels, scores, reviews={"answer": answer, "probability": chance}, threshold=1.0)
    assert not result.score_ranges
    text = " ".join(audit_text(result).split())
    assert "in 4 cells of equal chance" in text
    assert "assuming random labels" not in text
    flagged = scores >= 1.0
    assert truth[flagged].mean() in result.estimates["precision"].interval
    assert flagged[truth].mean() in result.estimates["recall"].interval
    assert 'id="chart-labelling-curve"' not in result.to_html()
