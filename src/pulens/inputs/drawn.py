"""Rows drawn out of whatever holds them: within ranges of scores, those with the smallest keys.

A row's key is a function of the seed and of the row alone: its number, scrambled, or md5 of its id. So neither the size
of chunks nor the engine decides which rows are drawn, and more rows always hold the fewer ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.atomic_write import is_channel
from pulens.counts.sample import UNLABELLED
from pulens.counts.tally import Totals
from pulens.errors import InputError, listed, shown
from pulens.inputs.arrays import python_values
from pulens.inputs.columns import array_row, file_row, is_null
from pulens.inputs.engines.drive import codes_of
from pulens.inputs.engines.keyed import Drawing
from pulens.inputs.files import rows_from_file
from pulens.inputs.frames import is_frame, open_frame
from pulens.inputs.read import read_sample
from pulens.inputs.reading import ReadOptions
from pulens.inputs.tallies import _engine, is_elsewhere, is_tally_file
from pulens.splitmix import GOLDEN, mix, mixed
from pulens.types import Scores

Words = NDArray[np.uint64]
BLOCK = 1 << 16  # rows that are looked at together


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows by stratum, highest scores first, and in it by key; ``place`` is a row's number where rows have one."""

    stratum: NDArray[np.intp]
    score: NDArray[np.float64]
    place: NDArray[np.int64] | None
    ids: tuple[Any, ...] | None
    kept: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(self.stratum)


def row_keys(seed: int, rows: NDArray[Any]) -> Words:
    """One word for each row number; different rows have different words.

    >>> row_keys(0, np.arange(3))[1:] == row_keys(0, np.arange(1, 3))
    array([ True,  True])
    """
    start = np.uint64(mix(seed * GOLDEN + 1))
    with np.errstate(over="ignore"):
        return mixed(start + np.asarray(rows).astype(np.uint64) * np.uint64(GOLDEN))


def id_keys(seed: int, texts: Sequence[str]) -> Words:
    """The first 64 bits of md5 of seed and id: sorted by them, rows stand as an engine sorts them by its digits.

    >>> [f"{word:016x}" for word in id_keys(7, ["12"]).tolist()]
    ['d22e2ce9601dc1bb']
    """
    prefix = hashlib.md5(f"{seed}:".encode(), usedforsecurity=False)
    digests = []
    for text in texts:
        one = prefix.copy()
        one.update(text.encode("utf-8", "surrogatepass"))
        digests.append(one.digest()[:8])
    return np.frombuffer(b"".join(digests), ">u8").astype(np.uint64)


