"""An axis of whole tenths around some intervals, and where dots and bars lie on it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pulens.estimate import Interval


@dataclass(frozen=True, slots=True)
class Axis:
    """From the lowest number to the highest, each a multiple of the step."""

    low: float
    high: float

    @classmethod
    def around(cls, numbers: Iterable[float], *, finest: float = 0.1) -> Axis:
        """The shortest axis that holds them, in steps of 0.1, or finer where they lie closer together than that.

        >>> Axis.around([0.31, 0.58]), Axis.around([0.974, 0.981], finest=0.01)
        (Axis(low=0.3, high=0.6), Axis(low=0.97, high=0.99))
        """
        known = [number for number in numbers if not math.isnan(number)]
        low, high = min(known, default=0.0), max(known, default=1.0)
        steps = round(1 / (0.1 if high - low > 0.1 else finest))
        first, last = math.floor(low * steps + 1e-9), math.ceil(high * steps - 1e-9)
        return cls(first / steps, max(last, first + 1) / steps)

    def at(self, number: float) -> str:
        """Where a number lies, in per cent of a picture that leaves 2% at either end."""
        share = (number - self.low) / (self.high - self.low)
        return f"{2 + 96 * min(max(share, 0.0), 1.0):.2f}%"

    def picture(self, value: float, interval: Interval | None) -> dict[str, str] | None:
        """The dot of a value and the bar of its interval; without either a bar of no length, or nothing."""
        if math.isnan(value) and interval is None:
            return None
        low, high = (value, value) if interval is None else (interval.low, interval.high)
        return {"at": "" if math.isnan(value) else self.at(value), "low": self.at(low), "high": self.at(high)}

    @property
    def ticks(self) -> tuple[str, str]:
        return _tick(self.low), _tick(self.high)


def ends_of(value: float, interval: Interval | None) -> list[float]:
    """A value and the ends of its interval, for an axis around them."""
    return [value] if interval is None else [value, interval.low, interval.high]


def plain(number: Any) -> float | None:
    """A number as JSON can hold it: nothing where it is not finite."""
    return float(number) if math.isfinite(number) else None


def _tick(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
