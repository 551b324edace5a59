"""Do intervals of scores out of fold hold what the kept model does on new rows? Real tables, few rows of each.

python benchmarks/fit_coverage.py --data FOLDER --out sets.jsonl --workers 16 --seconds 540   # appends a line per set
python benchmarks/fit_coverage.py --data FOLDER --out fresh.jsonl --tables fresh --rows 250 400 --learners boosted_pu
python benchmarks/fit_coverage.py --out sets.jsonl --show                                     # what is in the file

A set is a few rows of a table with hidden truth, 40% of whose positives are labelled (single set, class prior known).
``pulens.fit`` deals them into five folds, judges the scores of models that had not seen a row and keeps the model of
all rows. Every other row of the table, 6,000 at most, tells the truth: the same measure of the kept model, and the mean
of those of the fold models, whose scores the estimate was made of. Sets are dealt to tables and sizes in turn, so that
a run that is stopped by ``--seconds`` has as many of each. No more than a third of a table is trained on.

"plain" are intervals that take scores for given, as those of rows that no model was trained on; "fit" are what
``pulens.fit`` gives. ``ratio`` is the root mean square of (estimate - truth) / standard error, where the standard error
is what makes the plain interval: 1 where there is nothing but the draw of the rows. ``needed`` is how many times as
far from the value the plain ends must lie for 95% of the intervals to hold the truth: what ``pulens.fit``'s factor was
learned from (``pulens.fitting.training_noise``), and, without one table at a time, how well that carries to others.
``--tables fresh`` are tables that it was not learned from, five of them with more columns than 300 rows, three from
studies with real labels (``wild`` in FOLDER), of which only features and truth are taken. Labels are drawn at random,
so ``labelling="random"`` is what is judged.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402  (threads are counted when it is imported)

import tables  # noqa: E402

TABLES = (
    "spambase", "mushroom", "letter", "page_blocks", "pendigits", "landsat", "avila", "gas_drift_8of10", "connect4",
    "wine_quality",
)  # fmt: skip
WIDE = {
    "imdb_minilm": lambda y: y == 1,
    "newsgroups20_minilm": lambda y: y > 10,  # sci, soc and talk against alt, comp, misc and rec
    "mnist": lambda y: y % 2 == 1,
    "fashion_mnist": lambda y: np.isin(y, (0, 2, 3, 4, 6)),  # worn above the waist
}
PROTEINS, WORDS = "elkan_noto_protein", 500  # the words that most records hold
WILD = {"coat": "coat-rating-3", "satd": "satd-argouml", "nhanes_hypertension": "hypertension-2015-2016"}
FRESH = (*WIDE, PROTEINS, *WILD, "bank_marketing", "grid_stability", "shuttle", "pima", "concrete")
SIZES = (300, 1000, 3000)
QUICK = 1000  # rows, at most, of learners but the first
LABELLED = 0.4
MOST_TESTED = 6000
METRICS = ("roc_auc", "average_precision", "recall", "precision", "f1")
THRESHOLDS = {"fixed": 0.5, "chosen": None}
KEY = ("learner", "table", "rows", "seed")


def learner_of(name, seed):
    from pulens import learners

    facts = learners.facts(name)
    options = {"random_state": seed, "n_jobs": 1, "device": "cpu", "progress": False}
    return facts.learner(**{key: value for key, value in options.items() if key in facts.settings})


@cache
def read(folder, name):
    """Features and who is positive, as of ``tables.read``; wide tables and wild ones too."""
    if name in WILD:
        with np.load(Path(folder) / "wild" / f"{name}.npz") as stored:
            keys = next(one for one in json.loads(str(stored["worlds"])) if one["world"] == WILD[name])
            return stored[keys["X"]].astype(float), stored[keys["truth"]] == 1
    if name == PROTEINS:
        from scipy.sparse import csr_matrix

        with np.load(Path(folder) / f"{name}.npz") as stored:
            parts = stored["data"].astype(np.float32), stored["indices"], stored["indptr"]
            counts, positive = csr_matrix(parts, shape=stored["shape"]), stored["y"] == 1
        most = np.argsort(-np.bincount(counts.indices, minlength=counts.shape[1]), kind="stable")[:WORDS]
        return counts[:, np.sort(most)].toarray(), positive
    if name not in WIDE:
        return tables.read(folder, name)
    with np.load(Path(folder) / f"{name}.npz") as stored:
        X, y = (np.concatenate([stored[f"{one}_train"], stored[f"{one}_test"]]) for one in "Xy")
    return X.reshape(len(X), -1).astype(np.float32), np.asarray(WIDE[name](y))


def world(folder, table, rows, seed):
    """Rows to train on with their labels, the class prior, and other rows with their truth."""
    import pandas as pd

    X, positive = read(folder, table)
    rng = np.random.default_rng([seed, rows, 38])
    order = rng.permutation(positive.size)
    train, test = order[:rows], order[rows : rows + MOST_TESTED]
    labels = (positive[train] & (rng.random(rows) < LABELLED)).astype(int)
    frame = X if hasattr(X, "iloc") else pd.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
    first, others = (frame.iloc[places].reset_index(drop=True) for places in (train, test))
    return first, labels, float(positive.mean()), others, positive[test]


def true_values(truth, scores, threshold):
    from sklearn.metrics import average_precision_score, roc_auc_score

    called = scores >= threshold
    hit = float((called & truth).sum())
    recall, precision = hit / truth.sum(), hit / called.sum() if called.any() else np.nan
    both = 2 * hit / (called.sum() + truth.sum())
    areas = float(roc_auc_score(truth, scores)), float(average_precision_score(truth, scores))
    return dict(zip(METRICS, (*areas, float(recall), float(precision), float(both)), strict=True))


def run_one(folder, name, table, rows, seed):
    """A line: what fit says of one set, and what is true."""
    from dataclasses import replace

    import pulens
    from pulens.inference.kernels.resampling import Resampling
    from pulens.learning.fitting import door, folds

    X, labels, prior, test, truth = world(folder, table, rows, seed)
    fitted, usual = [], folds.fit_one

    def kept(*given):
        fitted.append(usual(*given))
        return fitted[-1]

    folds.fit_one = door.fit_one = kept  # the models of folds are nobody's to keep elsewhere
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            asked = {"method": learner_of(name, seed), "class_prior": prior, "seed": seed, "redraws": 1000}
            result = pulens.fit(X, labels, threshold=THRESHOLDS["fixed"], labelling="random", **asked)
            seconds = time.process_time() - began
            scores = [model.predict_proba(test[list(model[0].feature_names_in_)])[:, 1] for model in fitted]
    finally:
        folds.fit_one = door.fit_one = usual
    line = dict(zip(KEY, (name, table, rows, seed), strict=True))
    line |= {"labelled": int(labels.sum()), "features": int(np.shape(X)[1]), "class_prior": prior, "seconds": seconds}
    line["factor"] = result.evaluation.resampling.factor
    for choice, threshold in THRESHOLDS.items():
        evaluation = result.evaluation
        if threshold is None:
            evaluation = pulens.evaluate(
                labels, result.scores, class_prior=prior, redraws=1000, seed=seed, labelling="random"
            )
            evaluation = replace(evaluation, resampling=result.evaluation.resampling)
        each = [true_values(truth, own, evaluation.threshold) for own in scores]
        plain = replace(evaluation, resampling=Resampling(0.95, 1000, seed))
        for metric in METRICS:
            if choice == "chosen" and metric in ("roc_auc", "average_precision"):
                continue
            estimates = {"plain": plain.estimates[metric], "fit": evaluation.estimates[metric]}
            if any(one.interval is None for one in estimates.values()):
                continue
            line[f"{metric} {choice}"] = {
                "value": estimates["plain"].value,
                "kept": each[-1][metric],
                "folds": float(np.mean([one[metric] for one in each[:-1]])),
                **{which: [one.interval.low, one.interval.high] for which, one in estimates.items()},
            }
    return line


def stored(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run_all(given):
    done = {tuple(line[name] for name in KEY) for line in stored(given.out)}
    asked = itertools.product(range(given.first, given.first + given.sets), given.learners, given.tables, given.rows)
    keys = [
        (name, table, rows, seed) for seed, name, table, rows in asked if rows <= QUICK or name == given.learners[0]
    ]
    keys = [key for key in keys if key not in done and 3 * key[2] <= read(given.data, key[1])[1].size]
    end, waiting = time.monotonic() + given.seconds, iter(keys)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(given.workers, mp_context=context) as pool, given.out.open("a") as file:
        running = {pool.submit(run_one, given.data, *key) for key in itertools.islice(waiting, given.workers)}
        while running:
            ready = next(as_completed(running))
            running.remove(ready)
            try:
                file.write(json.dumps(ready.result()) + "\n")
                file.flush()
            except Exception as error:  # a set that cannot be judged must not end the others
                print(f"{type(error).__name__}: {error}", flush=True)
            following = next(waiting, None) if time.monotonic() < end else None
            if following is not None:
                running.add(pool.submit(run_one, given.data, *following))


def needed(one, target):
    """How many times as far from the value the plain interval's end must lie to hold the truth."""
    off, (low, high) = one[target] - one["value"], one["plain"]
    reach = high - one["value"] if off > 0 else one["value"] - low
    return abs(off) / reach if reach else np.inf if off else 0.0


