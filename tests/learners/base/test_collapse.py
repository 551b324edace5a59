"""Training that ends with one answer for every row is said aloud: nothing else shows it without true labels."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from pulens.learners import NNPU, VPU

from pulens.cli import main
from pulens.errors import CollapseWarning
from pulens.learning.learners.base.collapse import cut_of_prior, warn_if_collapsed

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


class Ranked(Constant):
    """A learner that orders rows by their first column and calls what lies above its cut."""

    def __init__(self, class_prior, cut):
        self.class_prior_, self.cut_ = class_prior, cut

    def _network_logits(self, rows):
        return rows[:, 0].astype(float)


STAIRS = np.linspace(-1, 1, 1000, dtype=np.float32)[:, None]


@pytest.mark.parametrize("prior", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("cut", [2.0, -2.0])
def test_a_cut_with_all_rows_on_one_side_moves_to_the_class_prior(prior, cut):
    result = cut_of_prior(Ranked(prior, cut), STAIRS)
    assert (result < STAIRS).mean() == pytest.approx(prior, abs=1e-3)


@pytest.mark.parametrize("cut", [0.3, 0.4, 0.7])
def test_a_cut_that_calls_a_third_of_the_class_prior_or_more_stays(cut):
    """Where classes overlap, calling fewer rows than are positive is right."""
    assert cut_of_prior(Ranked(0.4, cut), STAIRS) is None


def test_no_cut_is_moved_where_nothing_says_where_to():
    few = STAIRS[::50]
    unknown, rare, constant = Ranked(None, 2.0), Ranked(0.3, 2.0), Constant(-1.0, 0.3)
    assert cut_of_prior(unknown, STAIRS) is None
    assert cut_of_prior(rare, few) is None  # six positives of twenty rows
    assert cut_of_prior(constant, STAIRS) is None
    asked = Ranked(0.3, 2.0)
    asked.pinned = False
    assert cut_of_prior(asked, STAIRS) is None
