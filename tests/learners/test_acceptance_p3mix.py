"""P3Mix: the worked numbers of its specification, and where in a network rows are really mixed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from pulens.learners import P3MixC, P3MixE
from torch import nn

from pulens import backbones
from pulens.errors import InputError
from pulens.learning.learners.p3mix_e import teacher_keeps
from pulens.learning.learners.parts.mixup_partners import LIMIT, between, blend, mixed_forward, mixing_place
from pulens.learning.learners.stack.networks import StackedNetwork
from pulens.learning.learners.stack.rows import Batch, Draw, Part, StackedRows
from pulens.learning.learners.stack.streams import Streams
from pulens.learning.risks.alignment import clamp, cross_entropy, entropy
from pulens.learning.risks.early_learning import early_learning
from pulens.scenario import Scenario

CPU = torch.device("cpu")


def logits(*chances):
    chance = torch.tensor([chances], dtype=torch.float64)
    return torch.log(chance / (1 - chance))


def close(result, expected, tolerance=2e-6):
    torch.testing.assert_close(
        torch.as_tensor(result).double(), torch.as_tensor(expected).double(), rtol=0, atol=tolerance
    )


class Fixed(nn.Module):
    """A network whose logit is its input."""

    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return x[:, :1] + self.shift


def program(learner, scores, n_labelled, **changes):
    """A program over one column that is the logit itself."""
    table = torch.as_tensor(np.asarray(scores, np.float32))[:, None]
    rows = np.arange(len(scores))
    data = StackedRows(table, [Part(rows[:n_labelled], rows[n_labelled:])], Scenario.CASE_CONTROL)
    networks = [StackedNetwork(Fixed, [0], CPU, name=name) for name in learner._program.network_names]
    from pulens.learning.learners.stack.program import Stack

    settings = vars(learner(**changes))
    return learner._program(Stack(data, Streams([0], CPU), networks, torch.tensor([0.5]), settings))


def everything(made) -> Batch:
    return Draw(made.stack.data.places, (9, 0)).batch(made.stack.data)


def test_entropy_and_the_pool_of_the_most_uncertain_positives():
    chances = (0.5, 0.7, 0.9, 0.2)
    close(entropy(logits(*chances)), [[0.693147, 0.610864, 0.325083, 0.500402]])
    scores = [*logits(*chances)[0].tolist(), 0.0, 0.0]  # unlabelled rows at the boundary stay out of it
    assert program(P3MixC, scores, 4, pool_size=2).most_uncertain().tolist() == [[0, 1]]
    assert program(P3MixC, scores, 4, pool_size=99).most_uncertain().tolist() == [
        [0, 1, 2, 3]
    ]  # no more than there are


def test_who_is_marginal_and_who_is_relabelled():
    chances = torch.tensor([0.15, 0.16, 0.84, 0.85], dtype=torch.float64)
    assert between(chances, 0.85).tolist() == [False, True, True, False]
    unlabelled = logits(0.1, 0.16, 0.84, 0.9)[0].tolist()
    for learner, relabelled in ((P3MixC, [0, 0, 0, 1]), (P3MixE, [0, 0, 0, 0])):
        made = program(learner, [1.0, 0.5, 2.0, 3.0, *unlabelled], 4, certain=0.85, batch_size=4, heuristic_start=0)
        made.pool = made.most_uncertain()
        _, partner, target = made.partners(everything(made))
        assert target[0, 4:8].tolist() == relabelled
        assert (partner[0, 5:7] >= 8).all()  # marginal rows get positives of the pool
        assert (partner[0, [0, 1, 2, 3, 4, 7]] < 8).all()
        assert target[0, 8:].tolist() == [1, 1, 1, 1]


def test_losses_of_both_variants():
    share = torch.tensor([0.7], dtype=torch.float64)
    # rows: one labelled, one unlabelled; behind them the positive of the pool
    partner = torch.tensor([[1, 2]])
    target = blend(torch.tensor([[1.0, 0.0, 1.0]], dtype=torch.float64), partner, share)
    close(target, [[0.7, 0.3]])
    z = clamp(logits(0.8, 0.35), LIMIT)
    close(cross_entropy(z, target), [[0.639032, 0.616495]])
    close(entropy(z).mean(1), [0.573925])
    corrected = program(P3MixC, [0.0, 0.0], 1, entropy_weight=0.1, unlabelled_weight=1.0)
    close(corrected.objective(z, target), [1.312919])
    expected = blend(torch.tensor([[0.9, 0.4, 1.0]], dtype=torch.float64), partner, share)
    close(expected, [[0.75, 0.58]])
    close(early_learning(z, expected).mean(1), [-0.848043])
    regularised = program(P3MixE, logits(0.9, 0.4)[0].tolist(), 1, entropy_weight=0.1, early_learning_weight=1.0)
    batch = everything(regularised)
    total = regularised.objective(z, target) + regularised.further(z, batch, partner, share)
    close(total, [0.464876])


def test_certain_rows_have_a_bounded_loss():
    z = clamp(torch.tensor([[50.0]], dtype=torch.float64), LIMIT)
    close(early_learning(z, torch.ones(1, 1)), [[np.log(1e-4)]], 1e-9)


def network_of(name, shape):
    return StackedNetwork(lambda: backbones.build(name, shape), [3, 4], CPU)


def test_a_share_of_one_mixes_nothing():
    network = network_of("lenet", (1, 28, 28))
    x = torch.randn(2, 4, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    one = torch.ones(2)
    for partner in ([[1, 2, 3, 0]] * 2, [[3, 3, 0, 0]] * 2):
        result = mixed_forward(network, x, torch.tensor(partner), one, mixing_place(network, 1))
        torch.testing.assert_close(result, network(x))
    target = torch.tensor([[1.0, 1.0, 0.0, 0.0]] * 2)
    torch.testing.assert_close(blend(target, torch.tensor([[1, 2, 3, 0]] * 2), one), target)


def test_small_concentrations_hardly_mix():
    made = program(P3MixC, [0.0, 0.0], 1, mixup=1e-3, steps_per_epoch=200)
    made.begin_epoch(made.stages()[0], 0)
    assert made.shares.min() >= 0.5
    assert made.shares.mean() > 0.99


@pytest.mark.parametrize(
    ("name", "shape", "hidden"),
    [("mlp", (5,), 4), ("lenet", (1, 28, 28), 3), ("cifar_cnn", (3, 32, 32), 8), ("linear", (5,), 0)],
)
def test_what_enters_the_next_layer_is_the_mixture(name, shape, hidden):
    network = network_of(name, shape)
    x = torch.randn(2, 3, *shape, generator=torch.Generator().manual_seed(0))
    partner, share = torch.tensor([[1, 2], [2, 0]]), torch.tensor([0.7, 0.7])
    entered, chain = [], network._chain

    def watched(x, streams, moment, begin=0, end=None):
        if end is None:
            entered.append((begin, x))
        return chain(x, streams, moment, begin, end)

    for layer in range(-1, hidden):
        place = mixing_place(network, layer)
        below = chain(x, None, (0, 0), end=place) if place else x
        network._chain = network.forward = watched
        result = mixed_forward(network, x, partner, share, place)
        network._chain = network.forward = chain
        begin, mixed = entered.pop()
        assert not entered
        assert begin == place
        for run in range(2):
            for row in range(2):
                expected = 0.7 * below[run, row] + 0.3 * below[run, partner[run, row]]
                torch.testing.assert_close(mixed[run, row], expected)
        torch.testing.assert_close(result, chain(mixed, None, (0, 0), begin=place))
    for layer in (-2, hidden):
        with pytest.raises(InputError, match="mix_layer must be -1"):
            mixing_place(network, layer)


def test_a_network_that_is_no_chain_is_mixed_at_its_inputs_only():
    network = StackedNetwork(Fixed, [0], CPU)
    assert mixing_place(network, -1) == 0
    with pytest.raises(InputError, match="mix_layer=-1"):
        mixing_place(network, 0)


def test_the_teacher_is_a_mean_of_the_epochs_and_has_no_gradient():
    close([teacher_keeps(epoch, 0.997) for epoch in range(4)], [0, 0.5, 0.666667, 0.75])
    assert teacher_keeps(10_000, 0.997) == 0.997
    X = np.random.default_rng(0).normal(size=(40, 3))
    seen = []

    def watch(made, number, stage):
        student, teacher = made.stack.network, made.stack.named("teacher")
        seen.append(student.flat.clone())
        torch.testing.assert_close(teacher.flat, torch.stack(seen).mean(0))
        batch = next(iter(stage.batches.epoch(made.stack.data, made.stack.streams, number)))
        made.begin_epoch(stage, number)
        loss = made.loss(stage, batch).sum()
        leaves = teacher.leaves
        assert torch.autograd.grad(loss, leaves, allow_unused=True) == (None,) * len(leaves)

    from pulens.learners import fit_many

    fit_many(
        [P3MixE(epochs=4, steps_per_epoch=3, batch_size=8, random_state=0, device="cpu", scenario="case-control")],
        X,
        [np.arange(40) < 9],
        on_epoch=watch,
    )
    assert len(seen) == 4


def test_the_heuristic_starts_when_told_and_not_without_a_pool():
    made = program(P3MixC, [1.0, 2.0, 0.0, 0.1], 2, batch_size=2, heuristic_start=3)
    stage = SimpleNamespace()
    for epoch in range(5):
        made.epoch_in_stage = epoch
        x, partner, _ = made.partners(everything(made))
        if epoch < 3:
            assert x.shape[1] == 4
            assert sorted(partner[0].tolist()) == [0, 1, 2, 3]
        else:
            assert x.shape[1] == 6
            assert partner[0, 2:].tolist() == [4, 5]
        made.end_epoch(stage)


@pytest.mark.parametrize(("unlabelled", "steps"), [(100, 20), (1000, 31)])
def test_an_epoch_is_a_pass_over_the_unlabelled_rows_but_at_least_the_authors_twenty_steps(unlabelled, steps):
    made = program(P3MixC, np.zeros(unlabelled + 5), 5, batch_size=32)
    batches = made.stages()[0].batches
    assert batches.steps(made.stack.data) == steps
    drawn = list(batches.epoch(made.stack.data, made.stack.streams, 0))
    assert len(drawn) == steps
    if steps * 32 <= unlabelled:  # nobody twice in a pass
        seen = torch.cat([batch.positions[0, 32:] for batch in drawn])
        assert len(set(seen.tolist())) == steps * 32


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"certain": 0.4}, "certain must lie strictly between 0.5 and 1, got 0.4"),
        ({"mixup": 0.0}, "mixup must be above 0, got 0.0"),
        ({"pool_size": 0}, "pool_size must be a whole number of at least 1, got 0"),
        ({"mix_layer": 4}, "0 to 3 are its hidden layers, got 4"),
        ({"selection": "proxy_accuracy"}, "needs the class prior"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(InputError, match=message):
        P3MixE(epochs=1, device="cpu", **changes, scenario="case-control").fit(X, np.arange(20) < 8)


def test_numbers_may_differ_between_the_runs_of_a_stack():
    from pulens.learners import fit_many

    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    labels = (np.arange(60) < 20).astype(int)

    def make(run):
        return P3MixC(
            certain=(0.6, 0.9)[run],
            mixup=(0.3, 2.0)[run],
            entropy_weight=(0.0, 0.2)[run],
            random_state=run,
            epochs=4,
            steps_per_epoch=3,
            heuristic_start=1,
            batch_size=16,
            device="cpu",
            standardise=False,  # a stack takes its table as it is
            scenario="case-control",
        )

    together = fit_many([make(0), make(1)], X, [labels] * 2)
    for run in (0, 1):
        alone = make(run).fit(X, labels)
        np.testing.assert_allclose(together[run].decision_function(X), alone.decision_function(X), rtol=2e-3, atol=2e-5)


def test_a_given_class_prior_changes_nothing():
    X = np.random.default_rng(0).normal(size=(40, 3))
    labels = np.arange(40) < 9
    result = [
        P3MixE(
            class_prior=prior,
            epochs=2,
            steps_per_epoch=3,
            batch_size=8,
            random_state=0,
            device="cpu",
            scenario="case-control",
        )
        .fit(X, labels)
        .predict_proba(X)
        for prior in ("auto", 0.9)
    ]
    np.testing.assert_array_equal(*result)