def holds(one, which, target):
    return which in one and one[which][0] <= one[target] <= one[which][1]


def summary(lines):
    """One row per measure: coverage before and after of both targets, widths, the ratio and the bias."""
    for measure in dict.fromkeys(name for line in lines for name in line if isinstance(line[name], dict)):
        sets = [line[measure] for line in lines if np.isfinite(line.get(measure, {"kept": np.nan})["kept"])]
        if not sets:
            continue
        row = {"measure": measure, "sets": len(sets)}
        error = np.array([(one["plain"][1] - one["plain"][0]) / 3.92 for one in sets])
        for target in ("kept", "folds"):
            row[target] = [100 * np.mean([holds(one, which, target) for one in sets]) for which in ("plain", "fit")]
            off = np.array([one["value"] - one[target] for one in sets])
            row[f"{target} ratio"] = float(np.sqrt(np.mean((off[error > 0] / error[error > 0]) ** 2)))
            row[f"{target} bias"] = float(off.mean())
            row[f"{target} needed"] = float(np.quantile([needed(one, target) for one in sets], 0.95, method="higher"))
        row["width"] = [float(np.mean([one[which][1] - one[which][0] for one in sets])) for which in ("plain", "fit")]
        yield row


def without_a_table(lines):
    """What every measure has on each table with the factor that all measures on the other tables need."""
    held = {}
    for table in dict.fromkeys(line["table"] for line in lines):
        inside, outside = ([line for line in lines if (line["table"] == table) == own] for own in (True, False))
        needs = [needed(one, "kept") for line in outside for _, one in measured(line)]
        factor = float(np.quantile(needs, 0.95))
        held[table] = factor, [(name, needed(one, "kept") <= factor) for line in inside for name, one in measured(line)]
    return held


