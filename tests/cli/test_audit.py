"""pulens audit: a plan on the disk, answers read back, more rows; nothing half-written, nothing lost."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest

from pulens import read_audit
from pulens.audits.forecast import forecast_of
from pulens.audits.judges import agreement_of
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


def column(name: str, answers: dict[int, str], file: str = "queue.csv", to: str = "queue.csv") -> None:
    """Write answers by place into a column, of this queue or of a copy of it."""
    with open(file, newline="") as stream:
        rows = list(csv.DictReader(stream))
    for place, row in enumerate(rows):
        row[name] = answers.get(place, "")
    with open(to, "w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def answers_of(name: str = "queue.csv") -> list[str]:
    with open(name, newline="") as stream:
        return [row["answer"] for row in csv.DictReader(stream)]


def test_judges_who_err_have_numbers_of_their_own(folder, capsys):
    plan()
    fill(50)
    main(["audit", "read", "queue.csv", "--json", "plain.json"])
    before = capsys.readouterr().out
    more = ["--reviewer-errors", "0:0.02,0.05"]
    main(["audit", "read", "queue.csv", "--json", "answer.json", *more])
    shown = capsys.readouterr().out
    assert shown.startswith(before.partition("next: ")[0].rstrip("\n"))
    assert "judges call 0 to 0.02 of negatives positive" in shown
    plain, told = (json.loads((folder / name).read_text()) for name in ("plain.json", "answer.json"))
    judged = told.pop("if_judges_err")
    assert told == plain
    assert (judged["false_positive_rate"], judged["false_negative_rate"]) == ([0, 0.02], [0.05, 0.05])
    result = read_audit("queue.csv")
    expected = result.if_judges_err(((0, 0.02), 0.05))["recall"]
    assert judged["estimates"]["recall"] == json.loads(json.dumps(expected.to_dict()))


@pytest.mark.parametrize("apart", [False, True])
def test_a_second_judge_is_read_from_a_column_or_a_file(folder, capsys, apart):
    plan()
    fill(50)
    first = answers_of()
    turned = {"yes": "no", "no": "yes"}
    other = {place: turned[first[place]] if place == 3 else first[place] for place in range(20)}
    column("answer" if apart else "second", other, to="second.csv" if apart else "queue.csv")
    main(["audit", "read", "queue.csv", "--second", "second.csv" if apart else "second", "--json", "answer.json"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "Two judges agree on 95.0%" in shown
    told = json.loads((folder / "answer.json").read_text())
    assert told["checked"] == 50
    expected = agreement_of([int(first[place] == "yes") for place in other], [int(x == "yes") for x in other.values()])
    assert told["agreement"]["rows"] == 20
    assert told["agreement"]["false_positive_rate"] == pytest.approx(expected.false_positive_rate)
    option = shown.partition("--reviewer-errors ")[2].split()[0]
    most = float(option.removeprefix("0:").removesuffix(",0"))
    assert expected.false_positive_rate[1] <= most < expected.false_positive_rate[1] + 0.001
    main(["audit", "read", "queue.csv", "--reviewer-errors", option, "-q"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--reviewer-errors", "0.02"], "two rates"),
        (["--reviewer-errors", "a,b"], "two rates"),
        (["--reviewer-errors", "0:0.1:0.2,0"], "two rates"),
        (["--reviewer-errors", "2,5"], "write 5% as 0.05"),
        (["--reviewer-errors", "0.1:0.05,0"], "between 0 and 1"),
        (["--reviewer-errors", "nan,0"], "between 0 and 1"),
        (["--reviewer-errors", "0.5,0.5"], "add up to less than 1"),
        (["--reviewer-errors", "0.1,0.1", "--anytime"], "at every moment"),
        (["--second", "reply"], "no column 'reply'"),
        (["--second", "answer"], "first reviewer's queue"),
        (["--second", "./queue.csv"], "first reviewer's queue"),
        (["--second", "nothing.csv"], "nothing.csv"),
        (["--second", "batch"], "first reviewer's queue"),
        (["--second", "other.csv", "--json", "other.csv"], "would replace"),
    ],
)
def test_what_judges_cannot_have_said_is_refused_and_nothing_is_written(folder, capsys, words, told):
    plan()
    fill(50)
    column("answer", {}, to="other.csv")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert re.search(told, refused(["audit", "read", "queue.csv", *words], capsys))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_judges_who_overlap_nowhere_and_rows_of_another_plan_are_refused(folder, capsys):
    plan()
    fill(20)
    column("second", {40: "yes"})
    assert "decided by both" in refused(["audit", "read", "queue.csv", "--second", "second"], capsys)
    text = (folder / "queue.csv").read_text().splitlines()
    (folder / "other.csv").write_text("\n".join([text[0], text[1].replace(text[1].split(",")[0], "9999", 1)]))
    told = refused(["audit", "read", "queue.csv", "--second", "other.csv"], capsys)
    assert "other.csv" in told
    assert "not in the plan" in told


def test_only_what_is_shown_is_forecast(folder, capsys, monkeypatch):
    plan()
    fill(20)
    asked = []
    monkeypatch.setattr("pulens.evaluation.audit.forecast_of", lambda *a, **b: asked.append(b) or forecast_of(*a, **b))
    main(["audit", "read", "queue.csv"])
    assert "With 100 more rows" in capsys.readouterr().out
    assert [(one["budgets"], one["with_labels"]) for one in asked] == [((120,), False)]
    main(["audit", "read", "queue.csv", "-q"])
    assert len(asked) == 1


def test_before_any_answer_the_forecast_is_shown_and_nothing_fails(folder, capsys):
    plan()
    main(["audit", "read", "queue.csv", "--json", "answer.json"])
    shown = capsys.readouterr().out
    assert "No row is answered yet" in shown
    assert "With 60 rows: F1 known to ± " in shown
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
        (["plan", "scores.csv", "--out", "queue.txt"], "must end with the format"),
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


def test_hostile_names_stay_text_on_the_page_in_the_queue_and_in_errors(folder, capsys):
    source = "<img src=x onerror=alert(1)>.csv"
    odd = "<b>=1+1</b>"
    lines = [f'{i / ROWS:.4f},{int(label)},"=c{i}<i>\x1b[31m",note' for i, label in enumerate(LABELS)]
    (folder / source).write_text(f"score,label,=case<b>,{odd}\n" + "\n".join(lines))
    columns = ["--id", "=case<b>", "--keep", odd]
    main(["audit", "plan", source, "--threshold", "0.7", "--budget", "60", *columns, "-q", "-o", "queue.csv"])
    with open("queue.csv", newline="") as file:
        header, *rows = list(csv.reader(file))
    assert header[0] == "'=case<b>"
    assert all(row[0].startswith("'=c") for row in rows)
    filled = [[*row[:-1], "yes"] for row in rows]
    for more, told in (([], ""), ([[*rows[0][:-1], "no"]], "answered twice"), ([["=x\x1b[2J", *rows[0][1:]]], "plan")):
        with open("queue.csv", "w", newline="") as file:
            csv.writer(file).writerows([header, *filled, *more])
        if told:
            said = refused(["audit", "read", "queue.csv"], capsys)
            assert told in said
            assert "\x1b" not in said
        else:
            main(["audit", "read", "queue.csv", "--html", "page.html"])
            assert "\x1b" not in capsys.readouterr().out
    page = (folder / "page.html").read_text()
    assert "&lt;img src=x onerror=alert(1)&gt;.csv" in page
    for raw in ("<img src=x", odd, "=case<b>", "\x1b"):
        assert raw not in page


def test_a_table_that_changed_is_told_of_on_the_command_line(folder, capsys):
    plan()
    text = (folder / "scores.csv").read_text()
    (folder / "scores.csv").write_text(text + "0.99,0,new,x\n")
    assert "has changed since the plan" in refused(
        ["audit", "more", "queue.csv", "--budget", "90", "--out", "more.csv"], capsys
    )
    main(["audit", "more", "queue.csv", "--budget", "90", "--out", "more.csv", "--allow-changed", "-q"])
    assert len((folder / "more.csv").read_text().splitlines()) == 91


def test_an_option_of_earlier_versions_is_refused_with_what_replaced_it(folder, capsys):
    assert "evaluate with that factor as the labelling" in refused(
        ["audit", "read", "queue.csv", "--nearly-random", "2"], capsys
    )
    with pytest.raises(TypeError, match="evaluate with that factor as the labelling"):
        read_audit("queue.csv", nearly_random=2)


def test_a_queue_says_what_to_write_into_it_and_the_next_one_has_another_name(folder, capsys):
    """After queue2.csv the step was to write queue2.csv, and an empty queue had no step at all."""
    words = ["audit", "plan", "scores.csv", "--threshold", "0.7", "--budget", "60", "--out", "queue2.csv"]
    main([*words, "--id", "case"])
    assert "--id" not in capsys.readouterr().out
    main(words)
    planned = " ".join(capsys.readouterr().out.split())
    main(["audit", "read", "queue2.csv"])
    unread = " ".join(capsys.readouterr().out.split())
    assert "counts the rows of the table from 0. To name them by a column: --id <column>" in planned
    for shown in (planned, unread):
        assert shown.endswith("(1 where a row is positive, 0 where it is not), then: pulens audit read queue2.csv")
    fill(50, "queue2.csv")
    main(["audit", "read", "queue2.csv"])
    assert capsys.readouterr().out.endswith("  pulens audit more queue2.csv --budget 150 --out queue3.csv\n")
