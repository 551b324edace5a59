r"""Gaps of bins and how they vary: kernels for the calibration error's value, bias and interval.

The gap of a bin, :math:`g_b = \pi_b - c_b`, is its mass of positives less the mass the model promises; the
calibration error is :math:`\sum_b |g_b|`. A row of kind k and score s adds :math:`(p_k - q_k s)/n_k` to its bin's
gap, with p and q the coefficients of :class:`~pulens.calibration.masses.MassMap`, so each gap is a sum of
independent terms and its variance is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pulens.calibration.masses import BinCounts, MassMap
from pulens.special import ndtr
from pulens.types import Floats

FEWEST_REDRAWS = 20
MOST_REDRAWN_BINS = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class BinGaps:
    """Gap of each bin, its variance, and what is needed for covariances between bins."""

    gap: Floats
    variance: Floats
    parts: Floats  # (kind, bin): what each kind of row adds to the gap
    sizes: Floats  # rows of each kind

    @classmethod
    def of(cls, counted: BinCounts, masses: MassMap) -> BinGaps:
        sizes = np.array([total or np.inf for total in counted.totals])
        positive, population = (np.array(which)[:, None] for which in (masses.positive, masses.population))
        parts = (positive * counted.counts - population * counted.sums) / sizes[:, None]
        squared = positive**2 * counted.counts - 2 * positive * population * counted.sums
        squared += population**2 * counted.squares
        variance = (squared / sizes[:, None] ** 2 - parts**2 / sizes[:, None]).sum(axis=0)
        return cls(parts.sum(axis=0), np.maximum(variance, 0.0), parts, sizes)

    @property
    def deviation(self) -> Floats:
        return np.sqrt(self.variance)

    def varied(self, deviation: Floats) -> BinGaps:
        """The same gaps, each with a further deviation that is independent of all others."""
        return replace(self, variance=self.variance + deviation**2)

    def variance_of_sum(self, weights: Floats, own: Floats | None = None) -> float:
        r"""Variance of :math:`\sum_b w_b g_b`; ``own`` replaces :math:`w_b^2` on the diagonal."""
        squares = weights**2 if own is None else own
        # the covariance of two bins is minus the product of their parts over the number of rows
        products = (self.parts @ weights) ** 2 - (self.parts**2) @ (weights**2)
        return max(float(squares @ self.variance - (products / self.sizes).sum()), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class ReplicatedGaps:
    """Gap of each bin, and how far replicates of it are away: of strata, or without each bucket of clusters."""

    gap: Floats
    away: Floats  # (replicate, bin): distances whose squares add up to the variance

    @property
    def variance(self) -> Floats:
        return np.asarray((self.away**2).sum(axis=0))

    @property
    def deviation(self) -> Floats:
        return np.sqrt(self.variance)

    def varied(self, deviation: Floats) -> ReplicatedGaps:
        """The same gaps, each with a further deviation that is independent of all others."""
        return replace(self, away=np.concatenate([self.away, np.diag(deviation)]))

    def variance_of_sum(self, weights: Floats, own: Floats | None = None) -> float:
        r"""Variance of :math:`\sum_b w_b g_b`; ``own`` replaces :math:`w_b^2` on the diagonal."""
        result = float(((self.away @ weights) ** 2).sum())
        if own is not None:
            result += float((own - weights**2) @ self.variance)
        return max(result, 0.0)


class ErrorTerms(NamedTuple):
    """The calibration error as it is, freed of bias, and between its two one-sided corrections."""

    value: float
    corrected: float
    understated: float
    overstated: float
    standard_error: float
    upper_error: float  # standard error for the upper end; differs in other norms


def error_terms(gaps: BinGaps | ReplicatedGaps) -> ErrorTerms:
    r"""Sum of absolute gaps and three corrections of its upward bias.

    With :math:`\sigma_b` the standard error of a gap, :math:`\Phi, \varphi` of the normal law at
    :math:`t_b = g_b/\sigma_b` and :math:`m_b = 2\Phi(t_b) - 1`:

    * *understated* :math:`\sum_b g_b m_b - 2\sigma_b\varphi`: learn the sign of each gap on a random half of the
      rows, apply it to the other half, average over all halves. Its expectation is
      :math:`\sum_b \mu_b(2\Phi(\mu_b/\sqrt2\sigma_b) - 1)`: exactly 0 for a calibrated model, never above the truth;
    * *overstated* :math:`\sum_b 2|g_b| - g_b m_b - 2\sigma_b\varphi`: the bootstrap's correction, which removes part
      of the bias;
    * *corrected* :math:`\sum_b |g_b| - 2\sigma_b\varphi`: the middle of the two.

    The signs are random where a gap is small, so the standard error is that of :math:`\sum_b s_b g_b` with
    independent signs of mean :math:`m_b`.
    """
    size, deviation = np.abs(gaps.gap), gaps.deviation
    certainty = np.ones_like(size)
    noise = np.zeros_like(size)
    noisy = deviation > 0
    standard = size[noisy] / deviation[noisy]
    certainty[noisy] = 2 * ndtr(standard) - 1
    noise[noisy] = 2 * deviation[noisy] * np.exp(-(standard**2) / 2) / math.sqrt(2 * math.pi)
    signs = np.copysign(certainty, gaps.gap)
    error = math.sqrt(gaps.variance_of_sum(signs, own=np.ones_like(size)))
    return ErrorTerms(
        float(size.sum()),
        float((size - noise).sum()),
        float((size * certainty - noise).sum()),
        float((2 * size - size * certainty - noise).sum()),
        error,
        error,
    )


def calibrated_rates(counted: BinCounts, masses: MassMap, labelled_purity: float) -> Floats:
    """Shares per bin of each kind of row if the model's probabilities were true.

    Positives then fall into bins as the promised mass does; the other kinds keep their observed shares.
    """
    promised = np.maximum(counted.score_mass(masses), 0.0)
    rest = np.maximum(counted.population_mass(masses) - promised, 0.0)
    rates = counted.rates.copy()
    if promised.sum() > 0:
        rates[0] = labelled_purity * promised / promised.sum()
        if labelled_purity < 1:
            rates[0] += (1 - labelled_purity) * (rest / rest.sum() if rest.sum() else promised / promised.sum())
    return rates


def noise_floor(
    counted: BinCounts, masses: MassMap, labelled_purity: float, *, redraws: int, rng: np.random.Generator, norm: float
) -> float:
    """The error that a perfectly calibrated model with these scores would show, on average, at these sizes."""
    rates = calibrated_rates(counted, masses, labelled_purity)
    # the sum over many bins hardly varies: few redraws of it tell its mean as well as many redraws of few bins
    redraws = min(redraws, max(FEWEST_REDRAWS, MOST_REDRAWN_BINS // counted.bins))
    drawn = redraw_gaps(counted, masses, rates, redraws=redraws, rng=rng)
    population = counted.population_mass(masses)
    return float(
        np.mean([norm_of(gaps, population, norm) for gaps in drawn]) if norm != 1 else np.abs(drawn).sum(1).mean()
    )


def redraw_gaps(
    counted: BinCounts, masses: MassMap, rates: Floats, *, redraws: int, rng: np.random.Generator
) -> Floats:
    """Deviations of the gaps from their mean when counts are redrawn; the scores inside a bin vary normally."""
    drawn = np.zeros((redraws, counted.bins))
    for kind, total in enumerate(counted.totals):
        positive, population = masses.positive[kind], masses.population[kind]
        if not total or (positive == 0 and population == 0):
            continue
        shares = rates[kind] / rates[kind].sum()
        counts = rng.multinomial(round(total), shares, redraws).astype(float)
        rows = np.maximum(counted.counts[kind], 1e-300)
        mean = np.where(counted.counts[kind] > 0, counted.sums[kind] / rows, 0.0)
        within = np.where(counted.counts[kind] > 0, counted.squares[kind] / rows - mean**2, 0.0)
        drawn += (counts - round(total) * shares) * ((positive - population * mean) / total)
        if population:
            inside = np.sqrt(np.maximum(within, 0.0)) * (population / total)
            drawn -= np.sqrt(counts) * inside * rng.standard_normal(drawn.shape)
    return drawn


def norm_of(gaps: Floats, population: Floats, norm: float) -> float:
    r"""The error in any norm: :math:`\left(\sum_b p_b |y_b - f_b|^q\right)^{1/q}`, with gaps :math:`p_b(y_b - f_b)`.

    For q = 1 a bin without population counts through its positives; for others it has no probability and is left out.
    """
    if norm == 1:
        return float(np.abs(gaps).sum())
    filled = population > 0
    differences = np.abs(gaps[filled]) / population[filled]
    if math.isinf(norm):
        return float(differences.max(initial=0.0))
    largest = float(differences.max(initial=0.0))
    if not largest:
        return 0.0
    # powers of shares of the largest difference: those of the differences themselves vanish in high norms
    return float(largest * (population[filled] @ (differences / largest) ** norm) ** (1 / norm))