def measured(line):
    return [(name, one) for name, one in line.items() if isinstance(one, dict) and np.isfinite(one["kept"])]


def show_without_a_table(lines):
    if len({line["table"] for line in lines}) < 2:
        return
    held = without_a_table(lines)
    factors = [factor for factor, _ in held.values()]
    print(f"\nfactors that the other tables need: {min(factors):.2f} to {max(factors):.2f}; coverage with them")
    for table, (factor, result) in held.items():
        print(f"{table:<24}{factor:.2f} {100 * np.mean([hit for _, hit in result]):5.1f}")
    for measure in dict.fromkeys(name for _, result in held.values() for name, _ in result):
        hits = [hit for _, result in held.values() for name, hit in result if name == measure]
        print(f"{measure:<28} {100 * np.mean(hits):5.1f}")


def show(lines):
    def print_rows(title, part):
        print(f"\n{title}: {len(part)} sets, {np.mean([line['seconds'] for line in part]):.1f} s each")
        print("measure                 kept: plain  fit   folds: plain  fit   ratio needed  bias    width plain, fit")
        for row in summary(part):
            kept, theirs = ("{:10.1f} {:5.1f}".format(*row[target]) for target in ("kept", "folds"))
            widths = "{:.3f} {:.3f}".format(*row["width"])
            ratio, bias = row["kept ratio"], row["kept bias"]
            print(
                f"{row['measure']:<24}{kept}  {theirs}   {ratio:5.2f} {row['kept needed']:5.2f} {bias:+.4f}    {widths}"
            )

    for name in dict.fromkeys(line["learner"] for line in lines):
        own = [line for line in lines if line["learner"] == name]
        print_rows(f"{name}, all", own)
        show_without_a_table(own)
        for rows in sorted({line["rows"] for line in own}):
            print_rows(f"{name}, {rows} rows", [line for line in own if line["rows"] == rows])
        for table in dict.fromkeys(line["table"] for line in own):
            print_rows(f"{name}, {table}", [line for line in own if line["table"] == table])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the tables")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="seconds after which nothing more is started")
    parser.add_argument("--sets", type=int, default=1000, help="of each table and size, at most")
    parser.add_argument("--first", type=int, default=0, help="seed of the first set: others are other rows")
    parser.add_argument("--learners", nargs="+", default=["boosted_pu", "weighted_elkan_noto"])
    parser.add_argument("--tables", nargs="+", default=TABLES, help="names of tables, or fresh")
    parser.add_argument("--rows", nargs="+", type=int, default=SIZES)
    parser.add_argument("--show", action="store_true", help="only show what is in --out")
    given = parser.parse_args()
    given.tables = FRESH if given.tables == ["fresh"] else given.tables
    if not given.show:
        run_all(given)
    show(stored(given.out))


if __name__ == "__main__":
    main()
