"""No learner collapses with its defaults, from rare positives to many, on a small table.

``benchmarks/no_collapse.py`` at b753d1e0 asked the same of every table and of the learners that take longer.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

from pulens import learners
from pulens.errors import CollapseWarning, InputError

QUICK = ("boosted_pu", "elkan_noto", "kernel_pusb", "nnpu", "pu_bagging", "puet", "weighted_elkan_noto")
PRIORS = (0.05, 0.25, 0.6)


def area(positive, scores):
    """Chance that a positive outscores a negative, ties counting half."""
    ours, theirs = scores[positive][:, None], scores[~positive]
    return float((ours > theirs).mean() + (ours == theirs).mean() / 2)


@pytest.fixture(scope="module", params=PRIORS)
def world(request):
    """PU labels of 250 rows, a third of the positives labelled, eight at least, and as many rows with their truth."""
    X, benign = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    ours, theirs = (rng.permutation(np.flatnonzero(kind)) for kind in (benign == 1, benign == 0))
    size = int(min(500, theirs.size / (1 - request.param)))
    n = round(request.param * size)
    chosen = rng.permutation(np.concatenate([ours[:n], theirs[: size - n]]))
    train, test = chosen[: size // 2], chosen[size // 2 :]
    own = train[benign[train] == 1]
    labelled = own[: max(8, own.size // 3)]
    labels = np.isin(train, labelled).astype(int)
    return X[train], labels, float((benign[train] == 1).mean()), X[test], benign[test] == 1


@pytest.mark.torch
@pytest.mark.parametrize("name", QUICK)
def test_small_tables_are_ranked_and_called_at_about_the_right_share(world, name):
    X, labels, prior, test, positive = world
    facts = learners.facts(name)
    options = {"class_prior": prior, "random_state": 0, "device": "cpu", "progress": False, "n_jobs": 1}
    learner = facts.learner(**{key: value for key, value in options.items() if key in facts.settings})
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollapseWarning)
        scores = learner.fit(X, labels).decision_function(test)
    called = float((scores > 0).mean())
    assert np.ptp(scores) > 0
    assert area(positive, scores) > 0.75
    assert called >= prior / 3 or prior * positive.size < 30
    assert 1 - called >= (1 - prior) / 3


@pytest.fixture
def few():
    """Fifteen labelled rows of 300, which are the largest sums of four columns: eighty steps in forty epochs."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    return X, (np.argsort(np.argsort(-X.sum(1))) < 15).astype(int)


FEW = {"class_prior": 0.06, "device": "cpu", "progress": False, "random_state": 0, "backbone": "linear"}


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("method", ["SelfPU", "PAN", "DistPU", "PULDA"])
def test_a_network_of_few_rows_begins_where_it_ranks_them(few, method):
    """From random weights an epoch chosen by two labelled rows is one in which hardly anything was learned."""
    X, labels = few
    made = getattr(learners, method)(**FEW | {"backbone": "mlp"})
    alone = learners.fit_many([clone(made)], X, [labels])[0]
    assert area(labels == 1, alone.decision_function(X)) < 0.85
    assert area(labels == 1, made.fit(X, labels).decision_function(X)) > 0.95
    assert made.get_params()["backbone"] == "mlp"
    assert made.best_epoch_ <= sum(made.get_params().get(name, 0) for name in ("warm_up_epochs", "epochs"))


@pytest.mark.torch
def test_who_asks_for_epochs_gets_them_from_random_weights(few):
    X, labels = few
    asked = learners.NNPU(**FEW, epochs=3, standardise=False).fit(X, labels)
    alone = learners.fit_many([learners.NNPU(**FEW, epochs=3)], X, [labels])[0]
    np.testing.assert_array_equal(asked.decision_function(X), alone.decision_function(X))


