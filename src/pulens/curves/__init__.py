"""Curves read the order of scores: points for every threshold, and the areas under them."""

from pulens.curves.detection_error import detection_error_curve
from pulens.curves.gain import gain_curve
from pulens.curves.precision_recall import precision_recall_areas, precision_recall_curve
from pulens.curves.roc import partial_area, roc_area, roc_curve

__all__ = [
    "detection_error_curve",
    "gain_curve",
    "partial_area",
    "precision_recall_areas",
    "precision_recall_curve",
    "roc_area",
    "roc_curve",
]
