"""Excel files: one sheet of plain cells, text always as text, never as a formula, and the same bytes every time."""

from __future__ import annotations

import io
import re
import shlex
import warnings
import zipfile
from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from pulens.errors import InputError, MissingDependencyError, cut, listed, nearest, shown
from pulens.inputs.columns import is_null
from pulens.inputs.tables.inert import is_formula
from pulens.inputs.tables.whole import Table

LONGEST_CELL = 32_767  # characters, as Excel has it
LARGEST_WHOLE = 10**15  # Excel shows and keeps fifteen digits
MOST_ROWS = 1_048_576  # of a sheet, as Excel has it
MOST_CELLS = 20_000_000
MOST_BLANK = 10_000  # rows between two that hold something
MOST_UNPACKED = 256 << 20  # bytes of a file when unpacked; a small one may hold endless blanks
_FIXED = datetime(2000, 1, 1)  # of every file: when it was written is nobody's business
_REFUSED = re.compile("[\ud800-\udfff\ufffe\uffff]")
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f]|_(?=x[0-9A-Fa-f]{4}_)")  # as _x000D_, the format's own way
_FORMULA = re.compile(rb"<(?:\w+:)?f[ >/]")
_WRITTEN = re.compile("_x([0-9A-Fa-f]{4})_")


