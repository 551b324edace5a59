"""Small Excel files that mean very much: far cells, sizes that are not true, document types in another encoding."""

from __future__ import annotations

import re
import zipfile

import pytest

pytest.importorskip("openpyxl")
from pulens.errors import InputError
from pulens.inputs.tables.excel import excel_bytes, read_excel

SHEET = "xl/worksheets/sheet1.xml"
COLUMNS = {"row": [7, 8, 9], "answer": ["yes", "no", None]}


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "queue.xlsx"
    path.write_bytes(excel_bytes(COLUMNS))
    return path


def change(path, edit):
    with zipfile.ZipFile(path) as pack:
        parts = {name: pack.read(name) for name in pack.namelist()}
    before = parts[SHEET]
    parts[SHEET] = edit(before)
    assert parts[SHEET] != before
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, content in parts.items():
            pack.writestr(name, content)


def sized(size):
    return lambda sheet: re.sub(rb"<dimension[^>]*>", size, sheet)


@pytest.mark.parametrize("size", [b"", b'<dimension ref="A1:XFD1048576"/>', b'<dimension ref="A1"/>'])
def test_what_a_file_says_of_its_size_does_not_matter(written, size):
    change(written, sized(size))
    table = read_excel(written)
    assert table.names == ["row", "answer"]
    assert table.column("answer") == ["yes", "no", None]


def test_a_row_that_excel_itself_has_not_is_refused(written):
    change(written, sized(b""))
    change(written, lambda sheet: sheet.replace(b'<row r="4"', b'<row r="999999999"'))
    with pytest.raises(InputError, match="more than 1,048,576 rows"):
        read_excel(written)


def test_a_row_far_below_all_others_is_refused(written):
    change(written, lambda sheet: sheet.replace(b'<row r="4"', b'<row r="20000"'))
    with pytest.raises(InputError, match="row 20,000 follows 19,996 blank ones"):
        read_excel(written)


def test_blank_rows_at_the_end_are_left_out_and_those_between_are_kept(written):
    blank = b"".join(b'<row r="%d"><c r="A%d"/></row>' % (place, place) for place in range(9, 12_000))
    change(written, lambda sheet: sheet.replace(b"</sheetData>", blank + b"</sheetData>"))
    change(written, lambda sheet: sheet.replace(b'<row r="4"', b'<row r="6"').replace(b'r="A4"', b'r="A6"'))
    assert read_excel(written).column("row") == [7, 8, None, None, 9]


def test_a_document_type_is_found_in_any_encoding(written):
    head = '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a [<!ENTITY x "y">]>'
    change(written, lambda sheet: (head + sheet.decode().partition("?>")[2]).encode("utf-16"))
    with pytest.raises(InputError, match="declares a document type of its own"):
        read_excel(written)
