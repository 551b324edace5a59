"""Tallies as small Parquet files: what each score counts, and where the rows came from.

A file holds one row per distinct score (or bin): ``score``, ``labelled``, ``unlabelled``, ``negative`` and, for bins,
``highest``. A joint tally has one row per combination of scores: ``score_1``, ``score_2`` and so on, whose names stand
in the metadata. A tally by cluster has the rows of its tally, with ``bucket`` -1, and those of each bucket and block of
scores, with the bucket's place among the names in the metadata. The metadata lists the parts that were counted into the
file, each with a digest of its counts, so that a part cannot be counted twice by mistake. Nothing in it depends on the
time or the machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pulens._version import __version__
from pulens.atomic_write import whole_file
from pulens.counts.buckets import DIGEST_DIGITS, HASHED_DIGITS, MOST_BUCKETS, BucketTally
from pulens.counts.exactness import LARGEST_WHOLE
from pulens.counts.joint import JointTally
from pulens.counts.tally import Tally, check_total
from pulens.errors import InputError, cut, listed, shown
from pulens.inputs.memory import check_room
from pulens.inputs.tables.arrow import pyarrow_for

FORMAT, JOINT_FORMAT, BUCKET_FORMAT = 1, 2, 3  # older versions know the first ones alone, and say so
MOST_SCORES = 1000  # of a joint tally
TALLY_ROW_BYTES = 160  # the columns of a tally as they are read, checked, joined and added up
METADATA = b"pulens"
ESCAPED = "backslashreplace"  # half a character, as JSON writes it
COUNTS = ("labelled", "unlabelled", "negative")


AnyTally = Tally | JointTally | BucketTally


@dataclass(frozen=True, slots=True)
class TallyFile:
    """A tally and the parts it is made of, each a mapping with ``source``, ``rows``, ``digest`` and more."""

    tally: AnyTally
    parts: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, tally: AnyTally, **provenance: Any) -> TallyFile:
        """A tally counted from one source."""
        told = {name: value for name, value in sorted(provenance.items()) if value is not None}
        totals = tally.tally.totals if isinstance(tally, BucketTally) else tally.totals
        return cls(tally, ({**told, "rows": totals.rows, "digest": digest(tally)},))

    def __add__(self, other: TallyFile) -> TallyFile:
        parts = sorted((*self.parts, *other.parts), key=_canonical)
        return TallyFile(_added(self.tally, other.tally), tuple(parts))

    def __str__(self) -> str:
        return f"{self.tally} from {len(self.parts)} part{'s' if len(self.parts) > 1 else ''}"


def _added(one: AnyTally, other: AnyTally) -> AnyTally:
    if isinstance(one, JointTally) and isinstance(other, JointTally):
        return one + other
    if isinstance(one, Tally) and isinstance(other, Tally):
        return one + other
    if isinstance(one, BucketTally) and isinstance(other, BucketTally):
        return one + other
    if isinstance(one, BucketTally) or isinstance(other, BucketTally):
        raise InputError(
            "a tally by cluster and one without clusters cannot be added: nothing says which rows of the latter belong "
            "together. Count the rows of both alike (pulens tally with the same --cluster)."
        )
    raise InputError(
        "a tally of one score and a joint tally of several cannot be added: count the rows of both alike (pulens tally "
        "with the same --score)."
    )


def digest(tally: AnyTally) -> str:
    """A fingerprint of the counts.

    >>> tally = Tally.from_arrays(np.array([1, 0]), np.array([0.5, 0.25]))
    >>> digest(tally) == digest(tally + tally)
    False
    """
    result = hashlib.sha256()
    if isinstance(tally, JointTally):
        result.update(_canonical(tally.names).encode("utf-8", ESCAPED))
        arrays = [tally.scores, tally.labelled, tally.unlabelled, tally.negative]
    elif isinstance(tally, BucketTally):
        result.update(_canonical((tally.names, digest(tally.tally))).encode("utf-8", ESCAPED))
        arrays = [tally.lowest, tally.bucket, tally.block, tally.labelled, tally.unlabelled, tally.negative]
    else:
        arrays = [tally.thresholds, tally.highest, *tally.increments()]
    for values in arrays:
        result.update(np.ascontiguousarray(values, np.float64).tobytes())
    return result.hexdigest()[:32]


def merge(files: Iterable[TallyFile], *, allow_repeats: bool = False) -> TallyFile:
    """Add tallies up, refusing the same part twice."""
    chosen = list(files)
    if not chosen:
        raise InputError("there is no tally to merge.")
    seen: dict[str, str] = {}
    for part in (part for file in chosen for part in file.parts):
        source = str(part.get("source", "unnamed"))
        if part["digest"] in seen and not allow_repeats:
            raise InputError(
                f"the part {shown(source)} has exactly the counts of {shown(seen[part['digest']])} and would be "
                "counted twice. "
                "Leave one of them out, or say that repeats are meant (allow_repeats=True, or --allow-repeats)."
            )
        seen[part["digest"]] = source
    # two by two, so that a thousand days cost as much as ten times a hundred
    while len(chosen) > 1:
        pairs = [chosen[place : place + 2] for place in range(0, len(chosen), 2)]
        chosen = [pair[0] if len(pair) == 1 else pair[0] + pair[1] for pair in pairs]
    return chosen[0]


def write_tally_file(path: str | Path, file: TallyFile) -> None:
    """Write a tally; the file appears complete or not at all."""
    pa, parquet = _pyarrow()
    tally = file.tally
    told: dict[str, Any] = {"format": FORMAT, "pulens": __version__, "parts": [dict(part) for part in file.parts]}
    if isinstance(tally, JointTally):
        told |= {"format": JOINT_FORMAT, "scores": list(tally.names)}
        columns = dict(zip(_score_columns(tally.names), (tally.column(name) for name in tally.names), strict=True))
        columns |= dict(zip(COUNTS, (tally.labelled, tally.unlabelled, tally.negative), strict=True))
    elif isinstance(tally, BucketTally):
        told |= {"format": BUCKET_FORMAT, "buckets": list(tally.names), "clusters": list(tally.counted_clusters)}
        told["counted"] = tally.rows
        columns = _bucket_columns(tally)
    else:
        columns = {"score": tally.thresholds, **dict(zip(COUNTS, tally.increments(), strict=True))}
        if tally.binning is not None:
            columns["highest"] = tally.highest
    table = pa.table(columns).replace_schema_metadata({METADATA: _canonical(told).encode("utf-8", ESCAPED)})
    with whole_file(path) as temporary:
        # what a browser can unpack by itself: the one page reads tallies too
        parquet.write_table(table, temporary, compression="gzip", compression_level=4, use_dictionary=False)


def read_tally_file(path: str | Path) -> TallyFile:
    """Read a tally and check that its counts can be counts."""
    told, columns = _read_columns(path)
    if not all(values.dtype.kind in "fi" for values in columns.values()):
        raise InputError(f"{path}: a damaged tally: its columns must be complete, finite numbers.")
    for name in COUNTS:
        check_total(float(columns[name].sum(dtype=np.float64)), f"{path}: its {name} counts")
    try:
        tally = _made(columns, told)
    except InputError as error:
        raise InputError(f"{path}: a damaged tally: {error}") from error
    return TallyFile(tally, tuple(told["parts"]))


def _read_columns(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the metadata tells, and the columns by name."""
    pa, parquet = _pyarrow()
    if not os.path.isfile(path):
        raise InputError(f"{path}: there is no such file.")
    try:
        file = parquet.ParquetFile(path)
        check_room(
            TALLY_ROW_BYTES * file.metadata.num_rows,
            f"{path}: a tally of {file.metadata.num_rows:,} scores",
            "Count the rows again with --tolerance, which bins them.",
        )
        told = json.loads((file.schema_arrow.metadata or {}).get(METADATA, b"null"))
        _check_told(path, told, file.schema_arrow.names)
        wanted = (*_score_columns(told.get("scores")), *COUNTS)
        wanted += ("highest", "bucket") if told["format"] == BUCKET_FORMAT else ()
        table = file.read([name for name in file.schema_arrow.names if name in (*wanted, "highest")])
        table.validate(full=True)
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, RecursionError, MemoryError, KeyError) as error:
        said = cut(" ".join(str(error).split()), 200) or type(error).__name__
        raise InputError(f"{path}: not a readable tally file: {said}") from error
    missing = [name for name in wanted if table.column_names.count(name) != 1]
    if missing:
        raise InputError(f"{path}: a tally without the column{'s' if len(missing) > 1 else ''} {listed(missing)}.")
    return told, {name: table[name].to_numpy() for name in table.column_names}


