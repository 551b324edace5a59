"""Does any learner collapse with its defaults? Every table, class priors from .05 to .6.

python benchmarks/no_collapse.py --data FOLDER --out cells.jsonl                # all learners, tables, priors
python benchmarks/no_collapse.py --data FOLDER --out cells.jsonl --learners nnpu upu --priors .05 .6
python benchmarks/no_collapse.py --out cells.jsonl --show                       # what collapsed, from what was run

A cell is a learner on a table whose rows were drawn so that the class prior is as said, 30% of the positives labelled
(20 at least), single set, the class prior given (``--estimated``: left to the learner). A cell has collapsed where

- all test rows have the same score, or
- the AUC is below halfway between one half and that of plain boosting of labelled against unlabelled rows, where that
  has .6 or more, or
- fewer rows are called positive, or negative, than a third of those that boosting told the true classes calls so, where
  that calls ten or more. (Where classes overlap and positives are rare, calling few of them is right.)

The last is about decisions, the others about scores. Cells that are in the file already are not repeated.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
import warnings
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402  (threads are counted when it is imported)

from tables import TABLES, boosting, read  # noqa: E402

PRIORS = (0.05, 0.1, 0.2, 0.4, 0.6)
LABELLED, FEWEST = 0.3, 20


def world(folder, table, prior, seed, rows):
    """Training rows with PU labels and hidden classes, and test rows with their truth, a share of them positive."""
    from pulens.inputs.categories import Encoding

    X, positive = read(folder, table)
    if hasattr(X, "iloc"):
        X = np.nan_to_num(Encoding.of(X)(X), nan=-1.0)
    rng = np.random.default_rng([seed, 3])
    ours, theirs = (rng.permutation(np.flatnonzero(kind)) for kind in (positive, ~positive))
    # twice as many rows as either kind allows at this share
    size = int(min(2 * rows, ours.size / prior, theirs.size / (1 - prior)))
    n = round(prior * size)
    chosen = rng.permutation(np.concatenate([ours[:n], theirs[: size - n]]))
    train, test = chosen[: size // 2], chosen[size // 2 :]
    own = rng.permutation(train[positive[train]])
    labelled = own[: min(own.size - 1, max(FEWEST, round(LABELLED * own.size)))]
    return X[train], np.isin(train, labelled).astype(int), positive[train], X[test], positive[test]


def verdict(truth, scores, told, plain_area):
    """What went wrong, in a word; empty where nothing did."""
    from sklearn.metrics import roc_auc_score

    if np.ptp(scores) == 0:
        return "constant"
    area = roc_auc_score(truth, scores)
    if plain_area >= 0.6 and area < 0.5 + (plain_area - 0.5) / 2:
        return "does not rank"
    for word, called, expected in (("positive", scores > 0, told), ("negative", scores <= 0, ~told)):
        if expected.sum() >= 10 and called.sum() < expected.sum() / 3:
            return f"calls too few {word}"
    return ""


def usable(name):
    """Learners that need PU labels only."""
    from pulens import learners

    return learners.facts(name).told == "nothing"


def run_one(folder, rows, estimated, table, prior, seed, names):
    """A line for every learner on one table at one class prior."""
    from sklearn.metrics import f1_score, roc_auc_score

    from pulens import learners

    X, labels, hidden, test, truth = world(folder, table, prior, seed, rows)
    share, told = float(hidden.mean()), boosting(seed).fit(X, hidden).predict(test)
    plain = boosting(seed).fit(X, labels).predict_proba(test)[:, 1]
    plain_area = float(roc_auc_score(truth, plain))
    for name in names:
        facts = learners.facts(name)
        options = {"random_state": seed, "device": "cpu", "progress": False, "n_jobs": 1}
        if not estimated:
            options["class_prior"] = share
        learner = facts.learner(**{key: value for key, value in options.items() if key in facts.settings})
        began, reason = time.process_time(), None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                learner.fit(X, labels)
                scores = np.asarray(learner.decision_function(test), float)
                said = verdict(truth, scores, told, plain_area)
                area, called = float(roc_auc_score(truth, scores)), float((scores > 0).mean())
                right, both = float(((scores > 0) == truth).mean()), float(f1_score(truth, scores > 0))
            except Exception as error:
                said, reason = "failed", f"{type(error).__name__}: {error}"[:200]
                area = called = right = both = None
        yield {
            "table": table,
            "learner": name,
            "prior": prior,
            "seed": seed,
            "rows": rows,
            "estimated": estimated,
            "labelled": int(labels.sum()),
            "class_prior": share,
            "auc": area,
            "auc_of_plain_boosting": plain_area,
            "accuracy": right,
            "f1": both,
            "accuracy_of_all_negative": float(1 - truth.mean()),
            "called": called,
            "called_by_boosting_told_the_truth": float(told.mean()),
            "seconds": time.process_time() - began,
            "collapsed": said,
            "reason": reason,
        }


KEY = ("table", "learner", "prior", "seed", "rows", "estimated")


def stored(path):
    place = Path(path)
    return [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()] if place.exists() else []


def run_all(given):
    done = {tuple(cell[part] for part in KEY) for cell in stored(given.out)}
    names = [name for name in given.learners if usable(name)]
    with Path(given.out).open("a", encoding="utf-8") as file:
        for seed, prior, table in itertools.product(range(given.seeds), given.priors, given.tables):
            wanted = [one for one in names if (table, one, prior, seed, given.rows, given.estimated) not in done]
            for cell in run_one(given.data, given.rows, given.estimated, table, prior, seed, wanted) if wanted else ():
                file.write(json.dumps(cell) + "\n")
                file.flush()


def show(cells):
    print(f"{len(cells):,} cells: {len({cell['table'] for cell in cells})} tables, ", end="")
    print(f"priors {sorted({cell['prior'] for cell in cells})}\n")
    print("| learner | cells | collapsed | how | mean AUC | plain boosting's | processor s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in sorted({cell["learner"] for cell in cells}):
        own = [cell for cell in cells if cell["learner"] == name]
        bad = [cell for cell in own if cell["collapsed"]]
        how = sorted({cell["collapsed"] for cell in bad})
        good = [cell for cell in own if cell["auc"] is not None]
        means = [100 * np.mean([cell[part] for cell in good]) for part in ("auc", "auc_of_plain_boosting")]
        seconds = np.mean([cell["seconds"] for cell in own])
        print(
            f"| {name} | {len(own)} | {len(bad)} | {', '.join(how)} | {means[0]:.1f} | {means[1]:.1f} | {seconds:.1f} |"
        )
    for cell in cells:
        if cell["collapsed"]:
            area = "" if cell["auc"] is None else f"AUC {cell['auc']:.2f} beside {cell['auc_of_plain_boosting']:.2f}, "
            told = cell["called_by_boosting_told_the_truth"]
            called = "" if cell["called"] is None else f"called {cell['called']:.3f} beside {told:.3f}"
            print(f"{cell['learner']} on {cell['table']} at {cell['prior']}: {cell['collapsed']} ({area}{called})")


def main():
    from pulens import learners

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--out", required=True)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--learners", nargs="+", default=list(learners.names()), choices=learners.names())
    parser.add_argument("--priors", nargs="+", type=float, default=list(PRIORS))
    parser.add_argument("--rows", type=int, default=1500, help="at most, for training; as many again for the test")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--estimated", action="store_true", help="leave the class prior to the learner")
    parser.add_argument("--show", action="store_true", help="print what collapsed from --out, and run nothing")
    given = parser.parse_args()
    if not given.show:
        run_all(given)
    show(stored(given.out))


if __name__ == "__main__":
    main()
