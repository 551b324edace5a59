"""Tables from outside: whatever they hold, one sentence and exit code 2, and never more memory than said."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

from pulens.cli import main
from pulens.counts.tally import Tally
from pulens.errors import LONGEST_MESSAGE, InputError, listed, one_message, shown
from pulens.inputs import read_sample, read_tally
from pulens.inputs.tally_files import TallyFile, read_tally_file, write_tally_file

ROWS = [(1, 0.9), (1, 0.7), (0, 0.8), (0, 0.4), (0, 0.3), (1, 0.6), (0, 0.2), (0, 0.1)]
LINES = "".join(json.dumps({"label": label, "score": score}) + "\n" for label, score in ROWS)
TABLE = "label,score\n" + "".join(f"{label},{score}\n" for label, score in ROWS)


def refused(capsys, *arguments: str) -> str:
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--scenario", "single-set", "--class-prior", "0.5"])
    said = capsys.readouterr().err.strip()
    assert end.value.code == 2
    assert "Traceback" not in said
    assert said.startswith("pulens: ")
    assert "\n" not in said
    assert len(said) <= LONGEST_MESSAGE + len("pulens: ")
    return said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"label": {"a": 1}, "score": 1}', "label values must be text or numbers, got {'a': 1} in data row 9"),
        ('{"label": [1, 2], "score": 1}', "label values must be text or numbers, got [1, 2] in data row 9"),
        ('{"label": 1, "score": [1, 2]}', "must be numbers, got [1, 2] in data row 9"),
        ('{"label": 1, "score": {"a": 1}}', "must be numbers, got {'a': 1} in data row 9"),
        ('{"label": 1, "score": ' + "9" * 400 + "}", "too large for floating point"),
        ('{"label": ' + "9" * 400 + ', "score": 1}', "undeclared label value"),
        ('{"label": ' + "9" * 5000 + ', "score": 1}', "line 9 is not JSON"),
        ("[" * 100_000, "line 9 is not a flat JSON object"),
        ('{"label": ' + '{"a": ' * 100_000, "line 9 is not a flat JSON object"),
    ],
    ids=["object", "list", "list score", "object score", "400 digits", "label", "5,000 digits", "brackets", "braces"],
)
def test_strange_values_of_json_lines_are_named(line, words, tmp_path, capsys):
    (tmp_path / "a.jsonl").write_text(f"{LINES}{line}\n")
    assert words in refused(capsys, "evaluate", str(tmp_path / "a.jsonl"))


def test_json_lines_of_lists_alone_are_refused(tmp_path, capsys):
    (tmp_path / "a.jsonl").write_text('{"label": [1, 0], "score": [0.1, 0.2]}\n' * 4)
    assert "got [1, 0] in data row 1" in refused(capsys, "evaluate", str(tmp_path / "a.jsonl"))


@pytest.mark.parametrize("library", [gzip, bz2, lzma], ids=["gz", "bz2", "xz"])
@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_damaged_compressed_files_are_refused(library, damage, tmp_path, capsys):
    whole = bytearray(library.compress(TABLE.encode() * 200))
    if damage == "cut":
        del whole[len(whole) // 2 :]
    else:
        whole[len(whole) // 2] ^= 0xFF
    (tmp_path / "a.csv").write_bytes(whole)
    refused(capsys, "evaluate", str(tmp_path / "a.csv"))


def test_damaged_arrow_offsets_are_found_before_they_are_followed(tmp_path, capsys):
    pa, feather = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
    labels = [str(label) for label, _ in ROWS]
    feather.write_feather(
        pa.table({"label": labels, "score": [score for _, score in ROWS]}),
        tmp_path / "a.arrow",
        compression="uncompressed",
    )
    whole = bytearray((tmp_path / "a.arrow").read_bytes())
    offsets = np.arange(len(ROWS) + 1, dtype=np.int32).tobytes()
    place = whole.index(offsets)
    whole[place + 8 : place + 12] = np.int32(1 << 30).tobytes()
    (tmp_path / "a.arrow").write_bytes(whole)
    assert "not a readable arrow file" in refused(capsys, "evaluate", str(tmp_path / "a.arrow"))


def test_what_parquet_says_about_damage_is_one_line(tmp_path, capsys):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"label": [1, 0, 0] * 500, "score": np.arange(1500.0)}), tmp_path / "a.parquet")
    whole = bytearray((tmp_path / "a.parquet").read_bytes())
    whole[4:60] = b"\xff" * 56
    (tmp_path / "a.parquet").write_bytes(whole)
    refused(capsys, "evaluate", str(tmp_path / "a.parquet"))


@pytest.mark.parametrize(
    "arguments", [(), ("--where", "score > 0"), ("--group-by", "label")], ids=["plain", "sql", "by"]
)
def test_a_struct_column_is_refused(arguments, tmp_path, capsys):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"label": [{"a": 1}] * len(ROWS), "score": [score for _, score in ROWS]})
    parquet.write_table(table, tmp_path / "a.parquet")
    said = refused(capsys, "evaluate", str(tmp_path / "a.parquet"), *arguments)
    assert "label" in said


@pytest.mark.parametrize("weight", ["1e19", "1e300", "9e306"])
@pytest.mark.parametrize("command", ["evaluate", "calibrate"])
def test_weights_of_more_rows_than_there_can_be_are_refused(weight, command, tmp_path, capsys):
    lines = "".join(f"{label},{score},{weight}\n" for label, score in ROWS)
    (tmp_path / "a.csv").write_text(f"label,score,w\n{lines}")
    assert "rows that a row counts for" in refused(capsys, command, str(tmp_path / "a.csv"), "--weight", "w")


def test_counts_of_a_tally_file_do_not_go_round(tmp_path, capsys):
    huge = np.array([9 << 59, 9 << 59, 9 << 59])
    tally = Tally(np.array([3.0, 2.0, 1.0]), *(np.array([1, 2, 3]) for _ in range(3)))
    write_tally_file(tmp_path / "a.tally", TallyFile.of(tally, source="a"))
    from pyarrow import array, parquet

    table = parquet.read_table(tmp_path / "a.tally")
    place = table.column_names.index("unlabelled")
    parquet.write_table(table.set_column(place, "unlabelled", array(huge)), tmp_path / "a.tally")
    assert "at most 1e+15" in refused(capsys, "evaluate", str(tmp_path / "a.tally"))


@pytest.mark.parametrize("parts", [None, 3, "a", {}, [], [3], [{}], [{"digest": 3}], [[]]], ids=str)
def test_tally_metadata_of_another_shape_is_refused(parts, tmp_path):
    from pyarrow import parquet

    tally = Tally.from_arrays(np.array([1, 0]), np.array([0.5, 0.25]))
    write_tally_file(tmp_path / "a.tally", TallyFile.of(tally, source="a"))
    table = parquet.read_table(tmp_path / "a.tally")
    told = json.dumps({"format": 1, "pulens": "1", "parts": parts})
    parquet.write_table(table.replace_schema_metadata({b"pulens": told}), tmp_path / "a.tally")
    with pytest.raises(InputError, match="must list its parts"):
        read_tally_file(tmp_path / "a.tally")


def test_the_default_prior_stands_scores_near_the_largest_double():
    rng = np.random.default_rng(0)
    positive = rng.random(2000) < 0.4
    labels = (positive & (rng.random(2000) < 0.5)).astype(int)
    scores = rng.normal(positive * 1.5)
    from pulens.priors import estimate_prior

    small = estimate_prior(labels, scores, scenario="single-set")
    large = estimate_prior(labels, scores / np.abs(scores).max() * 1.7e308, scenario="single-set")
    assert large.value == pytest.approx(small.value, rel=1e-6)


def test_the_default_prior_stands_a_known_negative_that_is_worlds_away():
    from pulens.priors import estimate_prior

    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0, -1], [40, 80, 5])
    scores = rng.normal(labels == 1)
    scores[-1] = 1e307  # beside it, all that is labelled or unlabelled is one point
    result = estimate_prior(labels, scores, negative=-1, scenario="case-control")
    assert 0 < result.value < 1


def test_long_values_are_cut_in_every_message(tmp_path, capsys):
    (tmp_path / "a.csv").write_text(f"{TABLE}1,{'z' * 100_000}\n")
    assert "'zzz" in refused(capsys, "evaluate", str(tmp_path / "a.csv"))
    (tmp_path / "b.csv").write_text(f"{TABLE}{'z' * 100_000},1\n")
    assert "'zzz" in refused(capsys, "evaluate", str(tmp_path / "b.csv"))
    refused(capsys, "evaluate", str(tmp_path / "a.csv"), "--score", "y" * 100_000)
    (tmp_path / "c.csv").write_text(",".join("x" * 1000 + str(place) for place in range(100)) + "\n1\n")
    assert "columns are" in refused(capsys, "evaluate", str(tmp_path / "c.csv"))
    assert len(shown("x" * 1000)) == 60
    assert len(listed(["x" * 1000] * 1000)) < 300
    assert len(one_message("x " * 1000)) == LONGEST_MESSAGE


def test_one_long_cell_does_not_give_every_row_its_room(tmp_path):
    lines = "1,0.5\n" * 50_000
    (tmp_path / "a.csv").write_text(f"label,score\n{lines}0,0.{'3' * 100_000}\n{'0' * 100_000},0.5\n")
    assert len(read_sample(tmp_path / "a.csv")) == 50_002  # twenty gigabytes as an array of text


@pytest.mark.parametrize(
    "name",
    ["/", "a" * 5000, "b/" * 3000, f"{'c' * 300}.csv", "a\0b.csv", "://", "http://[::1", "sqlite://", "ftp://x/y",
     "postgresql://h:port/x", "sqlite:///a.csv?timeout=abc", "duckdb:///", f"x://{'y' * 5000}"],
    ids=lambda name: repr(name[:12]),
)  # fmt: skip
def test_names_that_nothing_can_have_are_refused(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(TABLE)
    refused(capsys, "evaluate", name)


def test_letters_that_a_terminal_would_obey_are_written_out():
    said = one_message("not readable: \x1b]0;title\x07 \x9b2J é")
    assert said == r"not readable: \x1b]0;title\x07 \x9b2J é"


def test_a_model_in_a_place_that_cannot_be_is_refused(tmp_path, capsys):
    rows = tmp_path / "rows.csv"
    rows.write_text("label,a\n1,2\n0,1\n")
    for name in ("a\0b", "x" * 300):
        with pytest.raises(SystemExit) as end:
            main(["train", str(rows), "--method", "naive", "--out", name])
        assert end.value.code == 2
        assert "which no file can have" in capsys.readouterr().err


def test_an_address_with_words_that_its_driver_ignores_says_nothing_of_it(tmp_path, monkeypatch):
    """SQLAlchemy's warning would go to the terminal; with warnings as errors it would be one here."""
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("db.sqlite")) as database, database:
        database.execute("CREATE TABLE t (label REAL, score REAL)")
        database.executemany("INSERT INTO t VALUES (?, ?)", [(place % 2, place) for place in range(20)])
    tally = read_tally("sqlite:///db.sqlite?password=secret", table="t")
    assert tally.totals.rows == 20


