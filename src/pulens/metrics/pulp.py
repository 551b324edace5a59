"""PULP: how often a random ranking would have found fewer of the labelled rows, averaged over operating points."""

from __future__ import annotations

import numpy as np

from pulens.assumptions import Assumptions
from pulens.hypergeometric import chances_of_fewer, sum_of_chances, tails
from pulens.metrics._metric import Metric
from pulens.operating_points import (
    Ranking,
    Ties,
    constant,
    grouped_values,
    perfect,
    read_ranking,
    sum_inside_ties,
)
from pulens.tally import Tally


def pulp(tally: Tally, assumptions: Assumptions, *, ties: Ties = "expected") -> float:
    r""":math:`\frac{1}{N+1}\sum_{i=0}^{N} P(X_i < k_i)` with :math:`X_i` the hits of i rows drawn at random.

    Paper 000, equation 3. It needs no class prior. Values of different sets are comparable only beside their
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
    mixed, ends = ranking.is_mixed, np.cumsum(ranking.sizes)
    # labelled rows in blocks of their own: each starts a stretch with one hit more
    alone = np.flatnonzero((ranking.labelled > 0) & ~mixed)
    place = np.repeat(alone, ranking.labelled[alone])
    step = (
        np.arange(place.size)
        - np.repeat(np.cumsum(ranking.labelled[alone]) - ranking.labelled[alone], ranking.labelled[alone])
        + 1
    )
    # mixed blocks: known again at their ends
    after_ties = np.flatnonzero(mixed)
    first = np.concatenate([ranking.starts[place] + step, ends[after_ties]])
    hits = np.concatenate([ranking.hits_before[place] + step, np.cumsum(ranking.labelled)[after_ties]])
    order = np.argsort(first, kind="stable")
    first, hits = first[order], hits[order]
    # a stretch ends at the next hit or one rank into the next mixed block, whichever comes first
    borders = np.sort(np.concatenate([first, ranking.starts[after_ties] + 1, [rows + 1]]))
    last = borders[np.searchsorted(borders, first, side="right")]
    last = np.minimum(last, rows)  # everything called positive has the value 0
    total = float(sum_of_chances(first, last, hits, rows, labelled).sum())
    if ties == "expected":
        total += sum_inside_ties(ranking, lambda i, k: chances_of_fewer(i, k, rows, labelled))
    return total / (rows + 1)


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
)
