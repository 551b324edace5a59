"""A class-prior estimator and a data set are one new file each: everything that lists or uses them has it.

Metrics and learners have such tests of their own, in tests/metrics and tests/learners.
"""

from __future__ import annotations

import json

import numpy as np

from one_more_file import commands_in, tree_with

ESTIMATOR = '''
"""Top share: unlabelled over labelled rows among the highest scores."""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.priors._estimator import Estimator, Finding


def top_share(tally: Tally, *, label_noise: float = 0.0, confidence: float = 0.95, share: float = 0.5) -> Finding:
    """The ratio of rates at the score that keeps this share of the labelled rows."""
    labelled, unlabelled, _ = tally.totals
    place = int((tally.labelled >= share * labelled).argmax())
    return Finding(float(tally.unlabelled[place] / unlabelled / (tally.labelled[place] / labelled)))


ESTIMATOR = Estimator(
    top_share, "Ratio of rates at the top", "No negative is at the top.", "nobody", rank_based=True,
    parameters={"share": 0.5},
)
'''
DATASET = '''
"""Two clouds of points."""

from __future__ import annotations

import numpy as np

from pulens.research.benchmark.datasets._dataset import Arrays, Dataset, LabelledData


def read() -> Arrays:
    rng = np.random.default_rng(0)
    y = np.arange(600) < 250
    return {"X": rng.normal(size=(600, 3)) + 2 * y[:, None], "y": y}


def build(arrays: Arrays) -> LabelledData:
    """The first cloud is positive."""
    return LabelledData(arrays["X"], arrays["y"], target=arrays["y"])


DATASET = Dataset(
    build=build, read=read, title="Two clouds", source="drawn", licence="none needed", citation="nobody",
    positive="the first cloud", kind="table", rows=600, positives=250,
)
'''


def test_a_prior_estimator_of_one_new_file_is_on_the_command_line_in_json_and_on_the_page(tmp_path) -> None:
    tree = tree_with(tmp_path / "tree", "priors/from_scores/top_share.py", ESTIMATOR)
    rng = np.random.default_rng(0)
    positive = np.arange(2000) < 600
    scores = rng.normal(size=2000) + 2.5 * positive
    labelled = positive & (rng.random(2000) < 0.4)
    lines = [f"{int(one)},{score:.4f}" for one, score in zip(labelled, scores, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["label,score", *lines]) + "\n")
    used = ("--class-prior", "top-share", "--json", "found.json", "--html", "found.html", "--quiet")
    named, evaluated, misspelt = commands_in(
        tree,
        ("prior", "rows.csv", "--method", "top-share", "--json", "-"),
        ("evaluate", "--labelling", "random", "rows.csv", *used),
        ("prior", "rows.csv", "--method", "top-shore"),
        cwd=tmp_path,
    )
    assert json.loads(named.out)["class_prior"]["method"] == "estimated: top-share"
    assert evaluated.code == 0, evaluated.err
    method = json.loads((tmp_path / "found.json").read_text())["class_prior"]["method"]
    assert method.startswith("estimated: top-share")  # and perhaps cut to what random labels allow
    assert "top-share" in (tmp_path / "found.html").read_text()
    assert misspelt.code == 2
    assert "Did you mean 'top_share'?" in misspelt.err


def test_a_data_set_of_one_new_file_is_planned_run_and_on_the_leaderboard(tmp_path) -> None:
    tree = tree_with(tmp_path / "tree", "research/benchmark/datasets/two_clouds.py", DATASET)
    chosen = ("--datasets", "two_clouds", "--learners", "nnpu,vpu")
    planned, *done = commands_in(
        tree,
        ("bench", "plan", "smoke", *chosen),
        ("bench", "run", "smoke", *chosen, "--archive", "results", "--device", "cpu"),
        ("bench", "report", "results", "--html", "board.html"),
        cwd=tmp_path,
    )
    assert "two_clouds" in planned.out
    assert [one.code for one in done] == [0, 0], done
    assert "two_clouds" in (tmp_path / "board.html").read_text()
