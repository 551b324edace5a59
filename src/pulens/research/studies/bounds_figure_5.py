"""Claesen et al., figure 5: estimated curves and the true ones of a fully labelled test set, 5% of positives known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.tally import Tally
from pulens.curves import precision_recall_curve, roc_curve
from pulens.curves.precision_recall import curve_areas
from pulens.evaluation.bounds import Bounds, bounds
from pulens.inference.kernels.bands import rank_band
from pulens.plots import draw_curve
from pulens.recovery import recover
from pulens.recovery.assumptions import UNCORRECTED
from pulens.research.studies._bounds import (
    COLOURS,
    PAPER_AREA,
    TrueRanking,
    band_holds,
    height_at,
    trained_ranking,
)
from pulens.research.studies._study import Claim, Outcome, Study, Workbench, pictured
from pulens.types import Floats

KNOWN, UNLABELLED = 1_000, 39_000  # section 6.3: 5% of 20,000 positives; 20,000 negatives
UNLABELLED_PRIOR = 19_000 / 39_000  # printed as 49%
OFF = (0.8, 1.2)  # the interval of the share is so much of the right one
QUICK_DRAWS, DRAWS = 100, 400
GRID = np.linspace(0.005, 0.995, 199)
LOW_RECALL = 0.1
SETTINGS: dict[str, float | tuple[float, float]] = {
    "0": 0.0,
    "right": UNLABELLED_PRIOR,
    "0.8 to 1.2 of it": (OFF[0] * UNLABELLED_PRIOR, OFF[1] * UNLABELLED_PRIOR),
}


@dataclass(frozen=True, slots=True, eq=False)
class AreaGaps:
    """Vertical distance between upper and lower curve, over the grid."""

    roc: Floats
    precision_recall: Floats

    @classmethod
    def of(cls, result: Bounds) -> AreaGaps:
        pairs = ([height_at(curve, GRID) for curve in pair] for pair in (result.roc, result.precision_recall))
        return cls(*(upper - lower for lower, upper in pairs))


def run(bench: Workbench) -> Outcome:
    """Bounds from one draw of the known positives as in the figure; coverage over more draws."""
    draws = QUICK_DRAWS if bench.quick else DRAWS
    bench.progress("training a model on PU rows")
    ranking = trained_ranking(bench.seed)
    rng = np.random.default_rng(bench.seed)
    labels = ranking.labels(KNOWN, rng)
    tally = Tally.from_arrays(labels, ranking.scores)
    result = {name: _bounds(tally, share) for name, share in SETTINGS.items()}
    gaps = AreaGaps.of(result["right"])
    repeats = np.empty((draws, 5))
    for draw in range(draws):
        bench.progress(f"draw {draw + 1} of {draws}")
        known = ranking.labels(KNOWN, np.random.default_rng([bench.seed, draw]))
        one = _bounds(Tally.from_arrays(known, ranking.scores), UNLABELLED_PRIOR)
        every, share = band_holds(ranking, known, "bootstrap")
        safe, _ = band_holds(ranking, known, "dkw-two-sample")
        precision = _average_precision(ranking)
        repeats[draw] = ranking.roc_auc in one.roc_auc, precision in one.average_precision, every, share, safe
    tables = (_table(ranking, result), _gap_table(gaps))
    files = _draw(bench.out, ranking, tally, labels, result)
    return Outcome(tables, _claims(ranking, result, gaps, repeats), files)


def _bounds(tally: Tally, share: float | tuple[float, float]) -> Bounds:
    return bounds(tally, unlabelled_prior=share, scenario="single-set", band="bootstrap")


def _average_precision(ranking: TrueRanking) -> float:
    return curve_areas(precision_recall_curve(recover(ranking.tally, UNCORRECTED))).average_precision


def _table(ranking: TrueRanking, result: dict[str, Bounds]) -> str:
    lines = [
        f"{ranking.name}: {KNOWN:,} known positives, {UNLABELLED:,} unlabelled rows, {UNLABELLED_PRIOR:.1%} of them "
        "positive",
        f"  true area under the ROC curve {ranking.roc_auc:.3f} (published, covtype, in Tables 1 and 2: "
        f"{PAPER_AREA:.3f}), average precision {_average_precision(ranking):.3f}",
        "  published: curves only, no numbers",
        f"  {'share of positives':<22}{'ROC AUC: low, high':>22}{'average precision: low, high':>32}",
    ]
    for name, one in result.items():
        area, precision = one.roc_auc, one.average_precision
        lines.append(
            f"  {name:<22}{f'{area.low:.3f} {area.high:.3f}':>22}{f'{precision.low:.3f} {precision.high:.3f}':>32}"
        )
    return "\n".join(lines)


def _gap_table(gaps: AreaGaps) -> str:
    places = (0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.95)
    lines = [
        "Vertical distance between lower and upper curve, right share",
        f"  {'at':<30}" + "".join(f"{place:>8g}" for place in places),
    ]
    for name, widths in (("false positive rate (ROC)", gaps.roc), ("recall (precision-recall)", gaps.precision_recall)):
        lines.append(f"  {name:<30}" + "".join(f"{np.interp(place, GRID, widths):>8.3f}" for place in places))
    return "\n".join(lines)


def _claims(ranking: TrueRanking, result: dict[str, Bounds], gaps: AreaGaps, repeats: Floats) -> tuple[Claim, ...]:
    area, precision, every, share, safe = repeats.mean(axis=0)
    allowed = 0.95 - 3 * np.sqrt(0.95 * 0.05 / len(repeats))
    low = gaps.precision_recall[GRID <= LOW_RECALL].mean()
    high = gaps.precision_recall[GRID > LOW_RECALL].mean()
    right, off, naive = result["right"], result["0.8 to 1.2 of it"], result["0"]
    moved = [off.roc_auc.width - right.roc_auc.width, off.average_precision.width - right.average_precision.width]
    on = f"on {ranking.name}; covtype is not among our data sets"
    return (
        Claim(
            "bounds from 5% known positives closely approximate the true ROC and PR curves",
            "reproduced" if area >= allowed and right.roc_auc.width < 0.1 else "differs",
            f"areas {right.roc_auc} around {ranking.roc_auc:.3f} and {right.average_precision} around "
            f"{_average_precision(ranking):.3f}; over {len(repeats)} draws they hold the truth in {area:.0%} and "
            f"{precision:.0%}; {on}",
        ),
        Claim(
            "the 95% band from the known positives contains the rank CDF of the latent ones",
            "reproduced" if every > 0.9 else "differs",
            f"that was so in the one case shown; here at {share:.0%} of the ranks, at every rank in {every:.0%} of "
            f"{len(repeats)} draws (two-sample DKW band: {safe:.0%})",
        ),
        Claim(
            "the bounds are wider in PR than in ROC space, particularly at low recall",
            "reproduced" if gaps.precision_recall.mean() > gaps.roc.mean() and low > 2 * high else "differs",
            f"mean distance {gaps.precision_recall.mean():.3f} against {gaps.roc.mean():.3f}; {low:.3f} at recall up "
            f"to {LOW_RECALL:g}, {high:.3f} beyond",
        ),
        Claim(
            "PR curves are more sensitive to a wrong share of positives than ROC curves",
            "reproduced" if moved[1] > moved[0] else "differs",
            f"a share off by 20% either way widens the bounds on the areas by {moved[1]:.3f} and {moved[0]:.3f}",
        ),
        Claim(
            "counting every unlabelled row as negative underestimates the performance",
            "reproduced" if naive.roc_auc.high < ranking.roc_auc else "differs",
            f"areas {naive.roc_auc.high:.3f} and {naive.average_precision.high:.3f}",
        ),
    )


@pictured("bounds-figure-5", 1, 3, figsize=(14, 4.6))
def _draw(axes: Any, ranking: TrueRanking, tally: Tally, labels: NDArray[np.int8], result: dict[str, Bounds]) -> None:
    left, middle, right = axes
    place = (tally.labelled + tally.unlabelled) / tally.totals.rows
    limits = rank_band(tally.labelled, tally.totals.labelled, 0.95, "bootstrap")
    left.fill_between(place, limits.low, limits.high, color=COLOURS["ours"], alpha=0.4, linewidth=0, label="95% band")
    latent = np.sort(-ranking.scores[ranking.is_positive & (labels == 0)])
    above = np.searchsorted(latent, -tally.thresholds, side="right") / latent.size
    left.plot(place, above, color=COLOURS["truth"], linewidth=1, label="latent positives")
    left.set(xlabel="rank (share of all rows)", ylabel="share of positives above", title="rank CDF")
    truth = recover(ranking.tally, UNCORRECTED)
    for ax, kind, curve in (
        (middle, "roc", roc_curve(truth)),
        (right, "precision_recall", precision_recall_curve(truth)),
    ):
        for (name, one), colour, alpha in zip(
            reversed(result.items()), ("third", "ours", "other"), (0.3, 0.6, 0.9), strict=True
        ):
            lower, upper = (height_at(drawn, GRID) for drawn in getattr(one, kind))
            ax.fill_between(GRID, lower, upper, color=COLOURS[colour], alpha=alpha, linewidth=1, label=f"share {name}")
        draw_curve(curve, ax, color=COLOURS["truth"], linewidth=1.2, label="true curve")
    middle.set_title(f"ROC, true area {ranking.roc_auc:.3f}")
    right.set_title("precision-recall")
    for ax, where in ((left, "lower right"), (middle, "lower right"), (right, "lower left")):
        ax.grid(alpha=0.25)
        ax.legend(loc=where, fontsize=8)
    right.legend(loc="lower left", bbox_to_anchor=(0, 0.1), fontsize=8)  # above the line of share 0


STUDY = Study("Estimated and true curves, 5% of positives known", "Claesen et al., figure 5 (covtype)", run)
