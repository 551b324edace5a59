"""What fit does beside a method can be seen, saved and switched off, and never replaces what somebody chose."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from pulens.learners import NNPU, UPU, Rescue, RobustPU, SelfPU, fit_many, load
from sklearn.base import clone

from network_learners import NETWORKS, SHORT, short
from pulens import learners
from pulens.cli import main
from pulens.errors import InputError

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")]

USUAL = {"class_prior": 0.7, "scenario": "single-set", "random_state": 0, "device": "cpu", "progress": False}


@pytest.fixture(scope="module")
def many_positives():
    """Rows on which the sigmoid loss settles where every row is positive."""
    rng = np.random.default_rng(0)
    positive = rng.random(1000) < 0.7
    X = rng.normal(size=(1000, 3)) + 0.3 * positive[:, None]
    return X, (positive & (rng.random(1000) < 0.3)).astype(int)


def stacked(made, X, labels):
    """The same learner as the only run of a stack, on rows scaled as ``fit`` scales them."""
    alone = clone(made)
    return fit_many([alone], alone._learn_scale(alone._read(X, reset=True)), [labels])[0]


def families():
    """The first network of every family, by name."""
    first = {}
    for name in NETWORKS:
        facts = learners.facts(name)
        if facts.learner in SHORT:
            first.setdefault(facts.family, facts.learner)
    return list(first.values())


@pytest.mark.parametrize("learner", families(), ids=lambda one: one.__name__)
def test_without_rescue_fit_is_the_run_of_a_stack_bit_for_bit(learner, many_positives):
    """With the epochs of the method, where few rows would make it begin warm."""
    X, labels = many_positives[0][:200], many_positives[1][:200]
    known, small = learner().get_params(), {"steps_per_epoch": 2, "pretraining_steps": 2, "hidden": (8,)}
    less = {name: value for name, value in small.items() if name in known}
    made = learner(**USUAL | {"random_state": 3}, **less, backbone="linear", rescue="none")
    alone = stacked(made, X, labels)
    result = clone(made).fit(X, labels)
    np.testing.assert_array_equal(result._logits(X), alone._logits(X))
    assert (result.cut_, result.best_epoch_, result.rescues_) == (alone.cut_, alone.best_epoch_, ())
    rescued = made.set_params(rescue="auto").fit(X, labels)
    assert rescued.rescues_[0].kind == "warm_start"
    assert (rescued._logits(X) != alone._logits(X)).any()


def test_a_run_among_others_is_what_fit_gives_without_rescue(many_positives):
    """Up to rounding: products of several runs are added up in another order."""
    X, labels = many_positives
    options = {**USUAL, "rescue": "none", "standardise": False}
    runs = fit_many([NNPU(**options | {"random_state": seed}) for seed in (5, 0)], X, [labels, labels])
    result = NNPU(**options).fit(X, labels)
    np.testing.assert_allclose(runs[1].decision_function(X), result.decision_function(X), rtol=2e-3, atol=2e-5)


@pytest.mark.parametrize("loss", ["sigmoid", "logistic"])
def test_a_loss_that_was_given_is_never_changed(many_positives, loss):
    X, labels = many_positives
    made = NNPU(**USUAL, loss=loss, epochs=39)
    alone = stacked(made, X, labels)
    result = made.fit(X, labels)
    np.testing.assert_array_equal(result._logits(X), alone._logits(X))
    assert (result.loss, result.loss_, result.rescues_) == (loss, loss, ())


def test_a_loss_left_to_the_method_may_change_and_the_record_says_so(many_positives, tmp_path):
    X, labels = many_positives
    result = NNPU(**USUAL, epochs=39).fit(X, labels)
    other = stacked(NNPU(**USUAL, epochs=39, loss="logistic"), X, labels)
    np.testing.assert_array_equal(result._logits(X), other._logits(X))
    assert (result.loss, result.loss_) == (None, "logistic")
    assert [one.kind for one in result.rescues_] == ["loss"]
    assert "every unlabelled row was called positive" in result.rescues_[0].detail
    assert "Rescued: loss (logistic" in repr(result)
    again = load(result.save(tmp_path / "model"))
    assert (again.loss, again.loss_, again.rescues_) == (None, "logistic", result.rescues_)
    written = json.loads((tmp_path / "model" / "learner.json").read_text())
    assert (written["parameters"]["loss"], written["fitted"]["loss_"]) == (None, "logistic")


@pytest.mark.parametrize("learner", [NNPU, UPU, RobustPU, SelfPU])
def test_a_loss_that_is_not_given_is_the_authors(learner, many_positives):
    X, labels = many_positives[0][:200], many_positives[1][:200]
    made = short(learner, random_state=1, rescue="none", class_prior=0.7)
    given = clone(made).set_params(loss="sigmoid")
    first, second = (one.fit(X, labels) for one in (made, given))
    np.testing.assert_array_equal(first._logits(X), second._logits(X))
    assert first.loss_ == second.loss_ == "sigmoid"
    both = fit_many([clone(made), clone(given)], X, [labels, labels])  # one loss, said in two ways
    assert [one.loss_ for one in both] == ["sigmoid", "sigmoid"]


@pytest.mark.slow
def test_few_rows_and_a_moved_cut_are_recorded(many_positives):
    X, labels = many_positives
    result = NNPU(**USUAL).fit(X, labels)
    assert [one.kind for one in result.rescues_] == ["warm_start", "cut"]
    assert "160 steps in all epochs, fewer than 1,000" in result.rescues_[0].detail
    called = int((result.decision_function(X) > 0).sum())
    assert (
        f"moved to the class prior, 0.7: {called:,} of 1,000 rows are called positive, not" in result.rescues_[1].detail
    )
    result.set_params(rescue="none").fit(X, labels)
    assert result.rescues_ == ()
    assert repr(result) == "NNPU(class_prior=0.7, device='cpu', progress=False, random_state=0,\n     rescue='none')"


def test_a_start_that_is_kept_is_recorded(many_positives, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    labels = (np.argsort(np.argsort(-X.sum(1))) < 15).astype(int)
    usual = learners.stack.rescue.fit_many

    def forgetting(*given, **told):
        result = usual(*given, **told)
        for weights in result[0].network_.parameters():
            weights.data.neg_()
        return result

    monkeypatch.setattr(learners.stack.rescue, "fit_many", forgetting)
    result = NNPU(**USUAL | {"class_prior": 0.06}, backbone="linear").fit(X, labels)
    assert [one.kind for one in result.rescues_][:2] == ["warm_start", "start_kept"]
    assert "15 labelled rows, fewer than 200" in result.rescues_[0].detail


@pytest.mark.slow
def test_a_training_that_began_again_says_what_made_the_network_it_has(many_positives, monkeypatch):
    """It begins warm with the method's own loss: that another was tried before is no part of this network."""
    X, labels = many_positives
    monkeypatch.setattr(learners.stack.rescue, "begins_warm", lambda *_: None)
    answers = iter([False, True])
    monkeypatch.setattr(learners.stack.rescue, "knows_its_labels", lambda *_: next(answers))
    result = NNPU(**USUAL).fit(X, labels)
    assert result.loss_ == "sigmoid"
    kinds = [one.kind for one in result.rescues_]
    assert kinds[0] == "warm_start"
    assert "loss" not in kinds
    assert "began again" in result.rescues_[0].detail


