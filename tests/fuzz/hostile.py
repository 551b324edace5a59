"""Hostile calls of the command line, each made from a seed alone: the same number gives the same call."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import feather, parquet

STRANGE = [
    "", " ", "nan", "NaN", "inf", "-inf", "1e400", "-1e308", "1.7e308", "1e307", "5e-324", "-0.0", "0x10", "1_000", "é",
    "null", "None", "true", "TRUE", "-1", "2", "1.0", "01", "9" * 30, "9" * 400, "1e19", "9223372036854775808", "\x00",
    "a" * 300, '"', "'", ";", "\\", "1,5", "{}", "[1]", "=1+1", "\ufeff", "2024-01-01", "１",
]  # fmt: skip
NUMBERS = ["0", "1", "-1", "0.5", "1e-300", "1e300", "nan", "inf", "abc", "", "0.999999", "1e-9", "2", "0.05", "1e9"]
PRIORS = [
    *["0.3", "0.1:0.4", "0.35:0.45", "0.5"] * 6,
    "0",
    "1",
    "1e-9",
    "1e-300",
    "0.5:0.5",
    "0.4:0.1",
    "a:b",
    "auto",
    "nope",
    ":",
    "0.2:0.3:0.4",
]
ENDINGS = ["csv", "tsv", "jsonl", "parquet", "arrow"]
ADDRESSES = [
    "sqlite:///{}", "sqlite://{}", "duckdb:///{}", "duckdb:{}", "postgresql://u:p@[::1/{}", "mysql://{}", "x://{}",
    "sqlite:///{}?timeout=x", "://{}", "file://{}", "postgresql://localhost:1/{}", "http://127.0.0.1:1/{}",
]  # fmt: skip


@dataclass(frozen=True)
class Call:
    """What to run and which files it may read."""

    arguments: list[str]
    inputs: list[Path]


def make_call(number: int, folder: Path) -> Call:
    """Call number so and so, its files written into an empty folder."""
    chance = random.Random(number)
    command = chance.choice(["evaluate"] * 5 + ["prior", "calibrate", "compare", "tally", "merge"])
    if command == "merge":
        files = [_tally(chance, folder / f"{place}.tally") for place in range(chance.randint(1, 3))]
        return Call(
            ["merge", *map(str, files), "-o", str(folder / "out.tally"), *_some(chance, [["--allow-repeats"]])], files
        )
    if command == "evaluate" and chance.random() < 0.15:
        files = [_tally(chance, folder / "a.tally")]
    else:
        files = [_table(chance, folder)]
    source = str(files[0])
    if chance.random() < 0.04:
        source = chance.choice(ADDRESSES).format(source)
    elif chance.random() < 0.02:
        source = chance.choice([str(folder), f"{folder}/*", f"{folder}/nope.csv", "x" * 5000, "", "\x00", f"{source}/"])
    return Call([command, source, *_options(chance, command, folder)], files)


def _options(chance: random.Random, command: str, folder: Path) -> list[str]:
    given = {
        "evaluate": [
            ["--threshold", chance.choice(NUMBERS)], ["--sensitivity", chance.choice(NUMBERS)], ["--bounds"],
            ["--audit", chance.choice(["3/20", "0/0", "5/2", "a", "-1/3"])], ["--worlds", chance.choice(NUMBERS)],
            ["--where", chance.choice(["label >= 0", "score > 0", "1 = 1", "nope", "'", "1; DROP TABLE x"])],
            ["--group-by", chance.choice(["site", "label", "nope"]), "--same-prior"],
            ["--tolerance", chance.choice(NUMBERS)], ["--scores-are", "probability", "--html", str(folder / "a.html")],
        ],
        "prior": [["--method", chance.choice(["auto", "nope", "alphamax"])], ["--label-noise", "estimate"], ["--all"]],
        "calibrate": [
            ["--scores-are", chance.choice(["logit", "rank", "probability"])],
            ["--fit", chance.choice(["isotonic", "platt"])], ["--bins", chance.choice(NUMBERS)],
            ["--fit", "isotonic", "--out", str(folder / "mapped.csv")],
        ],
        "compare": [["--metric", chance.choice(["recall", "nope"])], ["--threshold", chance.choice(NUMBERS)]],
        "tally": [["--tolerance", chance.choice(NUMBERS)], ["--where", "label >= 0"]],
    }[command]  # fmt: skip
    found = _some(chance, given)
    if command == "compare":
        found += ["--score", "score", "--score", chance.choice([*["other"] * 8, "score", "site", "nope"])]
    elif chance.random() < 0.05:
        found += ["--score", chance.choice(["other", "label", "nope", "z" * 5000])]
    if command == "tally":
        return [*found, "-o", str(folder / "out.tally")]
    if chance.random() < 0.15 and command != "compare":
        found += ["--weight", chance.choice([*["weight"] * 6, "score", "nope"])]
    if chance.random() < 0.05:
        found += ["--positive", chance.choice([*STRANGE, "1"])]
    if chance.random() < 0.05:
        found += [chance.choice(["--format", "--delimiter", "--nope", "--confidence"]), chance.choice(STRANGE)]
    if command != "prior":
        found += ["--class-prior", chance.choice(PRIORS)] if chance.random() < 0.7 else []
        found += ["--label-noise", chance.choice(NUMBERS)] if chance.random() < 0.05 else []
        found += ["-q"]
    if command in ("evaluate", "compare"):
        found += ["--redraws", chance.choice([*["100"] * 20, "x", "0"])]
    return [*found, "--scenario", chance.choice(["single-set", "case-control"]), "--json", str(folder / "out.json")]


def _some(chance: random.Random, options: list[list[str]]) -> list[str]:
    return [word for option in options if chance.random() < 0.08 for word in option]


def _rows(chance: random.Random) -> list[list[str]]:
    count = chance.choice([0, 1, 5, 30, 120, 120, 300, 300, 300])
    grid = chance.choice([0, 1, 3, 12])
    scale = chance.choice([*[1.0] * 12, 1e-300, 1e300, 1e307])
    as_shares = chance.random() < 0.5
    rows = []
    for _ in range(count):
        positive = chance.random() < 0.4
        label = "1" if positive and chance.random() < 0.6 else chance.choice(["0", "0", "0", "-1"])
        scores = [scale * round(chance.gauss(1.5 * positive, 1), grid) for _ in range(2)]
        if as_shares:
            scores = [1 / (1 + 2.718281828 ** -max(-30, min(30, score))) for score in scores]
        weight = chance.choice(["1", "2", "0", "0.5"])
        rows.append([label, repr(scores[0]), repr(scores[1]), weight, chance.choice("abc")])
    return rows


def _table(chance: random.Random, folder: Path) -> Path:
    names, rows = ["label", "score", "other", "weight", "site"], _rows(chance)
    if rows and chance.random() < 0.2:
        for _ in range(chance.choice([1, 1, 2, 40])):
            chance.choice(rows)[chance.randrange(5)] = chance.choice(STRANGE)
    ending = chance.choice(ENDINGS)
    path = folder / f"a.{ending}"
    if ending in ("csv", "tsv"):
        separator = "," if ending == "csv" else "\t"
        content = "\n".join(separator.join(row) for row in [names, *rows]).encode("utf-8", "surrogatepass")
    elif ending == "jsonl":
        content = "\n".join(_record(chance, names, row) for row in rows).encode("utf-8", "surrogatepass")
    else:
        content = _binary(chance, names, rows, folder, ending)
    content = _damaged(chance, content)
    if chance.random() < 0.12:
        content = _damaged(chance, chance.choice([gzip, bz2, lzma]).compress(content))
    path.write_bytes(content)
    return path


def _record(chance: random.Random, names: list[str], row: list[str]) -> str:
    values: dict[str, object] = {}
    for name, text in zip(names, row, strict=True):
        try:
            values[name] = float(text) if name != "site" else text
        except ValueError:
            values[name] = text
    if chance.random() < 0.002:
        values[chance.choice(names)] = chance.choice([{"a": 1}, [1, 2], None, 10**400, [[[[]]]], True])
    if chance.random() < 0.0005:
        return "[" * 100_000
    return json.dumps(values)


def _binary(chance: random.Random, names: list[str], rows: list[list[str]], folder: Path, ending: str) -> bytes:
    columns = {}
    for place, name in enumerate(names):
        texts = [row[place] for row in rows]
        try:
            kind = {"label": int, "site": str}.get(name, float)
            columns[name] = pa.array([kind(text) for text in texts])
        except (ValueError, OverflowError):
            columns[name] = pa.array(texts)
    if rows and chance.random() < 0.05:
        columns[chance.choice(names)] = pa.array([{"a": 1}] * len(rows))
    table, path = pa.table(columns), folder / "made"
    if ending == "parquet":
        parquet.write_table(table, path, compression=chance.choice(["none", "snappy", "zstd"]))
    else:
        feather.write_feather(table, path, compression=chance.choice(["uncompressed", "lz4", "zstd"]))
    content = path.read_bytes()
    path.unlink()
    return content


def _tally(chance: random.Random, path: Path) -> Path:
    count = chance.choice([0, 1, 5, 60])
    largest = chance.choice([3, 3, 3, 10**9, 1 << 62])
    columns: dict[str, object] = {"score": [float(place) for place in range(count)]}
    for name in ("labelled", "unlabelled", "negative"):
        columns[name] = [chance.choice([0, chance.randint(0, largest)]) for _ in range(count)]
    if chance.random() < 0.3:
        columns["highest"] = [place + 0.5 for place in range(count)]
    if chance.random() < 0.1:
        columns[chance.choice(list(columns))] = chance.choice(
            [["a"] * count, [None] * count, [float("nan")] * count, [-1] * count]
        )
    told: object = {"format": 1, "pulens": "1", "parts": [{"digest": str(chance.random()), "rows": 1.0, "source": "a"}]}
    if chance.random() < 0.15:
        told = chance.choice(
            [None, [], {}, {"parts": 3, "format": 1}, {"parts": [[]], "format": 1}, {"format": 9, "parts": []}]
        )
    metadata = {b"pulens": json.dumps(told).encode()}
    parquet.write_table(pa.table(columns).replace_schema_metadata(metadata), path)
    path.write_bytes(_damaged(chance, path.read_bytes()))
    return path


def _damaged(chance: random.Random, content: bytes) -> bytes:
    """Mostly as it is; else a few bytes changed, a part left out, doubled or added."""
    if not content or chance.random() < 0.85:
        return content
    found = bytearray(content)
    for _ in range(chance.choice([1, 1, 3, 20])):
        place = chance.randrange(len(found) or 1)
        way = chance.randrange(5)
        if way == 0 and found:
            found[place] = chance.randrange(256)
        elif way == 1:
            del found[place : place + chance.choice([1, 10, 1000])]
        elif way == 2:
            found[place:place] = found[place : place + chance.choice([1, 30])]
        elif way == 3:
            found[place:place] = chance.choice(STRANGE).encode("utf-8", "surrogatepass")
        elif found:
            found[place] ^= 1 << chance.randrange(8)
    return bytes(found)
