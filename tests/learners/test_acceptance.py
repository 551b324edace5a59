"""The worked numbers of the methods' specifications: values and gradients on a handful of logits."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from pulens.learners import LBE, MPEPU, VPU, fit_many
from pulens.risks import LOSSES, alignment, labelling_bias, risk_parts, unbiased

from pulens.learning.learners.base.cuts import break_even_threshold, cut_below
from pulens.learning.learners.base.proxies import proxy_auc
from pulens.learning.learners.lbe import smallest
from pulens.learning.learners.mpe_pu import ValueIgnoringProgram
from pulens.learning.learners.pusb import SelectionBiasProgram
from pulens.learning.learners.stack.program import Program
from pulens.learning.learners.vpu import VariationalProgram
from pulens.learning.risks.correction import corrected, corrected_value
from pulens.learning.risks.losses import logistic, sigmoid
from pulens.learning.risks.means import masked_mean
from pulens.learning.risks.mixture import best_bin_share
from pulens.learning.risks.variational import mixup_gap, variational
from pulens.scenario import Scenario
from worked_numbers import close, gradient, program_on

P, U, PRIOR = [2.0, -1.0], [0.5, -0.5, 1.0, -2.0], 0.4
LOW_P, LOW_U, LOW_PRIOR = [3.0, 2.0], [-3.0, -2.0, -1.0, -4.0], 0.6


def parts_and_logits(loss, labelled, unlabelled, prior):
    z = torch.tensor(labelled + unlabelled, dtype=torch.float64, requires_grad=True)
    n = len(labelled)
    cost = LOSSES[loss]
    return risk_parts(cost(z[:n], 1).mean(), cost(z[:n], -1).mean(), cost(z[n:], -1).mean(), prior), z


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

    @pytest.mark.parametrize(
        ("loss", "labelled_as_negative", "unlabelled_as_negative"),
        [("sigmoid", 0.574869, 0.462565), ("logistic", 1.220095, 0.722086)],
    )
    def test_mean_losses_as_negatives(self, loss, labelled_as_negative, unlabelled_as_negative):
        close(LOSSES[loss](np.array(P), -1).mean(), labelled_as_negative)
        close(LOSSES[loss](np.array(U), -1).mean(), unlabelled_as_negative)

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

    @pytest.mark.parametrize("rows", [(P, U, PRIOR), (LOW_P, LOW_U, LOW_PRIOR)], ids=["ordinary", "stepping back"])
    @pytest.mark.parametrize("loss", ["sigmoid", "logistic"])
    @pytest.mark.parametrize("risk", [unbiased, corrected])
    def test_order_and_duplication_change_neither_value_nor_gradient(self, risk, loss, rows):
        labelled, unlabelled, prior = rows

        def found(labelled, unlabelled):
            parts, z = parts_and_logits(loss, labelled, unlabelled, prior)
            slopes = gradient(risk(parts), z).numpy()
            return float(risk(parts).detach()), slopes[: len(labelled)], slopes[len(labelled) :]

        value, on_labelled, on_unlabelled = found(labelled, unlabelled)
        turned = found(labelled[::-1], unlabelled[::-1])
        close(turned[0], value, 1e-15)
        close(turned[1][::-1], on_labelled, 1e-15)
        close(turned[2][::-1], on_unlabelled, 1e-15)
        doubled = found(labelled * 2, unlabelled * 2)
        close(doubled[0], value, 1e-15)
        close(doubled[1].reshape(2, -1).sum(0), on_labelled, 1e-15)  # the two copies of a row share its slope
        close(doubled[2].reshape(2, -1).sum(0), on_unlabelled, 1e-15)

    def test_convex_form_of_the_logistic_risk(self):
        close(-PRIOR * np.mean(P) + logistic(np.array(U), -1).mean(), 0.522086)

    def test_numpy_and_torch_agree(self):
        for name, cost in LOSSES.items():
            if name != "zero-one":
                close(cost(torch.tensor(U, dtype=torch.float64), 1), cost(np.array(U), 1), 1e-15)


class TestPUSB:
    scores = (0.9, -1.2, 0.3, 2.1, -0.4, 0.0, 1.5, -2.0, -0.1, 0.6)
    increasing = (np.exp, lambda score: score**3 + 5 * score, lambda score: np.arctan(score) - 7)

    def cut(self, scores, prior):
        return program_on(SelectionBiasProgram, class_priors=[prior]).cut(torch.as_tensor(scores), 0)

    @pytest.mark.parametrize(
        ("prior", "threshold", "above", "at_or_above"), [(0.40, 0.6, 3, 4), (0.25, 0.9, 2, 3), (0.55, 0.0, 5, 6)]
    )
    def test_break_even_threshold(self, prior, threshold, above, at_or_above):
        assert break_even_threshold(self.scores, prior) == threshold
        assert sum(score > threshold for score in self.scores) == above
        cut = cut_below(self.scores, threshold)
        assert sum(score > cut for score in self.scores) == at_or_above

    @pytest.mark.parametrize("change", increasing)
    def test_increasing_changes_of_the_score_change_no_prediction_and_no_auc(self, change):
        scores = np.array(self.scores)
        changed = change(scores)
        for prior in (0.25, 0.4, 0.55):
            np.testing.assert_array_equal(scores > self.cut(scores, prior), changed > self.cut(changed, prior))
        labelled = np.arange(10) % 4 == 0
        before = proxy_auc(scores[labelled], scores[~labelled])
        assert 0 < before < 1
        assert proxy_auc(changed[labelled], changed[~labelled]) == before

    @pytest.mark.parametrize(
        "scores", [scores, tuple(np.random.default_rng(3).normal(size=37))], ids=["worked", "37 normal"]
    )
    def test_the_share_called_positive_is_the_prior_for_every_score(self, scores):
        scores = np.array(scores)
        n = scores.size
        for prior in (0.03, 0.25, 0.4, 0.5, 0.55, 0.97):
            kept = math.floor(n * (1 - prior) + 1e-9)
            for own in (scores, -scores, *(change(scores) for change in self.increasing)):
                assert (own > self.cut(own, prior)).sum() == n - kept


class TestVPU:
    population = torch.tensor([0.2, -1.0, 1.5, -0.3], dtype=torch.float64)
    labelled = torch.tensor([1.0, 2.0, 0.5, -0.2], dtype=torch.float64)

    def test_value_and_gradient(self):
        close(sigmoid(self.population, -1), [0.549834, 0.268941, 0.817574, 0.425557])
        close(-logistic(self.labelled, 1), [-0.313262, -0.126928, -0.474077, -0.798139])
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
        learner, program = VPU(scenario="case-control"), program_on(VariationalProgram)
        learner.cut_ = program.cut(self.population, 0)
        logits = np.array([0.5, -0.2, -0.6])
        close(learner._probability(logits), [0.761349, 0.550612, 0.433408])
        np.testing.assert_array_equal(logits > learner.cut_, [True, True, False])
        usual = Program.cut(program, self.population, 0)  # what methods without a rule of their own cut at
        np.testing.assert_array_equal(logits > usual, [True, False, False])


class TestMPEPU:
    labelled = np.array([0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.55, 0.3])
    unlabelled = np.array([0.97, 0.92, 0.88, 0.75, 0.65, 0.5, 0.45, 0.4, 0.35, 0.2, 0.15, 0.1])

    @pytest.mark.parametrize(
        ("as_published", "share", "upper"), [(True, 0.476190, 1.482972), (False, 0.571429, 1.578210)]
    )
    def test_best_bin_as_published_and_clean(self, as_published, share, upper, monkeypatch):
        """The bin at u = 0.5, with 6 unlabelled (5 as published) and 7 labelled rows, and its upper value."""
        seen, smallest_of = [], np.argmin
        with monkeypatch.context() as patched:  # the upper values are nowhere else to be seen
            patched.setattr(np, "argmin", lambda values: seen.append(values.copy()) or smallest_of(values))
            result = best_bin_share(self.labelled, self.unlabelled, as_published=as_published)
        close(result, share)
        (uppers,) = seen
        close(uppers.min(), upper)
        j = (self.labelled >= 0.5).sum()
        i = (self.unlabelled > 0.5).sum()
        assert (i, j) == (5, 7)
        assert result == ((i if as_published else i + 1) / 12) / (j / 8)
        close((uppers.min() - result) * j / 8, 0.880934)  # (1 + gamma) epsilon
        # bins come in descending order of the score: as published from the third on, else from the first that holds a
        # labelled row, which is the second
        assert uppers.argmin() == i - (2 if as_published else 1)

    def test_best_bin_reads_ranks_only(self):
        for published in (False, True):
            expected = best_bin_share(self.labelled, self.unlabelled, as_published=published)
            assert best_bin_share(self.labelled**3, self.unlabelled**3, as_published=published) == expected

    @pytest.mark.parametrize(
        ("labelled", "unlabelled", "mean", "deviation"),
        [(29, 594, 0.4734, 0.0598), (300, 6000, 0.4890, 0.0182), (3000, 60000, 0.4978, 0.0061)],
    )
    def test_best_bin_over_twenty_draws(self, labelled, unlabelled, mean, deviation):
        rng = np.random.default_rng(0)
        result = []
        for positives in rng.binomial(unlabelled, 0.5, 20):
            mixed = np.r_[rng.beta(5, 1, positives), rng.beta(1, 5, unlabelled - positives)]
            result.append(best_bin_share(rng.beta(5, 1, labelled), mixed, as_published=True))
        # both means are over twenty draws: three standard errors of their difference
        assert np.mean(result) == pytest.approx(mean, abs=3 * deviation * math.sqrt(2 / 20))
        assert deviation / 2 < np.std(result, ddof=1) < 2 * deviation

    @pytest.mark.parametrize(("size", "tolerance"), [(200, 0.1), (4000, 0.02), (40000, 0.006)])
    def test_best_bin_finds_the_share_when_classes_are_apart(self, size, tolerance):
        rng = np.random.default_rng(0)
        mixed = np.r_[rng.uniform(1, 2, int(0.3 * size)), rng.uniform(0, 1, int(0.7 * size))]
        assert best_bin_share(rng.uniform(1, 2, size), mixed) == pytest.approx(0.3, abs=tolerance)

    @pytest.mark.parametrize("selection", ["last", "oracle"])
    def test_no_unlabelled_copy_of_a_held_out_labelled_row_is_trained_on(self, selection):
        """A case-control sample of a whole pool holds every labelled row twice; in a single set equals are others."""
        rng = np.random.default_rng(0)
        pool = rng.normal(size=(60, 3)).astype(np.float32)
        X, labels = np.concatenate([pool[:20], pool]), np.repeat([1, 0], [20, 60])
        known = {"validation": [(np.arange(30, 40), np.repeat([1, -1], 5))]} if selection == "oracle" else {}
        seen = {}

        def look(program, number, stage):
            data, held = program.stack.data, program.stack.held_out
            training = X[data.rows[0, data.n_labelled[0] : data.n_rows[0]]]
            aside = X[held.rows[0, : held.n_labelled[0]]]
            copies = (training[:, None] == aside[None]).all(2).sum()
            seen[data.scenario] = len(aside), int(copies), data.n_labelled[0]

        for scenario in ("case-control", "single-set"):
            options = {"backbone": "linear", "validation_fraction": 0.3, "scenario": scenario, "device": "cpu"}
            made = MPEPU(epochs=1, warm_up_epochs=1, selection=selection, random_state=0, **options)
            fit_many([made], X, [labels], on_epoch=look, **known)
        assert seen["case-control"] == (6, 0, 14)
        assert seen["single-set"][1] > 0

    def test_ignoring_the_highest_share(self):
        labelled, unlabelled = [0.8, 1.6, -0.3], [1.2, -0.7, 0.4, 2.2, -1.5, 0.1, -0.2, 0.9]
        z = torch.tensor([labelled + unlabelled], dtype=torch.float64)
        is_unlabelled = torch.arange(11)[None] >= 3
        data = SimpleNamespace(
            table=None, rows=None, n_rows=[11], n_labelled=[3], is_unlabelled=is_unlabelled, device=z.device
        )
        network = SimpleNamespace(score=lambda table, rows: z)
        program = program_on(
            ValueIgnoringProgram,
            data=data,
            network=network,
            runs=1,
            class_priors=[0.4],
            held_out=None,
            logits=lambda batch: z,
        )
        data.scenario = Scenario.CASE_CONTROL
        batch = SimpleNamespace(
            positions=torch.arange(11)[None], labelled=(~is_unlabelled).double(), unlabelled=is_unlabelled.double()
        )
        warm, training = SimpleNamespace(name="warm-up"), SimpleNamespace(name="training")
        program.begin_stage(warm)
        program.begin_epoch(warm, 0)
        assert not program.ignored.any()
        close(program.loss(warm, batch), [0.726747])
        program.begin_stage(training)
        program.begin_epoch(training, 0)
        assert torch.nonzero(program.ignored[0, 3:]).flatten().tolist() == [0, 3, 7]
        assert not program.ignored[0, :3].any(), "labelled rows are kept, however high they score"
        close(program.loss(training, batch), [0.520908])
        close(logistic(z[0, :3], 1).mean(), 0.469786)
        close(masked_mean(logistic(z, -1), (is_unlabelled & ~program.ignored).double()), [0.572030])


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
        close(losses.mean(), 0.497633, 5e-5)
        kept = smallest(torch.tensor(losses)[None], 0.8, torch.ones(1, 4))
        close(masked_mean(torch.tensor(losses)[None], kept), [0.416011], 5e-5)
        result = labelling_bias.propensity_loss(np.log(self.eta / (1 - self.eta)), self.s, q)
        close(result, [0.916266, 0.215752, 0.056970, 0.297055], 5e-5)
        close(result.mean(), 0.371510, 5e-5)

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
        for result, expected in zip(torch.autograd.grad(step, (w1, w2)), slopes, strict=True):
            close(result, expected, 1e-12)

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

    def test_swapping_the_networks_keeps_the_likelihood_and_changes_predictions(self):
        """The likelihood knows the product alone; which network is called the classifier decides what is predicted."""
        rng = np.random.default_rng(0)
        positive = rng.random(300) < 0.5
        X = rng.normal(size=(300, 2)) + np.where(positive, 1.0, -1.0)[:, None]
        labels = (positive & (rng.random(300) < 0.3)).astype(int)
        seen = {}

        def swap(program, number, stage):
            if stage.name != "EM":
                return
            data, networks = program.stack.data, program.stack.networks
            for name in ("as trained", "swapped"):
                h, eta = (sigmoid(network.score(data.table, data.rows)[0].double(), -1) for network in networks)
                likelihood = labelling_bias.log_likelihood(h, eta, data.is_labelled[0].double()).sum()
                seen[name] = float(likelihood), program.score(data)[0] > 0
                networks.reverse()  # the second time round puts them back

        learner = LBE(backbone="linear", epochs=1, learning_rate=0.05, random_state=0, device="cpu")
        fit_many([learner], X, [labels], on_epoch=swap)
        (before, predicted), (after, otherwise) = seen["as trained"], seen["swapped"]
        assert after == pytest.approx(before, rel=1e-12)
        assert (predicted != otherwise).float().mean() > 0.1

    def test_exact_em_never_lowers_the_likelihood(self):
        from scipy.optimize import minimize

        rng = np.random.default_rng(0)
        x = np.column_stack([np.ones(60), rng.normal(size=60)])
        s = (rng.random(60) < 0.5 / (1 + np.exp(-2 * x[:, 1]))).astype(float)
        weights = [np.array([0.1, 0.2]), np.array([-0.3, 0.1])]
        result = []
        for _ in range(12):
            h, eta = (1 / (1 + np.exp(-x @ own)) for own in weights)
            result.append(labelling_bias.log_likelihood(h, eta, s).sum())
            q = labelling_bias.expected_class(h, eta, s)
            weights = [
                minimize(lambda w, q=q: alignment.cross_entropy(x @ w, q).sum(), weights[0], tol=1e-12).x,
                minimize(lambda w, q=q: labelling_bias.propensity_loss(x @ w, s, q).sum(), weights[1], tol=1e-12).x,
            ]
        assert (np.diff(result) > -1e-9).all()
        assert result[-1] > result[0] + 0.1


def test_proxy_accuracy_is_unbiased_not_bounded():
    from pulens.learning.learners.base.proxies import proxy_accuracy

    assert proxy_accuracy(0.9, 0.7, 0.4) == pytest.approx(1.02)
