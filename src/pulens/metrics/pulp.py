"""PULP: how often a random ranking would have found fewer of the labelled rows, averaged over operating points."""

from __future__ import annotations

import numpy as np

from pulens.counts.hypergeometric import KnownChances, chances_along, chances_upwards, sum_of_chances, tails
from pulens.counts.operating_points import (
    Ranking,
    Ties,
    constant,
    grouped_values,
    perfect,
    read_ranking,
    sum_inside_ties,
)
from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.recovery.assumptions import Assumptions


def pulp(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r""":math:`\frac{1}{N+1}\sum_{i=0}^{N} P(X_i < k_i)` with :math:`X_i` the hits of i rows drawn at random.

    The PULP paper, equation 3. It needs no class prior. Values of different sets are comparable only beside their
    chance value and maximum, which the estimate carries as ``landmarks``.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(pulp(tally, Assumptions(0.0)), 6)
    0.259921
    """
    ranking, rule = read_ranking(tally, ties, "pulp")
    return pulp_of(ranking, rule)


def pulp_of(ranking: Ranking, ties: Ties = "expected") -> float:
    """PULP of a ranking; one evaluation per labelled row, however many rows there are."""
    rows, labelled = ranking.rows, ranking.hits
    if ties == "grouped":
        return float(grouped_values(ranking, lambda i, k: tails(k, rows, labelled, i).fewer).mean())
    if ties != "expected":
        ranking = ranking.untied(ties)
    spread = np.sqrt(labelled * (rows - labelled) / rows) / 2
    stretches = int(np.where(ranking.is_mixed, 1, ranking.labelled).sum())
    if stretches * (1.2e-6 + 3e-8 * spread) > 6e-8 * rows:  # seconds of either way, measured
        total, known = _sum_by_walk(ranking, rows)
    else:
        total, known = _sum_by_stretches(ranking, rows, labelled), None
    if ties == "expected":
        total += sum_inside_ties(ranking, lambda i, k: chances_upwards(i, k, rows, labelled, known=known))
    return total / (rows + 1)


def _sum_by_stretches(ranking: Ranking, rows: int, labelled: int) -> float:
    """Sum over the ranks outside mixed ties, one closed form for each stretch between hits."""
    blocks = np.flatnonzero(ranking.labelled)
    sizes, hits = ranking.sizes[blocks], ranking.labelled[blocks]
    ends, hits_at_end = np.cumsum(ranking.sizes)[blocks], np.cumsum(hits)
    mixed = hits < sizes
    # every labelled row in a block of its own kind starts a stretch; a mixed block starts one at its end
    count = np.where(mixed, 1, hits)
    back = np.repeat(np.cumsum(count), count) - 1 - np.arange(count.sum())
    first, result = np.repeat(ends, count) - back, np.repeat(hits_at_end, count) - back
    # a stretch ends at the next hit, or one rank into the next mixed block; "everything" has the value 0
    borders = np.sort(np.concatenate([first, (ends - sizes)[mixed] + 1, [rows + 1]]))
    last = np.minimum(borders[np.searchsorted(borders, first, side="right")], rows)
    return float(sum_of_chances(first, last, result, rows, labelled).sum())


def _sum_by_walk(ranking: Ranking, rows: int) -> tuple[float, KnownChances]:
    """The same sum rank by rank, for very many labelled rows, and the chances one rank into each mixed tie."""
    blocks = np.flatnonzero(ranking.labelled)
    sizes, hits = ranking.sizes[blocks], ranking.labelled[blocks]
    ends, hits_before = np.cumsum(ranking.sizes)[blocks], np.cumsum(hits) - hits
    # labelled rows last in their tie, so that its first rank has met none of them
    hit_ranks = np.repeat(ends + 1 - hits - hits_before, hits) + np.arange(hits.sum())
    mixed = hits < sizes
    opens = (ends - sizes)[mixed] + 1
    inside = np.zeros(rows + 1, np.int8)  # ranks strictly inside a tie depend on its order: they are added elsewhere
    np.add.at(inside, opens, 1)
    np.add.at(inside, ends[mixed], -1)
    inside = np.cumsum(inside, dtype=np.int8)
    total, known = 0.0, np.empty(opens.size)
    for start, chances in chances_along(hit_ranks, rows):
        total += float(chances[inside[start : start + chances.size] == 0].sum())
        here = slice(*np.searchsorted(opens, [start, start + chances.size]))
        known[here] = chances[opens[here] - start]
    return total, KnownChances(opens, hits_before[mixed], known)


def landmarks(tally: Tally, value: float, *, ties: Ties = "expected") -> dict[str, float]:
    """What chance gives and the most there is for as many rows and labels, and the value on the scale between."""
    ranking, _ = read_ranking(tally, ties, "pulp")
    chance = pulp_of(constant(ranking.rows, ranking.hits))
    maximum = pulp_of(perfect(ranking.rows, ranking.hits))
    return {"chance": chance, "maximum": maximum, "scaled": (value - chance) / (maximum - chance)}


METRIC = Metric(
    pulp,
    "Chance that a random ranking finds fewer labelled rows, averaged over operating points",
    reads="ranking",
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
    parameters={"ties": "expected"},
    landmarks=landmarks,
    title="PULP",
)
