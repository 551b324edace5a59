"""What Tables 1 and 2 of Claesen et al. share: bounds for every number of known positives and known negatives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.evaluation.bounds import bounds
from pulens.recovery.bounds import Approach
from pulens.research.studies._bounds import COLOURS, PAPER_AREA, trained_ranking
from pulens.research.studies._study import Workbench, pictured
from pulens.types import Floats

POSITIVES, NEGATIVES = 2_000, 10_000
KNOWN_POSITIVES = (10, 30, 50, 70)  # in percent of all positives
KNOWN_NEGATIVES = (0, 20, 40, 60, 80)
FACTORS = (0.8, 1.0, 1.2)  # share of positives taken, beside the right one
QUICK_DRAWS, DRAWS = 4, 40
QUICK_COVERAGE_DRAWS, COVERAGE_DRAWS = 100, 400
COVERAGE_BANDS = ("bootstrap", "dkw-two-sample")
RIGHT = FACTORS.index(1.0)
AXIS = (0.67, 0.87)  # the printed axis on which all bounds of both tables are drawn
# the column beta of the tables, in percent, known positives by known negatives
PUBLISHED_SHARES = {
    "Table 1": ((15, 18, 23, 31, 47), (12, 15, 19, 26, 41), (9, 11, 14, 20, 33), (6, 7, 9, 13, 23)),
    "Table 2": ((15, 18, 23, 31, 47), (12, 14, 18, 25, 41), (9, 11, 14, 20, 33), (5, 6, 9, 13, 23)),
}
APPROACHES: tuple[Approach, ...] = ("positives", "negatives", "tighter")


def share_of_latent(positives: int, negatives: int) -> Fraction:
    """Share of positives among the unlabelled rows when this many percent of each class are known.

    >>> share_of_latent(10, 80)
    Fraction(9, 19)
    """
    latent = Fraction(POSITIVES * (100 - positives), 100)
    return latent / (latent + Fraction(NEGATIVES * (100 - negatives), 100))


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Ends of the bounds on the area: axes draw, known positives, known negatives, factor, approach, (low, high)."""

    name: str
    truth: float
    ends: Floats

    def of(self, approach: Approach) -> Floats:
        """Ends by one approach; nan where there are no known negatives to start from."""
        return np.asarray(self.ends[..., APPROACHES.index(approach), :])

    @property
    def narrower(self) -> Floats:
        """The narrower interval of positives and negatives in each draw and cell: the paper's Table 2."""
        first, second = self.of("positives"), self.of("negatives")
        takes_second = self.from_negatives[..., None]
        return np.asarray(np.where(takes_second, second, first))

    @property
    def from_negatives(self) -> Any:
        """Where the bounds that start from the known negatives are the narrower ones."""
        return width(self.of("negatives")) < width(self.of("positives"))  # false where there are none

    def coverage(self, ends: Floats) -> Floats:
        """How often the true area lies inside: axes known positives, known negatives, factor."""
        return np.asarray(((ends[..., 0] <= self.truth) & (self.truth <= ends[..., 1])).mean(axis=0))


def width(ends: Floats) -> Floats:
    return np.asarray(ends[..., 1] - ends[..., 0])


def compute(bench: Workbench, approaches: tuple[Approach, ...]) -> Grid:
    """All cells for several draws of which rows are known, by some approaches; the ranking stays the same."""
    draws = QUICK_DRAWS if bench.quick else DRAWS
    bench.progress("training a model on PU rows")
    ranking = trained_ranking(bench.seed).some(POSITIVES, NEGATIVES, np.random.default_rng([bench.seed, 1]))
    shape = (draws, len(KNOWN_POSITIVES), len(KNOWN_NEGATIVES), len(FACTORS), len(APPROACHES), 2)
    ends = np.full(shape, np.nan)
    for draw in range(draws):
        bench.progress(f"draw {draw + 1} of {draws}")
        for a, positives in enumerate(KNOWN_POSITIVES):
            for b, negatives in enumerate(KNOWN_NEGATIVES):
                labels = ranking.labels(
                    POSITIVES * positives // 100,
                    # the same known positives whatever negatives are known: rows of the table differ by these alone
                    np.random.default_rng([bench.seed, draw, positives]),
                    NEGATIVES * negatives // 100,
                )
                tally = Tally.from_arrays(labels, ranking.scores)
                share = float(share_of_latent(positives, negatives))
                for c, factor in enumerate(FACTORS):
                    for approach in approaches if negatives else ("positives",):
                        result = bounds(
                            tally,
                            unlabelled_prior=factor * share,
                            scenario="single-set",
                            band="bootstrap",
                            approach=approach,
                        ).roc_auc
                        ends[draw, a, b, c, APPROACHES.index(approach)] = result.low, result.high
    return Grid(ranking.name, ranking.roc_auc, ends)


