"""Answers files come back edited, reordered, cut, doubled: they are read right, or refused in words."""

from __future__ import annotations

import csv
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from pulens import more_audit, plan_audit, read_audit
from pulens.audits.answers import Words, read_answers
from pulens.audits.queue import plan_path, read_plan
from pulens.errors import InputError, PulensError
from pulens.inputs.tables.excel import excel_bytes
from pulens.inputs.tables.writing import table_bytes
from pulens.locks import locked

ROWS = 400
TRUTH = np.random.default_rng(5).random(ROWS) < np.linspace(0.02, 0.9, ROWS)


@pytest.fixture(autouse=True)
def quick_forecasts(monkeypatch):
    """How well widths are forecast is tested elsewhere; here it matters that they are."""
    monkeypatch.setattr("pulens.audits.forecast.AUDITS", 6)
    monkeypatch.setattr("pulens.audits.forecast.BUDGETS", (25, 100, 400))


@pytest.fixture
def queue(tmp_path) -> Path:
    scores = np.arange(ROWS) / ROWS
    labels = (TRUTH & (np.random.default_rng(6).random(ROWS) < 0.2)).astype(int)
    plan_audit(labels, scores, threshold=0.8, budget=60, seed=1).write(tmp_path / "queue.csv")
    return tmp_path / "queue.csv"


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: list[dict[str, str]], **dialect) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), **dialect)
        writer.writeheader()
        writer.writerows(rows)


def answered(path: Path, many: int = 60, words=("yes", "no")) -> list[dict[str, str]]:
    rows = rows_of(path)
    for row in rows[:many]:
        row["answer"] = words[0] if TRUTH[int(row["row"])] else words[1]
    write(path, rows)
    return rows


def counts(path: Path, **options) -> tuple[list[int], list[int], list[int]]:
    result = read_audit(path, **options).counts
    return result.checked.tolist(), result.found.tolist(), result.undecided.tolist()


def test_answers_are_counted_per_stratum_of_the_plan(queue):
    answered(queue)
    made = read_plan(queue)
    checked, result, undecided = counts(queue)
    assert checked == made.allocation.tolist()
    names = np.array([int(name) for name in made.rows.name])
    assert result == np.bincount(made.rows.stratum[TRUTH[names]], minlength=len(checked)).tolist()
    assert undecided == [0] * len(checked)
    rows = read_audit(queue).checked_rows
    assert rows.score.tolist() == made.rows.score.tolist()
    assert rows.answer.tolist() == TRUTH[names].astype(int).tolist()


@pytest.mark.parametrize(
    "words",
    [
        ("1", "0"),
        ("YES", "No"),
        ("True", "FALSE"),
        (" positive ", "negative"),
        ("+", "-"),
        ("1.0", "0.0"),
        ("'+", "'-"),
    ],
)
def test_yes_and_no_may_be_written_in_many_ways(queue, words):
    answered(queue)
    expected = counts(queue)
    answered(queue, words=words)
    assert counts(queue) == expected


def test_other_words_are_declared_or_refused(queue):
    answered(queue)
    expected = counts(queue)
    answered(queue, words=("Fraud", "fine"))
    with pytest.raises(InputError, match=r"'Fraud'|'fine'") as refused:
        read_audit(queue)
    assert "data row 1" in str(refused.value)
    assert "--yes" in str(refused.value)
    assert counts(queue, yes="fraud", no=["fine", "ok"]) == expected
    with pytest.raises(InputError, match="both yes and no"):
        Words(yes="x", no="X")


def test_a_queue_is_not_replaced_while_another_process_replaces_it_or_its_plan(queue, monkeypatch):
    monkeypatch.setattr(locked.__wrapped__, "__kwdefaults__", {"seconds": 0, "say": None})
    before = queue.read_bytes()
    made = read_plan(queue)
    for other in (queue, queue.with_suffix(".xlsx")):  # they share the plan
        with locked(plan_path(queue)), pytest.raises(PulensError, match="is using this file"):
            made.write(other)
    assert queue.read_bytes() == before
    made.write(queue)


def test_any_prefix_is_a_valid_audit(queue):
    rows = answered(queue)
    made = read_plan(queue)
    for many in (1, 10, 37):
        write(queue, [row | ({} if place < many else {"answer": ""}) for place, row in enumerate(rows)])
        checked, _, undecided = counts(queue)
        assert checked == np.bincount(made.rows.stratum[:many], minlength=len(checked)).tolist()
        assert sum(undecided) == 0
        whole = counts(queue)
        write(queue, rows[:many])  # the rest cut off the file altogether
        assert counts(queue) == whole


