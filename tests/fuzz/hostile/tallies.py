"""Tally files: whole, spoilt, or of counts and descriptions that nobody would write."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from hostile.call import Call
from hostile.damage import some, spoilt_bytes, spoilt_tree


def merge(chance: random.Random, folder: Path) -> Call:
    """Add up a few tallies."""
    files = [write(chance, folder / f"{place}.tally").name for place in range(chance.randint(1, 3))]
    return Call("merge", ["merge", *files, "-o", "out.tally", *some(chance, [["--allow-repeats"]])], {"out.tally"})


def write(chance: random.Random, path: Path) -> Path:
    """A tally file of few thresholds, its rows perhaps counted by cluster too."""
    count = chance.choice([0, 1, 5, 60])
    largest = chance.choice([3, 3, 3, 10**9, 1 << 62])
    columns: dict[str, Any] = {"score": [float(place) for place in range(count)]}
    for name in ("labelled", "unlabelled", "negative"):
        columns[name] = [chance.choice([0, chance.randint(0, largest)]) for _ in range(count)]
    if chance.random() < 0.3:
        columns["highest"] = [place + 0.5 for place in range(count)]
    if chance.random() < 0.1:
        columns[chance.choice(list(columns))] = chance.choice(
            [["a"] * count, [None] * count, [float("nan")] * count, [-1] * count, [0.5] * count]
        )
    told: dict[str, object] = {"format": 1, "pulens": "1", "parts": [part(chance)]}
    if chance.random() < 0.3:
        told |= _in_buckets(chance, columns)
    if chance.random() < 0.2:
        told = spoilt_tree(chance, told, times=chance.choice([1, 1, 3]))
    metadata = {b"pulens": json.dumps(told).encode("utf-8", "surrogatepass")}
    parquet.write_table(pa.table(columns).replace_schema_metadata(metadata), path)
    path.write_bytes(spoilt_bytes(chance, path.read_bytes()))
    return path


def part(chance: random.Random) -> dict[str, object]:
    return {"digest": str(chance.random()), "rows": 1.0, "source": "a"}


def _in_buckets(chance: random.Random, columns: dict[str, Any]) -> dict[str, object]:
    """The same counts once more, spread over buckets of clusters; what the file tells of them."""
    count = len(columns["score"])
    columns.setdefault("highest", list(columns["score"]))
    digits = chance.choice([2, 32])
    names = [f"{place:0{digits}x}" for place in range(chance.choice([1, 3, 3, 256]))]
    for name, values in columns.items():
        columns[name] = values * 2
    columns["bucket"] = [-1] * count + [chance.randrange(len(names)) for _ in range(count)]
    if chance.random() < 0.1:
        odd = [[300] * 2, [-2] * 2, [0] * 2, [0.5] * 2, [None] * 2]
        columns["bucket"] = chance.choice(odd)[:1] * (2 * count)
    clusters = chance.choice([[len(names), len(names)], [1, 10**9], [0, 0], [3, 2], [len(names), 10**400]])
    return {"format": 3, "buckets": names, "clusters": clusters, "counted": chance.choice([count, 0, -1, 10**30])}
