"""A comparison in two pictures: differences with their intervals, and each model over the class prior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pulens.plots.backend import pyplot

if TYPE_CHECKING:
    from pulens.comparison import Comparison


def draw_comparison(comparison: Comparison, axes: Any = None, metric: str | None = None) -> Any:
    """Differences on the left, values over the class prior with their crossings on the right; returns both axes."""
    name = metric or comparison.metric
    if axes is None:
        axes = pyplot().subplots(1, 2, figsize=(11, 4.4), layout="constrained")[1]
    left, right = axes
    pairs = [pair for pair in comparison.differences[name] if pair.interval is not None]
    for place, pair in enumerate(reversed(pairs)):
        clear = pair.is_clear(comparison.confidence)
        colour = "#1f5fa8" if clear else "#8a8a8a"
        left.plot([pair.interval.low, pair.interval.high], [place, place], color=colour, linewidth=2)  # type: ignore[union-attr]
        left.plot(pair.value, place, "o", color=colour)
    left.set_yticks(range(len(pairs)), [f"{pair.first} - {pair.second}" for pair in reversed(pairs)])
    left.set_ylim(-0.7, len(pairs) - 0.3)
    left.axvline(0, color="#c9c9c9", linewidth=1, zorder=0)
    left.set(xlabel=f"difference in {name}, {comparison.confidence:.0%} interval")
    order = comparison.order[name]
    for model, values in order.values.items():
        right.plot(order.class_priors, values, label=model, linewidth=2)
    for crossing in order.crossings:
        right.axvline(crossing.class_prior, color="#8a8a8a", linestyle=":", linewidth=1)
    if comparison.class_prior.interval is None:
        right.axvline(comparison.class_prior.value, color="#c9c9c9", linewidth=1, zorder=0)
    right.set(xlabel="class prior", ylabel=name)
    right.legend()
    return axes
