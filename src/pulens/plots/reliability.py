"""The reliability diagram with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.plots.backend import pyplot

if TYPE_CHECKING:
    from pulens.calibration.reliability import Reliability

COLOUR = "#1f5fa8"


def draw_reliability(reliability: Reliability, axes: Any = None, **style: Any) -> Any:
    """Points with their intervals against the diagonal, and the population's scores below; returns both axes.

    ``axes`` is a pair, or a single axes for the diagram alone.
    """
    if axes is None:
        axes = pyplot().subplots(2, 1, figsize=(5.2, 6.4), sharex=True, height_ratios=(4, 1), layout="constrained")[1]
    top, bottom = axes if np.ndim(axes) else (axes, None)
    points = reliability.points
    x = np.array([one.confidence for one in points])
    y = np.array([one.clipped for one in points])
    look = {"color": COLOUR, "marker": "o", "markersize": 5, "linewidth": 1.4, "label": "recovered", **style}
    top.plot([0, 1], [0, 1], color="#9a9a9a", linewidth=1, linestyle="--", label="perfect calibration", zorder=0)
    if points and all(one.interval is not None for one in points):
        low, high = (np.array([getattr(one.interval, end) for one in points]) for end in ("low", "high"))
        top.vlines(x, low, high, color=look["color"], alpha=0.45, linewidth=2)
    top.plot(x, y, **look)
    error = reliability.error
    doubt = "" if error.interval is None else f" [{error.interval.low:.3f}, {error.interval.high:.3f}]"
    top.set_title(
        f"calibration error {error.value:.3f}{doubt}\ncorrected {error.corrected:.3f}, noise floor "
        f"{error.noise_floor:.3f}",
        fontsize=10,
    )
    top.set(ylabel="recovered share of positives", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    top.grid(alpha=0.25)
    top.legend(loc="upper left")
    if bottom is None:
        top.set_xlabel("score")
        return axes
    for one in reliability.bins:
        if one.population > 0 and one.high > one.low:
            # density, so that bins of equal mass show where the scores are
            bottom.bar(
                one.low,
                one.population / (one.high - one.low),
                one.high - one.low,
                align="edge",
                color=COLOUR,
                alpha=0.5,
            )
    bottom.set(xlabel="score", ylabel="density")
    return axes
