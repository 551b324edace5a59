"""The worked numbers of the methods' specifications: values and gradients on a handful of logits."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from pulens.learners._break_even import break_even_threshold, cut_below
from pulens.learners.dist_pu import cosine, rising
from pulens.learners.lbe import smallest
from pulens.learners.pulda import MovingAverage
from pulens.learners.vpu import VPU
from pulens.risks import LOSSES, alignment, labelling_bias, risk_parts, unbiased
from pulens.risks.correction import corrected, corrected_value
from pulens.risks.losses import logistic, sigmoid
from pulens.risks.means import masked_mean
from pulens.risks.mixture import best_bin_share
from pulens.risks.variational import mixup_gap, variational

P, U, PRIOR = [2.0, -1.0], [0.5, -0.5, 1.0, -2.0], 0.4
LOW_P, LOW_U, LOW_PRIOR = [3.0, 2.0], [-3.0, -2.0, -1.0, -4.0], 0.6


def close(found, expected, tolerance=2e-6):
    found, expected = (
        value.detach().numpy() if isinstance(value, torch.Tensor) else value for value in (found, expected)
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def parts_and_logits(loss, labelled, unlabelled, prior):
    z = torch.tensor(labelled + unlabelled, dtype=torch.float64, requires_grad=True)
    n = len(labelled)
    cost = LOSSES[loss]
    return risk_parts(cost(z[:n], 1).mean(), cost(z[:n], -1).mean(), cost(z[n:], -1).mean(), prior), z


def gradient(value, z):
    return torch.autograd.grad(value, z)[0]


class TestRisks:
    @pytest.mark.parametrize(
        ("loss", "positive", "negative", "total", "slopes"),
        [
            ("sigmoid", 0.170052, 0.232618, 0.402670, [-0.041997, -0.078645, 0.058751, 0.058751, 0.049153, 0.026248]),
            ("logistic", 0.288038, 0.234048, 0.522086, [-0.2, -0.2, 0.155615, 0.094385, 0.182765, 0.029801]),
        ],
    )
    def test_ordinary_branch(self, loss, positive, negative, total, slopes):
        parts, z = parts_and_logits(loss, P, U, PRIOR)
        close(parts.positive, positive)
        close(parts.negative, negative)
        close(unbiased(parts), total)
        close(corrected(parts), total)
        close(gradient(corrected(parts), z), slopes)

    def test_sigmoid_steps_back_where_the_negative_part_is_too_low(self):
        parts, z = parts_and_logits("sigmoid", LOW_P, LOW_U, LOW_PRIOR)
        close(parts.negative, -0.436622)
        close(unbiased(parts), -0.386634)
        close(corrected_value(parts), 0.049989)
        expected = [0.013553, 0.031498, -0.011294, -0.026248, -0.049153, -0.004416]
        close(gradient(corrected(parts), z), expected)
        parts, z = parts_and_logits("sigmoid", LOW_P, LOW_U, LOW_PRIOR)
        close(gradient(unbiased(parts), z)[2:], [-value for value in expected[2:]])

    def test_logistic_steps_back(self):
        parts, z = parts_and_logits("logistic", LOW_P, LOW_U, LOW_PRIOR)
        close(parts.negative, -1.425923)
        close(unbiased(parts), -1.373268)
        close(corrected(parts), 1.425923)
        close(gradient(corrected(parts), z), [0.285772, 0.264239, -0.011856, -0.029801, -0.067235, -0.004497])

    def test_tolerance_keeps_the_ordinary_branch_and_no_step_back_stands_still(self):
        parts, z = parts_and_logits("sigmoid", LOW_P, LOW_U, LOW_PRIOR)
        again, same = parts_and_logits("sigmoid", LOW_P, LOW_U, LOW_PRIOR)
        close(gradient(corrected(parts, tolerance=0.5), z), gradient(unbiased(again), same))
        parts, z = parts_and_logits("sigmoid", LOW_P, LOW_U, LOW_PRIOR)
        assert not gradient(corrected(parts, step_back=0.0), z).any()

    def test_zero_logits_and_vanishing_prior(self):
        close(unbiased(parts_and_logits("sigmoid", [0.0], [0.0], 0.4)[0]), 0.5)
        close(unbiased(parts_and_logits("logistic", [0.0], [0.0], 0.4)[0]), math.log(2))
        close(unbiased(parts_and_logits("sigmoid", P, U, 1e-12)[0]), 0.462565)

    def test_order_and_duplication_change_nothing(self):
        value = unbiased(parts_and_logits("sigmoid", P, U, PRIOR)[0])
        close(unbiased(parts_and_logits("sigmoid", P[::-1], U[::-1], PRIOR)[0]), value)
        close(unbiased(parts_and_logits("sigmoid", P * 2, U * 2, PRIOR)[0]), value)

    def test_convex_form_of_the_logistic_risk(self):
        close(-PRIOR * np.mean(P) + logistic(np.array(U), -1).mean(), 0.522086)

    def test_numpy_and_torch_agree(self):
        for name, cost in LOSSES.items():
            if name != "zero-one":
                close(cost(torch.tensor(U, dtype=torch.float64), 1), cost(np.array(U), 1), 1e-15)


class TestPUSB:
    scores = (0.9, -1.2, 0.3, 2.1, -0.4, 0.0, 1.5, -2.0, -0.1, 0.6)

    @pytest.mark.parametrize(("prior", "threshold", "positives"), [(0.40, 0.6, 4), (0.25, 0.9, 3), (0.55, 0.0, 6)])
    def test_break_even_threshold(self, prior, threshold, positives):
        assert break_even_threshold(self.scores, prior) == threshold
        cut = cut_below(self.scores, threshold)
        assert sum(score > cut for score in self.scores) == positives == 10 - math.floor(10 * (1 - prior) + 1e-9)

    def test_increasing_changes_of_the_score_change_no_prediction(self):
        scores = np.array(self.scores)
        changed = np.exp(scores)
        for prior in (0.25, 0.4, 0.55):
            before = scores > cut_below(scores, break_even_threshold(scores, prior))
            after = changed > cut_below(changed, break_even_threshold(changed, prior))
            np.testing.assert_array_equal(before, after)


class TestVPU:
    population = torch.tensor([0.2, -1.0, 1.5, -0.3], dtype=torch.float64)
    labelled = torch.tensor([1.0, 2.0, 0.5, -0.2], dtype=torch.float64)

    def test_value_and_gradient(self):
        z = torch.cat([self.population, self.labelled]).requires_grad_()
        value = variational(-logistic(z[:4], 1), -logistic(z[4:], 1))
        close(value, -0.234562)
        expected = [0.120043, 0.095354, 0.072334, 0.118559, -0.067235, -0.029801, -0.094385, -0.137458]
        close(gradient(value, z), expected)

    def test_scale_of_phi_does_not_matter(self):
        shift = math.log(0.37)
        close(variational(-logistic(self.population, 1) + shift, -logistic(self.labelled, 1) + shift), -0.234562)

    def test_mixup_term(self):
        phi = sigmoid(self.population, -1)
        mixed = torch.tensor([0.7, 0.1, 1.2, 0.4], dtype=torch.float64)
        gap = mixup_gap(phi, -logistic(mixed, 1), 0.25)
        close(gap, 0.112869)
        base = variational(-logistic(self.population, 1), -logistic(self.labelled, 1))
        close(base + 0.03 * gap, -0.231175)
        close(base + 0.3 * gap, -0.200701)

    def test_zero_logits(self):
        zero = torch.zeros(4)
        close(variational(-logistic(zero, 1), -logistic(zero, 1)), 0.0)
        close(mixup_gap(sigmoid(zero, -1), -logistic(zero, 1), 0.6), (math.log(0.7) - math.log(0.5)) ** 2)

    def test_cut_at_half_of_the_largest_phi(self):
        from pulens.learners.vpu import VariationalProgram

        learner = VPU()
        learner.cut_ = VariationalProgram.cut(VariationalProgram.__new__(VariationalProgram), self.population, 0)
        logits = np.array([0.5, -0.2, -0.6])
        close(learner._probability(logits), [0.761349, 0.550612, 0.433408])
        np.testing.assert_array_equal(logits > learner.cut_, [True, True, False])


class TestMPEPU:
    labelled = np.array([0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.55, 0.3])
    unlabelled = np.array([0.97, 0.92, 0.88, 0.75, 0.65, 0.5, 0.45, 0.4, 0.35, 0.2, 0.15, 0.1])

    def test_best_bin_as_published_and_clean(self):
        close(best_bin_share(self.labelled, self.unlabelled, as_published=True), 0.476190)
        close(best_bin_share(self.labelled, self.unlabelled), 0.571429)

    def test_best_bin_reads_ranks_only(self):
        for published in (False, True):
            expected = best_bin_share(self.labelled, self.unlabelled, as_published=published)
            assert best_bin_share(self.labelled**3, self.unlabelled**3, as_published=published) == expected

    def test_best_bin_finds_the_share_when_the_top_is_pure(self):
        rng = np.random.default_rng(0)
        found = [
            best_bin_share(rng.beta(5, 1, 3000), np.r_[rng.beta(5, 1, 30000), rng.beta(1, 5, 30000)], as_published=True)
            for _ in range(3)
        ]
        assert np.mean(found) == pytest.approx(0.4978, abs=0.03)
        separated = best_bin_share(rng.uniform(1, 2, 4000), np.r_[rng.uniform(1, 2, 1500), rng.uniform(0, 1, 3500)])
        assert separated == pytest.approx(0.3, abs=0.02)

    def test_ignoring_the_highest_share(self):
        unlabelled = torch.tensor([1.2, -0.7, 0.4, 2.2, -1.5, 0.1, -0.2, 0.9], dtype=torch.float64)
        labelled = torch.tensor([0.8, 1.6, -0.3], dtype=torch.float64)
        ranks = unlabelled.argsort(descending=True).argsort()
        kept = (ranks >= int(0.4 * 8)).double()
        assert torch.nonzero(kept == 0).flatten().tolist() == [0, 3, 7]
        as_positive, costs = logistic(labelled, 1).mean(), logistic(unlabelled, -1)
        close(as_positive, 0.469786)
        close(masked_mean(costs, kept), 0.572030)
        close((as_positive + masked_mean(costs, kept)) / 2, 0.520908)
        close((as_positive + costs.mean()) / 2, 0.726747)


class TestLBE:
    h, eta, s = np.array([0.9, 0.8, 0.3, 0.6]), np.array([0.4, 0.25, 0.2, 0.5]), np.array([1.0, 0, 0, 0])

    def test_expectation_and_likelihood(self):
        close(labelling_bias.expected_class(self.h, self.eta, self.s), [1, 0.75, 0.255319, 0.428571])
        terms = labelling_bias.log_likelihood(self.h, self.eta, self.s)
        close(terms, [-1.021651, -0.223144, -0.061875, -0.356675])
        close(terms.sum(), -1.663345)

    def test_losses_of_the_m_step(self):
        q = labelling_bias.expected_class(self.h, self.eta, self.s)
        logit = np.log(self.h / (1 - self.h))
        losses = alignment.cross_entropy(logit, q)
        close(losses, [0.105349, 0.569695, 0.572987, 0.742499], 5e-5)  # the authors add 1e-5 inside the logarithms
        kept = smallest(torch.tensor(losses)[None], 0.8, torch.ones(1, 4))
        close(masked_mean(torch.tensor(losses)[None], kept), [0.416011], 5e-5)
        found = labelling_bias.propensity_loss(np.log(self.eta / (1 - self.eta)), self.s, q)
        close(found, [0.916266, 0.215752, 0.056970, 0.297055], 5e-5)
        close(found.mean(), 0.371510, 5e-5)

    def test_pre_training(self):
        close(labelling_bias.balanced_loss(np.array([1.0, 0.5, -0.5, -1.0]), self.s, 0.25).mean(), 0.168825)

    def test_em_direction_is_the_slope_of_the_likelihood(self):
        x = torch.tensor([[1, 0.5], [1, -1], [1, 2], [1, -0.5]], dtype=torch.float64)
        s = torch.tensor(self.s)
        w1 = torch.tensor([0.2, 0.4], dtype=torch.float64, requires_grad=True)
        w2 = torch.tensor([-0.5, 0.3], dtype=torch.float64, requires_grad=True)
        h, eta = torch.sigmoid(x @ w1), torch.sigmoid(x @ w2)
        likelihood = labelling_bias.log_likelihood(h, eta, s).sum()
        close(likelihood, -2.219013)
        q = labelling_bias.expected_class(h, eta, s).detach()
        close(q, [1, 0.360983, 0.563555, 0.396504])
        slopes = torch.autograd.grad(likelihood, (w1, w2), retain_graph=True)
        close(slopes[0], [0.041129, 0.006581])
        close(slopes[1], [0.042852, -0.118489])
        step = -(alignment.cross_entropy(x @ w1, q) + labelling_bias.propensity_loss(x @ w2, s, q)).sum()
        for found, expected in zip(torch.autograd.grad(step, (w1, w2)), slopes, strict=True):
            close(found, expected, 1e-12)

    def test_constant_models_reach_the_flat_ridge_in_one_step(self):
        s = np.repeat([1.0, 0.0], [2, 8])
        h = eta = 0.5
        before = labelling_bias.log_likelihood(h, eta, s).sum()
        for _ in range(3):
            q = labelling_bias.expected_class(h, eta, s)
            h, eta = q.mean(), (q * s).sum() / q.sum()
            close([h, eta, h * eta], [0.466667, 0.428571, 0.2])
        after = labelling_bias.log_likelihood(h, eta, s).sum()
        close([before, after], [-5.074045, -5.004024])
        close(labelling_bias.log_likelihood(eta, h, s).sum(), after, 1e-12)  # swapping the two changes no likelihood

    def test_exact_em_never_lowers_the_likelihood(self):
        from scipy.optimize import minimize

        rng = np.random.default_rng(0)
        x = np.column_stack([np.ones(60), rng.normal(size=60)])
        s = (rng.random(60) < 0.5 / (1 + np.exp(-2 * x[:, 1]))).astype(float)
        weights = [np.array([0.1, 0.2]), np.array([-0.3, 0.1])]
        found = []
        for _ in range(12):
            h, eta = (1 / (1 + np.exp(-x @ own)) for own in weights)
            found.append(labelling_bias.log_likelihood(h, eta, s).sum())
            q = labelling_bias.expected_class(h, eta, s)
            weights = [
                minimize(lambda w, q=q: alignment.cross_entropy(x @ w, q).sum(), weights[0], tol=1e-12).x,
                minimize(lambda w, q=q: labelling_bias.propensity_loss(x @ w, s, q).sum(), weights[1], tol=1e-12).x,
            ]
        assert (np.diff(found) > -1e-9).all()
        assert found[-1] > found[0] + 0.1


class TestDistPU:
    z_p, z_u = torch.tensor(P, dtype=torch.float64), torch.tensor(U, dtype=torch.float64)

    def test_alignment(self):
        z = torch.cat([self.z_p, self.z_u]).requires_grad_()
        means = sigmoid(z[:2], -1).mean(), sigmoid(z[2:], -1).mean()
        close(means[0], 0.574869)
        close(means[1], 0.462565)
        value = alignment.label_distribution(*means, PRIOR)
        close(value, 0.503337)
        close(value * 2 * PRIOR, 0.402670)  # the uPU risk, while the mean is above the prior
        close(gradient(value, z), [-0.052497, -0.098306, 0.073439, 0.073439, 0.061441, 0.032810])

    def test_slope_on_unlabelled_rows_turns_below_the_prior(self):
        z = self.z_u.clone().requires_grad_()
        value = alignment.label_distribution(torch.tensor(0.5), sigmoid(z, -1).mean(), 0.47)
        assert (gradient(value, z) < 0).all()

    def test_entropy_mixup_and_total(self):
        close(alignment.entropy(self.z_u).mean(), 0.568308)
        close(0.503337 + 0.002 * alignment.entropy(self.z_u).mean(), 0.504474)
        y = np.array([1, 1, 0.6, 0.4, 0.7, 0.1])
        target = 0.7 * y + 0.3 * y[[2, 3, 0, 5, 1, 4]]
        mixed = np.array([1.2, 0.3, 0.8, -0.4, 0.9, -0.6])
        mixup, spread = alignment.cross_entropy(mixed, target).mean(), alignment.entropy(mixed).mean()
        close(mixup, 0.563899)
        close(spread, 0.627855)
        weight = 0.004 * rising(30, 60)
        close(weight, 0.00117157, 1e-8)
        close(0.503337 + weight * 0.568308 + 0.04 * spread + 5 * mixup, 3.348614)

    def test_schedules(self):
        close([0.004 * rising(t, 60) for t in (0, 1, 59)], [0, 0.00000137, 0.00389529], 1e-8)
        close([5e-4 * cosine(60, 0.0)(t) for t in (0, 30, 59)], [5e-4, 2.5e-4, 3.43e-7], 1e-9)
        close([5e-5 * cosine(60, 0.7)(t) for t in (0, 30, 59)], [5e-5, 4.25e-5, 3.50e-5], 2e-8)

    def test_the_trivial_solution_has_no_risk(self):
        close(alignment.label_distribution(1.0, PRIOR, PRIOR), 0.0)


class TestPULDA:
    def program(self, **changes):
        from types import SimpleNamespace

        from pulens.learners.pulda import PULDA, MarginProgram

        learner = PULDA(**changes)
        program = MarginProgram.__new__(MarginProgram)
        program.stack = SimpleNamespace(
            class_prior=torch.tensor([PRIOR], dtype=torch.float64), settings=vars(learner), data=None
        )
        program.begin_stage(SimpleNamespace(name="warm-up"))
        return program

    def call(self, program, labelled, population):
        z = torch.tensor([labelled + population], dtype=torch.float64, requires_grad=True)
        value = program.aligned(z[:, :2], z[:, 2:])
        return value, gradient(value.sum(), z)[0]

    def test_first_and_second_call(self):
        program = self.program()
        value, slopes = self.call(program, P, U)
        close(value, [2.212815])
        close(slopes, [-0.064260, -0.055097, 0.004154, 0.007087, 0.002672, 0.005402])
        program.after_step(type("S", (), {"name": "warm-up"}), type("B", (), {"active": None}))
        value, slopes = self.call(program, [1.0, 0.5], [-1.0, 0.0, 2.0, -0.5])
        close(value, [5.837507])
        close(slopes, [-0.095899, -0.098617, 0.007934, 0.006555, 0.001292, 0.007742])
        averages = (program.population_mean, program.labelled_cost, program.population_cost)
        close([float(average._next) for average in averages], [0.469204, 0.227841, 0.257748])

    def test_without_memory_the_second_call_is_stateless(self):
        program = self.program(mean_decay=0.0, margin_decay=0.0)
        self.call(program, P, U)
        program.after_step(type("S", (), {"name": "warm-up"}), type("B", (), {"active": None}))
        again, _ = self.call(program, [1.0, 0.5], [-1.0, 0.0, 2.0, -0.5])
        fresh, _ = self.call(self.program(), [1.0, 0.5], [-1.0, 0.0, 2.0, -0.5])
        close(again, fresh.detach().numpy())

    def test_distance_and_margin(self):
        close(alignment.smooth_distance(np.zeros(1), 3.5), [0.396084])
        close(alignment.smooth_distance(np.zeros(1), 1.0), [1.386294])
        near = torch.zeros(1, dtype=torch.float64, requires_grad=True)
        close(gradient(alignment.smooth_distance(near, 3.5).sum(), near), [0.0])
        z = np.linspace(-3, 3, 601)
        plus = alignment.margin_cost(z, 1, 0.6)
        close(plus, alignment.margin_cost(-z, -1, 0.6), 1e-15)
        assert z[plus.argmax()] == pytest.approx(0.3)
        close(plus.max(), 0.329984)
        close(alignment.margin_cost(np.array(P), 1, 0.6).mean(), 0.199000)
        close(alignment.margin_cost(np.array(P), -1, 0.6).mean(), 0.202172)
        close(alignment.margin_cost(np.array(U), -1, 0.6).mean(), 0.252008)

    def test_evaluating_leaves_the_averages_alone(self):
        average = MovingAverage(0.85)
        average(torch.tensor([0.4]))
        average.keep()
        stored = average.stored.clone()
        average(torch.tensor([0.9]))
        assert torch.equal(average.stored, stored)


def test_proxy_accuracy_is_unbiased_not_bounded():
    from pulens.learners._selection import proxy_accuracy

    assert proxy_accuracy(0.9, 0.7, 0.4) == pytest.approx(1.02)
