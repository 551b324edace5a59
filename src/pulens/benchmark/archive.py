"""The archive: a folder of Parquet files, one per finished stack, each written whole or not at all.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     len(read(folder))
0
"""

from __future__ import annotations

import hashlib
import json
import os
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pulens.benchmark import locks
from pulens.benchmark.counts import KINDS, METRICS
from pulens.benchmark.plan import FORMAT, Plan
from pulens.bounded_text import parse_json, read_bounded
from pulens.counts.tally import Tally
from pulens.errors import InputError, listed
from pulens.whole_files import whole_file, write_whole

_f4, _f8, _i4, _i8, _s, _b = pa.float32(), pa.float64(), pa.int32(), pa.int64(), pa.string(), pa.bool_()
CURVE = {
    "epoch": _i4,
    "seconds": _f4,
    "proxy_accuracy": _f4,
    "proxy_auc": _f4,
    "loss": _f4,
    "oracle_accuracy": _f4,
    "oracle_f1": _f4,
    "test_accuracy": _f4,
    "test_f1": _f4,
    "test_auc": _f4,
}
CHOICE = {"selection": _s, "epoch": _i4, "value": _f8, **dict.fromkeys(METRICS, _f8)}
TALLY = {
    "part": _s,
    "epoch": _i4,
    "lowest": pa.list_(_f4),
    "highest": pa.list_(_f4),
    **{kind: pa.list_(_i4) for kind in KINDS},
}
SCALARS = {
    "key": _s,
    "method": _s,
    "title": _s,
    "family": _s,
    "uses_truth": _b,
    "needs_support": _b,
    "dataset": _s,
    "kind": _s,
    "backbone": _s,
    "scenario": _s,
    "unlabelled": _s,
    "mechanism": _s,
    "strategy": _s,
    "parameters": _s,
    "label_frequency": _f8,
    "seed": _i8,
    "prior_policy": _s,
    "validation_share": _f8,
    "test_share": _f8,
    "standardise": _b,
    "precision": _s,
    "rows_used": _i8,
    "settings": _s,
    "own_selection": _s,
    "status": _s,
    "reason": _s,
    "class_prior": _f8,
    "given_class_prior": _f8,
    "realised_label_frequency": _f8,
    "train_labelled": _i8,
    "train_unlabelled": _i8,
    "validation_rows": _i8,
    "validation_labelled": _i8,
    "test_rows": _i8,
    "test_positives": _i8,
    "test_labelled": _i8,
    "test_unlabelled": _i8,
    "found": _s,
    "epochs": _i4,
}
# what differs between two runs of the same thing: left out when archives are compared
VOLATILE = {
    "seconds": _f8,
    "stack_runs": _i4,
    "stack_seconds": _f8,
    "stack_watching_seconds": _f8,
    "stack_processor_seconds": _f8,
    "stack_peak_memory": _i8,
    "memory_of": _s,
    "started": _s,
    "finished": _s,
    "device": _s,
    "device_name": _s,
    "cores": _i4,
    "system": _s,
    "python": _s,
    "pulens": _s,
    "torch": _s,
    "numpy": _s,
    "scikit_learn": _s,
}
NESTED = {
    "notices": pa.list_(_s),
    "choices": pa.list_(pa.struct(list(CHOICE.items()))),
    "curve": pa.list_(pa.struct(list(CURVE.items()))),
    "tallies": pa.list_(pa.struct(list(TALLY.items()))),
}
SCHEMA = pa.schema(list((SCALARS | VOLATILE | NESTED).items()), metadata={"pulens_benchmark": str(FORMAT)})
RUNS, FACTS, CACHE, LOCK = "runs", "archive.json", "cache", "lock"
SUPPORTED_BEFORE = frozenset({"lagam"})  # who read true support labels in archives older than the column
RUNNERS = "runners"  # a file that every runner holds a shared lock on
NEEDED = ("key", "method", "dataset", "mechanism", "label_frequency", "seed", "status")  # of every run

NEEDED_WHEN_DONE = (
    "title",
    "family",
    "kind",
    "own_selection",
    "settings",
    "choices",
    "stack_runs",
    "stack_seconds",
    "stack_peak_memory",
)


