"""Kernels of intervals: redraws of counts, bands, quantiles, analytic variances. They know no metric."""

from pulens.inference.kernels.bands import Band, rank_band
from pulens.inference.kernels.placements import PlacementMoments, placement_moments
from pulens.inference.kernels.redraws import compress, redraw_tally
from pulens.inference.kernels.resampling import Resampling, check_resampling

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
