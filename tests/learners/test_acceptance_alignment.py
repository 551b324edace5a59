"""The worked numbers of Dist-PU and PULDA, which align mean predictions with the class prior."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from pulens.learners import PULDA, fit_many
from pulens.risks import alignment

from pulens.learning.learners.dist_pu import AlignmentProgram, cosine, rising
from pulens.learning.learners.pulda import RARE, MarginProgram, MovingAverage
from pulens.learning.learners.stack.selection import Selection
from pulens.learning.risks.losses import sigmoid
from worked_numbers import close, gradient, program_on

P, U, PRIOR = [2.0, -1.0], [0.5, -0.5, 1.0, -2.0], 0.4


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

    def test_alignment_is_the_distance_of_two_bin_histograms(self):
        """As the authors' code writes it: shares of (negative, positive) beside those of each group's labels."""
        histograms = [torch.stack([sigmoid(z, sign).mean() for sign in (1, -1)]) for z in (self.z_p, self.z_u)]
        close(histograms[0], [0.425131, 0.574869])
        close(histograms[1], [0.537435, 0.462565])
        wanted = [torch.tensor([0.0, 1.0]), torch.tensor([1 - PRIOR, PRIOR])]
        distances = [(own - target).abs().mean() for own, target in zip(histograms, wanted, strict=True)]
        z = torch.cat([self.z_p, self.z_u])[None]
        is_labelled = (torch.arange(6)[None] < 2).double()
        batch = SimpleNamespace(labelled=is_labelled, population=1 - is_labelled)
        program = program_on(AlignmentProgram, class_prior=torch.tensor([PRIOR], dtype=torch.float64))
        close(program.aligned(z, batch), [0.503337])
        close(program.aligned(z, batch)[0], distances[0] + distances[1] / (2 * PRIOR), 1e-7)

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

    def test_the_trivial_solution_has_no_risk_and_the_most_entropy_at_one_half(self):
        close(alignment.label_distribution(1.0, PRIOR, PRIOR), 0.0)
        priors = np.linspace(0.01, 0.99, 99)
        assert not alignment.label_distribution(1.0, priors, priors).any()
        spreads = alignment.entropy(np.log(priors / (1 - priors)))  # of unlabelled rows that all score the prior
        assert priors[spreads.argmax()] == pytest.approx(0.5)
        close(spreads.max(), math.log(2), 1e-12)
        assert (np.diff(spreads[:50]) > 0).all()
        assert (np.diff(spreads[49:]) < 0).all()


class TestPULDA:
    def program(self, class_prior=PRIOR, **changes):
        prior = torch.tensor([class_prior], dtype=torch.float64)
        settings = vars(PULDA(**changes, labelled_batch_size=2, scenario="case-control"))
        program = program_on(MarginProgram, class_prior=prior, settings=settings, data=None)
        program.begin_stage(SimpleNamespace(name="warm-up"))
        return program

    def call(self, program, labelled, population):
        z = torch.tensor([labelled + population], dtype=torch.float64, requires_grad=True)
        value = program.aligned(z)
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

    def test_alignment_and_margin_of_both_calls(self):
        """Where no row can be inside the margin its cost is that of a difference of 0, which leaves the alignment."""
        whole, without_margin = self.program(), self.program(margin=-1e9)
        for rows, expected in (((P, U), (0.739607, 1.473208)), (([1, 0.5], [-1, 0, 2, -0.5]), (2.927022, 2.910485))):
            constant = alignment.smooth_distance(torch.zeros(1).double(), 1.0) / whole.population_cost.scale
            aligned = self.call(without_margin, *rows)[0] - constant
            close(aligned, [expected[0]])
            close(self.call(whole, *rows)[0] - aligned, [expected[1]])
            for program in (whole, without_margin):
                program.after_step(SimpleNamespace(name="warm-up"), SimpleNamespace(active=None))

    def test_without_memory_the_second_call_is_stateless(self):
        program = self.program(mean_decay=0.0, margin_decay=0.0)
        self.call(program, P, U)
        program.after_step(type("S", (), {"name": "warm-up"}), type("B", (), {"active": None}))
        again, _ = self.call(program, [1.0, 0.5], [-1.0, 0.0, 2.0, -0.5])
        fresh, _ = self.call(self.program(), [1.0, 0.5], [-1.0, 0.0, 2.0, -0.5])
        close(again, fresh.detach().numpy())

    @pytest.mark.parametrize(("class_prior", "temperature"), [(0.1, 3.5), (0.4, 3.5), (0.5, 100.0), (0.7, 100.0)])
    def test_the_temperature_is_the_authors_where_positives_are_rare_and_sharp_elsewhere(
        self, class_prior, temperature
    ):
        chosen, given = self.program(class_prior), self.program(class_prior, temperature=temperature)
        close(self.call(chosen, P, U)[0], self.call(given, P, U)[0].detach().numpy())

    def test_calling_every_row_positive_stops_paying_where_the_authors_temperature_holds(self):
        """Its slope there is tanh(tau (1 - pi) / 2), against 2 pi of the labelled rows: they meet at 0.393."""
        priors = np.linspace(0.3, 0.5, 2001)
        meet = priors[np.argmin(np.abs(np.tanh(3.5 * (1 - priors) / 2) - 2 * priors))]
        assert meet == pytest.approx(0.393, abs=5e-4)
        assert meet < 0.4 < RARE

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

    def test_evaluating_between_epochs_leaves_the_averages_alone(self, monkeypatch):
        """Bit for bit, around the selection's own look at validation rows; the authors' program fails this."""
        rng = np.random.default_rng(0)
        X, labels = rng.normal(size=(200, 3)), (np.arange(200) < 60).astype(int)
        seen, look = [], Selection.__call__

        def averages(program):
            result = (program.population_mean, program.population_cost, program.labelled_cost)
            return torch.cat([value for average in result for value in (average.stored, average._next)]).clone()

        def watched(selection, program):
            before = averages(program)
            values = look(selection, program)
            seen.append((before, averages(program)))
            return values

        monkeypatch.setattr(Selection, "__call__", watched)
        learner = PULDA(
            class_prior=0.4, warm_up_epochs=2, epochs=3, batch_size=32, labelled_batch_size=8, scenario="case-control"
        )
        learner.set_params(selection="proxy_accuracy", random_state=0, device="cpu")
        fit_many([learner], X, [labels])
        assert len(seen) == 3
        for before, after in seen:
            assert torch.equal(before, after)
        assert not torch.equal(seen[0][0], seen[1][0]), "training moves them"

    def test_a_mean_that_is_not_kept_leaves_the_average_alone(self):
        average = MovingAverage(0.85)
        average(torch.tensor([0.4]))
        average.keep()
        stored = average.stored.clone()
        average(torch.tensor([0.9]))
        assert torch.equal(average.stored, stored)
