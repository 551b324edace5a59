"""Redraws of a tally: counts are drawn again instead of rows, in chunks, the same for any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pulens.containers import distinct
from pulens.counts.tally import Tally, Totals
from pulens.inference.kernels.resampling import Resampling
from pulens.types import Floats

Answer = TypeVar("Answer")
MOST_BLOCKS = 256  # distinct thresholds kept for redraws
MULTINOMIAL_ROWS = 1000  # more rows are redrawn by Poisson counts: twice as fast, and their total is then steady
MOSTLY = 0.8  # of thresholds that have rows of a kind: leaving the others out would cost more than it saves
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


class _Expected(NamedTuple):
    """Rows of one kind at the thresholds where there are any: no number is drawn for the others, which follow."""

    expected: Floats
    cells: int
    places: NDArray[np.intp] | None  # of the last threshold with rows at or above each; ``None`` where all have some

    @classmethod
    def of(cls, expected: Floats) -> _Expected:
        some = expected > 0
        some[-1] = True  # what is left over is drawn there
        if some.mean() > MOSTLY:
            return cls(expected, expected.size, None)
        return cls(expected[some], expected.size, np.cumsum(some) - 1)

    def at_all(self, running: Floats) -> Floats:
        """Shares at or above all thresholds, from those at thresholds with rows."""
        if self.places is None:
            return running
        result = running.take(np.maximum(self.places, 0), axis=1)
        result[:, self.places < 0] = 0.0
        return result


def _chunk(
    kinds: list[_Expected],
    sizes: tuple[int, int, int],
    size: int,
    sequence: np.random.SeedSequence,
    random_totals: bool,
) -> BootstrapCounts:
    rng = np.random.Generator(np.random.PCG64(sequence))
    normal = rng.standard_normal(size)
    if random_totals:
        share = np.array(sizes, float) / sum(sizes)
        drawn = rng.multinomial(sum(sizes), share, size)
        drawn = np.where((np.array(sizes) > 0) & (drawn == 0), 1, drawn)
    else:
        drawn = np.broadcast_to(np.array(sizes), (size, 3))
    rates = []
    for kind, n, column in zip(kinds, sizes, drawn.T, strict=True):
        if not n:
            rates.append(np.zeros((size, kind.cells)))
            continue
        if n <= MULTINOMIAL_ROWS:
            counts = rng.multinomial(column, kind.expected / kind.expected.sum(), size)
        else:
            counts = rng.poisson(kind.expected, (size, kind.expected.size))
        running = np.add.accumulate(counts, axis=1).astype(float)  # as whole numbers first: faster, and as exact
        running /= running[:, -1:].copy()
        rates.append(kind.at_all(running))
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
    kinds = [_Expected.of(np.maximum(np.asarray(at, float), 0.0)) for at in tally.increments()]
    rows = _sizes(tally.totals)

    def do(job: tuple[int, np.random.SeedSequence]) -> Answer:
        return work(_chunk(kinds, rows, *job, random_totals))

    if len(jobs) == 1 or resampling.workers == 1:
        return [do(job) for job in jobs]
    with ThreadPoolExecutor(resampling.workers) as pool:
        return list(pool.map(do, jobs))
