"""Tables as people have them: Excel sheets, semicolons, decimal commas, thousands, other encodings, dates.

Each is read, or refused with the very option to add; the same rows give the same counts however they are written.
"""

from __future__ import annotations

import csv
import gzip
import io

import numpy as np
import pytest
from click.testing import CliRunner

from pulens.cli import app
from pulens.errors import InputError, PulensError
from pulens.inputs import read_tally
from pulens.inputs.tables.dialect import Dialect, way_out_of


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    scores = np.round(rng.normal(2500, 1500, 60), 2)
    return list(zip(scores.tolist(), (rng.random(60) < 0.3).astype(int).tolist(), ["ost", "süd"] * 30, strict=True))


@pytest.fixture(scope="module")
def plain(rows):
    return read_tally([label for _, label, _ in rows], [score for score, _, _ in rows])


def german(value):
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


WRITINGS = {
    "semicolons and decimal commas": (";", lambda value: f"{value:.2f}".replace(".", ","), "utf-8", {"decimal": ","}),
    "german thousands": (";", german, "utf-8", {"decimal": ",", "thousands": "."}),
    "english thousands": (",", lambda value: f"{value:,.2f}", "utf-8", {"thousands": ","}),
    "french thousands": (
        *(";", lambda value: f"{value:,.2f}".replace(",", "\u202f").replace(".", ","), "utf-8"),
        {"decimal": ",", "thousands": " "},
    ),
    "swiss thousands": ("\t", lambda value: f"{value:,.2f}".replace(",", "’"), "utf-8", {"thousands": "'"}),
    "UTF-16 with a mark": (",", str, "utf-16", {}),
    "UTF-16 big end first": (",", lambda value: str(value), "utf-16-be", {"encoding": "utf-16-be"}),
    "windows-1252": (",", str, "windows-1252", {"encoding": "windows-1252"}),
}


def written(folder, rows, separator, spell, encoding):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator)
    writer.writerow(["score", "label", "größe"])
    writer.writerows([spell(score), label, place] for score, label, place in rows)
    path = folder / ("table.tsv" if separator == "\t" else "table.csv")
    path.write_bytes(text.getvalue().encode(encoding))
    return path


@pytest.mark.parametrize("which", WRITINGS)
def test_the_same_rows_are_counted_however_they_are_written(tmp_path, rows, plain, which):
    separator, spell, encoding, said = WRITINGS[which]
    path = written(tmp_path, rows, separator, spell, encoding)
    asked = {**said, **({"delimiter": separator} if separator == ";" else {})}
    assert read_tally(path, **asked) == plain
    assert read_tally(path, **asked, where="1 = 1") == plain  # by the engine


def test_a_compressed_file_of_utf_16_is_read(tmp_path, rows, plain):
    path = written(tmp_path, rows, ",", str, "utf-16")
    packed = tmp_path / "table.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_tally(packed) == plain


def workbook(path, rows, **more):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["score", "label", "größe"])
    for row in rows:
        sheet.append(list(row))
    for name, cells in more.items():
        other = book.create_sheet(name)
        for row in cells:
            other.append(row)
    book.save(path)
    return path


def test_an_excel_sheet_is_read_and_counted_by_segment(tmp_path, rows, plain):
    path = workbook(tmp_path / "table.xlsx", rows, Empty=[])
    assert read_tally(path) == plain
    assert read_tally(path, where="score > -1e9") == plain
    result = CliRunner().invoke(
        app,
        ["evaluate", "--labelling", "random", str(path), "--class-prior", "0.4", "--group-by", "größe", "--same-prior"],
    )
    assert result.exit_code == 0
    assert "süd" in result.output


def test_one_of_several_sheets_must_be_named(tmp_path, rows, plain):
    path = workbook(tmp_path / "table.xlsx", rows, **{"my notes": [["a"], ["b"]]})
    with pytest.raises(InputError, match=r"2 sheets, 'Sheet', 'my notes': say which, sheet='Sheet' \(--sheet Sheet"):
        read_tally(path)
    assert read_tally(path, sheet="Sheet") == plain
    with pytest.raises(InputError, match=r"there is no sheet 'shet'.*Did you mean 'Sheet'"):
        read_tally(path, sheet="shet")


