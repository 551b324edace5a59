"""A newcomer who follows only the pages gets there, in a clean virtual environment."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

# tests/release installs what is built here, tests/test_docs.py runs every page; what is left is what pip brings
pytestmark = pytest.mark.everything(guards=("pyproject.toml", "constraints", "docs/start.md", "tests/newcomer"))


def said_by(said: dict[str, str], *words: str) -> str:
    """What the command with these words printed."""
    result = [output for command, output in said.items() if all(word in command for word in words)]
    assert result, f"no command with {words} on the page"
    return result[0]


def test_the_installed_package_is_the_one_of_this_checkout(newcomer, started):
    where = newcomer.call(["python", "-c", "import pulens; print(pulens.__file__)"], started[0])
    assert Path(where.strip()).is_relative_to(newcomer.place)


def test_evaluates_a_csv(started):
    shown = said_by(started[1], "pulens evaluate", "--threshold 0.5")
    assert "  Precision                  0.477    0.273 to 0.799      0.620        0.244" in shown


def test_gets_a_report(started):
    page = (started[0] / "report.html").read_text(encoding="utf-8")
    assert "<title>" in page
    assert "default-src 'none'" in page


def test_compares_two_models(started):
    assert "model_a is better than model_b" in said_by(started[1], "pulens compare")


def test_estimates_a_prior(started):
    shown = said_by(started[1], "pulens prior")
    assert "all rows (the class prior)        0.185    0.075 to 0.240      0.059 to 0.274" in shown
    assert "pulens evaluate scores.csv --class-prior auto" in shown


def test_calibrates(started):
    assert "Predicted and actual shares" in said_by(started[1], "pulens calibrate")
    with (started[0] / "mapped.csv").open() as file:
        rows = list(csv.reader(file))
    assert len(rows) == 3001


def test_trains_nnpu(newcomer, started):
    folder = newcomer.place / "train"
    folder.mkdir()
    shutil.copy(started[0] / "scores.csv", folder)
    said = newcomer.follow("guides/training.md", folder)
    accuracies = [float(printed.removeprefix("accuracy ")) for printed in said.values() if printed.startswith("acc")]
    assert accuracies[0] > 0.9
    assert (folder / "model").is_dir()
    assert said_by(said, "pulens score model")


def test_runs_the_smoke_benchmark(newcomer, started):
    folder = newcomer.place / "bench"
    folder.mkdir()
    said = newcomer.follow("project/own_learner.md", folder)
    assert "20 of 20 runs done" in said_by(said, "pulens bench run smoke")
    assert list((folder / "results" / "runs").glob("*.parquet"))
    assert "mine" in said_by(said, "pulens bench report results")


def test_adds_a_metric(newcomer, started):
    folder = newcomer.place / "metric"
    folder.mkdir()
    shutil.copy(started[0] / "scores.csv", folder)
    said = newcomer.follow("project/own_metric.md", folder)
    assert said["python 1"].startswith("false_discovery_rate 0.")
    line = next(line for line in said_by(said, "pulens evaluate").splitlines() if "false_discovery_rate" in line)
    assert "0.380" in line  # one minus the precision of the start page, at the middle of its range
