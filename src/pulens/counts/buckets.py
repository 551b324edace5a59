"""Rows that belong together: how many of each kind every bucket of clusters holds in every block of scores.

A cluster is what rows share: a patient, a customer, a query. A bucket is a cluster while there are at most 256 of them;
beyond, clusters are put together by the first two hexadecimal digits of the md5 digest of their id's text. Digests do
not depend on the rows, so the buckets of days, shards and machines add up, and every engine finds the same ones. A
bucket that is a single cluster is named by its whole digest: files of counts hold no ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.binning import bits_for, cells
from pulens.counts.sample import LABELLED, NEGATIVE, UNLABELLED, PUSample
from pulens.counts.tally import Tally, check_counts, check_total
from pulens.errors import InputError
from pulens.types import Counted, Floats

MOST_BUCKETS = 256
HASHED_DIGITS, DIGEST_DIGITS = 2, 32
EXACT_BUCKET_ROWS = 4_000_000  # rows of which buckets keep every distinct score; beyond, cells of scores
BUCKET_CELL_BITS = 10  # such cells in a first pass: 1,024
COUNTS = ("labelled", "unlabelled", "negative")


def digest_of(text: str) -> str:
    """The md5 digest of an id as text: not a secret, but spread evenly and the same everywhere.

    >>> digest_of("7")
    '8f14e45fceea167a5a36dedd4bea2543'
    """
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def bucket_names(clusters: Sequence[str]) -> list[str]:
    """The bucket of each of these different clusters: its own digest, or two digits of it if there are too many.

    >>> bucket_names(["7", "8"])[0], len(set(bucket_names([str(i) for i in range(5000)])))
    ('8f14e45fceea167a5a36dedd4bea2543', 256)
    """
    digests = [digest_of(cluster) for cluster in clusters]
    return digests if len(digests) <= MOST_BUCKETS else [digest[:HASHED_DIGITS] for digest in digests]


@dataclass(frozen=True, eq=False)
class BucketTally:
    """A tally, and the same rows counted by bucket and block of scores: what dependent rows need of the rows.

    ``tally`` counts all rows as ever. ``names`` are the buckets; ``lowest`` and ``highest`` the blocks of scores,
    highest first; ``bucket`` and ``block`` say which of them each row of counts belongs to. ``rows`` are rows, whatever
    they weigh.

    >>> counted = BucketTally.from_rows([1, 1, 0, 0], [0.9, 0.4, 0.3, 0.1], ["a", "b", "a", "b"])
    >>> counted.totals[:, :2].tolist(), counted.clusters
    ([[1.0, 1.0], [1.0, 1.0]], (2, 2))
    >>> print(counted + counted)
    BucketTally(4 labelled, 4 unlabelled, 4 distinct scores, 2 clusters in 2 buckets)
    """

    tally: Tally
    names: tuple[str, ...]
    lowest: NDArray[np.floating[Any]]
    highest: NDArray[np.floating[Any]]
    bucket: NDArray[np.int16]
    block: NDArray[np.int32]
    labelled: Counted
    unlabelled: Counted
    negative: Counted
    counted_clusters: tuple[int, int]  # the most that a part had, and the sum of all parts'
    rows: int

    def __post_init__(self) -> None:
        for name in ("lowest", "highest", "bucket", "block", *COUNTS):
            getattr(self, name).flags.writeable = False  # frozen guards the names, not what the arrays hold

    @classmethod
    def from_rows(cls, labels: Any, scores: Any, clusters: Iterable[Any], weights: Any = None) -> BucketTally:
        """Count rows given as checked labels and scores, with the text of each row's cluster."""
        floats = np.asarray(scores)
        if floats.dtype not in (np.float32, np.float64):
            floats = floats.astype(np.float64)
        sample = PUSample(np.asarray(labels).astype(np.int8), floats, None if weights is None else np.asarray(weights))
        indices: dict[str, int] = {}
        codes = np.fromiter((indices.setdefault(str(one), len(indices)) for one in clusters), np.int64)
        return cls.from_sample(sample, list(indices), codes)

    @classmethod
    def from_sample(cls, sample: PUSample, clusters: Sequence[str], codes: NDArray[Any]) -> BucketTally:
        """Count checked rows; ``codes`` are places in the different ``clusters``, by their text."""
        counts = sample.counts
        if counts is not None:  # clusters without any row that counts vanish too
            mine, codes = np.unique(np.asarray(codes)[counts], return_inverse=True)
            sample, clusters = sample.of(counts), [clusters[code] for code in mine]
        names = bucket_names(clusters)
        weights: Any = np.ones(len(sample), np.int64) if sample.weights is None else sample.weights
        kinds = [np.where(sample.labels == code, weights, 0) for code in (LABELLED, UNLABELLED, NEGATIVE)]
        lowest = highest = sample.scores
        if len(sample) > EXACT_BUCKET_ROWS:
            lowest, highest = _ends_of_cells(sample.scores)
        return cls.from_increments(
            Tally.from_sample(sample),
            [names[code] for code in range(len(names))],
            codes,
            (lowest, highest),
            kinds,
            clusters=(len(clusters), len(clusters)),
            rows=len(sample),
        )

    @classmethod
    def from_increments(
        cls,
        tally: Tally,
        names: Sequence[str],
        codes: NDArray[Any],
        scores: tuple[NDArray[Any], NDArray[Any]],
        counts: Sequence[NDArray[Any]],
        *,
        clusters: tuple[int, int],
        rows: int,
    ) -> BucketTally:
        """Build from counts per bucket and range of scores, in any order; names may repeat and are made one.

        Ranges of scores (lowest and highest of each) that overlap are joined into one block.
        """
        kept, index = np.unique(np.asarray(names, str), return_inverse=True)
        low, high = (np.asarray(ends, tally.thresholds.dtype) for ends in scores)
        order = np.argsort(low, kind="stable")[::-1]  # highest first
        low, high = low[order] + 0, high[order] + 0  # adding zero turns -0.0 into 0.0
        block, lowest, highest = _blocks(low, high)
        cell = block * max(kept.size, 1) + index.astype(np.int64)[np.asarray(codes)[order]]
        within = np.argsort(cell, kind="stable")  # quick: they are nearly in order
        cell, order = cell[within], order[within]
        first = np.flatnonzero(np.append(True, cell[1:] != cell[:-1])) if cell.size else np.zeros(0, np.int64)
        kind = np.float64 if any(np.asarray(count).dtype.kind == "f" for count in counts) else np.int64
        summed = [
            np.add.reduceat(np.asarray(count, kind)[order], first) if first.size else np.zeros(0, kind)
            for count in counts
        ]
        used, some = cell[first], np.any([count != 0 for count in summed], axis=0)
        return cls(
            tally,
            tuple(str(name) for name in kept),
            lowest,
            highest,
            (used[some] % max(kept.size, 1)).astype(np.int16),
            (used[some] // max(kept.size, 1)).astype(np.int32),
            summed[0][some],
            summed[1][some],
            summed[2][some],
            clusters,
            rows,
        )

    @property
    def is_hashed(self) -> bool:
        """Whether a bucket may hold several clusters."""
        return any(len(name) == HASHED_DIGITS for name in self.names)

    @property
    def clusters(self) -> tuple[int, int]:
        """How many clusters there are, at least and at most: clusters of two parts may be the same ones."""
        if not self.is_hashed:
            return len(self), len(self)
        return max(self.counted_clusters[0], len(self)), self.counted_clusters[1]

    @property
    def holds_single_rows(self) -> bool:
        """Whether every cluster is a single row that counts once."""
        return self.clusters[0] == self.rows == self.tally.totals.rows

    @cached_property
    def totals(self) -> Floats:
        """Rows of each kind in every bucket, of shape (buckets, 3)."""
        return np.column_stack([np.bincount(self.bucket, kind, len(self)) for kind in self._kinds])

    @property
    def held(self) -> tuple[int, int]:
        """How many buckets hold labelled rows, and how many others."""
        own = self.totals
        return int(np.count_nonzero(own[:, 0])), int(np.count_nonzero(own[:, 1] + own[:, 2]))

    @property
    def _kinds(self) -> tuple[Counted, Counted, Counted]:
        return self.labelled, self.unlabelled, self.negative

    def at(self, threshold: float) -> Floats:
        """Rows of each kind of every bucket at or above a number, of shape (buckets, 3).

        Within a block that holds several scores the rows are taken to be at its lowest one.
        """
        from pulens.counts.exactness import in_precision

        return self.above(np.array([in_precision(threshold, self.lowest.dtype)]))[:, 0]

    def above(self, thresholds: Any) -> Floats:
        """Rows at or above each of these falling numbers, of shape (buckets, thresholds, 3)."""
        asked = np.asarray(thresholds, np.float64)
        falling = -np.asarray(self.lowest, np.float64)
        # how many blocks lie at or above each number; in the scores' own precision, as tallies read thresholds
        from pulens.counts.exactness import in_precision

        numbers = np.array([in_precision(number, self.lowest.dtype) for number in asked.tolist()])
        reach = np.searchsorted(falling, -numbers, side="right")
        index = np.searchsorted(reach, self.block, side="right")  # first threshold that lets a block in
        result = np.zeros((len(self), asked.size + 1, 3))
        flat = self.bucket.astype(np.int64) * (asked.size + 1) + index
        for kind, counts in enumerate(self._kinds):
            result[:, :, kind] = np.bincount(flat, counts, len(self) * (asked.size + 1)).reshape(len(self), -1)
        return np.cumsum(result[:, :-1], axis=1)

    def without(self, buckets: Sequence[int]) -> Tally:
        """The tally of all rows but those of some buckets, at the lowest scores of blocks."""
        mine = ~np.isin(self.bucket, np.asarray(buckets))
        running = [np.cumsum(np.bincount(self.block[mine], kind[mine], self.lowest.size)) for kind in self._kinds]
        kind = np.float64 if self.tally.is_weighted else np.int64
        return Tally(self.lowest, *(count.astype(kind) for count in running))

    def mapped(self, tally: Tally, change: Callable[[Any], Any]) -> BucketTally:
        """The same rows under other scores, which rise with the old ones; ``tally`` counts all of them so."""
        low, high = (np.asarray(change(np.asarray(ends, np.float64))) for ends in (self.lowest, self.highest))
        ends = (low[self.block], high[self.block])
        options: Any = {"clusters": self.counted_clusters, "rows": self.rows}
        return BucketTally.from_increments(tally, self.names, self.bucket, ends, self._kinds, **options)

    def hashed(self) -> BucketTally:
        """The same counts in buckets that may hold several clusters, as very many clusters need them."""
        return self._renamed([name[:HASHED_DIGITS] for name in self.names])

    def _renamed(self, names: Sequence[str]) -> BucketTally:
        ends = (self.lowest[self.block], self.highest[self.block])
        options: Any = {"clusters": self.counted_clusters, "rows": self.rows}
        return BucketTally.from_increments(self.tally, names, self.bucket, ends, self._kinds, **options)

    def check(self) -> None:
        """Refuse counts that no rows could have given, however they were made."""
        check_counts(self.tally)
        for kind, counts in zip(COUNTS, self._kinds, strict=True):
            if not np.isfinite(counts).all() or (counts < 0).any():
                raise InputError(f"the counts of buckets ({kind} rows) must be at least 0.")
            check_total(float(counts.sum(dtype=np.float64)), f"the counts of buckets ({kind} rows)")
        whole, mine = np.array(self.tally.totals), self.totals.sum(axis=0)
        if not np.allclose(whole, mine, rtol=1e-9, atol=1e-6):
            raise InputError(
                f"the buckets hold {mine.sum():,.10g} rows and the tally {whole.sum():,.10g}: they must be the same."
            )

    def __len__(self) -> int:
        return len(self.names)

    def __add__(self, other: BucketTally) -> BucketTally:
        one, two = self, other
        if one.is_hashed or two.is_hashed or len(set(one.names) | set(two.names)) > MOST_BUCKETS:
            one, two = one.hashed(), two.hashed()
        parts = (one, two)
        mine, theirs = one.counted_clusters, two.counted_clusters
        return BucketTally.from_increments(
            self.tally + other.tally,
            [*one.names, *two.names],
            np.concatenate([one.bucket, two.bucket.astype(np.int64) + len(one)]),
            (
                np.concatenate([part.lowest[part.block] for part in parts]),
                np.concatenate([part.highest[part.block] for part in parts]),
            ),
            [np.concatenate(pair) for pair in zip(one._kinds, two._kinds, strict=True)],
            clusters=(max(mine[0], theirs[0]), mine[1] + theirs[1]),
            rows=self.rows + other.rows,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BucketTally):
            return NotImplemented
        told = (self.names, self.clusters, self.rows) == (other.names, other.clusters, other.rows)
        arrays = ("lowest", "highest", "bucket", "block", *COUNTS)
        same = all(np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays)
        return told and same and self.tally == other.tally

    __hash__ = None  # type: ignore[assignment]  # compared by content, so not hashable

    def __str__(self) -> str:
        inside = str(self.tally).removeprefix("Tally(").removesuffix(")")
        return f"BucketTally({inside}, {clusters_in_words(self.clusters)} in {len(self):,} buckets)"

    __repr__ = __str__


def clusters_in_words(clusters: tuple[int, int]) -> str:
    """How many clusters there are, as far as that is known.

    >>> clusters_in_words((40, 40)), clusters_in_words((300, 420))
    ('40 clusters', '300 to 420 clusters')
    """
    fewest, most = clusters
    many = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return f"{many} cluster{'' if most == 1 else 's'}"


def _blocks(low: NDArray[Any], high: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Ranges of scores, highest first, joined where they overlap: the block of each, and each block's ends."""
    if not low.size:
        return np.zeros(0, np.int64), low, high
    # from below: a range begins a block if nothing before it reaches so high
    reach = np.maximum.accumulate(high[::-1])
    begins = np.append(True, low[::-1][1:] > reach[:-1])[::-1]
    ends = np.append(True, begins[:-1])  # seen from above, a block ends where one begins from below
    block = np.cumsum(ends) - 1
    return block, np.ascontiguousarray(low[begins]), np.maximum.reduceat(high, np.flatnonzero(ends))


def _ends_of_cells(scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """For each score the lowest and the highest one in its cell."""
    bits = bits_for(float(scores.min()), float(scores.max()), cell_bits=BUCKET_CELL_BITS)
    _, index = np.unique(cells(scores, bits), return_inverse=True)
    lowest = np.full(int(index.max()) + 1, np.inf, scores.dtype)
    highest = -lowest
    np.minimum.at(lowest, index, scores)
    np.maximum.at(highest, index, scores)
    return lowest[index], highest[index]
