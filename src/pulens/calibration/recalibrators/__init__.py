"""Maps from scores to true probabilities, one kind per file."""

from __future__ import annotations

from pulens.calibration.recalibrators._map import CalibrationMap, Recalibrator
from pulens.catalogue import load_catalogue
from pulens.errors import PulensError, listed

__all__ = ["RECALIBRATORS", "CalibrationMap", "Recalibrator", "find"]

RECALIBRATORS: dict[str, Recalibrator] = {
    name: found for name, (_, found) in load_catalogue(__name__, __path__, "RECALIBRATOR").items()
}


def find(name: str) -> Recalibrator:
    """A recalibrator by name, or an error that lists the names there are.

    >>> find("platt").summary
    'A straight line through the logits'
    """
    if name in RECALIBRATORS:
        return RECALIBRATORS[name]
    raise PulensError(f"there is no recalibration method {name!r}; the methods are 'auto', {listed(RECALIBRATORS)}.")
