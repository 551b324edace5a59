"""What a recalibrator file declares about itself, and the maps it returns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.calibration._likelihood import logits_of
from pulens.calibration._risk import Points
from pulens.errors import InputError
from pulens.types import Floats


@dataclass(frozen=True, slots=True)
class Recalibrator:
    """The facts of one recalibrator: how to fit it, and whether it reads scores as probabilities or by order alone.

    ``fit(points, scores_are)`` gives a :class:`CalibrationMap`.
    """

    fit: Callable[[Points, str], CalibrationMap]
    summary: str
    reads: tuple[str, ...] = ("probability", "logit")


@dataclass(frozen=True, slots=True)
class CalibrationMap:
    """A function from scores to probabilities that can be written down and read back.

    >>> CalibrationMap.from_dict({"method": "platt", "scores_are": "logit", "logit": [0.0, 1.0]})(np.array([0.0]))
    array([0.5])
    """

    method: str
    scores_are: str
    logit: tuple[float, ...] = ()  # coefficients of 1, logit; or of 1, ln s, -ln(1 - s)
    knots: tuple[float, ...] = ()  # scores, rising
    shares: tuple[float, ...] = ()  # probabilities at the knots
    steps: bool = False  # constant up to and including each knot, instead of straight lines between them

    def __call__(self, scores: Any) -> Floats:
        values = np.asarray(scores, float)
        if self.scores_are == "probability" and values.size and not (values.min() >= 0 and values.max() <= 1):
            raise InputError("this map was fitted to probabilities; got scores outside [0, 1].")
        if self.steps:
            index = np.searchsorted(self.knots, values, side="left")
            shares: Floats = np.asarray(self.shares, float)[np.minimum(index, len(self.shares) - 1)]
            return shares
        if self.knots:
            return np.asarray(np.interp(values, self.knots, self.shares), float)
        from pulens.special import expit

        return np.asarray(expit(self._logits(values)), float)

    def _logits(self, values: Floats) -> Floats:
        if len(self.logit) == 2:
            return self.logit[0] + self.logit[1] * logits_of(values, self.scores_are)
        low, high = log_sides(values, self.scores_are)
        return self.logit[0] + self.logit[1] * low + self.logit[2] * high

    def to_dict(self) -> dict[str, Any]:
        kept: dict[str, Any] = {"method": self.method, "scores_are": self.scores_are}
        if self.logit:
            kept["logit"] = list(self.logit)
        else:
            kept |= {"knots": list(self.knots), "shares": list(self.shares), "steps": self.steps}
        return kept

    @classmethod
    def from_dict(cls, written: dict[str, Any]) -> CalibrationMap:
        """Read back what :meth:`to_dict` wrote."""
        try:
            result = cls(
                str(written["method"]),
                str(written["scores_are"]),
                tuple(float(value) for value in written.get("logit", ())),
                tuple(float(value) for value in written.get("knots", ())),
                tuple(float(value) for value in written.get("shares", ())),
                bool(written.get("steps", False)),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"not a calibration map: {error!r}.") from error
        numbers = (*result.logit, *result.knots, *result.shares)
        sound = len(result.knots) == len(result.shares) if not result.logit else len(result.logit) in (2, 3)
        if not numbers or not sound or not all(math.isfinite(value) for value in numbers):
            raise InputError("not a calibration map: it needs 2 or 3 logit coefficients, or as many shares as knots.")
        return result

    def __str__(self) -> str:
        if len(self.logit) == 2:
            return f"{self.method}: logit p = {self.logit[0]:.4g} + {self.logit[1]:.4g} logit s"
        if self.logit:
            a, b, c = self.logit
            return f"{self.method}: logit p = {a:.4g} + {b:.4g} ln s - {c:.4g} ln(1 - s)"
        return f"{self.method}: {len(self.knots):,} knots"


def log_sides(values: Floats, scores_are: str) -> tuple[Floats, Floats]:
    """ln s and -ln(1 - s), within the range of doubles."""
    logits = logits_of(values, scores_are)
    return -np.logaddexp(0, -logits), np.logaddexp(0, logits)
