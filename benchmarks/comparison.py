"""Does the verdict keep its word? Pairs of models with known truth, judged again and again.

Equal true AUC: how often is a winner declared. Unequal: how often the better model is found, beside comparing
uncorrected numbers (every unlabelled row taken for a negative), with and without a test.

Run: python benchmarks/comparison.py [--pairs 500]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.stats import norm, rankdata, t

import pulens

PRIOR = 0.3
DRAWS = 400


def scores(positive: np.ndarray, shift: float, spread: float, common: np.ndarray, rng) -> np.ndarray:
    """Binormal scores; two models share half of their variance through ``common``."""
    own = np.sqrt(0.5) * common + np.sqrt(0.5) * rng.normal(size=positive.size)
    return np.where(positive, shift + spread * own, own)


def shift_for(area: float, spread: float) -> float:
    return float(norm.ppf(area) * np.sqrt(1 + spread**2))


def rows(n_labelled: int, n_unlabelled: int, models: dict[str, tuple[float, float]], rng):
    """Case-control rows scored by every model: (AUC, spread of the positives)."""
    positive = np.concatenate([np.ones(n_labelled, bool), rng.random(n_unlabelled) < PRIOR])
    labels = np.repeat([1, 0], [n_labelled, n_unlabelled])
    common = rng.normal(size=positive.size)
    return labels, {
        name: scores(positive, shift_for(area, spread), spread, common, rng) for name, (area, spread) in models.items()
    }


def ranking(pairs: int, n_labelled: int, n_unlabelled: int, areas: tuple[float, float]) -> None:
    models = {"a": (areas[0], 1.0), "b": (areas[1], 1.5)}
    rng = np.random.default_rng(n_labelled)
    declared = right = apart = larger = 0
    start = time.perf_counter()
    for pair in range(pairs):
        labels, result = rows(n_labelled, n_unlabelled, models, rng)
        options = {"scenario": "case-control", "metrics": ["roc_auc"], "redraws": DRAWS, "seed": pair}
        ours = pulens.compare(labels, result, class_prior=PRIOR, **options)
        declared += ours.winner is not None
        right += ours.winner == "a"
        # uncorrected AUCs are the same straight line of both: they are ordered, and their intervals touch, alike
        first, second = (ours.estimates["roc_auc"][name] for name in "ab")
        apart += first.interval.low > second.interval.high
        larger += first.value > second.value
    seconds = time.perf_counter() - start
    what = "equal" if areas[0] == areas[1] else f"{areas[0]:.3f} and {areas[1]:.3f}"
    print(
        f"AUC {what:<16} {n_labelled:>4} labelled {n_unlabelled:>5} unlabelled: "
        f"winner declared {declared / pairs:6.1%} (a: {right / pairs:6.1%}); "
        f"uncorrected numbers: a larger {larger / pairs:6.1%}, intervals apart {apart / pairs:6.1%}  [{seconds:.0f} s]",
        flush=True,
    )


def limit(pairs: int, n_labelled: int, n_unlabelled: int) -> None:
    """The same rule with infinitely many redraws: their spread is then DeLong's, without his n - 1."""
    rng = np.random.default_rng(99)
    declared, reach = 0, t.ppf(0.975, n_labelled - 1) * np.sqrt(n_labelled / (n_labelled - 1))
    for _ in range(pairs):
        _, result = rows(n_labelled, n_unlabelled, {"a": (0.85, 1.0), "b": (0.85, 1.5)}, rng)
        parts = []
        for values in result.values():
            ranks, above, below = (rankdata(part) for part in (values, values[:n_labelled], values[n_labelled:]))
            parts.append(((ranks[:n_labelled] - above) / n_unlabelled, (below - ranks[n_labelled:]) / n_labelled))
        gaps = [parts[0][i] - parts[1][i] for i in (0, 1)]
        error = np.sqrt(sum(gap.var() / gap.size for gap in gaps))
        declared += abs(gaps[0].mean()) > reach * error
    print(
        f"AUC equal            {n_labelled:>4} labelled {n_unlabelled:>5} unlabelled, infinitely many redraws, "
        f"{pairs} pairs: winner declared {declared / pairs:6.1%}",
        flush=True,
    )


def at_threshold(pairs: int, n_labelled: int, n_unlabelled: int) -> None:
    """Model a finds more positives and raises more alarms; its accuracy is truly higher."""
    rng = np.random.default_rng(7)
    truth = {}
    shift = shift_for(0.9, 1.0)
    thresholds = {"a": 1.25, "b": 2.1}
    for name, cut in thresholds.items():
        recall, alarms = norm.sf(cut - shift), norm.sf(cut)
        hits, false = PRIOR * recall, (1 - PRIOR) * alarms
        truth[name] = {"accuracy": hits + (1 - PRIOR) - false, "f1": 2 * hits / (PRIOR + hits + false)}
    counts = {metric: {"ours": 0, "naive right": 0, "naive wrong": 0} for metric in ("accuracy", "f1")}
    for pair in range(pairs):
        labels, both = rows(n_labelled, n_unlabelled, {"a": (0.9, 1.0), "b": (0.9, 1.0)}, rng)
        options = {
            "scenario": "case-control",
            "metrics": list(counts),
            "redraws": DRAWS,
            "seed": pair,
            "threshold": thresholds,
        }
        ours = pulens.compare(labels, both, class_prior=PRIOR, **options)
        naive = pulens.compare(labels, both, unlabelled_prior=0.0, **options)
        for metric, count in counts.items():
            count["ours"] += ours.leader(metric) == "a" and not ours.rivals(metric)
            count["naive right"] += naive.leader(metric) == "a" and not naive.rivals(metric)
            count["naive wrong"] += naive.leader(metric) == "b" and not naive.rivals(metric)
    for metric, count in counts.items():
        print(
            f"{metric:<9} truly {truth['a'][metric]:.3f} for a, {truth['b'][metric]:.3f} for b, "
            f"{n_labelled} labelled {n_unlabelled} unlabelled: a declared better {count['ours'] / pairs:6.1%}; "
            f"by the same test on uncorrected numbers {count['naive right'] / pairs:6.1%}, "
            f"and b declared better {count['naive wrong'] / pairs:6.1%}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=500)
    pairs = parser.parse_args().pairs
    print(f"{pairs} pairs each, class prior {PRIOR}, {DRAWS} redraws, 95% rule")
    for size in ((30, 300), (50, 500), (200, 2000)):
        ranking(pairs, *size, (0.85, 0.85))
        limit(8 * pairs, *size)
    fewer = max(1, 2 * pairs // 5)  # power needs less precision than a level of 5%
    print(f"\n{fewer} pairs each")
    for size in ((50, 500), (200, 2000)):
        ranking(fewer, *size, (0.88, 0.82))
    at_threshold(fewer, 200, 2000)


if __name__ == "__main__":
    main()
