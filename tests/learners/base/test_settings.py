"""A setting that means nothing is an error before training, with the name, the value and what is allowed."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass

import numpy as np
import pytest
from pulens.learners import LBE, MPEPU, NNPU, PULDA, PUSB, UPU, VPU, DistPU, RobustPU, SelfPU
from sklearn.base import clone

from network_learners import NETWORKS
from pulens import learners
from pulens.errors import AssumptionError, InputError
from pulens.learning.learners.base.settings import check_settings
from pulens.learning.learners.stack.learner import PULearner

X = np.random.default_rng(0).normal(size=(60, 3))
LABELS = (np.arange(60) < 20).astype(int)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (NNPU(optimiser="lion"), "optimiser must be one of 'adam', 'adamw', 'sgd', got 'lion'"),
        (NNPU(epochs=0), "nothing would be trained"),
        (DistPU(epochs=0, warm_up_epochs=0), "nothing would be trained"),
        (NNPU(epochs=-3), "epochs must be a whole number of at least 0, got -3"),
        (NNPU(epochs=2.5), "epochs must be a whole number of at least 0, got 2.5"),
        (NNPU(epochs="three"), "epochs must be a whole number of at least 0, got 'three'"),
        (NNPU(epochs=True), "epochs must be a whole number.*got True"),
        (NNPU(batch_size=0), "batch_size must be a whole number of at least 1, got 0"),
        (NNPU(batch_size=-5), "batch_size must be a whole number of at least 1, got -5"),
        (VPU(steps_per_epoch=0), "steps_per_epoch must be a whole number of at least 1, got 0"),
        (NNPU(patience=0), "patience must be a whole number of at least 1, got 0"),
        (NNPU(learning_rate=-1.0), "learning_rate must be above 0, got -1.0"),
        (NNPU(learning_rate="fast"), "learning_rate must be a number, got 'fast'"),
        (NNPU(learning_rate=float("nan")), "learning_rate must be a number, got nan"),
        (NNPU(weight_decay=-1.0), "weight_decay must be at least 0, got -1.0"),
        (LBE(keep=1.5), "keep must be between 0 and 1, got 1.5"),
        (PULDA(temperature=0.0), "temperature must be above 0, got 0.0"),
        (NNPU(compile="yes"), "compile must be True or False, got 'yes'"),
        (RobustPU(labelled_weight=-0.5), "labelled_weight must be at least 0, got -0.5"),
        (NNPU(validation_fraction=0.0), "validation_fraction must lie strictly between 0 and 1, got 0.0"),
    ],
    ids=str,
)
def test_bad_settings_are_refused_before_training(learner, words):
    with pytest.raises(InputError, match=words):
        learner.set_params(class_prior=0.5, backbone="linear", device="cpu").fit(X, LABELS)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_default_is_allowed(name):
    check_settings(clone(learners.find(name)()))


def test_settings_declared_without_postponed_annotations_are_checked_alike():
    """A user's own file may hold the class int where ours hold its name."""
    settings = [("epochs", int, 1), ("batch_size", int, 8), ("patience", int | None, None)]
    own = make_dataclass("Own", settings, bases=(NNPU,), kw_only=True, eq=False, repr=False)
    check_settings(own())
    for name in ("batch_size", "patience"):
        with pytest.raises(InputError, match=f"{name} must be a whole number of at least 1, got 0"):
            check_settings(own(**{name: 0}))
    with pytest.raises(InputError, match="nothing would be trained"):
        check_settings(own(epochs=0))


def test_a_method_whose_stages_have_a_length_of_their_own_declares_no_epochs():
    check_settings(make_dataclass("Own", [], bases=(PULearner,), kw_only=True, eq=False, repr=False)())


@pytest.mark.parametrize("kind", [NNPU, UPU, PUSB, DistPU, PULDA, SelfPU, MPEPU])
def test_a_class_prior_below_the_labelled_share_is_impossible_in_a_single_set(kind):
    learner = kind(class_prior=0.1, scenario="single-set", backbone="linear", device="cpu")
    with pytest.raises(AssumptionError, match=r"class_prior 0\.1 is impossible.*make up 0\.333333 of all rows"):
        learner.fit(X, LABELS)


def test_the_class_prior_may_be_estimated_by_a_named_estimator():
    rng = np.random.default_rng(1)
    positive = rng.random(1500) < 0.4
    table = rng.normal(size=(1500, 2)) + 2.5 * positive[:, None]
    labels = (positive & (rng.random(1500) < 0.3)).astype(int)
    options = {"scenario": "single-set", "backbone": "linear", "epochs": 1, "random_state": 0, "device": "cpu"}
    by_name = NNPU(class_prior="best-bin", **options).fit(table, labels)
    assert by_name.class_prior_ == pytest.approx(0.4, abs=0.08)
    assert by_name.class_prior_ != NNPU(class_prior="auto", **options).fit(table, labels).class_prior_
    trees = learners.PUET(class_prior="best_bin", scenario="single-set", n_estimators=5, random_state=0)
    assert trees.fit(table, labels).class_prior_ == pytest.approx(0.4, abs=0.08)
    for learner in (NNPU(class_prior="dedpull", **options), learners.PUET(class_prior="dedpull")):
        with pytest.raises(AssumptionError, match=r"got 'dedpull'.*Did you mean 'dedpul'\?"):
            learner.fit(table, labels)


def test_a_range_cannot_be_trained_with():
    with pytest.raises(AssumptionError, match="A range cannot be trained with"):
        NNPU(class_prior=(0.1, 0.3), backbone="linear", device="cpu").fit(X, LABELS)


@dataclass(kw_only=True, eq=False, repr=False)
class Mine(NNPU):
    shift: float = -1.0
    steps: int = -2
    epochs: int = 1


def test_a_setting_of_somebody_elses_learner_may_be_negative_but_ours_may_not():
    check_settings(Mine())
    with pytest.raises(InputError, match="shift must be a number, got 'far'"):
        check_settings(Mine(shift="far"))
    with pytest.raises(InputError, match="weight_decay must be at least 0"):
        check_settings(Mine(weight_decay=-1.0))
