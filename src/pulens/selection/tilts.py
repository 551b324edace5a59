r"""Which tilts are plausible for these rows: what practice says, weighed by what the rows allow.

A tilt says how many positives lie above each score. There cannot be more of them than there are rows, nor more below
a score than there are rows below. Where a tilt needs more, by :math:`z` standard errors at the worst score, it counts
:math:`e^{-z^2/2}` as much: what rules random labels out elsewhere is evidence about the labelling here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from pulens.cached import cached_method
from pulens.evidence import Evidence
from pulens.inference.kernels.redraws import compress
from pulens.priors import population_prior
from pulens.selection.distortion import STEEPEST, distort, distorted, label_frequency, list_of, mean_square_weight
from pulens.selection.practice import Practice, separation_of, share_aside
from pulens.types import Booleans, Floats

LEVELS = (np.arange(15) + 0.5) / 15  # at which a number is found, and equally likely
FAR = np.array([1e-4, 1e-3, 1e-2])  # further levels, from either side, at which a distance may be least
NORMALS = 41
GRID = np.arange(-8.0, 20.0001, 0.25)
MOST_THRESHOLDS = 512
NARROWEST_VARIANCE = 1e-4  # of a share at an edge, so that a score at which nobody is can rule nothing out


@dataclass(frozen=True)
class TiltDistribution:
    """Plausible tilts of one evidence, at any share of positives among its unlabelled rows."""

    evidence: Evidence
    practice: Practice

    levels: ClassVar[Floats] = LEVELS

    def ends(self, value: Any, low: Any, high: Any, moved: Floats, tail: Any) -> tuple[Any, Any]:
        """Ends of a number with what tilts at the levels change in it."""
        return mixed(value, low, high, moved, tail)

    all_levels: ClassVar[Floats] = np.concatenate([LEVELS, FAR, 1 - FAR])

    def is_within(self, tail: float) -> Booleans:
        """Which of all levels are not left out at this tail."""
        return np.concatenate([np.ones(LEVELS.size, bool), np.tile(tail <= FAR, 2)])

    @cached_property
    def _curves(self) -> tuple[Floats, Floats, Floats]:
        """Shares of the labelled rows, of the list and of the unlabelled rows at or above a few hundred scores."""
        tally = compress(self.evidence.tally, MOST_THRESHOLDS)
        listed = list_of(tally, self.evidence.recovery_scenario)
        labelled, unlabelled = (np.asarray(kind, float) for kind in (tally.labelled, tally.unlabelled))
        return labelled / labelled[-1], listed / listed[-1], unlabelled / unlabelled[-1]

    def population(self, share: float) -> float:
        return population_prior(share, self.evidence.tally.totals, self.evidence.recovery_scenario)

    def separation(self, share: float) -> float:
        """How far apart positives and negatives would be if labels were random."""
        prior = self.population(share)
        return separation_of((self._beaten - prior / 2) / max(1 - prior, 1e-9))

    @cached_property
    def _beaten(self) -> float:
        """The chance that a labelled row outscores one of the list."""
        observed, listed, _ = self._curves
        beaten = 1 - listed + np.diff(listed, prepend=0.0) / 2
        return float(np.diff(observed, prepend=0.0) @ beaten)

    @cached_method()
    def excess(self, share: float) -> Floats:
        """By how many standard errors each tilt of the grid needs more positives than there are rows."""
        observed, listed, rest = self._curves
        evidence, prior = self.evidence, self.population(share)
        totals = evidence.tally.totals
        c = label_frequency(totals, prior, evidence.recovery_scenario)
        aside = self.aside(share, GRID)[:, None]
        tilted = distort(observed[None, :], GRID[:, None], c, aside)
        recall = tilted + (1 - c) * aside * rest
        squares = mean_square_weight(observed, tilted)[:, None]
        rows = float(list_of(evidence.tally, evidence.recovery_scenario)[-1])
        of_recall = np.maximum(recall * (1 - recall), NARROWEST_VARIANCE) * squares / totals.labelled
        of_list = np.maximum(listed * (1 - listed), NARROWEST_VARIANCE) / rows
        error = np.sqrt(prior**2 * of_recall + of_list)
        above = ((prior * recall - listed) / error).max(axis=1)
        below = ((prior * (1 - recall) - (1 - listed)) / error).max(axis=1)
        return np.asarray(np.maximum(np.maximum(above, below), 0.0))

    def aside(self, share: float, tilts: Floats) -> Floats:
        """The share of hidden positives that score like any unlabelled row, at these tilts."""
        return share_aside(self.practice, tilts, self.separation(share))

    def quantiles(self, share: float, levels: Floats, spread: float = 1.0) -> Floats:
        """Tilts at these levels of their distribution, at a share of positives among the unlabelled rows."""
        return np.asarray(np.interp(levels, self._levels_of_grid(share, spread), GRID))

    @cached_method()
    def _levels_of_grid(self, share: float, spread: float) -> Floats:
        usual = self.practice.log_density(GRID, self.separation(share), spread)
        weight = usual - 0.5 * self.excess(share) ** 2
        density = np.exp(weight - weight.max())
        levels = np.cumsum(density) - density / 2
        return np.asarray(levels / density.sum())

    def median(self, share: float | None = None) -> float:
        own = self.evidence.class_prior.unlabelled if share is None else share
        return float(self.quantiles(own, np.array([0.5]))[0])

    def rows_at(self, tilt: float, share: float | None = None) -> Evidence:
        """The evidence at one tilt: its labelled rows stand for all positives."""
        own = self.evidence.class_prior.unlabelled if share is None else share
        return distorted(self.evidence, tilt, own, float(self.aside(own, np.array(tilt))), of_these_rows=True)


@dataclass(frozen=True)
class TiltRange:
    r"""Tilts at which high scores are up to a factor as likely to be labelled as low ones; none likelier than another.

    Positives are labelled in proportion to :math:`1/(c + (1 - c) r(v))` with :math:`r(v) = \theta e^{-\theta v}/(1 -
    e^{-\theta})` the hidden ones over the labelled ones at a rank, so the steepest tilt is where that is the factor
    times as much at 1 as at 0.
    """

    evidence: Evidence
    factor: float

    levels: ClassVar[Floats] = np.linspace(0.0, 1.0, 5)

    all_levels: ClassVar[Floats] = levels

    def is_within(self, tail: float) -> Booleans:
        """All of them, whatever the tail: none is likelier than another."""
        return np.ones(self.levels.size, bool)

    def quantiles(self, share: float, levels: Floats, spread: float = 1.0) -> Floats:
        """Tilts from none to the steepest."""
        return np.asarray(levels) * self._steepest(share)

    def median(self, share: float | None = None) -> float:
        """No tilt: numbers are those of random labels."""
        return 0.0

    def rows_at(self, tilt: float, share: float | None = None) -> Evidence:
        """The evidence at one tilt: its labelled rows stand for all positives."""
        return distorted(self.evidence, tilt, share)

    def ends(self, value: Any, low: Any, high: Any, moved: Floats, tail: Any) -> tuple[Any, Any]:
        """From the lowest end at any tilt to the highest."""
        moved = np.nan_to_num(moved)
        ends = low + np.minimum(moved.min(axis=0), 0.0), high + np.maximum(moved.max(axis=0), 0.0)
        return ends if np.ndim(value) else (float(ends[0]), float(ends[1]))

    def _steepest(self, share: float) -> float:
        from scipy.optimize import brentq

        totals, scenario = self.evidence.tally.totals, self.evidence.recovery_scenario
        c = float(label_frequency(totals, population_prior(share, totals, scenario), scenario))

        def beyond(tilt: float) -> float:
            low, high = tilt / -np.expm1(-tilt), tilt / np.expm1(tilt)
            return float((c + (1 - c) * low) / (c + (1 - c) * high)) - self.factor

        if self.factor <= 1 + 1e-9 or c >= 1 or beyond(STEEPEST) < 0:
            return 0.0 if self.factor <= 1 + 1e-9 or c >= 1 else STEEPEST
        return float(brentq(beyond, 1e-9, STEEPEST))


def mixed(value: Any, low: Any, high: Any, moved: Floats, tail: Any) -> tuple[Any, Any]:
    """Ends of a number that chance and the labelling move, from those of chance alone at a tail.

    Numbers may be arrays; ``moved`` has an axis more, the first, and equally likely entries.

    >>> low, high = mixed(0.5, 0.4, 0.6, np.array([-0.1, 0.0, 0.1]), 0.025)
    >>> bool(0.25 < low < 0.4 and low + high == 1.0)
    True
    """
    from pulens.special import ndtri

    normal = ndtri((np.arange(NORMALS) + 0.5) / NORMALS).reshape(-1, *[1] * np.ndim(value))
    reach = -ndtri(np.minimum(tail, 0.49))
    side = np.where(normal < 0, value - np.asarray(low, float), np.asarray(high, float) - value) / reach
    every = (value + (normal * side)[:, None] + np.nan_to_num(moved)[None, :]).reshape(-1, *np.shape(value))
    ends = np.quantile(every, [float(np.min(tail)), 1 - float(np.min(tail))], axis=0)
    return (float(ends[0]), float(ends[1])) if np.ndim(value) == 0 else (ends[0], ends[1])
