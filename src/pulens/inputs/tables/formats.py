"""Formats of tables: what a file's ending tells, and what separates columns."""

from __future__ import annotations

from pathlib import Path

from pulens.errors import InputError, listed, shown

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
}
FORMATS = tuple(dict.fromkeys(EXTENSIONS.values()))
TEXT = ("csv", "tsv")
COMPRESSED = ("gz", "bz2", "xz")


def format_of(path: str | Path, format: str | None) -> str:
    if format is not None:
        if format not in FORMATS:
            raise InputError(f"format must be one of {listed(FORMATS)}, got {shown(format)}.")
        return format
    if str(path) == "-":
        return "csv"
    parts = Path(path).name.lower().split(".")[1:]
    if parts and parts[-1] in COMPRESSED:
        parts.pop()
    if not parts or parts[-1] not in EXTENSIONS:
        raise InputError(
            f"{path}: the file's ending does not tell its format. Say format= (or --format), one of {listed(FORMATS)}."
        )
    return EXTENSIONS[parts[-1]]


def separator_of(kind: str, delimiter: str | None = None) -> str:
    """What separates the columns of a CSV or TSV file: as said, or as usual.

    >>> separator_of("csv"), separator_of("csv", ";")
    (',', ';')
    """
    separator = delimiter or ("\t" if kind == "tsv" else ",")
    if len(separator) != 1 or separator in '\r\n"\0':
        raise InputError(
            f"delimiter must be a single character, neither a quote nor a line end, got {shown(separator)}."
        )
    return separator
