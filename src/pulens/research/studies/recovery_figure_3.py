"""Jain et al. 2017, Figure 3: the error of a recovered AUC over all estimates of alpha and beta, for 27 truths."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.research.studies._recovery_map import AreaMap, area_map, infeasible_share
from pulens.research.studies._study import Claim, Outcome, Study, Workbench, pictured

ALPHAS, BETAS, AREAS = (0.05, 0.25, 0.50), (0.75, 0.95, 1.00), (0.65, 0.80, 0.95)
Truth = tuple[float, float, float]  # alpha, beta, AUC


def run(bench: Workbench) -> Outcome:
    """Equation 4 there and back; nothing is drawn at random."""
    points = 101 if bench.quick else 401
    maps = {
        (alpha, beta, auc): area_map(auc, alpha, beta, points) for auc in AREAS for alpha in ALPHAS for beta in BETAS
    }
    claims = (_triangles(maps), _lower_right(maps), _larger(maps), _right_contrast(maps))
    return Outcome((_table(maps, points),), claims, draw(bench.out, maps))


def _table(maps: dict[Truth, AreaMap], points: int) -> str:
    lines = [
        f"Share of estimates (alpha, beta) without a feasible AUC: formula, and counted on {points} x {points} points",
        f"{'alpha':>6}{'beta':>6}" + "".join(f"{f'AUC {auc:g}':>18}" for auc in AREAS) + "   (published: as pictures)",
    ]
    for alpha in ALPHAS:
        for beta in BETAS:
            cells = [
                f"{infeasible_share(auc, alpha, beta):>9.3f}{maps[alpha, beta, auc].infeasible.mean():>9.3f}"
                for auc in AREAS
            ]
            lines.append(f"{alpha:>6.2f}{beta:>6.2f}" + "".join(cells))
    return "\n".join(lines)


def _contrast(result: AreaMap) -> Any:
    return result.estimates[:, None] - result.estimates[None, :]


def _triangles(maps: dict[Truth, AreaMap]) -> Claim:
    """The infeasible estimates are exactly a band around the diagonal."""
    wrong = 0
    for result in maps.values():
        margin = np.abs(_contrast(result)) - 2 * abs(result.auc_pu - 0.5)
        clear = np.abs(margin) > 1e-9  # points on the edge itself are decided by rounding
        wrong += int(((margin < 0) != result.infeasible)[clear].sum())
    return Claim(
        "feasible estimates form an upper left and a lower right triangle",
        "reproduced" if wrong == 0 else "differs",
        "the rest is the band |beta - alpha| < 2 |AUC_pu - 1/2|" if wrong == 0 else f"{wrong} points do not fit",
    )


def _lower_right(maps: dict[Truth, AreaMap]) -> Claim:
    highest = max(
        float(result.recovered[(_contrast(result) < 0) & ~result.infeasible].max()) for result in maps.values()
    )
    return Claim(
        "in the lower right triangle the recovered AUC is at most 0.5",
        "reproduced" if highest <= 0.5 else "differs",
        f"its largest value there is {highest:.4f}",
    )


def _larger(maps: dict[Truth, AreaMap]) -> Claim:
    shares = np.array(
        [[[infeasible_share(auc, alpha, beta) for auc in AREAS] for beta in BETAS] for alpha in ALPHAS], float
    )
    grows = bool((np.diff(shares, axis=2) > 0).all())
    return Claim(
        "a larger AUC makes the infeasible region larger",
        "reproduced" if grows else "differs",
        f"for every alpha and beta; shares {shares.min():.3f} to {shares.max():.3f}. They also grow with beta - alpha",
    )


def _right_contrast(maps: dict[Truth, AreaMap]) -> Claim:
    worst = 0.0
    for (alpha, beta, _), result in maps.items():
        on_line = np.abs(_contrast(result) - (beta - alpha)) < 1e-9
        worst = max(worst, float(result.error[on_line].max(initial=0.0)))
    return Claim(
        "the recovered AUC is right wherever beta - alpha is",
        "reproduced" if worst < 1e-9 else "differs",
        f"largest error on these lines {worst:.1e}",
    )


@pictured("recovery-figure-3", 3, 9, figsize=(17, 6.2), sharex=True, sharey=True)
def draw(axes: Any, maps: dict[Truth, AreaMap]) -> None:
    """Nine panels for each AUC, as published: grey where no area is feasible, dotted at the truth."""
    figure = axes[0, 0].figure
    shown: Any = None
    for number, auc in enumerate(AREAS):
        for row, beta in enumerate(reversed(BETAS)):
            for column, alpha in enumerate(ALPHAS):
                ax = axes[row, 3 * number + column]
                shown = draw_map(ax, maps[alpha, beta, auc], alpha, beta, "#b5b5b5")
                ax.set_title(f"AUC {auc:g}, alpha {alpha:g}, beta {beta:g}", fontsize=7)
    figure.supxlabel("estimated alpha")
    figure.supylabel("estimated beta")
    figure.colorbar(shown, ax=axes, shrink=0.7, pad=0.01, label="|recovered AUC - AUC|; grey: none is feasible")


def draw_map(
    ax: Any, result: AreaMap, alpha: float, beta: float, infeasible_colour: str, colours: str = "viridis"
) -> Any:
    """One heat map of absolute errors."""
    masked = np.ma.masked_where(result.infeasible, result.error)
    ax.set_facecolor(infeasible_colour)
    shown = ax.pcolormesh(result.estimates, result.estimates, masked, vmin=0, vmax=1, cmap=colours, rasterized=True)
    ax.axvline(alpha, color="#ffffff", linestyle=":", linewidth=1)
    ax.axhline(beta, color="#ffffff", linestyle=":", linewidth=1)
    ax.set_aspect("equal")
    return shown


STUDY = Study("Error of a recovered AUC over wrong alpha and beta", "Jain et al. 2017, supplement, Figure 3", run)
