"""Redraws of a tally: counts are drawn again instead of rows, in chunks, the same for any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pulens.containers import distinct
from pulens.counts.tally import Tally, Totals
from pulens.inference.kernels.resampling import Resampling
from pulens.special import pdtr
from pulens.types import Floats, Whole

Answer = TypeVar("Answer")
MOST_BLOCKS = 256  # distinct thresholds kept for redraws
MULTINOMIAL_ROWS = 1000  # more rows are redrawn by Poisson counts: twice as fast, and their total is then steady
BITS, UNSURE, MOST_MEANS = 12, 255, 64  # of tables of Poisson counts: slots, those that say nothing, and means
CHUNK_CELLS = 1 << 15  # redraws times thresholds held at once, per kind of row: what a core's cache holds


class BootstrapCounts(NamedTuple):
    """A chunk of redraws: shares at or above each threshold (redraws by thresholds) and numbers of rows."""

    labelled: Floats
    unlabelled: Floats
    negative: Floats
    totals: tuple[Floats, Floats, Floats]
    normal: Floats  # one standard normal number per redraw, for a class prior that is itself uncertain

    def __len__(self) -> int:
        return int(self.labelled.shape[0])


def compress(tally: Tally, most: int = MOST_BLOCKS) -> Tally:
    """The tally at no more than this many of its thresholds, chosen so that little is lost between them.

    Ties are never split, since only thresholds that occur are kept. Half of them follow the labelled rows (all of
    their distinct scores, when they fit: between them recall does not move), half spread over all rows.

    >>> tally = Tally.from_arrays(np.array([1, 0] * 5000), np.arange(10_000))
    >>> len(compress(tally)) <= 256, compress(tally).totals == tally.totals
    (True, True)
    """
    size = len(tally)
    if size <= most:
        return tally
    last = size - 1
    totals = tally.totals
    kinds = [k for k, n in zip((tally.labelled, tally.unlabelled, tally.negative), totals, strict=True) if n]
    chosen = [np.array([0, last])]
    room = most - 2
    for kind, share in zip(
        kinds, [room] if len(kinds) == 1 else [room // 2] + [room // 2 // (len(kinds) - 1)] * 2, strict=False
    ):
        levels = np.linspace(0, float(kind[-1]), share + 1)[1:]
        chosen.append(np.searchsorted(kind, levels, side="left"))
    kept = distinct(np.minimum(np.concatenate(chosen), last))
    return Tally(
        tally.thresholds[kept].copy(), tally.labelled[kept].copy(), tally.unlabelled[kept].copy(), tally.negative[kept]
    )


def _sizes(totals: Totals) -> tuple[int, int, int]:
    """Whole numbers of rows; weights are read as how many rows a row stands for."""
    return tuple(max(round(n), 1) if n else 0 for n in totals)  # type: ignore[return-value]


class KindRedraws:
    """One kind of row, ready to be drawn again: how many are drawn in each cell between thresholds.

    Up to a thousand rows are drawn as such, with replacement. More are Poisson counts: where cells hold few rows, 12
    random bits say the count by a table, and further bits where these do not settle it. Both are the distributions that
    numpy's ``multinomial`` and ``poisson`` draw from, which take five to eight times as long.
    """

    def __init__(self, expected: Floats, rows: int) -> None:
        self.expected, self.rows, self.total = expected, rows, float(expected.sum())
        self.is_whole = bool((expected == np.rint(expected)).all()) and self.total == rows  # not so with weights
        self.means = distinct(expected)
        self.has_table = rows > MULTINOMIAL_ROWS and self.means.size <= MOST_MEANS and self.means[-1] <= MOST_MEANS
        if self.has_table:
            self._build()

    def _build(self) -> None:
        counts = np.arange(UNSURE)
        below = pdtr(counts, self.means[:, None])  # the chance of at most that many
        self.of_cell = np.searchsorted(self.means, self.expected).astype(np.int32)
        self.below = (below + np.arange(self.means.size)[:, None]).ravel()
        self.table = np.zeros((self.means.size, 1 << BITS), np.uint8)
        for row, ends in zip(self.table, np.ceil(below * (1 << BITS)).astype(np.intp), strict=True):
            row[: ends[-1]] = np.repeat(counts, np.diff(ends, prepend=0))
            row[ends[ends > 0] - 1] = UNSURE  # a count ends within these slots

    def drawn(self, rng: np.random.Generator, rows: Whole, size: int) -> NDArray[Any]:
        """Counts of shape (size, cells); ``rows`` says of how many rows each draw is, up to a thousand."""
        cells = self.expected.size
        if self.has_table:
            return self._looked_up(rng, size)
        if self.rows > MULTINOMIAL_ROWS:
            return rng.poisson(self.expected, (size, cells))
        if not self.is_whole:
            return rng.multinomial(rows, self.expected / self.total, size)
        cell = np.repeat(np.arange(cells), self.expected.astype(np.intp))
        chosen = cell[rng.integers(0, self.rows, int(rows.sum()), dtype=np.uint16)]
        chosen += np.repeat(np.arange(size) * cells, rows)
        return np.bincount(chosen, minlength=size * cells).reshape(size, cells)

    def _looked_up(self, rng: np.random.Generator, size: int) -> NDArray[np.uint8]:
        bits = rng.integers(0, 1 << 16, (size, self.expected.size), dtype=np.uint16)
        result = self.table.ravel()[(self.of_cell << BITS) + (bits >> (16 - BITS))]
        unsure = np.flatnonzero(result == UNSURE)
        mean = self.of_cell[unsure % self.expected.size]
        level = (bits.ravel()[unsure] + rng.random(unsure.size)) / (1 << 16)
        result.ravel()[unsure] = np.searchsorted(self.below, mean + level, side="right") - mean * UNSURE
        return result


def _chunk(
    kinds: Sequence[KindRedraws | None], cells: int, size: int, sequence: np.random.SeedSequence, random_totals: bool
) -> BootstrapCounts:
    rng = np.random.Generator(np.random.PCG64(sequence))
    normal = rng.standard_normal(size)
    sizes = np.array([0 if kind is None else kind.rows for kind in kinds])
    if random_totals:
        drawn = rng.multinomial(sizes.sum(), sizes / sizes.sum(), size)
        drawn = np.where((sizes > 0) & (drawn == 0), 1, drawn)
    else:
        drawn = np.broadcast_to(sizes, (size, 3))
    rates = []
    for kind, rows in zip(kinds, drawn.T, strict=True):
        if kind is None:
            rates.append(np.zeros((size, cells)))
            continue
        running = np.cumsum(kind.drawn(rng, rows, size), axis=1, dtype=np.float64)
        running /= running[:, -1:]
        rates.append(running)
    return BootstrapCounts(rates[0], rates[1], rates[2], tuple(drawn.T.astype(float)), normal)


def redraw_tally(
    tally: Tally,
    resampling: Resampling,
    work: Callable[[BootstrapCounts], Answer],
    *,
    random_totals: bool = False,
) -> list[Answer]:
    """Apply ``work`` to chunks of redraws and return its answers in order.

    Each kind of row is redrawn by itself, by multinomial counts (Poisson ones from a thousand rows on, as shares of
    their sum): labelled rows, unlabelled rows and known negatives are
    samples of their own in case-control data. With ``random_totals`` their numbers are redrawn too, for data in
    which one sample was drawn and some of its rows labelled. Every chunk has its own seed, spawned from one, so
    the answers do not depend on how many threads share the work.

    >>> tally = Tally.from_arrays(np.array([1, 0, 0, 0]), np.array([0.9, 0.7, 0.2, 0.1]))
    >>> found = redraw_tally(tally, Resampling(redraws=500), lambda chunk: chunk.unlabelled[:, 1].mean())
    >>> bool(0.3 < np.mean(found) < 0.37)
    True
    """
    per_chunk = max(1, min(resampling.redraws, CHUNK_CELLS // max(len(tally), 1)))
    sizes = [min(per_chunk, resampling.redraws - start) for start in range(0, resampling.redraws, per_chunk)]
    seeds = np.random.SeedSequence(resampling.seed).spawn(len(sizes))
    jobs = list(zip(sizes, seeds, strict=True))
    expected = (np.maximum(np.asarray(at, float), 0.0) for at in tally.increments())
    kinds = [KindRedraws(at, n) if n else None for at, n in zip(expected, _sizes(tally.totals), strict=True)]

    def do(job: tuple[int, np.random.SeedSequence]) -> Answer:
        return work(_chunk(kinds, len(tally), *job, random_totals))

    if len(jobs) == 1 or resampling.workers == 1:
        return [do(job) for job in jobs]
    with ThreadPoolExecutor(resampling.workers) as pool:
        return list(pool.map(do, jobs))
