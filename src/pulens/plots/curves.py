"""Static pictures of curves with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.plots.backend import pyplot

if TYPE_CHECKING:
    from pulens.estimate import Curve
    from pulens.evaluation.evaluate import Evaluation

MOST_POINTS = 4_000  # more than a figure can show; drawing millions of segments takes minutes
RECOVERED = {"color": "#1f5fa8", "linewidth": 2.0}
UNCORRECTED = {"color": "#8a8a8a", "linewidth": 1.3, "linestyle": "--"}


def draw_curve(curve: Curve, ax: Any = None, **style: Any) -> Any:
    """Draw one curve; returns the axes."""
    ax = pyplot().subplots()[1] if ax is None else ax
    keep = np.arange(len(curve))
    if keep.size > MOST_POINTS:
        keep = np.unique(np.linspace(0, keep.size - 1, MOST_POINTS).astype(int))
    ax.plot(curve.x[keep], curve.y[keep], **{"label": curve.name, **RECOVERED, **style})
    ax.set(xlabel=curve.x_name, ylabel=curve.y_name, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    return ax


def draw_evaluation(evaluation: Evaluation, axes: Any = None) -> Any:
    """ROC and precision-recall curves side by side, the uncorrected ones dashed behind; returns both axes."""
    if axes is None:
        axes = pyplot().subplots(1, 2, figsize=(10, 4.6), layout="constrained")[1]
    left, right = axes
    areas = (("roc_auc", "AUC"), ("average_precision", "AP"))
    pairs = (
        (left, evaluation.uncorrected_roc, evaluation.roc),
        (right, evaluation.uncorrected_precision_recall, evaluation.precision_recall),
    )
    for (ax, before, after), (name, short) in zip(pairs, areas, strict=True):
        draw_curve(before, ax, label=f"uncorrected, {short} {evaluation.uncorrected[name].value:.3f}", **UNCORRECTED)
        result = evaluation.estimates[name]
        known = f"{result.interval}" if result.withheld_because else f"{result.value:.3f}"
        draw_curve(after, ax, label=f"recovered, {short} {known}")
        ax.grid(alpha=0.25)
    left.plot([0, 1], [0, 1], color="#c9c9c9", linewidth=1, zorder=0)
    right.axhline(evaluation.evidence.recovery.class_prior, color="#c9c9c9", linewidth=1, zorder=0)
    point = evaluation.at(evaluation.threshold)
    mark = {"marker": "o", "color": RECOVERED["color"], "markersize": 6}
    left.plot(1 - point["specificity"].value, point["recall"].value, **mark)
    right.plot(point["recall"].value, point["precision"].value, **mark)
    left.legend(loc="lower right")
    right.legend(loc="best")  # a good model's curve fills the upper right corner
    return axes
