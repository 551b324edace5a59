r"""Average precision from an audit: precision met at each positive, averaged, without any assumption about labelling.

With F(s) rows and TP(s) positives at or above a score, :math:`\mathrm{AP} = \frac1P \sum_{i\ positive}
TP(s_i)/F(s_i)`. Its value takes the positives of a cell (below) as spread evenly over it: with x of them among m rows,
after F rows and T positives, :math:`r((T - rF)\log\frac{F+m}{F} + rm)`, :math:`r = x/m`. The larger the share of rows
that were checked, the more weight has the sum over the found positives themselves, each standing for :math:`M_k/n_k`
rows of which half lie at or above it: with every row checked that sum is the truth.

**Limits.** Strata are cut into cells of about eight checked rows, at scores and not by answers; given how many checked
rows fell into each these are again simple random samples. Given the positives of the cells, AP is lowest with those of
each cell at its lower end and highest with those at its upper end: a positive that moves down past a negative meets
one row more with the same positives, and nobody else's precision changes. A run of x positives that begins after F
rows and T positives adds :math:`\sum_{j \le x} (T+j)/(F+j) = x + (T-F)(\psi(F+x+1) - \psi(F+1))`; where scores of the
cell are tied, x positives meet a precision of (T+x)/(F+x) at most. Limits are quantiles of the AP halfway between these
ends and positives spread evenly, with cells drawn as in ``pulens.audits.limits`` (one imaginary row for flagged and one
for other cells). The ends themselves held the truth in 100% of audits of real data sets, halfway in 99 at three
quarters of the width, and evenly spread ones, whose upper limit is too low where positives thin out within a cell, in
86 to 91 (docs/research/wild.md).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pulens.audits.area import (
    decisions,
    not_ranked,
    places_of,
    population_of,
    ranking_estimate,
    shares_of,
    stands_for,
)
from pulens.audits.counts import AuditCounts, CheckedRows
from pulens.audits.limits import IntervalKind, check_interval, effects, one_tail, quantile, unseen_positives
from pulens.counts.tally import Tally
from pulens.estimate import Estimate
from pulens.types import Floats

DRAWS = 5_000  # each draws every cell
CHECKED_PER_CELL = 8
FEWEST_PER_CELL = 4
MOST_CELLS = 8  # of a stratum
NAME = "average_precision"


class ScoreCells(NamedTuple):
    """Parts of strata, highest scores first: their rows, the positives known before, and what of them was checked."""

    stratum: np.ndarray
    rows: Floats  # of the population
    unlabelled: np.ndarray
    known: Floats
    tied: np.ndarray
    of_row: np.ndarray  # the cell of each checked row


def cells_of(counts: AuditCounts, rows: CheckedRows, tally: Tally) -> ScoreCells:
    """Cut strata at scores into parts that hold enough checked rows.

    >>> scores = np.arange(100.0, 0.0, -1.0)
    >>> checked = CheckedRows(stratum=np.repeat([0, 1], 20), score=np.append(scores[:20], scores[20::4]),
    ...     answer=np.repeat([1, 0], 20))
    >>> counts = AuditCounts(rows=[20, 80], checked=[20, 20], found=[20, 0], flagged=1)
    >>> cells_of(counts, checked, Tally.from_arrays(np.zeros(100, int), scores)).unlabelled
    array([10, 10, 40, 40])
    """
    running = np.asarray(tally.unlabelled, float)
    index = places_of(rows, tally)
    kept: list[tuple[int, int]] = []  # stratum and last place of each cell
    first = 0
    for k, end in enumerate(np.cumsum(counts.rows)):
        parts = int(np.clip(counts.checked[k] // CHECKED_PER_CELL, 1, MOST_CELLS))
        ranks = end - counts.rows[k] + counts.rows[k] * np.arange(1, parts + 1) / parts
        ends = np.unique(np.searchsorted(running, np.round(ranks), side="left"))[: parts if counts.rows[k] else 0]
        inside = np.sort(index[rows.stratum == k])
        seen = 0
        for last in ends:
            here = int(np.searchsorted(inside, last, side="right")) - seen
            again = last != ends[-1] and inside.size - seen - here < FEWEST_PER_CELL
            if (here < FEWEST_PER_CELL and last != ends[-1]) or again:
                continue
            kept.append((k, int(last)))
            seen += here
            first = int(last) + 1
    ends_at = np.array([last for _, last in kept])
    if ends_at.size and first < len(tally):
        ends_at[-1] = len(tally) - 1  # labelled rows below every unlabelled one
    population, labelled = population_of(counts, tally)
    above = running, population, np.cumsum(labelled)
    unlabelled, size, known = (np.diff(kind[ends_at], prepend=0.0) for kind in above)
    distinct = np.diff(ends_at, prepend=-1)
    return ScoreCells(
        np.array([k for k, _ in kept]),
        size,
        unlabelled.astype(np.int64),
        known,
        distinct < size,
        np.minimum(np.searchsorted(ends_at, index, side="left"), ends_at.size - 1),
    )


def average_precision_estimate(
    counts: AuditCounts,
    rows: CheckedRows,
    tally: Tally,
    *,
    confidence: float = 0.95,
    interval: str = "balanced",
    draws: int = DRAWS,
    seed: int = 0,
) -> Estimate:
    """Average precision over the rows at hand; strata must be ranges of scores.

    >>> scores = np.arange(8.0, 0.0, -1.0)
    >>> answers = np.isin(scores, [8, 7, 4]).astype(int)
    >>> checked = CheckedRows(stratum=(scores < 6).astype(int), score=scores, answer=answers)
    >>> counts = AuditCounts(rows=[3, 5], checked=[3, 5], found=[2, 1], flagged=1)
    >>> print(average_precision_estimate(counts, checked, Tally.from_arrays(np.zeros(8, int), scores)))
    average_precision 0.867 [0.867, 0.867]
    """
    kind = check_interval(interval)
    if counts.left_out.any():
        return not_ranked(NAME)
    value = _by_positives(counts, rows, tally)
    ends = [(value, value)]  # if every position is known, within cells too
    if (counts.checked != counts.rows).any() or counts.undecided.any():
        cells = cells_of(counts, rows, tally)
        weight = counts.checked.sum() / counts.rows.sum()
        value = weight * value + (1 - weight) * _by_cells(cells, rows)
        ends = [_limits(counts, cells, one, confidence, kind, draws, seed) for one in decisions(counts, rows)]
    return ranking_estimate(NAME, value, ends, "no positive was found", confidence, kind)


def _by_positives(counts: AuditCounts, rows: CheckedRows, tally: Tally) -> float:
    """Found positives and, in the single set, labelled ones, each weighted by the rows it stands for."""
    population, labelled = population_of(counts, tally)
    index, share, many = places_of(rows, tally), shares_of(rows), stands_for(counts, rows)
    at_score = np.bincount(index, share * many, len(tally)) + labelled
    # half of what a row stands for beyond itself lies below it
    beyond = np.bincount(index, share * (many - 1), len(tally))
    true_positive = np.cumsum(at_score) - beyond / 2
    total = at_score.sum()
    if not total:
        return math.nan
    precision = np.divide(true_positive, population, out=np.zeros(len(tally)), where=population > 0)
    return float(min(at_score @ np.minimum(precision, 1.0) / total, 1.0))


def _by_cells(cells: ScoreCells, rows: CheckedRows) -> float:
    """Positives spread evenly within cells; nan where nothing was found."""
    took = np.bincount(cells.of_row, minlength=cells.rows.size)
    result = np.bincount(cells.of_row, shares_of(rows), cells.rows.size)
    here = cells.unlabelled * np.divide(result, took, out=np.zeros(took.size), where=took > 0) + cells.known
    total = here.sum()
    return float(np.clip(_spread_evenly(here, cells) / total, 0.0, 1.0)) if total else math.nan


def _spread_evenly(here: Floats, cells: ScoreCells) -> Floats:
    """Sum of the precisions met by these positives of each cell, spread evenly over it; cells along the last axis."""
    before, flagged = np.cumsum(here, axis=-1) - here, np.cumsum(cells.rows) - cells.rows
    rate = np.divide(here, cells.rows, out=np.zeros(here.shape), where=cells.rows > 0)
    logs = np.log(np.maximum(flagged + cells.rows, 1.0) / np.maximum(flagged, 1.0)) * (flagged > 0)
    return np.asarray((rate * ((before - rate * flagged) * logs + rate * cells.rows)).sum(axis=-1))


def _limits(
    counts: AuditCounts,
    cells: ScoreCells,
    positive: np.ndarray,
    confidence: float,
    kind: IntervalKind,
    draws: int,
    seed: int,
) -> tuple[float, float]:
    random = np.random.default_rng(seed)
    size = cells.unlabelled
    took = np.bincount(cells.of_row, minlength=size.size)
    hits = np.bincount(cells.of_row[positive], minlength=size.size)
    flagged = cells.stratum < counts.flagged

    def drawn(k: int, up: int, down: int) -> Floats:
        unseen = unseen_positives(random, int(size[k]), int(took[k]), int(hits[k]), draws, up, down)
        return np.asarray(hits[k] + unseen)

    plain = np.stack([drawn(k, 0, 0) for k in range(size.size)], axis=1)
    low, high = plain.copy(), plain.copy()
    coins = (np.arange(draws) % 2 == 0, np.arange(draws) // 2 % 2 == 0)
    for group, coin, favours in ((flagged, coins[0], 1), (~flagged, coins[1], 0)):
        for up, effect in enumerate(effects(size, took, hits)):
            best = int(np.argmax(np.where(group, effect, -1.0)))
            if not group.any() or effect[best] <= 0:
                continue
            instead = drawn(best, up, 1 - up)
            if kind == "balanced":
                when = coin if up else ~coin
                low[when, best] = high[when, best] = instead[when]
            else:  # a positive above the threshold favours the metric, one below it does not
                (high if up == favours else low)[:, best] = instead
    lowest, highest = _halfway(low, cells, at_top=False), _halfway(high, cells, at_top=True)
    tail = one_tail(confidence)
    ends = (quantile(lowest[:, None], tail)[0], quantile(highest[:, None], 1 - tail)[0])
    return float(np.clip(ends[0], 0.0, 1.0)), float(np.clip(ends[1], 0.0, 1.0))


def _halfway(positives: Floats, cells: ScoreCells, *, at_top: bool) -> Floats:
    """AP halfway between positives at an end of each cell and spread evenly over it."""
    here = positives + cells.known
    total, nowhere = here.sum(axis=1), np.full(len(here), float(at_top))
    evenly = np.divide(_spread_evenly(here, cells), total, out=nowhere, where=total > 0)
    return np.asarray((_average(positives, cells, at_top=at_top) + evenly) / 2)


def _average(positives: Floats, cells: ScoreCells, *, at_top: bool) -> Floats:
    """AP with the positives of each cell at its upper or at its lower end; 0 or 1 where there are none."""
    from pulens.special import psi

    here = positives + cells.known
    reached = np.cumsum(here, axis=1)
    true_positive, flagged = reached - here, np.cumsum(cells.rows) - cells.rows
    start = flagged if at_top else flagged + cells.rows - here
    part = here + (true_positive - start) * (psi(start + here + 1) - psi(start + 1))
    if at_top and cells.tied.any():
        together = here * (true_positive + here) / np.maximum(flagged + here, 1.0)
        part = np.where(cells.tied, together, part)
    total = reached[:, -1]
    return np.where(total > 0, part.sum(axis=1) / np.maximum(total, 1.0), float(at_top))