def test_open_rows_before_the_last_answer_are_undecided_and_later_ones_not_reached(queue):
    rows = answered(queue, 40)
    for place, word in ((3, ""), (7, "?"), (9, "unsure")):
        rows[place]["answer"] = word
    write(queue, rows)
    result = read_audit(queue)
    assert (result.counts.checked.sum(), result.counts.undecided.sum()) == (40, 3)
    assert any(notice.severity.name == "WARNING" for notice in result.notices)  # 3 of 40 are more than 5%
    rows[40]["answer"] = "maybe"  # somebody looked, and could not tell
    write(queue, rows)
    assert read_audit(queue).counts.undecided.sum() == 4


def test_the_order_of_rows_and_columns_does_not_matter(queue):
    rows = answered(queue, 50)
    expected = counts(queue)
    shuffled = [rows[place] for place in np.random.default_rng(0).permutation(len(rows))]
    write(queue, [dict(reversed(row.items())) | {"comment": "x"} for row in shuffled])
    assert counts(queue) == expected


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_what_a_spreadsheet_makes_of_the_file_is_read(queue, delimiter):
    rows = answered(queue, 50)
    expected = counts(queue)
    for row in rows:
        row["probability"] = f"{float(row['probability']):.3f}".replace(".", ",")
        row["row"] = f"{row['row']}.0"
    write(queue, rows, delimiter=delimiter)
    queue.write_text("\ufeff" + queue.read_text().replace("\n", "\r\n") + delimiter * 3 + "\r\n")
    assert counts(queue) == expected


def test_an_answer_given_twice_alike_counts_once_and_differently_is_refused(queue):
    rows = answered(queue)
    expected = counts(queue)
    write(queue, [*rows, rows[4], rows[5] | {"answer": ""}])
    result = read_audit(queue)
    assert counts(queue) == expected
    assert "doubled-rows" in {notice.code for notice in result.notices}
    other = "no" if rows[4]["answer"] == "yes" else "yes"
    write(queue, [*rows, rows[4] | {"answer": other}])
    with pytest.raises(InputError, match=f"answered twice, and differently: '{rows[4]['row']}'"):
        read_audit(queue)


def test_rows_that_were_taken_out_of_the_middle_count_as_undecided(queue):
    rows = answered(queue, 50)
    write(queue, rows[:10] + rows[12:])
    result = read_audit(queue)
    assert (result.counts.checked.sum(), result.counts.undecided.sum()) == (50, 2)
    assert "missing-rows" in {notice.code for notice in result.notices}


def test_rows_that_nobody_drew_are_refused(queue):
    rows = answered(queue)
    strange = sorted(set(range(ROWS)) - {int(row["row"]) for row in rows})[:7]
    write(queue, [*rows, *(rows[0] | {"row": str(row)} for row in strange)])
    with pytest.raises(InputError, match=f"7 rows are not in the plan.*'{strange[0]}'.*data row 61"):
        read_audit(queue)
    write(queue, [*rows, rows[0] | {"row": ""}])
    with pytest.raises(InputError, match="data row 61 has no 'row'"):
        read_audit(queue)


@pytest.mark.parametrize("bad", ["0", "1.5", "-1", "", "x", "nan"])
def test_a_probability_that_cannot_be_names_its_line(queue, bad):
    rows = answered(queue)
    rows[7]["probability"] = bad
    write(queue, rows)
    with pytest.raises(InputError, match="probability in data row 8"):
        read_audit(queue)


def test_probabilities_come_from_the_plan_and_their_column_may_be_gone(queue):
    rows = answered(queue)
    expected = counts(queue)
    write(queue, [{name: row[name] for name in ("row", "answer")} for row in rows])
    assert counts(queue) == expected


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: "", "no data rows"),
        (lambda text: text.replace("answer", "reply", 1), "no column 'answer'"),
        (lambda text: text.replace("row", "line", 1), "no column 'row'"),
        (lambda text: text.replace("\n", ",\n", 1), "fields but the header"),
        (lambda text: text.replace("batch", "answer", 1), "2 columns named 'answer'"),
        (lambda text: text + '"', "not in the plan|unexpected end|could not be read|fields"),
        (lambda text: text.replace("row", "\x00row", 1), "row|NUL|could not be read"),
    ],
)
def test_a_damaged_file_is_refused_by_name(queue, damage, words):
    answered(queue)
    queue.write_text(damage(queue.read_text()))
    with pytest.raises(InputError, match=words) as refused:
        read_audit(queue)
    assert "queue.csv" in str(refused.value)


