"""A decision curve with its band, beside flagging all and flagging none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pulens.plots.backend import pyplot

if TYPE_CHECKING:
    from pulens.decisions.curve import DecisionCurve


def draw_decision_curve(curve: DecisionCurve, ax: Any = None) -> Any:
    """Net benefit against the cost ratio; returns the axes."""
    if ax is None:
        ax = pyplot().subplots(figsize=(6, 4.4), layout="constrained")[1]
    if curve.low is not None:
        words = "band, all ratios together" if curve.simultaneous else "band"
        ax.fill_between(curve.ratios, curve.low, curve.high, alpha=0.2, linewidth=0, label=words)
    ax.plot(curve.ratios, curve.model, linewidth=2, label="model")
    if curve.best is not None:
        ax.plot(curve.ratios, curve.best, linewidth=0.8, linestyle=":", label="best threshold on these rows")
    ax.plot(curve.ratios, curve.flag_all, color="#8a8a8a", linestyle="--", label="flag all")
    ax.axhline(0, color="#8a8a8a", linewidth=1, label="flag none")
    top = float(max([0.0, *curve.model[curve.model == curve.model]])) if curve.high is None else float(curve.high.max())
    ax.set(xlabel="cost ratio", ylabel="net benefit", xscale="log", ylim=(-0.25 * top - 1e-9, 1.15 * top + 1e-9))
    rounded = [digit * 10.0**power for power in range(-6, 7) for digit in (1, 2, 5)]
    shown = [ratio for ratio in rounded if curve.ratios.min() <= ratio <= curve.ratios.max()]
    if len(shown) > 1:  # powers of ten alone are too few, and matplotlib's names for what lies between overlap
        ax.set_xticks(shown, [f"{ratio:g}" for ratio in shown])
        ax.set_xticks([], minor=True)
    ax.legend()
    return ax
