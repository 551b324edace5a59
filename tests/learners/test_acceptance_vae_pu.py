"""The worked numbers of VAE-PU's specification, who learns from what, and the rows it generates."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pulens.learners import VAEPU, fit_many, load
from torch import nn

from pulens.errors import InputError
from pulens.learning.learners.parts.gaussians import fit_two, log_density, positive_last
from pulens.learning.learners.parts.output import Outputs
from pulens.learning.learners.stack.program import gradients_of
from pulens.learning.learners.vae_pu import AUTOENCODER, CLASSIFIER, DISCRIMINATOR, nearest, phase_ends
from pulens.learning.risks.correction import corrected
from pulens.learning.risks.losses import sigmoid
from pulens.learning.risks.mixture_prior import biased_risk, component_odds, mixture_bound, normal_bound
from pulens.learning.risks.pu import risk_parts

MEANS, VARIANCES = np.array([[-1.0, 0.0], [1.0, 0.5]]), np.array([[1.0, 0.5], [0.8, 1.2]])
SHORT = {
    "class_prior": 0.5,
    "epochs": 8,
    "pretraining_epochs": 1,
    "steps_per_epoch": 2,
    "batch_size": 16,
    "labelled_batch_size": 8,
    "hidden": (16,),
    "class_latent": 4,
    "random_state": 0,
    "device": "cpu",
}


def close(result, expected, tolerance=1e-6):
    np.testing.assert_allclose(torch.as_tensor(result).detach(), expected, rtol=0, atol=tolerance)


def rows(n=120, shape=(3,), seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, *shape)).astype(np.float32), np.repeat([1, 0], [n // 3, n - n // 3])


@pytest.mark.parametrize(("prior", "expected"), [(0.5, 0.622969), (0.3, 0.414565)])
def test_the_weight_of_a_component_enters_its_posterior_once(prior, expected):
    h = np.array([[0.4, 0.3]])
    close(sigmoid(component_odds(h, MEANS, VARIANCES, prior), -1), [expected])
    stacked = component_odds(*(torch.tensor(a)[None] for a in (h, MEANS, VARIANCES)), torch.tensor([[prior]]))
    close(sigmoid(stacked, -1), [[expected]])


def test_terms_of_the_bound():
    mu, s = np.array([[0.3, 0.2]]), np.array([[-1.0, -0.5]])
    e1, e4, e6 = mixture_bound(mu, s, np.array([0.622969]), MEANS, VARIANCES, 0.5)
    close([e1, e4, e6, -(e1 + e4 + e6)], [-1.003139, 0.25, -0.030555, 0.783694])
    e2, e5 = normal_bound(np.array([[0.5]]), np.array([[-0.2]]))
    close([e2, e5, -(e2 + e5)], [-0.534365, 0.4, 0.134365])


def test_equal_components_give_the_usual_divergence():
    rng = np.random.default_rng(0)
    mu, s = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    for prior in (0.2, 0.7):
        terms = mixture_bound(mu, s, np.full(5, prior), np.zeros((2, 3)), np.ones((2, 3)), prior)
        usual = 0.5 * (np.exp(s) + mu**2 - 1 - s).sum(1).mean()
        close(-sum(terms), usual)
        close(-sum(normal_bound(mu, s)), usual)


def test_risk_with_virtual_positives():
    logits = [torch.tensor(z, dtype=torch.float64) for z in ([1.5, 0.5], [0.8, -0.4], [-1.0, 0.2, -2.0])]
    parts = biased_risk(*logits, (0.05, 0.45, 0.95))
    close(parts.positive, 0.013999 + 0.204460, 2e-6)
    close(parts.negative, 0.051487)
    close(corrected(parts), 0.269947, 2e-6)


def test_without_labelled_share_the_risk_is_nnpu():
    rng = np.random.default_rng(0)
    labelled, positive, unlabelled = rng.normal(size=4), rng.normal(size=6), rng.normal(size=9)
    result = biased_risk(labelled, positive, unlabelled, (0.0, 0.4, 1.0))
    means = sigmoid(positive, 1).mean(), sigmoid(positive, -1).mean(), sigmoid(unlabelled, -1).mean()
    close(result, risk_parts(*means, 0.4), 1e-15)


def test_nearest_observation():
    h = torch.tensor([[[0.0, 0.0], [1.0, 1.0]]])
    candidates = torch.tensor([[[0.9, 0.2], [-0.1, 0.1], [2.0, 2.0]]])
    assert nearest(h, candidates).tolist() == [[1, 0]]


def test_mixtures_are_found_and_their_order_does_not_matter():
    rng = torch.Generator().manual_seed(0)
    runs, n = 3, 600
    centres = torch.tensor([[-2.0, 0.0, 1.0], [1.5, 1.0, 1.0]])
    which = torch.rand(runs, n, generator=rng) < 0.4
    points = centres[which.long()] + torch.randn(runs, n, 3, generator=rng) * torch.tensor([1.0, 0.5, 0.1])
    valid = torch.arange(n)[None] < torch.tensor([[600], [500], [550]])
    labelled = which & valid & (torch.rand(runs, n, generator=rng) < 0.3)
    means, variances = fit_two(points, valid, points[:, :4].view(runs, 2, 2, 3))
    first = positive_last(means, variances, points, labelled)
    second = positive_last(means.flip(1), variances.flip(1), points, labelled)
    for one, other in zip(first, second, strict=True):
        assert torch.equal(one, other)
    np.testing.assert_allclose(first[0][:, 1], centres[1].expand(runs, -1), atol=0.25)
    np.testing.assert_allclose(first[1].sqrt(), torch.tensor([1.0, 0.5, 0.1]).expand(runs, 2, -1), atol=0.2)
    # rows that do not count change nothing
    alone = fit_two(points[1:2, :500], valid[1:2, :500], points[1:2, :4].view(1, 2, 2, 3))
    torch.testing.assert_close(alone[0][0], means[1])


def test_densities_up_to_a_constant():
    x, m, v = torch.randn(1, 5, 2), torch.randn(1, 2, 2), torch.rand(1, 2, 2) + 0.5
    expected = torch.distributions.Normal(m[:, None], v[:, None].sqrt()).log_prob(x[:, :, None]).sum(3)
    close(log_density(x, m, v) - np.log(2 * np.pi), expected, 1e-5)


def small(shape):
    return nn.Sequential(nn.Linear(shape[0], 8), nn.ReLU(), nn.Linear(8, 1))


def stopped_program(**options):
    caught = {}

    def hook(program, number, stage):
        caught.setdefault("stages", []).append(stage.name)
        caught["program"] = program
        caught["batch"] = next(iter(stage.batches.epoch(program.stack.data, program.stack.streams, 50)))
        caught.setdefault("flats", []).append([network.flat.clone() for network in program.stack.networks])

    X, labels = rows()
    fit_many([VAEPU(backbone=small, **{**SHORT, "scenario": "case-control", **options})], X, [labels], on_epoch=hook)
    return caught


def test_the_generator_learns_from_the_judges_and_not_from_the_classifiers_risk():
    caught = stopped_program()
    program, batch = caught["program"], caught["batch"]
    networks = program.stack.networks
    parts = [program.stack.named(name) for name in ("decoder", "class_encoder")]
    for pulled in (False, True):
        virtual = program.decode_all(program.encode(batch, train=True), batch)[1]
        for network, slope in zip(
            parts, gradients_of(program.deception(virtual, pulled=pulled).sum(), parts), strict=True
        ):
            assert all(part.any() for part in network._views(slope, leaves=False).values())
    parts = [leaf for network in parts for leaf in network.leaves]
    slopes = torch.autograd.grad(program.classifier_losses(batch).sum(), parts, allow_unused=True, retain_graph=True)
    assert all(slope is None for slope in slopes)
    assert gradients_of(program.classifier_losses(batch).sum(), [networks[CLASSIFIER]])[0].any()


def test_phases_follow_each_other_and_train_what_they_should():
    caught = stopped_program()
    plan = ["generation"] * 4 + ["classification", "refinement", "together", "last classification"]
    assert caught["stages"] == ["pre-training", *plan]
    moved = [
        [not torch.equal(one, other) for one, other in zip(before, after, strict=True)]
        for before, after in zip(caught["flats"], caught["flats"][1:], strict=False)
    ]
    for name, changed in zip(plan, moved, strict=True):
        assert changed[CLASSIFIER] == ("classification" in name or name == "together")
        generates = name in ("generation", "refinement", "together")
        assert all(changed[place] == generates for place in (*AUTOENCODER, DISCRIMINATOR))
    assert phase_ends((0.5, 0.625, 0.75, 0.875), 800) == [400, 500, 600, 700, 800]
    assert phase_ends((0.5, 0.625, 0.75, 0.875), 2)[-2:] == [1, 2]  # the classifier always learns
    with pytest.raises(InputError, match="phases must be four shares"):
        stopped_program(phases=(0.5, 0.4, 0.75, 0.9))


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_shares_of_rows_follow_from_the_class_prior(scenario):
    program = stopped_program(scenario=scenario, class_prior=0.6, selection="last")["program"]
    labelled, hidden, unlabelled = (float(share[0]) for share in program.shares)
    assert (labelled, unlabelled) == pytest.approx((1 / 3, 2 / 3))
    assert hidden == pytest.approx(0.6 * 2 / 3 if scenario == "case-control" else 0.6 - 1 / 3)


def test_reconstruction_fits_the_range_of_the_data():
    caught = stopped_program()
    program = caught["program"]
    raw, x = torch.randn(1, 4, 3), torch.rand(1, 4, 3)
    close(program.reconstruction(raw, x), (0.5 * (raw - x) ** 2).sum(2).mean(1), 1e-6)
    cross = nn.functional.binary_cross_entropy(torch.sigmoid(raw), x, reduction="none").sum(2).mean(1)
    for output, target, values in (("sigmoid", x, raw), ("tanh", 2 * x - 1, raw / 2)):
        program.outputs = Outputs(output, program.stack.data)
        close(program.reconstruction(values, target), cross, 1e-5)


def test_samples_come_in_the_scale_of_the_data_and_survive_saving(tmp_path):
    X, labels = rows()
    X = X * [1.0, 100.0, 0.01] + [0.0, 5000.0, -3.0]
    learner = VAEPU(backbone="linear", standardise=True, **SHORT, scenario="case-control").fit(X, labels)
    given = {"labelled": X[:40], "unlabelled": X[40:], "random_state": 1}
    again = load(learner.save(tmp_path / "model"))
    for options in ({"random_state": 1}, given):
        drawn = learner.sample(300, **options)
        assert drawn.shape == (300, 3)
        assert (abs(drawn.mean(0) - X.mean(0)) < 3 * X.std(0)).all()
        np.testing.assert_array_equal(again.sample(300, **options), drawn)
    with pytest.raises(InputError, match="both labelled and unlabelled rows"):
        learner.sample(3, labelled=X)
    with pytest.raises(InputError, match="n must be a whole number"):
        learner.sample(2.5)


def test_pictures_are_generated_in_stacks():
    shape = (2, 8, 8)
    X = np.random.default_rng(0).random((40, *shape)).astype(np.float32)
    labels = np.repeat([1, 0], [15, 25])
    options = {
        **SHORT,
        "epochs": 2,
        "steps_per_epoch": 1,
        "backbone": "linear",
        "batch_size": 6,
        "labelled_batch_size": 4,
    }
    pair = fit_many(
        [VAEPU(**{**options, "random_state": seed}, scenario="case-control") for seed in (3, 4)], X, [labels] * 2
    )
    alone = VAEPU(**{**options, "random_state": 4}, scenario="case-control").fit(X, labels)
    drawn = pair[1].sample(5, random_state=0)
    assert alone.output_ == "sigmoid"
    assert drawn.shape == (5, *shape)
    assert 0 <= drawn.min() <= drawn.max() <= 1
    np.testing.assert_allclose(drawn, alone.sample(5, random_state=0), atol=5e-3)
    assert pair[1].sample(2, labelled=X[:3], unlabelled=X[3:]).shape == (2, *shape)
    with pytest.raises(InputError, match="pictures have 1 or 3 channels"):
        alone.plot_samples(4)
    ax = alone.plot_samples(4, shape=(16, 8))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["virtual hidden\npositives"]