def is_bucket_file(path: str | Path) -> bool:
    """Whether a tally file says that its rows were counted by cluster; a file that cannot be read says nothing."""
    pa, parquet = _pyarrow()
    try:
        told = json.loads((parquet.read_schema(path).metadata or {}).get(METADATA, b"null"))
    except (pa.ArrowException, OSError, ValueError, RecursionError, MemoryError):
        return False
    return isinstance(told, dict) and told.get("format") == BUCKET_FORMAT


def _made(columns: Mapping[str, Any], told: Mapping[str, Any]) -> AnyTally:
    if told["format"] == JOINT_FORMAT:
        return _joint(columns, told["scores"])
    return _in_buckets(columns, told) if told["format"] == BUCKET_FORMAT else _plain(columns)


def _bucket_columns(tally: BucketTally) -> dict[str, Any]:
    """The rows of the tally, then those of each bucket and block."""
    own, mine = tally.tally, tally.block
    pairs = {
        "score": (own.thresholds, tally.lowest[mine]),
        "highest": (own.highest, tally.highest[mine]),
        **{name: (kind, getattr(tally, name)) for name, kind in zip(COUNTS, own.increments(), strict=True)},
        "bucket": (np.full(len(own), -1, np.int16), tally.bucket),
    }
    return {name: np.concatenate(pair) for name, pair in pairs.items()}


