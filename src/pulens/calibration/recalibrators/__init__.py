"""Maps from scores to true probabilities, by name."""

from __future__ import annotations

from pulens.calibration.calibration_map import CalibrationMap, Recalibrator
from pulens.catalogue import Catalogue

__all__ = ["RECALIBRATORS", "CalibrationMap", "Recalibrator", "find"]

RECALIBRATORS: Catalogue[Recalibrator] = Catalogue(
    __name__,
    __path__,
    "RECALIBRATOR",
    "recalibration method",
    plural="methods",
    several={"maps": ("beta", "histogram", "isotonic", "platt", "temperature")},
)


def find(name: str) -> Recalibrator:
    """A recalibrator by name, or an error that lists the names there are.

    >>> find("platt").summary
    'A straight line through the logits'
    """
    return RECALIBRATORS.find(name, "auto")