def openpyxl_for(purpose: str) -> Any:
    """The library that reads and writes such files."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingDependencyError("openpyxl", purpose=purpose, extra="excel") from error
    return openpyxl


def excel_bytes(columns: Mapping[str, Any]) -> bytes:
    """A table as the file of one sheet, its first row frozen."""
    openpyxl = openpyxl_for("writing Excel files")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "rows"
    sheet.freeze_panes = "A2"
    for place, name in enumerate(columns, start=1):
        _put(sheet.cell(1, place), name, name)
    for place, (name, values) in enumerate(columns.items(), start=1):
        for row, value in enumerate(values, start=2):
            if not is_null(value):
                _put(sheet.cell(row, place), value, name)
    written = io.BytesIO()
    book.save(written)
    return _without_dates(written)


def _put(cell: Any, value: Any, name: str) -> None:
    is_number = isinstance(value, float) or (isinstance(value, int) and abs(value) < LARGEST_WHOLE)
    if isinstance(value, bool) or not is_number:
        value = str(value)
        if len(value) > LONGEST_CELL or _REFUSED.search(value):
            raise InputError(
                f"column {shown(name)} holds {shown(value)}, which an Excel file cannot hold: a cell has at most "
                f"{LONGEST_CELL:,} characters, all of them text. Write .csv or .parquet instead."
            )
        value = _ESCAPED.sub(lambda result: f"_x{ord(result.group()):04X}_", value)
    cell.value = value
    if isinstance(value, str):
        cell.data_type = "s"  # whatever it begins with
        cell.quotePrefix = is_formula(value)  # so that it stays text when somebody edits it


def _without_dates(written: io.BytesIO) -> bytes:
    """The same file with the times of its making taken out: equal tables are equal bytes."""
    result = io.BytesIO()
    stamp = f"{_FIXED.isoformat()}Z".encode()
    with zipfile.ZipFile(written) as given, zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as made:
        for name in given.namelist():
            content = given.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", stamp, content)
            made.writestr(zipfile.ZipInfo(name, _FIXED.timetuple()[:6]), content, zipfile.ZIP_DEFLATED)
    return result.getvalue()


def read_excel(path: str | Path) -> Table:
    """The first sheet of a file: names in its first row, cells as Python values, empty ones as ``None``."""
    openpyxl_for("reading Excel files")
    try:
        return _sheet(Path(path).read_bytes(), lambda book: book.worksheets[0].title)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def sheet_of(content: bytes, sheet: str | None = None) -> Table:
    """A sheet of a file by its name, or the only one that holds anything."""
    return _sheet(content, lambda book: _chosen(book, sheet))


def _sheet(content: bytes, chosen: Callable[[Any], str]) -> Table:
    openpyxl = openpyxl_for("reading Excel files")
    try:
        formulas = _holds_formulas(content)
        with warnings.catch_warnings():  # about styles and the like, which nobody here looks at
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            sheet = chosen(book)
            rows = _rows(book[sheet])
            if formulas:
                _refuse_without_result(openpyxl.load_workbook(io.BytesIO(content), read_only=True)[sheet], rows)
    except InputError:
        raise
    except Exception as error:  # openpyxl raises whatever a damaged part happens to cause
        said = cut(" ".join(str(error).split()), 200)
        raise InputError(f"not a readable Excel file: {said or type(error).__name__}.") from error
    return _table(rows)


def _chosen(book: Any, sheet: str | None) -> str:
    """The sheet that was named; without a name the one that holds something, if there is one such sheet."""
    names = [one.title for one in book.worksheets]
    if sheet is not None:
        if sheet in names:
            return sheet
        raise InputError(f"there is no sheet {shown(sheet)}; the sheets are {listed(names)}.{nearest(sheet, names)}")
    filled = [one.title for one in book.worksheets if _holds_something(one)]
    if len(filled) > 1:
        raise InputError(
            f"the file has {len(filled)} sheets, {listed(filled)}: say which, sheet={filled[0]!r} (--sheet "
            f"{shlex.quote(filled[0])} on the command line)."
        )
    return str(filled[0] if filled else names[0])


def _holds_something(sheet: Any) -> bool:
    sheet.reset_dimensions()
    rows = islice(sheet.iter_rows(values_only=True), MOST_BLANK)
    return any(value is not None for row in rows for value in row)


def _rows(sheet: Any) -> list[list[Any]]:
    """The rows of a sheet, as long as each one is; blank ones at its end are left out.

    What a file says of its size may be anything, and one cell in a far place makes a small file mean a million rows.
    """
    sheet.reset_dimensions()
    rows: list[list[Any]] = []
    cells = blank = 0
    for place, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells += len(row)
        if place > MOST_ROWS or cells > MOST_CELLS:
            raise _too_many()
        if all(value is None for value in row):
            blank += 1
            continue
        if blank > MOST_BLANK:
            raise InputError(f"row {place:,} follows {blank:,} blank ones. Remove what is so far down.")
        rows += [[] for _ in range(blank)]
        rows.append(list(row))
        blank = 0
    return rows


def _too_many() -> InputError:
    most = f"{MOST_ROWS:,} rows or {MOST_CELLS:,} cells"
    return InputError(f"the sheet has more than {most}, which is too many to fill in by hand.")


def _holds_formulas(content: bytes) -> bool:
    """Whether any sheet computes something; what would swell or declares a document type is refused on the way."""
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        if sum(part.file_size for part in parts.infolist()) > MOST_UNPACKED:
            raise InputError(f"holds more than {MOST_UNPACKED:,} bytes when unpacked; no such file needs it.")
        for part in parts.namelist():
            # whatever the encoding: Excel writes UTF-8
            if part.endswith((".xml", ".rels")) and b"<!DOCTYPE" in parts.read(part).replace(b"\0", b""):
                raise InputError(f"not a readable Excel file: {part} declares a document type of its own.")
        return any(_FORMULA.search(parts.read(part)) for part in parts.namelist() if "worksheets/" in part)


def _refuse_without_result(sheet: Any, rows: list[list[Any]]) -> None:
    """A formula that no spreadsheet program has worked out yet would pass for an empty cell."""
    sheet.reset_dimensions()
    for values, row in zip(rows, sheet.iter_rows(), strict=False):
        for cell, value in zip(row, values, strict=False):
            if cell.data_type == "f" and value is None:
                raise InputError(
                    f"the cell {cell.coordinate} holds a formula without a result. Save the file in a "
                    "spreadsheet program, which stores results, or write the value itself."
                )


def _table(rows: list[list[Any]]) -> Table:
    if not rows:
        raise InputError("the sheet is empty.")
    width = max((place + 1 for place, name in enumerate(rows[0]) if name is not None), default=0)
    if width * len(rows) > MOST_CELLS:
        raise _too_many()
    names = ["" if name is None else str(name) for name in rows[0][:width]]
    names = [_unescaped(name) for name in names]
    body = [(row + [None] * width)[:width] for row in rows[1:]]
    return Table(names, [[_unescaped(row[place]) for row in body] for place in range(width)])


def _unescaped(value: Any) -> Any:
    return _WRITTEN.sub(lambda result: chr(int(result.group(1), 16)), value) if isinstance(value, str) else value
