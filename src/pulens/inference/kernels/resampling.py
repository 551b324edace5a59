"""How sure an interval should be, and by how many redraws it is found."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pulens.confidence import check_confidence
from pulens.errors import PulensError, shown
from pulens.scalars import whole

FEWEST_REDRAWS = 100
MOST_REDRAWS = 1_000_000
DEFAULT_REDRAWS = 2000


@dataclass(frozen=True, slots=True)
class Resampling:
    """Level, number of redraws and seed. The same seed gives the same bytes, whatever the number of threads.

    >>> Resampling(confidence=0.9).tail
    0.05
    """

    confidence: float = 0.95
    redraws: int = DEFAULT_REDRAWS
    seed: int = 0
    threads: int = 0  # that share the redraws; 0 for what the machine has, up to four
    factor: float = 1.0  # times errors are as large as the draw of the rows alone makes them

    @property
    def tail(self) -> float:
        """Chance of a miss on either side."""
        return round((1 - self.confidence) / 2, 15)

    @property
    def workers(self) -> int:
        return self.threads or max(1, min(4, os.cpu_count() or 1))


def check_resampling(confidence: float | None, redraws: int = DEFAULT_REDRAWS, seed: int = 0) -> Resampling | None:
    """The caller's wishes, checked; ``None`` when no interval is wanted.

    >>> check_resampling(None) is None
    True
    """
    if confidence is None:
        return None
    confidence = check_confidence(confidence, or_none=True)
    many = whole(redraws)
    if many is None or not FEWEST_REDRAWS <= many <= MOST_REDRAWS:
        raise PulensError(
            f"redraws must be a whole number of at least {FEWEST_REDRAWS}, got {shown(redraws)}. "
            f"{DEFAULT_REDRAWS:,} are plenty for 95% intervals, and {MOST_REDRAWS:,} the most."
        )
    return Resampling(confidence, many, check_seed(seed))


def check_seed(seed: int) -> int:
    """Where chance starts, checked.

    >>> check_seed(-1)
    Traceback (most recent call last):
    ...
    pulens.errors.PulensError: seed must be a whole number of at least 0, got -1. Any such number will do.
    """
    number = whole(seed)
    if number is None or number < 0:
        raise PulensError(f"seed must be a whole number of at least 0, got {shown(seed)}. Any such number will do.")
    return number
