r"""Recovered masses: how much of the population, and of its positives, each bin of scores holds.

Every rate of positives and of the population is a linear map of the rates among labelled, unlabelled and known
negative rows (:class:`pulens.recovery.Recovery`). With clean labels in case-control the map is that of the
PU-ECE paper: positives :math:`\pi\,p_{b,P}`, population :math:`p_{b,U}`. In the single set the population is every row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.calibration.binning import (
    bin_starts,
    check_binning,
    check_bins,
    mass_edges,
    optimal_bins,
    population_at_or_above,
    width_edges,
)
from pulens.counts.tally import Tally, Totals
from pulens.evidence import Evidence
from pulens.recovery import Recovery
from pulens.recovery.assumptions import Assumptions
from pulens.scalars import is_among
from pulens.scenario import Scenario
from pulens.types import Floats

Triple = tuple[float, float, float]


class MassMap(NamedTuple):
    """Coefficients of the rates of labelled, unlabelled and known negative rows.

    ``positive`` gives the mass of positives in the target population, ``population`` the mass of everyone.
    """

    positive: Triple
    population: Triple
    class_prior: float
    unlabelled_only: bool  # whether the sample of the population is the unlabelled rows alone

    @classmethod
    def of(cls, totals: Totals, assumptions: Assumptions) -> MassMap:
        """Read the map off the recovery, so that calibration and every other metric mean the same population.

        >>> from pulens.scenario import Scenario
        >>> MassMap.of(Totals(10, 90, 0), Assumptions(0.2, scenario=Scenario.CASE_CONTROL)).positive
        (0.2, 0.0, 0.0)
        >>> MassMap.of(Totals(10, 90, 0), Assumptions(0.2, scenario=Scenario.SINGLE_SET)).population
        (0.1, 0.9, 0.0)
        """
        recovery = Recovery.of(totals, assumptions)
        unlabelled_only = recovery.target_population == Scenario.CASE_CONTROL.target_population
        prior = recovery.class_prior
        positive = tuple(prior * gamma if gamma else 0.0 for gamma in recovery.true_positive_rate)
        if not unlabelled_only:
            population = tuple(total / totals.rows for total in totals)
        elif totals.negative == 0:
            population = (0.0, 1.0, 0.0)
        else:  # known negatives sharpen the estimate of the negatives among the unlabelled rows
            population = tuple(
                mass + (1 - prior) * eta for mass, eta in zip(positive, recovery.false_positive_rate, strict=True)
            )
        return cls(positive, population, prior, unlabelled_only)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, eq=False)
class BinCounts:
    """Rows of each kind in each bin with the sums of their scores and squared scores; arrays are (kind, bin)."""

    edges: Floats
    counts: Floats
    sums: Floats
    squares: Floats
    totals: Totals

    @property
    def bins(self) -> int:
        return int(self.edges.size - 1)

    @property
    def rates(self) -> Floats:
        """Share of each kind of row in each bin; zero where there are no such rows."""
        return self.counts / self._sizes

    @property
    def mean_scores(self) -> Floats:
        """Share of each kind of row in each bin, times its mean score."""
        return self.sums / self._sizes

    @property
    def _sizes(self) -> Floats:
        return np.array([total or 1.0 for total in self.totals])[:, None]

    def positive_mass(self, masses: MassMap) -> Floats:
        return np.array(masses.positive) @ self.rates

    def population_mass(self, masses: MassMap) -> Floats:
        return np.array(masses.population) @ self.rates

    def score_mass(self, masses: MassMap) -> Floats:
        """Population mass times its mean score: the positives that the model promises."""
        return np.array(masses.population) @ self.mean_scores


def count_bins(tally: Tally, edges: Floats) -> BinCounts:
    """Count the rows of a tally in bins: one pass over the distinct scores, in cache-sized pieces."""
    scores = tally.thresholds
    borders = bin_starts(scores, edges)[::-1]  # from the highest bin down, as scores fall
    filled = np.flatnonzero(borders[1:] > borders[:-1])
    firsts, indices = borders[filled], edges.size - 2 - filled
    totals = tally.totals
    counts, sums, squares = (np.zeros((3, edges.size - 1)) for _ in range(3))
    for kind, (running, total) in enumerate(
        zip((tally.labelled, tally.unlabelled, tally.negative), totals, strict=True)
    ):
        if not total:
            continue
        counts[kind, indices] = np.diff(running[borders[filled + 1] - 1], prepend=running.dtype.type(0))
        for start in range(0, scores.size, _PIECE):
            stop = min(start + _PIECE, scores.size)
            before = running[start - 1] if start else running.dtype.type(0)
            here = np.diff(running[start:stop], prepend=before).astype(np.float64, copy=False)
            weighted = here * scores[start:stop]
            low, high = np.searchsorted(firsts, start, side="right") - 1, np.searchsorted(firsts, stop)
            cuts = np.maximum(firsts[low:high] - start, 0)
            sums[kind, indices[low:high]] += _sums_between(weighted, cuts)
            squares[kind, indices[low:high]] += _sums_between(weighted * scores[start:stop], cuts)
    return BinCounts(edges, counts, sums, squares, totals)


def _sums_between(values: Floats, cuts: NDArray[np.intp]) -> Floats:
    """Sums of the stretches that begin at the cuts; long stretches pair by pair, which loses fewer digits."""
    if cuts.size > _FEW:
        return np.add.reduceat(values, cuts)
    return np.array([part.sum() for part in np.split(values, cuts[1:])])


_FEW = 64
_PIECE = 1 << 15


def choose_edges(evidence: Evidence, *, binning: str, bins: int | str | None, lipschitz: float = 1.0) -> Floats:
    """Edges for a data set: as many bins as asked, or as many as Corollary 1 of the PU-ECE paper recommends."""
    check_binning(binning)
    masses = MassMap.of(evidence.tally.totals, evidence.assumptions)
    population = population_at_or_above(evidence.tally, unlabelled_only=masses.unlabelled_only)
    if bins is None or is_among(bins, ("optimal", "proof")):
        rows = population[-1].item()
        number = optimal_bins(
            masses.class_prior,
            evidence.tally.totals.labelled,
            rows,
            binning=binning,
            constants="proof" if bins == "proof" else "one",
            lipschitz=lipschitz,
        )
        # theory is about large samples; in tiny ones it may ask for more bins than there are rows to divide
        number = max(1, min(number, int(rows // 2))) if binning == "mass" else number
    else:
        number = check_bins(bins)
    if binning == "width":
        return width_edges(number)
    return mass_edges(evidence.tally.thresholds, population, number)
