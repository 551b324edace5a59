"""The test of random labelling is exact where it can be, and says what it cannot know."""

from __future__ import annotations

from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
import pytest

from pulens.audits import AuditCounts, CheckedRows
from pulens.audits import labelling_test as module
from pulens.audits.labelling_power import power_of_test
from pulens.audits.labelling_test import LabellingVerdict, labelling_of, rank_sum_test
from pulens.counts.tally import Tally
from pulens.errors import AssumptionError, InputError


def worked(
    found: tuple[float, ...] = (9, 2, 1), labelled: tuple[float, ...] = (10, 8, 7, 3), **changed: Any
) -> tuple[AuditCounts, CheckedRows, Tally]:
    unlabelled = np.concatenate([found, [6.0], np.linspace(0, 0.5, 18)])
    labels = np.repeat([1, 0], [len(labelled), unlabelled.size])
    tally = Tally.from_arrays(labels, np.concatenate([labelled, unlabelled]))
    scores = np.array([*found, 0.25])
    above = np.array(found) >= 5
    given: dict[str, Any] = {
        "rows": [2 * max(above.sum(), 1), 10 * ((~above).sum() + 1)],
        "checked": [max(above.sum(), 1), (~above).sum() + 1],
        "found": [above.sum(), (~above).sum()],
        "labelled": [sum(score >= 5 for score in labelled), sum(score < 5 for score in labelled)],
        "flagged": 1,
    }
    rows = CheckedRows(
        stratum=(scores < 5).astype(np.int64), score=scores, answer=np.array([*[1] * len(found), 0], np.int64)
    )
    return AuditCounts(**(given | changed)), rows, tally


def test_the_worked_example_is_exact() -> None:
    answer = labelling_of(*worked())
    assert answer.method == "all 35 sets"
    assert answer.p_value == pytest.approx(0.061325, abs=5e-7)
    tails = rank_sum_test(
        np.array([7.0, 5, 4, 3, 6, 2, 1]), np.array([0, 0, 0, 1, 0, 1, 1]), np.array([0.5, 0.1]), 9.0, 3
    )
    assert [tails.at_most, tails.at_least] == pytest.approx([0.030663, 0.984174], abs=5e-7)
    assert tails.z < 0


def test_draws_agree_with_all_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = np.arange(1.0, 15)
    stratum, fraction = np.array([2] * 6 + [1] * 5 + [0] * 3), np.array([0.9, 0.2, 0.05])
    exact = rank_sum_test(ranks, stratum, fraction, 40.0, 5)
    monkeypatch.setattr(module, "MOST_SETS", 0)
    drawn = rank_sum_test(ranks, stratum, fraction, 40.0, 5, seed=4)
    assert drawn.method == "9,999 draws"
    assert [drawn.at_most, drawn.at_least] == pytest.approx([exact.at_most, exact.at_least], abs=0.02)
    assert drawn.z == pytest.approx(exact.z, abs=0.06)


def test_numbers_per_stratum_have_their_exact_chances() -> None:
    sizes, fraction, result = np.array([3, 4, 2]), np.array([0.5, 0.1, 0.0]), 3
    ways = {
        taken: np.prod(
            [comb(int(size), part) * share**part for size, part, share in zip(sizes, taken, fraction, strict=True)]
        )
        for taken in product(range(4), range(5), range(3))
        if sum(taken) == result
    }
    total = sum(ways.values())
    drawn = module._drawn_numbers(np.random.default_rng(0), sizes, fraction, result)
    for taken, weight in ways.items():
        share = (drawn == taken).all(1).mean()
        assert share == pytest.approx(weight / total, abs=0.02), taken


@pytest.mark.parametrize(("size", "taken"), [(8, 3), (8, 7), (400, 9)])
def test_subsets_are_drawn_evenly(size: int, taken: int) -> None:
    ranks = np.arange(size, dtype=float) ** 2
    sums = module._subset_sums(np.random.default_rng(0), ranks, np.full(20_000, taken))
    spread = taken * (size - taken) / (size - 1) * ranks.var()
    assert sums.mean() == pytest.approx(taken * ranks.mean(), abs=5 * np.sqrt(spread / 20_000))
    assert sums.var() == pytest.approx(spread, rel=0.06)
    if size < 10:
        possible = {float(ranks[list(places)].sum()) for places in combinations(range(size), taken)}
        assert {float(one) for one in sums} == possible


