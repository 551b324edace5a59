"""Recovered rates that no classifier can have, and whether chance alone explains them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pulens.assumptions import Assumptions
from pulens.contingency import ROUNDING
from pulens.notice import Notice, Severity
from pulens.recovery.point import Recovery, observed_rates
from pulens.tally import Tally, Totals

CHANCE_LIMIT = 4.0  # the largest of many correlated deviations reaches 3 to 3.5 standard errors by chance


@dataclass(frozen=True, slots=True)
class ImpossibleRates:
    """How far recovered rates leave [0, 1], where it is worst, and in standard errors."""

    thresholds: int
    worst_threshold: float
    rate: str
    value: float
    standard_errors: float

    def notice(self, assumptions: Assumptions) -> Notice | None:
        if not self.thresholds:
            return None
        seen = (
            f"The recovered {self.rate} at threshold {self.worst_threshold:.6g} is {self.value:.4f}, outside [0, 1] "
            f"(so at {self.thresholds:,} threshold{'s' if self.thresholds > 1 else ''}); values were clipped"
        )
        if self.standard_errors < CHANCE_LIMIT:
            return Notice(
                Severity.NOTE,
                "impossible-rates",
                f"{seen}. The excess is {self.standard_errors:.1f} standard errors: small samples do this by chance.",
            )
        return Notice(
            Severity.WARNING,
            "impossible-rates",
            f"{seen}. At {min(self.standard_errors, 99):.0f} standard errors this is not chance. Likely causes: the "
            f"class prior is too high (the unlabelled rows were taken to be {assumptions.unlabelled_prior:.1%} "
            "positive), the label noise is wrong, or positives with high scores were labelled more often.",
        )


def impossible_rates(tally: Tally, assumptions: Assumptions) -> ImpossibleRates:
    """Look for rates outside [0, 1] along the whole ranking.

    >>> tally = Tally.from_arrays(np.array([1, 1, 0, 0]), np.array([4, 3, 2, 1]))
    >>> impossible_rates(tally, Assumptions(0.0)).thresholds
    0
    """
    totals = tally.totals
    recovery = Recovery.of(totals, assumptions)
    thresholds, worst = 0, (-math.inf, 0.0, "", 0.0)
    names = ("true positive rate", "false positive rate")
    for block in tally.blocks():
        observed = observed_rates(tally, block)
        recovered = recovery.rates(*observed)
        outside = np.zeros(tally.thresholds[block].size, bool)
        for name, rate, coefficients in zip(
            names, recovered, (recovery.true_positive_rate, recovery.false_positive_rate), strict=True
        ):
            rate = np.broadcast_to(rate, outside.shape)
            excess = np.maximum(-rate, rate - 1)
            excess = np.where(excess > ROUNDING, excess, 0.0)
            outside |= excess > 0
            if not excess.any():
                continue
            deviations = excess / _standard_error(observed, coefficients, totals)
            place = int(np.argmax(deviations))
            worst = max(
                worst, (float(deviations[place]), float(tally.thresholds[block][place]), name, float(rate[place]))
            )
        thresholds += int(np.count_nonzero(outside))
    deviation, threshold, name, value = worst
    return ImpossibleRates(thresholds, threshold, name, value, deviation if thresholds else 0.0)


def _standard_error(
    observed: tuple[NDArray[np.float64], ...], coefficients: tuple[float, float, float], totals: Totals
) -> NDArray[np.float64]:
    """Binomial standard error of a recovered rate, never zero: half a row is added to each count."""
    variance = np.zeros(observed[0].shape)
    for rate, coefficient, total in zip(observed, coefficients, totals, strict=True):
        if coefficient and total:
            smoothed = (rate * total + 0.5) / (total + 1)
            variance += coefficient**2 * smoothed * (1 - smoothed) / total
    return np.sqrt(variance)
