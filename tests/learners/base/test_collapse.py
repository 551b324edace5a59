"""Training that ends with one answer for every row is said aloud: nothing else shows it without true labels."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from pulens.cli import main
from pulens.errors import CollapseWarning
from pulens.learners import NNPU, VPU
from pulens.learners.base.collapse import warn_if_collapsed

QUICK = {"device": "cpu", "progress": False, "random_state": 0, "selection": "last"}


def rows(n=600, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    X = rng.normal(size=(n, 3)) + np.where(positive, 1.5, -1.5)[:, None]
    return X, (positive & (rng.random(n) < 0.3)).astype(int)


class Constant:
    """A learner with one answer."""

    def __init__(self, answer, class_prior):
        self.answer, self.class_prior_, self.cut_ = answer, class_prior, 0.0

    def _network_logits(self, rows):
        return np.full(len(rows), self.answer)


def test_a_network_that_was_not_trained_enough_to_leave_one_side_warns():
    X, labels = rows()
    options = {"scenario": "single-set", "backbone": "linear", "epochs": 1, "standardise": False, **QUICK}
    learner = NNPU(class_prior=0.4, learning_rate=1e-9, **options)
    with pytest.warns(CollapseWarning, match=r"NNPU calls every unlabelled row negative .*, class prior 0.4\)"):
        learner.fit(X * 1e-3 + 9, labels)


@pytest.mark.parametrize(("answer", "word"), [(1.0, "positive"), (-1.0, "negative")])
def test_either_side_is_named_beside_the_class_prior(answer, word):
    with pytest.warns(CollapseWarning, match=rf"every unlabelled row {word} \(2,000 looked at, class prior 0.3\)"):
        warn_if_collapsed(Constant(answer, 0.3), np.zeros((5000, 2), np.float32))


def test_without_a_class_prior_none_is_claimed():
    with pytest.warns(CollapseWarning, match=r"positive \(400 looked at\)"):
        warn_if_collapsed(Constant(1.0, None), np.zeros((400, 2), np.float32))


def test_few_rows_or_a_rare_class_are_no_collapse():
    """Of 100 rows with a class prior of 1% all may well be negative."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_collapsed(Constant(-1.0, 0.01), np.zeros((100, 2), np.float32))
        warn_if_collapsed(Constant(-1.0, 0.02), np.zeros((5000, 2), np.float32))
        warn_if_collapsed(Constant(1.0, None), np.zeros((60, 2), np.float32))


def test_a_learner_that_separates_says_nothing():
    X, labels = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VPU(scenario="single-set", backbone="linear", epochs=5, learning_rate=0.05, **QUICK).fit(X, labels)


def test_the_command_line_says_it_in_a_sentence_and_still_writes_the_model(tmp_path, capsys):
    X, labels = rows()
    table = pd.DataFrame(9 + 1e-3 * X, columns=list("abc")).assign(label=labels)
    table.to_csv(tmp_path / "rows.csv", index=False)
    told = ["--class-prior", "0.4", "--scenario", "single-set", "--backbone", "linear", "--no-standardise"]
    for setting in ("epochs=1", "learning_rate=1e-9", "selection=last", "progress=false"):
        told += ["--set", setting]
    main(["train", str(tmp_path / "rows.csv"), "--method", "nnpu", *told, "--out", str(tmp_path / "model")])
    said = capsys.readouterr()
    assert said.err.startswith("pulens: NNPU calls every unlabelled row negative")
    assert "CollapseWarning" not in said.err
    assert "Written to" in said.out
    assert any((tmp_path / "model").iterdir())
