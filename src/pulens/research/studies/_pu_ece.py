"""What the studies of the PU-ECE paper share: errors of PU-ECE over sample sizes in the worlds of appendix D."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.calibration.binning import optimal_bins
from pulens.research.studies._study import Workbench, pictured
from pulens.testing.calibration_worlds import BETTER_CALIBRATED, LESS_CALIBRATED, LogitMixture, logistic_world
from pulens.types import Floats

WORLDS = {"less calibrated": LESS_CALIBRATED, "better calibrated": BETTER_CALIBRATED}
RATE = -1 / 3


@dataclass(frozen=True, slots=True)
class Setting:
    """Rows of each kind as functions of N; infinitely many means their masses are known exactly."""

    name: str
    labelled: Callable[[int], float]
    unlabelled: Callable[[int], float]
    fully_labelled: bool = False


def sizes(quick: bool) -> list[int]:
    """N from 10 to 10,000, evenly on the logarithmic axis."""
    return [round(n) for n in np.logspace(1, 4, 7 if quick else 13)]


def one_error(world: LogitMixture, setting: Setting, n: int, rng: np.random.Generator) -> float:
    """PU-ECE of one sample, with bins of equal mass, as many as section 5.3 takes."""
    prior = world.class_prior
    if setting.fully_labelled:
        _, scores, is_positive = world.draw(1, n, rng)
        return labelled_calibration_error(scores, is_positive, cube_root_bins(n))
    labelled, unlabelled = setting.labelled(n), setting.unlabelled(n)
    # in the smallest samples the recommended number of bins exceeds what the rows can be divided into
    bins = min(optimal_bins(prior, labelled, unlabelled), int(min(unlabelled, 1e9)))
    drawn = world.draw(
        int(labelled) if math.isfinite(labelled) else 1, int(unlabelled) if math.isfinite(unlabelled) else 1, rng
    )
    if math.isfinite(unlabelled):
        ordered = np.sort(drawn[1])
        inner = ordered[(ordered.size * np.arange(1, bins)) // bins - 1]
        edges = np.concatenate([[0.0], inner, [1.0]])
        place = np.searchsorted(edges[1:-1], ordered, side="left")
        promised = np.bincount(place, ordered, minlength=bins) / ordered.size
    else:
        edges = world.mass_edges(bins)
        promised = world.binned_masses(edges)[1]
    if math.isfinite(labelled):
        place = np.searchsorted(edges[1:-1], drawn[0], side="left")
        positive = prior * np.bincount(place, minlength=bins) / drawn[0].size
    else:
        positive = world.binned_masses(edges)[0]
    return float(np.abs(positive - promised).sum())


def cube_root_bins(rows: int) -> int:
    """As many bins as section 5.3 takes for fully labelled rows; perfect cubes are decided exactly.

    >>> cube_root_bins(1000), cube_root_bins(10_000)
    (10, 22)
    """
    root: float = rows ** (1 / 3)
    return max(1, math.ceil(round(root, 9)))


def labelled_calibration_error(scores: Floats, is_positive: NDArray[np.bool_], bins: int) -> float:
    """The calibration error of rows whose classes are all known, in bins of equal mass."""
    ordered = np.sort(scores)
    edges = np.concatenate([[0.0], ordered[(ordered.size * np.arange(1, bins)) // bins - 1], [1.0]])
    place = np.searchsorted(edges[1:-1], scores, side="left")
    return float(np.abs(np.bincount(place, is_positive - scores, minlength=bins)).sum() / scores.size)


@dataclass(frozen=True, slots=True, eq=False)
class Biases:
    """Absolute errors of one setting: (size, trial)."""

    sizes: list[int]
    errors: Floats

    @property
    def mean(self) -> Floats:
        return np.asarray(self.errors.mean(axis=1), float)

    @property
    def band(self) -> tuple[Floats, Floats]:
        low, high = np.quantile(self.errors, [0.05, 0.95], axis=1)
        return low, high

    def slope(self) -> float:
        """Slope of the mean error on logarithmic axes."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.mean), 1)[0])


ByWorld = dict[str, dict[str, Biases]]  # by the name of the setting in each


def trials_of(bench: Workbench) -> int:
    return 20 if bench.quick else 100


def biases(world: LogitMixture, setting: Setting, bench: Workbench) -> Biases:
    truth = world.true_calibration_error()
    grid, trials = sizes(bench.quick), trials_of(bench)
    errors = np.empty((len(grid), trials))
    for row, n in enumerate(grid):
        bench.progress(f"{setting.name}, N = {n:,}")
        rng = np.random.default_rng([bench.seed, n])
        errors[row] = [abs(one_error(world, setting, n, rng) - truth) for _ in range(trials)]
    return Biases(grid, errors)


def in_both_worlds(bench: Workbench, settings: Sequence[Setting]) -> tuple[ByWorld, tuple[str, ...]]:
    """Errors of every setting in the two synthetic worlds of appendix D, and their tables."""
    result, tables = {}, []
    for title, world in worlds().items():
        result[title] = {setting.name: biases(world, setting, bench) for setting in settings}
        head = f"{title}, true error {world.true_calibration_error():.6f}, {trials_of(bench)} trials"
        tables.append(text_table(head, result[title]))
    return result, tuple(tables)


def worlds() -> dict[str, LogitMixture]:
    return {name: logistic_world(*line) for name, line in WORLDS.items()}


def text_table(title: str, result: dict[str, Biases]) -> str:
    """Mean errors at four sizes, and the fitted slope beside the theory's."""
    grid = next(iter(result.values())).sizes
    shown = [place for place, n in enumerate(grid) if n in (10, 100, 1000, 10_000)]
    heads = "".join(f"{f'N={grid[i]:,}':>9}" for i in shown)
    lines = [title, f"  {'setting':<25}{heads}{'slope':>7}{'theory':>7}"]
    for name, one in result.items():
        values = "".join(f"{one.mean[i]:>9.4f}" for i in shown)
        lines.append(f"  {name:<25}{values}{one.slope():>7.2f}{RATE:>7.2f}")
    return "\n".join(lines)


@pictured("", 1, 2, figsize=(10.8, 4.4), sharey=True)
def draw_biases(axes: Any, result: ByWorld) -> None:
    """One panel per world on logarithmic axes, with 90% bands and the theory's rate dashed."""
    for ax, (title, settings) in zip(axes, result.items(), strict=True):
        for colour, (label, one) in zip(COLOURS, settings.items(), strict=False):
            low, high = one.band
            ax.fill_between(one.sizes, low, high, color=colour, alpha=0.12, linewidth=0)
            ax.plot(one.sizes, one.mean, color=colour, marker="o", markersize=3, label=label)
        first = max(one.mean[0] for one in settings.values())
        grid = np.asarray(next(iter(settings.values())).sizes, float)
        rate = first * 1.4 * (grid / grid[0]) ** RATE
        ax.plot(grid, rate, color="#444444", linestyle="--", linewidth=1, label="N^(-1/3)")
        ax.set(xscale="log", yscale="log", xlabel="N", title=title)
        ax.grid(alpha=0.25, which="both")
    axes[0].set_ylabel("|PU-ECE - true calibration error|")
    axes[0].legend(fontsize=8)


COLOURS = ("#1f5fa8", "#c8553d", "#3d8b5f", "#7d5ba6", "#b08a2e")
