"""Archives of benchmarks with damaged, foreign and missing files."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from hostile.call import Call
from hostile.damage import NUMBERS, VALUES, some, spoilt_bytes, spoilt_tree
from hostile.originals import originals

METRICS = ["accuracy", "f1", "auc", "roc_auc", "matthews_correlation", "lift", "nope", ""]
SELECTIONS = ["own", "oracle_f1", "last", "loss", "proxy_auc", "proxy_roc_auc", "nope"]


def make(chance: random.Random, folder: Path) -> Call:
    command = chance.choice(["report", "report", "judge", "rates", "run"])
    archive = Path(shutil.copytree(originals() / ("tiny" if command == "run" else "invented"), folder / "archive"))
    for _ in range(chance.choice([0, 1, 1, 1, 3])):
        _spoil(chance, archive)
    if command == "run":
        return _run(chance, folder)
    options = {
        "report": [
            ["--metric", chance.choice(METRICS)], ["--selection", chance.choice(SELECTIONS)], ["--html", "a.html"],
            ["--reference", chance.choice(["vpu", "pn", "nope"])], ["--condition", chance.choice(["S1 0.1", "x", ""])],
            ["--csv", "a.csv"], ["--latex", "a.tex"], ["--summary", chance.choice(["s.csv", "s.csv.gz"])],
        ],
        "judge": [["--json", "out.json"], ["--prior", chance.choice(["known", "estimated", "nope"])]],
        "rates": [["--out", "rates.json"], ["--source", chance.choice(["x", "", "é" * 300])]],
    }[command]  # fmt: skip
    words = ["bench", command, "archive", *some(chance, options, 0.2)]
    if command == "report":
        words += ["--judge", chance.choice([*["0"] * 4, "1", "all", "x", "-1"])]
    makes = {"a.html", "a.csv", "a.tex", "s.csv", "s.csv.gz", "out.json", "rates.json"}
    return Call(f"bench {command}", words, frozenset(makes))


def _run(chance: random.Random, folder: Path) -> Call:
    """Go on with a benchmark; runs that are lost are done again."""
    shutil.copyfile(originals() / "tiny.yaml", folder / "tiny.yaml")
    options = [["--jobs", chance.choice(["0", "-1", "x"])], ["--stack", chance.choice(NUMBERS)], ["--retry-failed"]]
    options += [["--time-limit", chance.choice(["0", "nan", "-1"])], ["--seeds", chance.choice(["1", "x", ""])]]
    words = ["bench", "run", "tiny.yaml", "--archive", "archive", "--device", "cpu", *some(chance, options)]
    return Call("bench run", words, changes=frozenset({"archive"}), codes=frozenset({0, 1, 2, 3}), repeats=False)


def _spoil(chance: random.Random, archive: Path) -> None:
    files = sorted(entry for entry in archive.rglob("*") if entry.is_file())
    tables = [file for file in files if file.suffix == ".parquet"]
    file = chance.choice([*files, *tables * 2])
    way = chance.randrange(8)
    if way == 0:
        file.unlink()
    elif way == 1:
        file.write_bytes(chance.choice(files).read_bytes())
    elif way == 2:
        odd = archive / "runs" / chance.choice(["a.parquet", "x.tmp", ".hidden.parquet", "folder.parquet/b"])
        odd.parent.mkdir(parents=True, exist_ok=True)
        odd.write_bytes(b"PAR1" * 3)
    elif file.suffix == ".json" and way < 6:
        file.write_text(json.dumps(spoilt_tree(chance, {"pulens_benchmark": 1, "name": "tiny"})))
    elif file.suffix == ".parquet" and way < 7:
        _spoil_row(chance, file)
    else:
        file.write_bytes(spoilt_bytes(chance, file.read_bytes(), share=1))


def _spoil_row(chance: random.Random, file: Path) -> None:
    """One value in one run replaced by another that the column can hold, or that gives the column another type."""
    try:
        table = parquet.read_table(file)
    except (pa.ArrowException, OSError):
        return
    rows = table.to_pylist()
    place = chance.choice(table.column_names)
    row = chance.choice(rows) if rows else {}
    if isinstance(row.get(place), list):
        row[place] = spoilt_tree(chance, row[place])
    else:
        row[place] = chance.choice([*VALUES, "{}", "[]", "{", "oracle", "done", "failed", 1e-9])
    for schema in (table.schema, None):
        try:
            parquet.write_table(pa.Table.from_pylist(rows, schema=schema), file)
            return
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError, UnicodeError):
            continue
