"""The archive: a folder of Parquet files, one per finished stack, each written whole or not at all.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     len(read(folder))
0
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from pulens.counts.tally import Tally
from pulens.errors import InputError, listed
from pulens.research.benchmark.archive.counts import KINDS, macro_f1
from pulens.research.benchmark.archive.files import FACTS, RUNS, check_format, fault, read_columns
from pulens.research.benchmark.archive.measured import check_metric, true_value
from pulens.research.benchmark.archive.row import CIRCUMSTANCES, CURVE, SCALARS, SCHEMA
from pulens.research.benchmark.vocabulary import current, variant_name


class NoTallyError(InputError):
    """Scores that are not finite cannot be counted."""


@dataclass(frozen=True)
class Archive:
    """The reading side: runs as rows, their choices, curves and tallies."""

    folder: Path
    no_scores: ClassVar[str] = "some were not finite."  # why a run may have none

    @cached_property
    def _faults(self) -> dict[Path, str | None]:
        result = {}
        for path in sorted((self.folder / RUNS).glob("*.parquet")):
            with suppress(FileNotFoundError):  # a failed run was replaced this very moment
                result[path] = fault(path)
        return result

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
        result: dict[str, dict[str, Any]] = {}
        for place, path in enumerate(self.files):
            names = list(SCALARS)
            for number, row in enumerate(map(_told_apart, read_columns(path, names).to_pylist())):
                old = result.get(row["key"])
                if old is None or (old["status"] == "failed" and row["status"] == "done"):
                    result[row["key"]] = {**row, "_file": place, "_row": number}
        order = ("dataset", "mechanism", "label_frequency", "learner", "seed", "key")
        return tuple(sorted(result.values(), key=lambda row: tuple(row[name] for name in order)))

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
        result: dict[str, dict[str, dict[str, Any]]] = {}
        for place, path in enumerate(self.files):
            table = read_columns(path, ["key", "choices"])
            for number, (key, choices) in enumerate(
                zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
            ):
                row = self._by_key[key]
                if (row["_file"], row["_row"]) == (place, number):
                    result[key] = {choice["selection"]: _completed(choice, row) for choice in choices or ()}
        return result

    def results(self, selection: str = "own", metric: str | None = None) -> Iterator[dict[str, Any]]:
        """Finished runs with the epoch a criterion chose and the test metrics there; of others than are stored, one.

        ``"own"`` is each learner's own criterion; others are ``"proxy_accuracy"``, ``"proxy_roc_auc"``, ``"loss"``
        (where a learner has one), ``"oracle_accuracy"``, ``"oracle_f1"``, ``"oracle_macro_f1"`` (these use true
        validation labels) and ``"last"``. Runs without that criterion are left out.
        """
        for row in self.done:
            choice = self.choice(row["key"], selection)
            if choice is not None:
                own = {name: value for name, value in row.items() if name[0] != "_"} | choice
                if metric is not None and check_metric(metric) not in choice:
                    own[check_metric(metric)] = self.metric(row["key"], metric, selection)
                yield own

    def metric(self, key: str, name: str, selection: str = "own") -> float:
        """Any metric of the catalogue, of a run's test rows with their true classes at the epoch a criterion chose.

        Stored ones were computed before scores were binned. Others come from the archived tally, and are nan where
        there is none since some scores were not finite.
        """
        word, chosen = check_metric(name), self.choice(key, selection)
        if chosen is not None and chosen.get(word) is not None:
            return float(chosen[word])
        measured: dict[tuple[str, str, int | None], float] = self.__dict__.setdefault("_measured", {})
        place = key, word, None if chosen is None else chosen["epoch"]
        if place not in measured:  # several criteria choose one epoch
            try:
                measured[place] = true_value(word, self.tally(key, "test", selection, truth=True))
            except NoTallyError:
                measured[place] = float("nan")
        return measured[place]

    def choice(self, key: str, selection: str = "own") -> dict[str, Any] | None:
        """The epoch that a criterion chose for a run and the exact test metrics there, or None."""
        chosen = self._row(key)["own_selection"] if selection == "own" else current(selection)
        return self._choices[key].get(chosen)

    def epoch(self, key: str, selection: str = "own") -> int:
        """The epoch that a criterion chose for a run; an error where the run has no such criterion."""
        chosen = self.choice(key, selection)
        if chosen is None:
            raise InputError(f"run {key} has no selection {selection!r}; it has {listed(self._choices[key])}.")
        return int(chosen["epoch"])

    def curve(self, key: str) -> dict[str, Any]:
        """What was seen after every epoch: a numpy array per column."""
        points = self._cell(key, "curve")
        return {name: np.array([point[name] for point in points], float) for name in CURVE}

    def tally(self, key: str, part: str = "test", selection: str = "own", *, truth: bool = False) -> Tally:
        """Counts at the epoch a criterion chose: of PU labels, or with ``truth`` of true classes (1 and -1).

        A row is predicted positive where its score is at least 0.
        """
        counts = self.counts(key, part, self.epoch(key, selection))
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
        raise NoTallyError(
            f"run {key} keeps no tally of the {part} rows at epoch {epoch}: some scores were not finite."
        )

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Everything as one Arrow table, a row per file entry, sorted by key."""
        parts = [read_columns(path, SCHEMA.names if columns is None else columns) for path in self.files]
        result = pa.concat_tables(parts) if parts else SCHEMA.empty_table()
        return result.sort_by("key") if "key" in result.column_names else result

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
            cached[place, column] = read_columns(self.files[place], [column])[column]
        return cached[place, column]


