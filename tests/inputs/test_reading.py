"""Every road into the library gives the same rows."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from pulens import PulensError, Tally
from pulens.inputs import read_sample

SCORES = [0.9, 0.7, 0.7, 0.31, 0.2, 0.1]
STATUS = ["fraud", None, "unknown", "fraud", "cleared", None]
WEIGHTS = [1.0, 2.0, 1.0, 0.5, 1.0, 1.0]
CODING = {"positive": "fraud", "negative": "cleared"}
COLUMNS = {"score": "p", "label": "status", "weight": "w"}


def expected() -> Tally:
    return Tally.from_arrays(np.array([1, 0, 0, 1, -1, 0]), np.array(SCORES), np.array(WEIGHTS))


def as_text(separator: str) -> str:
    rows = [separator.join(["id", "p", "status", "w"])]
    rows += [
        separator.join([str(i), str(p), s or "", str(w)])
        for i, (p, s, w) in enumerate(zip(SCORES, STATUS, WEIGHTS, strict=True))
    ]
    return "\n".join(rows) + "\n"


def as_json_lines() -> str:
    records = [{"p": p, "status": s, "w": w} for p, s, w in zip(SCORES, STATUS, WEIGHTS, strict=True)]
    return "\n".join(json.dumps(record) for record in records)


def arrow_table() -> pa.Table:
    return pa.table({"p": SCORES, "status": STATUS, "w": WEIGHTS})


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(lambda: pd.DataFrame({"p": SCORES, "status": STATUS, "w": WEIGHTS}), id="pandas"),
        pytest.param(
            lambda: pd.DataFrame({"p": SCORES, "status": STATUS, "w": WEIGHTS}).astype({"status": "category"}),
            id="pandas categorical",
        ),
        pytest.param(lambda: pl.DataFrame({"p": SCORES, "status": STATUS, "w": WEIGHTS}), id="polars"),
        pytest.param(arrow_table, id="pyarrow"),
    ],
)
def test_frames_give_the_same_tally(table):
    assert Tally.from_sample(read_sample(table(), **COLUMNS, **CODING)) == expected()


def write_parquet(path):
    pa.parquet.write_table(arrow_table(), path)


def write_arrow(path):
    pa.feather.write_feather(arrow_table(), path)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("rows.csv", lambda path: path.write_text(as_text(","))),
        ("rows.tsv", lambda path: path.write_text(as_text("\t"))),
        ("rows.jsonl", lambda path: path.write_text(as_json_lines())),
        ("rows.csv.gz", lambda path: path.write_bytes(gzip.compress(as_text(",").encode()))),
        ("rows.csv.bz2", lambda path: path.write_bytes(bz2.compress(as_text(",").encode()))),
        ("rows.csv.xz", lambda path: path.write_bytes(lzma.compress(as_text(",").encode()))),
        ("rows.jsonl.gz", lambda path: path.write_bytes(gzip.compress(as_json_lines().encode()))),
        ("rows.parquet", write_parquet),
        ("rows.feather", write_arrow),
    ],
)
@pytest.mark.parametrize("chunk", [2, 100_000])
def test_files_give_the_same_tally_whatever_the_chunk(tmp_path, monkeypatch, name, write, chunk):
    monkeypatch.setattr("pulens.inputs.tables.chunks.CHUNK_ROWS", chunk)
    write(tmp_path / name)
    assert Tally.from_sample(read_sample(tmp_path / name, **COLUMNS, **CODING)) == expected()


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_standard_input_is_read_and_decompressed(monkeypatch, compress):
    stream = io.TextIOWrapper(io.BytesIO(compress(as_text(",").encode())))
    monkeypatch.setattr("sys.stdin", stream)
    assert Tally.from_sample(read_sample("-", **COLUMNS, **CODING)) == expected()


def test_a_byte_order_mark_and_another_delimiter_are_understood(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_text("﻿" + as_text(";"), encoding="utf-8")
    assert Tally.from_sample(read_sample(path, delimiter=";", **COLUMNS, **CODING)) == expected()


@pytest.mark.parametrize(
    "labels",
    [
        [1, 0, -1],
        [1.0, np.nan, -1.0],
        ["1", "", "-1"],
        ["1.0", None, "-1.0"],
        np.array([1, 0, -1], np.int64),
        pd.Series([1, None, -1], dtype="Int64"),
        pl.Series([1, None, -1]),
        (1, 0, -1),
    ],
)
def test_the_plain_coding_is_read_from_any_type(labels):
    np.testing.assert_array_equal(read_sample(labels, [3, 2, 1]).labels, [1, 0, -1])


@pytest.mark.parametrize(
    "labels", [[True, False], np.array([True, False]), ["True", "False"], pl.Series([True, False])]
)
def test_booleans_say_labelled_or_unlabelled(labels):
    np.testing.assert_array_equal(read_sample(labels, [2, 1]).labels, [1, 0])


def test_numbers_and_their_text_are_one_label_value():
    np.testing.assert_array_equal(read_sample(["2", "2.0", "7"], [3, 2, 1], positive=2).labels, [1, 1, 0])
    np.testing.assert_array_equal(read_sample([2, 2, 7], [3, 2, 1], positive="2", negative=["7"]).labels, [1, 1, -1])


def test_single_precision_scores_stay_single_precision():
    assert read_sample([1, 0], np.array([1, 0], np.float32)).scores.dtype == np.float32


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 0], [0.1]), {}, "same length, got 2 labels, 1 scores"),
        (([1, 0], [0.1, 0.2]), {"weights": [1]}, "same length, got 2 labels, 2 scores, 1 weights"),
        (
            ([1, 0, 0], [0.1, np.nan, np.nan]),
            {},
            r"finite numbers, got nan in row 1 \(counting from 0\) \(2 such rows\)",
        ),
        (([1, 0], [np.inf, 1]), {}, "got inf in row 0"),
        (([1, 0], ["a", 1]), {}, "scores must be numbers, got 'a' in row 0"),
        (([1, 0], [None, 1]), {}, "row 0 .* has none|got nan in row 0"),
        (([1, 0], [[0.1, 0.9], [0.2, 0.8]]), {}, r"probabilities\[:, 1\]"),
        (([1, 2, 3], [1, 2, 3]), {}, "undeclared label values 2, 3, first in row 1"),
        (([1, "maybe"], [1, 2]), {}, "undeclared label value 'maybe'"),
        ((["y", "n", "?"], [1, 2, 3]), {"positive": "y", "unlabelled": "n"}, "neither positive nor negative"),
        (([1, 0, 2], [1, 2, 3]), {"negative": 0}, "value 2, first in row 2 .*: this value was declared neither"),
        (([1, 0, -1], [1, 2, 3]), {"unlabelled": -1}, "value 0, first in row 1 .*: this value was declared neither"),
        (([1, 0, -1], [1, 2, 3]), {"negative": 0}, "value -1, first in row 2"),
        (([1, 0], [1, 2]), {"unlabelled": 1}, "the label value 1 was declared to mean something else"),
        ((["a", "b"], [1, 2]), {"positive": "a", "negative": "a"}, "two different things"),
        (([0, 0], [1, 2]), {}, "no labelled positive among 2 rows"),
        (([1, 1], [1, 2]), {}, "no unlabelled row"),
        (([], []), {}, "no rows"),
        (([1, 0], [1, 2]), {"weights": [1, -1]}, "at least 0, got -1.0 in row 1"),
        (([1, 0], [1, 2]), {"weights": [0, 1]}, "no labelled positive"),
        ((object(),), {}, "got only an object of type object"),
    ],
)
def test_bad_rows_get_an_error_that_names_them(arguments, options, message):
    with pytest.raises(PulensError, match=message):
        read_sample(*arguments, **options)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rows.csv", "", "not even a line of column names"),
        ("rows.csv", "score,label\n", "no data rows"),
        ("rows.csv", "p,label\n1,1\n", r"no column 'score' \(set by score= or --score\); the columns are 'p', 'label'"),
        ("rows.csv", "risk,outcome\n1,1\n", r"Perhaps label='outcome' and score='risk'\."),
        (
            "rows.db",
            "score,label\n",
            r"named by its address, sqlite:///.*rows\.db, and its table by table=",
        ),
        ("rows.csv", "scores,label\n1,1\n", "Did you mean 'scores'"),
        ("rows.csv", "score,label\n1\n", "line 2 has 1 fields but the header has 2"),
        ("rows.csv", "score,label\n1,1\n2,0\nx,0\n", "got 'x' in data row 3"),
        ("rows.csv", "score,label\n1,1\n,0\n", "data row 2 has none"),
        ("rows.csv", "score,label\n1,1\nnan,0\n", "got nan in data row 2"),
        ("rows.csv", "score,label\n1,yes\n0,no\n", "'yes', 'no', first in data row 1"),
        ("rows.csv", "score,score,label\n1,1,1\n", "2 columns named 'score'"),
        ("rows.jsonl", '{"score": 1, "label": 1}\n{"score": \n', "line 2 is not JSON"),
        ("rows.jsonl", "[1, 2]\n", "not a JSON object"),
        ("rows.jsonl", '{"p": 1, "label": 1}\n', "no column 'score'"),
        ("rows.parquet", "not parquet at all", "not a readable parquet file"),
        ("rows.feather", "not arrow at all", "not a readable arrow file"),
        ("rows.txt", "score,label\n", "does not show its format"),
    ],
)
def test_bad_files_get_an_error_that_names_the_place(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(PulensError, match=message) as caught:
        read_sample(path)
    assert str(path) in str(caught.value)


def test_a_truncated_compressed_file_is_refused(tmp_path):
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(as_text(",").encode())[:-12])
    with pytest.raises(PulensError, match="could not be read as csv"):
        read_sample(path, **COLUMNS, **CODING)


def test_a_missing_file_names_its_neighbour(tmp_path):
    (tmp_path / "scores.csv").write_text("score,label\n")
    with pytest.raises(PulensError, match=r"no such file\. Did you mean .*scores.csv"):
        read_sample(tmp_path / "score.csv")
    with pytest.raises(PulensError, match="this is a folder"):
        read_sample(tmp_path, format="csv")


def test_a_folder_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(PulensError, match="lake: there is no such file or folder"):
        read_sample(tmp_path / "lake")
