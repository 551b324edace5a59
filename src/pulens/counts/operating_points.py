r"""Averages over all operating points of a ranking: call the top i rows positive, for i = 0 to N.

Labelled rows count as hits, all others as misses, as in the PULP paper (equation 3). Tied rows have no order. Four
rules say what happens inside a tie: ``expected`` averages over all orders, ``grouped`` keeps only the thresholds that
exist, ``optimistic`` and ``pessimistic`` put the labelled rows first or last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pulens.counts.hypergeometric import masses_upwards
from pulens.counts.tally import Tally
from pulens.errors import PulensError, shown
from pulens.scalars import is_among
from pulens.types import Floats, Whole

Ties = Literal["expected", "grouped", "optimistic", "pessimistic"]
# (rows called positive, hits) to a value; inside ties arrays of two dimensions, hits counting upwards along each row
Measure = Callable[[Whole, Whole], Floats]

_RANKS = 1 << 18  # ranks expanded at a time
_POINTS = 1 << 14  # ranks inside ties looked at together
_NODES = 24  # points per stretch of a long tie: enough for a smooth function to 13 digits
_LONG = 4 * _NODES
_REACH = 9.5  # standard deviations of hits looked at: what lies outside weighs less than 1e-20
_CELLS = 1 << 18  # ranks times numbers of hits looked at together: they stay in cache
_TOLERANCE = 1e-12  # of the last coefficients: sums of a thousand masses are exact to 1e-14 or so


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Blocks of tied rows, best first: how many rows each has, and how many of them are labelled."""

    sizes: Whole
    labelled: Whole

    @classmethod
    def of(cls, tally: Tally, measure: str) -> Ranking:
        """Read a tally of whole rows; known negatives are rows without a label like any other."""
        if tally.is_weighted:
            raise PulensError(
                f"{measure} counts rows drawn at random, so it has no weighted form: it was given weights. "
                "Leave the weights out, or use a measure that recovers rates, such as roc_auc."
            )
        labelled, unlabelled, negative = tally.increments()
        sizes = labelled + unlabelled + negative
        if not sizes.all():  # a redrawn tally keeps scores of which no row was drawn
            sizes, labelled = sizes[sizes > 0], labelled[sizes > 0]
        return cls(sizes.astype(np.int64), labelled.astype(np.int64))

    @property
    def rows(self) -> int:
        return int(self.sizes.sum())

    @property
    def hits(self) -> int:
        """Labelled rows in all."""
        return int(self.labelled.sum())

    @property
    def starts(self) -> Whole:
        """Rows above each block."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def hits_before(self) -> Whole:
        return np.cumsum(self.labelled) - self.labelled

    @property
    def is_mixed(self) -> NDArray[np.bool_]:
        """Whether a block holds labelled and other rows, so that their order matters."""
        return (self.labelled > 0) & (self.labelled < self.sizes)

    def untied(self, ties: Ties) -> Ranking:
        """Mixed blocks pulled apart, the labelled rows first (optimistic) or last (pessimistic)."""
        halves = np.stack([self.labelled, self.sizes - self.labelled], axis=1)
        if ties == "pessimistic":
            halves = halves[:, ::-1]
        hits = np.zeros_like(halves)
        hits[:, 0 if ties == "optimistic" else 1] = self.labelled
        kept = halves.ravel() > 0
        return Ranking(halves.ravel()[kept], hits.ravel()[kept])


def check_ties(ties: str, measure: str) -> Ties:
    """One of the four rules, or an error that lists them."""
    if not is_among(ties, get_args(Ties)):
        allowed = ", ".join(repr(rule) for rule in get_args(Ties))
        raise PulensError(f"ties of {measure} must be one of {allowed}, got {shown(ties)}.")
    return ties  # type: ignore[return-value]


def average(ranking: Ranking, measure: Measure, ties: Ties = "expected") -> float:
    """Mean of a measure over the operating points, "nothing" and "everything" among them.

    >>> import numpy as np
    >>> ranking = Ranking(np.array([2, 1]), np.array([1, 0]))
    >>> average(ranking, lambda called, hits: hits / 1), average(ranking, lambda called, hits: hits / 1, "grouped")
    (0.625, 0.6666666666666666)
    """
    if ties == "grouped":
        return float(grouped_values(ranking, measure).mean())
    if ties != "expected":
        ranking = ranking.untied(ties)
    total = _sum_over_certain_ranks(ranking, measure)
    if ties == "expected":
        total += sum_inside_ties(ranking, measure)
    return total / (ranking.rows + 1)


def grouped_values(ranking: Ranking, measure: Measure) -> Floats:
    """The measure at each distinct score, and before the first."""
    called, hits = (np.concatenate([[0], np.cumsum(counts)]) for counts in (ranking.sizes, ranking.labelled))
    return measure(called, hits)


def _sum_over_certain_ranks(ranking: Ranking, measure: Measure) -> float:
    """Ranks whose hits do not depend on the order inside a tie: the ends of blocks, and all of a pure block."""
    starts, before, mixed = ranking.starts, ranking.hits_before, ranking.is_mixed
    pure = ranking.labelled == ranking.sizes
    total = float(measure(np.array([0]), np.array([0]))[0])
    for low in range(1, ranking.rows + 1, _RANKS):
        ranks = np.arange(low, min(low + _RANKS, ranking.rows + 1))
        block = np.searchsorted(starts, ranks, side="left") - 1
        inside = ranks - starts[block]
        at_end = inside == ranking.sizes[block]
        hits = before[block] + np.where(pure[block], inside, np.where(at_end, ranking.labelled[block], 0))
        certain = at_end | ~mixed[block]
        total += float(measure(ranks[certain], hits[certain]).sum())
    return total


def sum_inside_ties(ranking: Ranking, measure: Measure) -> float:
    """Sum over the ranks strictly inside mixed blocks of the expected measure over all orders of the tied rows.

    In a long tie the expected measure is a smooth function of the rank: it is computed at Chebyshev points of
    stretches that are halved until the interpolating polynomial has converged, and the polynomial is summed.
    """
    expected = _ExpectedInside(ranking, measure)
    blocks = np.flatnonzero(ranking.is_mixed)
    low, high = np.ones(blocks.size, np.int64), ranking.sizes[blocks].copy()
    total = 0.0
    while blocks.size:
        short = high - low <= _LONG
        total += _sum_one_by_one(expected, blocks[short], low[short], high[short])
        blocks, low, high = blocks[~short], low[~short], high[~short]
        nodes, coefficients, fits = _interpolate(expected, blocks, low, high)
        for stretch in np.flatnonzero(fits).tolist():
            total += float(coefficients[stretch] @ _chebyshev_sums(int(high[stretch] - low[stretch]), nodes))
        blocks, low, high = blocks[~fits], low[~fits], high[~fits]
        middle = (low + high) // 2
        blocks = np.concatenate([blocks, blocks])
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return total


def _sum_one_by_one(expected: _ExpectedInside, blocks: Whole, low: Whole, high: Whole) -> float:
    order = np.argsort(expected.ranking.sizes[blocks], kind="stable")  # so that neighbours look at as many hits
    blocks, low, lengths = blocks[order], low[order], (high - low)[order]
    ends = np.cumsum(lengths)
    total = 0.0
    for start in range(0, int(lengths.sum()), _POINTS):
        flat = np.arange(start, min(start + _POINTS, int(ends[-1])))
        which = np.searchsorted(ends, flat, side="right")
        total += float(expected(blocks[which], flat - (ends[which] - lengths[which]) + low[which]).sum())
    return total


def _interpolate(
    expected: _ExpectedInside, blocks: Whole, low: Whole, high: Whole
) -> tuple[int, Floats, NDArray[np.bool_]]:
    """Chebyshev coefficients of the expected measure on each stretch, and whether they have died out."""
    angles = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    span = (high - low - 1)[:, None]
    nodes = np.round(low[:, None] + span * (1 - angles) / 2).astype(np.int64)
    values = np.concatenate(
        [np.empty(0)]
        + [
            expected(np.repeat(blocks[part], _NODES), nodes[part].ravel())
            for part in (slice(start, start + 512) for start in range(0, blocks.size, 512))
        ]
    ).reshape(blocks.size, _NODES)
    scaled = (2 * (nodes - low[:, None]) - span) / span
    system = np.polynomial.chebyshev.chebvander(scaled, _NODES - 1)
    coefficients = np.asarray(np.linalg.solve(system, values[:, :, None])[:, :, 0], np.float64)
    size = np.maximum(np.abs(values).max(axis=1, initial=0.0), 1.0)
    fits: NDArray[np.bool_] = np.abs(coefficients[:, -4:]).max(axis=1, initial=0.0) <= _TOLERANCE * size
    return _NODES, coefficients, fits


@lru_cache(maxsize=4096)
def _chebyshev_sums(length: int, degree: int) -> Floats:
    """Sums of the Chebyshev polynomials over evenly spaced points from -1 to 1."""
    sums = np.zeros(degree)
    for low in range(0, length, _POINTS):
        x = (2 * np.arange(low, min(low + _POINTS, length)) - (length - 1)) / (length - 1)
        before, here = np.ones_like(x), x
        sums[0] += x.size
        for n in range(1, degree):
            sums[n] += here.sum()
            before, here = here, 2 * x * here - before
    return sums


@dataclass(frozen=True, slots=True, eq=False)
class _ExpectedInside:
    """The expected measure at ranks inside ties: hits there are hypergeometric."""

    ranking: Ranking
    measure: Measure

    def __call__(self, blocks: Whole, inside: Whole) -> Floats:
        """At ``inside`` rows into each of the blocks."""
        size, labelled = self.ranking.sizes[blocks], self.ranking.labelled[blocks]
        starts, before = self.ranking.starts[blocks], self.ranking.hits_before[blocks]
        share = inside / size
        mean = share * labelled
        spread = np.sqrt(mean * (1 - share) * (size - labelled) / np.maximum(size - 1, 1)) * _REACH + 12
        low = np.maximum(np.maximum(0, labelled + inside - size), np.floor(mean - spread).astype(np.int64))
        high = np.minimum(np.minimum(labelled, inside), np.ceil(mean + spread).astype(np.int64))
        widths = high - low + 1
        result = np.empty(blocks.size)
        # ranks that follow each other stay together, for measures that step from one to the next; others are sorted,
        # so that those of like width fill a rectangle
        in_order = (np.diff(inside) == 1).sum() > inside.size / 2
        order = np.arange(blocks.size) if in_order else np.argsort(widths, kind="stable")
        start = 0
        while start < order.size:
            widest = np.maximum.accumulate(widths[order[start : start + _POINTS]])
            several = max(1, int(np.searchsorted(widest * np.arange(1, widest.size + 1), _CELLS)))
            some = order[start : start + several]
            hits = low[some, None] + np.arange(widest[some.size - 1])
            chance = masses_upwards(hits, size[some, None], labelled[some, None], inside[some, None])
            called = np.broadcast_to((starts + inside)[some, None], hits.shape)
            values = self.measure(called, before[some, None] + hits)
            # hits that cannot be fill the rectangle: the measure may have any value there, even none
            result[some] = (chance * np.where(chance > 0, values, 0.0)).sum(axis=1)
            start += several
        return result


def constant(rows: int, labelled: int) -> Ranking:
    """All rows tied: what chance gives, on average over the orders."""
    return Ranking(np.array([rows]), np.array([labelled]))


def perfect(rows: int, labelled: int) -> Ranking:
    """All labelled rows first."""
    return constant(rows, labelled).untied("optimistic")


def read_ranking(tally: Tally, ties: str, measure: str) -> tuple[Ranking, Ties]:
    """The door of the averages: a tally of whole rows, and a rule for ties."""
    return Ranking.of(tally, measure), check_ties(ties, measure)