class Store:
    """The writing side: which runs are there, and how more are added."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.damaged: dict[str, str] = {}  # files that are no results, and why
        self._seen: dict[str, tuple[tuple[str, ...], bool]] = {}
        self._broken: dict[str, tuple[int, int]] = {}  # when a damaged file was last changed, and its size
        self._presence: int | None = None

    @property
    def cache(self) -> Path:
        return self.folder / CACHE

    def open(self) -> Store:
        """Make the folder, or check that it is an archive of this format; leave anything else alone."""
        try:
            return self._opened()
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be written: {error.strerror or error}.") from error

    def _opened(self) -> Store:
        facts = self.folder / FACTS
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file; an archive is a folder.")
        if not facts.exists():
            if self.folder.is_dir() and any(self.folder.iterdir()) and not (self.folder / RUNS).is_dir():
                raise InputError(f"{self.folder} holds something else than an archive. Choose another folder.")
            (self.folder / RUNS).mkdir(parents=True, exist_ok=True)
            write_whole(facts, json.dumps({"pulens_benchmark": FORMAT}))
        _check_format(self.folder)
        (self.folder / RUNS).mkdir(exist_ok=True)
        self._sweep()
        return self

    def close(self) -> None:
        """Say that nobody writes here any more; the end of the process says the same."""
        if self._presence is not None:
            self._leave()
            self._presence = None

    def _sweep(self) -> None:
        """Remove what killed runners left half written, if nobody else is at work here.

        Clocks jump, so a file's age says nothing. Every runner is present for as long as it lives, and the operating
        system takes it away however the runner ends: who is alone may sweep.
        """
        if self._presence is not None:
            return
        self._presence = os.open(self.folder / RUNNERS, os.O_RDWR | os.O_CREAT, 0o666)
        self._leave = weakref.finalize(self, _close, self._presence)
        with locks.SYSTEM.presence(self._presence) as is_alone:
            for path in (self.folder / RUNS).glob(".*.parquet.*") if is_alone else ():
                with suppress(OSError):
                    path.unlink()

    def remember(self, plan: Plan) -> None:
        """Keep the protocol beside its results."""
        place = self.folder / f"protocol-{plan.protocol.name}.json"
        write_whole(place, json.dumps(plan.protocol.model_dump(mode="json"), indent=2, sort_keys=True))

    def finished(self, *, count_failed: bool = True) -> set[str]:
        """Keys of the runs that are there; files already looked at are not read again."""
        there = {path.name: path for path in (self.folder / RUNS).glob("*.parquet")}
        for name in set(self._seen) - set(there):
            del self._seen[name]
        found: set[str] = set()
        for name, path in there.items():
            if name not in self._seen:
                try:
                    looks = path.stat().st_mtime_ns, path.stat().st_size
                    if self._broken.get(name) == looks:
                        continue
                    why = fault(path)
                    if why is not None:  # its runs are to be done again, here or by somebody who replaces the file
                        self.damaged[name], self._broken[name] = why, looks
                        continue
                    table = _columns(path, ["key", "status"])
                except FileNotFoundError:  # a failed run was replaced this very moment
                    continue
                self.damaged.pop(name, None)
                keys = tuple(table["key"].to_pylist())
                self._seen[name] = keys, "failed" in table["status"].to_pylist()
            keys, is_failed = self._seen[name]
            if count_failed or not is_failed:
                found.update(keys)
        return found

    def add(self, rows: Sequence[dict[str, Any]]) -> Path:
        """Write the rows of a stack as one file; earlier failures of the same runs go away afterwards."""
        keys = sorted(row["key"] for row in rows)
        digest = hashlib.sha256("".join(keys).encode()).hexdigest()[:12]
        path = self.folder / RUNS / f"{rows[0]['method']}-{rows[0]['dataset']}-{digest}.parquet"
        table = pa.Table.from_pylist([{name: row.get(name) for name in SCHEMA.names} for row in rows], SCHEMA)
        with whole_file(path) as temporary:
            pq.write_table(table, temporary, compression="zstd", compression_level=9, write_statistics=False)
        self._seen.pop(path.name, None)
        self.damaged.pop(path.name, None)
        self.finished()
        for name, (old, is_failed) in list(self._seen.items()):
            if is_failed and name != path.name and set(old) <= set(keys):
                (self.folder / RUNS / name).unlink(missing_ok=True)
        return path


@dataclass(frozen=True)
class Archive:
    """The reading side: runs as rows, their choices, curves and tallies."""

    folder: Path

    @cached_property
    def _faults(self) -> dict[Path, str | None]:
        found = {}
        for path in sorted((self.folder / RUNS).glob("*.parquet")):
            with suppress(FileNotFoundError):  # a failed run was replaced this very moment
                found[path] = fault(path)
        return found

    @property
    def files(self) -> tuple[Path, ...]:
        """Files of results, whole as far as can be told by reading them."""
        return tuple(path for path, why in self._faults.items() if why is None)

    @property
    def damaged(self) -> dict[str, str]:
        """Names of files that are left out, and why: cut off, or not results of a benchmark."""
        return {path.name: why for path, why in self._faults.items() if why is not None}

    @cached_property
    def runs(self) -> tuple[dict[str, Any], ...]:
        """Scalars of every run, once each, in a fixed order; a finished run hides an earlier failure."""
        found: dict[str, dict[str, Any]] = {}
        for place, path in enumerate(self.files):
            names = [*SCALARS, *VOLATILE, "notices"]
            for number, row in enumerate(_read(path, names).to_pylist()):
                old = found.get(row["key"])
                if old is None or (old["status"] == "failed" and row["status"] == "done"):
                    found[row["key"]] = {**row, "_file": place, "_row": number}
        order = ("dataset", "mechanism", "label_frequency", "method", "seed", "key")
        return tuple(sorted(found.values(), key=lambda row: tuple(row[name] for name in order)))

    @property
    def done(self) -> tuple[dict[str, Any], ...]:
        return tuple(row for row in self.runs if row["status"] == "done")

    @property
    def failed(self) -> tuple[dict[str, Any], ...]:
        return tuple(row for row in self.runs if row["status"] == "failed")

    @cached_property
    def _by_key(self) -> dict[str, dict[str, Any]]:
        return {row["key"]: row for row in self.runs}

    @cached_property
    def _choices(self) -> dict[str, dict[str, dict[str, Any]]]:
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for place, path in enumerate(self.files):
            table = _columns(path, ["key", "choices"])
            for number, (key, choices) in enumerate(
                zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
            ):
                row = self._by_key[key]
                if (row["_file"], row["_row"]) == (place, number):
                    found[key] = {choice["selection"]: choice for choice in choices or ()}
        return found

    def results(self, selection: str = "own") -> Iterator[dict[str, Any]]:
        """Finished runs with the epoch a criterion chose and the test metrics there.

        ``"own"`` is each method's own criterion; others are ``"proxy_accuracy"``, ``"proxy_auc"``, ``"loss"`` (where a
        method has one), ``"oracle_accuracy"``, ``"oracle_f1"`` (both use true validation labels) and ``"last"``.
        Runs without that criterion are left out.
        """
        for row in self.done:
            choice = self.choice(row["key"], selection)
            if choice is not None:
                yield {**{name: value for name, value in row.items() if name[0] != "_"}, **choice}

    def choice(self, key: str, selection: str = "own") -> dict[str, Any] | None:
        """The epoch that a criterion chose for a run and the exact test metrics there, or None."""
        chosen = self._row(key)["own_selection"] if selection == "own" else selection
        return self._choices[key].get(chosen)

    def curve(self, key: str) -> dict[str, Any]:
        """What was seen after every epoch: a numpy array per column."""
        points = self._cell(key, "curve")
        return {name: np.array([point[name] for point in points], float) for name in CURVE}

    def tally(self, key: str, part: str = "test", selection: str = "own", *, truth: bool = False) -> Tally:
        """Counts at the epoch a criterion chose: of PU labels, or with ``truth`` of true classes (1 and -1).

        A row is predicted positive where its score is at least 0.
        """
        chosen = self.choice(key, selection)
        if chosen is None:
            raise InputError(f"run {key} has no selection {selection!r}; it has {listed(self._choices[key])}.")
        counts = self.counts(key, part, chosen["epoch"])
        upper, lower = ("positive", "negative") if truth else ("labelled", "unlabelled")
        used = (counts[upper] + counts[lower]) > 0  # a bin may hold rows of the other counting only
        lowest, highest, first, second = (counts[name][used] for name in ("lowest", "highest", upper, lower))
        if truth:
            return Tally.from_increments(lowest, first, np.zeros_like(first), second, highest)
        return Tally.from_increments(lowest, first, second, None, highest)

    def counts(self, key: str, part: str, epoch: int) -> dict[str, Any]:
        """Rows per bin of scores at a chosen epoch: positive, negative (the truth), labelled, unlabelled."""
        for stored in self._cell(key, "tallies"):
            if stored["part"] == part and stored["epoch"] == epoch:
                integers = {kind: np.asarray(stored[kind], np.int64) for kind in KINDS}
                bounds = {name: np.asarray(stored[name], np.float32).astype(float) for name in ("lowest", "highest")}
                return bounds | integers
        raise InputError(f"run {key} keeps no tally of the {part} rows at epoch {epoch}: some scores were not finite.")

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Everything as one Arrow table, a row per file entry, sorted by key."""
        parts = [_read(path, SCHEMA.names if columns is None else columns) for path in self.files]
        found = pa.concat_tables(parts) if parts else SCHEMA.empty_table()
        return found.sort_by("key") if "key" in found.column_names else found

    def __len__(self) -> int:
        return len(self.runs)

    def __str__(self) -> str:
        return f"Archive({self.folder}: {len(self.done):,} runs done, {len(self.failed):,} failed)"

    def _row(self, key: str) -> dict[str, Any]:
        if key not in self._by_key:
            raise InputError(f"the archive {self.folder} has no run {key!r}.")
        return self._by_key[key]

    def _cell(self, key: str, column: str) -> Any:
        row = self._row(key)
        return self._column(row["_file"], column)[row["_row"]].as_py() or []

    def _column(self, place: int, column: str) -> Any:
        cached = self.__dict__.setdefault("_read", {})
        if (place, column) not in cached:
            while len(cached) >= 8:  # a few stacks at a time: tallies of many are large
                del cached[next(iter(cached))]
            cached[place, column] = _columns(self.files[place], [column])[column]
        return cached[place, column]