@pytest.mark.torch
def test_the_start_never_reads_rows_that_are_held_out(few):
    """Held-out rows that the start had learned would say nothing about the epochs."""
    from pulens.learning.learners.stack.division import divide
    from pulens.learning.learners.stack.warm_start import WarmStart

    X, labels = few
    ((held, _),) = divide(learners.NNPU(**FEW), len(X), [labels], None, None, [0]).held_out
    other = X.copy()
    other[held] += 5
    weights = []

    def keep(program, epoch, stage):
        weights.append({key: value.clone() for key, value in program.stack.network.state_of(0).items()})

    for table in (X, other):
        learners.fit_many([learners.NNPU(**FEW, epochs=1)], table, [labels], start=WarmStart(), on_epoch=keep)
    first, second = weights
    assert all((first[key] == second[key]).all() for key in first)


@pytest.mark.torch
def test_many_runs_cannot_share_a_warm_start(few):
    from pulens.learning.learners.stack.warm_start import WarmStart

    X, labels = few
    both = [learners.NNPU(**FEW | {"random_state": seed}) for seed in (0, 1)]
    with pytest.raises(InputError, match="a warm start is for a single run, not for 2"):
        learners.fit_many(both, X, [labels, labels], start=WarmStart())


@pytest.fixture(scope="module")
def rare():
    """Five columns of 300 rows; 15 of them positive, all but three labelled."""
    rng = np.random.default_rng(5)
    positive = np.arange(300) < 15
    X = rng.normal(size=(300, 5)) + 1.2 * positive[:, None]
    return X, (np.arange(300) < 12).astype(int), positive


@pytest.mark.slow
@pytest.mark.torch
def test_a_network_whose_steps_lead_nowhere_takes_larger_ones(rare):
    """Dist-PU's second stage has a learning rate of 5e-5: the few hundred steps of a small table hardly move it."""
    X, labels, positive = rare
    options = {"class_prior": 0.05, "device": "cpu", "progress": False, "random_state": 0}
    usual = learners.DistPU(**options)
    usual = learners.fit_many([usual], usual._learn_scale(usual._read(X, reset=True)), [labels])[0]
    result = learners.DistPU(**options).fit(X, labels)
    assert area(labels == 1, usual.decision_function(X)) < 0.7
    assert area(positive, result.decision_function(X)) > 0.9
    assert 0.05 / 3 <= result.predict(X).mean() <= 0.15
    assert result.get_params()["learning_rate"] == 5e-5  # settings stay as they were given


@pytest.mark.torch
def test_a_training_that_forgets_its_labels_is_undone_and_says_so(few, monkeypatch):
    """CGenPU's game ended with labelled rows at random places (concrete, 5% positive: AUC .55, its start .76)."""
    from pulens.learning.learners.base import collapse

    X, labels = few
    learner = learners.NNPU(**FEW)
    fit_many = learners.stack.rescue.fit_many

    def forgetting(fitted, *given, **told):
        result = fit_many(fitted, *given, **told)
        for one in result:
            for weights in one.network_.parameters():
                weights.data.neg_()
        return result

    monkeypatch.setattr(learners.stack.rescue, "fit_many", forgetting)
    with pytest.warns(CollapseWarning, match="lost what it began with.*the start is kept"):
        learner.fit(X, labels)
    assert learner.best_epoch_ == 0
    assert area(labels == 1, learner.decision_function(X)) > 0.95
    assert 0.06 / 3 <= learner.predict(X).mean() <= 0.18
    assert collapse.knows_its_labels(learner, learner._scaled(X[labels == 1]), learner._scaled(X[labels == 0]))


@pytest.mark.slow
@pytest.mark.torch
def test_many_positives_and_no_class_prior_are_no_reason_to_go_back():
    """Where most unlabelled rows are positive, a perfect classifier has a proxy AUC little above one half."""
    rng = np.random.default_rng(0)
    positive = rng.random(400) < 0.8
    X = (rng.normal(size=(400, 3)) + 3 * positive[:, None]).astype(np.float32)
    labels = (positive & (rng.random(400) < 0.3)).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollapseWarning)
        learner = learners.P3MixC(device="cpu", progress=False, random_state=0).fit(X, labels)
    assert learner.best_epoch_ > 0
    assert area(positive, learner.decision_function(X)) > 0.95


