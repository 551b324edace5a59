"""pulens audit: a plan on the disk, answers read back, more rows; nothing half-written, nothing lost."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from pulens.cli import main

ROWS = 600
TRUTH = np.random.default_rng(1).random(ROWS) < np.linspace(0.01, 0.9, ROWS)
LABELS = TRUTH & (np.random.default_rng(2).random(ROWS) < 0.3)


@pytest.fixture(autouse=True)
def quick_forecasts(monkeypatch):
    """How well widths are forecast is tested elsewhere; here it matters that they are."""
    monkeypatch.setattr("pulens.audits.forecast.AUDITS", 6)
    monkeypatch.setattr("pulens.audits.forecast.BUDGETS", (25, 100, 400))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{i / ROWS:.4f},{int(label)},c{i},note {i}\n" for i, label in enumerate(LABELS)]
    (tmp_path / "scores.csv").write_text("score,label,case,text\n" + "".join(lines))
    return tmp_path


def plan(*more: str) -> None:
    main(["audit", "plan", "scores.csv", "--threshold", "0.7", "--budget", "60", "-q", "--out", "queue.csv", *more])


def fill(many: int, name: str = "queue.csv") -> None:
    with open(name, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows[:many]:
        row["answer"] = "yes" if TRUTH[int(row["row"])] else "no"
    with open(name, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def refused(words: list[str], capsys) -> str:
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2
    return capsys.readouterr().err


def test_plan_check_read_more_read(folder, capsys):
    plan("--id", "case", "--keep", "text")
    assert capsys.readouterr().out == ""
    with open("queue.csv", newline="") as file:
        header, first = list(csv.reader(file))[:2]
    assert header == ["case", "text", "batch", "probability", "answer"]
    assert first[1] == f"note {first[0][1:]}"
    (folder / "queue.csv").unlink()
    plan()
    fill(50)
    main(["audit", "read", "queue.csv", "--json", "answer.json"])
    shown = capsys.readouterr().out
    assert "50 of" in shown
    told = json.loads((folder / "answer.json").read_text())
    assert (told["checked"], told["threshold"], told["interval"]) == (50, 0.7, "balanced")
    assert 0 < told["estimates"]["recall"]["low"] < told["estimates"]["recall"]["value"]
    main(["audit", "more", "queue.csv", "--budget", "90", "--out", "more.csv", "-q"])
    fill(90, "more.csv")
    main(["audit", "read", "more.csv", "--at", "0.6", "--json", "-", "--interval", "strict"])
    told = json.loads(capsys.readouterr().out)
    assert (told["checked"], told["threshold"], told["interval"]) == (90, 0.6, "strict")


def test_before_any_answer_the_forecast_is_shown_and_nothing_fails(folder, capsys):
    plan()
    main(["audit", "read", "queue.csv", "--json", "answer.json"])
    shown = capsys.readouterr().out
    assert "No row is answered yet" in shown
    assert "With 60 rows: F1 known to about" in shown
    assert json.loads((folder / "answer.json").read_text())["forecast"]["budgets"]


def test_words_of_ones_own_are_declared(folder, capsys):
    plan()
    fill(20)
    text = (folder / "queue.csv").read_text().replace(",yes", ",fraud").replace(",no", ",fine")
    (folder / "queue.csv").write_text(text)
    assert "'fine'" in refused(["audit", "read", "queue.csv"], capsys)
    main(["audit", "read", "queue.csv", "--yes", "fraud", "--no", "fine", "-q"])


def test_answers_and_inputs_are_never_replaced(folder, capsys):
    plan()
    fill(20)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    again = ["audit", "plan", "scores.csv", "--threshold", "0.7", "--out"]
    assert "holds 20 answers" in refused([*again, "queue.csv"], capsys)
    assert "would replace" in refused([*again, "scores.csv"], capsys)
    assert "would replace" in refused(["audit", "more", "queue.csv", "--budget", "99", "--out", "queue.csv"], capsys)
    assert "would replace" in refused(["audit", "more", "queue.csv", "--budget", "99", "--out", "queue.xlsx"], capsys)
    assert "would replace" in refused(["audit", "read", "queue.csv", "--json", "queue.audit.json"], capsys)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["plan", "scores.csv", "--out", "queue.txt"], "ending must tell the format"),
        (["plan", "scores.csv", "--out", "-"], "cannot go through a pipe"),
        (["plan", "scores.csv", "--out", "no/queue.csv"], "does not exist"),
        (["plan", "scores.csv", "--out", "queue.csv", "--budget", "5"], "10 to 200,000"),
        (["plan", "scores.csv", "--out", "queue.csv", "--goal", "average_precision"], "validated"),
        (["plan", "scores.csv", "--out", "queue.csv", "--weight", "score"], "weighted rows are not supported"),
        (["plan", "scores.csv", "--out", "queue.csv", "--where", "score > 0.1"], "--id"),
        (["plan", "nothing.csv", "--out", "queue.csv"], "there is no such file"),
        (["plan", "scores.csv", "--out", "queue.csv", "--unlabelled-prior", "0.1"], "--class-prior"),
        (["read", "scores.csv"], "scores.audit.json"),
        (["read", "nothing.csv"], "nothing.audit.json"),
        (["more", "scores.csv", "--budget", "90", "--out", "queue.csv"], "scores.audit.json"),
    ],
)
def test_what_cannot_be_done_ends_with_words_and_leaves_no_file(folder, capsys, words, told):
    assert told in refused(["audit", *words], capsys)
    assert [path.name for path in folder.iterdir()] == ["scores.csv"]


def test_a_table_that_changed_is_told_of_on_the_command_line(folder, capsys):
    plan()
    text = (folder / "scores.csv").read_text()
    (folder / "scores.csv").write_text(text + "0.99,0,new,x\n")
    assert "has changed since the plan" in refused(
        ["audit", "more", "queue.csv", "--budget", "90", "--out", "more.csv"], capsys
    )
    main(["audit", "more", "queue.csv", "--budget", "90", "--out", "more.csv", "--allow-changed", "-q"])
    assert len((folder / "more.csv").read_text().splitlines()) == 91
