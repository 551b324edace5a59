"""pulens evaluate --group-by COLUMN --gaps METRIC: text, JSON, Markdown, page, refusals."""

from __future__ import annotations

import json

import numpy as np
import polars
import pytest

from command_lines import EVALUATE
from pulens.cli import main
from pulens.errors import PulensError

HOSTILE = "<script>alert('a')</script>"
ESCAPING = "a\x1b[31mred\nline|b"


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    rng = np.random.default_rng(4)
    site = rng.choice(["north", HOSTILE, ESCAPING], 3000)
    positive = rng.random(3000) < 0.3
    labels = positive & (rng.random(3000) < np.where(site == "north", 0.6, 0.3))
    score = rng.normal(np.where(site == "north", 2.2, 1.0) * positive)
    path = tmp_path_factory.mktemp("gaps") / "visits.parquet"
    table = {"score": score, "label": labels.astype(int), "site": site, "sex": rng.choice(["f", "m"], 3000)}
    polars.DataFrame(table).write_parquet(path)
    return path


def test_text_says_who_is_missed(visits, capsys):
    main(
        ["evaluate", "--labelling", "random", str(visits), "--group-by", "site", "--gaps", "recall", "--threshold", "1"]
    )
    shown = capsys.readouterr().out
    assert "north finds" in shown
    assert "points apart (all pairs considered)." in " ".join(shown.split())
    assert "need no class prior" in shown
    assert "\x1b[31m" not in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_files_hold_the_same_gaps_and_names_stay_text(visits, tmp_path, capsys):
    html, markdown, answer = (tmp_path / name for name in ("g.html", "g.md", "g.json"))
    asked = ["--gaps", "recall", "--threshold", "1", "--quiet"]
    files = ["--html", str(html), "--markdown", str(markdown), "--json", str(answer)]
    main(["evaluate", "--labelling", "random", str(visits), "--group-by", "site", *asked, *files])
    assert capsys.readouterr().out == ""
    gaps = json.loads(answer.read_text())["gaps"]
    assert gaps["metric"] == "recall"
    assert {gaps["groups"][-1]["group"]} == {"north"}
    page = html.read_text()
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(" in page
    assert page.count('class="lit"') == sum(gap["clear"] for gap in gaps["differences"])
    assert "\x1b" not in page.split('id="page-data"')[0]
    written = markdown.read_text()
    assert "<script>" not in written
    assert gaps["verdict"].split(":")[1].strip() in written.replace("\\", "")


def test_several_columns_are_counted_and_said(visits, tmp_path, capsys):
    out = tmp_path / "g.json"
    columns = ["--group-by", "site", "--group-by", "sex"]
    html = tmp_path / "g.html"
    main(
        [
            *EVALUATE,
            str(visits),
            *columns,
            "--gaps",
            "recall",
            "--threshold",
            "1",
            "--json",
            str(out),
            "--html",
            str(html),
        ]
    )
    assert "2 columns were asked for (site, sex)" in capsys.readouterr().out
    answer = json.loads(out.read_text())
    assert answer["columns"] == ["site", "sex"]
    assert [part["columns"] for part in answer["gaps_by_column"].values()] == [["site", "sex"]] * 2
    assert html.read_text().count('<summary id="h-pairs-') == 2


def test_a_metric_that_needs_a_class_prior_takes_those_of_the_groups(visits, capsys):
    asked = ["--gaps", "false_positive_rate", "--threshold", "1", "--class-prior", "0.3", "--json", "-"]
    main(["evaluate", "--labelling", "random", str(visits), "--group-by", "sex", *asked])
    gaps = json.loads(capsys.readouterr().out)["gaps"]
    assert gaps["needs_prior"] is True
    assert {turn["metric"] for turn in gaps["at_a_common_prior"]["turns"]} == {
        "false_positive_rate",
        "precision",
        "accuracy",
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--gaps", "recall"], "--gaps is for segments: name their column with --group-by"),
        (["--group-by", "site", "--group-by", "sex"], "--group-by was given 2 times"),
        (["--group-by", "site", "--gaps", "recall", "--metric", "f1"], "name the one metric there"),
        (["--group-by", "site", "--gaps", "recall", "--bounds"], "is for one evaluation"),
        (["--group-by", "site", "--gaps", "fairness"], "fairness"),
        (["--group-by", "nowhere", "--gaps", "recall", "--threshold", "1"], "nowhere"),
    ],
)
def test_what_makes_no_sense_is_refused_and_leaves_nothing(visits, tmp_path, options, said, capsys):
    out = tmp_path / "never.json"
    with pytest.raises(SystemExit) as stopped:
        main(["evaluate", "--labelling", "random", str(visits), *options, "--json", str(out)])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err
    assert not out.exists()


def test_standard_input_is_read_once():
    from pulens.cli._gaps import show_gaps

    with pytest.raises(PulensError, match="standard input can be read once, and --group-by was given 2 times"):
        show_gaps("-", {"group_by": ("a", "b"), "gaps": "recall", "metrics": (), "explain": False}, "rows", {})


def test_clusters_reach_gaps_from_the_command_line(tmp_path, capsys):
    rng = np.random.default_rng(5)
    patient = np.repeat(np.arange(30), 12)
    label = (rng.random(360) < 0.5).astype(int)
    score = rng.normal(label + rng.normal(size=30)[patient])
    table = {"score": score, "label": label, "sex": rng.choice(["f", "m"], 360), "patient": patient}
    polars.DataFrame(table).write_csv(tmp_path / "visits.csv")
    asked = [*EVALUATE, str(tmp_path / "visits.csv"), "--group-by", "sex", "--gaps", "recall", "--threshold", "0.5"]
    files = ["--json", str(tmp_path / "g.json"), "--html", str(tmp_path / "g.html")]
    main([*asked, "--cluster", "patient", *files])
    assert "each of 30 clusters" in " ".join(capsys.readouterr().out.split())
    result = json.loads((tmp_path / "g.json").read_text())["gaps"]
    assert result["buckets"] == 30
    assert "jackknife" in result["groups"][0]["recall"]["method"]
    page = (tmp_path / "g.html").read_text()
    assert "Rows of different clusters are independent." in page
    assert "Groups have different rows, and rows are independent." not in page
