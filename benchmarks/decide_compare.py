"""Do intervals of differences in net benefit and in the first k rows hold? Two models on the same simulated rows.

    python benchmarks/decide_compare.py [--sets 120] [--redraws 200] [--scenario single-set] [--thresholds fixed]

Scores are normal given the class, correlated between the models (.5); 120 labelled rows on average. Four settings: both
scenarios; thresholds fixed beforehand, or each model's best on the rows that judge it (`compare(cost_ratio=...)`
without a threshold). The truth of net benefit is that at the thresholds in use; that of the first rows is the
population's, at the share of the list that k rows are.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

import pulens

PRIOR, RATIO, ROWS, LABELLED, SHARE = 0.15, 0.2, 1500, 120, 0.05
SHIFT = {"a": 1.6, "b": 1.3}


def worth(model: str, threshold: float) -> float:
    """Net benefit of the population."""
    odds = RATIO / (1 - RATIO)
    return PRIOR * float(ndtr(SHIFT[model] - threshold)) - odds * (1 - PRIOR) * float(ndtr(-threshold))


def recall_of_share(model: str) -> float:
    """Recall of the population's top share."""

    def over(threshold: float) -> float:
        flagged = PRIOR * ndtr(SHIFT[model] - threshold) + (1 - PRIOR) * ndtr(-threshold)
        return float(flagged) - SHARE

    return float(ndtr(SHIFT[model] - brentq(over, -6, 8)))


def rows(rng: np.random.Generator, scenario: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    positive = rng.random(ROWS) < PRIOR
    if scenario == "case-control":
        positive = np.concatenate([np.ones(LABELLED, bool), positive])
        labels = np.repeat([1, 0], [LABELLED, ROWS])
    else:
        labels = (positive & (rng.random(ROWS) < LABELLED / (PRIOR * ROWS))).astype(int)
    common = rng.normal(size=positive.size)
    scores = {}
    for model, shift in SHIFT.items():
        own = np.sqrt(0.5) * common + np.sqrt(0.5) * rng.normal(size=positive.size)
        scores[model] = own + shift * positive
    return labels, scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=120)
    parser.add_argument("--redraws", type=int, default=200)
    parser.add_argument("--scenario", choices=("case-control", "single-set"))
    parser.add_argument("--thresholds", choices=("fixed", "chosen"))
    asked = parser.parse_args()
    recall = recall_of_share("a") - recall_of_share("b")
    for scenario in ("case-control", "single-set"):
        for fixed in (True, False):
            if asked.scenario not in (None, scenario) or asked.thresholds not in (None, "fixed" if fixed else "chosen"):
                continue
            started, held = time.process_time(), np.zeros(3)
            for seed in range(asked.sets):
                labels, scores = rows(np.random.default_rng([seed, 77]), scenario)
                k = round(SHARE * ROWS)
                result = pulens.compare(
                    labels,
                    scores,
                    class_prior=PRIOR,
                    scenario=scenario,
                    metrics=["net_benefit", "recall_at_k", "precision_at_k"] if not fixed else ["net_benefit"],
                    cost_ratio=RATIO,
                    threshold={"a": 1.0, "b": 0.9} if fixed else None,
                    k=None if fixed else k,
                    labelling="random",
                    redraws=asked.redraws,
                    seed=seed,
                )
                at = result.worth.thresholds
                truths = {"net_benefit": worth("a", at["a"]) - worth("b", at["b"])}
                if not fixed:
                    truths |= {"recall_at_k": recall, "precision_at_k": recall * PRIOR / SHARE}
                for place, (name, truth) in enumerate(truths.items()):
                    interval = result.difference("a", "b", name).interval
                    held[place] += interval.low <= truth <= interval.high
            words = "fixed thresholds" if fixed else "thresholds chosen on the rows"
            line = f"{scenario}, {words}: net benefit {held[0] / asked.sets:.1%}"
            if not fixed:
                line += f", recall at k {held[1] / asked.sets:.1%}, precision at k {held[2] / asked.sets:.1%}"
            print(f"{line}  ({asked.sets} sets, {time.process_time() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
