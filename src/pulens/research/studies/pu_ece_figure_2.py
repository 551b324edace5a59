"""The PU-ECE paper, figure 2: where the logits of four networks lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.research.studies._mnist import SETTINGS, Trained, trained
from pulens.research.studies._study import Claim, Outcome, Study, Workbench, pictured
from pulens.testing import fit_logit_mixture
from pulens.types import Floats

QUANTILES = (0.05, 0.25, 0.50, 0.75, 0.95)
PUBLISHED_COMPONENTS = (4, 3)  # of positives and of negatives: section 5.3
COLLAPSED = 0.5  # of the spread under the other loss


def run(bench: Workbench) -> Outcome:
    """Quantiles of the test rows' logits by class, networks trained with the most labelled rows."""
    result = trained(bench)
    return Outcome((_table(result),), (_collapse(result), _peaks(result, bench.seed)), draw(bench.out, result))


def logits_of(result: Trained, setting: str, positive: bool, trial: int | None = None) -> Floats:
    """Logits of one class, of one network or of all trials together."""
    chosen = result.test_logits(setting)[:, result.is_positive == positive]
    return np.asarray(chosen.ravel() if trial is None else chosen[trial])


def spread(values: Floats) -> float:
    """Between the quartiles."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low)


def _table(result: Trained) -> str:
    lines = [
        f"Quantiles of logits on MNIST's test rows, {result.design.sizes[-1]:,} labelled rows; {result.design}; "
        "published: histograms, no numbers",
        f"  {'setting':<14}{'class':<10}" + "".join(f"{f'{level:.0%}':>8}" for level in QUANTILES),
    ]
    for setting in SETTINGS:
        for positive in (True, False):
            values = np.quantile(logits_of(result, setting, positive), QUANTILES)
            word = "positive" if positive else "negative"
            lines.append(f"  {setting:<14}{word:<10}" + "".join(f"{value:>8.2f}" for value in values))
    return "\n".join(lines)


def _collapse(result: Trained) -> Claim:
    spreads = {
        setting: float(np.mean([spread(logits_of(result, setting, True, t)) for t in range(result.design.trials)]))
        for setting in SETTINGS
    }
    others = min(value for setting, value in spreads.items() if setting != "PU-logistic")
    middle = float(np.median(logits_of(result, "PU-logistic", True)))
    return Claim(
        "under nnPU with the logistic loss the logits of positives collapse towards a small constant",
        "reproduced" if spreads["PU-logistic"] < COLLAPSED * others else "differs",
        "middle halves of positives span "
        + ", ".join(f"{setting} {value:.2f}" for setting, value in spreads.items())
        + f"; the median of PU-logistic is {middle:.2f}",
    )


def _peaks(result: Trained, seed: int) -> Claim:
    counts = {}
    for setting in ("PU-logistic", "PU-sigmoid"):
        mixture = fit_logit_mixture(
            logits_of(result, setting, True, 0), logits_of(result, setting, False, 0), 0.49, seed=seed
        )
        counts[setting] = (len(mixture.positive), len(mixture.negative))
    listed = ", ".join(f"{setting} {first} and {second}" for setting, (first, second) in counts.items())
    several = all(min(pair) > 1 for pair in counts.values())
    return Claim(
        "logits of neither class are one bell: BIC picks several Gaussians",
        "reproduced" if several else "differs",
        f"for positives and negatives: {listed}; paper {PUBLISHED_COMPONENTS[0]} and {PUBLISHED_COMPONENTS[1]}, it "
        "does not say of which loss",
    )


@pictured("pu-ece-figure-2", 1, len(SETTINGS), figsize=(14, 3.4))
def draw(axes: Any, result: Trained) -> None:
    """One panel per setting, first trial, both classes."""
    for ax, setting in zip(axes, SETTINGS, strict=True):
        parts = [logits_of(result, setting, positive, 0) for positive in (True, False)]
        low, high = np.quantile(np.concatenate(parts), [0.002, 0.998])
        edges = np.linspace(low, high, 61)
        ax.hist(parts[0], edges, color="#c8553d", alpha=0.6, label="positive")
        ax.hist(parts[1], edges, color="#1f5fa8", alpha=0.6, label="negative")
        ax.set(title=setting, xlabel="logit")
    axes[0].set_ylabel("test rows")
    axes[0].legend(fontsize=8)


STUDY = Study("Logits of supervised and PU-trained networks", "the PU-ECE paper, figure 2", run)
