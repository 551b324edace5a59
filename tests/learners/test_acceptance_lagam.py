"""LaGAM: the worked numbers of its specification, and what its interface promises about true labels."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from pulens.learners import LaGAM, LaGAMPUOnly, fit_many, load
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import check_estimator
from torch import nn

from pulens.errors import InputError
from pulens.learning.learners.lagam import WholeBatches
from pulens.learning.learners.lagam_pu_only import EstimatedSupportProgram
from pulens.learning.learners.parts.contrast import contrast, group_loss, instance_loss, nearest, same_group
from pulens.learning.learners.parts.groups import grouped
from pulens.learning.learners.stack.aside import set_aside
from pulens.learning.learners.stack.rows import Part, StackedRows
from pulens.learning.learners.stack.streams import Streams
from pulens.learning.risks.disambiguation import class_balanced, kept_share, label_gradient, layer_slopes, support_slope
from pulens.learning.risks.losses import logistic, sigmoid
from pulens.scenario import Scenario

CPU = torch.device("cpu")
SHORT = {"epochs": 3, "warm_up_epochs": 1, "batch_size": 32, "groups": 3, "selection": "last", "device": "cpu"}


def rows(n=160, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 2 == 0
    X = (rng.normal(size=(n, 4)) + np.where(positive, 0.7, -0.7)[:, None]).astype(np.float32)
    return X, (positive & (rng.random(n) < 0.5)).astype(int), np.where(positive, 1, -1)


def double(*values):
    return tuple(torch.tensor(value, dtype=torch.float64) for value in values)


class TestLoss:
    z, labels = np.array([1.0, -0.5, 0.2]), np.array([1.0, 0.1, 0.0])

    def test_worked_value_and_its_parts(self):
        assert ((1 - self.labels) * logistic(self.z, -1)).sum() == pytest.approx(1.224808, abs=1e-6)
        assert (self.labels * logistic(self.z, 1)).sum() == pytest.approx(0.410669, abs=1e-6)
        masses = layer_slopes(self.z, np.ones((3, 1)), self.labels, 1.0)[1]  # negative, positive
        assert masses == pytest.approx([1.9, 1.1])
        assert class_balanced(self.z, self.labels) == pytest.approx(1.017972, abs=1e-6)
        tensors = double(self.z, self.labels)
        assert float(class_balanced(*tensors)) == pytest.approx(float(class_balanced(self.z, self.labels)), abs=1e-12)

    def test_duplicating_the_batch_and_padding_it_change_nothing(self):
        value = class_balanced(self.z, self.labels)
        assert class_balanced(np.tile(self.z, 2), np.tile(self.labels, 2)) == pytest.approx(value)
        padded = class_balanced(np.append(self.z, 9.0), np.append(self.labels, 1.0), np.array([1.0, 1, 1, 0]))
        assert padded == pytest.approx(value)

    def test_a_class_without_mass_adds_nothing(self):
        assert class_balanced(self.z, np.zeros(3)) == pytest.approx(logistic(self.z, -1).mean())

    def test_probabilities_are_held_off_zero(self):
        assert class_balanced(np.array([-50.0]), np.array([1.0])) == pytest.approx(-np.log(1e-4))


class TestLabels:
    def test_share_kept_by_an_update(self):
        result = [kept_share(epoch, 400) for epoch in (20, 100, 399)]
        assert result == pytest.approx([0.942500, 0.912500, 0.800375], abs=1e-9)

    def test_a_label_flagged_in_every_epoch(self):
        label, seen = 0.0, {}
        for epoch in range(20, 400):
            kept = kept_share(epoch, 400)
            label = kept * label + (1 - kept)
            seen[epoch] = label
        assert [seen[20], seen[21], seen[25]] == pytest.approx([0.057500, 0.112047, 0.303222], abs=1e-6)
        assert min(epoch for epoch, value in seen.items() if value > 0.5) == 31


class TestMetaGradient:
    features, weight = double([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], [0.3, -0.2])
    labels = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)
    support, truth = double([[1.0, 0.2], [-0.5, 1.0]], [1.0, 0.0])
    rate = 1e-3
    expected = torch.tensor([[1.444869, 0.0], [-1.133341, 4.525756], [1.133341, 0.345163]], dtype=torch.float64)

    def virtual(self, shift):
        """Support loss after the virtual step, with label columns (1 - l, l) + shift; nothing in closed form."""
        columns = torch.stack([1 - self.labels, self.labels], 1) + shift
        weight = self.weight.clone().requires_grad_()
        z = self.features @ weight
        costs = torch.stack([logistic(z, -1), logistic(z, 1)], 1)
        loss = ((columns * costs).sum(0) / columns.sum(0)).sum()
        slope = torch.autograd.grad(loss, weight, create_graph=True)[0]
        return loss, slope, class_balanced(self.support @ (self.weight - self.rate * slope), self.truth)

    def closed_form(self):
        valid = torch.ones(3, dtype=torch.float64)
        means, totals, own = layer_slopes(self.features @ self.weight, self.features, self.labels, valid)
        z = self.support @ (self.weight - self.rate * sum(means))
        direction = support_slope(z, self.support, self.truth, 1 - self.truth)
        return torch.stack(label_gradient(means, totals, own, self.features, direction, self.rate), 1)

    def test_worked_numbers(self):
        loss, slope, after = self.virtual(torch.zeros(3, 2, dtype=torch.float64))
        assert loss.item() == pytest.approx(1.266394, abs=1e-6)
        assert slope.tolist() == pytest.approx([-0.172578, 0.253192], abs=1e-6)
        assert class_balanced(self.support @ self.weight, self.truth).item() == pytest.approx(1.104956, abs=1e-6)
        assert after.item() == pytest.approx(1.104762, abs=1e-6)
        result = self.closed_form()
        torch.testing.assert_close(result * 1e4, self.expected, rtol=2e-6, atol=2e-6)
        assert (-result).argmax(1).tolist() == [1, 0, 1]  # the third point, close to the positive, is flagged

    def test_closed_form_is_the_gradient_through_the_virtual_step(self):
        shift = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
        exact = torch.autograd.grad(self.virtual(shift)[2], shift)[0]
        torch.testing.assert_close(self.closed_form(), exact, rtol=1e-9, atol=1e-15)

    def test_closed_form_agrees_with_finite_differences(self):
        result, step = self.closed_form(), 1e-5
        for row in range(3):
            for column in range(2):
                shift = torch.zeros(3, 2, dtype=torch.float64)
                shift[row, column] = step
                slope = (self.virtual(shift)[2] - self.virtual(-shift)[2]) / (2 * step)
                assert slope.item() == pytest.approx(result[row, column].item(), rel=1e-6, abs=1e-10)


class TestContrast:
    weak, strong = double([[[1.0, 0.0], [0.0, 1.0]]], [[[0.8, 0.6], [0.6, 0.8]]])
    everyone = torch.ones(1, 2, dtype=torch.bool)

    def logarithms(self):
        return contrast(self.weak, self.strong, self.everyone, 0.5)

    def group(self, groups, predicted=None):
        return group_loss(self.logarithms(), same_group(groups, predicted), self.everyone).item()

    def test_worked_numbers(self):
        instance = instance_loss(self.logarithms(), self.everyone).item()
        group = self.group(torch.zeros(1, 2))
        assert instance == pytest.approx(0.627123, abs=1e-6)
        assert group == pytest.approx(1.293790, abs=1e-6)
        assert instance + group == pytest.approx(1.920913, abs=1e-6)

    def test_separate_groups_leave_the_own_strong_view(self):
        alone = self.group(torch.tensor([[0, 1]]))
        assert alone == pytest.approx(instance_loss(self.logarithms(), self.everyone).item())

    def test_different_predictions_cut_a_group(self):
        one = torch.zeros(1, 2)
        assert self.group(one, torch.tensor([[True, False]])) == pytest.approx(self.group(torch.tensor([[0, 1]])))
        assert same_group(one).all()
        assert self.group(one, torch.tensor([[True, True]])) == pytest.approx(self.group(one))

    def test_rows_with_nobody_are_left_out_and_padding_does_not_count(self):
        nobody = torch.zeros(1, 2, 4, dtype=torch.bool)
        assert group_loss(self.logarithms(), nobody, self.everyone).item() == 0.0
        nobody[0, 0, 2] = True
        assert group_loss(self.logarithms(), nobody, self.everyone) == pytest.approx(-self.logarithms()[0, 0, 2].item())
        padded = [torch.cat([views, torch.full((1, 3, 2), 7.0)], 1) for views in (self.weak, self.strong)]
        real = torch.tensor([[True, True, False, False, False]])
        logarithms = contrast(*padded, real, 0.5)
        assert instance_loss(logarithms, real).item() == pytest.approx(0.627123, abs=1e-6)
        assert group_loss(logarithms, same_group(torch.zeros(1, 5)), real).item() == pytest.approx(1.293790, abs=1e-6)
        empty = torch.zeros_like(real)
        assert torch.isfinite(contrast(*padded, empty, 0.5)).all()

    def test_neighbours_are_the_most_similar_views(self):
        result = nearest(self.weak, self.strong, self.everyone, 2)
        assert result[0].tolist() == [[True, False, True, False], [False, True, False, True]]
        assert nearest(self.weak, self.strong, self.everyone, 10).all()


class TestGroups:
    def test_runs_of_different_length_find_what_scikit_learn_finds(self):
        rng = np.random.default_rng(0)
        centres = 4 * rng.normal(size=(4, 6))
        points = [centres[rng.integers(0, 4, n)] + rng.normal(size=(n, 6)) for n in (300, 200)]
        x = torch.zeros(2, 300, 6)
        for run, own in enumerate(points):
            x[run, : len(own)] = torch.as_tensor(own)
        streams = Streams([1, 2], CPU)
        result = grouped(x, torch.tensor([300, 200]), 4, streams, (0, 0))
        alone = grouped(x[1:, :200], torch.tensor([200]), 4, Streams([2], CPU), (0, 0))
        assert torch.equal(result[1:, :200], alone)
        for run, own in enumerate(points):
            labels = result[run, : len(own)].numpy()
            inertia = sum(((own[labels == k] - own[labels == k].mean(0)) ** 2).sum() for k in range(4))
            assert inertia == pytest.approx(KMeans(4, n_init=5, random_state=0).fit(own).inertia_, rel=0.01)

    def test_a_centre_without_points_moves_to_a_far_one(self):
        x = torch.tensor([[[0.0], [0.0], [0.0], [0.0], [9.0], [5.0]]])
        result = grouped(x, torch.tensor([6]), 3, Streams([0], CPU), (0, 0))[0]
        assert len(set(result.tolist())) == 3


def labels_after(learner, X, labels, **options):
    """The stored labels [R, widest] after every epoch."""
    seen = []
    fit_many([learner], X, [labels], on_epoch=lambda program, *_: seen.append(program.labels.clone()), **options)
    return seen


class TestTraining:
    X, labels, truth = rows()
    support = ((np.arange(40), truth[:40]),)

    def test_nothing_moves_when_an_update_keeps_everything(self):
        learner = LaGAM(random_state=0, keep=1.0, keep_at_end=1.0, **SHORT, scenario="case-control")
        for seen in labels_after(learner, self.X, self.labels, support=self.support):
            assert torch.equal(seen[0], (torch.arange(160) < self.labels.sum()).float())

    def test_labels_of_unlabelled_rows_accumulate_and_labelled_ones_stay(self):
        learner = LaGAM(random_state=0, keep=0.5, keep_at_end=0.5, **{**SHORT, "epochs": 6}, scenario="case-control")
        seen = labels_after(learner, self.X, self.labels, support=self.support)
        n_labelled = self.labels.sum()
        assert all((own[0, :n_labelled] == 1).all() for own in seen)
        assert (seen[0][0, n_labelled:] == 0).all()  # warm-up
        assert seen[1][0, n_labelled:].max() == 0.5
        assert seen[-1][0, n_labelled:].max() > 0.9
        assert learner.relabelled_share_ == pytest.approx((seen[-1][0, n_labelled:] > 0.5).float().mean().item())

    def test_a_run_of_a_stack_equals_the_run_alone(self):
        chosen = [np.arange(160), np.arange(150), np.arange(20, 160)]
        support = [(np.arange(30 + 5 * run), self.truth[: 30 + 5 * run]) for run in range(3)]

        def make(run):
            options = {"learning_rate": 1e-3 * (run + 1), "meta_rate": 1e-3 * (run + 1), "temperature": 0.1 + 0.1 * run}
            return LaGAM(random_state=run, backbone=small, **options, **SHORT, scenario="case-control")

        labels = [self.labels[own] for own in chosen]
        together = fit_many([make(run) for run in range(3)], self.X, labels, rows=chosen, support=support)
        for run, stacked in enumerate(together):
            alone = fit_many([make(run)], self.X, [labels[run]], rows=[chosen[run]], support=[support[run]])[0]
            expected = alone.decision_function(self.X)
            np.testing.assert_allclose(stacked.decision_function(self.X), expected, rtol=2e-3, atol=2e-5)

    def test_short_batches_are_left_out_unless_there_is_no_other(self):
        table = torch.zeros(100, 2)
        parts = [Part(np.arange(4), np.arange(4, size)) for size in (100, 70, 20)]
        data = StackedRows(table, parts, Scenario.CASE_CONTROL)
        batches = list(WholeBatches(32, False).epoch(data, Streams([0, 1, 2], CPU), 0))
        assert [batch.active.tolist() for batch in batches] == [
            [True, True, True],
            [True, True, False],
            [True, False, False],
        ]
        assert batches[0].x.shape == (3, 32, 2)


def small(shape):
    return nn.Sequential(
        nn.Linear(shape[0], 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1)
    )


class Told(LaGAM):
    """Two made-up rows for a support set: for checks that call fit(X, y)."""

    def fit(self, X, y):
        width = X.shape[-1] if hasattr(X, "shape") else len(X[0])
        return super().fit(X, y, support=(np.eye(2, width), np.array([1, -1])))


class TestSupport:
    X, labels, truth = rows()

    def test_it_must_be_given_and_the_error_names_the_way_out(self):
        with pytest.raises(InputError, match=r"support=\(X_support, true_labels\).*LaGAMPUOnly"):
            LaGAM(**SHORT, scenario="case-control").fit(self.X, self.labels)
        with pytest.raises(InputError, match="LaGAMPUOnly"):
            fit_many([LaGAM(**SHORT, scenario="case-control")], self.X, [self.labels])

    def test_it_must_hold_both_classes_as_1_and_minus_1(self):
        with pytest.raises(InputError, match=r"both classes, got 5 positive \(1\) and 0 negative"):
            LaGAM(**SHORT, scenario="case-control").fit(self.X, self.labels, support=(self.X[:5], np.ones(5)))
        with pytest.raises(InputError, match="LaGAM needs rows with true labels: 1"):
            LaGAM(**SHORT, scenario="case-control").fit(
                self.X, self.labels, support=(self.X[:5], np.array([1, 0, 1, 0, 1]))
            )
        with pytest.raises(InputError, match="5 rows but 4 labels"):
            LaGAM(**SHORT, scenario="case-control").fit(
                self.X, self.labels, support=(self.X[:5], np.array([1, -1, 1, -1]))
            )

    def test_the_fitted_and_the_saved_learner_say_what_was_used(self, tmp_path):
        held, known = slice(0, 20), slice(20, 50)
        learner = LaGAM(
            random_state=0, standardise=True, **{**SHORT, "selection": "proxy_auc"}, scenario="case-control"
        )
        learner.fit(
            self.X[50:],
            self.labels[50:],
            support=(self.X[known], self.truth[known]),
            validation=(self.X[held], self.labels[held]),
        )
        again = load(learner.save(tmp_path / "model"))
        for one in (learner, again):
            assert one.support_ == "true labels of 15 positive and 15 negative rows"
            assert one.true_labels_used_ == 30
        np.testing.assert_array_equal(again.decision_function(self.X), learner.decision_function(self.X))

    def test_the_same_seed_twice_gives_identical_bits(self):
        support = (self.X[:30], self.truth[:30])
        first, second = (
            LaGAM(random_state=3, **SHORT, scenario="case-control")
            .fit(self.X, self.labels, support=support)
            .decision_function(self.X)
            for _ in range(2)
        )
        np.testing.assert_array_equal(first, second)

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore")
    def test_scikit_learn_checks_pass_once_a_support_set_comes_along(self):
        learner = Told(backbone="linear", random_state=0, **{**SHORT, "epochs": 1})
        failed = {
            result["check_name"] for result in check_estimator(learner, on_fail=None) if result["status"] == "failed"
        }
        assert failed <= {  # labels such as 1 and 2, or words, that nobody declared
            "check_estimators_dtypes",
            "check_fit2d_1feature",
            "check_classifier_data_not_an_array",
            "check_classifiers_classes",
        }

    def test_a_backbone_without_a_dense_layer_is_refused(self):
        flat = nn.Sequential(nn.Flatten(), nn.Identity())
        with pytest.raises(InputError, match="backbone has none"):
            LaGAM(backbone=flat, **SHORT, scenario="case-control").fit(
                self.X, self.labels, support=(self.X[:9], self.truth[:9])
            )


class TestPUOnly:
    X, labels, truth = rows()

    def test_it_reads_no_true_label_and_says_so(self):
        learner = LaGAMPUOnly(class_prior=0.5, random_state=0, **SHORT, scenario="case-control").fit(
            self.X, self.labels
        )
        n_labelled = int(self.labels.sum())
        aside = round(0.2 * n_labelled)
        assert learner.true_labels_used_ == 0
        assert learner.support_ == (
            f"estimated from {aside} labelled and {round(0.2 * (160 - n_labelled))} unlabelled rows"
        )

    def test_a_support_set_and_a_share_that_makes_no_sense_are_refused(self):
        with pytest.raises(InputError, match="use LaGAM with it"):
            fit_many(
                [LaGAMPUOnly(class_prior=0.5, **SHORT, scenario="case-control")],
                self.X,
                [self.labels],
                support=[(np.arange(30), self.truth[:30])],
            )
        with pytest.raises(InputError, match=r"support_fraction must lie strictly between 0 and 1, got 1\.5"):
            LaGAMPUOnly(class_prior=0.5, support_fraction=1.5, **SHORT, scenario="case-control").fit(
                self.X, self.labels
            )
        few = np.where(np.arange(160) == 0, 1, 0)
        with pytest.raises(InputError, match="at least 2 labelled and 2 unlabelled rows"):
            LaGAMPUOnly(class_prior=0.5, **SHORT, scenario="case-control").fit(self.X, few)

    def test_rows_set_aside_are_not_trained_on_and_keep_the_shares(self):
        data = StackedRows(torch.zeros(100, 1), [Part(np.arange(20), np.arange(20, 100))], Scenario.SINGLE_SET)
        training, aside = set_aside(data, 0.25, Streams([0], CPU))
        assert (training.n_labelled, training.n_rows) == ([15], [75])
        assert (aside.n_labelled, aside.n_rows) == ([5], [25])
        assert sorted(torch.cat([training.rows[0], aside.rows[0]]).tolist()) == list(range(100))

    @pytest.mark.parametrize("scenario", list(Scenario), ids=str)
    def test_estimated_slope_is_that_of_known_classes(self, scenario):
        """On 200,000 simulated rows, the direction from PU rows is the one from true labels."""
        rng = np.random.default_rng(0)
        n, prior = 200_000, 0.3
        positive = rng.random(n) < prior
        features = rng.normal(size=(n, 3)) + np.where(positive, 0.8, -0.8)[:, None]
        z = torch.as_tensor(features @ np.array([0.7, 0.4, -0.2]))
        features = torch.as_tensor(features)
        positive = torch.as_tensor(positive)
        clean = support_slope(z, features, positive / positive.sum(), ~positive / (~positive).sum())
        labelled = positive & torch.as_tensor(rng.random(n) < 0.2)
        population = torch.ones(n, dtype=torch.bool)
        if scenario is Scenario.CASE_CONTROL:  # labelled rows come from elsewhere
            population = ~labelled
            prior = float(positive[population].float().mean())
        program = EstimatedSupportProgram.__new__(EstimatedSupportProgram)
        program.stack = SimpleNamespace(class_prior=torch.tensor([prior]), data=SimpleNamespace(device=CPU))
        as_positive, as_negative = (weights[0].double() for weights in program.support_weights(1))
        chosen = [
            labelled * weights[0] / labelled.sum() + population * weights[1] / population.sum()
            for weights in (as_positive, as_negative)
        ]
        np.testing.assert_allclose(support_slope(z, features, *chosen), clean, atol=0.02)
        assert abs(float((sigmoid(z, -1) * chosen[1]).sum()) - float(sigmoid(z, -1)[~positive].mean())) < 0.01
