"""The PU-ECE paper, figure 6: the reliability diagram from PU data lies on the true one."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.calibration.binning import width_edges
from pulens.calibration.reliability import reliability
from pulens.research.studies._pu_ece import worlds
from pulens.research.studies._study import Claim, Outcome, Study, Workbench, pictured
from pulens.testing import LogitMixture
from pulens.types import Floats

LABELLED, UNLABELLED, BINS = 1_000, 10_000, 10


def true_diagram(world: LogitMixture, edges: Floats) -> tuple[Floats, Floats]:
    """Mean score and share of positives of each bin in the population."""
    positive, promised = world.binned_masses(edges)
    population = np.diff([world.population_below(edge) for edge in edges])
    return promised / population, positive / population


def run(bench: Workbench) -> Outcome:
    """Mean and standard deviation of each bin's recovered share of positives over trials."""
    trials = 20 if bench.quick else 100
    world = worlds()["less calibrated"]
    edges = width_edges(BINS)
    scores, truth = true_diagram(world, edges)
    result, covered = np.empty((trials, BINS)), np.zeros(BINS)
    for trial in range(trials):
        bench.progress(f"trial {trial + 1} of {trials}")
        labelled, unlabelled, _ = world.draw(LABELLED, UNLABELLED, np.random.default_rng([bench.seed, trial]))
        diagram = reliability(
            np.repeat([1, 0], [LABELLED, UNLABELLED]),
            np.concatenate([labelled, unlabelled]),
            class_prior=world.class_prior,
            scenario="case-control",
            binning="width",
            bins=BINS,
            seed=trial,
            labelling="random",
        )
        result[trial] = [one.fraction for one in diagram.bins]
        covered += [one.interval is not None and truth[b] in one.interval for b, one in enumerate(diagram.bins)]
    mean, deviation = result.mean(axis=0), result.std(axis=0, ddof=1)
    lines = [
        f"{LABELLED:,} positives, {UNLABELLED:,} unlabelled rows, {trials} trials",
        f"  {'mean score':>10}{'true share':>12}{'PU share':>10}{'sd':>8}{'95% interval covers':>21}",
    ]
    lines += [
        f"  {scores[b]:>10.3f}{truth[b]:>12.4f}{mean[b]:>10.4f}{deviation[b]:>8.4f}{covered[b] / trials:>20.0%}"
        for b in range(BINS)
    ]
    off = np.abs(mean - truth) / (deviation / np.sqrt(trials))
    claim = Claim(
        "the diagram from PU data approximates the true one",
        "reproduced" if off.max() < 4 else "differs",
        f"largest difference of the means {np.abs(mean - truth).max():.4f}, {off.max():.1f} standard errors; intervals "
        f"of single bins cover {covered.sum() / (trials * BINS):.1%}",
    )
    return Outcome(("\n".join(lines),), (claim,), _draw(bench.out, scores, truth, mean, deviation))


@pictured("pu-ece-figure-6", figsize=(5, 4.8))
def _draw(ax: Any, scores: Floats, truth: Floats, mean: Floats, deviation: Floats) -> None:
    ax.plot([0, 1], [0, 1], color="#9a9a9a", linestyle="--", linewidth=1, label="perfect calibration")
    ax.plot(scores, truth, color="#c8553d", linewidth=1.6, marker="s", markersize=4, label="truth")
    ax.errorbar(
        scores, mean, deviation, color="#1f5fa8", linewidth=0, elinewidth=1.6, capsize=3, marker="o", markersize=4,
        label="from PU data (sd over trials)",
    )  # fmt: skip
    ax.set(xlabel="mean score", ylabel="share of positives", xlim=(0, 1), ylim=(0, 1.05))
    ax.grid(alpha=0.25)
    ax.legend()


STUDY = Study("Reliability diagram from PU data", "the PU-ECE paper, figure 6", run)
