"""One file of results: its columns, and why it cannot be used where it cannot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pulens.benchmark.archive.row import FORMAT, NEEDED, NEEDED_WHEN_DONE, SCHEMA
from pulens.bounded_text import parse_json, read_bounded
from pulens.errors import InputError, listed

RUNS, FACTS = "runs", "archive.json"
SUPPORTED_BEFORE = frozenset({"lagam"})  # who read true support labels in archives older than the column


def fault(path: Path) -> str | None:
    """Why a file holds no results that can be used, or None: everything in it is read once."""
    if path.is_dir():
        return "it is a folder"
    try:
        table = read_columns(path, SCHEMA.names)
        table.validate(full=True)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        said = " ".join(str(error).split())
        return f"it is cut off, or not made by a benchmark: {said[:160]}"
    empty = [name for name in NEEDED if table[name].null_count]
    if empty or not len(table):
        return f"its runs have no {listed(empty)}" if empty else "it holds no run"
    others = sorted(set(table["status"].to_pylist()) - {"done", "failed"})
    if others:
        return f"a run's status is done or failed, got {listed(others)}"
    done = table.filter(pc.equal(table["status"], "done"))
    empty = [name for name in NEEDED_WHEN_DONE if done[name].null_count]
    if empty or (len(done) and pc.min(done["stack_runs"]).as_py() < 1):
        return f"its finished runs have no {listed(empty or ['stack_runs'])}"
    for name in ("parameters", "settings"):
        for text in set(table[name].to_pylist()) - {None}:
            try:
                json.loads(text)
            except (ValueError, RecursionError):
                return f"{name} is no JSON"
    return None


def read_columns(path: Path, columns: Sequence[str]) -> pa.Table:
    """Columns of one file as they stand there."""
    return pq.read_table(path, columns=list(columns), schema=SCHEMA)


def read_filled(path: Path, columns: Sequence[str]) -> pa.Table:
    """Columns of one file; what an older version did not write is filled in."""
    table = read_columns(path, columns)
    if "needs_support" in columns and table["needs_support"].null_count:
        methods = read_columns(path, ["method"])["method"].to_pylist()
        known = pa.array([name in SUPPORTED_BEFORE for name in methods], pa.bool_())
        table = table.set_column(table.column_names.index("needs_support"), "needs_support", known)
    return table


def check_format(folder: Path) -> None:
    try:
        found = parse_json(read_bounded(folder / FACTS), str(folder / FACTS))["pulens_benchmark"]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(
            f"{folder / FACTS} is not the description of an archive: {error}. If {folder} is one of this version of "
            "pulens, remove that file: `pulens bench run` writes it anew."
        ) from error
    if found != FORMAT:
        raise InputError(f"{folder} has format {found!r}; this version of pulens reads and writes format {FORMAT}.")
