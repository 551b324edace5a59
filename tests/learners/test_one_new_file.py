"""A learner is one new file and nothing else: in a copy of the package it is there for everybody who lists them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pulens

FILE = '''
"""Labelled against unlabelled rows, every labelled row counted several times."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from pulens.learners.base.facts import RISK, Learner
from pulens.learners.base.settings import setting
from pulens.learners.stack.learner import PULearner
from pulens.learners.stack.program import Program, Stage
from pulens.learners.stack.rows import Batch, Pooled
from pulens.risks.losses import logistic
from pulens.risks.means import masked_mean


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
from pulens.benchmark.archive import read
from pulens.benchmark.leaderboard.board import board
import sys
print(board(read(sys.argv[1]), metric="accuracy").learners["counted"].title)
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package with the one new file."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(Path(pulens.__file__).parent, folder / "pulens", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pulens/learners/counted.py").write_text(FILE)
    return folder


@pytest.fixture(scope="module")
def run(copy):
    def told(*words, fails=False):
        place = {**os.environ, "PYTHONPATH": str(copy)}
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=copy, env=place)
        assert (done.returncode != 0) is fails, done.stderr
        return done.stderr if fails else done.stdout

    return told


def test_lists_have_it(run):
    run("-c", LISTED)


def test_the_command_line_trains_and_scores_with_it(run, copy):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) + 2 * (np.arange(200) < 80)[:, None]
    lines = [f"{a:.4f},{b:.4f},{int(number < 30)}" for number, (a, b) in enumerate(X)]
    (copy / "rows.csv").write_text("\n".join(["a,b,label", *lines]) + "\n")
    words = ["-m", "pulens", "train", "rows.csv", "--method", "counted", "--out", "model", "--device", "cpu"]
    assert "Counted learned from 30 labelled" in run(*words, "--set", "times=2")
    assert len(run("-m", "pulens", "score", "model", "rows.csv").splitlines()) == 201
    told = run(*words, "--set", "times=10", fails=True)
    assert "times must be above 0 and at most 9, got 10" in told


def test_the_benchmark_and_its_leaderboard_have_it(run):
    words = ["--methods", "nnpu,counted", "--archive", "results", "--device", "cpu"]
    run("-m", "pulens", "bench", "run", "smoke", *words)
    assert run("-c", SHOWN, "results").strip() == "Counted (new)"
