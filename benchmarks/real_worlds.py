"""Do the intervals hold on real scores? Worlds made of real tables and real models, with the truth known.

    python benchmarks/real_worlds.py [--tables FOLDER] [--processes 2] [--samples 32] [--only prior|metrics|growth]
                                     [--quick] [--pools FILE] [--learn] [--lines FILE]

A world is a table, a target and a kind of model. The model is trained on PU labels of one half of the table; the
scores of the other half, with their true classes, are the pool. Samples are drawn from the pool with replacement:
50 to 1,500 labelled rows, 1,000 to 20,000 others, class priors from 0.02 to 0.6, half of them case-control, half
single-set. The truth is that of the pool at the class prior drawn.

`--learn` learns the constants of the default estimator's doubt (`pulens.priors._doubt`) leaving one table out at a
time, and reports each table with the constants learned on the others. FOLDER holds the tables (default:
../shared/data or $PULENS_SHARED/data).
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
import zlib
from collections import defaultdict
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import numpy as np

MOST_ROWS, FEWEST_POOLED = 8000, 60

# table: targets, each a rule for the classes
TABLES = {
    "avila": {"A": lambda y: y == 0, "E, F": lambda y: (y == 4) | (y == 5)},
    "bank_marketing": {"yes": lambda y: y == 1},
    "boston_housing": {"above mean": lambda y: y > y.mean()},
    "concrete": {"above mean": lambda y: y > y.mean()},
    "connect4": {"win": lambda y: y == 0, "loss": lambda y: y == 1},
    "elkan_noto_protein": {"transport": lambda y: y == 1},
    "fashion_mnist": {"tops": lambda y: np.isin(y, (0, 2, 4, 6)), "sneaker": lambda y: y == 7},
    "gas_drift_8of10": {"ethanol": lambda y: y == 1, "acetone": lambda y: y == 5},
    "grid_stability": {"stable": lambda y: y == 1},
    "imdb_minilm": {"positive": lambda y: y == 1},
    "landsat": {"class 7": lambda y: y == 7, "class 4 or more": lambda y: y >= 4, "class 1": lambda y: y == 1},
    "letter": {"A to M": lambda y: y < 13, "vowels": lambda y: np.isin(y, (0, 4, 8, 14, 20)), "B": lambda y: y == 1},
    "matching_tweets100k": {"match": lambda y: y == 1},
    "mnist": {"even": lambda y: y % 2 == 0, "three": lambda y: y == 3},
    "mushroom": {"poisonous": lambda y: y == 1},
    "newsgroups20_minilm": {"science": lambda y: (y >= 11) & (y <= 14), "talk": lambda y: y >= 15},
    "page_blocks": {"not text": lambda y: y > 1},
    "pendigits": {"0, 1, 2": lambda y: y <= 2, "even": lambda y: y % 2 == 0, "8": lambda y: y == 8},
    "pima": {"positive": lambda y: y == 1},
    "shuttle": {"not 1": lambda y: y > 1},
    "spambase": {"spam": lambda y: y == 1},
    "wine_quality": {"6 or more": lambda y: y >= 6, "7 or more": lambda y: y >= 7},
}
MODELS = ("logistic", "svm", "boosting", "forest", "bayes", "neighbours", "network")


class World(NamedTuple):
    """Scores of a model on rows that it has not seen, by their true class."""

    table: str
    target: str
    model: str
    positive: np.ndarray
    negative: np.ndarray

    @property
    def name(self):
        return f"{self.table}, {self.target}, {self.model}"

    @property
    def seed(self):
        return zlib.crc32(self.name.encode())


def load(folder, name):
    """Features, classes; or scores of somebody else's model."""
    if name == "bank_marketing":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(folder / f"{name}.parquet").to_pandas()
        classes = (table.pop("y") == "yes").to_numpy().astype(int)
        import pandas

        return _capped(pandas.get_dummies(table).to_numpy(float), classes)
    arrays = np.load(folder / f"{name}.npz")
    if "score" in arrays:
        return arrays["score"], arrays["y"]
    if name == "elkan_noto_protein":
        from scipy.sparse import csr_matrix
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfTransformer

        parts = (arrays["data"].astype(float), arrays["indices"], arrays["indptr"])
        counts = TfidfTransformer().fit_transform(csr_matrix(parts, shape=arrays["shape"]))
        return TruncatedSVD(60, random_state=0).fit_transform(counts), arrays["y"]
    if "X" in arrays:
        features, classes = _capped(arrays["X"], arrays["y"])
    else:
        features, classes = _capped(
            np.concatenate([arrays["X_train"], arrays["X_test"]]),
            np.concatenate([arrays["y_train"], arrays["y_test"]]),
        )
    if "levels" in arrays:  # category codes
        features = np.concatenate([features == level for level in range(int(features.max()) + 1)], axis=1)
    return features.reshape(len(features), -1).astype(float), classes


