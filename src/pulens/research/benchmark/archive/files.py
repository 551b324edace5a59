"""One file of results: its columns, and why it cannot be used where it cannot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pulens.bounded_text import parse_json, read_bounded
from pulens.errors import InputError, listed
from pulens.research.benchmark.archive.format_1 import is_format_1, read_format_1
from pulens.research.benchmark.archive.row import (
    CHOICE_METRICS,
    FORMAT,
    NEEDED,
    NEEDED_WHEN_DONE,
    NEEDED_WITHIN,
    SCHEMA,
)

RUNS, FACTS = "runs", "archive.json"
READ = (1, FORMAT)  # formats that can be read; files of several may lie in one archive


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
    checks = (_fault_of_runs, _fault_of_finished_runs, _fault_of_nested_rows, _fault_of_numbers, _fault_of_json)
    return next((why for check in checks if (why := check(table)) is not None), None)


def _fault_of_runs(table: pa.Table) -> str | None:
    """What runs lack whatever became of them."""
    empty = [name for name in NEEDED if table[name].null_count]
    if empty or not len(table):
        return f"its runs have no {listed(empty)}" if empty else "it holds no run"
    others = sorted(set(table["status"].to_pylist()) - {"done", "failed"})
    if others:
        return f"a run's status is done or failed, got {listed(others)}"
    return None


def _fault_of_finished_runs(table: pa.Table) -> str | None:
    """What runs lack that are done."""
    done = table.filter(pc.equal(table["status"], "done"))
    empty = [name for name in NEEDED_WHEN_DONE if done[name].null_count]
    if empty or (len(done) and pc.min(done["stack_runs"]).as_py() < 1):
        return f"its finished runs have no {listed(empty or ['stack_runs'])}"
    return None


def _fault_of_nested_rows(table: pa.Table) -> str | None:
    """What the rows within runs lack: choices, points of curves and tallies."""
    for name, needed in NEEDED_WITHIN.items():
        rows = pc.list_flatten(table[name])
        if rows.null_count:
            return f"{name} has an empty entry"
        parts = {inner: pc.struct_field(rows, inner) for inner in needed}
        bins = {inner: part for inner, part in parts.items() if pa.types.is_list(part.type)}
        empty = [inner for inner, part in parts.items() if part.null_count]
        empty += [inner for inner, part in bins.items() if inner not in empty and pc.list_flatten(part).null_count]
        if empty:
            return f"{name} has an entry without {listed(empty)}"
        lengths = [pc.list_value_length(part) for part in bins.values()]
        if any(not one.equals(lengths[0]) for one in lengths):
            return f"{name} has an entry with more of one than of another among {listed(bins)}"
    return None


def _fault_of_numbers(table: pa.Table) -> str | None:
    """Numbers that nothing can be computed with; a metric that is not defined is nan, and a loss may be infinite."""
    if not pc.all(pc.is_finite(table["label_frequency"])).as_py():
        return "label_frequency must be finite"
    choices = pc.list_flatten(table["choices"])
    endless = [name for name in CHOICE_METRICS if pc.any(pc.is_inf(pc.struct_field(choices, name))).as_py()]
    return f"choices has an infinite {listed(endless)}" if endless else None


def _fault_of_json(table: pa.Table) -> str | None:
    for name in ("parameters", "settings"):
        for text in set(table[name].to_pylist()) - {None}:
            try:
                if not isinstance(json.loads(text), dict):
                    return f"{name} is JSON, but no object with names"
            except (ValueError, RecursionError):
                return f"{name} is no JSON"
    return None


def read_columns(path: Path, columns: Sequence[str]) -> pa.Table:
    """Columns of one file, of whatever format it is."""
    if is_format_1(pq.read_schema(path).names):
        return read_format_1(path, columns)
    return pq.read_table(path, columns=list(columns), schema=SCHEMA)


def check_format(folder: Path) -> int:
    """The format that an archive says it has; an error where this version cannot read it."""
    try:
        result = parse_json(read_bounded(folder / FACTS), str(folder / FACTS))["pulens_benchmark"]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(
            f"{folder / FACTS} is not the description of an archive: {error}. If {folder} is one of this version of "
            "pulens, remove that file: `pulens bench run` writes it again."
        ) from error
    if result not in READ:
        raise InputError(
            f"{folder} has format {result!r}; this version of pulens reads formats {listed(READ)} and writes {FORMAT}."
        )
    return int(result)
