"""Tables in files: what is written is read back, whole and in chunks, in every format."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from pulens.errors import InputError, PulensError
from pulens.inputs.features import read_features
from pulens.inputs.tables.chunks import column_names, read_chunks
from pulens.inputs.tables.copying import write_mapped
from pulens.inputs.tables.formats import WRITTEN
from pulens.inputs.tables.whole import read_table
from pulens.inputs.tables.writing import table_bytes, write_table

COLUMNS = {"id": ["007", "8", "x"], "score": [0.1 + 0.2, -1e-300, 3.0], "label": [1, 0, 0], "note": ["a, b", "ü", '"']}


def values(column) -> list[str]:
    """Cells as text: CSV has nothing else."""
    plain = column.tolist() if hasattr(column, "tolist") else list(column)
    return [str(float(value)) if isinstance(value, float) else str(value) for value in plain]


@pytest.mark.parametrize("kind", WRITTEN)
def test_what_is_written_is_read_back_whole_and_in_chunks(tmp_path, monkeypatch, kind):
    path = tmp_path / f"table.{kind}"
    write_table(str(path), COLUMNS)
    assert column_names(path, kind, None) == list(COLUMNS)
    whole = read_table(path)
    assert (whole.names, len(whole)) == (list(COLUMNS), 3)
    monkeypatch.setattr("pulens.inputs.tables.chunks.CHUNK_ROWS", 2)
    with open(path, "rb") as stream:
        chunks = list(read_chunks(stream, kind, ["note", "score", "id"], None))
    assert [len(chunk[0]) for chunk in chunks] == [2, 1]
    for place, name in enumerate(["note", "score", "id"]):
        assert values(whole.column(name)) == values(COLUMNS[name])
        assert [cell for chunk in chunks for cell in values(chunk[place])] == values(COLUMNS[name])


@pytest.mark.parametrize("kind", WRITTEN)
def test_compressed_tables_are_the_tables_they_hold(tmp_path, kind):
    path = tmp_path / f"table.{kind}.gz"
    path.write_bytes(gzip.compress(table_bytes(kind, COLUMNS)))
    assert values(read_table(path).column("score")) == values(COLUMNS["score"])
    assert column_names(path, kind, None) == list(COLUMNS)


@pytest.mark.parametrize("target", WRITTEN)
@pytest.mark.parametrize("source", WRITTEN)
def test_a_mapped_column_is_added_to_rows_of_any_format(tmp_path, source, target):
    write_table(str(tmp_path / f"in.{source}"), COLUMNS)
    path = tmp_path / f"out.{target}"
    write_mapped(str(tmp_path / f"in.{source}"), str(path), lambda scores: scores / 2, score="score", column="half")
    result = read_table(path)
    assert result.names == [*COLUMNS, "half"]
    assert values(result.column("id")) == ["007", "8", "x"]  # an identifier is no number
    assert [float(value) for value in result.column("half")] == [score / 2 for score in COLUMNS["score"]]


def test_identifiers_with_zeros_in_front_stay_text_in_parquet(tmp_path):
    write_table(str(tmp_path / "in.csv"), {"id": ["007", "008"], "score": ["1", "2"]})
    write_mapped(str(tmp_path / "in.csv"), str(tmp_path / "out.parquet"), np.sqrt, score="score", column="root")
    assert read_table(tmp_path / "out.parquet").column("id") == ["007", "008"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("score,label\n1,0\n2,0,3\n", r"line 3 has 3 fields but the header has 2"),
        ("", r"the file is empty, not even a line of column names"),
        ("score,label\n1,0\n\xff,1\n", r"could not be read as csv.*UTF-8"),
    ],
)
@pytest.mark.parametrize("road", ["whole", "features", "copy"])
def test_damaged_text_is_told_alike_on_every_road_with_the_file_first(tmp_path, text, said, road):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_bytes(text.encode("latin-1"))
    roads = {
        "whole": lambda: read_table(path),
        "features": lambda: read_features(path, label=None),
        "copy": lambda: write_mapped(str(path), str(out), np.sqrt, score="score", column="root"),
    }
    with pytest.raises(PulensError, match=rf"^{path}.*{said}") as caught:
        roads[road]()
    assert str(caught.value).count(str(path)) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["in.csv"]


def test_a_full_disk_is_told_of_the_file_that_is_written(tmp_path, monkeypatch):
    import csv

    class Full:
        def __init__(self, *_, **__):
            pass

        def writerow(self, row):
            raise OSError(28, "No space left on device")

    write_table(str(tmp_path / "in.csv"), COLUMNS)
    monkeypatch.setattr(csv, "writer", Full)
    with pytest.raises(PulensError, match=r"out\.csv: cannot be written: No space left"):
        write_mapped(str(tmp_path / "in.csv"), str(tmp_path / "out.csv"), np.sqrt, score="score", column="root")
    assert [entry.name for entry in tmp_path.iterdir()] == ["in.csv"]


def test_objects_are_no_cells_of_text():
    with pytest.raises(InputError, match=r"column 'more' holds \{'a': 1\} and cannot be written as text"):
        table_bytes("csv", {"more": [{"a": 1}]})
    assert table_bytes("jsonl", {"more": [{"a": 1}]}) == b'{"more": {"a": 1}}\n'
