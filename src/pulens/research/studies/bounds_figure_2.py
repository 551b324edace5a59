"""Claesen et al., figure 2: bounds on the area under the ROC curve close with the number of known positives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.evaluation.bounds import bounds
from pulens.research.studies._bounds import COLOURS, TrueRanking, band_holds, binormal
from pulens.research.studies._study import Claim, Outcome, Study, Workbench, pictured
from pulens.types import Floats

# the caption of the figure; the areas themselves are drawn, not printed
UNLABELLED, UNLABELLED_PRIOR, PUBLISHED_REPEATS = 100_000, 0.2, 200
KNOWN = (10, 30, 100, 300, 1_000, 3_000, 10_000)
QUICK_REPEATS = 10
BANDS = ("bootstrap", "clopper-pearson", "dkw-two-sample")
SMALLER = (1_000, 10_000, 100_000)  # numbers of unlabelled rows, for the claim about the size of the data
FEW, SOME = 100, 1_000  # known positives where only one number is tried


@dataclass(frozen=True, slots=True, eq=False)
class Widths:
    """Ends of the bounds on the area, true areas beside them: axes known positives, band, repeat, (low, high)."""

    ends: Floats
    truth: Floats  # known positives, repeat

    @property
    def width(self) -> Floats:
        return np.asarray((self.ends[..., 1] - self.ends[..., 0]).mean(axis=2))

    @property
    def coverage(self) -> Floats:
        inside = (self.ends[..., 0] <= self.truth[:, None]) & (self.truth[:, None] <= self.ends[..., 1])
        return np.asarray(inside.mean(axis=2))

    def slope(self, band: int) -> float:
        """Of log width over log known positives, from 100 on."""
        from_here = KNOWN.index(FEW)
        return float(np.polyfit(np.log(KNOWN[from_here:]), np.log(self.width[from_here:, band]), 1)[0])


def draw_ranking(known: int, unlabelled: int, rng: np.random.Generator) -> tuple[TrueRanking, Any]:
    """A simulated ranking with latent positives among the unlabelled rows, and its labels."""
    latent = round(UNLABELLED_PRIOR * unlabelled)
    ranking = binormal("simulated normal scores", known + latent, unlabelled - latent, rng)
    return ranking, ranking.labels(known, rng)


def area_bounds(ranking: TrueRanking, labels: Any, band: str) -> tuple[float, float]:
    tally = Tally.from_arrays(labels, ranking.scores)
    result = bounds(tally, unlabelled_prior=UNLABELLED_PRIOR, scenario="single-set", band=band).roc_auc
    return result.low, result.high


def run(bench: Workbench) -> Outcome:
    """Bounds over repeated rankings; then smaller data sets; then the band itself at all ranks."""
    repeats = QUICK_REPEATS if bench.quick else PUBLISHED_REPEATS
    ends = np.empty((len(KNOWN), len(BANDS), repeats, 2))
    truth = np.empty((len(KNOWN), repeats))
    for a, known in enumerate(KNOWN):
        for repeat in range(repeats):
            bench.progress(f"{known:,} known positives, ranking {repeat + 1} of {repeats}")
            ranking, labels = draw_ranking(known, UNLABELLED, np.random.default_rng([bench.seed, known, repeat]))
            truth[a, repeat] = ranking.roc_auc
            for b, band in enumerate(BANDS):
                ends[a, b, repeat] = area_bounds(ranking, labels, band)
    widths = Widths(ends, truth)
    by_size = _by_size(bench, repeats)
    holds = _bands(bench, 4 * repeats)
    tables = (_table(widths, repeats), _size_table(by_size), _band_table(holds, 4 * repeats))
    files = _draw(bench.out, widths)
    return Outcome(tables, _claims(widths, by_size, holds, repeats), files)


def _by_size(bench: Workbench, repeats: int) -> dict[int, float]:
    """Mean width for each number of unlabelled rows."""
    result = {}
    for unlabelled in SMALLER:
        bench.progress(f"{unlabelled:,} unlabelled rows")
        rngs = (np.random.default_rng([bench.seed, unlabelled, repeat]) for repeat in range(min(repeats, 50)))
        pairs = [area_bounds(*draw_ranking(FEW, unlabelled, rng), "bootstrap") for rng in rngs]
        result[unlabelled] = float(np.mean([high - low for low, high in pairs]))
    return result


def _bands(bench: Workbench, repeats: int) -> dict[str, tuple[float, float]]:
    """How often each band holds the latent positives' rank CDF at every rank; at what share of ranks on average."""
    seen: dict[str, list[tuple[bool, float]]] = {band: [] for band in BANDS}
    for repeat in range(repeats):
        bench.progress(f"band {repeat + 1} of {repeats}")
        ranking, labels = draw_ranking(SOME, UNLABELLED // 5, np.random.default_rng([bench.seed, SOME, repeat, 1]))
        for band in BANDS:
            seen[band].append(band_holds(ranking, labels, band))
    return {
        band: (float(np.mean([a for a, _ in rows])), float(np.mean([b for _, b in rows])))
        for band, rows in seen.items()
    }


def _table(widths: Widths, repeats: int) -> str:
    lines = [
        f"Bounds on the area under the ROC curve, {UNLABELLED:,} unlabelled rows, {UNLABELLED_PRIOR:.0%} of them "
        f"positive, {repeats} rankings (published: {PUBLISHED_REPEATS}); mean true area {widths.truth.mean():.3f}",
        "  published: the figure shows bands that close, its numbers are not printed",
        f"  {'known':>7}" + "".join(f"{band + ': low, high, width, covers':>42}" for band in BANDS),
    ]
    for a, known in enumerate(KNOWN):
        cells = []
        for b in range(len(BANDS)):
            low, high = widths.ends[a, b].mean(axis=0)
            cells.append(f"{f'{low:.3f} {high:.3f} {widths.width[a, b]:.3f} {widths.coverage[a, b]:>5.0%}':>42}")
        lines.append(f"  {known:>7,}" + "".join(cells))
    lines.append(f"  {'slope':>7}" + "".join(f"{widths.slope(b):>42.2f}" for b in range(len(BANDS))))
    return "\n".join(lines)


def _size_table(result: dict[int, float]) -> str:
    lines = [f"Mean width with {FEW} known positives (bootstrap)", f"  {'unlabelled rows':>16}{'width':>8}"]
    return "\n".join([*lines, *(f"  {rows:>16,}{width:>8.3f}" for rows, width in result.items())])


def _band_table(result: dict[str, tuple[float, float]], repeats: int) -> str:
    lines = [
        f"Does a 95% band on {SOME:,} known positives hold the rank CDF of {UNLABELLED // 25:,} latent ones? "
        f"{repeats} rankings",
        f"  {'band':<16}{'at every rank':>14}{'share of ranks':>16}",
    ]
    return "\n".join(
        [*lines, *(f"  {band:<16}{every:>14.0%}{share:>16.1%}" for band, (every, share) in result.items())]
    )


def _claims(
    widths: Widths, by_size: dict[int, float], holds: dict[str, tuple[float, float]], repeats: int
) -> tuple[Claim, ...]:
    narrower = bool((np.diff(widths.width[:, 0]) < 0).all())
    covered = widths.coverage[:, 0]
    allowed = 0.95 - 3 * np.sqrt(0.95 * 0.05 / repeats)
    sizes = list(by_size.values())
    every, share = holds["bootstrap"]
    return (
        Claim(
            "the bounds on the area converge as known positives increase",
            "reproduced" if narrower and widths.slope(0) < -0.4 else "differs",
            f"width {widths.width[0, 0]:.3f} with {KNOWN[0]} known positives, {widths.width[-1, 0]:.3f} with "
            f"{KNOWN[-1]:,}; it falls like n^({widths.slope(0):.2f})",
        ),
        Claim(
            "the true area lies between the bounds",
            "reproduced" if covered.min() >= allowed else "differs",
            f"in {covered.min():.0%} to {covered.max():.0%} of {repeats} rankings for each number of known positives",
        ),
        Claim(
            "the smaller the whole data set, the narrower the bounds",
            "reproduced" if sizes == sorted(sizes) else "differs",
            ", ".join(f"{width:.3f} with {rows:,} unlabelled rows" for rows, width in by_size.items())
            + ": the band does not change, but known positives are a larger part of all positives",
        ),
        Claim(
            "the confidence band holds the latent positives' rank CDF at all ranks (equation 14)",
            "reproduced" if every > 0.9 else "differs",
            f"the bootstrap band is made for each rank by itself: it holds at {share:.0%} of the ranks, at every rank "
            f"in only {every:.0%} of the rankings; the two-sample DKW band in {holds['dkw-two-sample'][0]:.0%}",
        ),
    )


@pictured("bounds-figure-2", figsize=(6.4, 4.6))
def _draw(ax: Any, widths: Widths) -> None:
    for b, (band, colour) in enumerate(zip(BANDS, ("ours", "third", "other"), strict=True)):
        for end in (0, 1):
            result = widths.ends[:, b, :, end]
            low, high = np.quantile(result, [0.025, 0.975], axis=1)
            if b == 0:
                ax.fill_between(KNOWN, low, high, color=COLOURS[colour], alpha=0.18, linewidth=0)
            ax.plot(
                KNOWN, result.mean(axis=1), color=COLOURS[colour], marker="o", markersize=3,
                linestyle="-" if b == 0 else "--", label=band if end == 0 else None,
            )  # fmt: skip
    ax.axhline(widths.truth.mean(), color=COLOURS["truth"], linewidth=1, label="true area")
    ax.set(xscale="log", xlabel="known positives", ylabel="bounds on the area under the ROC curve", ylim=(0.2, 1))
    ax.grid(alpha=0.25)
    ax.legend(loc="lower right")


STUDY = Study("Bounds on ROC AUC against the number of known positives", "Claesen et al., figure 2", run)
