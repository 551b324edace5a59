"""The files that a name stands for: one, those of a folder, those of a glob; and how large files can be counted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from glob import has_magic
from itertools import islice
from pathlib import Path

from pulens.errors import InputError
from pulens.inputs.tables.formats import EXTENSIONS

PARQUET, DELIMITED = ("parquet", "pq"), {"csv": ",", "tsv": "\t", "tab": "\t"}
ENDINGS = (*PARQUET, *DELIMITED)
MOST_ENTRIES = 100_000  # files and folders that a folder may hold


def has_duckdb() -> bool:
    """Whether DuckDB can count files here."""
    from importlib.util import find_spec

    return find_spec("duckdb") is not None and find_spec("pyarrow") is not None


def expand(source: str) -> list[Path]:
    """The files that a path, folder or glob stands for, in order.

    >>> expand("no/such/*.parquet")
    []
    """
    path = Path(source)
    if os.path.isdir(path):  # and not one whose name is too long for any file
        return _tables_in(path)
    if has_magic(source) and not os.path.exists(path):
        from glob import iglob

        names = list(islice(iglob(source, recursive=True), MOST_ENTRIES + 1))
        if len(names) > MOST_ENTRIES:
            raise InputError(f"{source}: more than {MOST_ENTRIES:,} files and folders: name fewer.")
        return sorted(Path(name) for name in names if Path(name).is_file())
    return [path]


def _tables_in(folder: Path) -> list[Path]:
    result = [entry for entry in _entries(folder) if ending(entry) in EXTENSIONS and entry.is_file()]
    shown = [entry for entry in result if not any(_is_hidden(part) for part in entry.relative_to(folder).parts)]
    # logs in JSON Lines may lie beside tables: they are tables where there are no others
    return sorted([entry for entry in shown if ending(entry) in ENDINGS] or shown)


def _entries(folder: Path) -> Iterator[Path]:
    """Everything in a folder and its folders; refused where it is too much to be meant."""

    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename or folder}: cannot be read: {error.strerror}.") from error

    seen = 0
    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not _is_hidden(name)]
        seen += len(folders) + len(names)
        if seen > MOST_ENTRIES:
            raise InputError(
                f"{folder}: this folder holds more than {MOST_ENTRIES:,} files and folders. Name the folder of the "
                "tables, or a glob of files."
            )
        yield from (Path(place, name) for name in names)


def _is_hidden(part: str) -> bool:
    return part.startswith((".", "_"))  # such as _SUCCESS and .crc files, which clusters leave behind


def ending(path: Path) -> str:
    """What tells a file's format, compression aside.

    >>> ending(Path("scores.CSV.gz"))
    'csv'
    """
    parts = path.name.lower().split(".")[1:]
    if parts and parts[-1] == "gz":
        parts.pop()
    return parts[-1] if parts else ""