def test_bytes_that_are_no_text_are_refused(queue):
    queue.write_bytes(b"row,answer\n1,\xff\xfe\n")
    with pytest.raises(InputError, match="UTF-8"):
        read_audit(queue)


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_a_damaged_workbook_is_refused(queue, ending, tmp_path):
    place = tmp_path / f"queue.{ending}"
    for content in (b"", b"PK\x03\x04 and nothing", queue.read_bytes()):
        place.write_bytes(content)
        with pytest.raises(InputError, match=f"queue.{ending}"):
            read_audit(place)


def test_a_file_cut_anywhere_says_nothing_that_nobody_wrote(queue):
    """Cut in the middle of a row it is refused, or that row counts as not answered."""
    answered(queue)
    made, whole, content = read_plan(queue), read_audit(queue).checked_rows.answer, queue.read_bytes()
    refused = 0
    places = [*range(len(content) - 90, len(content)), *range(0, len(content), 61)]
    for place in places:
        queue.write_bytes(content[:place])
        try:
            result = read_answers(made, queue)
        except InputError:
            refused += 1
            continue
        assert result.reached <= content[:place].count(b"\n")
        assert result.checked.answer.tolist() == whole[: result.reached].tolist()
    assert 0 < refused < len(places)


def test_a_formula_as_an_answer_counts_by_its_result_or_is_refused(queue, tmp_path):
    import openpyxl

    book = openpyxl.Workbook()
    for row in [("row", "answer"), *((int(row["row"]), None) for row in rows_of(queue))]:
        book.active.append(row)
    book.active["B2"] = "=1+0"
    book.save(tmp_path / "queue.xlsx")
    with pytest.raises(InputError, match=r"queue\.xlsx: the cell B2 holds a formula without a result"):
        read_audit(tmp_path / "queue.xlsx")
    parts = {}
    with zipfile.ZipFile(tmp_path / "queue.xlsx") as file:
        parts = {name: file.read(name) for name in file.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = re.sub(rb"(<f>1\+0</f>)<v ?/>|(<f>1\+0</f>)<v></v>", rb"<f>1+0</f><v>1</v>", parts[sheet])
    with zipfile.ZipFile(tmp_path / "queue.xlsx", "w") as file:  # as a spreadsheet program stores it
        for name, part in parts.items():
            file.writestr(name, part)
    assert read_audit(tmp_path / "queue.xlsx").counts.found.sum() == 1


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_workbooks_may_be_edited_as_text_files_may(queue, ending, tmp_path):
    rows = answered(queue, 50)
    expected = counts(queue)
    place = tmp_path / f"queue.{ending}"
    shuffled = [rows[one] for one in np.random.default_rng(0).permutation(len(rows))]
    plain = [{"answer": row["answer"], "who": "=me", "row": int(row["row"])} for row in shuffled]

    def put(lines):
        columns = {name: [line[name] for line in lines] for name in lines[0]}
        place.write_bytes(excel_bytes(columns) if ending == "xlsx" else table_bytes("parquet", columns))

    put([*plain, plain[3]])
    assert counts(place) == expected
    gone = {rows[10]["row"], rows[11]["row"]}
    put([line for line in plain if str(line["row"]) not in gone])
    assert sum(counts(place)[2]) == 2
    for wrong in ({"answer": "yes" if rows[10]["answer"] == "no" else "no"}, {"row": 10_000}):
        put([*plain, {"answer": "no", "who": "", "row": int(rows[10]["row"])} | wrong])
        with pytest.raises(InputError, match=r"answered twice, and differently|not in the plan"):
            read_audit(place)


def test_before_any_answer_every_interval_says_nothing(queue):
    result = read_audit(queue)
    assert result.counts.checked.sum() == 0
    assert result.plan.forecast.width("f1", 60)[0] > 0


def test_answers_choose_no_threshold(queue):
    from pulens.errors import AssumptionError

    answered(queue)
    with pytest.raises(AssumptionError, match="rows of its own"):
        read_audit(queue, at="best")


def test_answers_in_words_of_ones_own_are_kept_when_rows_are_added(queue, tmp_path):
    scores = np.arange(ROWS) / ROWS
    labels = (TRUTH & (np.random.default_rng(6).random(ROWS) < 0.2)).astype(int)
    rows = answered(queue, 30, ("fraud", "fine"))
    write(queue, [row | {"who": "=me"} for row in rows])
    larger = more_audit(queue, budget=90, source=labels, scores=scores)
    larger.write(tmp_path / "more.csv")
    assert counts(tmp_path / "more.csv", yes="fraud", no="fine") == counts(queue, yes="fraud", no="fine")
    again = rows_of(tmp_path / "more.csv")
    assert [row["row"] for row in again[:60]] == [row["row"] for row in rows]
    assert {row["who"] for row in again} == {"'=me", ""}
    assert [row["batch"] for row in again] == ["1"] * 60 + ["2"] * 30
