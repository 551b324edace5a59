"""pulens synthesise: files of every format, all of them or none, and no row whose class is a guess."""

from __future__ import annotations

import csv
import json
import os
from threading import Thread

import numpy as np
import pytest

from pulens.cli import main

CALL = ["--target", "class", "--positive", "spam", "--label-frequency", "0.5"]


@pytest.fixture
def mail(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    cells = [(f"{i:03}", f"{x:.3f}", "spam" if s > 0.6 else "ham") for i, (x, s) in enumerate(rng.random((40, 2)))]
    write(tmp_path / "mail.csv", cells)
    return tmp_path


def write(path, cells, names=("id", "length", "class")):
    path.write_text("\n".join(",".join(row) for row in [names, *cells]) + "\n")


def refused(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main(["synthesise", *map(str, words)])
    assert stopped.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("empty", ["", "  "])
def test_a_row_without_a_class_is_not_a_negative(mail, capsys, empty):
    write(mail / "mail.csv", [("1", "2", "spam"), ("2", "3", "ham"), ("3", "4", empty), ("4", "4", empty)])
    words = refused(capsys, "mail.csv", *CALL, "--out", "pu.csv")
    assert "column 'class' has no class in data row 3 (2 such rows)" in words
    assert "Leave such rows out" in words
    assert os.listdir(mail) == ["mail.csv"]


@pytest.mark.parametrize("null", [None, float("nan")])
def test_a_null_class_of_parquet_is_refused(mail, capsys, null):
    import pyarrow as pa
    import pyarrow.parquet

    pa.parquet.write_table(pa.table({"length": [1, 2, 3], "class": [1.0, 0.0, null]}), "mail.parquet")
    words = refused(capsys, "mail.parquet", "--target", "class", "--positive", "1.0", "--out", "pu.csv")
    assert "has no class in data row 3:" in words


@pytest.mark.parametrize(
    "paths",
    [
        ["--out", "a.csv", "--truth", "a.csv"],
        ["--out", "a.csv", "--truth", "./a.csv"],
        ["--out", "a.csv", "--json", "link.csv"],
        ["--out", "a.csv", "--test", "b.csv", "--truth", "folder/../b.csv", "--test-share", "0.2"],
        ["--out", "-", "--truth", "-"],
        ["--out", "mail.csv"],
        ["--out", "a.csv", "--truth", "./mail.csv"],
    ],
)
def test_no_file_may_replace_another(mail, capsys, paths):
    (mail / "folder").mkdir()
    (mail / "link.csv").symlink_to("a.csv")
    before = (mail / "mail.csv").read_bytes()
    words = "can go to standard output" if "-" in paths else "one would replace the other"
    assert words in refused(capsys, "mail.csv", *CALL, *paths)
    assert (mail / "mail.csv").read_bytes() == before
    assert sorted(os.listdir(mail)) == ["folder", "link.csv", "mail.csv"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere/t.csv", "the folder 'nowhere' does not exist"),
        ("folder", "must name a file, got 'folder', which is a folder"),
        ("", "must name a file, got ''"),
        ("truth.xlsx", "one of 'csv', 'tsv', 'tab', 'jsonl', 'ndjson', 'parquet', 'pq', 'arrow', 'feather', 'ipc'"),
        ("truth", "got none"),
        ("truth.csv.gz", "got 'gz'"),
    ],
)
def test_nothing_is_written_unless_everything_can_be(mail, capsys, path, message):
    (mail / "folder").mkdir()
    assert message in refused(capsys, "mail.csv", *CALL, "--out", "pu.csv", "--truth", path)
    assert sorted(os.listdir(mail)) == ["folder", "mail.csv"]


def test_a_file_that_fails_at_the_end_leaves_no_other_behind(mail, capsys, monkeypatch):
    synced, beside = os.fsync, []

    def full(number):
        beside.append(sorted(os.listdir(mail)))
        if any("truth" in name for name in beside[-1]):
            raise OSError(28, "No space left on device")
        synced(number)

    monkeypatch.setattr(os, "fsync", full)
    words = refused(capsys, "mail.csv", *CALL, "--out", "pu.csv", "--truth", "truth.csv")
    assert "truth.csv: cannot be written: No space left on device" in words
    assert any("pu.csv" in name for name in beside[-1])  # the first file was on the disk already, beside its place
    assert os.listdir(mail) == ["mail.csv"]


def table(path):
    import pyarrow.feather
    import pyarrow.parquet

    if path.suffix in (".csv", ".tsv"):
        with open(path, newline="") as lines:
            return list(csv.DictReader(lines, delimiter="\t" if path.suffix == ".tsv" else ","))
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    read = pyarrow.parquet.read_table if path.suffix == ".parquet" else pyarrow.feather.read_table
    return read(path).to_pylist()


@pytest.mark.parametrize("ending", ["tsv", "jsonl", "parquet", "feather"])
def test_the_ending_tells_the_format(mail, ending):
    shares = ["--test-share", "0.2"]
    main(["synthesise", "mail.csv", *CALL, "--out", "pu.csv", "--truth", "truth.csv", *shares])
    main(["synthesise", "mail.csv", *CALL, "--out", f"pu.{ending}", "--truth", f"truth.{ending}", *shares])
    for name in ("pu", "truth"):
        plain, other = table(mail / f"{name}.csv"), table(mail / f"{name}.{ending}")
        assert len(plain) == len(other) > 10
        for row, same in zip(plain, other, strict=True):
            for column, cell in row.items():
                result = same[column]
                assert cell == ("" if result is None else str(result)) or float(cell) == result
    if ending != "tsv":
        assert (type(other[0]["row"]), other[-1]["label"]) == (int, None)
        first = table(mail / f"pu.{ending}")[0]
        assert (type(first["length"]), type(first["id"])) == (float, str)  # 007 is a name, not a number


def test_types_of_parquet_stay_what_they_are(mail):
    import datetime

    import pyarrow as pa
    import pyarrow.parquet

    days = [datetime.date(2024, 1, 1 + day) for day in range(20)]
    columns = {"day": days, "small": pa.array(range(20), pa.int16()), "class": ["spam", "ham"] * 10}
    pa.parquet.write_table(pa.table(columns), "mail.parquet")
    main(["synthesise", "mail.parquet", *CALL, "--out", "pu.parquet"])
    schema = pa.parquet.read_schema("pu.parquet")
    assert [str(kind) for kind in schema.types] == ["date32[day]", "int16", "int64"]
    main(["synthesise", "mail.parquet", *CALL, "--out", "pu.csv"])
    assert table(mail / "pu.csv")[0]["day"].startswith("2024-01-")


def test_compressed_files_and_json_lines_are_read_too(mail):
    import gzip

    (mail / "mail.csv.gz").write_bytes(gzip.compress((mail / "mail.csv").read_bytes()))
    rows = table(mail / "mail.csv")
    (mail / "mail.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (mail / "mail.data").write_bytes((mail / "mail.csv").read_bytes())
    for name, more in (("mail.csv", []), ("mail.csv.gz", []), ("mail.jsonl", []), ("mail.data", ["--format", "csv"])):
        main(["synthesise", name, *CALL, *more, "--out", f"{name}-pu.csv"])
        assert (mail / f"{name}-pu.csv").read_bytes() == (mail / "mail.csv-pu.csv").read_bytes()


def test_a_pipe_takes_the_table_and_stays_a_pipe(mail):
    os.mkfifo("pipe")
    heard = []
    listener = Thread(target=lambda: heard.append((mail / "pipe").read_text()))
    listener.start()
    main(["synthesise", "mail.csv", *CALL, "--out", "pipe"])
    listener.join(10)
    assert heard[0].startswith("id,length,label\n")
    assert (mail / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("id;class\n1;spam\n2;ham\n", ["--delimiter", ","], "If columns are separated by ';', say so: --delimiter ';'"),
        ("id\tclass\n1\tspam\n2\tham\n", ["--delimiter", ","], "--format tsv"),
        ("id,class\n1,spam\n2,ham,3\n", [], "line 3 has 3 fields but the header has 2"),
        ("id,id,class\n1,1,spam\n2,2,ham\n", [], "there are 2 columns named 'id'"),
        ("id,class\n", [], "the table has no data rows"),
        ("", [], "the table has no data rows"),
        (
            "id,class\nnan,spam\n2,ham\n",
            ["--mechanism", "S2"],
            "holds 'nan' in data row 1, which is not a finite number",
        ),
        ("id,class\n1,spam\n2,ham\n", ["--feature", "idd"], "there is no column 'idd'"),
        ("id,class\n1,spam\n2,ham\n", ["--label", ""], "--label must be the name of a column"),
        ("id,class\n1,spam\n2,ham\n", ["--label", "row"], "is a column of the truth already"),
        ("id,class\n" + "x" * 200_000 + ",spam\n", [], "field larger than field limit"),
    ],
)
def test_tables_that_do_not_say_what_they_mean(mail, capsys, text, words, message):
    (mail / "mail.csv").write_text(text)
    assert message in refused(capsys, "mail.csv", *CALL, "--out", "pu.csv", "--truth", "truth.csv", *words)
    assert os.listdir(mail) == ["mail.csv"]


def test_a_whole_number_too_large_for_a_feature_is_named_with_its_place(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"x": 10**400 if place == 2 else place, "class": "spam" if place % 2 else "ham"} for place in range(8)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    message = refused(capsys, "a.jsonl", *CALL, "--mechanism", "S3", "--out", "out.csv")
    assert "'x' holds 1000" in message
    assert "not a finite number" in message
    assert len(message) < 400


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_a_whole_number_beyond_64_bits_is_refused_where_a_file_cannot_hold_it(tmp_path, capsys, monkeypatch, ending):
    monkeypatch.chdir(tmp_path)
    rows = [{"x": 10**30 if place == 2 else place, "class": "spam" if place % 2 else "ham"} for place in range(8)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    message = refused(capsys, "a.jsonl", *CALL, "--out", f"out.{ending}")
    assert f"column 'x' cannot be written as {ending}" in message
    assert os.listdir(tmp_path) == ["a.jsonl"]
