r"""Intervals of what is linear in the observed rates at thresholds fixed beforehand: money, net benefit, flagged share.

:math:`L = A\pi\gamma + Bq + C\pi + D = \sum c_i r_i + \ldots` over the kinds of rows. With Jeffreys ends of each rate
the ends of the sum add up in squares (MOVER, Zou and Donner 2008); in one sample the numbers of rows of each kind are
random too, and their part is added under the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pulens.decisions.actions import Actions
from pulens.evidence import Evidence
from pulens.inference.method import IntervalMethod, Limits
from pulens.inference.prior_draws import PriorDraws
from pulens.types import Floats

WIDE = 0.25  # the tail by which a standard error is read off an interval; at one half it has no width to read
SHARES, NORMALS = 25, 101  # quantiles that stand for a class prior that is drawn, and for the rows


class Form(NamedTuple):
    """Coefficients of the hits, of the flagged share and of the class prior, and a constant.

    The first two may be arrays, with a number for each threshold.
    """

    hits: Any = 0.0
    flagged: Any = 0.0
    prior: float = 0.0
    constant: float = 0.0

    def of(self, points: Actions) -> Floats:
        """The value with hits cut to what is possible."""
        value = self.hits * points.hits + self.flagged * points.flagged + self.prior * points.class_prior
        return np.asarray(value + self.constant)

    def raw(self, points: Actions) -> Floats:
        """The same without the cut: what is cut off shows no spread."""
        hits = points.class_prior * points.recall
        value = self.hits * hits + self.flagged * points.flagged + self.prior * points.class_prior
        return np.asarray(value + self.constant)


def net_benefit_form(ratio: Any) -> Form:
    """Net benefit at a cost ratio.

    >>> net_benefit_form(0.2)
    Form(hits=1.25, flagged=-0.25, prior=0.0, constant=0.0)
    """
    odds = ratio / (1 - ratio)
    return Form(1 + odds, -odds)


@dataclass(frozen=True, eq=False)
class LinearAtThresholds(IntervalMethod):
    """MOVER from Jeffreys ends; one number for each threshold, whose rows of each kind above it are given."""

    evidence: Evidence
    form: Form
    above: tuple[Floats, Floats, Floats]

    method = "MOVER, Jeffreys"

    @property
    def _draws(self) -> PriorDraws:
        return PriorDraws(self.evidence)

    def _coefficients(self, share: float) -> tuple[Floats, float]:
        """Of the kinds' rates, and the class prior."""
        recovery = self._draws.recoveries(tuple(self.evidence.tally.totals), np.array([share]))
        prior = float(recovery.positive[0] / (recovery.positive[0] + recovery.negative[0]))
        hits, alarms = prior * recovery.true_positive_rate[0], (1 - prior) * recovery.false_positive_rate[0]
        result = np.multiply.outer(hits, self.form.hits) + np.multiply.outer(hits + alarms, self.form.flagged)
        return result.reshape(3, *[1] * (self._rates().ndim - result.ndim), *result.shape[1:]), prior

    def _rates(self) -> Floats:
        totals = self.evidence.tally.totals
        pairs = zip(self.above, totals, strict=True)
        return np.stack([np.asarray(hits, float) / (total or 1.0) for hits, total in pairs])

    def value(self, prior: float) -> Any:
        coefficients, population = self._coefficients(prior)
        return (coefficients * self._rates()).sum(axis=0) + self.form.prior * population + self.form.constant

    def ends(self, prior: float | None, tail: Any) -> Limits:
        from pulens.special import ndtri

        if prior is not None:
            return self._mover(prior, tail)
        sides = min(float(tail), WIDE)
        reach = -float(ndtri(sides))
        normals = ndtri((np.arange(NORMALS) + 0.5) / NORMALS)
        totals = tuple(self.evidence.tally.totals)
        mixed = []
        for share in self._draws.priors(None, ndtri((np.arange(SHARES) + 0.5) / SHARES), totals).tolist():
            value = np.atleast_1d(self.value(share))
            low, high = (np.atleast_1d(end) for end in self._mover(share, sides))
            side = np.where(normals[:, None] < 0, value - low, high - value)
            mixed.append(value + side / reach * normals[:, None])
        low, high = np.quantile(np.concatenate(mixed), [tail, 1 - tail], axis=0)
        return (low, high) if np.ndim(self.above[0]) else (float(low[0]), float(high[0]))

    def _mover(self, share: float, tail: Any) -> Limits:
        from pulens.special import betaincinv, ndtri

        coefficients, _ = self._coefficients(share)
        totals = self.evidence.tally.totals
        rates, value = self._rates(), self.value(share)
        down: Any = 0.0
        up: Any = 0.0
        for weight, hits, total, rate in zip(coefficients, self.above, totals, rates, strict=True):
            if not np.any(weight) or not total:
                continue
            rest = np.maximum(total - np.asarray(hits, float), 0.0)
            below, above = (betaincinv(np.asarray(hits, float) + 0.5, rest + 0.5, level) for level in (tail, 1 - tail))
            below, above = weight * np.maximum(rate - below, 0.0), weight * np.maximum(above - rate, 0.0)
            down = down + np.where(weight > 0, below, above) ** 2
            up = up + np.where(weight > 0, above, below) ** 2
        if self._draws.random_totals:
            more = ndtri(tail) ** 2 * self._from_totals(share, rates)
            down, up = down + more, up + more
        return value - np.sqrt(down), value + np.sqrt(up)

    def covariance(self, share: float) -> Floats:
        """Of the numbers at all thresholds, rates smoothed by half a row; thresholds must fall or rise together."""
        coefficients, _ = self._coefficients(share)
        totals = np.array(self.evidence.tally.totals)
        smooth = np.stack(
            [(np.asarray(hits, float) + 0.5) / (n + 1) for hits, n in zip(self.above, totals, strict=True)]
        )
        result = np.zeros((smooth.shape[1], smooth.shape[1]))
        for weight, rate, n in zip(coefficients, smooth, totals, strict=True):
            if n:
                within = np.minimum.outer(rate, rate) - np.multiply.outer(rate, rate)
                result += np.multiply.outer(weight, weight) * within / n
        if self._draws.random_totals:
            parts = self._parts_of_rows(share, np.where(totals[:, None] > 0, smooth, 0.0))
            shares = totals / totals.sum()
            mean = shares @ parts
            result += ((shares[:, None] * parts).T @ parts - np.multiply.outer(mean, mean)) / totals.sum()
        return result

    def _from_totals(self, share: float, rates: Floats) -> Any:
        """Variance from the numbers of rows of each kind, which in one sample are random."""
        totals = np.array(self.evidence.tally.totals)
        parts = self._parts_of_rows(share, rates)
        shares = totals / totals.sum()
        squares, mean = np.tensordot(shares, parts**2, 1), np.tensordot(shares, parts, 1)
        return np.maximum(squares - mean**2, 0.0) / totals.sum()

    def _parts_of_rows(self, share: float, rates: Floats) -> Any:
        """What a row of each kind adds to the number on average."""
        totals = np.array(self.evidence.tally.totals)
        parts = self.form.flagged * rates
        if self.evidence.prior_held != "population" and totals[1]:  # these numbers decide the class prior, too
            coefficients = self._draws.recoveries(tuple(totals), np.array([share])).true_positive_rate[0]
            recall = np.tensordot(coefficients, rates, 1)
            each = np.array([1 - self.evidence.label_noise, share, 0.0]).reshape(-1, *[1] * (rates.ndim - 1))
            parts = parts + (self.form.hits * recall + self.form.prior) * each
        return parts
