"""Methods whose own cut is left to the course of training: a class prior pins it, and labelled rows are learnt from."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pulens.learners import LBE, PAN, CGenPU

from pulens.learning.learners.lbe import LabellingBiasProgram
from pulens.learning.learners.stack.rows import Batch

SHORT = {
    LBE: {"epochs": 2, "pretraining_steps": 5, "steps_per_epoch": 3},
    PAN: {"epochs": 2},
    CGenPU: {"epochs": 1, "steps_per_epoch": 3, "hidden": (8,)},
}


def table(rows=400, labelled=40):
    rng = np.random.default_rng(5)
    positive = np.arange(rows) < rows * 0.3
    X = rng.normal(size=(rows, 3)) + np.where(positive, 1.0, -1.0)[:, None]
    return np.concatenate([X[:labelled], X]), np.repeat([1, 0], [labelled, rows])


@pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")  # so short a training
@pytest.mark.parametrize("learner", list(SHORT))
def test_a_given_class_prior_is_the_share_called_positive(learner):
    X, labels = table()
    options = {"scenario": "case-control", "random_state": 0, "device": "cpu", "class_prior": 0.3}
    fitted = learner(**options, **SHORT[learner]).fit(X, labels)
    assert (fitted.predict(X[labels == 0]) == 1).mean() == pytest.approx(0.3, abs=0.02)
    own = learner(**options, **SHORT[learner], pinned=False).fit(X, labels)
    assert own.cut_ == 0.0
    np.testing.assert_allclose(own.decision_function(X), fitted.decision_function(X) + fitted.cut_, atol=1e-6)


@pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")  # so short a training
@pytest.mark.parametrize("learner", list(SHORT))
def test_without_a_class_prior_the_cut_is_the_methods_own(learner):
    X, labels = table()
    options = {"scenario": "case-control", "random_state": 0, "device": "cpu"}
    assert learner(**options, **SHORT[learner]).fit(X, labels).cut_ == 0.0


def values(**given):
    program = object.__new__(LabellingBiasProgram)
    program.value = given.__getitem__
    return program


def test_labelled_rows_are_never_dropped_for_their_loss():
    """While its chance is below one half a labelled row has the largest loss, and few are labelled."""
    labelled = torch.tensor([[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    losses = torch.tensor([[9.0, 1.0, 2.0, 3.0, 4.0, 5.0]])
    batch = Batch(None, None, labelled, 1 - labelled, 1 - labelled, (0, 0), None)
    ours = values(dropped="unlabelled", keep=0.8).learnt_from(losses, batch)
    assert ours.tolist() == [[1.0, 1.0, 1.0, 1.0, 1.0, 0.0]]
    authors = values(dropped="all", keep=0.8).learnt_from(losses, batch)
    assert authors.tolist() == [[0.0, 1.0, 1.0, 1.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    ("start", "prior", "frequency"),
    [("half", 0.3, 0.5), ("even", 0.3, 40 / (40 + 0.3 * 400))],
)
def test_an_even_start_gives_every_row_one_chance_of_being_labelled(monkeypatch, start, prior, frequency):
    """Zeroing every weight of a network with rectified units would leave one number that can learn."""
    seen = []
    begin = LabellingBiasProgram.begin_stage

    def watched(self, stage):
        begin(self, stage)
        if stage.name == "EM":
            network, data = self.stack.networks[1], self.stack.data
            hidden = next(value for value in network.parameters.values() if value.dim() == 3)
            seen.append((torch.sigmoid(network.score(data.table, data.rows)), float(hidden.detach().abs().sum())))

    monkeypatch.setattr(LabellingBiasProgram, "begin_stage", watched)
    X, labels = table()
    options = {"scenario": "case-control", "random_state": 0, "device": "cpu", "class_prior": prior}
    LBE(propensity_start=start, **options, **SHORT[LBE]).fit(X, labels)
    chances, weights = seen[0]
    np.testing.assert_allclose(chances.numpy(), frequency, rtol=1e-5)
    assert weights > 0