def coverage_by_band(
    bench: Workbench, draws: int, approach: Approach = "positives", negatives: int = 0
) -> dict[str, Floats]:
    """How often bounds with the right share hold the true area, for each number of known positives.

    At one number of known negatives, so that more draws can be afforded than for whole tables.
    """
    ranking = trained_ranking(bench.seed).some(POSITIVES, NEGATIVES, np.random.default_rng([bench.seed, 1]))
    held: dict[str, Floats] = {band: np.zeros(len(KNOWN_POSITIVES)) for band in COVERAGE_BANDS}
    for draw in range(draws):
        bench.progress(f"coverage, draw {draw + 1} of {draws}")
        for a, positives in enumerate(KNOWN_POSITIVES):
            rng = np.random.default_rng([bench.seed, draw, positives])
            labels = ranking.labels(POSITIVES * positives // 100, rng, NEGATIVES * negatives // 100)
            tally, share = Tally.from_arrays(labels, ranking.scores), float(share_of_latent(positives, negatives))
            for band, counts in held.items():
                result = bounds(tally, unlabelled_prior=share, scenario="single-set", band=band, approach=approach)
                counts[a] += (ranking.roc_auc in result.roc_auc) / draws
    return held


def coverage_table(title: str, held: dict[str, Floats], negatives: int = 0) -> str:
    """Coverage by band, with the numbers of latent rows beside the known ones."""
    lines = [
        title,
        f"  {'known positives':<18}{'latent':>8}{'latent negatives':>18}" + "".join(f"{band:>18}" for band in held),
    ]
    for a, positives in enumerate(KNOWN_POSITIVES):
        known, latent = POSITIVES * positives // 100, POSITIVES * (100 - positives) // 100
        rest = NEGATIVES * (100 - negatives) // 100
        shares = "".join(f"{result[a]:>18.1%}" for result in held.values())
        lines.append(f"  {known:<18,}{latent:>8,}{rest:>18,}{shares}")
    return "\n".join(lines)


def least_credible(draws: int) -> float:
    """A share of draws below which 95% coverage is not to be believed: three standard errors less.

    >>> round(least_credible(100), 3)
    0.885
    """
    return 0.95 - 3 * math.sqrt(0.95 * 0.05 / draws)


def text_table(grid: Grid, ends: Floats, title: str, published: str) -> str:
    """Mean bounds of every cell, for the three shares taken, the published column of shares beside ours."""
    mean = ends.mean(axis=0)
    heads = "".join(f"{f'share x {factor:g}':>17}" for factor in FACTORS)
    lines = [
        f"{title}; {grid.name}, {POSITIVES:,} positives, {NEGATIVES:,} negatives, mean of {len(ends)} draws",
        f"  true area {grid.truth:.3f} (published, covtype: {PAPER_AREA:.3f}); published bounds are drawn, not "
        f"printed, on an axis from {AXIS[0]:g} to {AXIS[1]:g}",
        f"  {'known: positives':>17}{'negatives':>10}{'share':>8}{'published':>11}{heads}{'covers':>8}",
    ]
    coverage = grid.coverage(ends)
    for a, positives in enumerate(KNOWN_POSITIVES):
        for b, negatives in enumerate(KNOWN_NEGATIVES):
            share = float(share_of_latent(positives, negatives))
            cells = "".join(f"{f'{low:.3f} {high:.3f}':>17}" for low, high in mean[a, b])
            lines.append(
                f"  {positives:>16}%{negatives:>9}%{share:>8.1%}{PUBLISHED_SHARES[published][a][b]:>10}%{cells}"
                f"{coverage[a, b, RIGHT]:>8.0%}"
            )
    return "\n".join(lines)


@pictured("", 1, len(FACTORS), figsize=(12, 6), sharex=True, sharey=True)
def draw(axes: Any, grid: Grid, ends: Floats, from_negatives: Any = None) -> None:
    """Bars for every cell of the first draw, as in the paper; bounds that start from negatives in another colour."""
    cells = [(a, b) for a in range(len(KNOWN_POSITIVES)) for b in range(len(KNOWN_NEGATIVES))]
    heights = [a + (a * len(KNOWN_NEGATIVES) + b) for a, b in cells]  # a gap between groups
    for c, (ax, factor) in enumerate(zip(axes, FACTORS, strict=True)):
        for height, (a, b) in zip(heights, cells, strict=True):
            low, high = ends[0, a, b, c]
            reversed_one = from_negatives is not None and bool(from_negatives[0, a, b, c])
            colour = COLOURS["other" if reversed_one else "ours"]
            ax.barh(height, high - low, left=low, color=colour, height=0.7)
        ax.axvline(grid.truth, color=COLOURS["truth"], linewidth=1)
        ax.set(title=f"share of positives x {factor:g}", xlabel="area under the ROC curve")
        ax.grid(alpha=0.25, axis="x")
    axes[0].set_yticks(heights, [f"{KNOWN_POSITIVES[a]}%, {KNOWN_NEGATIVES[b]}%" for a, b in cells], fontsize=8)
    axes[0].set_ylabel("known positives, known negatives")
    axes[0].invert_yaxis()
    axes[0].set_xlim(min(AXIS[0], ends[0].min() - 0.005), max(AXIS[1], ends[0].max() + 0.005))
    if from_negatives is not None:
        axes[0].figure.suptitle("blue: from known positives; red: from known negatives", fontsize=9)