def _in_buckets(columns: Mapping[str, Any], told: Mapping[str, Any]) -> BucketTally:
    names, clusters, rows = told["buckets"], told["clusters"], told["counted"]
    bucket = columns["bucket"]
    if bucket.dtype.kind != "i" or bucket.min(initial=-1) < -1 or bucket.max(initial=-1) >= len(names):
        raise InputError(f"it names {len(names)} buckets, and its rows are about others.")
    mine = bucket >= 0
    plain = {name: values[~mine] for name, values in columns.items()}
    if np.array_equal(plain["score"], plain["highest"]):
        del plain["highest"]
    ends = columns["score"][mine], columns["highest"][mine]
    counts = [columns[name][mine] for name in COUNTS]
    result = BucketTally.from_increments(
        _plain(plain), names, bucket[mine], ends, counts, clusters=(clusters[0], clusters[1]), rows=rows
    )
    result.check()
    return result


def _plain(columns: Mapping[str, Any]) -> Tally:
    labelled, unlabelled, negative = (columns[name] for name in COUNTS)
    return Tally.from_increments(
        columns["score"], labelled, unlabelled, negative if negative.any() else None, columns.get("highest")
    )


def _joint(columns: Mapping[str, Any], names: list[str]) -> JointTally:
    scores = [columns[name] for name in _score_columns(names)]
    types = [np.dtype(np.float32 if values.dtype == np.float32 else np.float64) for values in scores]
    counts = (columns[name] for name in COUNTS)
    return JointTally.from_increments(names, np.column_stack(scores).astype(np.float64), *counts, types=types)


def _score_columns(names: Iterable[str] | None) -> list[str]:
    """What the columns of scores are called in a file: names of models could be those of counts."""
    return ["score"] if names is None else [f"score_{place}" for place, _ in enumerate(names, start=1)]


def _check_told(path: str | Path, told: Any, columns: list[str]) -> None:
    """Refuse metadata that no version of this library has written, or that only a newer one can read."""
    if not isinstance(told, dict) or "parts" not in told:
        raise InputError(f"{path}: not a tally file; `pulens tally` writes them. Its columns are {listed(columns)}.")
    if told.get("format") not in (FORMAT, JOINT_FORMAT, BUCKET_FORMAT):
        raise InputError(
            f"{path}: a tally of format {shown(told.get('format'))}, written by pulens {shown(told.get('pulens'))}; "
            "this version "
            f"({__version__}) reads format {FORMAT}, {JOINT_FORMAT} and {BUCKET_FORMAT}. Use the version that wrote "
            "it, or a newer one."
        )
    if not _are_parts(told["parts"]):
        raise InputError(
            f"{path}: a damaged tally: it must list its parts, each with a digest, got {shown(told['parts'])}."
        )
    if (told["format"] == JOINT_FORMAT) != ("scores" in told) or not _are_names(told.get("scores", ["a", "b"])):
        raise InputError(
            f"{path}: a damaged tally: a joint tally must name two or more different scores, got "
            f"{shown(told.get('scores'))}."
        )

    if told["format"] == BUCKET_FORMAT and not _are_buckets(told):
        raise InputError(
            f"{path}: a damaged tally: it must name at most {MOST_BUCKETS} buckets by digests, all of one length, and "
            f"say how many clusters and rows they hold, got {shown(told.get('buckets'))}."
        )


def _are_buckets(told: Mapping[str, Any]) -> bool:
    names, clusters, rows = told.get("buckets"), told.get("clusters"), told.get("counted")
    if not isinstance(names, list) or not 1 <= len(names) <= MOST_BUCKETS or len(set(map(str, names))) < len(names):
        return False
    lengths = {len(name) if isinstance(name, str) and re.fullmatch("[0-9a-f]+", name) else 0 for name in names}
    numbers = [*clusters, rows] if isinstance(clusters, list) and len(clusters) == 2 else []
    return (
        lengths in ({HASHED_DIGITS}, {DIGEST_DIGITS})
        and len(numbers) == 3
        and all(isinstance(number, int) and not isinstance(number, bool) for number in numbers)
        and 1 <= numbers[0] <= numbers[1] <= LARGEST_WHOLE
        and 0 <= numbers[2] <= LARGEST_WHOLE
    )


def _are_names(names: Any) -> bool:
    return (
        isinstance(names, list)
        and 2 <= len(names) <= MOST_SCORES
        and all(isinstance(name, str) for name in names)
        and len(set(names)) == len(names)
    )


def _are_parts(parts: Any) -> bool:
    """Whether this lists what was counted into a tally, as this library writes it."""
    return (
        isinstance(parts, list)
        and bool(parts)
        and all(isinstance(part, dict) and isinstance(part.get("digest"), str) for part in parts)
    )


def _canonical(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    try:
        text.encode()
    except UnicodeEncodeError:  # halves of characters, as another file may spell them
        text = json.dumps(value, sort_keys=True, default=str)
    return text


def _pyarrow() -> tuple[Any, Any]:
    result = pyarrow_for("tally files")
    return result, result.parquet
