"""Claesen et al., figure 3: what a wrong share of positives does to the estimated ROC curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.tally import Tally
from pulens.curves import roc_curve
from pulens.estimate import Curve
from pulens.evaluation.bounds import Bounds, bounds
from pulens.plots import draw_curve
from pulens.recovery import recover
from pulens.recovery.assumptions import Assumptions
from pulens.research.studies._bounds import COLOURS, TrueRanking, binormal, height_at
from pulens.research.studies._study import Claim, Outcome, Study, Workbench, pictured
from pulens.scenario import Scenario
from pulens.types import Floats

# the caption of the figure; which wrong shares it shows is not printed
KNOWN, UNLABELLED, UNLABELLED_PRIOR = 2_000, 100_000, 0.3
SHARES = (0.0, 0.15, 0.3, 0.45)
RANGE = (0.8 * UNLABELLED_PRIOR, 1.2 * UNLABELLED_PRIOR)  # as far off as in section 6.3
QUICK_REPEATS, REPEATS = 5, 50
GRID = np.linspace(0.005, 0.995, 199)


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """False positive rates at every threshold for two shares of positives, and whether the ranking beats chance."""

    low: Floats
    high: Floats
    beats_chance: NDArray[np.bool_]

    @property
    def agreement(self) -> float:
        """Share of thresholds where more positives mean a lower rate if chance is beaten there, a higher one if not."""
        resolved = self.low != self.high
        return float(((self.high < self.low) == self.beats_chance)[resolved].mean())


def rates(tally: Tally, low: float, high: float) -> Rates:
    """Lemma 4, at each threshold of a ranking."""
    tables = [recover(tally, Assumptions(share, 0.0, Scenario.SINGLE_SET)) for share in (low, high)]
    below, above = (table.false_positive_rate[1:-1] for table in tables)
    return Rates(below, above, tables[0].true_positive_rate[1:-1] > below)


def run(bench: Workbench) -> Outcome:
    """One simulated ranking of the published size, bounds for several shares; the areas over repeats."""
    repeats = QUICK_REPEATS if bench.quick else REPEATS
    areas = np.empty((len(SHARES), repeats, 2))
    excess = np.empty((2, repeats))  # how far the true curve leaves the bounds, for two bands
    covered = np.empty(repeats, bool)
    truths = np.empty(repeats)
    for repeat in reversed(range(repeats)):  # the last one drawn is the one that is shown
        bench.progress(f"ranking {repeat + 1} of {repeats}")
        rng = np.random.default_rng([bench.seed, repeat])
        latent = round(UNLABELLED_PRIOR * UNLABELLED)
        ranking = binormal("simulated normal scores", KNOWN + latent, UNLABELLED - latent, rng)
        tally = Tally.from_arrays(ranking.labels(KNOWN, rng), ranking.scores)
        result = {share: _bounds(tally, share) for share in SHARES}
        reach, safe = _bounds(tally, RANGE), _bounds(tally, RANGE, "dkw-two-sample")
        areas[:, repeat] = [(one.roc_auc.low, one.roc_auc.high) for one in result.values()]
        covered[repeat] = ranking.roc_auc in reach.roc_auc
        excess[:, repeat] = [_excess(ranking, one) for one in (reach, safe)]
        truths[repeat] = ranking.roc_auc
    turned = Tally.from_arrays(ranking.labels(KNOWN, rng), -ranking.scores)
    lemma = {"this ranking": rates(tally, *RANGE), "the same upside down": rates(turned, *RANGE)}
    tables = (_table(areas, truths, reach), _lemma_table(lemma))
    files = _draw(bench.out, ranking, result, reach)
    return Outcome(tables, _claims(areas, truths, covered, excess, lemma), files)


def _bounds(tally: Tally, share: float | tuple[float, float], band: str = "bootstrap") -> Bounds:
    return bounds(tally, unlabelled_prior=share, scenario="single-set", band=band)


def _true_curve(ranking: TrueRanking) -> Curve:
    return roc_curve(recover(ranking.tally, Assumptions(0.0, 0.0, Scenario.SINGLE_SET)))


def _excess(ranking: TrueRanking, reach: Bounds) -> float:
    """How far the true curve is below the lower or above the upper one where that is worst; 0 if it is between them."""
    lower, upper = (height_at(curve, GRID) for curve in reach.roc)
    truth = height_at(_true_curve(ranking), GRID)
    return float(np.maximum(lower - truth, truth - upper).clip(0).max())


def _table(areas: Floats, truths: Floats, reach: Bounds) -> str:
    lines = [
        f"Bounds on the area under the ROC curve, {KNOWN:,} known positives, {UNLABELLED:,} unlabelled rows, "
        f"{UNLABELLED_PRIOR:.0%} of them positive, {truths.size} rankings; mean true area {truths.mean():.3f}",
        "  published: curves below the true one for too small a share and above it for too large a one; no numbers",
        f"  {'share taken':>12}{'low':>8}{'high':>8}{'width':>8}",
    ]
    for share, ends in zip(SHARES, areas.mean(axis=1), strict=True):
        lines.append(f"  {share:>12g}{ends[0]:>8.3f}{ends[1]:>8.3f}{ends[1] - ends[0]:>8.3f}")
    area = reach.roc_auc
    lines.append(f"  {f'{RANGE[0]:g} to {RANGE[1]:g}':>12}{area.low:>8.3f}{area.high:>8.3f}{area.width:>8.3f}")
    return "\n".join(lines)


def _lemma_table(lemma: dict[str, Rates]) -> str:
    lines = [
        f"Lemma 4: false positive rate at each threshold when the share grows from {RANGE[0]:g} to {RANGE[1]:g}",
        f"  {'':<24}{'beats chance at':>16}{'as the lemma says at':>22}",
    ]
    for name, one in lemma.items():
        lines.append(f"  {name:<24}{one.beats_chance.mean():>16.1%}{one.agreement:>22.1%}")
    return "\n".join(lines)


def _claims(
    areas: Floats, truths: Floats, covered_by_range: NDArray[np.bool_], excess: Floats, lemma: dict[str, Rates]
) -> tuple[Claim, ...]:
    right = SHARES.index(UNLABELLED_PRIOR)
    below = areas[:right, :, 1] < truths
    above = areas[right + 1 :, :, 0] > truths
    naive = areas[0].mean(axis=0)
    agreement = min(one.agreement for one in lemma.values())
    covered = float(((areas[right, :, 0] <= truths) & (truths <= areas[right, :, 1])).mean())
    return (
        Claim(
            "treating every unlabelled row as negative underestimates the performance",
            "reproduced" if below[0].all() else "differs",
            f"area {naive[0]:.3f} to {naive[1]:.3f} where the truth is {truths.mean():.3f}",
        ),
        Claim(
            "too small a share of positives gives curves that are too low, too large a share too high",
            "reproduced" if below.all() and above.all() else "differs",
            f"the whole interval lies on that side in {(below.mean() + above.mean()) / 2:.0%} of the rankings",
        ),
        Claim(
            "with the right share the bounds hold the truth",
            "reproduced" if covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / truths.size) else "differs",
            f"the true area in {covered:.0%} of {truths.size} rankings",
        ),
        Claim(
            "an interval of shares that holds the right one gives curves that hold the true one, if the band holds",
            "reproduced" if (excess[1] == 0).mean() > 0.94 and covered_by_range.mean() > 0.94 else "differs",
            f"the whole curve in {(excess[1] == 0).mean():.0%} of the rankings with the two-sample DKW band; with the "
            f"bootstrap band, which has no width at the ends of a ranking, in {(excess[0] == 0).mean():.0%} (left "
            f"by {excess[0].max():.4f} at most) and the area in {covered_by_range.mean():.0%}",
        ),
        Claim(
            "more positives mean a lower false positive rate where chance is beaten, else a higher one (Lemma 4)",
            "reproduced" if agreement > 0.9999 else "differs",
            f"at {agreement:.2%} of the thresholds or more, for the ranking and for the same upside down",
        ),
    )


@pictured("bounds-figure-3", 1, 2, figsize=(10.4, 4.8), sharey=True)
def _draw(axes: Any, ranking: TrueRanking, result: dict[float, Bounds], reach: Bounds) -> None:
    for (share, one), colour in zip(result.items(), ("other", "fourth", "ours", "third"), strict=True):
        lower, upper = (height_at(curve, GRID) for curve in one.roc)
        axes[0].fill_between(
            GRID, lower, upper, color=COLOURS[colour], alpha=0.5, linewidth=0.5, label=f"share {share:g}"
        )
    lower, upper = (height_at(curve, GRID) for curve in reach.roc)
    axes[1].fill_between(
        GRID,
        lower,
        upper,
        color=COLOURS["ours"],
        alpha=0.35,
        linewidth=0.5,
        label=f"share {RANGE[0]:g} to {RANGE[1]:g}",
    )
    truth = _true_curve(ranking)
    for ax in axes:
        draw_curve(truth, ax, color=COLOURS["truth"], linewidth=1.2, label=f"true curve (share {UNLABELLED_PRIOR:g})")
        ax.grid(alpha=0.25)
        ax.legend(loc="lower right")
    axes[1].set_ylabel("")


STUDY = Study("ROC curves for wrong shares of positives", "Claesen et al., figure 3 and Lemma 4", run)
