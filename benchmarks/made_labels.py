"""Do the default intervals hold under ways of labelling that no real data set here has? Public tables, made labels.

    python benchmarks/made_labels.py --data FOLDER [--runs 2] [--tables spambase pima] [--processes 2] [--seed 0]
                                     [--labelling practice|random] [--out runs.jsonl]

FOLDER holds spambase.npz and so on (X and y, or X_train, y_train, X_test, y_test); two tables come with scikit-learn.
Each run draws at most 3,000 rows of a table, labels 20 to 1,000 of its positives by one of sixteen mechanisms, scores
all rows out of fold by a model of labelled rows against the rest, and makes the default call with the true class prior
and as many rows flagged as are positive. In case-control, every third run, the labelled rows are no part of the
population. Printed: how often 95% intervals hold and how wide they are, by mechanism, by how well labels are separated
(d, the separation that random labels would imply), by tilt, and in all, mechanisms counting alike.

Nothing is to be chosen by looking at these figures alone: they stand in for ways of labelling that nobody has measured.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
import zlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402  (threads are counted when it is imported)
from sklearn.cluster import KMeans  # noqa: E402
from sklearn.datasets import load_breast_cancer, load_digits  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402

from pulens.research.benchmark.wild import METRICS, WildProblem, _out_of_fold, coverage, judge, models  # noqa: E402
from pulens.scenario import Scenario  # noqa: E402

MOST_ROWS, FEWEST, MOST_LABELS = 3000, 20, 1000
TABLES = {
    "spambase": lambda y: y == 1,
    "grid_stability": lambda y: y == 1,
    "letter": lambda y: y < 13,
    "pendigits": lambda y: y <= 2,
    "shuttle": lambda y: y > 1,
    "page_blocks": lambda y: y > 1,
    "wine_quality": lambda y: y >= 7,
    "landsat": lambda y: y >= 4,
    "avila": lambda y: y == 0,
    "pima": lambda y: y == 1,
    "concrete": lambda y: y > y.mean(),
    "boston_housing": lambda y: y > y.mean(),
    "gas_drift_8of10": lambda y: y <= 2,
    "breast_cancer": lambda y: y == 0,
    "digits": lambda y: y % 2 == 0,
}


@cache
def read(folder, table):
    """Standardised features, classes as the table has them, and who is positive."""
    if table in ("breast_cancer", "digits"):
        X, y = (load_breast_cancer if table == "breast_cancer" else load_digits)(return_X_y=True)
    else:
        with np.load(Path(folder) / f"{table}.npz") as stored:
            parts = ["X", "y"] if "X" in stored.files else None
            X, y = (stored[k] for k in parts) if parts else (
                np.concatenate([stored[f"{k}_train"], stored[f"{k}_test"]]) for k in "Xy"
            )  # fmt: skip
    X = np.asarray(X, float)
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9), np.asarray(y), np.asarray(TABLES[table](y))


def ranks(values):
    """From 0 to 1."""
    return np.argsort(np.argsort(values)) / max(values.size - 1, 1)


class Rows:
    """What mechanisms may look at: the rows of one run."""

    def __init__(self, X, classes, truth, rng):
        self.X, self.classes, self.truth, self.rng = X, classes, truth, rng
        self.positive = np.flatnonzero(truth)

    def model(self, share):
        """How likely positives are positive, by a regression on the truth that sees some of the features."""
        seen = self.rng.permutation(self.X.shape[1])[: max(1, round(share * self.X.shape[1]))]
        fitted = LogisticRegression(max_iter=200).fit(self.X[:, seen], self.truth)
        return fitted.decision_function(self.X[:, seen])

    def rank(self, values):
        """Of positives, from 0 to 1."""
        return ranks(values[self.positive])

    def feature(self, *, telling):
        """The feature that tells the classes apart most, or least."""
        apart = np.abs(self.X[self.truth].mean(axis=0) - self.X[~self.truth].mean(axis=0))
        which = int(np.argmax(apart) if telling else np.argmin(apart))
        return self.X[:, which] * np.sign(self.X[self.truth, which].mean() - self.X[~self.truth, which].mean() + 1e-12)

    def near(self, centres):
        """How near positives are to the nearest of some rows."""
        own = self.X[self.positive]
        return -np.min([((own - self.X[one]) ** 2).sum(axis=1) for one in centres], axis=0)

    def kind(self):
        """Of positives: those of one class, or of one cluster where the positives have one class only."""
        own = self.classes[self.positive]
        if np.unique(own).size < 2 or own.dtype.kind == "f":
            own = KMeans(3, n_init=1, random_state=0).fit_predict(self.X[self.positive])
        names, many = np.unique(own, return_counts=True)
        return own == self.rng.choice(names[many >= min(FEWEST, many.max())])


def unanimous(rows):
    votes = [rows.model(1 / 3)[rows.positive] > 0 for _ in range(3)]
    return np.all(votes, axis=0) + 1e-6


# how likely each positive is to be labelled, up to a constant
MECHANISMS = {
    "random": lambda r: np.ones(r.positive.size),
    "top of another model's score": lambda r: np.exp(40 * r.rank(r.model(0.5))),
    "steep in the posterior": lambda r: np.exp(6 * r.rank(r.model(1.0))),
    "mild in the posterior": lambda r: np.exp(2 * r.rank(r.model(1.0))),
    "hard ones first": lambda r: np.exp(-1.5 * r.rank(r.model(1.0))),
    "one sub-class": lambda r: r.kind() + 1e-9,
    "mostly one sub-class": lambda r: r.kind() + 0.1,
    "near duplicates": lambda r: np.exp(20 * ranks(r.near(r.rng.choice(r.positive, 5)))),
    "some clusters": lambda r: np.isin(
        KMeans(6, n_init=1, random_state=0).fit_predict(r.X[r.positive]), r.rng.choice(6, 2, replace=False)
    )
    + 1e-6,
    "noisy threshold on a feature": lambda r: 1 / (1 + np.exp(-8 * (r.rank(r.feature(telling=True)) - 0.6))),
    "sharp threshold on a feature": lambda r: (r.rank(r.feature(telling=True)) > 0.6) + 1e-6,
    "self-selection": lambda r: np.exp(3 * r.rank(r.feature(telling=False))),
    "two stages": lambda r: (r.rank(r.model(0.3)) > 0.6) + 0.02,
    "unanimous votes": unanimous,
    "far from the negatives": lambda r: np.exp(
        8 * ranks(((r.X[r.positive] - r.X[~r.truth].mean(axis=0)) ** 2).sum(axis=1))
    ),
    "half random, half top": lambda r: 1 + 1e3 * (r.rank(r.model(1.0)) > 0.8),
}  # fmt: skip


def problem(folder, table, mechanism, run, seed):
    """One run as a problem with a truth; ``None`` where the table has too few positives."""
    X, classes, truth = read(folder, table)
    rng = np.random.default_rng([seed, run, zlib.crc32(f"{table} {mechanism}".encode())])
    kept = rng.permutation(truth.size)[:MOST_ROWS]
    rows = Rows(X[kept], classes[kept], truth[kept], rng)
    case_control = rng.random() < 1 / 3
    most = min(MOST_LABELS, int(rows.positive.size * (0.4 if case_control else 0.85)))
    if most < FEWEST:
        return None
    many = round(float(np.exp(rng.uniform(np.log(FEWEST), np.log(most)))))
    weights = np.asarray(MECHANISMS[mechanism](rows), float)
    # the largest of exponential clocks: a draw without replacement, in proportion to the weights
    first = np.argsort(rng.exponential(size=weights.size) / weights)[:many]
    labelled = np.zeros(kept.size, bool)
    labelled[rows.positive[first]] = True
    model = ("logistic", "boosting")[run % 2]
    scores = _out_of_fold(models()[model], rows.X, labelled, None)
    scenario = Scenario.CASE_CONTROL if case_control else Scenario.SINGLE_SET
    return WildProblem(table, mechanism, model, scenario, scores, labelled, rows.truth)


def one(job):
    folder, table, mechanism, run, seed, labelling = job
    warnings.simplefilter("ignore")
    made = problem(folder, table, mechanism, run, seed)
    if made is None:
        return []
    facts = {"d": made.separation, "tilt": made.tilt, "run": run, "scenario": str(made.scenario)}
    return [(row, facts) for row in judge(made, labelling)]


def table_of(title, groups):
    head = "".join(f"{name:>12}" for name in ("ROC AUC", "AP", "precision", "recall", "F1"))
    print(f"\n{title:<34}{'runs':>5}{head}")
    for name, rows in groups:
        told = coverage([row for row, _ in rows])
        cells = "".join(f"{100 * told[m]['holds']:>6.0f} {told[m]['width']:.3f}" for m in METRICS)
        print(f"{name:<34}{len(rows) // len(METRICS):>5}{cells}")


def between(rows, fact, edges):
    for low, high in pairwise(edges):
        own = [(replace(row, family="all"), facts) for row, facts in rows if low <= facts[fact] < high]
        if own:
            yield f"{fact} {low:g} to {high:g}", own


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="")
    parser.add_argument("--runs", type=int, default=1, help="of each table and mechanism")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--labelling", default="practice")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out")
    asked = parser.parse_args()
    jobs = [
        (asked.data, table, mechanism, run, asked.seed, asked.labelling)
        for table in asked.tables
        for run in range(asked.runs)
        for mechanism in MECHANISMS
    ]
    if asked.processes > 1:
        with ProcessPoolExecutor(asked.processes) as pool:
            rows = [each for found in pool.map(one, jobs) for each in found]
    else:
        rows = [each for job in jobs for each in one(job)]
    if asked.out:
        Path(asked.out).write_text("".join(json.dumps({**asdict(row), **facts}) + "\n" for row, facts in rows))
    named = [(name, [each for each in rows if each[0].family == name]) for name in MECHANISMS]
    table_of("percent that hold, mean width", [*((n, own) for n, own in named if own), ("all, mechanisms alike", rows)])
    table_of("by separation", between(rows, "d", (-9, 1, 2, 2.5, 3, 9)))
    table_of("by tilt", between(rows, "tilt", (-9, 0, 2, 4, 6, 99)))
    for metric, told in coverage([row for row, _ in rows]).items():
        print(f"{metric}: mean error {told['error']:.3f}, uncorrected {told['uncorrected']:.3f}")


if __name__ == "__main__":
    main()
