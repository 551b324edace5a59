"""The archive's row: its columns follow from a class, and nothing that is misspelt becomes a null."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pulens.errors import InputError
from pulens.research.benchmark.archive import RunRow, Store, read
from pulens.research.benchmark.archive.row import CIRCUMSTANCES, NEEDED, NEEDED_WHEN_DONE, SCHEMA, fields_of
from synthetic_archive import run


@pytest.fixture
def row():
    return run("nnpu", "mnist", 1, "S1", 0.1, 60, 3)


def test_every_field_is_a_column_and_every_column_a_field():
    assert SCHEMA.names == list(fields_of(RunRow))
    assert SCHEMA.field("epochs").type == pa.int32()
    assert SCHEMA.field("tallies").type.value_type.field("positive").type == pa.list_(pa.int32())
    assert {"seconds", "device", "torch"} < CIRCUMSTANCES
    assert not {"key", "settings", "choices"} & CIRCUMSTANCES
    assert "status" in NEEDED
    assert "choices" in NEEDED_WHEN_DONE


def test_a_misspelt_column_is_refused_with_the_nearest_one(row, tmp_path):
    store = Store(tmp_path).open()
    with pytest.raises(InputError, match=r"A run of the archive has no 'test_row'. Did you mean 'test_rows'\?"):
        store.add([row | {"test_row": 60}])
    assert list((tmp_path / "runs").iterdir()) == []


@pytest.mark.parametrize(
    ("column", "name", "words"),
    [
        ("choices", "acuracy", r"A choice has no 'acuracy'. Did you mean 'accuracy'\?"),
        ("curve", "second", r"A point of a learning curve has no 'second'. Did you mean 'seconds'\?"),
        ("tallies", "labeled", r"A tally has no 'labeled'. Did you mean 'labelled'\?"),
    ],
)
def test_a_misspelt_name_inside_a_column_is_refused_too(row, column, name, words):
    row[column][0] = row[column][0] | {name: 1}
    with pytest.raises(InputError, match=words):
        RunRow.of(row)


def test_a_run_without_what_every_run_has_is_refused(row):
    del row["key"]
    with pytest.raises(InputError, match="A run of the archive needs 'key'"):
        RunRow.of(row)


def test_what_was_written_is_read_back(row, tmp_path):
    store = Store(tmp_path).open()
    store.add([RunRow.of(row)])
    store.close()
    (result,) = read(tmp_path).table().to_pylist()
    assert {name: result[name] for name in row if name not in ("curve", "tallies")} == {
        name: value for name, value in row.items() if name not in ("curve", "tallies")
    }
    assert [point["epoch"] for point in result["curve"]] == [1, 2, 3]
    assert result["tallies"][0]["positive"] == row["tallies"][0]["positive"]
    assert result["rows_used"] is None
