"""Formats of tables: what a file's ending tells, and what separates columns."""

from __future__ import annotations

from pathlib import Path

from pulens.errors import InputError, listed, shown
from pulens.inputs.addresses import check_name, is_address, shown_address
from pulens.inputs.tables.dialect import Said, dialect_of

EXTENSIONS = {
    "csv": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "pq": "parquet",
    "arrow": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
    "xlsx": "xlsx",
    "xlsm": "xlsx",
}
FORMATS = tuple(dict.fromkeys(EXTENSIONS.values()))
WRITTEN = tuple(kind for kind in FORMATS if kind != "xlsx")  # which would round numbers to fifteen digits
TEXT = ("csv", "tsv")
DATABASES = {"duckdb": "duckdb", "sqlite": "sqlite", "sqlite3": "sqlite", "db": "sqlite"}
OTHER_SHEETS = ("xls", "xlsb", "ods", "numbers")  # of spreadsheet programs, and not read
COMPRESSED = ("gz", "bz2", "xz")


def format_of(path: str | Path, format: str | None) -> str:
    check_name(str(path))
    if is_address(str(path)):
        raise InputError(
            f"{shown_address(str(path))}: the address of a database, where a file is read. Write the table to a file "
            "first."
        )
    if format is not None:
        if format not in FORMATS:
            raise InputError(f"format must be one of {listed(FORMATS)}, got {shown(format)}.")
        return format
    if str(path) == "-":
        return "csv"
    parts = Path(path).name.lower().split(".")[1:]
    if parts and parts[-1] in COMPRESSED:
        parts.pop()
    if parts and parts[-1] in OTHER_SHEETS:
        raise InputError(
            f"{path}: a .{parts[-1]} file is not read. Save it as .xlsx (Excel) or as .csv, which keeps one sheet."
        )
    if not parts and not Path(path).exists():
        raise InputError(f"{path}: there is no such file or folder.")
    if parts and parts[-1] in DATABASES:
        address = f"{DATABASES[parts[-1]]}:///{path}"
        raise InputError(f"{path}: a database is named by its address, {address}, and its table by table= or --table.")
    if not parts or parts[-1] not in EXTENSIONS:
        raise InputError(
            f"{path}: the file name does not show its format. Say format= (or --format), one of {listed(FORMATS)}."
        )
    return EXTENSIONS[parts[-1]]


def separator_of(kind: str, delimiter: Said = None) -> str:
    """What separates the columns of a CSV or TSV file: as said, or as usual.

    >>> separator_of("csv"), separator_of("csv", ";")
    (',', ';')
    """
    separator = dialect_of(delimiter).separator or ("\t" if kind == "tsv" else ",")
    if len(separator) != 1 or separator in '\r\n"\0':
        raise InputError(
            f"delimiter must be a single character, neither a quote nor a line end, got {shown(separator)}."
        )
    return separator
