"""A queue holds the rows to check, harms no spreadsheet, and is written with its plan or not at all."""

from __future__ import annotations

import csv
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulens
from pulens import plan_audit, read_audit
from pulens.audits.ladder import thinned
from pulens.audits.queue import plan_path, read_plan, read_queue
from pulens.counts.tally import Tally
from pulens.errors import InputError, MissingDependencyError, PulensError
from pulens.inputs.tables.inert import inert, is_formula, restored

HOSTILE = [
    '=HYPERLINK("http://x")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "'=1",
    "''=1",
    " =1",
    "=1\n=2",
    'a"b,c;d',
    "<script>alert(1)</script>",
    "O'Hara",
    "é漢",
    "-5",
    "007",
]
ROWS = 400


def table(ids=None) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    scores = rng.permutation(ROWS) / ROWS
    labels = ((scores > 0.8) & (rng.random(ROWS) < 0.3)).astype(int)
    names = [f"{HOSTILE[i % len(HOSTILE)]}{'' if i < len(HOSTILE) else i}" for i in range(ROWS)]
    return pl.DataFrame({"score": scores, "label": labels, "case": ids or names, "=note": names, "n": range(ROWS)})


def plan(**more):
    return plan_audit(table(), threshold=0.8, budget=60, seed=3, id="case", keep=["=note", "n"], **more)


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet"])
def test_hostile_ids_and_columns_come_back_as_they_were_in_every_format(ending, tmp_path):
    made = plan()
    made.write(tmp_path / f"queue.{ending}")
    result = read_queue(tmp_path / f"queue.{ending}")
    assert result.names == ["case", "=note", "n", "batch", "probability", "answer"]
    assert [str(one) for one in result.column("case")] == list(made.rows.name)
    assert [str(one) for one in result.column("=note")] == list(made.rows.kept["=note"])
    assert [int(one) for one in result.column("n")] == list(made.rows.kept["n"])
    chances = made.probability[made.rows.stratum].tolist()
    told = [float(one) for one in result.column("probability")]
    assert told == (pytest.approx(chances, rel=1e-15) if ending == "xlsx" else chances)  # Excel keeps 16 digits
    assert read_plan(tmp_path / f"queue.{ending}").rows.name == made.rows.name