@pytest.mark.torch
def test_rows_are_few_where_they_make_few_steps_or_choose_the_epoch_by_accident():
    from pulens.learning.learners.stack.rescue import begins_warm

    assert begins_warm(learners.NNPU(), 2000, 6100)  # 24 steps in each of 40 epochs
    assert not begins_warm(learners.NNPU(), 2000, 6200)
    assert begins_warm(learners.NNPU(), 199, 100_000)
    assert begins_warm(learners.VPU(), 199, 300)  # 30 steps an epoch, whatever the rows
    assert not begins_warm(learners.VPU(), 200, 300)
    assert not begins_warm(learners.NNPU(epochs=41), 20, 300)
    assert not begins_warm(learners.NNPU(selection="oracle"), 20, 300)


@pytest.mark.torch
def test_a_network_that_learns_nothing_says_so():
    rng = np.random.default_rng(0)
    X, labels = np.ones((200, 2)), (rng.random(200) < 0.2).astype(int)
    options = {"class_prior": 0.4, "device": "cpu", "progress": False, "random_state": 0, "backbone": "linear"}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", CollapseWarning)
        learners.NNPU(**options).fit(X, labels)
    assert any("does not rank the" in str(one.message) and "trained on above" in str(one.message) for one in told)


@pytest.fixture(scope="module")
def overlapping():
    """Six columns that say a little each, of 400 rows; a tenth of them positive, half of these labelled."""
    rng = np.random.default_rng(1)
    positive = rng.permutation(400) < 40
    X = rng.normal(size=(400, 6)) + 0.8 * positive[:, None]
    return X, (positive & (np.cumsum(positive) <= 20)).astype(int), positive


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("name", ["self_pu", "robust_pu"])
def test_a_flat_loss_or_a_cut_far_from_the_class_prior_is_no_end(overlapping, name):
    """Both called no row positive, and had AUCs of .59 and .58."""
    X, labels, positive = overlapping
    facts = learners.facts(name)
    options = {"class_prior": 0.1, "random_state": 0, "device": "cpu", "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollapseWarning)
        scores = facts.learner(**options).fit(X, labels).decision_function(X)
    assert 0.1 / 3 <= (scores > 0).mean() <= 0.3
    assert area(positive, scores) > 0.75


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")
def test_who_chose_the_epochs_keeps_the_cut_of_the_method(overlapping):
    X, labels, _ = overlapping
    options = {"class_prior": 0.1, "random_state": 0, "device": "cpu", "progress": False, "backbone": "linear"}
    assert learners.DistPU(**options, warm_up_epochs=1, epochs=1).fit(X, labels).cut_ == 0.0


@pytest.mark.torch
@pytest.mark.parametrize(("shift", "moved"), [(0.0, False), (-3.0, True), (3.0, True)])
def test_a_cut_that_calls_three_times_too_few_or_too_many_is_moved_to_the_class_prior(overlapping, shift, moved):
    """Methods that take no class prior called two rows of three positive where it was said that one in twenty is."""
    from pulens.learning.learners.base.collapse import cut_of_prior

    X, labels, _ = overlapping
    learner = learners.NNPU(**FEW | {"class_prior": 0.1}).fit(X, labels)
    rows = learner._scaled(X.astype(np.float32))
    scores = np.sort(learner._network_logits(rows))
    learner.cut_ = float(scores[-41:-39].mean()) if not moved else float(scores[0 if shift < 0 else -1]) + shift
    cut = cut_of_prior(learner, rows)
    assert (cut is not None) == moved
    assert not moved or abs(int((scores > cut).sum()) - 40) <= 25
