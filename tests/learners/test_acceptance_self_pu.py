"""Self-PU: the worked numbers of its specification, and what the two students, pools and teachers do in training."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from pulens.learners import SelfPU, fit_many
from torch import nn

from pulens.errors import InputError
from pulens.learning.learners.parts.direction import slopes_along
from pulens.learning.learners.self_pu import both_ends, teacher_takes, trusted_per_side
from pulens.learning.learners.stack.networks import StackedNetwork
from pulens.learning.learners.stack.passes import Passes, spread_order
from pulens.learning.learners.stack.program import Stack, gradients_of
from pulens.learning.learners.stack.rows import Part, StackedRows
from pulens.learning.learners.stack.streams import Streams
from pulens.learning.risks.alignment import entropy
from pulens.learning.risks.correction import corrected
from pulens.learning.risks.losses import sigmoid
from pulens.learning.risks.self_calibration import (
    calibrated,
    consistency_weight,
    entropy_slope,
    is_open,
    weighted_parts,
)
from pulens.scenario import Scenario

CPU = torch.device("cpu")


def close(result, expected, tolerance=2e-6):
    torch.testing.assert_close(
        torch.as_tensor(result).double(), torch.as_tensor(expected).double(), rtol=0, atol=tolerance
    )


def small():
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))


def program(build=small, rows=60, n_labelled=12, **changes):
    rng = np.random.default_rng(0)
    table = torch.as_tensor(rng.normal(size=(rows + 20, 3)).astype(np.float32))
    places = np.arange(rows)
    data = StackedRows(table, [Part(places[:n_labelled], places[n_labelled:])], Scenario.CASE_CONTROL)
    held = StackedRows(table, [Part(np.arange(rows, rows + 6), np.arange(rows + 6, rows + 20))], Scenario.CASE_CONTROL)
    networks = [StackedNetwork(build, [0], CPU, name=name) for name in SelfPU._program.network_names]
    settings = vars(SelfPU(**{"loss": "sigmoid", **changes}, scenario="case-control"))
    return SelfPU._program(Stack(data, Streams([0], CPU), networks, torch.tensor([0.4]), settings, held))


def batches(made, epoch=0):
    return list(Passes(made.value("batch_size"), made.plan).epoch(made.stack.data, made.stack.streams, epoch))


def test_risk_and_the_step_back():
    labelled = torch.tensor([1.0, 1, 0, 0, 0, 0], dtype=torch.float64)
    z = torch.tensor([2.0, 0.5, -1.0, 0.3, 1.2, -2.0], dtype=torch.float64)
    parts = weighted_parts(z, labelled, 1 - labelled, 1.0, 0.4)
    close(parts.positive, 0.099349)
    close(parts.negative, 0.132127)
    close(corrected(parts), 0.231475)
    z = torch.tensor([2.0, 0.5, -3.0, -2.0, -2.5, -4.0], dtype=torch.float64, requires_grad=True)
    parts = weighted_parts(z, labelled, 1 - labelled, 1.0, 0.4)
    close(parts.negative, -0.235533)
    close(corrected(parts), 0.235533)
    slopes, expected = (torch.autograd.grad(value, z, retain_graph=True)[0] for value in (corrected(parts), parts[1]))
    close(slopes, -expected)


def test_how_many_rows_are_trusted():
    assert [trusted_per_side(60_000, epoch, 0.4, 100) for epoch in (10, 20, 30, 40)] == [1200, 2400, 3600, 4800]
    assert [trusted_per_side(60_000, epoch, 0.6, 100) for epoch in (10, 40)] == [1800, 7200]
    assert trusted_per_side(60_000, 200, 0.4, 100) == 12_000
    assert trusted_per_side(9, 0, 0.4, 100) == 0


def test_trusted_rows_are_the_two_ends_of_the_unlabelled():
    scores = torch.tensor([[9.0, -9.0, 0.1, 0.9, 0.5, 0.3, 0.7, 0.2]])
    unlabelled = torch.tensor([[False, False, True, True, True, True, True, True]])
    chosen = both_ends(scores, unlabelled, torch.tensor([2]))
    assert chosen[0].nonzero().flatten().tolist() == [2, 3, 6, 7]
    assert torch.equal(both_ends(-scores, unlabelled, torch.tensor([2])), chosen)  # the ends swap, the set stays
    assert not both_ends(scores, unlabelled, torch.tensor([0])).any()
    assert torch.equal(both_ends(scores, unlabelled, torch.tensor([3])), unlabelled)


def test_a_choice_replaces_the_former_one_and_leaves_labelled_rows_in_the_pool():
    made = program(trust_ramp=1, first_top=0.5, second_top=1.0)
    data = made.stack.data
    made.choose(1)
    before, soft = made.trusted[0].clone(), made.soft[0].clone()
    assert before.sum() == 24 == made.trusted_counts[0][0]
    assert made.trusted[1].sum() == 48
    assert not (before & data.is_labelled).any()
    last = made.stack.network.parameters
    with torch.no_grad():
        for key in ("2.weight", "2.bias"):
            last[key].neg_()
    made.choose(1)
    assert torch.equal(made.trusted[0], before)
    high = before & (soft > soft[data.is_unlabelled].median())
    assert (made.soft[0][high] < made.soft[0][before & ~high].min()).all()  # the two ends have swapped
    seen = {(part.student, part.is_trusted): part for part in made.plan()}
    assert torch.equal(seen[0, False].rows, (data.is_labelled | data.is_unlabelled) & ~made.trusted[0])
    assert seen[1, False].counts == [12]  # all unlabelled rows trusted: the labelled ones remain


def test_passes_cover_their_rows_once_with_labelled_rows_spread_evenly():
    made = program(batch_size=10)
    order = spread_order(made.stack.data, made.stack.streams, "p", 0, made.plan()[0].rows)
    assert sorted(order[0].tolist()) == list(range(60))
    assert [int((part < 12).sum()) for part in order[0].split(10)] == [2] * 6
    other = spread_order(made.stack.data, made.stack.streams, "p", 1, made.plan()[0].rows)
    assert not torch.equal(order, other)
    drawn = batches(made)
    assert [batch.student for batch in drawn] == [0] * 6 + [1] * 6
    assert len({batch.moment for batch in drawn}) == 12


def test_consistency_grows_slowly():
    result = [consistency_weight(epoch, 0.3, 30, 400) for epoch in (0, 50, 100, 199)]
    close(result, [0.002021, 0.003291, 0.009981, 0.056614])


def test_meta_weights_of_three_rows():
    network = StackedNetwork(lambda: nn.Linear(1, 1, bias=False), [0], CPU)
    with torch.no_grad():
        network.flat.fill_(0.5)
    z = network(torch.tensor([[[2.0], [-1.0]]]))
    outer = nn.functional.binary_cross_entropy_with_logits(z, torch.tensor([[1.0, 0.0]]))
    z, slope = slopes_along(network, torch.tensor([[[1.0], [-2.0], [3.0]]]), gradients_of(outer, [network])[0])
    by_entropy = 1e-3 * entropy_slope(z) * slope / 3
    by_risk = 1e-3 * sigmoid(z, 1) * sigmoid(z, -1) * slope / 3
    close(1e5 * by_entropy, [[1.792733, 5.999440, 10.239913]], 1e-5)
    close(1e5 * by_risk, [[-3.585465, 5.999440, -6.826608]], 1e-5)
    share, rest = calibrated(by_entropy.double(), by_risk.double(), torch.zeros(1, 3), 3)
    close(share, [[0.999994, 0.500000, 0.999999]])
    close(share + rest, torch.ones(1, 3))


@pytest.mark.parametrize("calibration", ["entropy", "risk"])
def test_meta_weights_are_those_of_a_real_inner_step(calibration):
    made = program(batch_size=20, calibration=calibration, calibration_budget=1.0)
    batch = batches(made)[0]
    network = made.stack.network
    inner = torch.zeros(1, batch.x.shape[1], 2, requires_grad=True)
    z = network(batch.x)
    n_unlabelled = batch.population.sum()
    weighted = (inner[..., 0] * entropy(z)).mean() + (
        inner[..., 1] * sigmoid(z, -1) * batch.population
    ).sum() / n_unlabelled
    leaves = network.parameters
    step = torch.autograd.grad(weighted, list(leaves.values()), create_graph=True)
    network.parameters = {key: leaves[key] - 1e-3 * own for key, own in zip(leaves, step, strict=True)}
    (slope,) = torch.autograd.grad(made.outer(batch).sum(), inner)
    network.parameters = leaves
    expected, _ = calibrated(-slope[..., 0], -slope[..., 1], batch.labelled, 20)
    result, rest = made.weights(batch)
    torch.testing.assert_close(result, expected, rtol=1e-3, atol=1e-5)
    assert (result[batch.labelled > 0] == 0).all()
    assert (rest[batch.labelled > 0] == 1).all()
    assert result.max() > 0


def test_the_budget_is_spent_from_the_start_of_the_batch():
    useful, useless = np.ones(6), np.zeros(6)
    share, rest = calibrated(useful, useless, np.array([0, 0, 1, 0, 0, 0]), 2.5)
    np.testing.assert_allclose(share, [1, 1, 0, 1, 0, 0], atol=1e-8)
    np.testing.assert_allclose(rest, [0, 0, 1, 0, 1, 1], atol=1e-8)


def test_gate_and_moving_average():
    assert is_open(0.034, 0.35, 0.1)
    assert not is_open(0.036, 0.35, 0.1)
    close(1 - teacher_takes(torch.arange(3), 0.999), [0, 0.5, 0.666667])
    close(1 - teacher_takes(torch.tensor([10_000]), 0.999), [0.999])


def test_the_two_students_learn_from_one_another_only_where_the_gate_is_open():
    made = program(gate=0.1, teacher_start=0, consistency=0.0, calibration="none")
    batch = batches(made)[0]
    z = made.stack.networks[0](batch.x).detach()
    other = sigmoid(made.stack.networks[1](batch.x), -1)
    difference = ((sigmoid(z, -1) - other.detach()) ** 2).mean()
    risk = corrected(weighted_parts(z, batch.labelled, batch.population, 1.0, 0.4))
    for near, added in ((1.01, difference), (0.99, 0.0)):
        made.stack.settings["gate"] = near * float(difference / risk)
        close(made.on_others(z, batch), risk + added)


class Constant(nn.Module):
    def __init__(self):
        super().__init__()
        self.logit = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.logit.expand(len(x), 1)


def test_consistency_is_of_the_two_classes_chances():
    made = program(Constant, teacher_start=0, consistency=1.0, consistency_start=0, consistency_ramp=1, trust_ramp=1)
    made.choose(1)
    made.epoch_in_stage = 50
    batch = batches(made)[0]
    assert batch.is_trusted
    alike = made.loss(None, batch) - made.on_trusted(made.stack.network(batch.x), batch)
    close(alike, [0.0])
    for place, chance in ((0, 0.9), (2, 0.4)):
        with torch.no_grad():
            made.stack.networks[place].flat.fill_(float(np.log(chance / (1 - chance))))
    apart = made.loss(None, batch) - made.on_trusted(made.stack.network(batch.x), batch)
    close(apart, [0.25])


def test_soft_targets_are_those_of_the_choice_or_the_present_ones():
    made = program(trust_ramp=1)
    made.choose(1)
    batch = batches(made)[0]
    z = made.stack.network(batch.x)
    close(made.on_trusted(z, batch), entropy(z).mean(1))  # right after the choice both agree
    assert torch.autograd.grad(made.on_trusted(z, batch).sum(), z)[0].abs().max() < 1e-6
    z = made.stack.network(batch.x)
    made.stack.settings["trusted_target"] = "current"
    assert torch.autograd.grad(made.on_trusted(z, batch).sum(), z)[0].abs().max() > 1e-4


def test_teachers_follow_their_students_and_one_of_them_is_returned():
    rng = np.random.default_rng(0)
    positive = rng.random(300) < 0.5
    X = (rng.normal(size=(300, 3)) + np.where(positive, 1, -1)[:, None]).astype(np.float32)
    labels = (positive & (rng.random(300) < 0.4)).astype(int)
    seen, scores = [], []

    def watch(made, number, stage):
        same = [torch.equal(made.stack.networks[k].flat, made.stack.networks[2 + k].flat) for k in (0, 1)]
        seen.append((number, same, [counts[0] for counts in made.trusted_counts]))
        scores.append(made.score(SimpleNamespace(table=torch.as_tensor(X), rows=torch.arange(300)[None])))

    learner = SelfPU(
        class_prior=0.5,
        epochs=6,
        trust_start=1,
        trust_stop=4,
        trust_ramp=5,
        teacher_start=3,
        batch_size=64,
        backbone=lambda shape: small(),
        random_state=0,
        device="cpu",
        selection="last",
        scenario="case-control",
    )
    (fitted,) = fit_many([learner], X, [labels], on_epoch=watch)
    assert [same for _, same, _ in seen] == [[True, True]] * 3 + [[False, False]] * 3
    trusted = [counts for *_, counts in seen]
    assert trusted[0] == [0, 0]
    assert trusted[1] != trusted[3]
    assert trusted[3] == trusted[5]
    assert fitted.chosen_teacher_ in (1, 2)
    np.testing.assert_allclose(fitted.decision_function(X), scores[-1][0], atol=1e-5)  # what was judged is returned
    assert (fitted.predict(X) == positive).mean() > 0.8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"calibration": "magic"}, "calibration must be one of"),
        ({"trusted_target": "hard"}, "trusted_target must be one of"),
        ({"first_top": 1.2}, "first_top must lie above 0 and not above 1, got 1.2"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        program(**changes)
