"""True classes of validation rows decide which epoch is kept and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.learners import MPEPU, NNPU, PULCPBF, HolisticPU, RobustPU, fit_many

# methods that watch held-out rows while they train, and one that does not
WATCHING = {
    MPEPU: {"epochs": 2, "warm_up_epochs": 1, "batch_size": 16},
    PULCPBF: {"class_prior": 0.5, "epochs": 2, "fence_epochs": 3, "levels": 2, "batch_size": 16},
    HolisticPU: {"epochs": 2, "trend_epochs": 6, "batch_size": 16, "standardise": True},
    RobustPU: {
        "class_prior": 0.5,
        "episodes": 2,
        "pretraining_epochs": 3,
        "pretraining_selection": "proxy_accuracy",
        "batch_size": 32,
    },
    NNPU: {"class_prior": 0.5, "epochs": 3, "batch_size": 32},
}


@pytest.mark.per_learner
@pytest.mark.parametrize("learner", WATCHING, ids=lambda learner: learner.__name__)
def test_turning_the_truth_round_changes_no_training(learner):
    rng = np.random.default_rng(0)
    positive = np.arange(240) % 2 == 0
    X = (rng.normal(size=(240, 4)) + np.where(positive, 1.5, -1.5)[:, None]).astype(np.float32)
    labels = (positive & (rng.random(240) < 0.5)).astype(int)
    truth = np.where(positive, 1, -1)

    def trained(told):
        seen = []

        def watch(program, number, stage):
            seen.append(program.score(program.stack.data).clone())

        one = learner(selection="oracle", backbone="linear", random_state=0, device="cpu", **WATCHING[learner])
        fit_many(
            [one], X, [labels[60:]], rows=[np.arange(60, 240)], validation=[(np.arange(60), told[:60])], on_epoch=watch
        )
        return seen

    first, second = trained(truth), trained(-truth)
    assert len(first) == len(second) > 1
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