@pytest.mark.parametrize("ending", ["xls", "ods", "xlsb"])
def test_files_of_other_spreadsheets_are_told_how_to_be_saved(tmp_path, ending):
    (tmp_path / f"table.{ending}").write_bytes(b"anything")
    with pytest.raises(InputError, match=rf"a \.{ending} file is not read\. Save it as \.xlsx"):
        read_tally(tmp_path / f"table.{ending}")


REFUSED = {
    "a decimal comma": (";", lambda value: f"{value:.2f}".replace(".", ","), {"delimiter": ";"}, r"--decimal , on"),
    "german": (";", german, {"delimiter": ";"}, r"--decimal , --thousands \. on"),
    "thousands": (";", lambda value: f"{value:,.2f}", {"delimiter": ";"}, r"--thousands , on"),
    "a point where a comma was said": (
        *(";", str, {"delimiter": ";", "decimal": ","}),
        r"none with decimal=','\. Say neither decimal= nor thousands= \(--decimal, --thousands\)\.",
    ),
    "dates": (",", lambda value: "2024-02-29", {}, "That is a date, not a score: name another column"),
    "dates of another country": (",", lambda value: "29.02.2024 12:30", {}, "That is a date"),
    "per cent": (",", lambda value: f"{value}%", {}, "divide by 100"),
    "another separator": (";", str, {}, "--delimiter ';' on"),
    "another separator and decimal commas": (
        *(";", lambda value: f"{value:.2f}".replace(".", ","), {}),
        r"--delimiter ';' on.*\(--decimal ,\) too",
    ),
}


@pytest.mark.parametrize("which", REFUSED)
def test_what_is_not_read_is_refused_with_the_option_to_add(tmp_path, rows, which):
    separator, spell, said, way_out = REFUSED[which]
    path = written(tmp_path, rows, separator, spell, "utf-8")
    with pytest.raises(InputError, match=way_out) as refused:
        read_tally(path, **said)
    assert len(str(refused.value)) - len(str(path)) < 400


def test_another_encoding_is_refused_with_the_option_to_add(tmp_path, rows):
    path = written(tmp_path, rows, ",", str, "windows-1252")
    with pytest.raises(InputError, match="--encoding windows-1252 on the command line"):
        read_tally(path)
    path = written(tmp_path, rows, ",", str, "utf-16-le")
    with pytest.raises(InputError, match="--encoding utf-16-le"):
        read_tally(path)


def test_a_number_between_two_writings_is_refused_rather_than_misread(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text("score;label\n0,5;1\n1.234;0\n")
    for said in ({}, {"where": "1 = 1"}):  # 1.234 is either one thousand or one
        with pytest.raises(InputError, match=r"1\.234"):
            read_tally(path, delimiter=";", decimal=",", **said)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"decimal": ";"}, "decimal must be '.' or ','"),
        ({"thousands": "x"}, "thousands must be"),
        ({"decimal": ",", "thousands": ","}, "cannot mean two things"),
        ({"encoding": "zip"}, "encoding must be the name of one"),
        ({"encoding": "a\0b"}, "encoding must be the name of one"),
        ({"sheet": "x"}, "names a sheet of an Excel file, and this is csv"),
    ],
)
def test_a_writing_that_cannot_be_is_refused(tmp_path, said, words):
    path = tmp_path / "table.csv"
    path.write_text("score,label\n0.5,1\n0.2,0\n")
    with pytest.raises(PulensError, match=words):
        read_tally(path, **said)


def test_a_writing_said_of_a_file_that_has_none_is_refused(tmp_path):
    path = tmp_path / "table.jsonl"
    path.write_text('{"score": 1, "label": 1}\n{"score": 0, "label": 0}\n')
    with pytest.raises(InputError, match="this is jsonl, which says itself what its numbers are"):
        read_tally(path, decimal=",")


@pytest.mark.parametrize("cell", ["1.2.3", "1,23,456", "", "abc", "--1", "1.23.456,7"])
def test_odd_cells_get_no_false_advice(cell):
    assert "--decimal" not in way_out_of(cell)


def test_groups_of_thousands_have_three_digits():
    dialect = Dialect(decimal=",", thousands=".")
    assert dialect.plain("1.234.567,89") == "1234567.89"
    assert dialect.plain("12,5") == "12.5"
    assert dialect.plain("1234,5") == "1234.5"
    assert dialect.plain("1.23,5") is None
    assert dialect.plain("0.123") is None
    assert dialect.plain(".5") is None
    assert dialect.plain(",5") == ".5"


