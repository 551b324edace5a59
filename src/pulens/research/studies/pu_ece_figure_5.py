"""The PU-ECE paper, figure 5: with a fixed number of positives the error of PU-ECE has a floor."""

from __future__ import annotations

import math

from pulens.research.studies._pu_ece import ByWorld, Setting, draw_biases, in_both_worlds
from pulens.research.studies._study import Claim, Outcome, Study, Workbench

FIXED = (100, 1_000, 10_000)
GROWING = "n_P = N, n_U = infinite"


def run(bench: Workbench) -> Outcome:
    """Positives fixed, unlabelled rows growing."""
    settings = [
        Setting(f"n_P = {fixed:,}, n_U = N", lambda n, fixed=fixed: fixed, lambda n: n)  # type: ignore[misc]
        for fixed in FIXED
    ]
    settings.append(Setting(GROWING, lambda n: n, lambda n: math.inf))
    result, tables = in_both_worlds(bench, settings)
    return Outcome(tables, tuple(_claims(result)), draw_biases(bench.out, result, name="pu-ece-figure-5"))


def _claims(result: ByWorld) -> list[Claim]:
    claims = []
    for title, settings in result.items():
        floors = {fixed: float(settings[f"n_P = {fixed:,}, n_U = N"].mean[-1]) for fixed in FIXED}
        growing = settings[GROWING]
        limits = {fixed: float(growing.mean[growing.sizes.index(fixed)]) for fixed in FIXED if fixed in growing.sizes}
        near = all(0.5 < floors[fixed] / limits[fixed] < 2 for fixed in (100, 1_000) if fixed in limits)
        stuck = floors[100] > 2 * floors[10_000] and floors[100] > floors[1_000] > floors[10_000]
        described = ", ".join(f"{floors[fixed]:.4f} with {fixed:,} positives" for fixed in FIXED)
        claims.append(
            Claim(
                f"{title}: with positives fixed the error stops falling",
                "reproduced" if stuck else "differs",
                f"at N = {growing.sizes[-1]:,}: {described}",
            )
        )
        claims.append(
            Claim(
                f"{title}: the floor is the error of that many positives and infinitely many unlabelled rows",
                "reproduced" if near else "differs",
                ", ".join(f"{floors[fixed]:.4f} against {limits[fixed]:.4f}" for fixed in limits),
            )
        )
    return claims


STUDY = Study("Error of PU-ECE with a fixed number of positives", "the PU-ECE paper, figure 5, synthetic worlds", run)
