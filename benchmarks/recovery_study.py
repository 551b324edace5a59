"""Recovered AUC with estimated class prior and label noise, on the data sets and by the protocol of paper 003.

    python benchmarks/recovery_study.py [--quick] [--repetitions 3] [--tables FOLDER] [--seed 0]

Bagged networks (five hidden neurons, resilient propagation, a quarter of each bag kept for early stopping) are
trained on labelled against unlabelled rows and score the rows outside each bag. Class prior and label noise are
estimated from these scores alone. Errors are against the AUC of the same kind of model trained with full labels, as in
the paper ("error"), and against the scores' own true AUC ("own"). IE: area under the recovered curve; DE: equation 4.
Where this run departs from the paper: fewer networks and repetitions, and Gas has 3,095 of its 5,574 rows, so
500 of its rows are labelled instead of 1,000.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
from scipy.special import expit

from pulens.assumptions import Assumptions
from pulens.metrics import find
from pulens.priors import estimate_prior_and_noise
from pulens.tally import Tally

NOISES = (0.0, 0.05, 0.25)
# Table 1: e, AUC, PU, IE, DE and Table 2: IE, one triple per beta = 1, 0.95, 0.75
PAPER = {
    "Bank": [
        (0.238, 0.884, 0.042, 0.088, 0.115, 0.382),
        (0.230, 0.884, 0.065, 0.086, 0.113, 0.368),
        (0.167, 0.884, 0.140, 0.085, 0.111, 0.358),
    ],
    "Concrete": [
        (0.143, 0.940, 0.255, 0.068, 0.060, 0.321),
        (0.130, 0.940, 0.278, 0.078, 0.065, 0.404),
        (0.145, 0.938, 0.371, 0.196, 0.206, 0.552),
    ],
    "Gas": [
        (0.006, 1.000, 0.175, 0.010, 0.007, 0.046),
        (0.013, 1.000, 0.205, 0.012, 0.016, 0.026),
        (0.010, 1.000, 0.328, 0.011, 0.007, 0.003),
    ],
    "Housing": [
        (0.063, 0.950, 0.142, 0.038, 0.038, 0.270),
        (0.055, 0.951, 0.175, 0.043, 0.042, 0.306),
        (0.079, 0.951, 0.301, 0.094, 0.101, 0.368),
    ],
    "Landsat": [
        (0.035, 0.981, 0.048, 0.005, 0.015, 0.033),
        (0.022, 0.981, 0.077, 0.004, 0.009, 0.029),
        (0.020, 0.981, 0.192, 0.004, 0.008, 0.023),
    ],
    "Mushroom": [
        (0.006, 1.000, 0.208, 0.013, 0.011, 0.056),
        (0.010, 1.000, 0.234, 0.009, 0.012, 0.019),
        (0.010, 1.000, 0.352, 0.016, 0.020, 0.049),
    ],
    "Pageblock": [
        (0.413, 0.970, 0.086, 0.020, 0.030, 0.198),
        (0.408, 0.970, 0.112, 0.019, 0.030, 0.281),
        (0.361, 0.969, 0.202, 0.018, 0.031, 0.340),
    ],
    "Pendigit": [
        (0.009, 0.999, 0.124, 0.004, 0.002, 0.025),
        (0.007, 0.999, 0.152, 0.007, 0.008, 0.028),
        (0.010, 0.999, 0.262, 0.002, 0.002, 0.013),
    ],
    "Pima": [
        (0.191, 0.835, 0.101, 0.070, 0.090, 0.224),
        (0.155, 0.838, 0.128, 0.060, 0.069, 0.228),
        (0.149, 0.836, 0.213, 0.064, 0.073, 0.254),
    ],
    "Shuttle": [
        (0.007, 1.000, 0.071, 0.015, 0.005, 0.192),
        (0.026, 0.999, 0.096, 0.016, 0.017, 0.085),
        (0.004, 0.999, 0.198, 0.002, 0.004, 0.014),
    ],
    "Spambase": [
        (0.061, 0.961, 0.118, 0.013, 0.020, 0.060),
        (0.050, 0.959, 0.147, 0.010, 0.015, 0.054),
        (0.057, 0.961, 0.265, 0.021, 0.028, 0.048),
    ],
    "Wine": [
        (0.133, 0.815, 0.188, 0.099, 0.109, 0.085),
        (0.121, 0.816, 0.207, 0.104, 0.117, 0.090),
        (0.186, 0.816, 0.285, 0.158, 0.158, 0.441),
    ],
}
# file, rule for the positive class, labelled rows
TABLES = {
    "Bank": ("bank_marketing.parquet", None, 1000),
    "Concrete": ("concrete.npz", lambda y: y > y.mean(), 100),
    "Gas": ("gas_drift_8of10.npz", lambda y: y == 1, 500),
    "Housing": ("boston_housing.npz", lambda y: y > y.mean(), 100),
    "Landsat": ("landsat.npz", lambda y: y == 7, 1000),
    "Mushroom": ("mushroom.npz", None, 1000),
    "Pageblock": ("page_blocks.npz", lambda y: y > 1, 100),
    "Pendigit": ("pendigits.npz", lambda y: y <= 2, 1000),
    "Pima": ("pima.npz", lambda y: y == 1, 100),
    "Shuttle": ("shuttle.npz", lambda y: y == 4, 1000),
    "Spambase": ("spambase.npz", lambda y: y == 1, 1000),
    "Wine": ("wine_quality.npz", lambda y: y >= 6, 1000),
}
MOST_UNLABELLED = 10_000


def load(folder, name):
    """Features, standardised, and which rows are positive."""
    file, rule, _ = TABLES[name]
    if name == "Bank":
        import pyarrow.parquet as parquet

        columns = parquet.read_table(folder / file).to_pydict()
        positive = np.array(columns.pop("y")) == "yes"
        parts = []
        for values in columns.values():
            if isinstance(values[0], str):
                parts += [np.array(values) == level for level in sorted(set(values))]
            else:
                parts.append(np.array(values, float))
        features = np.stack(parts, axis=1).astype(float)
    else:
        arrays = np.load(folder / file)
        if "X" in arrays:
            features, classes = arrays["X"], arrays["y"]
        else:
            features = np.concatenate([arrays["X_train"], arrays["X_test"]])
            classes = np.concatenate([arrays["y_train"], arrays["y_test"]])
        if name == "Gas":
            kept = np.isin(classes, (1, 5))
            features, classes = features[kept], classes[kept]
        if name == "Mushroom":
            positive = classes == int(np.flatnonzero([str(c).startswith("p") for c in arrays["classes"]])[0])
            features = np.concatenate(
                [features[:, [j]] == np.unique(features[:, j]) for j in range(features.shape[1])], axis=1
            )
        else:
            positive = rule(classes)
    features = features.astype(np.float32)
    spread = features.std(axis=0)
    features = features[:, spread > 0]
    return (features - features.mean(axis=0)) / features.std(axis=0), positive


def bagged_networks(features, labels, rng, networks=30, hidden=5, epochs=80):
    """Out-of-bag log odds of bagged one-layer networks, all trained side by side."""
    n, d = features.shape
    bags = np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(networks)]).astype(np.float32)
    held = rng.random((networks, n)) < 0.25  # rows of the bag kept for stopping
    training, stopping = bags * ~held, bags * held
    training /= training.sum(axis=1, keepdims=True)
    stopping /= stopping.sum(axis=1, keepdims=True)
    x = np.concatenate([features, np.ones((n, 1), np.float32)], axis=1)
    first = rng.normal(0, 1 / np.sqrt(d), (d + 1, networks * hidden)).astype(np.float32)
    second = rng.normal(0, 0.5, (networks, hidden + 1)).astype(np.float32)
    target = labels.astype(np.float32)
    weights = [first, second]
    steps = [np.full(w.shape, 0.02, np.float32) for w in weights]
    before = [np.zeros(w.shape, np.float32) for w in weights]
    best = np.full(networks, np.inf)
    kept = np.zeros((networks, n), np.float32)
    stale = np.zeros(networks, int)
    for _ in range(epochs):
        inner = np.tanh(x @ weights[0]).reshape(n, networks, hidden)
        logits = np.einsum("nbh,bh->bn", inner, weights[1][:, :hidden]) + weights[1][:, hidden:]
        loss = (stopping * (np.logaddexp(0, logits) - target * logits)).sum(axis=1)
        better = loss < best - 1e-5
        best = np.where(better, loss, best)
        kept[better] = logits[better]
        stale = np.where(better, 0, stale + 1)
        if (stale > 12).all():
            break
        residual = training * (expit(logits) - target)
        back = residual.T[:, :, None] * weights[1][None, :, :hidden] * (1 - inner**2)
        gradients = [
            x.T @ back.reshape(n, -1),
            np.concatenate([np.einsum("bn,nbh->bh", residual, inner), residual.sum(axis=1, keepdims=True)], axis=1),
        ]
        for i, gradient in enumerate(gradients):  # resilient propagation: signs and step sizes only
            agree = np.sign(gradient * before[i])
            steps[i] = np.clip(
                np.where(agree > 0, steps[i] * 1.2, np.where(agree < 0, steps[i] * 0.5, steps[i])), 1e-6, 1.0
            )
            gradient = np.where(agree < 0, 0, gradient)
            weights[i] = weights[i] - np.sign(gradient) * steps[i]
            before[i] = gradient
    outside = (bags == 0).astype(np.float32)
    return (kept * outside).sum(axis=0) / np.maximum(outside.sum(axis=0), 1)


def area(scores, positive):
    return find("roc_auc").compute(Tally.from_arrays(np.where(positive, 1, -1), scores), Assumptions(0.0))


def precision_area(scores, positive, prior):
    """Average precision that these scores have where a given share of rows is positive."""
    tally = Tally.from_arrays(np.where(positive, 1, -1), scores)
    recall, alarm = tally.labelled / tally.labelled[-1], tally.negative / tally.negative[-1]
    precision = prior * recall / (prior * recall + (1 - prior) * alarm)
    return float(np.diff(recall, prepend=0.0) @ precision)


def one_run(features, positive, n, noise, rng, networks):
    wrong = round(noise * n)
    chosen, others = rng.permutation(np.flatnonzero(positive)), rng.permutation(np.flatnonzero(~positive))
    labelled = np.concatenate([chosen[: n - wrong], others[:wrong]])
    unlabelled = rng.permutation(np.concatenate([chosen[n - wrong :], others[wrong:]]))[:MOST_UNLABELLED]
    rows, labels = np.concatenate([labelled, unlabelled]), np.repeat([1, 0], [n, unlabelled.size])
    truth, prior = positive[rows], float(positive[unlabelled].mean())
    scores = bagged_networks(features[rows], labels, rng, networks)
    # the paper's truth: the same rows and the same kind of model, with full labels
    supervised = bagged_networks(features[rows], truth, rng, networks)
    tally = Tally.from_arrays(labels, scores)
    found = estimate_prior_and_noise(tally)
    known = Assumptions(prior, wrong / n)
    estimated = Assumptions(found.class_prior.unlabelled, found.label_noise.value)
    auc, ap = find("roc_auc"), find("average_precision")

    def clipped(value):
        return min(max(float(value), 0.0), 1.0)

    recovered = {
        "PU": auc.compute(tally, Assumptions(0.0)),
        "IR": auc.compute(tally, known, method="indirect"),
        "DR": clipped(auc.compute(tally, known)),
        "IE": auc.compute(tally, estimated, method="indirect"),
        "DE": clipped(auc.compute(tally, estimated)),
    }
    full, own = area(supervised, truth), area(scores, truth)
    pr_full = precision_area(supervised, truth, prior)
    pr_estimated = clipped(ap.compute(tally, estimated))
    contrast = abs(estimated.labelled_purity - estimated.unlabelled_prior - (known.labelled_purity - prior))
    return {
        "alpha": prior, "e": contrast, "AUC": full,
        **{name: abs(value - full) for name, value in recovered.items()},
        "IE own": abs(recovered["IE"] - own), "DE own": abs(recovered["DE"] - own),
        "PR IE": abs(pr_estimated - pr_full),
        "PR own": abs(pr_estimated - precision_area(scores, truth, prior)),
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--networks", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tables", type=Path)
    chosen = parser.parse_args()
    root = Path(__file__).resolve().parents[1]
    near = [chosen.tables, Path(os.environ.get("PULENS_SHARED", "/nowhere")) / "data"]
    near += [root.parent / "shared" / "data", root.parent.parent / "shared" / "data"]
    folder = next((path for path in near if path is not None and path.is_dir()), None)
    if folder is None:
        raise SystemExit("no folder of tables found: give --tables FOLDER")
    start = time.perf_counter()
    rows = []
    head = ("alpha", "e", "AUC", "PU", "IR", "DR", "IE", "DE", "IE own", "DE own", "PR IE", "PR own")
    print("mean absolute errors; 'paper' columns are the published ones", flush=True)
    print(
        f"{'data':10}{'beta':>5}"
        + "".join(f"{h:>8}" for h in head)
        + f"{'| paper e':>11}{'AUC':>7}{'PU':>7}{'IE':>7}{'DE':>7}{'PR IE':>7}"
    )
    for name in list(TABLES)[:: 4 if chosen.quick else 1]:
        features, positive = load(folder, name)
        for place, noise in enumerate(NOISES):
            rng = np.random.default_rng([chosen.seed, place, len(name)])
            runs = [
                one_run(features, positive, TABLES[name][2], noise, rng, chosen.networks)
                for _ in range(1 if chosen.quick else chosen.repetitions)
            ]
            mean = {h: float(np.mean([run[h] for run in runs])) for h in head}
            paper = PAPER[name][place]
            rows.append((mean, paper))
            print(
                f"{name:10}{1 - noise:5.2f}" + "".join(f"{mean[h]:8.3f}" for h in head)
                + f"{'|':>5}{paper[0]:6.3f}" + "".join(f"{value:7.3f}" for value in paper[1:]),
                flush=True,
            )  # fmt: skip
    ours = {h: float(np.mean([mean[h] for mean, _ in rows])) for h in head}
    paper = np.mean([paper for _, paper in rows], axis=0)
    print(
        f"{'mean':15}"
        + "".join(f"{ours[h]:8.3f}" for h in head)
        + f"{'|':>5}{paper[0]:6.3f}"
        + "".join(f"{v:7.3f}" for v in paper[1:])
    )
    print(
        f"\nrecovered AUC, prior and noise estimated: ours IE {ours['IE']:.4f}, DE {ours['DE']:.4f}; "
        f"paper IE {paper[3]:.4f}, DE {paper[4]:.4f}; "
        f"against the scores' own AUC ours IE {ours['IE own']:.4f}, DE {ours['DE own']:.4f}"
    )
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
