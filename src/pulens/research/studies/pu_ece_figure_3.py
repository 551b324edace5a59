"""The PU-ECE paper, figure 3: where the confidences of four networks lie."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import expit

from pulens.research.studies._mnist import SETTINGS, Trained, trained
from pulens.research.studies._study import Claim, Outcome, Study, Workbench, pictured

EDGE = 0.05  # confidences within this of 0 or 1 count as saturated


def run(bench: Workbench) -> Outcome:
    """Shares of test rows by confidence, networks trained with the most labelled rows."""
    result = trained(bench)
    shares = {setting: saturated(result, setting) for setting in SETTINGS}
    return Outcome((_table(result),), _claims(shares), draw(bench.out, result))


def saturated(result: Trained, setting: str) -> float:
    """Share of confidences near 0 or 1, over all trials."""
    confidences = expit(result.test_logits(setting))
    return float(np.mean((confidences < EDGE) | (confidences > 1 - EDGE)))


def _table(result: Trained) -> str:
    edges = np.array([0, EDGE, 0.25, 0.5, 0.75, 1 - EDGE, 1])
    heads = [f"{low:g}-{high:g}" for low, high in pairwise(edges)]
    lines = [
        f"Share of MNIST's test rows by confidence, {result.design.sizes[-1]:,} labelled rows; {result.design}; "
        "published: histograms, no numbers",
        f"  {'setting':<14}" + "".join(f"{head:>11}" for head in heads),
    ]
    for setting in SETTINGS:
        counted = np.histogram(expit(result.test_logits(setting)), edges)[0]
        lines.append(f"  {setting:<14}" + "".join(f"{share:>11.3f}" for share in counted / counted.sum()))
    return "\n".join(lines)


def _claims(shares: dict[str, float]) -> tuple[Claim, ...]:
    listed = ", ".join(f"{setting} {share:.1%}" for setting, share in shares.items())
    free = [setting for setting, share in shares.items() if share <= 0.5]
    pu = {loss: shares[f"PU-{loss}"] for loss in ("logistic", "sigmoid")}
    return (
        Claim(
            "confidences are heavily saturated near 0 or 1 (section 5.3)",
            "differs" if free else "reproduced",
            f"shares within {EDGE:g} of an end: {listed}" + (f"; not so {', '.join(free)}" if free else ""),
        ),
        Claim(
            "nnPU keeps positives away from certainty with the logistic loss only (follows from figure 2)",
            "reproduced" if pu["logistic"] < pu["sigmoid"] - 0.1 else "differs",
            f"{pu['logistic']:.1%} saturated with the logistic loss, {pu['sigmoid']:.1%} with the sigmoid loss",
        ),
    )


@pictured("pu-ece-figure-3", 1, len(SETTINGS), figsize=(14, 3.4), sharey=True)
def draw(axes: Any, result: Trained) -> None:
    """One panel per setting, first trial, both classes, rows on a logarithmic axis so that the middle can be seen."""
    edges = np.linspace(0, 1, 41)
    for ax, setting in zip(axes, SETTINGS, strict=True):
        confidences = expit(result.test_logits(setting)[0])
        ax.hist(confidences[result.is_positive], edges, color="#c8553d", alpha=0.6, label="positive")
        ax.hist(confidences[~result.is_positive], edges, color="#1f5fa8", alpha=0.6, label="negative")
        ax.set(title=setting, xlabel="confidence", yscale="log")
    axes[0].set_ylabel("test rows")
    axes[0].legend(fontsize=8)


STUDY = Study("Confidences of supervised and PU-trained networks", "the PU-ECE paper, figure 3", run)