def test_no_cell_of_a_text_file_begins_like_a_formula(tmp_path):
    plan().write(tmp_path / "queue.csv")
    with open(tmp_path / "queue.csv", newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert any(cell.startswith("'=") for cell in cells)
    for cell in cells:
        if cell.strip()[:1] in tuple("=+-@") or cell[:1] in tuple("\t\r\n"):
            float(cell)  # a number and nothing else


def test_cells_of_an_excel_file_are_text_or_numbers_and_never_formulas(tmp_path):
    import openpyxl

    plan().write(tmp_path / "queue.xlsx")
    cells = [cell for row in openpyxl.load_workbook(tmp_path / "queue.xlsx").active.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} <= {"s", "n"}
    assert any(cell.value == HOSTILE[0] or str(cell.value).startswith("=HYPERLINK") for cell in cells)
    with zipfile.ZipFile(tmp_path / "queue.xlsx") as parts:
        assert b"<f>" not in parts.read("xl/worksheets/sheet1.xml")


@given(st.text(alphabet=st.sampled_from("'=+-@\t\r\n 1a."), max_size=8))
def test_making_text_inert_can_be_undone_and_leaves_no_formula(text):
    made = inert(text)
    assert restored(made) == text
    assert not is_formula(made) or made.startswith("'")


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_the_same_table_and_seed_give_the_same_bytes(ending, tmp_path, monkeypatch):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        plan().write(tmp_path / folder / f"queue.{ending}")
        monkeypatch.setattr("time.time", lambda: 2e9)  # whatever the clock says
    for name in (f"queue.{ending}", "queue.audit.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert plan(show_scores=True).rows.name == plan().rows.name


def test_scores_and_strata_are_shown_only_when_asked_for(tmp_path):
    plan(show_scores=True).write(tmp_path / "queue.csv")
    result = read_queue(tmp_path / "queue.csv")
    assert result.names[3:5] == ["score", "stratum"]
    made = read_plan(tmp_path / "queue.csv")
    assert [float(one) for one in result.column("score")] == made.rows.score.tolist()


def test_the_plan_file_holds_all_that_reading_needs_and_no_folder(tmp_path):
    (tmp_path / "secret folder").mkdir()
    path = tmp_path / "secret folder" / "scores.csv"
    table().write_csv(path)
    made = plan_audit(path, threshold=0.8, budget=60, id="case")
    made.write(tmp_path / "queue.csv")
    text = (tmp_path / "queue.audit.json").read_text()
    assert "secret folder" not in text
    told = json.loads(text)
    assert told["source"] == "scores.csv"
    assert told["strata"]["rows"] == made.strata.rows.tolist()
    path.unlink()
    again = read_plan(tmp_path / "queue.csv")
    assert again.tally == made.tally
    assert again.digest == made.digest
    assert (again.threshold, again.seed, again.goal, again.id) == (0.8, 0, "all", "case")


def test_a_long_tally_is_thinned_and_stays_exact_where_answers_need_it():
    rng = np.random.default_rng(0)
    labels = rng.choice([0, 0, 0, 1, -1], 20_000)
    whole = Tally.from_arrays(labels, rng.normal(size=20_000))
    named = rng.choice(whole.thresholds, 200, replace=False)
    short = thinned(whole, named)
    assert len(short) < 6000
    for score in named:
        assert short.at(score) == whole.at(score)
        assert short.at(np.nextafter(score, 9)) == whole.at(np.nextafter(score, 9))
    assert short.totals == whole.totals


def test_queue_and_plan_are_written_both_or_not_at_all(tmp_path, monkeypatch):
    made = plan()
    place = tmp_path / "queue.csv"
    place.write_text("before\n")
    plan_path(place).mkdir()
    with pytest.raises(PulensError, match="cannot be written"):
        made.write(place)
    assert place.read_text() == "before\n"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["queue.audit.json", "queue.csv"]


def test_answers_are_never_overwritten_by_a_new_plan(tmp_path):
    made = plan()
    made.write(tmp_path / "queue.csv")
    made.write(tmp_path / "queue.csv")
    text = (tmp_path / "queue.csv").read_text()
    (tmp_path / "queue.csv").write_text(text.replace(",\n", ",yes\n", 1))
    for ending in ("csv", "parquet"):  # the plan would be that of another queue
        with pytest.raises(PulensError, match=r"queue\.csv holds 1 answer"):
            made.write(tmp_path / f"queue.{ending}")
    assert not (tmp_path / "queue.parquet").exists()


def test_endings_and_pipes_that_cannot_hold_a_queue_are_refused(tmp_path):
    for name in ("queue", "queue.txt", "queue.jsonl", "-"):
        with pytest.raises(InputError):
            plan().write(name if name == "-" else tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_text_that_excel_cannot_hold_is_refused_by_name(tmp_path):
    ids = [f"{i}" + "a" * 40_000 for i in range(ROWS)]
    made = plan_audit(table(ids), threshold=0.8, budget=60, id="case")
    with pytest.raises(InputError, match=r"column 'case' .* Excel"):
        made.write(tmp_path / "queue.xlsx")
    made.write(tmp_path / "queue.csv")
    assert read_queue(tmp_path / "queue.csv").column("case") == list(made.rows.name)


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
@pytest.mark.parametrize("write", ["{:03}", "{}e2", "{}.0", "-{}", "0x{}", "{}00000000000000000", "True{}"])
def test_ids_that_look_like_numbers_are_read_back_as_they_were(ending, write, tmp_path):
    ids = [write.format(i + 1) for i in range(ROWS)]
    made = plan_audit(table(ids), threshold=0.8, budget=30, id="case")
    made.write(tmp_path / f"queue.{ending}")
    assert [str(one) for one in read_queue(tmp_path / f"queue.{ending}").column("case")] == list(made.rows.name)
    assert read_audit(tmp_path / f"queue.{ending}").plan.budget == 30


@pytest.mark.parametrize(("cell", "words"), [("a" * 200_000, "200,000 characters"), ("\ud800", "not valid text")])
def test_cells_that_no_reader_of_text_takes_are_refused_before_anybody_answers(cell, words, tmp_path):
    made = plan()
    odd = replace(made, rows=replace(made.rows, kept={"note": (cell,) * len(made.rows)}))
    with pytest.raises(InputError, match=words):
        odd.write(tmp_path / "queue.csv")
    assert not list(tmp_path.iterdir())


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingDependencyError, match=r"pulens\[excel\]"):
        plan().write(tmp_path / "queue.xlsx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda told: told.pop("rows"), "'rows' is missing"),
        (lambda told: told.update(pulens_audit=99), "format 99"),
        (lambda told: told["strata"].update(rows=[1] * 4), "changed since it was written"),
        (lambda told: told["strata"].update(edges=[0.5, 0.8]), "do not fit together"),
        (lambda told: told["strata"].update(rows=[-1] * 5), "whole numbers"),
        (lambda told: told["rows"]["stratum"].__setitem__(0, 77), "strata that it does not have"),
        (lambda told: told["rows"]["stratum"].__setitem__(slice(None), [0] * 60), "other rows than it says"),
        (lambda told: told["rows"]["score"].pop(), "one name, stratum, score and batch"),
        (lambda told: told["rows"]["name"].__setitem__(0, told["rows"]["name"][1]), "one name, stratum"),
        (lambda told: told["counts"].update(threshold="abc"), "lists of numbers"),
        (lambda told: told.update(threshold="x"), "damaged"),
        (lambda told: told.update(scenario="both"), "damaged"),
    ],
)
def test_a_damaged_plan_is_refused_by_name(change, words, tmp_path):
    plan().write(tmp_path / "queue.csv")
    place = tmp_path / "queue.audit.json"
    told = json.loads(place.read_text())
    change(told)
    place.write_text(json.dumps(told))
    with pytest.raises(InputError, match=words) as refused:
        read_audit(tmp_path / "queue.csv")
    assert "queue.audit.json" in str(refused.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"a": 1}', "\x00"])
def test_what_is_no_plan_at_all_is_refused(text, tmp_path):
    plan().write(tmp_path / "queue.csv")
    (tmp_path / "queue.audit.json").write_text(text)
    with pytest.raises(InputError, match=r"queue\.audit\.json"):
        read_audit(tmp_path / "queue.csv")


def test_a_missing_plan_is_named_and_can_be_given(tmp_path):
    plan().write(tmp_path / "queue.csv")
    (tmp_path / "queue.audit.json").rename(tmp_path / "other.audit.json")
    with pytest.raises(InputError, match=r"queue\.audit\.json.*missing"):
        read_audit(tmp_path / "queue.csv")
    assert read_audit(tmp_path / "queue.csv", plan=tmp_path / "other.audit.json").plan.budget == 60
    assert Path(plan_path("a/queue.xlsx")).name == "queue.audit.json"


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_what_names_no_file_is_refused_as_a_queue_and_as_a_plan(name):
    for read in (plan_path, read_plan):
        with pytest.raises(InputError, match="names no file"):
            read(name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", -1),
        ("seed", 0.5),
        ("label_noise", float("nan")),
        ("label_noise", 7),
        ("positives", float("inf")),
        ("positives", 10**400),
        ("goal", "\ud800"),
    ],
)
def test_a_plan_with_an_impossible_number_is_refused_by_name(tmp_path, name, value):
    labels, scores = [1, 0] * 60, list(range(120))
    pulens.plan_audit(labels, scores, threshold=60, class_prior=0.6, budget=20).write(tmp_path / "queue.csv")
    place = tmp_path / "queue.audit.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | {name: value}))
    with pytest.raises(InputError, match=f"the plan is damaged.*{name}"):
        read_plan(place)
