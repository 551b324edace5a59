"""Kernels of uncertainty: redraws of counts, bands, quantiles, analytic variances. They know no metric."""

from pulens.uncertainty.bands import Band, rank_band
from pulens.uncertainty.placements import PlacementMoments, placement_moments
from pulens.uncertainty.redraws import compress, redraw_tally
from pulens.uncertainty.resampling import Resampling, check_resampling

__all__ = [
    "Band",
    "PlacementMoments",
    "Resampling",
    "check_resampling",
    "compress",
    "placement_moments",
    "rank_band",
    "redraw_tally",
]
