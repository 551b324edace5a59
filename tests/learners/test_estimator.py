"""The scikit-learn face: checks, pipelines, selection, saving, and errors that say what to do."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from pulens.learners import MPEPU, NNPU, UPU, VPU, load
from scipy import sparse
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from network_learners import SHORTEST, short
from pulens.errors import AssumptionError, InputError
from pulens.sklearn import scorer
from scikit_checks import OTHER_LABELS, WEIGHTED, failed_checks
from torch_steps import assert_same_steps

QUICK = {"device": "cpu", "progress": False, "backbone": "linear", "random_state": 0}
# the checks label more than half of their rows, which no class prior of one half allows in a single set
ALL = [short(learner, SHORTEST, backbone="linear", scenario="case-control", random_state=0) for learner in SHORTEST]


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.5
    X = rng.normal(size=(n, 3)) + np.where(positive, 1.5, -1.5)[:, None]
    return X, (positive & (rng.random(n) < 0.5)).astype(int), positive


@pytest.mark.per_learner
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", ALL, ids=lambda learner: type(learner).__name__)
def test_scikit_learn_checks(learner):
    assert not failed_checks(learner, OTHER_LABELS | (WEIGHTED if isinstance(learner, NNPU | UPU) else {}))


@pytest.mark.filterwarnings("ignore")
def test_a_declared_label_value_leaves_one_expected_failure():
    learner = NNPU(class_prior=0.5, epochs=1, positive=1, **QUICK, scenario="case-control")
    assert set(failed_checks(learner, expected=WEIGHTED)) <= {
        "check_classifiers_classes",  # labels 'one' and 'two', neither declared
        "check_classifier_not_supporting_multiclass",  # everything but 1 is unlabelled, as declared
        "check_classifiers_regression_target",
        "check_classifiers_one_label",
    }


def test_pipelines_and_grid_search_on_pu_labels_alone():
    X, labels, positive = rows(400)
    model = make_pipeline(
        StandardScaler(), NNPU(class_prior=0.5, scenario="single-set", epochs=30, learning_rate=0.05, **QUICK)
    )
    search = GridSearchCV(
        model,
        {"nnpu__class_prior": [0.95, 0.5]},
        cv=2,
        scoring=scorer("accuracy", threshold=0.5, class_prior=float(positive.mean()), scenario="single-set"),
    )
    search.fit(X, labels)
    assert search.best_params_ == {"nnpu__class_prior": 0.5}
    assert (search.predict(X) == positive).mean() > 0.9
    assert 0.8 < search.best_estimator_.score(X, labels) < 1.1  # accuracy as PU labels tell it


def test_frames_sparse_tables_nulls_and_declared_labels_mean_the_same():
    X, labels, _ = rows()
    learner = NNPU(class_prior=0.5, epochs=1, **QUICK, scenario="case-control")
    expected = learner.fit(X, labels).decision_function(X)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    words = pd.Series(np.where(labels == 1, "confirmed", None), dtype=object)
    assert list(learner.fit(frame, labels).feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(learner.decision_function(frame), expected)
    np.testing.assert_array_equal(learner.fit(sparse.csr_matrix(X), labels).decision_function(X), expected)
    declared = NNPU(class_prior=0.5, epochs=1, positive="confirmed", **QUICK, scenario="case-control")
    np.testing.assert_array_equal(declared.fit(X, words).decision_function(X), expected)
    tensor = torch.as_tensor(X, dtype=torch.float32)
    np.testing.assert_array_equal(learner.fit(tensor, labels).decision_function(tensor), expected)


def test_pictures_go_through_convolutions():
    X = np.random.default_rng(0).normal(size=(40, 28, 28)).astype(np.float32)
    labels = np.arange(40) % 4 == 0
    learner = NNPU(
        class_prior=0.5, epochs=1, backbone="lenet", device="cpu", random_state=0, scenario="case-control"
    ).fit(X, labels)
    assert learner.predict_proba(X).shape == (40, 2)
    with pytest.raises(InputError, match=r"reads rows of shape \(1, 28, 28\), got rows of shape \(3,\)"):
        NNPU(class_prior=0.5, backbone="lenet", device="cpu", scenario="case-control").fit(*rows()[:2])


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        *(("mlp", (5,)), ("lenet", (1, 28, 28)), ("cifar_cnn", (3, 32, 32)), ("mri_cnn", (1, 128, 128))),
        *(("resnet18", (3, 32, 32)), ("resnet18", (1, 8, 8))),
    ],
)
def test_backbones_give_one_logit_per_row(name, shape):
    from pulens import backbones

    module = backbones.build(name, shape).eval()
    assert module(torch.zeros(2, *shape)).shape == (2, 1)
    expected = {
        "mlp": (5 * 512 + 512) + (512 * 256 + 256) + (256 * 128 + 128) + (128 * 64 + 64) + 65,
        "lenet": (25 * 10 + 10) + (250 * 20 + 20) + (320 * 50 + 50) + 51,
    }
    if name in expected:
        assert sum(parameter.numel() for parameter in module.parameters()) == expected[name]


def test_residual_networks_train_as_a_stack_as_they_do_alone():
    """Batch norm of every run sees that run's batches only, in training and where running means are kept."""
    from pulens import backbones
    from pulens.learning.learners.stack.networks import StackedNetwork, built
    from pulens.learning.learners.stack.streams import Streams

    def build():
        return backbones.build("resnet18", (1, 8, 8))

    x = torch.randn(2, 6, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    both = StackedNetwork(build, [3, 4], torch.device("cpu"))
    trained = both(x, Streams([3, 4], torch.device("cpu")))
    for run, seed in enumerate((3, 4)):
        alone = built(build, seed).train()
        torch.testing.assert_close(trained[run], alone(x[run]).squeeze(1), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(both.state_of(run)["1.running_mean"], alone[1].running_mean)
        torch.testing.assert_close(both(x)[run], alone.eval()(x[run]).squeeze(1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("selection", ["proxy_accuracy", "proxy_auc", "last", "f1", "roc_auc"])
def test_selection_by_pu_criteria_and_metrics(selection):
    X, labels, _ = rows()
    learner = NNPU(
        class_prior=0.5, epochs=4, selection=selection, learning_rate=0.05, **QUICK, scenario="case-control"
    ).fit(X, labels)
    assert 1 <= learner.best_epoch_ <= 4
    if selection != "last":
        scores = [entry["selection"] for entry in learner.history_]
        assert learner.best_epoch_ == 1 + int(np.argmax(scores))


def test_oracle_selection_needs_true_labels_and_says_so():
    X, labels, positive = rows()
    learner = NNPU(class_prior=0.5, epochs=3, selection="oracle", **QUICK, scenario="case-control")
    with pytest.raises(InputError, match="needs validation"):
        learner.fit(X, labels)
    with pytest.raises(InputError, match="rows with true labels"):
        learner.fit(X, labels, validation=(X, labels))
    learner.fit(X, labels, validation=(X, np.where(positive, 1, -1)))
    best = learner.history_[learner.best_epoch_ - 1]["selection"]
    assert best == pytest.approx((learner.predict(X) == positive).mean())


@pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")  # a step or two leave no side
def test_own_validation_rows_equal_held_out_ones_in_kind():
    X, labels, _ = rows()
    other = rows(seed=1)
    learner = VPU(epochs=3, steps_per_epoch=3, batch_size=32, **QUICK, scenario="case-control").fit(
        X, labels, validation=other[:2]
    )
    assert len(learner.history_) == 3
    assert learner.class_prior_ is None


def test_mpe_pu_estimates_the_share_of_positives():
    X, labels, positive = rows(3000)
    learner = MPEPU(epochs=5, warm_up_epochs=5, learning_rate=0.01, **QUICK, scenario="case-control").fit(X, labels)
    assert learner.unlabelled_prior_ == pytest.approx(positive[labels == 0].mean(), abs=0.12)


def test_an_unknown_class_prior_is_estimated_from_out_of_fold_scores():
    X, labels, positive = rows(2000)
    learner = NNPU(scenario="single-set", epochs=5, learning_rate=0.02, **QUICK).fit(X, labels)
    assert learner.class_prior_ == pytest.approx(positive.mean(), abs=0.05)
    with pytest.raises(AssumptionError, match="cannot be estimated"):
        NNPU(epochs=1, **QUICK, scenario="case-control").fit(X[:30], labels[:30])


@pytest.mark.per_learner
@pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")  # a step or two leave no side
@pytest.mark.parametrize("learner", ALL, ids=lambda learner: type(learner).__name__)
def test_saving_keeps_every_score_and_pickles_nothing(learner, tmp_path):
    from sklearn.base import clone

    X, labels, _ = rows()
    fitted = clone(learner).fit(X, labels)
    folder = fitted.save(tmp_path / "model")
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["learner.json", "weights.safetensors", *(f"{name}.safetensors" for name in fitted._program.kept)]
    )
    again = load(folder)
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert again.get_params() == fitted.get_params()
    fitted.save(folder)  # a saved learner may be overwritten


def test_saving_refuses_foreign_folders_and_loading_names_what_is_wrong(tmp_path):
    X, labels, _ = rows()
    fitted = NNPU(class_prior=0.5, epochs=1, **QUICK, scenario="case-control").fit(X, labels)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="not a saved learner"):
        fitted.save(tmp_path)
    with pytest.raises(InputError, match="not a saved learner"):
        load(tmp_path)
    folder = fitted.save(tmp_path / "model")
    (folder / "weights.safetensors").write_bytes(b"broken")
    with pytest.raises(InputError, match="could not be read"):
        load(folder)
    facts = json.loads((folder / "learner.json").read_text())
    (folder / "learner.json").write_text(json.dumps({**facts, "format": 99}))
    with pytest.raises(InputError, match="format 99"):
        load(folder)
    for damaged, words in [
        ({**facts, "parameters": {**facts["parameters"], "epoch": 3}}, "damaged: .*'epoch'"),
        ({**facts, "fitted": {"cut_": 0.0}}, "damaged: class_prior_, row_shape_ missing"),
    ]:
        (folder / "learner.json").write_text(json.dumps(damaged))
        with pytest.raises(InputError, match=words):
            load(folder)


def test_a_network_of_ones_own_is_given_again_when_loading(tmp_path):
    def mine(shape):
        return nn.Sequential(nn.Linear(shape[0], 4), nn.Tanh(), nn.Linear(4, 1))

    X, labels, _ = rows()
    fitted = NNPU(**{**QUICK, "class_prior": 0.5, "epochs": 1, "backbone": mine}, scenario="case-control").fit(
        X, labels
    )
    folder = fitted.save(tmp_path / "model")
    with pytest.raises(InputError, match="network of your own"):
        load(folder)
    np.testing.assert_array_equal(load(folder, backbone=mine).decision_function(X), fitted.decision_function(X))

    def broken(shape):
        raise TypeError("a mistake of mine")

    with pytest.raises(TypeError, match="a mistake of mine"):  # not a damaged file
        load(folder, backbone=broken)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"class_prior": 1.5}, r"class_prior must lie strictly between 0 and 1, .* got 1.5"),
        ({"class_prior": "guess"}, "a number between 0 and 1, 'auto', or the name of an estimator, got 'guess'"),
        ({"class_prior": None}, "needs class_prior"),
        ({"scenario": "both"}, "scenario must be"),
        ({"selection": "best"}, "selection must be one of"),
        ({"backbone": "resnet"}, "backbone must be one of"),
        ({"precision": "float8"}, "precision must be one of"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"validation_fraction": 2.0}, "validation_fraction must lie"),
        ({"device": "abacus"}, "device must be"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    X, labels, _ = rows(40)
    with pytest.raises((InputError, AssumptionError), match=message):
        NNPU(**{**QUICK, "class_prior": 0.5, "scenario": "case-control", "epochs": 1, **changes}).fit(X, labels)


def test_labels_that_say_nothing_are_refused():
    X, labels, _ = rows(40)
    learner = NNPU(class_prior=0.5, epochs=1, **QUICK, scenario="case-control")
    with pytest.raises(InputError, match="known negative"):
        learner.fit(X, np.where(labels == 1, 1, -1))
    with pytest.raises(InputError, match="class"):
        learner.fit(X, np.zeros(40))
    with pytest.raises(InputError, match="40 rows but 39 labels"):
        learner.fit(X, labels[:39])


def test_divergence_is_an_error_not_a_model():
    X, labels, _ = rows(40)
    with pytest.raises(ValueError, match="training diverged"):
        NNPU(
            class_prior=0.5,
            epochs=60,
            learning_rate=1e38,
            optimiser="sgd",
            selection="last",
            **QUICK,
            scenario="case-control",
        ).fit(X, labels)


@pytest.mark.parametrize("optimiser", ["adam", "adamw", "sgd"])
def test_optimisers_follow_torch(optimiser):
    from pulens.learning.learners.stack.networks import StackedNetwork
    from pulens.learning.learners.stack.optimiser import Optimiser, OptimiserSettings

    seeds = [1, 2]
    make = lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))  # noqa: E731
    network = StackedNetwork(make, seeds, torch.device("cpu"))
    mine = Optimiser(network, OptimiserSettings(optimiser, 0.05, 0.1))
    modules = [make() for _ in seeds]
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
    options = {"momentum": 0.9} if optimiser == "sgd" else {}
    theirs = []
    for run, module in enumerate(modules):
        module.load_state_dict(network.state_of(run))
        theirs.append(kinds[optimiser](module.parameters(), lr=0.05, weight_decay=0.1, **options))
    assert_same_steps(network, mine, modules, theirs, lambda x, step: network(x))


def test_torch_waits_until_a_learner_is_used():
    code = "import sys, pulens.learners as L; dir(L); L.names(); assert not {'torch', 'sklearn'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_torch_the_error_names_the_extra():
    code = "import sys; sys.modules['torch'] = None; import pulens.learners as L; L.NNPU"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode != 0
    assert "pip install 'pulens[torch]'" in done.stderr
