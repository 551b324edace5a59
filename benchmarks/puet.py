"""PU extra trees: speed beside a plain recursion and scikit-learn's extra trees, accuracy beside the published table.

    python benchmarks/puet.py speed
    python benchmarks/puet.py accuracy spambase mushroom --seeds 2 25 42

Times are CPU seconds in one process. The recursion is the published algorithm as it is written down, node by node;
scikit-learn is compiled and takes labels for classes. Data sets need PULENS_MIRROR or a network.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from pulens.benchmark import datasets
from pulens.learners import PUET
from pulens.synthesis import synthesise

from pulens.learning.learners.forest.impurity import NodeRisk
from pulens.learning.learners.forest.node_search import cut_range

# paper 004, table 1: mean test accuracy in per cent, case-control, completely at random, label frequency 0.1
PUBLISHED = {
    "imdb": 68.41,
    "newsgroups20": 86.49,
    "mnist": 95.08,
    "fashion_mnist": 97.77,
    "cifar10": 76.23,
    "connect4": 84.23,
    "spambase": 84.43,
}


def recursion(X, labelled, rows, rng, risk, tried):
    counts = labelled[rows].sum(), (~labelled[rows]).sum()
    if float(risk.impurity(*map(np.asarray, counts))) <= 0:
        return 1
    varying = np.flatnonzero(X[rows].min(0) < X[rows].max(0))
    if not varying.size:
        return 1
    best = None
    for feature in rng.permutation(varying)[:tried]:
        values = np.unique(X[rows, feature]).astype(float)
        cut = rng.uniform(*cut_range(values[0], values[1], values[-2], values[-1]))
        left = X[rows, feature] <= cut
        sides = [(labelled[rows[side]].sum(), (~labelled[rows[side]]).sum()) for side in (left, ~left)]
        total = sum(float(risk.impurity(*map(np.asarray, side))) for side in sides)
        if best is None or total < best[0]:
            best = (total, left)
    left = best[1]
    return sum(recursion(X, labelled, rows[side], rng, risk, tried) for side in (left, ~left))


def timed(task):
    start = time.process_time()
    result = task()
    return time.process_time() - start, result


def conventional(name, seed, unlabelled="whole-pool"):
    """The benchmark's conventional setting; the class prior is the right one."""
    data = datasets.load(name)
    official = data.y_test is not None
    made = synthesise(
        data.X.reshape(len(data.X), -1),
        data.y,
        label_frequency=0.1,
        scenario="case-control",
        unlabelled=unlabelled,
        validation_share=0.01,
        test_share=0.0 if official else 0.2,
        seed=seed,
    )
    test = (data.X_test.reshape(len(data.X_test), -1), data.y_test) if official else (made.test.X, made.truth.test)
    return made.train, test


def speed(names, trees):
    from sklearn.ensemble import ExtraTreesClassifier

    print(f"CPU seconds per tree, {trees} trees")
    for name in names:
        train, _ = conventional(name, 2)
        X, labels = train.X, train.labels
        options = {
            "class_prior": train.class_prior,
            "scenario": "case-control",
            "n_estimators": trees,
            "random_state": 0,
        }
        ours, _ = timed(lambda X=X, labels=labels, options=options: PUET(**options).fit(X, labels))
        forest = ExtraTreesClassifier(trees, random_state=0)
        theirs, _ = timed(lambda X=X, labels=labels, forest=forest: forest.fit(X, labels))
        risk = NodeRisk(train.n_labelled, train.n_unlabelled, train.class_prior)
        tried = int(np.ceil(np.sqrt(X.shape[1])))
        one = 3 if name == "spambase" else 1
        slow, _ = timed(
            lambda X=X, labels=labels, risk=risk, tried=tried, one=one: [
                recursion(X, labels == 1, np.arange(len(X)), np.random.default_rng(tree), risk, tried)
                for tree in range(one)
            ]
        )
        each, reference, compiled = ours / trees, slow / one, theirs / trees
        print(
            f"{name:10} {X.shape[0]:6} x {X.shape[1]:4}   PUET {each:.3f}   recursion {reference:.2f} "
            f"({reference / each:.0f} times)   scikit-learn, labels as classes {compiled:.3f} ({compiled / each:.2f})"
        )


def accuracy(names, seeds, trees, unlabelled, jobs):
    print(f"{trees} trees, {unlabelled}, seeds {seeds}: test accuracy in per cent")
    for name in names:
        found, ranked = [], []
        for seed in seeds:
            train, (X_test, y_test) = conventional(name, seed, unlabelled)
            told = {"class_prior": train.class_prior, "scenario": "case-control"}
            forest = PUET(**told, n_estimators=trees, random_state=seed, n_jobs=jobs)
            forest.fit(train.X, train.labels)
            votes, posterior = forest._read(X_test)
            found.append(100 * np.mean((votes > 0.5) == y_test))
            ranked.append(100 * np.mean((posterior > 0.5) == y_test))
        paper = f"paper {PUBLISHED[name]:.2f}" if name in PUBLISHED else "not in the paper"
        print(
            f"{name:14} {np.mean(found):.2f} ± {np.std(found, ddof=min(1, len(seeds) - 1)):.2f}   "
            f"by mean posterior {np.mean(ranked):.2f}   {paper}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["speed", "accuracy"])
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--seeds", nargs="*", type=int, default=[2, 25, 42])
    parser.add_argument("--trees", type=int, default=None)
    parser.add_argument("--unlabelled", default="whole-pool", choices=["whole-pool", "disjoint"])
    parser.add_argument("--jobs", type=int, default=None)
    given = parser.parse_args()
    if given.task == "speed":
        speed(given.names or ["spambase", "mnist"], given.trees or 10)
    else:
        accuracy(
            given.names or ["spambase", "mushroom", "connect4", "newsgroups20"],
            given.seeds,
            given.trees or 100,
            given.unlabelled,
            given.jobs,
        )


if __name__ == "__main__":
    main()
