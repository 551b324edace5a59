"""Drawing functions: each takes a finished result, computes nothing, and returns the axes it drew on."""

from pulens.plots.comparison import draw_comparison
from pulens.plots.curves import draw_curve, draw_evaluation

__all__ = ["draw_comparison", "draw_curve", "draw_evaluation"]
