"""Does any learner collapse with its defaults? Every table, class priors from .05 to .6.

python benchmarks/no_collapse.py --data FOLDER --out cells.jsonl --jobs 16      # all learners, tables, priors
python benchmarks/no_collapse.py --data FOLDER --out cells.jsonl --learners nnpu upu --priors .05 .6 --seeds 3
python benchmarks/no_collapse.py --data FOLDER --out cells.jsonl --part 1/4     # every fourth cell, from the second on
python benchmarks/no_collapse.py --data FOLDER --pack OTHER                     # the tables as numbers: --data OTHER
python benchmarks/no_collapse.py --out cells.jsonl --show                       # what collapsed, from what was run

A fit is a learner on a table whose rows were drawn so that the class prior is as said, 30% of the positives labelled
(20 at least), single set, the class prior given (``--estimated``: left to the learner). It is trained on few rows, and
judged on all others that the class prior allows, ``MOST_TESTED`` at most: with 30 positives to test on, an AUC has a
standard error of .05. A fit has collapsed where

- all test rows have the same score, or
- the AUC is below halfway between one half and that of plain boosting of labelled against unlabelled rows, where that
  has .6 or more, or
- fewer rows are called positive, or negative, than a third of those that should be, where these are at least
  ``FEWEST_CALLED`` of all. Should be: by boosting told the true classes, and by these very scores, cut where they get
  most test rows right. Where scores are weak and positives rare no cut beats "none is positive": calling few is right.

The last is about decisions, the others about scores. A cell is all fits of a learner on one table at one class prior:
twenty labelled rows say little, and another twenty make another classifier, so a cell has collapsed where the *means*
over its seeds do, or where a fit failed or has one score for all rows. How many single fits did stands beside it.

``--jobs`` are processes of one thread each; parts may share a file, and what is in it already is not repeated. Fits
that take long are begun first. All learners, tables and class priors, one seed, ``--rows 600``: about four processor
hours, three of them CGenPU, VPU and VAE-PU (``COSTS``); the quick ones without networks ten minutes.
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
from functools import lru_cache
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402  (threads are counted when it is imported)

from tables import TABLES, boosting, read  # noqa: E402

PRIORS = (0.05, 0.1, 0.2, 0.4, 0.6)
LABELLED, FEWEST = 0.3, 20
MOST_TESTED = 5000
FEWEST_CALLED = 1 / 60  # of the test rows
# processor seconds of a fit to 600 rows, where it is more than a few
COSTS = {"cgenpu": 45, "vpu": 44, "vae_pu": 39, "lagam_pu_only": 14, "pul_cpbf": 6}


@lru_cache(maxsize=2)
def numbers(folder, table):
    """Features as numbers, and who is positive."""
    packed = Path(folder) / f"{table}.packed.npz"
    if packed.exists():
        with np.load(packed) as stored:
            return stored["X"].astype(float), stored["positive"]
    from pulens.inputs.categories import Encoding

    X, positive = read(folder, table)
    if hasattr(X, "iloc"):
        X = np.nan_to_num(Encoding.of(X)(X), nan=-1.0)
    return X, positive


def pack(folder, tables, target):
    """Write tables as numbers, so that neither frames nor their files are needed to read them."""
    Path(target).mkdir(parents=True, exist_ok=True)
    for table in tables:
        X, positive = numbers(folder, table)
        single = X.astype(np.float32)
        kept = next((kind for kind in (np.uint8, np.int16) if (X.astype(kind) == X).all()), None)
        exact = X if kept is None and (single != X).any() else single if kept is None else X.astype(kept)
        place = Path(target) / f"{table}.packed.npz"
        np.savez_compressed(place, X=exact, positive=positive)
        print(f"{place}: {place.stat().st_size / 1e6:.1f} MB", flush=True)


@lru_cache(maxsize=4)
def world(folder, table, prior, seed, rows):
    """Training rows with PU labels and hidden classes, and test rows with their truth, a share of them positive."""
    X, positive = numbers(folder, table)
    rng = np.random.default_rng([seed, 3])
    ours, theirs = (rng.permutation(np.flatnonzero(kind)) for kind in (positive, ~positive))
    # twice as many rows as either kind allows at this share, and half of them to train on
    size = int(min(2 * rows, ours.size / prior, theirs.size / (1 - prior)))
    n = round(prior * size)
    train = rng.permutation(np.concatenate([ours[:n], theirs[: size - n]]))[: size // 2]
    own = rng.permutation(train[positive[train]])
    labelled = own[: min(own.size - 1, max(FEWEST, round(LABELLED * own.size)))]
    left = [kind[~np.isin(kind, train)] for kind in (ours, theirs)]
    tested = int(min(MOST_TESTED, left[0].size / prior, left[1].size / (1 - prior)))
    n = round(prior * tested)
    test = np.concatenate([left[0][:n], left[1][: tested - n]])
    return X[train], np.isin(train, labelled).astype(int), positive[train], X[test], positive[test]


@lru_cache(maxsize=4)
def yardsticks(folder, table, prior, seed, rows):
    """Share of rows that boosting told the truth calls positive; the AUC of boosting of labelled against unlabelled."""
    from sklearn.metrics import roc_auc_score

    X, labels, hidden, test, truth = world(folder, table, prior, seed, rows)
    plain = boosting(seed).fit(X, labels).predict_proba(test)[:, 1]
    return float(boosting(seed).fit(X, hidden).predict(test).mean()), float(roc_auc_score(truth, plain))


def best_call(truth, scores):
    """The share of rows above the cut that gets most of them right, told the truth; between equal scores is no cut.

    >>> best_call(np.array([True, True, False, False]), np.array([3.0, 1.0, 2.0, 0.0]))
    0.25
    """
    levels, place = np.unique(-scores, return_inverse=True)
    gained = np.bincount(place, np.where(truth, 1, -1), minlength=levels.size)
    right = np.concatenate([[0], gained.cumsum()])  # more than by calling none
    above = np.concatenate([[0], np.bincount(place, minlength=levels.size).cumsum()])
    return float(above[right.argmax()] / truth.size)


def verdict(area, plain_area, called, told, best):
    """What went wrong, in a word; empty where nothing did. Areas, and shares of rows called positive."""
    if plain_area >= 0.6 and area < 0.5 + (plain_area - 0.5) / 2:
        return "does not rank"
    for word, found, expected in (
        ("positive", called, min(told, best)),
        ("negative", 1 - called, min(1 - told, 1 - best)),
    ):
        if expected >= FEWEST_CALLED and found < expected / 3:
            return f"calls too few {word}"
    return ""


def usable(name):
    """Learners that need PU labels only, references that are meant to fail apart."""
    from pulens import learners
    from pulens.learning.learners.base.facts import REFERENCE

    facts = learners.facts(name)
    return facts.told == "nothing" and facts.family != REFERENCE


KEY = ("table", "learner", "prior", "seed", "rows", "estimated")


def run_one(folder, table, name, prior, seed, rows, estimated):
    """A line: what one learner does on one table at one class prior."""
    from sklearn.metrics import f1_score, roc_auc_score

    from pulens import learners

    X, labels, hidden, test, truth = world(folder, table, prior, seed, rows)
    share, (told, plain_area) = float(hidden.mean()), yardsticks(folder, table, prior, seed, rows)
    facts = learners.facts(name)
    options = {"random_state": seed, "device": "cpu", "progress": False, "n_jobs": 1}
    if not estimated:
        options["class_prior"] = share
    learner = facts.learner(**{key: value for key, value in options.items() if key in facts.settings})
    began, reason = time.process_time(), None
    area = called = right = both = best = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            learner.fit(X, labels)
            seconds = time.process_time() - began
            scores = np.asarray(learner.decision_function(test), float)
            area, called = float(roc_auc_score(truth, scores)), float((scores > 0).mean())
            right, both = float(((scores > 0) == truth).mean()), float(f1_score(truth, scores > 0))
            best = best_call(truth, scores)
            said = "constant" if np.ptp(scores) == 0 else verdict(area, plain_area, called, told, best)
        except Exception as error:  # a learner that cannot take a table must not end the study
            seconds = time.process_time() - began
            said, reason = "failed", f"{type(error).__name__}: {error}"[:200]
    return {
        **dict(zip(KEY, (table, name, prior, seed, rows, estimated), strict=True)),
        "labelled": int(labels.sum()),
        "tested": int(truth.size),
        "class_prior": share,
        "auc": area,
        "auc_of_plain_boosting": plain_area,
        "accuracy": right,
        "f1": both,
        "accuracy_of_all_negative": float(1 - truth.mean()),
        "called": called,
        "called_by_boosting_told_the_truth": told,
        "called_at_best_cut": best,
        "seconds": seconds,
        "collapsed": said,
        "reason": reason,
        "rescues": [str(one) for one in getattr(learner, "rescues_", ())],
    }


def stored(path):
    place = Path(path)
    return [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()] if place.exists() else []


def wanted_fits(given):
    """What is asked for and not there yet, what takes long first; of those of one cost, seed by seed."""
    done = {tuple(fit[part] for part in KEY) for fit in stored(given.out)}
    names = [name for name in given.learners if usable(name)]
    asked = sorted(
        itertools.product(range(given.first_seed, given.first_seed + given.seeds), given.priors, given.tables, names),
        key=lambda fit: -round(COSTS.get(fit[3], 0)),
    )
    number, parts = given.part
    fits = [(table, name, prior, seed, given.rows, given.estimated) for seed, prior, table, name in asked]
    return [fit for fit in fits[number::parts] if fit not in done]


def in_time(until, folder, fit):
    """A fit, or None once the time is over."""
    return run_one(folder, *fit) if time.time() < until else None


def made(given, wanted):
    until = time.time() + (given.seconds or float("inf"))
    if given.jobs == 1:
        yield from (in_time(until, given.data, fit) for fit in wanted)
        return
    # not forked: networks may have threads already
    with ProcessPoolExecutor(given.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for future in as_completed([pool.submit(in_time, until, given.data, fit) for fit in wanted]):
            yield future.result()


def run_all(given):
    wanted, began = wanted_fits(given), time.time()
    print(f"{len(wanted):,} fits to do", flush=True)
    for number, fit in enumerate((fit for fit in made(given, wanted) if fit), 1):
        with Path(given.out).open("a", encoding="utf-8") as file:  # a line is one write: parts may share the file
            file.write(json.dumps(fit) + "\n")
        if number % 100 == 0:
            print(f"{number:,} fits in {time.time() - began:.0f} s", flush=True)


CALLED = ("called", "called_by_boosting_told_the_truth", "called_at_best_cut")
MEANT = ("auc", "auc_of_plain_boosting", "accuracy", "f1", *CALLED, "seconds")


def cells_of(fits):
    """Means over the seeds of each learner, table and class prior, with what they say."""
    parts = ("learner", "table", "prior", "rows", "estimated")
    found = {}
    for fit in fits:
        found.setdefault(tuple(fit[part] for part in parts), []).append(fit)
    cells = []
    for key, own in found.items():
        good = [fit for fit in own if fit["auc"] is not None]
        cell = dict(zip(parts, key, strict=True)) | {
            "fits": len(own),
            "bad": sum(bool(fit["collapsed"]) for fit in own),
        }
        cell |= {part: float(np.mean([fit[part] for fit in good])) if good else float("nan") for part in MEANT}
        gaps = [fit["auc"] - 0.25 - fit["auc_of_plain_boosting"] / 2 for fit in good]  # beyond halfway
        cell["error"] = float(np.std(gaps, ddof=1) / len(gaps) ** 0.5) if len(gaps) > 1 else float("nan")
        words = [fit["collapsed"] for fit in own if fit["collapsed"] in ("failed", "constant")]
        means = verdict(cell["auc"], cell["auc_of_plain_boosting"], *(cell[part] for part in CALLED)) if good else ""
        cells.append(cell | {"collapsed": words[0] if words else means})
    return cells


def show(fits):
    cells = cells_of(fits)
    print(f"{len(fits):,} fits, {len(cells):,} cells: {len({fit['table'] for fit in fits})} tables, ", end="")
    print(f"priors {sorted({fit['prior'] for fit in fits})}, {len({fit['seed'] for fit in fits})} seeds\n")
    print("| learner | cells | collapsed | fits | collapsed | AUC | plain boosting's | accuracy | F1 | processor s |")
    print("| --- |" + " --- |" * 9)
    for name in sorted({cell["learner"] for cell in cells}):
        own = [cell for cell in cells if cell["learner"] == name]
        counts = len(own), sum(bool(cell["collapsed"]) for cell in own)
        counts += sum(cell["fits"] for cell in own), sum(cell["bad"] for cell in own)
        means = [100 * np.nanmean([cell[part] for cell in own]) for part in MEANT[:4]]
        seconds = np.nanmean([cell["seconds"] for cell in own])
        numbers_of = [*(str(count) for count in counts), *(f"{mean:.1f}" for mean in means), f"{seconds:.1f}"]
        print(f"| {name} | {' | '.join(numbers_of)} |")
    print()
    for cell in sorted(cells, key=lambda cell: (cell["learner"], cell["table"], cell["prior"])):
        if cell["collapsed"]:
            print(
                f"{cell['learner']} on {cell['table']} at {cell['prior']}: {cell['collapsed']}, {cell['bad']} of "
                f"{cell['fits']} fits (AUC {cell['auc']:.2f} beside {cell['auc_of_plain_boosting']:.2f}, error "
                f"{cell['error']:.2f}; called {cell['called']:.3f}, by boosting told the truth "
                f"{cell['called_by_boosting_told_the_truth']:.3f}, at the best cut {cell['called_at_best_cut']:.3f})"
            )
    for fit in fits:
        if fit["reason"]:
            print(f"failed: {fit['learner']} on {fit['table']} at {fit['prior']}: {fit['reason']}")


def one_of(text):
    """ "1/4" as (1, 4): the second of four parts."""
    number, parts = (int(word) for word in text.split("/"))
    if not 0 <= number < parts:
        raise argparse.ArgumentTypeError(f"parts are numbered from 0 to {parts - 1}, got {number}")
    return number, parts


def main():
    from pulens import learners

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--out")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--learners", nargs="+", default=list(learners.names()), choices=learners.names())
    parser.add_argument("--priors", nargs="+", type=float, default=list(PRIORS))
    parser.add_argument("--rows", type=int, default=600, help="at most, for training")
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--first-seed", type=int, default=0, help="others than those that something was chosen by")
    parser.add_argument("--estimated", action="store_true", help="leave the class prior to the learner")
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--part", type=one_of, default=(0, 1), help="I/N: every N-th fit, from number I on")
    parser.add_argument("--seconds", type=float, help="begin nothing more after so long")
    parser.add_argument("--pack", metavar="FOLDER", help="write the tables there as numbers, and run nothing")
    parser.add_argument("--show", action="store_true", help="print what collapsed from --out, and run nothing")
    given = parser.parse_args()
    if given.pack:
        pack(given.data, given.tables, given.pack)
        return
    if not given.out:
        parser.error("--out is needed")
    if not given.show:
        run_all(given)
    show(stored(given.out))


if __name__ == "__main__":
    main()