def test_what_rescue_may_be_is_said(many_positives):
    with pytest.raises(InputError, match="rescue must be one of 'auto', 'none', got 'never'"):
        NNPU(**USUAL, rescue="never").fit(*many_positives)


@pytest.mark.parametrize("stored", ["warm_start", [["prayer", "it helped"]], [["loss"]], [["loss", 3]], [{}], 7])
def test_a_damaged_record_of_rescues_is_refused(many_positives, tmp_path, stored):
    X, labels = many_positives
    folder = NNPU(**USUAL, epochs=1).fit(X[:200], labels[:200]).save(tmp_path / "model")
    facts = json.loads((folder / "learner.json").read_text())
    facts["fitted"]["rescues_"] = stored
    (folder / "learner.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match=r"rescues_ must be pairs of a kind"):
        load(folder)


def test_a_learner_saved_before_rescues_were_recorded_is_read(many_positives, tmp_path):
    X, labels = many_positives
    result = NNPU(**USUAL, epochs=1).fit(X[:200], labels[:200])
    folder = result.save(tmp_path / "model")
    facts = json.loads((folder / "learner.json").read_text())
    del facts["fitted"]["rescues_"], facts["parameters"]["rescue"]
    facts["parameters"]["loss"] = "sigmoid"
    (folder / "learner.json").write_text(json.dumps(facts))
    again = load(folder)
    np.testing.assert_array_equal(again._logits(X), result._logits(X))
    assert repr(again).startswith("NNPU(")


@pytest.mark.slow
def test_the_command_line_says_what_was_rescued_and_takes_none_for_an_answer(many_positives, tmp_path, capsys):
    X, labels = many_positives
    table = pd.DataFrame(X, columns=list("abc")).assign(label=labels)
    table.to_csv(tmp_path / "rows.csv", index=False)
    told = [str(tmp_path / "rows.csv"), "--method", "nnpu", "--class-prior", "0.7", "--device", "cpu"]
    main(["train", *told, "--out", str(tmp_path / "model")])
    out = capsys.readouterr().out
    assert "Rescued: warm start (began where 120 steps of nnPU lead" in out
    assert load(tmp_path / "model").rescues_[0] == Rescue(
        "warm_start", "began where 120 steps of nnPU lead: 160 steps in all epochs, fewer than 1,000"
    )
    main(["train", *told, "--set", "rescue=none", "--out", str(tmp_path / "plain")])
    assert "Rescued" not in capsys.readouterr().out
    assert load(tmp_path / "plain").rescues_ == ()


def test_a_judged_model_says_what_was_rescued(many_positives):
    import pulens

    X, labels = many_positives
    table = {"a": X[:, 0], "b": X[:, 1], "label": labels}
    result = pulens.fit(table, method=NNPU(**USUAL, backbone="linear"), class_prior=0.7, folds=2, redraws=100)
    assert result.rescues == result.model[-1].rescues_
    assert result.rescues
    assert "Rescued: warm start" in result.sentence
    assert result.describe()["rescues"] == [str(one) for one in result.rescues]
