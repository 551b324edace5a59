"""Learners on ordinary tables, with hidden truth: accuracy, AUC, F1, calibration error and processor seconds.

python benchmarks/tables.py --data FOLDER --out runs.jsonl                  # 3 seeds, a few conditions, one process
python benchmarks/tables.py --data FOLDER --out runs.jsonl --seeds 10 --processes 16 \
    --frequencies .05 .1 .3 .5 --scenarios single-set case-control --priors known estimated
python benchmarks/tables.py --data FOLDER --out runs.jsonl --study --processes 16 --seconds 260
python benchmarks/tables.py --out runs.jsonl --show                         # the table, from what was run

FOLDER holds spambase.npz, bank_marketing.parquet and so on (X and y, or X_train, y_train, X_test, y_test). Every run is
a line of JSON that is appended when it is done; runs that are there already are not repeated. ``CHOSEN_ON`` are the
tables on which BoostedPU's settings were chosen; what is claimed is read from the others. ``--study`` runs the
conditions of ``STUDY``, most important first, and starts nothing more once its seconds are over.

Learners of pulearn and pu-toolbox (``peers/tables.py``) have rows where these packages are installed.

How far is there to go? The *way* of a condition leads from the best learner but BoostedPU to boosting told the truth,
means over tables; BoostedPU's share of it is printed, with its error by leaving out one table after the other. Errors
behind means are those of the mean over these very tables, from the spread of seeds; behind what a learner is ahead of
BoostedPU, on the runs that both have, they are over tables. Truth is out of reach: at a row with P(positive) = p a PU
label (1 with probability cp) carries the share c(1-p)/(1-cp) of the Fisher information on the log-odds that the true
class carries, at p = 1/2 the share c/(2-c), 18% at c = .3. "Told the truth of c/(2-c) of the rows" is boosting told the
truth about a random part of this size, and nothing of the others: what labels are worth where classes meet.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402  (threads are counted when it is imported)

from peers.tables import PEERS, fit_and_score, installed  # noqa: E402

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


@cache
def read(folder, name):
    """Features, as a frame where some are categories, and who is positive."""
    import pandas as pd

    if name == "bank_marketing":
        frame = pd.read_parquet(Path(folder) / f"{name}.parquet")
        positive = TABLES[name](frame.pop("y").astype(str)).to_numpy()
        return frame, positive
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


NAIVE = "boosting at the quantile"
TRUTH = "boosting told the truth"
PART_OF_TRUTH = "boosting told the truth of c/(2-c) of the rows"
REFERENCES = (PART_OF_TRUTH, TRUTH)  # they are told what no learner knows, and are ranked nowhere


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
        PART_OF_TRUTH: lambda: boosting(seed),
        TRUTH: lambda: boosting(seed),
    }[name]()


OWN = (
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
)
LEARNERS = (*OWN, *PEERS, *REFERENCES)


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
    learner = None
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in PEERS:
            labelled = labels.mean() if scenario == "single-set" else 0.0
            other_share = (share - labelled) / (1 - labelled)  # of the unlabelled rows
            scores, called, are_chances = fit_and_score(name, X, labels, other_share, seed, boosting, test)
        else:
            learner = learner_of(name, share if prior == "known" else None, scenario, seed)
            if name in REFERENCES:
                told = _told(hidden, frequency, seed) if name == PART_OF_TRUTH else slice(None)
                learner.fit(X[told], hidden[told])
            else:
                learner.fit(X, labels)
            scores = np.asarray(learner.predict_proba(test)[:, 1], float)
            called, are_chances = scores > 0.5, True
    seconds = time.process_time() - began
    scores = np.nan_to_num(scores)
    return {
        "table": table,
        "learner": name,
        "seed": seed,
        "frequency": frequency,
        "scenario": scenario,
        "prior": prior,
        "rows": rows,
        "accuracy": float((called == truth).mean()),
        "auc": float(roc_auc_score(truth, scores)),
        "f1": float(f1_score(truth, called)),
        "calibration_error": calibration_error(truth, np.clip(scores, 0, 1)) if are_chances else None,
        "called": float(called.mean()),
        "class_prior": share,
        "class_prior_used": getattr(learner, "class_prior_", None),
        "seconds": seconds,
    }


def _told(hidden, frequency, seed):
    """A random part of the rows, with both classes in it."""
    rng = np.random.default_rng([seed, 27])
    wanted = max(20, round(hidden.size * frequency / (2 - frequency)))
    order = rng.permutation(hidden.size)
    firsts = [order[hidden[order] == kind][:2] for kind in (True, False)]
    return np.unique(np.concatenate([order[:wanted], *firsts]))


KEY = ("table", "learner", "seed", "frequency", "scenario", "prior", "rows")
# learners that take part in every condition, and those that are too slow for more than a few seeds
MAIN = ("BoostedPU", "PUBagging, boosting", "PUET", "boosting at the quantile", *REFERENCES)
SLOW = (
    "NNPU",
    "pulearn BaggingPu, boosting",
    "pu-toolbox ElkanNoto, boosting",
    "pu-toolbox NonNegativePU",
    "pu-toolbox LDCE",
    "pu-toolbox InfoMaxPU",
    "pu-toolbox PUSBKernel",
)
TOO_SLOW = (("pulearn BaggingPu, boosting", "gas_drift_8of10"),)  # minutes on 128 columns
QUICK = tuple(name for name in LEARNERS if name not in SLOW)
# learners, seeds, label frequencies, scenarios, class priors; most important first
STUDY = (
    (QUICK, range(10), [0.3], ["single-set"], ["known"]),
    (SLOW[:4], range(2), [0.3], ["single-set"], ["known"]),
    (MAIN, range(3), [0.1, 0.5, 0.05], ["single-set"], ["known"]),
    (MAIN, range(3), [0.3], ["case-control"], ["known"]),
    (MAIN[:4], range(3), [0.3, 0.1], ["single-set"], ["estimated"]),
    (SLOW[:4], range(2, 10), [0.3], ["single-set"], ["known"]),
    (MAIN, range(3, 10), [0.1, 0.5, 0.05], ["single-set"], ["known"]),
    (MAIN, range(3, 10), [0.3], ["case-control"], ["known"]),
    (MAIN[:4], range(3), [0.3], ["case-control"], ["estimated"]),
    (SLOW[4:], range(1), [0.3], ["single-set"], ["known"]),
)


def wanted_runs(given):
    """What is asked for and not there yet: one condition after the other, seed by seed."""
    done = {tuple(run[part] for part in KEY) for run in stored(given.out)}
    asked = (given.learners, range(given.seeds), given.frequencies, given.scenarios, given.priors)
    result = {
        (table, name, seed, frequency, scenario, prior): None
        for learners, seeds, frequencies, scenarios, priors in (STUDY if given.study else (asked,))
        for prior, scenario, frequency, seed, table, name in itertools.product(
            priors, scenarios, frequencies, seeds, given.tables, learners
        )
        if (*(table, name, seed, frequency, scenario, prior), given.rows) not in done
        and name in given.learners
        and (name, table) not in TOO_SLOW
        and not (name in REFERENCES and prior != "known")  # they are told more than the prior
        and not (name in PEERS and (prior != "known" or not installed(name)))  # most peers cannot estimate it
    }
    print(f"{len(result):,} runs, {len(done):,} done before", flush=True)
    return [(given.data, given.rows, *one) for one in result]


def run_all(given):
    wanted = wanted_runs(given)
    began = time.time()
    until = began + given.seconds if given.seconds else float("inf")
    made = 0
    with Path(given.out).open("a", encoding="utf-8") as file:
        for run in _made(wanted, given.processes, until):
            file.write(json.dumps(run) + "\n")
            file.flush()
            made += "failed" not in run
    print(f"{made:,} of {len(wanted):,} runs in {time.time() - began:.0f} seconds", flush=True)


def _in_time(until, *one):
    """A run, its failure, or None once the time is over."""
    if time.time() > until:
        return None
    try:
        return run_one(*one)
    except Exception as error:  # a learner that cannot take a table must not end the study
        return dict(zip(("rows", *KEY[:-1]), one[1:], strict=True)) | {"failed": f"{type(error).__name__}: {error}"}


def _made(wanted, processes, until):
    if processes == 1:
        yield from (run for run in (_in_time(until, *one) for one in wanted) if run)
        return
    with ProcessPoolExecutor(processes) as pool:
        for future in as_completed([pool.submit(_in_time, until, *one) for one in wanted]):
            if future.result():
                yield future.result()


def stored(path):
    if not Path(path).exists():
        return []
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines() if line]


MEASURES = ("accuracy", "auc", "f1", "calibration_error", "seconds")


def show(runs):
    """Means per learner, on the tables that settings were chosen on and on the others."""
    failed = [run for run in runs if "failed" in run]
    runs = [run for run in runs if "failed" not in run]
    for prior, scenario, frequency in sorted({(run["prior"], run["scenario"], run["frequency"]) for run in runs}):
        here = [
            run
            for run in runs
            if (run["scenario"], run["frequency"]) == (scenario, frequency)
            and (run["prior"] == prior or run["learner"] in REFERENCES)
        ]
        for title, wanted in (
            ("tables that settings were chosen on", lambda table: table in CHOSEN_ON),
            ("tables that no choice was made on", lambda table: table not in CHOSEN_ON),
        ):
            part = [run for run in here if wanted(run["table"])]
            if part:
                _print(f"{scenario}, label frequency {frequency}, class prior {prior}, {title}", part)
    for run in failed:
        print(f"failed: {run['learner']} on {run['table']}, seed {run['seed']}: {run['failed'][:200]}")


def _print(title, runs):
    tables = sorted({run["table"] for run in runs})
    names = [name for name in LEARNERS if any(run["learner"] == name for run in runs)]
    means, errors = {}, {}
    for measure in MEASURES:
        each = [[_values(runs, name, table, measure) for table in tables] for name in names]
        means[measure] = np.array([[np.mean(one) if len(one) else np.nan for one in row] for row in each])
        errors[measure] = np.array([_standard_error(row) for row in each])
    seeds = [len({run["seed"] for run in runs if run["learner"] == name}) for name in names]
    own = [place for place, name in enumerate(names) if name not in REFERENCES]
    whole = max((seeds[place] for place in own), default=0)
    contest = [place for place in own if np.isfinite(means["auc"][place]).all() and seeds[place] == whole]
    ranks = {one: dict(zip(contest, _ranks(means[one][contest]), strict=True)) for one in ("accuracy", "auc")}
    print(f"\n## {title}: {', '.join(tables)}\n")
    print(
        "| learner | accuracy | AUC | F1 | calibration error | processor s | rank by accuracy | by AUC | seeds |",
        end="",
    )
    print(" accuracy against BoostedPU, same runs | AUC |")
    print("| --- |" + " --- |" * 10)
    for place, name in enumerate(names):
        cells = [_cell(means[one][place], errors[one][place]) for one in MEASURES[:-1]]
        ranked = [f"{ranks[one][place]:.1f}" if place in contest else "" for one in ("accuracy", "auc")]
        seconds = f"{np.nanmean(means['seconds'][place]):.1f}"
        ahead = [_ahead(runs, name, one) for one in ("accuracy", "auc")]
        print(f"| {name} | {' | '.join([*cells, seconds, *ranked, str(seeds[place]), *ahead])} |")
    _print_distance(names, means, contest)


def _ahead(runs, name, measure):
    """Mean over tables of what a learner is ahead of BoostedPU, on tables and seeds that both have."""
    own, its = (
        {(run["table"], run["seed"]): run[measure] for run in runs if run["learner"] == one}
        for one in ("BoostedPU", name)
    )
    both = own.keys() & its.keys()
    tables = sorted({table for table, _ in both})
    if name == "BoostedPU" or len(tables) < 2:
        return ""
    gains = [100 * np.mean([its[one] - own[one] for one in both if one[0] == table]) for table in tables]
    return f"{np.mean(gains):+.1f} ({np.std(gains, ddof=1) / len(gains) ** 0.5:.1f})"


def _print_distance(names, means, contest):
    """How much of the way from the best other learner to the truth BoostedPU goes; tables are what errors count."""
    if TRUTH not in names or "BoostedPU" not in names or len(contest) < 2:
        return
    for measure in ("accuracy", "auc"):
        level = {names[place]: 100 * means[measure][place] for place in contest}
        own, truth = level.pop("BoostedPU"), 100 * means[measure][names.index(TRUTH)]
        best = max(level, key=lambda name: level[name].mean())
        gain, way = own - level[best], truth - level[best]
        tables = gain.size
        left_out = [
            np.delete(gain, place).mean() / np.delete(way, place).mean() for place in range(tables if tables > 1 else 0)
        ]
        spread = np.sqrt((tables - 1) / tables * ((left_out - np.mean(left_out)) ** 2).sum()) if left_out else np.nan
        error = gain.std(ddof=1) / tables**0.5 if tables > 1 else np.nan
        print(
            f"\n{measure}: BoostedPU {own.mean():.1f}, {gain.mean():+.2f} (standard error over tables {error:.2f}) "
            f"against the best other, {best}, ahead on {(gain > 0).sum()} of {tables} tables; "
            f"{100 * gain.mean() / way.mean():.0f}% ({100 * spread:.0f}) of the way to {truth.mean():.1f}",
            end="",
        )
        if NAIVE in level:
            plain = level[NAIVE].mean()
            print(f", {100 * (own.mean() - plain) / (truth.mean() - plain):.0f}% from {NAIVE}.", end="")
    print()


def _cell(means, error):
    if not np.isfinite(means).any():
        return ""
    return f"{100 * np.nanmean(means):.1f}" + (f" ({100 * error:.1f})" if np.isfinite(error) else "")


def _values(runs, name, table, measure):
    result = [run[measure] for run in runs if run["learner"] == name and run["table"] == table]
    return [value for value in result if value is not None]


def _standard_error(per_table):
    """Of a mean over these tables, from the spread of the seeds within each: tables are fixed, seeds are drawn."""
    if not per_table or any(len(one) < 2 for one in per_table):
        return np.nan
    return float(np.sqrt(sum(np.var(one, ddof=1) / len(one) for one in per_table)) / len(per_table))


def _ranks(values):
    from scipy.stats import rankdata

    return rankdata(-values, axis=0).mean(axis=1) if len(values) else []


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
    parser.add_argument("--study", action="store_true", help="the conditions of STUDY instead of those given")
    parser.add_argument("--seconds", type=float, help="start no run after so many")
    parser.add_argument("--show", action="store_true", help="print the tables from --out, and run nothing")
    given = parser.parse_args()
    if not given.show:
        run_all(given)
    show(stored(given.out))


if __name__ == "__main__":
    main()
