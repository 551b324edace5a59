"""How well each estimator finds the class prior: simulated worlds with known truth, and real tables made PU.

    python benchmarks/priors.py [--quick] [--seed 0] [--tables FOLDER] [--only simulated|noise|tables]

Errors are against the realised share of positives among the unlabelled rows. A world is identifiable when some
region of scores holds positives and (in the limit) no negatives; otherwise nothing but a shape assumption can tell
the class prior from the limit printed as feasible. FOLDER holds the .npz tables (default: ../shared/data or
$PULENS_SHARED/data); without it only simulated worlds are run.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from pulens.counts.tally import Tally
from pulens.priors import feasible_range, find, names, with_noise
from pulens.testing import PRIOR_WORLDS

PRIORS, LABELLED, UNLABELLED, NOISES = (
    (0.02, 0.05, 0.1, 0.2, 0.4, 0.6),
    (100, 500, 5000),
    (1000, 10_000, 100_000),
    (0, 0.05, 0.25),
)


class Record:
    """Errors, hits and times, one line per estimator and data set."""

    def __init__(self):
        self.lines = []

    def add(self, tally, truth, known_noise, estimators, **keys):
        feasible = feasible_range(tally, label_noise=known_noise)
        for name in estimators:
            facts = find(name)
            start = time.process_time()
            result = facts.compute(tally, label_noise=known_noise)
            spent = time.process_time() - start
            covered = result.low <= truth <= result.high if facts.has_interval else None
            width = result.high - result.low if facts.has_interval else None
            self.lines.append(
                {**keys, "estimator": name, "error": result.value - truth, "covered": covered, "width": width,
                 "feasible": truth in feasible, "seconds": spent}
            )  # fmt: skip

    def where(self, **keys):
        kept = Record()
        kept.lines = [line for line in self.lines if all(line[key] in wanted for key, wanted in keys.items())]
        return kept

    def mean(self, value, by=("estimator",)):
        groups = defaultdict(list)
        for line in self.lines:
            number = value(line)
            if number is not None:
                groups[tuple(line[key] for key in by)].append(number)
        return {key: float(np.mean(numbers)) for key, numbers in groups.items()}


def absolute(line):
    return abs(line["error"])


def table(record, column, title):
    """Mean absolute error, one line per estimator, one column per value of a key."""
    by_column = record.mean(absolute, ("estimator", column))
    overall = record.mean(absolute)
    columns = list(dict.fromkeys(line[column] for line in record.lines))
    print(f"\n{title}: mean absolute error")
    print(f"{'':18}" + "".join(f"{c!s:>16}" for c in columns) + f"{'all':>9}")
    for (name,), value in sorted(overall.items(), key=lambda item: item[1]):
        print(f"{name:18}" + "".join(f"{by_column[name, c]:16.3f}" for c in columns) + f"{value:9.4f}")


def summary(record, title):
    error, bias = record.mean(absolute), record.mean(lambda line: line["error"])
    covered, width = record.mean(lambda line: line["covered"]), record.mean(lambda line: line["width"])
    seconds = record.mean(lambda line: line["seconds"])
    print(f"\n{title} ({len(record.lines) // len(error)} data sets)")
    print(f"{'':18}{'MAE':>8}{'bias':>9}{'coverage':>10}{'width':>8}{'ms':>8}")
    for (name,), value in sorted(error.items(), key=lambda item: item[1]):
        held = f"{covered[name,]:10.3f}{width[name,]:8.3f}" if (name,) in covered else f"{'-':>10}{'-':>8}"
        print(f"{name:18}{value:8.4f}{bias[name,]:+9.4f}{held}{1000 * seconds[name,]:8.1f}")


def verdict(record, cell, title):
    """Whether auto has the lowest error overall and how often it is the worst in a cell."""
    overall = record.mean(absolute)
    by_cell = record.mean(absolute, ("estimator", *cell))
    cells = {key[1:] for key in by_cell}
    worst = sum(max(overall, key=lambda n: by_cell[n[0], *c]) == ("auto",) for c in cells)
    best = sum(min(overall, key=lambda n: by_cell[n[0], *c]) == ("auto",) for c in cells)
    ranks = sorted(overall, key=lambda key: overall[key])
    place = ranks.index(("auto",)) + 1
    other = ranks[0] if place > 1 else ranks[1]
    feasible = np.mean([line["feasible"] for line in record.lines])
    print(
        f"\nauto, {title}: mean absolute error {overall['auto',]:.4f}, place {place} of {len(ranks)} "
        f"({other[0]} {overall[other]:.4f}); best in {best}, worst in {worst} of {len(cells)} cells "
        f"({', '.join(cell)}); feasible range holds the truth in {feasible:.4f}"
    )


def run_simulated(seed, quick, repetitions):
    rng = np.random.default_rng(seed)
    record = Record()
    priors, labelled, unlabelled, noises = PRIORS, LABELLED, UNLABELLED, NOISES
    if quick:
        priors, labelled, unlabelled, noises = (0.05, 0.4), (100, 500), (1000, 10_000), (0, 0.25)
    for world, prior, n, m, noise in itertools.product(PRIOR_WORLDS, priors, labelled, unlabelled, noises):
        for _ in range(repetitions):
            tally, truth, share = PRIOR_WORLDS[world].draw(prior, n, m, rng, noise)
            record.add(
                tally, truth, share, names(), world=world, prior=prior, n=n, m=m, noise=noise,
                identifiable=PRIOR_WORLDS[world].identifiable,
            )  # fmt: skip
    sure = record.where(identifiable=(True,))
    for column in ("world", "prior", "n", "m", "noise"):
        table(record, column, f"by {column}")
    summary(record, "all worlds, label noise known")
    summary(sure, "identifiable worlds, label noise known")
    summary(sure.where(noise=(0,)), "identifiable worlds, clean labels")
    covered = sure.where(estimator=("auto",))
    for column in ("world", "prior", "n", "m", "noise"):
        held = covered.mean(lambda line: line["covered"], (column,))
        print(f"auto's 95% interval by {column}: " + ", ".join(f"{k[0]} {v:.3f}" for k, v in held.items()))
    verdict(record, ("world", "prior", "noise"), "all worlds")
    verdict(sure, ("world", "prior", "noise"), "identifiable worlds")


def run_noise(seed, quick, repetitions):
    """Class prior and label noise estimated together; the recovered AUC depends on their difference."""
    rng = np.random.default_rng(seed + 1)
    errors = defaultdict(list)
    held = defaultdict(list)
    worlds = [name for name, world in PRIOR_WORLDS.items() if world.identifiable]
    sizes = ((500, 10_000),) if quick else ((100, 1000), (500, 10_000), (5000, 50_000))
    for world, prior, noise, (n, m) in itertools.product(worlds, (0.05, 0.1, 0.3), NOISES, sizes):
        for _ in range(repetitions):
            tally, truth, share = PRIOR_WORLDS[world].draw(prior, n, m, rng, noise)
            for name in with_noise.names():
                start = time.process_time()
                result = with_noise.find(name).compute(tally)
                spent = time.process_time() - start
                a, e = result.unlabelled_prior, result.label_noise
                errors[name].append(
                    (noise, abs(a.value - truth), abs(e.value - share), a.value + e.value - truth - share, spent)
                )
                if a.low is not None:
                    held[name].append((noise, a.low <= truth <= a.high, e.low <= share <= e.high))
    print("\nclass prior and label noise estimated together, identifiable worlds: mean absolute error")
    print(
        f"{'':12}{'prior':>8}{'noise':>8}{'contrast':>10}{'ms':>7}   contrast at noise " + ", ".join(map(str, NOISES))
    )
    for name, lines in sorted(errors.items(), key=lambda item: np.mean([abs(line[3]) for line in item[1]])):
        array = np.array(lines)
        by_noise = [np.abs(array[array[:, 0] == noise, 3]).mean() for noise in NOISES]
        print(
            f"{name:12}{array[:, 1].mean():8.4f}{array[:, 2].mean():8.4f}{np.abs(array[:, 3]).mean():10.4f}"
            f"{1000 * array[:, 4].mean():7.1f}   " + ", ".join(f"{value:.4f}" for value in by_noise)
        )
    for name, lines in held.items():
        array = np.array(lines, float)
        print(
            f"{name}: 95% intervals hold the class prior in {array[:, 1].mean():.3f}, "
            f"the label noise in {array[:, 2].mean():.3f}"
        )


BINARY = {
    "pendigits": lambda y: y <= 2,
    "spambase": lambda y: y == 1,
    "landsat": lambda y: y == 7,
    "wine_quality": lambda y: y >= 6,
    "page_blocks": lambda y: y > 1,
    "letter": lambda y: y < 13,
    "grid_stability": lambda y: y == 1,
    "connect4": lambda y: y == y[0],
}


def load(folder, name):
    arrays = np.load(folder / f"{name}.npz")
    if "X" in arrays:
        features, classes = arrays["X"], arrays["y"]
    else:
        features = np.concatenate([arrays["X_train"], arrays["X_test"]])
        classes = np.concatenate([arrays["y_train"], arrays["y_test"]])
    if name == "connect4":
        features = np.concatenate([features == level for level in range(3)], axis=1)
    return features.astype(float), BINARY[name](classes)


def models(seed):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        "forest": RandomForestClassifier(50, min_samples_leaf=5, random_state=seed),
        "network": make_pipeline(
            StandardScaler(), MLPClassifier((16,), max_iter=60, early_stopping=True, random_state=seed)
        ),
    }


def run_tables(seed, quick, folder):
    import warnings

    from pulens.priors.from_features import out_of_fold_scores

    warnings.filterwarnings("ignore", category=UserWarning)  # networks stopped early say so
    rng = np.random.default_rng(seed + 2)
    record = Record()
    for name in list(BINARY)[: 2 if quick else None]:
        features, is_positive = load(folder, name)
        for prior, n in itertools.product((0.05, 0.2, 0.5), (100,) if quick else (200,)):
            m = 1800
            positives = round(prior * m)
            chosen = rng.permutation(np.flatnonzero(is_positive))
            others = rng.permutation(np.flatnonzero(~is_positive))
            if chosen.size < n + positives or others.size < m - positives:
                continue
            rows = np.concatenate([chosen[: n + positives], others[: m - positives]])
            labels = np.repeat([1, 0], [n, m])
            for model_name, model in models(seed).items():
                scores = out_of_fold_scores(model, features[rows], labels, seed=seed)
                record.add(
                    Tally.from_arrays(labels, scores), positives / m, 0.0, names(), table=name, model=model_name,
                    prior=prior, n=n,
                )  # fmt: skip
    for column in ("table", "model", "prior"):
        table(record, column, f"real tables by {column}")
    summary(record, "real tables, out-of-fold scores")
    verdict(record, ("table", "prior"), "real tables")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--only", choices=("simulated", "noise", "tables"))
    chosen = parser.parse_args()
    start = time.perf_counter()
    if chosen.only in (None, "simulated"):
        run_simulated(chosen.seed, chosen.quick, chosen.repetitions)
    if chosen.only in (None, "noise"):
        run_noise(chosen.seed, chosen.quick, chosen.repetitions)
    if chosen.only in (None, "tables"):
        root = Path(__file__).resolve().parents[1]
        candidates = [chosen.tables] if chosen.tables else [
            Path(os.environ["PULENS_SHARED"]) / "data" if "PULENS_SHARED" in os.environ else None,
            root.parent / "shared" / "data",
            root.parent.parent / "shared" / "data",
        ]  # fmt: skip
        folder = next((c for c in candidates if c is not None and c.is_dir()), None)
        if folder is None:
            print("\nno folder of tables found: give --tables FOLDER")
        else:
            run_tables(chosen.seed, chosen.quick, folder)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
