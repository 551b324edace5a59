r"""Which tilts are plausible for these rows: what practice says, weighed by what the rows allow.

A tilt says how many positives lie above each score. There cannot be more of them than there are rows, nor more below
a score than there are rows below. Where a tilt needs more, by :math:`z` standard errors at the worst score, it counts
:math:`e^{-z^2/2}` as much: what rules random labels out elsewhere is evidence about the labelling here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pulens.evidence import Evidence
from pulens.intervals.kernels.redraws import compress
from pulens.priors import population_prior
from pulens.selection.distortion import distort, label_frequency, list_of, mean_square_weight
from pulens.selection.practice import Practice, separation_of
from pulens.types import Floats

GRID = np.arange(-8.0, 20.0001, 0.25)
MOST_THRESHOLDS = 512
NARROWEST_VARIANCE = 1e-4  # of a share at an edge, so that a score at which nobody is can rule nothing out


@dataclass(frozen=True)
class TiltDistribution:
    """Plausible tilts of one evidence, at any share of positives among its unlabelled rows."""

    evidence: Evidence
    practice: Practice

    @cached_property
    def _curves(self) -> tuple[Floats, Floats]:
        """Shares of the labelled rows and of the list at or above a few hundred scores."""
        tally = compress(self.evidence.tally, MOST_THRESHOLDS)
        listed = list_of(tally, self.evidence.recovery_scenario)
        return np.asarray(tally.labelled, float) / float(tally.totals.labelled), listed / listed[-1]

    def population(self, share: float) -> float:
        return population_prior(share, self.evidence.tally.totals, self.evidence.recovery_scenario)

    def separation(self, share: float) -> float:
        """How far apart positives and negatives would be if labels were random."""
        observed, listed = self._curves
        prior = self.population(share)
        beaten = 1 - listed + np.diff(listed, prepend=0.0) / 2
        area = (float(np.diff(observed, prepend=0.0) @ beaten) - prior / 2) / max(1 - prior, 1e-9)
        return separation_of(area)

    def excess(self, share: float) -> Floats:
        """By how many standard errors each tilt of the grid needs more positives than there are rows."""
        observed, listed = self._curves
        evidence, prior = self.evidence, self.population(share)
        totals = evidence.tally.totals
        c = label_frequency(totals, prior, evidence.recovery_scenario)
        recall = distort(observed[None, :], GRID[:, None], c)
        squares = mean_square_weight(observed, recall)[:, None]
        rows = float(list_of(evidence.tally, evidence.recovery_scenario)[-1])
        of_recall = np.maximum(recall * (1 - recall), NARROWEST_VARIANCE) * squares / totals.labelled
        of_list = np.maximum(listed * (1 - listed), NARROWEST_VARIANCE) / rows
        error = np.sqrt(prior**2 * of_recall + of_list)
        above = ((prior * recall - listed) / error).max(axis=1)
        below = ((prior * (1 - recall) - (1 - listed)) / error).max(axis=1)
        return np.asarray(np.maximum(np.maximum(above, below), 0.0))

    def quantiles(self, share: float, levels: Floats, spread: float = 1.0) -> Floats:
        """Tilts at these levels of their distribution, at a share of positives among the unlabelled rows."""
        known = self._known.get((share, spread))
        if known is None:
            weight = self.practice.log_density(GRID, self.separation(share), spread) - 0.5 * self.excess(share) ** 2
            density = np.exp(weight - weight.max())
            known = np.cumsum(density) - density / 2
            known = self._known[share, spread] = known / density.sum()
        return np.asarray(np.interp(levels, known, GRID))

    @cached_property
    def _known(self) -> dict[tuple[float, float], Floats]:
        return {}

    def median(self, share: float | None = None) -> float:
        own = self.evidence.class_prior.unlabelled if share is None else share
        return float(self.quantiles(own, np.array([0.5]))[0])