@pytest.mark.parametrize(
    ("changed", "options", "reason"),
    [
        ({"undecided": [0, 1]}, {}, "undecided"),
        ({}, {"label_noise": 0.1}, "labelled rows are said to be negative"),
    ],
)
def test_it_says_why_it_is_not_defined(changed: dict[str, Any], options: dict[str, Any], reason: str) -> None:
    answer = labelling_of(*worked(**changed), **options)
    assert np.isnan(answer.p_value)
    assert not answer.contradicted
    assert reason in answer.verdict
    assert answer.to_dict()["p_value"] is None


def test_nothing_found_or_nothing_labelled_is_not_tested() -> None:
    assert "no positive was found" in labelling_of(*worked(found=())).verdict
    assert "no row is labelled" in labelling_of(*worked(labelled=())).verdict


def test_strata_that_overlap_in_score_are_not_tested() -> None:
    counts, rows, tally = worked()
    swapped = CheckedRows(stratum=rows.stratum, score=np.where(rows.score == 0.25, 9.5, rows.score), answer=rows.answer)
    assert "overlap" in labelling_of(counts, swapped, tally).verdict


def test_counts_of_another_table_are_refused() -> None:
    _counts, rows, tally = worked()
    with pytest.raises(InputError, match="holds 4 labelled positives and the audit's strata 5"):
        labelling_of(worked(labelled=(10, 8, 7, 3, 2))[0], rows, tally)
    with pytest.raises(InputError, match="positives per stratum"):
        labelling_of(worked(found=(9, 8, 1))[0], rows, tally)


def test_labels_that_favour_high_scores_are_noticed_and_named() -> None:
    rng = np.random.default_rng(3)
    labelled, result = rng.normal(7, 1, 60), np.concatenate([rng.uniform(5, 6, 20), rng.uniform(1, 4, 15)])
    counts, rows, tally = worked(found=tuple(result), labelled=tuple(labelled))
    answer = labelling_of(counts, rows, tally)
    assert answer.contradicted
    assert answer.z < -2
    assert "contradicted by the audit (p < 0.001)" in answer.verdict
    assert "favoured high scores" in answer.verdict


def test_a_large_p_value_comes_with_the_power_and_never_calls_labels_random() -> None:
    answer = labelling_of(*worked())
    assert (
        "not contradicted (p = 0.061; a 3:1 preference for high scores would be noticed with probability"
        in answer.verdict
    )
    assert "are random" not in answer.verdict
    assert set(answer.to_dict()) >= {"p_value", "z", "power", "curve", "verdict"}
    assert isinstance(answer, LabellingVerdict)


def test_binned_scores_do_not_put_found_positives_above_labelled_ones_of_their_bin() -> None:
    scores = np.concatenate([np.arange(0.05, 1, 0.1), np.arange(0.05, 1, 0.1) + 0.02])
    tally = Tally.from_arrays(np.repeat([1, 0], 10), scores).binned(bits=2)
    counts = AuditCounts(rows=[10], checked=[10], found=[10], labelled=[10], flagged=1)
    rows = CheckedRows(stratum=np.zeros(10, np.int64), score=scores[10:], answer=np.ones(10, np.int64))
    assert labelling_of(counts, rows, tally).z == pytest.approx(0, abs=0.05)


def test_power_rises_with_rows_and_is_the_level_without_preference() -> None:
    rows, positives = np.array([500, 1000, 3500]), np.array([300.0, 100.0, 100.0])
    few, many = (power_of_test(rows, np.array([1, 1, 1]) * size, positives, 200) for size in (30, 200))
    assert few < many > 0.8
    assert power_of_test(rows, np.full(3, 200), positives, 200, factor=1.0, audits=2_000) == pytest.approx(
        0.05, abs=0.02
    )
    assert power_of_test(rows, np.full(3, 200), positives, 200, favours="low") > 0.8
    assert power_of_test(rows, np.zeros(3, np.int64), positives, 200) == 0
    with pytest.raises(AssumptionError, match="'sideways'"):
        power_of_test(rows, np.full(3, 30), positives, 200, favours="sideways")  # type: ignore[arg-type]
