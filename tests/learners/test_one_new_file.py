"""A learner is one new file and nothing else: in a copy of the package it is there for everybody who lists them."""

from __future__ import annotations

import numpy as np
import pytest

from one_more_file import commands_in, run_in, tree_with

FILE = '''
"""Labelled against unlabelled rows, every labelled row counted several times."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from pulens.learning.learners.base.facts import RISK, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Program, Stage
from pulens.learning.learners.stack.rows import Batch, Pooled
from pulens.learning.risks.losses import logistic
from pulens.learning.risks.means import masked_mean


class CountedProgram(Program):
    needs_class_prior = False

    def stages(self) -> list[Stage]:
        return [Stage("training", self.value("epochs"), Pooled(self.value("batch_size")), self.adam())]

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        z = self.stack.logits(batch)
        as_positive = masked_mean(logistic(z, 1), batch.labelled)
        found: torch.Tensor = self.value("times") * as_positive + masked_mean(logistic(z, -1), batch.unlabelled)
        return found


@dataclass(kw_only=True, eq=False, repr=False)
class Counted(PULearner):
    """Counted: labelled rows count several times."""

    selection: str = "proxy_auc"
    times: float = setting(1.5, above=0, most=9)
    epochs: int = 5
    batch_size: int = setting(64, least=1)
    learning_rate: float = setting(0.01, above=0)
    weight_decay: float = 0.0

    _program = CountedProgram


LEARNER = Learner(Counted, title="Counted (new)", family=RISK)
'''
LISTED = """
from pulens import learners
from pulens.benchmark import methods
assert "counted" in learners.names() and "Counted" in dir(learners) and "Counted" in learners.__all__
assert learners.Counted is learners.find("counted")
found = methods.find("counted")
assert (found.title, found.family, found.told) == ("Counted (new)", "risk estimators", "nothing")
assert "counted" in methods.names()
"""
SHOWN = """
from pulens.research.benchmark.archive import read
from pulens.research.benchmark.leaderboard.board import board
import sys
print(board(read(sys.argv[1]), metric="accuracy").learners["counted"].title)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The package with the one new file, and a table beside it."""
    folder = tmp_path_factory.mktemp("place")
    tree_with(folder / "tree", "learning/learners/counted.py", FILE)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) + 2 * (np.arange(200) < 80)[:, None]
    lines = [f"{a:.4f},{b:.4f},{int(number < 30)}" for number, (a, b) in enumerate(X)]
    (folder / "rows.csv").write_text("\n".join(["a,b,label", *lines]) + "\n")
    return folder


@pytest.fixture(scope="module")
def ended(place):
    """How the commands end that know learners by name."""
    train = ("train", "rows.csv", "--method", "counted", "--out", "model", "--device", "cpu", "--set")
    chosen = ("--methods", "nnpu,counted", "--archive", "results", "--device", "cpu")
    commands = {
        "train": (*train, "times=2"),
        "score": ("score", "model", "rows.csv"),
        "train beyond": (*train, "times=10"),
        "bench": ("bench", "run", "smoke", *chosen),
    }
    return dict(zip(commands, commands_in(place / "tree", *commands.values(), cwd=place), strict=True))


@pytest.mark.slow
def test_the_command_line_trains_and_scores_with_it(ended):
    assert "Counted learned from 30 labelled" in ended["train"].out
    assert len(ended["score"].out.splitlines()) == 201
    assert ended["train beyond"].code == 2
    assert "times must be above 0 and at most 9, got 10" in ended["train beyond"].err


@pytest.mark.slow
def test_lists_the_benchmark_and_its_leaderboard_have_it(ended, place):
    assert ended["bench"].code == 0, ended["bench"].err
    assert run_in(place / "tree", "-c", LISTED + SHOWN, "results", cwd=place).strip() == "Counted (new)"
