"""Tables of rows in every format that is read, whole or spoilt, plain or compressed."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import math
import random
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pyarrow as pa
from pyarrow import feather, parquet

from hostile.damage import STRANGE, spoilt_bytes

ENDINGS = ("csv", "tsv", "jsonl", "parquet", "arrow")
WORDS = ("site", "class", "patient", "day", "case")  # columns of words; the others hold numbers


@dataclass
class Table:
    """Cells as they would be typed, a list for each row."""

    names: list[str]
    rows: list[list[str]]

    def shuffled(self, chance: random.Random) -> Table:
        return Table(self.names, chance.sample(self.rows, len(self.rows)))


def write(table: Table, path: Path) -> Path:
    """The table whole, in the format of the path's ending."""
    path.write_bytes(content(random.Random(0), table, path.suffix.removeprefix("."), odd=False))
    return path


def write_spoilt(chance: random.Random, table: Table, folder: Path, name: str = "a") -> Path:
    """The table in some format, mostly whole, sometimes with strange cells, spoilt bytes or packed."""
    if table.rows and chance.random() < 0.2:
        for _ in range(chance.choice([1, 1, 2, 40])):
            chance.choice(table.rows)[chance.randrange(len(table.names))] = chance.choice(STRANGE)
    ending = chance.choice(ENDINGS)
    result = spoilt_bytes(chance, content(chance, table, ending))
    if chance.random() < 0.12:
        result = spoilt_bytes(chance, chance.choice([gzip, bz2, lzma]).compress(result))
    path = folder / f"{name}.{ending}"
    path.write_bytes(result)
    return path


def content(chance: random.Random, table: Table, ending: str, *, odd: bool = True) -> bytes:
    """The bytes of a file; ``odd`` allows values of types that nobody expects there."""
    if ending in ("csv", "tsv"):
        separator = "," if ending == "csv" else "\t"
        lines = [separator.join(row) for row in [table.names, *table.rows]]
        return "\n".join(lines).encode("utf-8", "surrogatepass")
    if ending == "jsonl":
        lines = [_record(chance, table.names, row, odd) for row in table.rows]
        return "\n".join(lines).encode("utf-8", "surrogatepass")
    columns = arrow(table)
    if odd and table.rows and chance.random() < 0.05:
        place = chance.randrange(len(table.names))
        columns = columns.set_column(place, table.names[place], pa.array([{"a": 1}] * len(table.rows)))
    file = BytesIO()
    if ending == "parquet":
        parquet.write_table(columns, file, compression=chance.choice(["none", "snappy", "zstd"]))
    else:
        feather.write_feather(columns, file, compression=chance.choice(["uncompressed", "lz4", "zstd"]))
    return file.getvalue()


def arrow(table: Table) -> pa.Table:
    """Columns of numbers where every cell is one."""
    columns = {}
    for place, name in enumerate(table.names):
        texts = [row[place] for row in table.rows]
        try:
            kind = str if name in WORDS else int if name == "label" else float
            columns[name] = pa.array([kind(text) for text in texts])
        except (ValueError, OverflowError):
            columns[name] = pa.array([text.encode("utf-8", "replace").decode() for text in texts])
    return pa.table(columns)


def _record(chance: random.Random, names: list[str], row: list[str], odd: bool) -> str:
    values: dict[str, object] = {}
    for name, text in zip(names, row, strict=True):
        try:
            number = float(text) if name not in WORDS else text
            values[name] = int(number) if name == "label" and math.isfinite(float(number)) else number
        except ValueError:
            values[name] = text
    if odd and chance.random() < 0.002:
        values[chance.choice(names)] = chance.choice([{"a": 1}, [1, 2], None, 10**400, [[[[]]]], True])
    if odd and chance.random() < 0.0005:
        return "[" * 100_000
    return json.dumps(values)
