"""How sure an interval should be: one check, one wording."""

from __future__ import annotations

from pulens.errors import PulensError, shown
from pulens.scalars import real

__all__ = ["check_confidence"]


def check_confidence(confidence: object, *, or_none: bool = False) -> float:
    """A number strictly between 0 and 1; ``or_none`` says that the caller may also ask for no interval.

    >>> check_confidence(0.95)
    0.95
    >>> check_confidence(95)
    Traceback (most recent call last):
    ...
    pulens.errors.PulensError: confidence must lie strictly between 0 and 1, got 95. Write 95% as 0.95.
    """
    number = real(confidence)
    # half of it is added to one half: what is lost there would be an interval without width, or without end
    if not 0.5 < (1 + number) / 2 < 1:  # nan fails both comparisons
        way_out = ", or give None for no intervals." if or_none else "."
        raise PulensError(
            f"confidence must lie strictly between 0 and 1, got {shown(confidence)}. Write 95% as 0.95{way_out}"
        )
    return number
