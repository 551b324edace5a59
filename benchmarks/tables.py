"""Learners on ordinary tables, with hidden truth: accuracy, AUC, F1, calibration error and processor seconds.

python benchmarks/tables.py --data FOLDER --out runs.jsonl                  # 3 seeds, a few conditions, one process
python benchmarks/tables.py --data FOLDER --out runs.jsonl --seeds 10 --processes 16 \
    --frequencies .05 .1 .3 .5 --scenarios single-set case-control --priors known estimated
python benchmarks/tables.py --out runs.jsonl --show                         # the table, from what was run

FOLDER holds spambase.npz, bank_marketing.parquet and so on (X and y, or X_train, y_train, X_test, y_test). Every run is
a line of JSON that is appended when it is done; runs that are there already are not repeated. ``CHOSEN_ON`` are the
tables on which BoostedPU's settings were chosen; what is claimed is read from the others.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402  (threads are counted when it is imported)

CHOSEN_ON = ("spambase", "grid_stability", "letter", "bank_marketing")
# file, and which of its targets are positive
TABLES = {
    "spambase": lambda y: y == 1,
    "grid_stability": lambda y: y == 1,
    "letter": lambda y: y < 13,
    "bank_marketing": lambda y: y == "yes",
    "pendigits": lambda y: y <= 2,
    "shuttle": lambda y: y > 1,
    "page_blocks": lambda y: y > 1,
    "wine_quality": lambda y: y >= 6,
    "landsat": lambda y: y >= 4,
    "avila": lambda y: y == 0,
    "mushroom": lambda y: y == 1,
    "connect4": lambda y: y == y.max(),
    "pima": lambda y: y == 1,
    "concrete": lambda y: y > y.mean(),
    "boston_housing": lambda y: y > y.mean(),
    "gas_drift_8of10": lambda y: y <= 2,
}
CATEGORIES = ("mushroom", "connect4")


def read(folder, name):
    """Features, as a frame where some are categories, and who is positive."""
    import pandas as pd

    if name == "bank_marketing":
        frame = pd.read_parquet(Path(folder) / f"{name}.parquet")
        return frame, TABLES[name](frame.pop("y").astype(str)).to_numpy()
    with np.load(Path(folder) / f"{name}.npz") as stored:
        parts = ("X", "y") if "X" in stored.files else None
        X, y = (
            (stored["X"], stored["y"])
            if parts
            else (np.concatenate([stored[f"{one}_train"], stored[f"{one}_test"]]) for one in "Xy")
        )
        names = [str(one) for one in stored["classes"]] if "classes" in stored.files else []
    positive = np.asarray(TABLES[name](y))
    if name == "connect4":
        positive = y == names.index("win")
    if name == "mushroom":
        positive = y == next(place for place, word in enumerate(names) if word.startswith("p"))
    if name == "avila":
        positive = y == names.index("A")
    if name in CATEGORIES:
        return pd.DataFrame({f"x{place}": column.astype(str) for place, column in enumerate(X.T)}).astype(
            "category"
        ), positive
    return X.astype(float), positive


def problem(folder, table, seed, frequency, scenario, rows):
    """Training rows with PU labels, their truth and class prior, and test rows with their truth."""
    X, positive = read(folder, table)
    rng = np.random.default_rng([seed, 26])
    order = rng.permutation(positive.size)
    size = min(rows, int(0.65 * positive.size))
    train, test = order[:size], order[size : size + rows]
    labelled = rng.permutation(train[positive[train]])
    labelled = labelled[: max(5, round(frequency * labelled.size))]
    if scenario == "single-set":
        chosen, labels = train, np.isin(train, labelled).astype(int)
    else:  # collected apart: the unlabelled rows are the whole sample
        chosen, labels = np.concatenate([labelled, train]), np.repeat([1, 0], [labelled.size, size])
    take = (lambda places: X.iloc[places].reset_index(drop=True)) if hasattr(X, "iloc") else X.__getitem__
    return take(chosen), labels, positive[chosen], float(positive[train].mean()), take(test), positive[test]


def boosting(seed):
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


class AtQuantile:
    """Boosting of labelled against unlabelled rows, cut where the right share of the rows lies above."""

    def __init__(self, class_prior, scenario, seed):
        self.class_prior, self.scenario, self.seed = class_prior, scenario, seed

    def fit(self, X, labels):
        from pulens.learners import NaiveClassifier

        options = {"class_prior": self.class_prior, "scenario": self.scenario, "random_state": self.seed}
        self.model = NaiveClassifier(boosting(self.seed), cut="quantile", **options).fit(X, labels)
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(X)


def learner_of(name, prior, scenario, seed):
    """The learner with its defaults; ``prior`` is a number or None for an estimate."""
    from pulens import learners

    options = {"class_prior": "auto" if prior is None else prior, "scenario": scenario, "random_state": seed}
    own = {**options, "class_prior": prior}  # these estimate the label frequency themselves
    networks = {**options, "device": "cpu", "progress": False}
    return {
        "BoostedPU": lambda: learners.BoostedPU(**options),
        "NNPU": lambda: learners.NNPU(**networks),
        "ElkanNoto": lambda: learners.ElkanNoto(**own),
        "WeightedElkanNoto": lambda: learners.WeightedElkanNoto(**own),
        "ElkanNoto, boosting": lambda: learners.ElkanNoto(boosting(seed), **own),
        "WeightedElkanNoto, boosting": lambda: learners.WeightedElkanNoto(boosting(seed), **own),
        "PUBagging": lambda: learners.PUBagging(**options),
        "PUBagging, boosting": lambda: learners.PUBagging(boosting(seed), n_estimators=20, **options),
        "PUET": lambda: learners.PUET(**options),
        "boosting at the quantile": lambda: AtQuantile(options["class_prior"], scenario, seed),
        "boosting told the truth": lambda: boosting(seed),
    }[name]()


LEARNERS = (
    "BoostedPU",
    "NNPU",
    "ElkanNoto",
    "WeightedElkanNoto",
    "ElkanNoto, boosting",
    "WeightedElkanNoto, boosting",
    "PUBagging",
    "PUBagging, boosting",
    "PUET",
    "boosting at the quantile",
    "boosting told the truth",
)


def calibration_error(truth, chances, bins=15):
    """Mean gap between chance and share of positives, over bins of equal mass."""
    order = np.argsort(chances, kind="stable")
    parts = np.array_split(order, bins)
    return float(sum(abs(truth[part].sum() - chances[part].sum()) for part in parts) / truth.size)


def run_one(folder, rows, table, name, seed, frequency, scenario, prior):
    """One line: what a learner reaches in one condition."""
    from sklearn.metrics import f1_score, roc_auc_score

    from pulens.inputs.categories import Encoding

    X, labels, hidden, share, test, truth = problem(folder, table, seed, frequency, scenario, rows)
    if name != "BoostedPU" and hasattr(X, "iloc"):  # the others want numbers
        how = Encoding.of(X)
        X, test = np.nan_to_num(how(X), nan=-1.0), np.nan_to_num(how(test), nan=-1.0)
    learner = learner_of(name, share if prior == "known" else None, scenario, seed)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(X, hidden if name == "boosting told the truth" else labels)
        chances = np.asarray(learner.predict_proba(test)[:, 1], float)
    seconds = time.process_time() - began
    called = chances > 0.5
    return {
        "table": table,
        "learner": name,
        "seed": seed,
        "frequency": frequency,
        "scenario": scenario,
        "prior": prior,
        "rows": rows,
        "accuracy": float((called == truth).mean()),
        "auc": float(roc_auc_score(truth, chances)),
        "f1": float(f1_score(truth, called)),
        "calibration_error": calibration_error(truth, chances),
        "called": float(called.mean()),
        "class_prior": share,
        "class_prior_used": getattr(learner, "class_prior_", None),
        "seconds": seconds,
    }


KEY = ("table", "learner", "seed", "frequency", "scenario", "prior", "rows")


def run_all(given):
    done = {tuple(run[part] for part in KEY) for run in stored(given.out)}
    wanted = [
        (given.data, given.rows, *rest)
        for rest in itertools.product(
            given.tables, given.learners, range(given.seeds), given.frequencies, given.scenarios, given.priors
        )
        if (*rest, given.rows) not in done
        and not (rest[1] == "boosting told the truth" and rest[5] != "known")  # it is told more than the prior
    ]
    print(f"{len(wanted):,} runs, {len(done):,} done before", flush=True)
    with Path(given.out).open("a", encoding="utf-8") as file:
        for run in _made(wanted, given.processes):
            file.write(json.dumps(run) + "\n")
            file.flush()


def _made(wanted, processes):
    if processes == 1:
        yield from (run_one(*one) for one in wanted)
        return
    with ProcessPoolExecutor(processes) as pool:
        for future in as_completed([pool.submit(run_one, *one) for one in wanted]):
            yield future.result()


def stored(path):
    if not Path(path).exists():
        return []
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines() if line]


MEASURES = ("accuracy", "auc", "f1", "calibration_error", "seconds")


def show(runs):
    """Means per learner, over the tables that settings were chosen on and over the others; mean ranks on the latter."""
    for prior, scenario, frequency in sorted({(run["prior"], run["scenario"], run["frequency"]) for run in runs}):
        here = [
            run
            for run in runs
            if (run["scenario"], run["frequency"]) == (scenario, frequency)
            and (run["prior"] == prior or run["learner"] == "boosting told the truth")
        ]
        for title, wanted in (
            ("chosen on", lambda table: table in CHOSEN_ON),
            ("others", lambda table: table not in CHOSEN_ON),
        ):
            part = [run for run in here if wanted(run["table"])]
            if part:
                _print(f"{scenario}, label frequency {frequency}, class prior {prior}, {title}", part)


def _print(title, runs):
    tables = sorted({run["table"] for run in runs})
    names = [name for name in LEARNERS if any(run["learner"] == name for run in runs)]
    seeds = len({run["seed"] for run in runs})
    print(f"\n## {title}: {', '.join(tables)} ({seeds} seeds)\n")
    print("| learner | accuracy | AUC | F1 | calibration error | processor s | rank by accuracy | by AUC |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    means = {
        measure: np.array([[_mean(runs, name, table, measure) for table in tables] for name in names])
        for measure in MEASURES
    }
    contest = [place for place, name in enumerate(names) if name != "boosting told the truth"]
    ranks = {
        measure: _ranks(means[measure][contest]).mean(axis=1) if contest else [] for measure in ("accuracy", "auc")
    }
    for place, name in enumerate(names):
        row = [100 * np.nanmean(means[one][place]) for one in ("accuracy", "auc", "f1", "calibration_error")]
        ranked = [f"{ranks[one][contest.index(place)]:.1f}" if place in contest else "" for one in ("accuracy", "auc")]
        cells = [f"{value:.1f}" for value in row] + [f"{np.nanmean(means['seconds'][place]):.1f}", *ranked]
        print(f"| {name} | {' | '.join(cells)} |")


def _mean(runs, name, table, measure):
    values = [run[measure] for run in runs if run["learner"] == name and run["table"] == table]
    return np.mean(values) if values else np.nan


def _ranks(values):
    from scipy.stats import rankdata

    return rankdata(-values, axis=0, nan_policy="omit")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--out", required=True)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=LEARNERS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=4000, help="at most, for training; as many again for the test")
    parser.add_argument("--frequencies", nargs="+", type=float, default=[0.3])
    parser.add_argument("--scenarios", nargs="+", default=["single-set"], choices=["single-set", "case-control"])
    parser.add_argument("--priors", nargs="+", default=["known"], choices=["known", "estimated"])
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print the tables from --out, and run nothing")
    given = parser.parse_args()
    if not given.show:
        run_all(given)
    show(stored(given.out))


if __name__ == "__main__":
    main()
