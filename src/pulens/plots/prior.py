"""A picture of an estimated class prior: the curve it was read off, the value and what is possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pulens.plots.backend import pyplot

if TYPE_CHECKING:
    from pulens.priors import ClassPrior

CURVE = {"color": "#1f5fa8", "linewidth": 2.0}
FEASIBLE = {"color": "#8a8a8a", "alpha": 0.14, "linewidth": 0}
INTERVAL = {"color": "#1f5fa8", "alpha": 0.22, "linewidth": 0}


def draw_prior(prior: ClassPrior, ax: Any = None) -> Any:
    """Draw the decision curve over the share of positives among the unlabelled rows; returns the axes."""
    ax = pyplot().subplots()[1] if ax is None else ax
    if prior.unlabelled_feasible is not None:
        feasible = prior.unlabelled_feasible
        ax.axvspan(feasible.low, feasible.high, label=f"feasible {feasible}", **FEASIBLE)
    if prior.unlabelled_interval is not None and prior.unlabelled_interval.confidence is not None:
        interval = prior.unlabelled_interval
        ax.axvspan(interval.low, interval.high, label=f"{interval.confidence:.0%} interval {interval}", **INTERVAL)
    ax.set(xlabel="share of positives among the unlabelled rows", ylabel="")
    if prior.trace is not None:
        ax.plot(prior.trace.x, prior.trace.y, **CURVE)
        ax.set(xlabel=prior.trace.x_name, ylabel=prior.trace.y_name)
    if prior.trace is None or prior.trace.x_name.startswith("share of positives"):
        ax.axvline(prior.unlabelled, color="#c0392b", linewidth=1.6, label=f"{prior.method} {prior.unlabelled:.3f}")
        ax.set_xlim(0, 1)
    else:  # a curve over the score: the estimate is a height
        ax.axhline(prior.unlabelled, color="#c0392b", linewidth=1.6, label=f"{prior.method} {prior.unlabelled:.3f}")
    ax.legend(loc="upper right")
    return ax
