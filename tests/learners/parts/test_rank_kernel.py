"""Smooth regression on ranks: what it says of rows it left out, of scales, of gaps, and of damaged files."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.errors import InputError
from pulens.learning.learners.parts import rank_kernel
from pulens.learning.learners.parts.rank_kernel import KernelRidge, NormalRanks, RankKernel


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(240, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def target(rows):
    return np.sin(2 * rows[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=240)


def ridge(rows, weights=None, centres=60):
    return KernelRidge(rows, np.ones(len(rows)) if weights is None else weights, centres, np.random.default_rng(2))


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_of_a_part_are_of_the_regression_on_the_other_parts(rows, target, weighted):
    """The witness solves the weighted ridge regression in full, an unpenalised constant among its columns."""
    weights = np.random.default_rng(3).uniform(0.5, 2, 240) if weighted else np.ones(240)
    part = np.arange(240) % 5
    made = ridge(rows, weights)
    unseen, model = made.fitted(target, part)
    scale, penalty = made._chosen(target)
    turned = rank_kernel._turned(((made.centres[:, None] - made.centres) ** 2).sum(2), scale)
    distances = ((made.ranks(rows)[:, None] - made.centres) ** 2).sum(2)
    features = np.column_stack([np.exp(-distances / scale) @ turned, np.ones(240)])
    penalties = np.diag([penalty] * turned.shape[1] + [0.0])
    scaled = weights / weights.mean()

    def solved(inside):
        own = features[inside] * scaled[inside, None]
        return np.linalg.solve(own.T @ features[inside] + penalties, own.T @ target[inside])

    for number in range(5):
        outside = part == number
        np.testing.assert_allclose(unseen[outside], features[outside] @ solved(~outside), atol=1e-7)
    np.testing.assert_allclose(model(rows), features @ solved(np.full(240, True)), atol=1e-7)
    assert np.mean((unseen - target) ** 2) < 0.5 * target.var()


def test_the_penalty_has_the_least_generalised_cross_validation(rows, target):
    made = ridge(rows)
    result = {}
    for width in rank_kernel.WIDTHS:
        distances = ((made.ranks(rows)[:, None] - made.centres) ** 2).sum(2)
        within = ((made.centres[:, None] - made.centres) ** 2).sum(2)
        values, vectors = np.linalg.eigh(np.exp(-within / (width * made.median)))
        kept = values > rank_kernel.NEGLIGIBLE * values[-1]
        features = np.exp(-distances / (width * made.median)) @ (vectors[:, kept] / np.sqrt(values[kept]))
        features -= features.mean(0)
        for penalty in rank_kernel.PENALTIES:
            hat = features @ np.linalg.solve(features.T @ features + penalty * np.eye(kept.sum()), features.T)
            apart = (target - target.mean()) - hat @ (target - target.mean())
            result[width * made.median, penalty] = (apart @ apart) / (1 - (np.trace(hat) + 1) / 240) ** 2
    scale, penalty = made._chosen(target)
    assert result[scale, penalty] == pytest.approx(min(result.values()))


def test_what_keeps_the_order_of_a_column_changes_nothing(rows, target):
    part = np.arange(240) % 5
    bent = np.column_stack([np.exp(rows[:, 0]), rows[:, 1] * 1000 - 7, rows[:, 2] ** 3]).astype(np.float32)
    np.testing.assert_allclose(ridge(bent).fitted(target, part)[0], ridge(rows).fitted(target, part)[0], atol=1e-6)


def test_ranks_of_ties_are_their_middle_and_far_values_stay_in_reach():
    column = np.repeat([0.0, 5.0], [3999, 1]).astype(np.float32)[:, None]
    ranks = NormalRanks.of(column)
    assert ranks.counts.tolist() == [2]
    assert ranks(np.array([[5.0], [1e30]], np.float32)).ravel().tolist() == [rank_kernel.FURTHEST] * 2
    many = NormalRanks.of(np.random.default_rng(0).normal(size=(5000, 1)).astype(np.float32))
    assert 200 < many.counts[0] <= rank_kernel.MOST_KNOTS


def test_columns_without_a_value_and_constant_ones_say_nothing():
    rows = np.column_stack([np.full(9, np.nan), np.full(9, 3.0), np.arange(9.0)]).astype(np.float32)
    made = NormalRanks.of(rows)(rows)
    assert (made[:, :2] == 0).all()
    assert (np.diff(made[:, 2]) > 0).all()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_very_few_rows_are_enough(size):
    rows = np.zeros((size, 2), np.float32)
    unseen, model = ridge(rows).fitted(np.arange(size) / 4, np.arange(size))
    assert np.isfinite(unseen).all()
    assert np.isfinite(model(rows)).all()


def test_rows_in_blocks_give_the_same_answer(rows, target, monkeypatch):
    part = np.arange(240) % 5
    whole, _ = ridge(rows).fitted(target, part)
    monkeypatch.setattr(rank_kernel, "AT_ONCE", 37)
    np.testing.assert_allclose(ridge(rows).fitted(target, part)[0], whole, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("counts", lambda values: values * 0, "numbers of knots"),
        ("counts", lambda values: values + 1, "was expected"),
        ("knots", lambda values: -values, "must rise within a column"),
        ("scores", lambda values: values * np.nan, "not finite"),
        ("centres", lambda values: values[:, :2], "was expected"),
        ("weights", lambda values: values[:-1], "was expected"),
        ("numbers", lambda values: -values, "a width above 0"),
    ],
)
def test_damaged_arrays_are_refused(name, change, words, rows, target, tmp_path):
    arrays = ridge(rows).fitted(target, np.arange(240) % 5)[1].arrays("kernel")
    again = RankKernel.restored("kernel", arrays, 3, tmp_path)
    assert np.isfinite(again(rows)).all()
    with pytest.raises(InputError, match=words):
        RankKernel.restored("kernel", arrays | {f"kernel_{name}": change(arrays[f"kernel_{name}"])}, 3, tmp_path)
