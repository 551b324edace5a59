"""--reviews on the command line: evaluate, prior, compare and calibrate read the same answers."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import pulens
from command_lines import EVALUATE
from pulens.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with two models' probabilities, and an answered queue of 150 rows."""
    place = tmp_path_factory.mktemp("reviews")
    rng = np.random.default_rng(7)
    truth = rng.random(1500) < 0.2
    first, second = (1 / (1 + np.exp(-rng.normal(gap * truth - 1.5, 1))) for gap in (2.2, 1.4))
    labels = (truth & (rng.random(1500) < 0.3)).astype(int)
    with (place / "scores.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "label"])
        writer.writerows(zip(map(float, first), map(float, second), labels, strict=True))
    plan = pulens.plan_audit(str(place / "scores.csv"), score="a", threshold=0.4, budget=150)
    plan.write(place / "queue.csv")
    with (place / "queue.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (place / "queue.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "answer": int(truth[int(row["row"])])} for row in rows)
    from_the_top = np.where(first >= 0.4, np.where(truth, 1, -1), 0)
    lines = [f"{score},{label}" for score, label in zip(map(float, first), from_the_top, strict=True)]
    (place / "worked.csv").write_text("score,label\n" + "\n".join(lines))
    return place


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code: int | None = 0
    try:
        main(list(words))
    except SystemExit as stop:
        code = stop.code  # type: ignore[assignment]
    shown = capsys.readouterr()
    return code or 0, shown.out, shown.err


def test_evaluate_shows_both_columns_and_writes_them(folder: Path, capsys, tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("r.json", "r.html", "r.md")]
    code, out, _ = run(
        capsys,
        *(*EVALUATE, str(folder / "scores.csv"), "--score", "a", "--reviews", str(folder / "queue.csv")),
        *("--redraws", "100", "--json", files[0], "--html", files[1], "--markdown", files[2]),
    )
    assert code == 0
    assert out.startswith("Of the rows flagged at 0.4 or above")
    assert "assuming nothing" in out
    told = json.loads(Path(files[0]).read_text())
    assert told["audit"]["checked"] == 150
    assert told["threshold"] == 0.4
    assert "What the checked rows prove" in Path(files[1]).read_text()
    assert "assuming nothing" in Path(files[2]).read_text()
    assert "pulens audit more" in out


def test_prior_is_that_of_the_audit(folder: Path, capsys) -> None:
    code, out, _ = run(
        capsys,
        *("prior", str(folder / "scores.csv"), "--score", "a", "--reviews", str(folder / "queue.csv"), "--json", "-"),
    )
    assert code == 0
    told = json.loads(out)["class_prior"]
    assert told["method"].startswith("audit of 150 rows")
    assert told["value"] == pytest.approx(pulens.read_audit(folder / "queue.csv").class_prior.value)


def test_compare_by_checked_rows(folder: Path, capsys) -> None:
    words = ("compare", str(folder / "scores.csv"), "--score", "a", "--score", "b", "--redraws", "100")
    code, out, _ = run(capsys, *words, "--threshold", "0.4", "--reviews", str(folder / "queue.csv"), "--json", "-")
    assert code == 0
    told = json.loads(out)["reviewed"]
    assert told["checked"] == 150
    (pair,) = told["metrics"]["f1"]["differences"]
    assert (pair["first"], pair["second"], pair["basis"]) == ("a", "b", "design")
    assert pair["low"] < pair["value"] < pair["high"]
    code, _, err = run(capsys, *words, "--reviews", str(folder / "queue.csv"))
    assert code == 2
    assert "need a threshold" in err


def test_calibrate_by_checked_rows(folder: Path, capsys, tmp_path: Path) -> None:
    page = tmp_path / "c.html"
    words = ("calibrate", str(folder / "scores.csv"), "--score", "a", "--reviews", str(folder / "queue.csv"))
    code, out, _ = run(capsys, *words, "--html", str(page))
    assert code == 0
    words = "The checked rows contradict the probabilities in 2 of 7 bins: predicted and actual shares differ by"
    assert " ".join(out.split()).startswith(words)
    assert "(150 checked rows)" in out
    assert words in page.read_text()


def test_what_assumes_random_labels_is_told_on_request_where_rows_were_checked(folder: Path, capsys) -> None:
    """One answer of two verdicts: "no bin excludes it" and, below, "the probabilities are wrong (p < 0.001)"."""
    reviews = (str(folder / "scores.csv"), "--score", "a", "--reviews", str(folder / "queue.csv"), "--threshold", "0.4")
    for command in (("calibrate", *reviews[:-2]), ("compare", *reviews, "--score", "b", "--redraws", "100")):
        for explain in (False, True):
            _, out, _ = run(capsys, *command, *(["--explain"] if explain else []))
            assert ("Recovered, if labels are random" in out) is explain
            assert ("random labels" in out) is explain
            assert ("assumes     nothing about labels" in out) is not explain


def test_numbers_that_assume_random_labels_say_so_under_those_of_the_checked_rows(folder: Path, capsys) -> None:
    asked = ("evaluate", str(folder / "scores.csv"), "--score", "a", "--reviews", str(folder / "queue.csv"))
    _, short, _ = run(capsys, *asked)
    _, every, _ = run(capsys, *asked, "--all-metrics")
    assert "Recovered, if labels are random" not in short
    assert every.index("Recovered, if labels are random") < every.index("Matthews correlation")


def test_a_review_whose_labels_are_its_answers_speaks_alone(folder: Path, capsys) -> None:
    code, out, _ = run(capsys, "evaluate", str(folder / "worked.csv"), "--reviewed-above", "0.4", "--json", "-")
    assert code == 0
    told = json.loads(out)["audit"]["estimates"]
    assert told["precision"]["low"] == told["precision"]["high"]
    assert told["recall"]["basis"] == "bounds"
    code, out, _ = run(capsys, "evaluate", str(folder / "worked.csv"), "--reviewed-above", "0.4")
    assert "bounds" in out


def test_reviews_and_segments_do_not_go_together(folder: Path, capsys) -> None:
    code, _, err = run(
        capsys,
        *("evaluate", "--labelling", "random", str(folder / "scores.csv"), "--score", "a", "--group-by", "label"),
        *("--reviews", str(folder / "queue.csv")),
    )
    assert code == 2
    assert "--reviews" in err


def test_answers_never_replace_the_queue(folder: Path, capsys) -> None:
    queue = folder / "queue.csv"
    before = queue.read_bytes()
    code, _, err = run(
        capsys, "evaluate", str(folder / "scores.csv"), "--score", "a", "--reviews", str(queue), "--json", str(queue)
    )
    assert code == 2
    assert queue.read_bytes() == before
    assert "queue.csv" in err
