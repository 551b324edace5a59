r"""Which worlds are possible where random labels are not: the least preference in labelling that makes the counts fit.

Labelled rows have the density g over blocks of the ranking, positives the density :math:`f_j = g_j h_j` with h
proportional to one over the labelling rate. Random labels are h = 1. Where those do not fit the counts, h must rise
down the ranking (high scores were favoured) or fall,

.. math:: m \le h_1 \le \dots \le h_J \le G m, \qquad \sum_j g_j h_j = 1,

and every number of positives must fit among the rows at hand, :math:`low_j \le \sum_{i \le j} g_i h_i \le high_j`.
All of this is linear in h, so the least factor G, the world that has it and the extremes of every linear quantity over
all worlds up to a factor are linear programmes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.tally import Tally, Totals
from pulens.inference.kernels.redraws import compress
from pulens.recovery.labelling import Favours, lowest_mean
from pulens.types import Floats

MOST_BLOCKS = 128
ROUNDING = 1e-12
SLACK = 2.0  # standard errors by which limits on the number of positives are moved outwards


def blocks_of(tally: Tally, keep: tuple[float, ...] = ()) -> NDArray[np.intp]:
    """Places of the thresholds at which the ranking is cut: those of ``compress``, and those asked for.

    >>> blocks_of(Tally.from_arrays(np.array([1, 0, 0]), np.array([3, 2, 1])), (2.0,))
    array([0, 1, 2])
    """
    coarse = compress(tally, MOST_BLOCKS)
    indices = np.searchsorted(-np.asarray(tally.thresholds, float), -np.asarray(coarse.thresholds, float))
    asked = [np.searchsorted(-np.asarray(tally.thresholds, float), -cut, side="right") - 1 for cut in keep]
    return np.unique(np.concatenate([indices, [index for index in asked if index >= 0]]).astype(np.intp))


def positives_that_fit(
    labelled: Floats,
    unlabelled: Floats,
    totals: Totals,
    unlabelled_prior: float,
    *,
    together: bool,
    slack: float = SLACK,
    share_error: float = 0.0,
) -> tuple[Floats, Floats]:
    r"""Fewest and most positives, as shares, that the rows at or above each cut leave room for.

    With p and q the shares of labelled and unlabelled rows, of the hidden positives at most :math:`q/\alpha` and at
    least :math:`1 - (1-q)/\alpha` stand there, moved outwards by ``slack`` standard errors of q and of p (and of
    :math:`\alpha`, where it has one: at most as many hidden positives as there are stand anywhere). With the
    labelled rows in the same sample (``together``) they are positives too, of :math:`n_L + \alpha n_U` in all.

    >>> low, high = positives_that_fit(
    ...     np.array([0.8, 1.0]), np.array([0.1, 1.0]), Totals(10, 100, 0), 0.2, together=False, slack=0
    ... )
    >>> low, high
    (array([0., 1.]), array([0.5, 1. ]))
    """
    spread_labelled, spread_unlabelled = (
        np.sqrt(smoothed * (1 - smoothed) / total)
        for smoothed, total in (
            ((rate * total + 0.5) / (total + 1), total)
            for rate, total in ((labelled, totals.labelled), (unlabelled, totals.unlabelled))
        )
    )
    moved = slack * ((spread_unlabelled + share_error) / unlabelled_prior + spread_labelled)
    low = np.maximum(0.0, 1 - (1 - unlabelled) / unlabelled_prior - moved)
    high = np.minimum(1.0, unlabelled / unlabelled_prior + moved)
    low[-1] = high[-1] = 1.0  # below the last cut there is nothing: rounding must not forbid every world
    if together:
        hidden = unlabelled_prior * totals.unlabelled
        low, high = ((totals.labelled * labelled + hidden * end) / (totals.labelled + hidden) for end in (low, high))
        low[-1] = high[-1] = 1.0
    return low, high


@dataclass(frozen=True, eq=False)
class PossibleWorlds:
    """All worlds in which one side of the ranking was labelled more often; ``shares`` are those of labelled rows.

    >>> worlds = PossibleWorlds(np.array([0.8, 0.2]), np.array([0.0, 1.0]), np.array([0.5, 1.0]), "high")
    >>> round(worlds.least_factor, 6), worlds.nearest.round(6)
    (4.0, array([0.5, 0.5]))
    >>> worlds.extremes(np.array([1.0, 0.0]), 12.0)[0].round(6), worlds.extremes(np.array([1.0, 0.0]), 12.0)[1].round(6)
    (array([0.25, 0.75]), array([0.5, 0.5]))
    """

    shares: Floats
    low: Floats
    high: Floats
    favours: Favours
    floor: float = 0.0  # the least h: in the single set the label frequency, since a labelled row stands for itself

    @property
    def is_empty(self) -> bool:
        """Whether no factor, however large, makes the counts fit."""
        return self._nearest is None

    @cached_property
    def least_factor(self) -> float:
        """The smallest ratio of the highest to the lowest labelling rate at which a world is possible."""
        assert self._nearest is not None
        return max(self._nearest[0], 1.0)

    @property
    def nearest(self) -> Floats:
        """The positives' shares in the world that needs the least factor."""
        assert self._nearest is not None
        return self._nearest[1]

    @cached_property
    def _steps(self) -> Floats:
        """h as a sum of steps: column 0 is its lowest value, the others what each step adds."""
        size = self.shares.size
        steps = np.tril(np.ones((size, size)))
        return steps if self.favours == "high" else steps[::-1]

    @cached_property
    def _limits(self) -> tuple[Floats, Floats]:
        """Rows of ``A x <= 0`` for the steps x: limits on running sums as shares of the whole, and the floor."""
        running = np.cumsum(self.shares[:, None] * self._steps, axis=0)
        whole = running[-1]
        rows = [running[:-1] - self.high[:-1, None] * whole, self.low[:-1, None] * whole - running[:-1]]
        binding = np.concatenate([self.high[:-1] < 1, self.low[:-1] > 0])
        least = np.eye(1, self.shares.size) - self.floor * whole
        return np.concatenate([np.concatenate(rows)[binding], -least]), whole

    @cached_property
    def _nearest(self) -> tuple[float, Floats] | None:
        limits, whole = self._limits
        size = self.shares.size
        # the lowest value of h is 1 and the highest, one and all steps, as low as can be
        result = _minimise(np.ones(size), limits, np.zeros(len(limits)), np.eye(1, size), np.ones(1))
        if result is None:
            return None
        density = self.shares * (self._steps @ result)
        return float(result.sum()), density / (whole @ result)

    def extremes(self, values: Floats, factor: float) -> tuple[Floats, Floats]:
        """The worlds in which the mean of ``values`` over the positives is lowest and highest, up to a factor."""
        lowest, highest = self.lowest(values, factor), self.lowest(-values, factor)
        # a solver's last digit may put the lowest above the highest
        return (lowest, highest) if lowest @ values <= highest @ values else (highest, lowest)

    def lowest(self, values: Floats, factor: float) -> Floats:
        """The world with the lowest mean of ``values`` over the positives, up to a factor.

        That of all labellings, if the rows have room for it; otherwise a linear programme finds the lowest with room.
        """
        free = lowest_mean(self.shares, values, factor, self.favours, floor=self.floor).density
        running = np.cumsum(free)
        if np.all(running <= self.high + ROUNDING) and np.all(running >= self.low - ROUNDING):
            return free
        limits, whole = self._limits
        reach = np.concatenate([[-(factor - 1.0)], np.ones(self.shares.size - 1)])  # all steps together, less the rest
        bounded = np.vstack([limits, reach])
        gain = (self.shares * values) @ self._steps
        result = _minimise(gain, bounded, np.zeros(len(bounded)), whole[None, :], np.ones(1))
        density = self.nearest if result is None else np.maximum(self.shares * (self._steps @ result), 0.0)
        return np.asarray(density / density.sum())


def _minimise(cost: Floats, above: Floats, bounds: Floats, equal: Floats, to: Floats) -> Floats | None:
    """Where ``cost @ x`` is smallest over x >= 0 with ``above @ x <= bounds`` and ``equal @ x == to``, if anywhere."""
    from scipy.optimize import linprog

    limits: dict[str, Any] = {"A_ub": above, "b_ub": bounds} if len(above) else {}
    result = linprog(cost, **limits, A_eq=equal, b_eq=to, bounds=(0, None), method="highs")
    return np.asarray(result.x, float) if result.status == 0 else None
