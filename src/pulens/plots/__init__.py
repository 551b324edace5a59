"""Drawing functions: each takes a finished result, computes nothing, and returns the axes it drew on."""

from pulens.plots.backend import pyplot
from pulens.plots.comparison import draw_comparison
from pulens.plots.curves import draw_curve, draw_evaluation
from pulens.plots.gaps import draw_gaps
from pulens.plots.pictures import draw_pictures
from pulens.plots.prior import draw_prior
from pulens.plots.reliability import draw_reliability
from pulens.plots.segments import draw_segments
from pulens.plots.watch import draw_watch

__all__ = [
    "draw_comparison",
    "draw_curve",
    "draw_evaluation",
    "draw_gaps",
    "draw_pictures",
    "draw_prior",
    "draw_reliability",
    "draw_segments",
    "draw_watch",
    "pyplot",
]