def _capped(features, classes):
    if classes.size <= MOST_ROWS:
        return features, classes
    rows = np.sort(np.random.default_rng(0).permutation(classes.size)[:MOST_ROWS])
    return features[rows], classes[rows]


def classifier(name):
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    scaled = partial(make_pipeline, StandardScaler())
    return {
        "logistic": lambda: scaled(LogisticRegression(max_iter=500)),
        "svm": lambda: scaled(LinearSVC(max_iter=3000)),
        "boosting": lambda: HistGradientBoostingClassifier(max_iter=100, random_state=0),
        "forest": lambda: RandomForestClassifier(100, min_samples_leaf=5, random_state=0),
        "bayes": lambda: GaussianNB(),
        "neighbours": lambda: scaled(KNeighborsClassifier(25)),
        "network": lambda: scaled(MLPClassifier((32,), max_iter=80, early_stopping=True, random_state=0)),
    }[name]()


def pool(folder, wanted):
    """One world; None where a class has too few pooled rows."""
    table, target, model = wanted
    warnings.filterwarnings("ignore")  # models that stopped early say so
    features, classes = load(folder, table)
    positive = TABLES[table][target](classes)
    if features.ndim == 1:
        return World(table, target, model, features[positive], features[~positive])
    rng = np.random.default_rng(zlib.crc32(f"{table}, {target}".encode()))
    order = rng.permutation(positive.size)
    train, rest = order[: order.size // 2], order[order.size // 2 :]
    labels = positive[train] & (rng.random(train.size) < rng.uniform(0.2, 0.6))
    fitted = classifier(model).fit(features[train], labels)
    if hasattr(fitted, "predict_proba"):
        scores = fitted.predict_proba(features[rest])[:, 1]
    else:
        scores = fitted.decision_function(features[rest])
    there = positive[rest]
    if min(there.sum(), (~there).sum()) < FEWEST_POOLED:
        return None
    return World(table, target, model, scores[there].astype(np.float32), scores[~there].astype(np.float32))


def pools(folder, processes, tables):
    wanted = [
        (table, target, model)
        for table in tables
        for target in TABLES[table]
        for model in (("svm",) if table.startswith("matching") else MODELS)
    ]
    with get_context("fork").Pool(processes) as workers:
        found = workers.map(partial(pool, folder), wanted, chunksize=1)
    return [world for world in found if world is not None]


class Sample(NamedTuple):
    labels: np.ndarray
    scores: np.ndarray
    scenario: str
    class_prior: float  # of the population
    unlabelled_prior: float
    label_frequency: float


def draw(world, rng, *, labelled=None, others=None, prior=None, scenario=None):
    """One sample from a world; what is not given is drawn."""
    scenario = scenario or str(rng.choice(["case-control", "single-set"]))
    prior = prior or float(np.exp(rng.uniform(np.log(0.02), np.log(0.6))))
    while True:
        n = labelled or round(float(np.exp(rng.uniform(np.log(50), np.log(1500)))))
        m = others or round(float(np.exp(rng.uniform(np.log(1000), np.log(20000)))))
        if scenario == "case-control":
            hidden, frequency = rng.binomial(m, prior), float("nan")
        else:  # m rows in all; the wanted number of labelled ones gives the label frequency
            frequency = n / (m * prior)
            if frequency > 0.8:
                if labelled:
                    raise ValueError("too few positives for so many labelled rows")
                prior_needed = n / (0.8 * m)
                if prior_needed > 0.6:
                    continue
                n = max(round(0.8 * m * prior * rng.uniform(0.1, 1)), 20)
                frequency = n / (m * prior)
                if frequency > 0.9:
                    continue
            positives = rng.binomial(m, prior)
            n = rng.binomial(positives, frequency)
            hidden = positives - n
            m = m - n
        if n >= 20:
            break
    above = rng.choice(world.positive, n + hidden)
    below = rng.choice(world.negative, m - hidden)
    labels = np.repeat([1, 0], [n, m])
    among = prior if scenario == "case-control" else prior * (1 - frequency) / (1 - prior * frequency)
    return Sample(labels, np.concatenate([above, below]), scenario, prior, among, frequency)


def save(worlds, path):
    """Pools in one file, so that they need not be trained again."""
    arrays = {}
    for place, world in enumerate(worlds):
        arrays |= {f"{place}+": world.positive, f"{place}-": world.negative}
    np.savez_compressed(path, names=np.array([world[:3] for world in worlds]), **arrays)


def restore(path):
    arrays = np.load(path)
    return [World(*map(str, name), arrays[f"{i}+"], arrays[f"{i}-"]) for i, name in enumerate(arrays["names"])]