def read(folder: str | Path) -> Archive:
    """Open an archive for reading; runs that are being added later are not seen."""
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"there is no archive {str(place)!r}.")
    if (place / FACTS).exists():
        check_format(place)
    return Archive(place)


def differences(first: Archive, second: Archive) -> list[str]:
    """What two archives say differently, timings, hardware and versions aside; empty if they are equal."""
    names = [name for name in SCHEMA.names if name not in CIRCUMSTANCES]
    mine, theirs = ({row["key"]: row for row in _plain(one.table(names).to_pylist())} for one in (first, second))
    result = [f"{key} is in the first only" for key in sorted(set(mine) - set(theirs))]
    result += [f"{key} is in the second only" for key in sorted(set(theirs) - set(mine))]
    for one in (first, second):
        keys = one.table(["key"])["key"].to_pylist()
        result += [f"{key} is in {one.folder} twice" for key in sorted({key for key in keys if keys.count(key) > 1})]
    for key in sorted(set(mine) & set(theirs)):
        result += [
            f"{key}: {name} differs" for name in names if _canonical(mine[key][name]) != _canonical(theirs[key][name])
        ]
    return result


#: Who cut by the class prior in archives older than the column that says so.
CUT_BEFORE = frozenset({"lbe", "pan", "cgenpu"})


def _told_apart(row: dict[str, Any]) -> dict[str, Any]:
    """A run whose learner has the words of its variant in its name and title: another version is another learner."""
    if row["told_class_prior"] is None:
        row["told_class_prior"] = row["learner"] in CUT_BEFORE and row["given_class_prior"] is not None
    if row["variant"]:
        row |= {name: variant_name(row[name], row["variant"]) for name in ("learner", "title") if row[name]}
    return row


def _completed(choice: dict[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """A choice with macro-F1, which runs older than that metric do not store: their other metrics imply it."""
    known = choice["recall"], choice["predicted_positive_rate"], row["test_positives"], row["test_rows"]
    if choice["macro_f1"] is not None or any(value is None or np.isnan(value) for value in known):
        return choice
    recall, called, positives, rows = known
    return choice | {"macro_f1": macro_f1(round(recall * positives), round(called * rows), positives, rows)}


def _plain(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows without the seconds inside curves."""
    for row in rows:
        yield row | {"curve": [{**point, "seconds": None} for point in row["curve"] or ()]}


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