def test_missing_columns_are_named_together_with_what_sets_each(tmp_path):
    import polars

    table = polars.DataFrame({"p": [0.9, 0.1], "status": ["yes", ""]})
    places = {"csv": table.write_csv, "parquet": table.write_parquet, "jsonl": table.write_ndjson}
    said = r"neither a column 'label' \(set by label= or --label\) nor 'score' \(score= or --score\); the columns are"
    for ending, write in places.items():
        write(tmp_path / f"table.{ending}")
        with pytest.raises(InputError, match=said):
            read_tally(tmp_path / f"table.{ending}")
        with pytest.raises(InputError, match=said):
            read_tally(tmp_path / f"table.{ending}", where="1 = 1")
    with pytest.raises(InputError, match=said):
        read_tally(table)
    with pytest.raises(InputError, match=said):
        read_tally(table.lazy())
    with pytest.raises(InputError, match=r"no column 'lable' \(set by label= or --label\)"):
        read_tally(table.rename({"p": "score"}), label="lable")


def test_labels_in_a_sheet_may_be_words_numbers_or_truth_values(tmp_path):
    for values in ([1, 0, None], [True, False, False], ["yes", "no", None]):
        path = workbook(tmp_path / "labels.xlsx", zip([0.9, 0.5, 0.1], values, "abc", strict=True))
        said = {"positive": "yes"} if "yes" in values else {}
        assert read_tally(path, **said).totals[:2] == (1, 2)


def test_features_with_decimal_commas_are_learned_from(tmp_path, capsys):
    from pulens.cli import main

    rng = np.random.default_rng(3)
    hidden = rng.random(120) < 0.4
    cells = [f"{value:.3f}".replace(".", ",") for value in rng.normal(2.0 * hidden)]
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(["x;y", *(f"{cell};{int(one)}" for cell, one in zip(cells, hidden, strict=True))]))
    written = ["--delimiter", ";", "--label", "y"]
    asked = ["train", str(file), *written, "--method", "elkan_noto", "--out", str(tmp_path / "m")]
    with pytest.raises(SystemExit) as end:
        main(asked)
    assert end.value.code == 2
    assert "A decimal comma? Say --decimal ," in capsys.readouterr().err
    main([*asked, "--decimal", ","])
    main(["score", str(tmp_path / "m"), str(file), *written[:2], "--decimal", ",", "--out", str(tmp_path / "s.csv")])
    scores = np.loadtxt(tmp_path / "s.csv", delimiter=",", skiprows=1, ndmin=2)[:, -1]
    assert scores[hidden].mean() > scores[~hidden].mean()


def test_texts_in_a_table_in_memory_are_read_by_what_is_said_of_them(tmp_path):
    import pandas
    import polars

    columns = {"score": ["0,5", "1.200,25", "0,1"], "label": [1, 0, 0]}
    said = {"decimal": ",", "thousands": "."}
    expected = read_tally([1, 0, 0], [0.5, 1200.25, 0.1])
    for table in (pandas.DataFrame(columns), polars.DataFrame(columns)):
        assert read_tally(table, **said) == expected
        with pytest.raises(InputError, match="--decimal ,"):
            read_tally(table)
        with pytest.raises(InputError, match="sheet='x' is about files, and the rows were not given as one"):
            read_tally(table, sheet="x")
    assert read_tally(columns["label"], np.array(columns["score"]), **said) == expected
    with pytest.raises(InputError, match="a LazyFrame has types of its own: cast the column"):
        read_tally(polars.DataFrame(columns).lazy(), **said)
    with pytest.raises(InputError, match="a database has types of its own"):
        read_tally(f"sqlite:///{tmp_path}/x.sqlite", table="t", **said)


@pytest.mark.parametrize("day", ["31.12.2025", "12/31/2025"])
def test_dates_in_another_order_are_refused_with_the_order_that_is_read(tmp_path, day):
    from pulens.inputs import read_windows
    from pulens.inputs.periods import Period

    path = tmp_path / "days.csv"
    path.write_text(f"score,label,day\n0.5,1,{day}\n0.2,0,{day}\n")
    with pytest.raises(InputError, match=r"got '.*2025'\. Write the year first: 2026-05-04"):
        read_windows(path, periods=[Period("day", "week")])
