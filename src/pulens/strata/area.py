r"""The interval of the ROC AUC within cells, by what every row adds to it.

With :math:`\theta_g` the mean placement of cell g's positives in the list, :math:`\theta = \sum_g\omega_g\theta_g` and
:math:`\pi` the class prior, :math:`AUC = (\theta - \pi/2)/(1-\pi)`. To first order a labelled row of cell g moves
:math:`\theta` by :math:`\omega_g (\text{placement} - \theta_g)/n_{Lg}`, and a row of the list at s in cell k by

.. math:: \Bigl[\sum_g \omega_g S_g(s) - \theta + \frac{a}{\pi}(\theta_k - \theta)\Bigr] / n,

:math:`S_g(s)` being the share of cell g's positives above s and a the positives that the row stands for, such as
:math:`\alpha_k`. Where the total was not given, :math:`\pi` moves too, by :math:`(a - \pi)/n`, and the area by
:math:`(AUC - 1/2)/(1-\pi)` of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pulens.cached import cached_method
from pulens.inference.kernels.placements import SKEW_OF_NO_SPREAD
from pulens.inference.kernels.quantiles import effective_degrees_of_freedom, percentiles, studentised_quantile
from pulens.inference.kernels.redraws import compress
from pulens.strata.counts import counts_above
from pulens.strata.evidence import StratifiedEvidence
from pulens.strata.priors import PriorSetting
from pulens.types import Floats

FINE = 2048  # thresholds on which variances are found


class Doubtful(NamedTuple):
    """Standard error, skewness and degrees of freedom."""

    error: float
    skew: float
    freedom: float


@dataclass(frozen=True)
class StratifiedArea:
    """Placements of every cell's rows in the list, and the area's ends from them."""

    evidence: StratifiedEvidence

    @cached_property
    def placements(self) -> Floats:
        """Mean placement of each cell's labelled and unlabelled rows in the list, of shape (cells, 2)."""
        whole, cells = self.evidence.cells.whole, self.evidence.cells
        listed = self._listed(np.array([whole.labelled, whole.unlabelled, whole.negative], float))
        index = 1.0 - (listed - np.diff(listed, prepend=0.0) / 2) / listed[-1]
        result = np.zeros((len(cells), 2))
        for number, tally in enumerate(cells.tallies):
            at = np.diff(counts_above(tally, whole.thresholds)[:2], axis=1, prepend=0.0)
            rows = at.sum(axis=1)
            result[number] = np.divide(at @ index, rows, out=np.full(2, np.nan), where=rows > 0)
        return result

    def _listed(self, kinds: Floats) -> Floats:
        return np.asarray(kinds.sum(axis=0) if self.evidence.is_single else kinds[1])

    def means(self, shares: Any) -> Floats:
        """Mean placement of each cell's positives; cells without labelled rows take the others' mean."""
        first, second = self.evidence.coefficients(shares)
        indices = self.placements
        result = first * indices[:, 0]
        if self.evidence.label_noise:
            result = result + second * np.nan_to_num(indices[:, 1])
        return np.asarray(result)

    def values(self, shares: Floats) -> Floats:
        """The area at class priors of shape (draws, cells)."""
        evidence, means = self.evidence, self.means(shares)
        totals = evidence.cells.totals
        known = (1 - evidence.label_noise) * totals[:, 0] if evidence.is_single else 0.0
        held = known + shares * totals[:, 1]
        labelled = np.where(totals[:, 0] > 0, held, 0.0)
        theta = (labelled * np.nan_to_num(means)).sum(axis=1) / np.maximum(labelled.sum(axis=1), 1e-300)
        prior = held.sum(axis=1) / evidence.list_rows.sum()
        return np.asarray((theta - prior / 2) / (1 - prior))

    def ends(self, setting: PriorSetting, tail: float) -> tuple[float, float]:
        own = self.doubtful(setting.shares)
        if setting.draws is not None:
            size = setting.draws.shape[0]
            rng = np.random.Generator(np.random.PCG64([size, 41]))
            levels = (rng.permutation(size) + 0.5) / size
            mixed = self.values(setting.draws) - own.error * studentised_quantile(levels, own.skew, own.freedom)
            return percentiles(mixed, tail, tail)
        (value,) = self.values(setting.shares[None])
        low, high = (float(studentised_quantile(level, own.skew, own.freedom)) for level in (1 - tail, tail))
        return float(value - own.error * low), float(value - own.error * high)

    @cached_property
    def _fine(self) -> Floats:
        """Rows of each kind at each of some thresholds, of shape (cells, 3, thresholds)."""
        above = self.evidence.cells.above(compress(self.evidence.cells.whole, FINE).thresholds)
        return np.diff(above, axis=2, prepend=0.0)

    @cached_method(np.ndarray.tobytes)
    def doubtful(self, shares: Floats) -> Doubtful:
        evidence, at = self.evidence, self._fine
        totals = evidence.cells.totals
        rows = evidence.list_rows.sum()
        weights = evidence.weights(shares)
        prior = float(evidence.positives(shares).sum() / rows)
        value = float(self.values(shares[None])[0])
        means = self.means(shares)
        theta = value * (1 - prior) + prior / 2
        means = np.where(np.isnan(means), theta, means)
        first, second = evidence.coefficients(shares)
        listed = np.cumsum(self._listed(at.sum(axis=0)))
        index = 1.0 - (listed - np.diff(listed, prepend=0.0) / 2) / listed[-1]
        above = self._positives_above(at, evidence.borrowed(weights), first, second)
        carried = self._carried(shares)
        moves_prior = 0.0 if evidence.priors.total_held else value - 0.5
        seconds, thirds, sizes = [], [], []
        spread = self._labelled_spread(at, index)
        kinds = (0, 1, 2) if evidence.is_single else (1,)
        for cell in range(len(evidence.cells)):
            for kind in range(3):
                many = totals[cell, kind]
                if not many:
                    continue
                moved = np.zeros(index.size)
                if kind in kinds:
                    a = carried[cell, kind]
                    moved += (above - theta + a / prior * (means[cell] - theta) + moves_prior * (a - prior)) / rows
                share = {0: first[cell], 1: second[cell] if evidence.label_noise else 0.0}.get(kind, 0.0)
                mean = 0.0
                if share:
                    mean = float(at[cell, kind] @ index / many)
                    moved += weights[cell] * share * (index - mean) / many
                square = float(at[cell, kind] @ moved**2)
                if kind == 0:  # a cell of few rows borrows a row's spread from all of them
                    own = float(at[cell, 0] @ (index - mean) ** 2)
                    wanted = (own + spread) / many
                    unit = (weights[cell] * share) ** 2 / many
                    square += unit * max(wanted - own / many, 0.0)
                seconds.append(square)
                thirds.append(float(at[cell, kind] @ moved**3))
                sizes.append(many + 1)
            if not totals[cell, 0]:
                seconds.append((weights[cell] ** 2) * spread)
                thirds.append(0.0)
                sizes.append(2.0)
        if spread < 1e-15:  # no spread seen is not no spread: placements vary like a rate seen n times of n
            many = totals[:, 0].sum()
            floor = 0.5 / (many + 1) ** 2
            seconds.append(floor)
            thirds.append(-np.sign(theta - 0.5) * SKEW_OF_NO_SPREAD * floor**1.5)
            sizes.append(many)
        variances = np.array(seconds) / (1 - prior) ** 2
        error = float(np.sqrt(variances.sum()))
        skew = float(np.sum(thirds) / (1 - prior) ** 3 / error**3) if error else 0.0
        freedom = float(effective_degrees_of_freedom(variances, np.array(sizes)))
        return Doubtful(error, skew, freedom)

    def _labelled_spread(self, at: Floats, index: Floats) -> float:
        """Variance of labelled rows' placements within their cells, over all cells."""
        totals = self.evidence.cells.totals[:, 0]
        means = np.divide(at[:, 0] @ index, totals, out=np.zeros(totals.shape), where=totals > 0)
        square = (at[:, 0] * (index[None] - means[:, None]) ** 2).sum()
        return float(square / max(totals.sum() - np.count_nonzero(totals), 1.0))

    def _positives_above(self, at: Floats, weights: Floats, first: Any, second: Any) -> Floats:
        """Share of all positives above each score, those at it counting one half."""
        totals = self.evidence.cells.totals
        scale = np.divide(weights * first, totals[:, 0], out=np.zeros(weights.shape), where=totals[:, 0] > 0)
        here = scale @ at[:, 0]
        if self.evidence.label_noise:
            noisy = np.divide(weights * second, totals[:, 1], out=np.zeros(weights.shape), where=totals[:, 1] > 0)
            here = here + noisy @ at[:, 1]
        return np.asarray(np.cumsum(here) - here / 2)

    def _carried(self, shares: Floats) -> Floats:
        """Positives that a row stands for, by cell and kind."""
        evidence, totals = self.evidence, self.evidence.cells.totals
        carried = np.zeros(totals.shape)
        carried[:, 1] = shares
        if evidence.is_single:
            carried[:, 0] = 1 - evidence.label_noise
            if evidence.priors.held == "population":
                carried[:] = (evidence.positives(shares) / np.maximum(evidence.list_rows, 1e-300))[:, None]
        return carried
