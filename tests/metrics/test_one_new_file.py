"""A metric that is one new file appears end to end, with no other file touched."""

from __future__ import annotations

import json

import pytest

from command_lines import EVALUATE
from one_more_file import commands_in, run_in, tree_with
from synthetic_archive import LEARNERS, make

METRIC = '''
"""False discovery rate: share of the rows predicted positive that are negative."""

from __future__ import annotations

from pulens.recovery.contingency import Contingency
from pulens.metrics.parts.metric import Floats, Metric, Shown, divide


def false_discovery_rate(table: Contingency) -> Floats:
    """One minus precision."""
    return divide(table.false_positive, table.predicted_positive)


METRIC = Metric(
    false_discovery_rate,
    "Of the rows flagged, how many are negative",
    higher_is_better=False,
    undefined_because="nothing is predicted positive at this threshold",
    title="False discovery rate (FDR)",
    derivation="FP / (TP + FP).",
    shown=Shown(table=2.5, tiles=1.5, segments=1.5, comparison=2.5),
)
'''
ROWS = "label,score,other,region\n" + "".join(
    f"{int(i % 5 == 0)},{(i * 37 % 101) / 101 + 0.4 * (i % 5 == 0):.4f},{(i * 53 % 97) / 97:.4f},{'ab'[i % 2]}\n"
    for i in range(200)
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The package with one metric more, a table and an archive beside it."""
    folder = tmp_path_factory.mktemp("place")
    tree_with(folder / "tree", "metrics/false_discovery_rate.py", METRIC)
    (folder / "rows.csv").write_text(ROWS)
    make(folder / "archive", learners={name: LEARNERS[name] for name in ("nnpu", "vpu", "pn")}, rows=60, epochs=3)
    return folder


@pytest.fixture(scope="module")
def said(tree):
    """What the commands print that show metrics."""
    asked = ("rows.csv", "--class-prior", "0.3", "--threshold", "0.6", "--redraws", "100")
    commands = {
        "evaluate": (*EVALUATE, "--all-metrics", *asked, "--json", "found.json", "--html", "found.html"),
        "compare": ("compare", "--explain", *asked, "--score", "score", "--score", "other", "--json", "compared.json"),
        "segments": ("evaluate", "--labelling", "random", *asked, "--score", "score", "--group-by", "region"),
        "report": ("bench", "report", "archive", "--metric", "false_discovery_rate", "--html", "board.html"),
    }
    ended = commands_in(tree / "tree", *commands.values(), cwd=tree)
    assert [one.code for one in ended] == [0, 0, 0, 0], ended
    return {name: one.out for name, one in zip(commands, ended, strict=True)}


@pytest.mark.slow
def test_a_metric_of_one_new_file_is_on_the_command_line_in_json_and_on_the_page(tree, said) -> None:
    assert "False discovery rate (FDR)" in said["evaluate"]
    result = json.loads((tree / "found.json").read_text())["estimates"]["false_discovery_rate"]
    precision = json.loads((tree / "found.json").read_text())["estimates"]["precision"]
    assert result["value"] == pytest.approx(1 - precision["value"])
    assert result["low"] < result["value"] < result["high"]
    assert result["method"] == "Jeffreys"
    page = (tree / "found.html").read_text()
    assert "False discovery rate (FDR)" in page
    assert "FP / (TP + FP)." in page


def test_a_metric_of_one_new_file_is_compared_and_reported_for_segments(tree, said) -> None:
    assert "False discovery rate (FDR)" in said["compare"]
    metrics = json.loads((tree / "compared.json").read_text())["metrics"]
    assert list(metrics)[2] == "false_discovery_rate"
    by = said["segments"]
    assert "false discovery rate (FDR)" in by


def test_a_metric_of_one_new_file_is_a_function_a_scorer_and_in_the_catalogue(tree) -> None:
    script = (
        "import pulens, pulens.sklearn\n"
        "from pulens.metrics import METRICS, leading\n"
        "found = pulens.metrics.false_discovery_rate([1, 1, 0, 0, 0], [5, 3, 4, 2, 1], class_prior=0.5, threshold=3)\n"
        "pulens.sklearn.scorer('false_discovery_rate', class_prior=0.5, threshold=3)\n"
        "print('false_discovery_rate' in METRICS, leading('tiles')[1], 0 < found.value < 1)\n"
    )
    assert run_in(tree / "tree", "-c", script, cwd=tree) == "True false_discovery_rate True\n"


@pytest.mark.usefixtures("said")
def test_a_metric_of_one_new_file_is_on_the_leaderboard(tree) -> None:
    assert "false_discovery_rate" in (tree / "board.html").read_text()
