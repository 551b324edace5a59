"""What was tried to bring BoostedPU nearer to boosting that is told the truth, on the tables that may be looked at.

python benchmarks/boosted_trials.py --data FOLDER --out trials.jsonl --seeds 3 --rows 600 2500 13000 --processes 16
python benchmarks/boosted_trials.py --out trials.jsonl --show

Single set, class prior known, the four tables of ``tables.CHOSEN_ON`` and no others, several numbers of rows and label
frequencies: what helps with hundreds of labels may harm with twenty. *Stage one* gives every row a score of models that
did not see it, *stage two* fits boosting, random trees and the regression on ranks to the probabilities that follow;
their log-odds are mixed, and recalibrated from the PU labels as in BoostedPU. A trial is one stage one, one size of
boosting in stage two and one way to mix.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

import tables  # before numpy: it counts the threads
from pulens.learning.learners.parts import bags, soft_targets
from pulens.learning.learners.parts.label_weights import label_weights
from pulens.learning.learners.parts.rank_kernel import KernelRidge
from pulens.learning.learners.parts.training_rows import TrainingRows
from pulens.scenario import Scenario

SINGLE = Scenario.SINGLE_SET
MOST = 4.0  # log-odds of stage one, where it is mixed in
PARTS, KERNEL_PARTS, REPEATS = 3, 10, 3


def odds(shares):
    return logit(np.clip(shares, bags.SHARES, 1 - bags.SHARES))


def grown_size(trees, labelled):
    """What the trials were made with: steps of .1, however few labels there are."""
    growth = min(max((labelled / 250) ** 0.5, 1.0), 4.0)
    return bags.Size(int(trees * growth), 16 if growth < 2 else 31, 0.1)


class Case:
    """One table with its labels, and what all trials on it share."""

    def __init__(self, folder, table, seed, frequency, rows):
        from pulens.inputs.categories import Encoding

        X, labels, _, self.prior, test, self.truth = tables.problem(folder, table, seed, frequency, "single-set", rows)
        if hasattr(X, "iloc"):
            how = Encoding.of(X)
            X, test = how(X), how(test)
        self.seed, self.rows, self.test = seed, np.asarray(X, np.float32), np.asarray(test, np.float32)
        self.labelled = labels == 1
        self.known = TrainingRows(self.rows, self.labelled, np.ones(labels.size))
        rng = self.rng()
        dealt = [self.known.dealt(bags.FOLDS, rng) for _ in range(REPEATS)]
        self.apart = np.array([fold == number for fold in dealt for number in range(bags.FOLDS)])

    def rng(self):
        return np.random.default_rng(self.seed)

    def mixed(self, parts, how):
        """(unseen, test) log-odds of some models, counting alike or as the labels tell."""
        unseen, test = (np.array([part[place] for part in parts]) for place in (0, 1))
        alike = np.full(len(parts), 1 / len(parts))
        weights = alike if how == "alike" else label_weights(self.known, unseen, self.prior, SINGLE)
        return weights @ unseen, weights @ test

    def judged(self, unseen, test):
        """Accuracy and AUC of log-odds, recalibrated by those of rows that no model had seen."""
        from sklearn.metrics import roc_auc_score

        intercept, slope = soft_targets.shrunk(self.known, unseen, self.prior, SINGLE)
        chances = expit(intercept + slope * test)
        return float(np.mean((chances > 0.5) == self.truth)), float(roc_auc_score(self.truth, chances))


# stage one: each kind of model gives (score by models apart, by models outside, of test rows)


def members(case, fit, bag):
    """Scores of one kind of model: a labelled row is apart from a quarter of them, unlabelled ones from more."""
    rng, result = np.random.default_rng(case.seed + 1), []
    for apart in case.apart:
        ours, theirs = (np.flatnonzero(kind & ~apart) for kind in (case.labelled, ~case.labelled))
        if bag is not None:
            theirs = rng.permutation(theirs)[: int(max(1, bag * ours.size, bags.FEWEST_IN_BAG))]
        chosen = np.concatenate([ours, theirs])
        outside = np.ones(case.labelled.size, bool)
        outside[chosen] = False
        predict = fit(chosen, int(rng.integers(2**31)))
        result.append((predict(case.rows), predict(case.test), outside))
    own, other, outside = (np.array(one) for one in zip(*result, strict=True))
    return bags._averaged(own, case.apart), bags._averaged(own, outside), other.mean(axis=0)


def boosting_members(case, trees, leaves, bag):
    from sklearn.ensemble import HistGradientBoostingClassifier

    def fit(chosen, seed):
        model = HistGradientBoostingClassifier(
            max_iter=trees, max_leaf_nodes=leaves, min_samples_leaf=max(2, min(20, chosen.size // 20)),
            l2_regularization=1.0, early_stopping=False, random_state=seed,
        ).fit(case.rows[chosen], case.labelled[chosen])  # fmt: skip
        return model.decision_function

    return members(case, fit, bag)


def forest_members(case, trees, leaf, columns="sqrt", bag=None):
    from sklearn.ensemble import ExtraTreesClassifier

    def fit(chosen, seed):
        target = case.labelled[chosen]
        weight = np.where(target, 1 / target.sum(), 1 / (~target).sum())
        model = ExtraTreesClassifier(trees, min_samples_leaf=leaf, max_features=columns, random_state=seed)
        model.fit(case.rows[chosen], target, sample_weight=weight)
        return lambda rows: model.predict_proba(rows)[:, 1]

    return [odds(one) for one in members(case, fit, bag)]


def together(case, parts):
    """Stage one from kinds of models with weights: its scores, and log-odds of training and test rows."""
    alike = best = test = 0.0
    for weight, (apart, outside, other) in parts:
        alike = alike + weight * bags._spread(apart, case.labelled)
        best = best + weight * bags._spread(outside, case.labelled)
        known = outside[~case.labelled]
        test = test + weight * (other - known.mean()) / (known.std() or 1.0)
    intercept, slope = soft_targets.platt(case.known, alike, case.prior, SINGLE)
    own = tuple(np.clip(intercept + slope * one, -MOST, MOST) for one in (alike, test))
    return bags.BagScores(alike, best), own


def stage_ones(case):
    """Name and kinds of models of each stage one that was tried; what several of them share is made once."""
    size = grown_size(60, int(case.labelled.sum()))
    share = case.labelled.mean()
    made = {}

    def boosted(*how):
        return made.get(how) or made.setdefault(how, boosting_members(case, *how))

    def forest(*how):
        return made.get(how) or made.setdefault(how, forest_members(case, *how))

    def leaf(labelled):
        return int(np.clip(round(labelled / share), 2, max(2, case.labelled.size // 20)))

    fine = (6, 1, "sqrt", 1.0)
    yield "before: fine trees", [(1, boosted(60, 16, 1.0)), (1, forest(*fine))]
    grown = boosted(size.trees, size.leaves, 2.0)
    half = (0.5, forest(*fine)), (0.5, forest(16, leaf(0.5), 0.5))
    yield "NOW: grown, fine and coarse trees", [(1, grown), *half]
    yield "grown, fine trees", [(1, grown), (1, forest(*fine))]
    yield "not grown, fine and coarse trees", [(1, boosted(60, 16, 1.0)), *half]
    yield "grown, coarse trees", [(1, grown), (0.5, forest(16, leaf(0.5), "sqrt")), (0.5, forest(16, leaf(1.0), 0.5))]
    yield "grown, coarser trees", [(1, grown), (0.5, forest(16, leaf(1.0), "sqrt")), (0.5, forest(16, leaf(2.0), 0.5))]
    yield "grown, leaves of 3 and 6", [(1, grown), (0.5, forest(16, 3, "sqrt")), (0.5, forest(16, 6, 0.5))]
    yield "150 trees of 31 leaves, bags of three", [(1, boosted(150, 31, 3.0)), *half]


# stage two


def boosted_students(case, targets, size):
    from sklearn.ensemble import HistGradientBoostingRegressor

    part = case.known.dealt(PARTS, case.rng())
    unseen, test = np.empty(targets.size), 0.0
    for number in range(PARTS):
        inside = part != number
        model = HistGradientBoostingRegressor(
            max_iter=size.trees, max_leaf_nodes=size.leaves, max_features=0.3, min_samples_leaf=20,
            l2_regularization=1.0, early_stopping=False, random_state=case.seed + number,
        ).fit(case.rows[inside], targets[inside])  # fmt: skip
        unseen[~inside] = model.predict(case.rows[~inside])
        test = test + model.predict(case.test) / PARTS
    return odds(unseen), odds(test)


def random_students(case, targets):
    from sklearn.ensemble import ExtraTreesRegressor

    forest = ExtraTreesRegressor(100, bootstrap=True, oob_score=True, max_features=0.5, random_state=case.seed)
    forest.fit(case.rows, targets)
    return odds(forest.oob_prediction_), odds(forest.predict(case.test))


def kernel_students(case, targets):
    ridge = KernelRidge(case.rows, np.ones(targets.size), 400, case.rng())
    unseen, model = ridge.fitted(targets, case.known.dealt(KERNEL_PARTS, case.rng()))
    return odds(unseen), odds(model(case.test))


def trials(case):
    """Name and (unseen, test) log-odds of each trial."""
    small, grown = bags.Size(80, 16, 0.1), grown_size(80, int(case.labelled.sum()))
    for name, parts in stage_ones(case):
        scores, own = together(case, parts)
        yield f"{name} | stage one alone", own
        targets = soft_targets.soft_targets(case.known, scores, case.prior, SINGLE)
        others = [random_students(case, targets), kernel_students(case, targets)]
        for size_name, size in {"small": small, "grown": grown}.items():
            three = [boosted_students(case, targets, size), *others]
            for how in ("alike", "by labels"):
                yield f"{name} | {size_name}, {how}", case.mixed(three, how)
            if size is grown:
                yield f"{name} | {size_name}, by labels, stage one too", case.mixed([*three, own], "by labels")
        if name.startswith("NOW"):
            mixed = case.mixed(three, "by labels")[0]
            again = soft_targets.soft_targets(case.known, bags.BagScores(mixed, mixed), case.prior, SINGLE)
            second = [boosted_students(case, again, grown), random_students(case, again), kernel_students(case, again)]
            yield f"{name} | a second round of targets", case.mixed(second, "by labels")


BASE = "before: fine trees | small, alike"


def one(folder, table, seed, frequency, rows):
    from threadpoolctl import threadpool_limits

    began = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case = Case(folder, table, seed, frequency, rows)
        result = {name: case.judged(*both) for name, both in trials(case)}
    seconds = time.process_time() - began
    return {"table": table, "seed": seed, "frequency": frequency, "rows": rows, "found": result, "seconds": seconds}


def show(lines):
    conditions = sorted({(line["rows"], line["frequency"]) for line in lines})
    words = " | ".join(f"{rows:,} rows, {frequency:g}" for rows, frequency in conditions)
    print(f"accuracy / AUC against: {BASE}; means over tables, {len(lines)} cases\n\n| trial | {words} |")
    print("| --- |" + " --- |" * len(conditions))
    for trial in lines[0]["found"]:
        cells = []
        for condition in conditions:
            here = [line for line in lines if (line["rows"], line["frequency"]) == condition]
            gains = [
                np.mean(
                    [np.subtract(line["found"][trial], line["found"][BASE]) for line in here if line["table"] == name],
                    axis=0,
                )
                for name in sorted({line["table"] for line in here})
            ]
            cells.append(" / ".join(f"{value:+.2f}" for value in 100 * np.mean(gains, axis=0)))
        print(f"| {trial} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", nargs="+", type=int, default=[2500])
    parser.add_argument("--frequencies", nargs="+", type=float, default=[0.3])
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if not given.show:
        seeds = range(100, 100 + given.seeds)  # not those that results are reported for
        wanted = itertools.product(tables.CHOSEN_ON, seeds, given.frequencies, given.rows)
        with Path(given.out).open("a", encoding="utf-8") as file, ProcessPoolExecutor(given.processes) as pool:
            for future in as_completed([pool.submit(one, given.data, *each) for each in wanted]):
                file.write(json.dumps(future.result()) + "\n")
                file.flush()
    show(tables.stored(given.out))


if __name__ == "__main__":
    main()
