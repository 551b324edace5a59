"""The worked numbers of Holistic-PU's specification: trends, breaks, both losses, and which class is which."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pulens.learners import HolisticPU, fit_many

from pulens.errors import InputError, PulensError
from pulens.learning.learners.holistic_pu import consistency, falling, trend_loss, trust
from pulens.learning.learners.parts.natural_break import break_costs, natural_break
from pulens.learning.risks.alignment import cross_entropy
from pulens.learning.risks.trends import adjacent_trend, pairwise_trend

TRAJECTORIES = np.array([[0.5, 0.4, 0.3, 0.2], [0.5, 0.55, 0.45, 0.6], [0.5, 0.3, 0.2, 0.1], [0.5, 0.6, 0.5, 0.7]]).T


def close(result, expected, tolerance=1e-6):
    np.testing.assert_allclose(np.asarray(result), expected, rtol=0, atol=tolerance)


def cut(values, cost="squares"):
    values = torch.as_tensor(values, dtype=torch.float64)[None]
    return natural_break(values, torch.ones_like(values, dtype=torch.bool), cost).item()


class TestTrends:
    def test_scores(self):
        close(adjacent_trend(TRAJECTORIES), [-0.099820, 0.033219, -0.132697, 0.066292])
        close(pairwise_trend(TRAJECTORIES), [-0.165605, 0.033246, -0.214305, 0.082925])
        close(pairwise_trend(TRAJECTORIES, 2.0), [-0.326208, 0.066040, -0.418303, 0.163823])
        stacked = torch.tensor(TRAJECTORIES).expand(3, -1, -1)
        close(adjacent_trend(stacked)[2], adjacent_trend(TRAJECTORIES))
        close(pairwise_trend(stacked)[1], pairwise_trend(TRAJECTORIES))

    def test_falling_trajectories_score_below_zero_and_constant_ones_zero(self):
        down = np.linspace(0.9, 0.1, 8)[:, None]
        for score in (adjacent_trend, pairwise_trend):
            assert score(down) < 0
            assert score(np.full((8, 1), 0.3)) == 0

    def test_reversing_time_flips_the_pairwise_score_alone(self):
        close(pairwise_trend(TRAJECTORIES[::-1]), -pairwise_trend(TRAJECTORIES), 1e-15)
        assert abs(adjacent_trend(TRAJECTORIES[::-1]) + adjacent_trend(TRAJECTORIES)).min() > 1e-5

    def test_the_largest_changes_keep_the_logarithm_finite(self):
        assert np.isfinite(adjacent_trend(np.array([[1.0, 0.0], [0.0, 1.0]]))).all()


class TestNaturalBreak:
    values = (-0.10, -0.09, -0.08, -0.07, 0.01, 0.02, 0.10)

    def test_split_of_the_trends(self):
        trends = adjacent_trend(TRAJECTORIES)
        result = cut(trends)
        assert result == pytest.approx(-0.099820, abs=1e-6)
        np.testing.assert_array_equal(trends > result, [False, True, False, True])

    @pytest.mark.parametrize(("cost", "expected"), [("squares", 0.005367), ("variance", 0.001747)])
    def test_costs(self, cost, expected):
        assert cut(self.values, cost) == -0.07
        values = torch.tensor(self.values, dtype=torch.float64)[None]
        _, costs = break_costs(values, torch.ones_like(values, dtype=torch.bool), cost)
        assert costs.min().item() == pytest.approx(expected, abs=1e-6)

    @pytest.mark.parametrize("cost", ["squares", "variance"])
    def test_shift_and_scale_change_no_partition(self, cost):
        rng = np.random.default_rng(0)
        values = rng.normal(size=50).round(1)  # with ties
        above = values > cut(values, cost)
        for changed in (values + 7.3, values * 5.0, values * 0.01 - 2):
            np.testing.assert_array_equal(changed > cut(changed, cost), above)

    @pytest.mark.parametrize("cost", ["squares", "variance"])
    def test_it_is_the_best_of_all_cuts(self, cost):
        rng = np.random.default_rng(1)
        for _ in range(20):
            values = rng.normal(size=rng.integers(2, 12)).round(1)
            if np.ptp(values) == 0:
                continue

            def price(edge, values=values):
                groups = values[values <= edge], values[values > edge]
                squares = [((group - group.mean()) ** 2).sum() for group in groups]
                return (
                    sum(squares) if cost == "squares" else sum(s / len(g) for s, g in zip(squares, groups, strict=True))
                )

            edges = np.unique(values)[:-1]
            assert price(cut(values, cost)) == pytest.approx(min(price(edge) for edge in edges), abs=1e-12)

    def test_runs_of_different_lengths(self):
        values = torch.tensor([[0.0, 0.1, 1.0, 1.1, 50.0], [0.0, 0.1, 1.0, 1.1, 5.0]], dtype=torch.float64)
        valid = torch.tensor([[True] * 4 + [False], [True] * 5])
        close(natural_break(values, valid), [0.1, 1.1])

    def test_equal_values_cannot_be_split(self):
        assert np.isnan(cut([0.2] * 5))
        X, labels, _ = separated(n=60, labelled=20)
        with pytest.raises(PulensError, match="cannot be split in two"):
            HolisticPU(backbone="linear", **{**QUICK, "learning_rate": 1e-30}, scenario="case-control").fit(X, labels)


class TestLosses:
    def test_first_phase(self):
        weak, strong, unlabelled = torch.tensor(2.0), torch.tensor(0.5), torch.tensor(-2.0)
        close(trend_loss(weak, strong, unlabelled, 0.1), 0.489931)
        close(trend_loss(weak, strong, torch.tensor(-50.0), 0.1), 0.363002)

    def test_second_phase(self):
        share = trust(12, 25)
        assert share == pytest.approx(0.555895, abs=1e-6)
        close(cross_entropy(torch.tensor(-3.0), share), 1.716273)
        close(torch.sigmoid(torch.tensor(3.0)), 0.952574)
        close(consistency(torch.tensor([-3.0]), torch.tensor([-0.6]), 0.9), [0.437488])
        unsure = torch.logit(torch.tensor([0.11, 0.89]))
        close(consistency(unsure, torch.tensor([1.0, 1.0]), 0.9), [0, 0])
        batch = consistency(torch.tensor([-3.0, 0.5]), torch.tensor([-0.6, 1.0]), 0.9)
        close(batch.mean(), 0.437488 / 2)  # rows left out stay in the divisor

    def test_the_call_on_the_weak_view_has_no_gradient(self):
        weak, strong = torch.tensor([3.0], requires_grad=True), torch.tensor([0.3], requires_grad=True)
        consistency(weak, strong, 0.9).sum().backward()
        assert weak.grad is None
        assert strong.grad is not None

    def test_schedules(self):
        close([falling(step, 2) for step in range(3)], [1, 0.773010, 0.195090])
        close([trust(epoch, 25) for epoch in (0, 5, 24)], [0, 0.275946, 0.967870])


QUICK = {
    "device": "cpu",
    "standardise": False,
    "progress": False,
    "random_state": 0,
    "trend_epochs": 6,
    "epochs": 6,
    "steps_per_epoch": 20,
    "learning_rate": 0.02,
    "average_memory": 0.1,
}


def separated(shape=(4,), n=600, labelled=80, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.concatenate([np.ones(labelled, bool), rng.random(n) < 0.4])
    X = rng.normal(0, 0.3, size=(n + labelled, *shape)) + np.where(positive, 0.6, -0.6).reshape(-1, *[1] * len(shape))
    return X.astype(np.float32), np.repeat([1, 0], [labelled, n]), positive


@pytest.mark.parametrize(
    "options", [{}, {"trend": "pairwise"}, {"split": "variance"}, {"views": "noise"}, {"trend_end": "last"}]
)
def test_positive_means_positive(options):
    X, labels, positive = separated()
    learner = HolisticPU(backbone="linear", **QUICK, **options, scenario="case-control").fit(X, labels)
    assert (learner.predict(X) == positive).mean() > 0.95
    assert learner.predict_proba(X)[positive, 1].mean() > 0.5
    assert learner.unlabelled_prior_ == pytest.approx(positive[80:].mean(), abs=0.05)
    assert learner.estimated_class_prior_ == learner.unlabelled_prior_
    assert 5 <= learner.trend_epoch_ <= 6


def test_a_single_set_counts_its_labelled_rows_as_positives():
    X, labels, positive = separated()
    learner = HolisticPU(backbone="linear", scenario="single-set", **QUICK).fit(X, labels)
    assert learner.estimated_class_prior_ == pytest.approx(positive.mean(), abs=0.05)


def test_pictures_have_weak_and_strong_views():
    X, labels, positive = separated((1, 8, 8), n=200)
    views = {}

    def watch(program, number, stage):
        views[stage.name] = program.views

    options = {**QUICK, "steps_per_epoch": 8, "trend_epochs": 3, "epochs": 3, "learning_rate": 0.005}
    learner = fit_many(
        [HolisticPU(backbone="linear", mirror=True, **options, scenario="case-control")], X, [labels], on_epoch=watch
    )[0]
    assert views["trend"].views["strong"].contrast == 0.5
    assert views["training"].views["weak"].mirror
    assert (learner.predict(X) == positive).mean() > 0.9
    with pytest.raises(InputError, match="views='noise' is for vectors"):
        HolisticPU(backbone="linear", views="noise", **options, scenario="case-control").fit(X, labels)


def test_pseudo_labels_are_trusted_more_and_more():
    X, labels, positive = separated()
    shares = []

    def watch(program, number, stage):
        if stage.name == "training":
            data = program.stack.data
            chance = torch.sigmoid(program.score(data))[0].numpy()
            hidden = positive[data.rows[0].numpy()] & data.is_unlabelled[0].numpy()
            shares.append(chance[hidden].mean())

    fit_many(
        [HolisticPU(backbone="linear", **{**QUICK, "epochs": 12}, scenario="case-control")], X, [labels], on_epoch=watch
    )
    assert shares[-1] > shares[2] + 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trend": "rising"}, "trend must be one of"),
        ({"split": "median"}, "split must be one of"),
        ({"views": "all"}, "views must be one of"),
        ({"trend_end": "best"}, "trend_end must be one of"),
        ({"trend_epochs": 1}, "one prediction is no trend"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, message):
    X, labels, _ = separated(n=60, labelled=20)
    with pytest.raises(InputError, match=message):
        HolisticPU(backbone="linear", **{**QUICK, **options}, scenario="case-control").fit(X, labels)


def test_a_run_of_a_stack_sees_its_own_views_and_repeats_itself():
    X, labels, _ = separated((1, 8, 8), n=120, labelled=24)
    options = {**QUICK, "backbone": "linear", "steps_per_epoch": 4, "trend_epochs": 3, "epochs": 2, "batch_size": 16}

    def fit(*seeds):
        runs = [HolisticPU(**{**options, "random_state": seed}, scenario="case-control") for seed in seeds]
        return [run.decision_function(X) for run in fit_many(runs, X, [labels] * len(seeds))]

    together, alone, again = fit(3, 4), fit(4), fit(4)
    np.testing.assert_allclose(together[1], alone[0], rtol=2e-3, atol=2e-5)
    np.testing.assert_array_equal(alone[0], again[0])
    assert abs(together[0] - together[1]).max() > 1e-3