def test_a_line_without_an_end_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("pulens.inputs.tables.streams.LONGEST_LINE", 1 << 20)
    with gzip.open(tmp_path / "a.csv.gz", "wb") as file:
        file.write(b"label,score\n1," + b"0" * (3 << 20))
    assert "line 2 is longer than" in refused(capsys, "evaluate", str(tmp_path / "a.csv.gz"))
    with gzip.open(tmp_path / "a.jsonl.gz", "wb") as file:
        file.write(b" " * (3 << 20))
    assert "line 1 is longer than" in refused(capsys, "evaluate", str(tmp_path / "a.jsonl.gz"))


@pytest.mark.parametrize("negative", [0, -1])
def test_rows_counted_in_parts_give_the_same_tally(negative, tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    labels, scores = rng.choice([1, 0, negative], 1000), rng.integers(0, 50, 1000) / 8
    (tmp_path / "a.csv").write_text(
        "label,score\n" + "".join(f"{a},{b}\n" for a, b in zip(labels, scores, strict=True))
    )
    whole = read_tally(tmp_path / "a.csv")
    monkeypatch.setattr("pulens.inputs.tables.chunks.CHUNK_ROWS", 7)
    monkeypatch.setattr("pulens.inputs.files.HELD_ROWS", 20)
    assert read_tally(tmp_path / "a.csv") == whole


def test_what_cannot_be_held_is_refused_and_says_how_much_it_needs(tmp_path, capsys, monkeypatch):
    lines = "".join(f"{row % 2},{row}\n" for row in range(100))
    (tmp_path / "a.csv").write_text(f"label,score\n{lines}")
    tally = read_tally(tmp_path / "a.csv")
    write_tally_file(tmp_path / "a.tally", TallyFile.of(tally, source="a"))
    monkeypatch.setattr("pulens.inputs.memory.free_memory", lambda: 2000)
    monkeypatch.setattr("pulens.inputs.tables.chunks.CHUNK_ROWS", 10)
    monkeypatch.setattr("pulens.inputs.files.HELD_ROWS", 20)
    for arguments in (("evaluate", "a.csv"), ("evaluate", "a.tally")):
        said = refused(capsys, arguments[0], str(tmp_path / arguments[1]))
        assert "GB of memory" in said
    with pytest.raises(InputError, match="holding 100 rows and more needs about"):
        read_sample(tmp_path / "a.csv")


# what the system says about a process's use would begin with that of the tests, which started it
MEASURE = """
import re, resource, sys
from pathlib import Path
from pulens.inputs import read_tally
tally = read_tally(sys.argv[1])
status = Path("/proc/self/status")
if status.exists():
    most = int(re.search(r"VmHWM:\\s*(\\d+)", status.read_text())[1]) * 1024
else:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(tally.totals.rows, most)
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "none"])
def test_many_rows_in_few_bytes_stay_small_in_memory(engine, tmp_path):
    """Sixty million rows here, 300 million in docs/project/security.md: memory does not go by the rows."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = 5_000_000
    kinds = {"label": pa.int8(), "score": pa.float64()}
    with parquet.ParquetWriter(tmp_path / "a.parquet", pa.schema(kinds), data_page_size=1 << 30) as writer:
        for part in range(12):
            columns = {"label": np.full(rows, part == 0, np.int8), "score": np.full(rows, 0.5)}
            writer.write_table(pa.table(columns, pa.schema(kinds)), row_group_size=rows)
    assert (tmp_path / "a.parquet").stat().st_size < 1 << 20
    source = MEASURE
    if engine == "none":
        source = "import pulens.inputs.tallies as t; t._is_large = lambda *_: False\n" + MEASURE
    done = subprocess.run(
        [sys.executable, "-c", source, str(tmp_path / "a.parquet")], capture_output=True, text=True, check=True
    )
    counted, most = done.stdout.split()
    assert float(counted) == 12 * rows
    assert int(most) < 500e6  # one byte and eight for each row would be 540 MB, before anything is counted


def test_segments_of_a_file_that_is_not_there_are_refused(tmp_path, capsys):
    said = refused(capsys, "evaluate", str(tmp_path / "nope.csv"), "--group-by", "site", "--same-prior")
    assert "there is no such file" in said


def test_label_noise_that_leaves_no_labelled_positive_is_refused(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("label,score\n" + TABLE.partition("\n")[2] * 30)
    with pytest.raises(SystemExit) as end:
        main(
            [
                "evaluate",
                "--labelling",
                "random",
                str(tmp_path / "a.csv"),
                "--scenario",
                "single-set",
                "--label-noise",
                "0.999999",
            ]
        )
    assert end.value.code == 2
    assert "almost no labelled positive" in capsys.readouterr().err


def test_objects_beside_the_scores_cannot_be_written_as_text(tmp_path, capsys):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"label": [row[0] for row in ROWS] * 20, "score": [row[1] for row in ROWS] * 20}
    parquet.write_table(pa.table({**columns, "more": [{"a": 1}] * 160}), tmp_path / "a.parquet")
    out = tmp_path / "out.csv"
    said = refused(capsys, "calibrate", str(tmp_path / "a.parquet"), "--fit", "isotonic", "--out", str(out))
    assert "cannot be written as text" in said
    assert not out.exists()


def test_factors_beyond_the_doubles_are_refused(tmp_path, capsys):
    (tmp_path / "a.csv").write_text(TABLE)
    assert "a factor from 1 to 1e+06" in refused(capsys, "evaluate", str(tmp_path / "a.csv"), "--sensitivity", "1e300")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_decompressor_that_says_only_once_what_is_wrong_is_heard(ending, tmp_path, capsys, monkeypatch):
    """From Python 3.12 on bz2 fails with another kind of error when it is asked again."""
    from pulens.inputs.tables import streams

    class Once(io.RawIOBase):
        failed = False

        def readable(self):
            return True

        def readinto(self, buffer):
            if self.failed:
                raise ValueError("unusable after a previous error")
            self.failed = True
            raise OSError("invalid data stream")

    (tmp_path / f"a.{ending}.bz2").write_bytes(b"BZh9" + b"x" * 50)
    monkeypatch.setitem(streams.COMPRESSIONS, b"BZh", lambda raw, mode: io.BufferedReader(Once()))
    assert "invalid data stream" in refused(capsys, "evaluate", str(tmp_path / f"a.{ending}.bz2"))