def id_text(value: Any, where: str) -> str:
    """What tells a row apart, as text: whole numbers in decimal digits, text as it is.

    >>> id_text(7, "row 1"), id_text("007", "row 1")
    ('7', '007')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if is_null(value):
        raise InputError(f"{where} has no id: every unlabelled row needs one. Write it, or leave id= (--id) out.")
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # as frames hold whole numbers beside nulls
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InputError(
            f"ids must be whole numbers or text, got {shown(value)} in {where}: other values are written differently "
            "elsewhere. Turn the column into text first, or name another."
        )
    return str(value)


def read_drawn(
    source: Any,
    scores: Any = None,
    *,
    reading: ReadOptions,
    edges: Sequence[float],
    many: Sequence[int],
    seed: int,
    id: str | None = None,
    kept: Sequence[str] = (),
) -> DrawnRows:
    """Of the unlabelled rows in each range of scores, the ``many`` with the smallest keys.

    ``edges`` are the lower ends of all ranges but the last, highest first. Rows of a database, of a lazy table or of
    several files have no number that would be the same tomorrow: they need an ``id``.

    >>> found = read_drawn([0] * 6, [6, 5, 4, 3, 2, 1], reading=ReadOptions(), edges=[4.0], many=[2, 1], seed=0)
    >>> found.stratum.tolist(), found.place.tolist()
    ([0, 0, 1], [2, 0, 5])
    """
    check_drawable(source, reading, id)
    if scores is None and id is not None:
        opened = _engine(source, reading, kept=tuple(dict.fromkeys((id, *kept))))
        if opened is not None:
            with opened as engine:
                return _from_engine(engine, reading, edges, many, seed, id, tuple(kept))
    held = _Held(edges, many, seed, by_id=id is not None)
    names = ([] if id is None else [id]) + list(kept)
    for labels, result, values in _chunks(source, scores, reading, names):
        held.add(labels, result, values)
    return held.drawn(list(kept))


def read_totals_at(source: Any, threshold: float, *, reading: ReadOptions) -> Totals | None:
    """Rows at or above any number, counted by the engine that counts these rows; ``None`` where no engine does."""
    opened = _engine(source, reading)
    if opened is None:
        return None
    with opened as engine:
        return Totals(*map(float, engine.totals_at(codes_of(engine, reading.coding), threshold)))


def check_drawable(source: Any, reading: ReadOptions, id: str | None) -> None:
    """Refuse what holds no rows, can be read once only, or has no row that could be found again."""
    if reading.weight is not None or reading.weights is not None:
        raise InputError(
            "an audit counts rows; weighted rows are not supported. Leave the weights out, or write each row as often "
            "as it counts."
        )
    if is_tally_file(source) or type(source).__name__ in ("Tally", "JointTally"):
        raise InputError("a tally holds counts and no rows, so no row of it can be checked. Give the table itself.")
    if isinstance(source, str | Path):
        name = str(source)
        if name == "-" or ("://" not in name and is_channel(name)):
            raise InputError(
                "rows to check are drawn in a second reading, and standard input or a pipe can be read once only. "
                "Write the rows to a file first."
            )
    if id is None and (is_elsewhere(source) or reading.where is not None):
        raise InputError(
            "rows of a database, of several files, or under a condition have no lasting number, so a person could not "
            "find them again. Name a column that identifies rows: id=... (--id on the command line)."
        )


def _chunks(
    source: Any, scores: Any, reading: ReadOptions, names: list[str]
) -> Iterator[tuple[NDArray[np.int8], Scores, list[Any]]]:
    if scores is not None or not (isinstance(source, str | Path) or is_frame(source)):
        if names:
            raise InputError(f"id= and keep= name columns of a table or file; arrays have no column {shown(names[0])}.")
        sample = read_sample(source, scores, **reading.rows, allow_one_kind=True)
        yield sample.labels, sample.scores, []
        return
    if isinstance(source, str | Path):
        yield from rows_from_file(source, names, reading)
        return
    sample = read_sample(source, **reading.rows, allow_one_kind=True)
    frame = open_frame(source, *names) if names else None
    yield sample.labels, sample.scores, [python_values(frame.get_column(name)) for name in names] if frame else []


class _Held:
    """The rows with the smallest keys so far, in every range."""

    def __init__(self, edges: Sequence[float], many: Sequence[int], seed: int, *, by_id: bool) -> None:
        self._rising = np.array(edges[::-1], np.float64)
        self._many, self._seed, self._by_id = list(many), seed, by_id
        self._first_row = 0
        self._rows: list[list[tuple[int, int, float, list[Any]]]] = [[] for _ in many]

    def add(self, labels: NDArray[np.int8], scores: Scores, values: list[Any]) -> None:
        for begin in range(0, labels.size, BLOCK):  # small enough to stay near the processor
            end = begin + BLOCK
            self._add(labels[begin:end], scores[begin:end], [column[begin:end] for column in values])

    def _add(self, labels: NDArray[np.int8], scores: Scores, values: list[Any]) -> None:
        first, self._first_row = self._first_row, self._first_row + labels.size
        is_open = labels == UNLABELLED
        if self._by_id:
            places = np.flatnonzero(is_open)
            texts = [id_text(values[0][place], file_row(first + place)) for place in places.tolist()]
            keys = id_keys(self._seed, texts)
        else:
            keys = row_keys(self._seed, np.arange(first, first + labels.size))
            places = np.flatnonzero(is_open & (keys <= self._largest_key()))
            keys = keys[places]
        if not places.size:
            return
        stratum = len(self._rising) - np.searchsorted(self._rising, scores[places].astype(np.float64), "right")
        for which, held in enumerate(self._rows):
            mine = np.flatnonzero(stratum == which)
            limit = self._many[which] + self._by_id  # one more shows whether the last id comes twice
            if mine.size > limit > 0:
                mine = mine[np.argpartition(keys[mine], limit - 1)[:limit]]
            for one in mine.tolist():
                place = int(places[one])
                row = [column[place] for column in values]
                held.append((int(keys[one]), first + place, float(scores[place]), row))
            held.sort(key=lambda row: row[:2])
            del held[limit:]

    def _largest_key(self) -> np.uint64:
        """No row with a larger one can be among those drawn, whatever its stratum."""
        full = [held[-1][0] for held, many in zip(self._rows, self._many, strict=True) if many and len(held) >= many]
        waiting = sum(many > 0 for many in self._many) - len(full)
        return np.uint64((1 << 64) - 1 if waiting else max(full, default=0))

    def drawn(self, kept: list[str]) -> DrawnRows:
        if self._by_id:
            _refuse_twice([[row[3][0] for row in held] for held in self._rows])
        rows = [row for held, many in zip(self._rows, self._many, strict=True) for row in held[:many]]
        stratum = [which for which, held in enumerate(self._rows) for _ in range(min(len(held), self._many[which]))]
        begin = int(self._by_id)
        return DrawnRows(
            np.array(stratum, np.intp),
            np.array([row[2] for row in rows], np.float64),
            np.array([row[1] for row in rows], np.int64),
            tuple(id_text(row[3][0], array_row(row[1])) for row in rows) if self._by_id else None,
            {name: [_plain(row[3][begin + place]) for row in rows] for place, name in enumerate(kept)},
        )


def _from_engine(
    engine: Any,
    reading: ReadOptions,
    edges: Sequence[float],
    many: Sequence[int],
    seed: int,
    id: str,
    kept: tuple[str, ...],
) -> DrawnRows:
    codes = codes_of(engine, reading.coding)
    kind = engine.id_kind(id)
    if kind not in ("integer", "text"):
        raise InputError(
            f"ids (column {shown(id)}) must be whole numbers or text, but the table holds {kind}: other values are "
            "written differently elsewhere. Cast the column in a query or view first, or name another."
        )
    common: dict[str, Any] = {"id": id, "seed": seed, "kept": kept, "is_text": kind == "text"}
    missing = engine.missing_ids(codes, Drawing(many=1, **common))
    if missing:
        raise InputError(
            f"{missing:,} unlabelled row{'s have' if missing > 1 else ' has'} no id in column {shown(id)}: every one "
            "needs one. Write it, or name another column."
        )
    result = []
    ends = [np.inf, *map(float, edges), -np.inf]
    for which, wanted in enumerate(many):
        rows: list[tuple[Any, ...]] = []
        if wanted:
            rows = engine.drawn(codes, (ends[which + 1], ends[which]), Drawing(many=int(wanted) + 1, **common))
        result.append(rows)
    _refuse_twice([[row[0] for row in rows] for rows in result])
    drawn = [(which, row) for which, rows in enumerate(result) for row in rows[: many[which]]]
    return DrawnRows(
        np.array([which for which, _ in drawn], np.intp),
        np.array([float(row[1]) for _, row in drawn], np.float64),
        None,
        tuple(id_text(row[0], f"column {shown(id)}") for _, row in drawn),
        {name: [_plain(row[2 + place]) for _, row in drawn] for place, name in enumerate(kept)},
    )


def _refuse_twice(ids: list[list[Any]]) -> None:
    seen: dict[str, int] = {}
    for held in ids:
        for one in held:
            seen[str(one)] = seen.get(str(one), 0) + 1
    twice = [one for one, times in seen.items() if times > 1]
    if twice:
        raise InputError(
            f"several rows have the id {listed(twice, limit=3)}: an answer could not be given to one of them. Name a "
            "column that identifies every unlabelled row."
        )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
