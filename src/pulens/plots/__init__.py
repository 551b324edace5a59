"""Drawing functions: each takes a finished result, computes nothing, and returns the axes it drew on."""

from pulens.plots.curves import draw_curve, draw_evaluation
from pulens.plots.prior import draw_prior

__all__ = ["draw_curve", "draw_evaluation", "draw_prior"]
