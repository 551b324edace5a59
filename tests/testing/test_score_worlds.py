"""Worlds whose truth is known: what they say is what large samples of them show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pulens.pairs import chance_to_outscore
from pulens.testing import PRIOR_WORLDS, BiasedWorld, RankingWorld, another_study, draw_table

MANY = 40_000
WORLDS = {
    "gaussian": RankingWorld("gaussian", 0.85, 0.3, 60, 600),
    "unequal": RankingWorld("unequal", 0.8, 0.2, 60, 600),
    "beta": RankingWorld("beta", 0.9, 0.1, 60, 600),
    "skewed": RankingWorld("skewed", 0.75, 0.4, 60, 600),
    "tied": RankingWorld("gaussian", 0.8, 0.3, 60, 600, levels=6),
}


def both_classes(world):
    """Large samples of positives and negatives: all unlabelled rows are positive, or none."""
    rng = np.random.default_rng(0)
    apart = replace(world, labelled=MANY, unlabelled=MANY, scenario="case-control", class_prior=0.0)
    labels, scores = apart.draw(rng)
    return scores[labels == 1], scores[labels == 0]


@pytest.mark.parametrize("name", WORLDS)
def test_a_ranking_worlds_truth_is_what_large_samples_show(name):
    world = WORLDS[name]
    positive, negative = both_classes(world)
    values, at, prior = world.values, world.threshold, world.class_prior
    assert chance_to_outscore(positive, negative) == pytest.approx(values["roc_auc"], abs=0.006)
    hits, alarms = np.mean(positive >= at), np.mean(negative >= at)
    called = prior * hits + (1 - prior) * alarms
    assert hits == pytest.approx(values["recall"], abs=0.01)
    assert prior * hits / called == pytest.approx(values["precision"], abs=0.015)
    assert 2 * prior * hits / (prior + called) == pytest.approx(values["f1"], abs=0.01)
    cuts = np.quantile(positive, np.linspace(0.995, 0.005, 100))
    result = [prior * np.mean(positive >= c) / (prior * np.mean(positive >= c) + (1 - prior) * np.mean(negative >= c))
             for c in cuts]  # fmt: skip
    if not world.levels:
        assert np.mean(result) == pytest.approx(values["average_precision"], abs=0.01)
        assert values["roc_auc"] == pytest.approx(world.auc, abs=1e-6)


def test_no_threshold_has_a_better_f1_than_the_worlds_own():
    for world in WORLDS.values():
        best = world.values["f1"]
        assert all(world.values_at(world.threshold + step)["f1"] <= best + 1e-6 for step in (-0.5, -0.1, 0.1, 0.5))


def test_a_single_set_labels_its_positives_as_often_as_asked():
    world = RankingWorld("gaussian", 0.9, 0.25, labelled=2000, unlabelled=18_000, scenario="single-set")
    labels, _ = world.draw(np.random.default_rng(0))
    assert labels.size == 20_000
    assert labels.sum() == pytest.approx(2000, abs=150)


def test_models_that_agree_differ_less():
    world = RankingWorld("gaussian", 0.85, 0.3, 2000, 8000)
    apart = {}
    for agreement in (0.0, 0.9):
        labels, models = world.draw_models({"a": 0.85, "b": 0.8}, np.random.default_rng(0), agreement)
        kept = labels == 1
        apart[agreement] = np.corrcoef(models["a"][kept], models["b"][kept])[0, 1]
    assert apart[0.0] == pytest.approx(0.0, abs=0.06)
    assert apart[0.9] == pytest.approx(0.9, abs=0.03)
    assert world.with_auc(0.8).values["roc_auc"] == pytest.approx(0.8, abs=1e-6)


def test_another_study_holds_the_class_prior_as_often_as_it_says():
    labels = np.repeat([1, 0], [30, 170])
    held = [0.3 in another_study(0.3, labels, "case-control", place).interval for place in range(400)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.005)
    single = another_study(0.3, labels, "single-set", 0)
    assert single.unlabelled == pytest.approx((0.3 * 200 - 30) / 170)
    assert single.unlabelled_interval.low == pytest.approx((single.interval.low * 200 - 30) / 170)


@pytest.mark.parametrize("preference", ["quarter", "top fifth", "two steps", "straight", "late"])
def test_a_biased_world_prefers_positives_that_score_high(preference):
    world = BiasedWorld("beta", 0.2, preference, 6.0, labelled=1000, rows=4000)
    chances = world.chance(np.linspace(0, 1, 101))
    assert (np.diff(chances) >= 0).all()
    assert chances[-1] / chances[0] == pytest.approx(6.0)
    assert chances[-1] == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    labels, scores = world.draw(rng)
    anyone = world.scores(rng, np.ones(20_000, bool))
    assert chance_to_outscore(scores[labels == 1], anyone) > 0.53


@pytest.mark.parametrize("name", PRIOR_WORLDS)
def test_a_prior_world_says_how_many_positives_it_hid(name):
    tally, share, noise = PRIOR_WORLDS[name].draw(0.4, 200, 5000, np.random.default_rng(0), label_noise=0.05)
    assert (tally.totals.labelled, tally.totals.unlabelled) == (200, 5000)
    assert share == pytest.approx(0.4, abs=0.03)
    assert noise == 0.05


def test_a_table_labels_positives_only():
    labels, scores, positive = draw_table(
        20_000, np.random.default_rng(0), class_prior=0.3, label_frequency=0.5, distance=2.0
    )
    assert positive[labels == 1].all()
    assert positive.mean() == pytest.approx(0.3, abs=0.015)
    assert labels.sum() / positive.sum() == pytest.approx(0.5, abs=0.02)
    assert scores[positive].mean() - scores[~positive].mean() == pytest.approx(2.0, abs=0.05)
