"""The same bytes for the same model: skops names parts by their place in memory, and stamps them with the time."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

SCHEMA = "schema.json"
BEGINNING = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can say


def repacked(content: bytes) -> bytes:
    """A skops file with its parts numbered in the order in which they are spoken of, and without times."""
    with ZipFile(BytesIO(content)) as pack:
        parts = {name: pack.read(name) for name in pack.namelist()}
    schema = json.loads(parts.pop(SCHEMA))
    names: dict[str, str] = {}
    _renumber(schema, {}, names)
    written = BytesIO()
    with ZipFile(written, "w", ZIP_STORED) as pack:
        for old, new in names.items():
            pack.writestr(ZipInfo(new, BEGINNING), parts[old])
        pack.writestr(ZipInfo(SCHEMA, BEGINNING), json.dumps(schema, indent=2))
    return written.getvalue()


def _renumber(inside: Any, numbers: dict[int, int], names: dict[str, str]) -> None:
    """Replace identities and names of files below, each by its place among those met before."""
    if isinstance(inside, dict):
        if isinstance(inside.get("__id__"), int):
            inside["__id__"] = numbers.setdefault(inside["__id__"], len(numbers) + 1)
        if "__loader__" in inside and isinstance(inside.get("file"), str):
            old = inside["file"]
            inside["file"] = names.setdefault(old, f"{len(names) + 1}{PurePosixPath(old).suffix}")
        for part in inside.values():
            _renumber(part, numbers, names)
    elif isinstance(inside, list):
        for part in inside:
            _renumber(part, numbers, names)
