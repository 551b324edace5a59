"""How often intervals from checked rows hold the truth: differences of two models, and shares of positives in bins.

Usage: python benchmarks/audit_reviews.py [AUDITS]    600 audits a cell by default; under two minutes

Rows are drawn in five ranges of the first model's score, as a plan draws them; both models and the truth are drawn anew
for every audit.
"""

from __future__ import annotations

import sys

import numpy as np

from pulens.audits import Reviews
from pulens.audits.comparing import compare_reviewed
from pulens.calibration import reviewed_reliability
from pulens.scenario import Scenario

SHARES = np.array([0.35, 0.17, 0.16, 0.16, 0.16])
#: class prior, rows, separation of both models, thresholds of both
WORLDS = {
    "prior .2": (0.2, 3000, 1.5, 1.2, 1.1, 1.1),
    "prior .05": (0.05, 6000, 2.2, 1.8, 1.9, 1.7),
    "equal models": (0.1, 4000, 1.5, 1.5, 1.4, 1.4),
    "other threshold": (0.1, 4000, 1.5, 1.5, 1.4, 0.8),
}
SHARED = 0.6  # of the variance of the scores, within a class


def reviewed(rng: np.random.Generator, scores: np.ndarray, positive: np.ndarray, edges, many) -> Reviews:
    """Rows in ranges of scores, some of each checked."""
    cell = np.sum(scores[:, None] < np.asarray(edges)[None, :], axis=1)
    answer = np.full(scores.size, -2, np.int8)
    chance = np.zeros(len(many))
    for stratum, wanted in enumerate(many):
        inside = np.flatnonzero(cell == stratum)
        taken = rng.choice(inside, min(int(wanted), inside.size), replace=False)
        answer[taken] = positive[taken]
        chance[stratum] = taken.size / max(inside.size, 1)
    return Reviews(
        cell=cell.astype(np.int64),
        answer=answer,
        labels=np.zeros(scores.size, np.int8),
        scores=scores,
        probability=chance,
        scenario=Scenario.CASE_CONTROL,
    )


def compared(seed: int, budget: int, prior, rows, gap_one, gap_two, at_one, at_two) -> dict[str, tuple[bool, float]]:
    """Whether each difference's interval holds the truth, and how wide it is."""
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < prior
    shared = np.sqrt(SHARED) * rng.normal(size=rows)
    one, two = (gap * positive + shared + np.sqrt(1 - SHARED) * rng.normal(size=rows) for gap in (gap_one, gap_two))
    ranked, flagged = np.sort(one)[::-1], max(int((one >= at_one).sum()), 1)
    edges = [at_one, *(ranked[int(flagged * (rows / flagged) ** (j / 4))] for j in (1, 2, 3))]
    rows_checked = reviewed(rng, one, positive, edges, SHARES * budget)
    result = compare_reviewed(rows_checked, one >= at_one, two >= at_two, draws=2000, seed=seed)
    values = [true_values(scores >= at, positive) for scores, at in ((one, at_one), (two, at_two))]
    return {
        name: (values[0][name] - values[1][name] in pair.interval, pair.interval.width) for name, pair in result.items()
    }


def true_values(decision: np.ndarray, positive: np.ndarray) -> dict[str, float]:
    hits, flagged, positives = (decision & positive).sum(), decision.sum(), positive.sum()
    return {"f1": 2 * hits / (flagged + positives), "precision": hits / flagged, "recall": hits / positives}


def bins_held(seed: int) -> list[bool]:
    """Whether the interval of each bin of promised probabilities holds its share of positives."""
    rng = np.random.default_rng(seed)
    positive = rng.random(4000) < 0.1
    promised = 1 / (1 + np.exp(-1.7 * (rng.normal(1.7 * positive) - 1.6)))
    rows = reviewed(rng, promised, positive, (0.5, 0.3, 0.15, 0.05), (70, 40, 40, 40, 60))
    result = reviewed_reliability(rows, promised, draws=2000, seed=seed)
    inside = [(promised > (one.low or -1)) & (promised <= one.high) for one in result.bins]
    return [positive[here].mean() in one.interval for here, one in zip(inside, result.bins, strict=True)]


def main(audits: int) -> None:
    print(f"{'world':<18}{'rows':>5}" + "".join(f"{name:>18}" for name in ("f1", "precision", "recall")))
    for world, settings in WORLDS.items():
        for budget in (100, 200, 400):
            result = [compared(seed, budget, *settings) for seed in range(audits)]
            cells = [
                f"{np.mean([one[name][0] for one in result]):.3f} ({np.mean([one[name][1] for one in result]):.2f})"
                for name in ("f1", "precision", "recall")
            ]
            print(f"{world:<18}{budget:>5}" + "".join(f"{cell:>18}" for cell in cells), flush=True)
    held = [one for seed in range(audits // 4) for one in bins_held(seed)]
    print(f"bins of promised probabilities: {np.mean(held):.3f} of {len(held):,} intervals hold the share")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 600)
