"""Tally files: whole, spoilt, or of counts and descriptions that nobody would write."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from hostile.call import Call
from hostile.damage import some, spoilt_bytes, spoilt_tree


def merge(chance: random.Random, folder: Path) -> Call:
    """Add up a few tallies."""
    files = [write(chance, folder / f"{place}.tally").name for place in range(chance.randint(1, 3))]
    return Call("merge", ["merge", *files, "-o", "out.tally", *some(chance, [["--allow-repeats"]])], {"out.tally"})


def write(chance: random.Random, path: Path) -> Path:
    """A tally file of few thresholds."""
    count = chance.choice([0, 1, 5, 60])
    largest = chance.choice([3, 3, 3, 10**9, 1 << 62])
    columns: dict[str, object] = {"score": [float(place) for place in range(count)]}
    for name in ("labelled", "unlabelled", "negative"):
        columns[name] = [chance.choice([0, chance.randint(0, largest)]) for _ in range(count)]
    if chance.random() < 0.3:
        columns["highest"] = [place + 0.5 for place in range(count)]
    if chance.random() < 0.1:
        columns[chance.choice(list(columns))] = chance.choice(
            [["a"] * count, [None] * count, [float("nan")] * count, [-1] * count, [0.5] * count]
        )
    told: object = {"format": 1, "pulens": "1", "parts": [{"digest": str(chance.random()), "rows": 1.0, "source": "a"}]}
    if chance.random() < 0.2:
        told = spoilt_tree(chance, told, times=chance.choice([1, 1, 3]))
    metadata = {b"pulens": json.dumps(told).encode("utf-8", "surrogatepass")}
    parquet.write_table(pa.table(columns).replace_schema_metadata(metadata), path)
    path.write_bytes(spoilt_bytes(chance, path.read_bytes()))
    return path
