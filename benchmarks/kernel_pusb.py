"""Accuracy of KernelPUSB on two normal classes in the plane, under random and biased labels.

Run: python benchmarks/kernel_pusb.py [draws]    (six draws, two minutes)

Beside it: what the true density ratio p(x | s = 1) / p(x) would give, cut at the class prior.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from pulens.learners import KernelPUSB

CENTRE, PRIOR = np.array([1.0, 0.5]), 0.4


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


# chance of being labelled, up to a factor
LABELS = {
    "at random": lambda x: np.ones(len(x)),
    "favour obvious positives, order kept": lambda x: sigmoid(3 * (x @ CENTRE / (CENTRE @ CENTRE) - 1)),
    "favour a large first coordinate, order not kept": lambda x: sigmoid(3 * (x[:, 0] - 1)),
}
LEARNERS = {
    "Gaussian": {"criterion": "risk"},
    "Gaussian by proxy AUC": {},
    "linear": {"kernel": "linear", "criterion": "risk"},
    "density ratio": {"ranking": "density-ratio", "criterion": "risk"},
}


def draw(seed, chance):
    rng = np.random.default_rng(seed)

    def population(n):
        positive = rng.random(n) < PRIOR
        return rng.normal(size=(n, 2)) + np.where(positive[:, None], CENTRE, -CENTRE), positive

    candidates = rng.normal(size=(20_000, 2)) + CENTRE
    labelled = candidates[rng.random(len(candidates)) < chance(candidates)][:400]
    return np.concatenate([labelled, population(4000)[0]]), np.repeat([1, 0], [400, 4000]), *population(20_000)


def main(draws=6):
    for words, chance in LABELS.items():
        found = {name: [] for name in (*LEARNERS, "true ratio")}
        begun = time.perf_counter()
        for seed in range(draws):
            X, labels, test, truth = draw(seed, chance)
            for name, settings in LEARNERS.items():
                model = KernelPUSB(
                    class_prior=PRIOR, standardise=False, scenario="case-control", random_state=seed, **settings
                ).fit(X, labels)
                found[name].append(np.mean(model.predict(test) == truth))
            ratio = sigmoid(2 * test @ CENTRE + np.log(PRIOR / (1 - PRIOR))) * chance(test)
            found["true ratio"].append(np.mean((ratio > np.quantile(ratio, 1 - PRIOR)) == truth))
        shown = ", ".join(
            f"{name} {np.mean(own):.3f} ({min(own):.3f} to {max(own):.3f})" for name, own in found.items()
        )
        print(f"{words}: {shown}; {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
