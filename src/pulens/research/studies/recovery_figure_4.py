"""Jain et al. 2017, Figure 4: one map of errors, and the lines on it where the recovered AUC is something notable."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.research.studies._recovery_map import AreaMap, area_map, observed_area, recovered_area
from pulens.research.studies._study import Claim, Outcome, Study, Workbench, pictured
from pulens.research.studies.recovery_figure_3 import draw_map

ALPHA, BETA, AUC = 0.25, 0.75, 0.90
PUBLISHED_AUC_PU = 0.80  # caption of Figure 4


def lines(auc: float, alpha: float, beta: float) -> dict[str, float]:
    """Lines beta = alpha + c of estimates, by the area that is recovered on them."""
    contrast = beta - alpha
    width = 2 * (observed_area(auc, alpha, beta) - 0.5)
    return {
        "AUC_pu": 1.0,
        "AUC, the truth": contrast,
        "1": width,
        "0": -width,
        "1 - AUC": -contrast,
        "1 - AUC_pu": -1.0,
    }


def run(bench: Workbench) -> Outcome:
    """The map of the caption's truth, the value of AUC_pu that belongs to it, and every line checked."""
    result = area_map(AUC, ALPHA, BETA, 101 if bench.quick else 401)
    expected = {
        "AUC_pu": result.auc_pu,
        "AUC, the truth": AUC,
        "1": 1.0,
        "0": 0.0,
        "1 - AUC": 1 - AUC,
        "1 - AUC_pu": 1 - result.auc_pu,
    }
    rows = [
        f"Truth: alpha {ALPHA:g}, beta {BETA:g}, AUC {AUC:g}",
        f"  {'AUC_pu by equation 4':<34}{'ours':>8}{'paper':>8}",
        f"  {'at this truth':<34}{result.auc_pu:>8.3f}{PUBLISHED_AUC_PU:>8.3f}",
        f"  {'at beta 1 instead':<34}{observed_area(AUC, ALPHA, 1.0):>8.3f}",
        "",
        f"  {'estimates on the line':<34}{'recovered':>10}{'which is':>16}",
    ]
    worst = 0.0
    for name, offset in lines(AUC, ALPHA, BETA).items():
        value = round(float(recovered_area(result.auc_pu, 0.0, offset)), 12) + 0.0
        worst = max(worst, abs(value - expected[name]))
        rows.append(f"  {f'beta = alpha {offset:+.3f}':<34}{value:>10.3f}{name:>16}")
    claims = (
        Claim(
            "(0.25, 0.75, 0.90) give AUC_pu = 0.80",
            "reproduced" if abs(result.auc_pu - PUBLISHED_AUC_PU) < 5e-3 else "differs",
            f"equation 4 gives {result.auc_pu:.2f}; 0.80 belongs to beta = 1: a slip in the caption",
        ),
        Claim(
            "AUC_pu is recovered at alpha = 0, beta = 1, the truth on beta = alpha + (true beta - true alpha)",
            "reproduced" if worst < 1e-12 else "differs",
            f"largest deviation on the six lines {worst:.1e}",
        ),
        _outside(result),
    )
    return Outcome(("\n".join(rows),), claims, draw(bench.out, result))


def _outside(result: AreaMap) -> Claim:
    """Between the lines of 1 and 0 nothing is feasible, outside them everything is."""
    contrast = result.estimates[:, None] - result.estimates[None, :]
    band = np.abs(contrast) < lines(AUC, ALPHA, BETA)["1"] - 1e-9
    agrees = bool((band == result.infeasible)[np.abs(np.abs(contrast) - lines(AUC, ALPHA, BETA)["1"]) > 1e-9].all())
    return Claim(
        "the region between the lines of 1 and 0 is infeasible",
        "reproduced" if agrees else "differs",
        f"it is {result.infeasible.mean():.0%} of all estimates",
    )


@pictured("recovery-figure-4", 1, 2, figsize=(11, 5), saved={"bbox_inches": "tight"})
def draw(axes: Any, result: AreaMap) -> None:
    """The map, grey where no area is feasible, and the notable lines."""
    left, right = axes
    shown = draw_map(left, result, ALPHA, BETA, "#d4d4d4", "Blues")
    for line in left.lines:
        line.set_color("#c8553d")
    left.figure.colorbar(shown, ax=left, label="|recovered AUC - AUC|")
    ends: Any = np.array([0.0, 1.0])
    colours = ("#444444", "#3d8b5f", "#1f5fa8", "#1f5fa8", "#c8553d", "#444444")
    for colour, (name, offset) in zip(colours, lines(AUC, ALPHA, BETA).items(), strict=True):
        if abs(offset) == 1:
            corner = (0.0, 1.0) if offset > 0 else (1.0, 0.0)
            right.plot(*corner, "o", color=colour, clip_on=False)
            right.annotate(
                name, corner, xytext=(8, -12) if offset > 0 else (-8, 8), textcoords="offset points",
                ha="left" if offset > 0 else "right", fontsize=8,
            )  # fmt: skip
            continue
        right.plot(ends, ends + offset, color=colour, linewidth=1.5)
        middle = (1 - abs(offset)) * 0.72 + max(-offset, 0)
        right.annotate(
            f"recovered = {name}", (middle, middle + offset), rotation=45, ha="center", va="bottom", fontsize=8,
            rotation_mode="anchor", color=colour,
        )  # fmt: skip
    width = lines(AUC, ALPHA, BETA)["1"]
    right.fill_between(ends, ends - width, ends + width, color="#9a9a9a", alpha=0.2, linewidth=0)
    right.text(0.5, 0.5, "infeasible", rotation=45, ha="center", va="center", color="#666666")
    right.plot(ALPHA, BETA, "*", color="#3d8b5f", markersize=12)
    for ax in (left, right):
        ax.set(xlabel="estimated alpha", ylabel="estimated beta", xlim=(0, 1), ylim=(0, 1), aspect="equal")


STUDY = Study(
    "Where a recovered AUC is right, uncorrected or impossible", "Jain et al. 2017, supplement, Figure 4", run
)