def fault(path: Path) -> str | None:
    """Why a file holds no results that can be used, or None: everything in it is read once."""
    if path.is_dir():
        return "it is a folder"
    try:
        table = _columns(path, SCHEMA.names)
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


def _columns(path: Path, columns: Sequence[str]) -> pa.Table:
    return pq.read_table(path, columns=list(columns), schema=SCHEMA)


def _close(presence: int) -> None:
    with suppress(OSError):
        os.close(presence)


def _read(path: Path, columns: Sequence[str]) -> pa.Table:
    """Columns of one file; what an older version did not write is filled in."""
    table = _columns(path, columns)
    if "needs_support" in columns and table["needs_support"].null_count:
        methods = _columns(path, ["method"])["method"].to_pylist()
        known = pa.array([name in SUPPORTED_BEFORE for name in methods], _b)
        table = table.set_column(table.column_names.index("needs_support"), "needs_support", known)
    return table


def read(folder: str | Path) -> Archive:
    """Open an archive for reading; runs that are being added later are not seen."""
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"there is no archive {str(place)!r}.")
    if (place / FACTS).exists():
        _check_format(place)
    return Archive(place)


def differences(first: Archive, second: Archive) -> list[str]:
    """What two archives say differently, timings, hardware and versions aside; empty if they are equal."""
    names = [name for name in SCHEMA.names if name not in VOLATILE]
    mine, theirs = ({row["key"]: row for row in _plain(one.table(names).to_pylist())} for one in (first, second))
    found = [f"{key} is in the first only" for key in sorted(set(mine) - set(theirs))]
    found += [f"{key} is in the second only" for key in sorted(set(theirs) - set(mine))]
    for one in (first, second):
        keys = one.table(["key"])["key"].to_pylist()
        found += [f"{key} is in {one.folder} twice" for key in sorted({key for key in keys if keys.count(key) > 1})]
    for key in sorted(set(mine) & set(theirs)):
        found += [
            f"{key}: {name} differs" for name in names if _canonical(mine[key][name]) != _canonical(theirs[key][name])
        ]
    return found


def _plain(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows without the seconds inside curves."""
    for row in rows:
        yield row | {"curve": [{**point, "seconds": None} for point in row["curve"] or ()]}


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _check_format(folder: Path) -> None:
    try:
        found = parse_json(read_bounded(folder / FACTS), str(folder / FACTS))["pulens_benchmark"]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(
            f"{folder / FACTS} is not the description of an archive: {error}. If {folder} is one of this version of "
            "pulens, remove that file: `pulens bench run` writes it anew."
        ) from error
    if found != FORMAT:
        raise InputError(f"{folder} has format {found!r}; this version of pulens reads and writes format {FORMAT}.")
