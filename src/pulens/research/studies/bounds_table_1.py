"""Claesen et al., Table 1: bounds on the area under the ROC curve with more known positives and known negatives."""

from __future__ import annotations

import math

import numpy as np

from pulens.research.studies._bounds_tables import (
    AXIS,
    COVERAGE_DRAWS,
    FACTORS,
    KNOWN_NEGATIVES,
    KNOWN_POSITIVES,
    PUBLISHED_SHARES,
    QUICK_COVERAGE_DRAWS,
    RIGHT,
    Grid,
    compute,
    coverage_by_band,
    coverage_table,
    draw,
    least_credible,
    share_of_latent,
    text_table,
    width,
)
from pulens.research.studies._study import Claim, Outcome, Study, Workbench
from pulens.types import Floats


def run(bench: Workbench) -> Outcome:
    """Bounds from known positives alone, whatever negatives are known."""
    grid = compute(bench, ("positives",))
    ends = grid.of("positives")
    table = text_table(grid, ends, "Bounds on the area under the ROC curve from known positives", "Table 1")
    files = draw(bench.out, grid, ends, name="bounds-table-1")
    draws = QUICK_COVERAGE_DRAWS if bench.quick else COVERAGE_DRAWS
    held = coverage_by_band(bench, draws)
    title = f"How often the bounds hold the true area at the right share, no known negatives, {draws} draws"
    return Outcome((table, coverage_table(title, held)), _claims(grid, held, draws), files)


def rounded_share(positives: int, negatives: int) -> int:
    """In percent, halves up.

    >>> rounded_share(30, 20)
    15
    """
    return math.floor(100 * share_of_latent(positives, negatives) + 0.5)


def _claims(grid: Grid, held: dict[str, Floats], draws: int) -> tuple[Claim, ...]:
    ends = grid.of("positives")
    widths = width(ends).mean(axis=0)[..., RIGHT]  # known positives, known negatives
    middles = ends.mean(axis=(0, -1))
    agree = [
        rounded_share(positives, negatives) == PUBLISHED_SHARES["Table 1"][a][b]
        for a, positives in enumerate(KNOWN_POSITIVES)
        for b, negatives in enumerate(KNOWN_NEGATIVES)
    ]
    by_positives = widths[-1, 0] / widths[0, 0]
    by_negatives = widths[0, 1:] / widths[0, 0]
    steps = np.diff(middles, axis=-1)
    inside = (ends >= AXIS[0]) & (ends <= AXIS[1])
    covered, safe = held.values()
    return (
        Claim(
            "the share of positives among the unlabelled rows of each configuration",
            "reproduced" if all(agree) else "differs",
            f"{sum(agree)} of {len(agree)} as printed, rounded to whole percent",
        ),
        Claim(
            "with the right share the bounds hold the true area",
            "reproduced" if covered.min() >= least_credible(draws) else "differs",
            "in "
            + ", ".join(f"{share:.0%} ({known}% known)" for share, known in zip(covered, KNOWN_POSITIVES, strict=True))
            + f" of {draws} draws: a band on the known positives leaves out the scatter of the latent ones, which "
            f"counts where these are the fewer; the two-sample DKW band holds in at least {safe.min():.0%}. "
            f"{inside.mean():.0%} of the ends lie on the printed axis; on {grid.name}, since covtype is not among our "
            "data sets",
        ),
        Claim(
            "known positives tighten the bounds significantly",
            "reproduced" if by_positives < 0.6 else "differs",
            f"width {widths[0, 0]:.3f} with {KNOWN_POSITIVES[0]}% known, {widths[-1, 0]:.3f} with "
            f"{KNOWN_POSITIVES[-1]}%",
        ),
        Claim(
            "known negatives tighten the bounds only marginally",
            "reproduced" if by_negatives.min() > 0.8 and by_negatives.max() < 1.01 else "differs",
            f"with {KNOWN_POSITIVES[0]}% known positives the width goes from {widths[0, 0]:.3f} without negatives to "
            + ", ".join(
                f"{value:.3f} ({known}%)" for known, value in zip(KNOWN_NEGATIVES[1:], widths[0, 1:], strict=True)
            ),
        ),
        Claim(
            "too small a share lowers the bounds, too large a share raises them",
            "reproduced" if (steps > 0).all() else "differs",
            f"from {FACTORS[0]:g} to {FACTORS[-1]:g} of the right share the middle moves by "
            f"{steps.sum(axis=-1).min():.3f} to {steps.sum(axis=-1).max():.3f}",
        ),
    )


STUDY = Study("Bounds with known positives and known negatives", "Claesen et al., Table 1 (covtype)", run)
