"""JSON Lines and Arrow files through DuckDB: conditions, segments and folders mean what they mean for other formats."""

from __future__ import annotations

import pytest

from pulens.errors import InputError
from pulens.inputs import read_tallies, read_tally
from pulens.inputs.tables.writing import write_table

EVEN = {
    "missing labels": '{"score": 1, "label": 1}\n{"score": 2}\n{"score": 3, "label": 0}\n',
    "objects beside": '{"score": 1, "label": 1, "m": {"a": 1}}\n{"score": 2, "label": 0, "m": [1]}\n',
    "numbers as text": '{"score": "1.5", "label": "1"}\n{"score": "2", "label": "0"}\n',
    "numbers and text": '{"score": "1.5", "label": 1}\n{"score": 2, "label": "0"}\n',
    "booleans": '{"score": 1.5, "label": true}\n{"score": 2, "label": false}\n',
    "blank lines": '{"score": 1, "label": 1}\n\n{"score": 2, "label": 0}\n',
    "columns that come late": '{"label": 1, "score": 0}\n{"extra": 5, "score": 2, "label": 0}\n',
}
REFUSED = {
    "broken": '{"score": 1, "label": 1}\n{"score": 2,\n',
    "not a number": '{"score": NaN, "label": 1}\n{"score": 2, "label": 0}\n',
    "400 digits": '{"score": 1, "label": 1}\n{"score": ' + "9" * 400 + ', "label": 0}\n',
    "16 digits": '{"score": 9007199254740993, "label": 1}\n{"score": 1, "label": 0}\n',
    "25 digits": '{"score": 9007199254740993123456789, "label": 1}\n{"score": 1, "label": 0}\n',
    "a list": "[1, 2]\n",
    "nothing": "",
    "too deep": '{"score": 1, "label": 1, "x": ' + "[" * 100_000 + "]" * 100_000 + "}\n",
    "an object for a score": '{"score": {"a": 1}, "label": 1}\n{"score": 2, "label": 0}\n',
    "another column": '{"p": 1, "label": 1}\n{"p": 2, "label": 0}\n',
}
#: No condition, one that lets every row through, and the same to the last score.
ROADS = [{}, {"where": "true"}, {"tolerance": 0}]


@pytest.mark.parametrize("text", EVEN.values(), ids=list(EVEN))
def test_json_lines_give_the_same_counts_on_every_road(tmp_path, text):
    (tmp_path / "rows.jsonl").write_text(text)
    expected, *others = (read_tally(tmp_path / "rows.jsonl", **road) for road in ROADS)
    assert others == [expected, expected]


@pytest.mark.parametrize("text", REFUSED.values(), ids=list(REFUSED))
@pytest.mark.parametrize("road", ROADS, ids=str)
def test_json_lines_that_hold_no_scores_are_refused_on_every_road(tmp_path, text, road):
    (tmp_path / "rows.jsonl").write_text(text)
    with pytest.raises(InputError, match=r"rows\.jsonl"):
        read_tally(tmp_path / "rows.jsonl", **road)


ROWS = {"score": [1.0, 2.0, 3.0, 4.0], "label": [0, 1, 0, 1], "site": ["a", "b", "a", "b"]}


@pytest.mark.parametrize("kind", ["jsonl", "arrow"])
def test_conditions_and_segments_are_for_files_of_every_format(tmp_path, kind):
    path = tmp_path / f"rows.{kind}"
    write_table(str(path), ROWS)
    assert read_tally(path, where="label = 1 OR score < 2").thresholds.tolist() == [4, 2, 1]
    result = read_tallies(path, group_by="site")
    assert {site: tally.thresholds.tolist() for site, tally in result.items()} == {"a": [3, 1], "b": [4, 2]}


@pytest.mark.parametrize("kind", ["jsonl", "arrow"])
def test_folders_of_every_format_are_read_and_their_names_are_columns(tmp_path, kind):
    for day in (1, 2):
        folder = tmp_path / "lake" / f"day={day}"
        folder.mkdir(parents=True)
        write_table(str(folder / f"rows.{kind}"), ROWS)
    assert read_tally(tmp_path / "lake").totals == (4, 4, 0)
    assert read_tally(tmp_path / "lake", where="day = 1").totals == (2, 2, 0)


def test_a_log_beside_tables_is_no_table(tmp_path):
    write_table(str(tmp_path / "rows.parquet"), ROWS)
    (tmp_path / "log.jsonl").write_text('{"said": "done"}\n')
    assert read_tally(tmp_path).totals == (2, 2, 0)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.csv", r"none\.csv: there is no such file"),
        ("none.jsonl", r"none\.jsonl: there is no such file"),
        ("rows.csv.xz", r"rows\.csv\.xz: .* need csv files that are plain or end in \.gz"),
        ("rows.txt", r"rows\.txt: the file name does not show its format"),
    ],
)
def test_a_condition_on_what_cannot_be_read_names_the_file(tmp_path, name, said):
    if not name.startswith("none"):
        (tmp_path / name).write_text("score,label\n1,1\n2,0\n")
    with pytest.raises(InputError, match=said):
        read_tally(tmp_path / name, where="score > 1")


@pytest.mark.parametrize("cut", [20, 200, -30])
def test_a_damaged_arrow_file_is_refused_before_an_engine_sees_it(tmp_path, cut):
    path = tmp_path / "rows.arrow"
    write_table(str(path), ROWS)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match=rf"^{path}: not a readable arrow file"):
        read_tally(path, where="score > 1")


def test_labels_of_128_bits_are_labels():
    import duckdb

    with duckdb.connect() as connection:
        rows = connection.sql(
            "SELECT * FROM (VALUES (1.0::DOUBLE, 1::HUGEINT), (2.0, 0), (3.0, -1)) AS t(score, label)"
        )
        assert read_tally(rows).totals == (1, 1, 1)
