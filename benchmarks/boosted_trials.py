"""What was tried to bring BoostedPU nearer to boosting that is told the truth, on the tables that may be looked at.

python benchmarks/boosted_trials.py --data FOLDER --out trials.jsonl --seeds 10 --processes 16
python benchmarks/boosted_trials.py --out trials.jsonl --show

Single set, class prior known, 2,500 rows, the four tables of ``tables.CHOSEN_ON`` and no others. A trial changes one
thing. *Stage one* gives every row a score of models that did not see it, *stage two* fits models to the probabilities
that follow; mean log-odds of its models are recalibrated from the PU labels as in BoostedPU. Each line of the answer
has one mix.
"""

from __future__ import annotations

import argparse
import json
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

import tables  # before numpy: it counts the threads
from pulens.learners import boosted_pu
from pulens.learners.parts import bags, soft_targets
from pulens.learners.parts.rank_kernel import KernelRidge, NormalRanks
from pulens.learners.parts.training_rows import TrainingRows
from pulens.scenario import Scenario

SINGLE = Scenario.SINGLE_SET
MOST = 4.0  # log-odds, where models do not clip their own


def odds(shares):
    return logit(np.clip(shares, bags.SHARES, 1 - bags.SHARES))


class Case:
    """One table with its labels, and what all trials on it share."""

    def __init__(self, folder, table, seed, frequency, rows):
        from pulens.inputs.categories import Encoding

        X, labels, self.hidden, self.prior, test, self.truth = tables.problem(
            folder, table, seed, frequency, "single-set", rows
        )
        if hasattr(X, "iloc"):
            how = Encoding.of(X)
            X, test = how(X), how(test)
        self.seed, self.rows, self.test = seed, np.asarray(X, np.float32), np.asarray(test, np.float32)
        self.labelled = labels == 1
        self.known = TrainingRows(self.rows, self.labelled, np.ones(labels.size))
        self.frequency = self.labelled.mean() / self.prior
        self.part = self.known.dealt(boosted_pu.PARTS, self.rng())
        ranks = NormalRanks.of(self.rows)
        self.ranks, self.test_ranks = ranks(self.rows), ranks(self.test)

    def rng(self):
        return np.random.default_rng(self.seed)

    def targets(self, scores):
        return soft_targets.soft_targets(self.known, scores, self.prior, SINGLE)

    def judged(self, parts):
        """Accuracy and AUC of the mean of some (unseen, test) log-odds."""
        from sklearn.metrics import roc_auc_score

        unseen, test = (np.mean([part[place] for part in parts], axis=0) for place in (0, 1))
        intercept, slope = soft_targets.shrunk(self.known, unseen, self.prior, SINGLE)
        chances = expit(intercept + slope * test)
        return float(np.mean((chances > 0.5) == self.truth)), float(roc_auc_score(self.truth, chances))


def stage_one(case, members=12, folds=4, columns=1.0, random_trees=6, bag=1.0, iterations=60):
    """Scores of the training rows as BoostedPU has them, and of the test rows on the same scale."""
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier

    rng, known, labelled = case.rng(), case.known, case.labelled
    filled, _ = known.filled()
    kinds = np.flatnonzero(labelled), np.flatnonzero(~labelled)
    made = []
    for member in range(members):
        if member % folds == 0:
            fold = known.dealt(folds, rng)
        apart = fold == member % folds
        ours, theirs = (kind[~apart[kind]] for kind in kinds)
        size = int(max(1, min(max(bag * ours.size, bags.FEWEST_IN_BAG), kinds[1].size // 2)))
        chosen = np.concatenate([ours, rng.permutation(theirs)[:size]])
        target = labelled[chosen]
        weight = np.where(target, 1 / target.sum(), 1 / (~target).sum())
        boosting = HistGradientBoostingClassifier(
            max_iter=iterations,
            max_leaf_nodes=16,
            max_features=columns,
            min_samples_leaf=max(2, min(20, chosen.size // 20)),
            l2_regularization=1.0,
            early_stopping=False,
            random_state=int(rng.integers(2**31)),
        ).fit(case.rows[chosen], target)
        trees = ExtraTreesClassifier(random_trees, random_state=int(rng.integers(2**31)))
        trees.fit(filled[chosen], target, sample_weight=weight)
        outside = np.ones(labelled.size, bool)
        outside[chosen] = False
        scores = [boosting.decision_function(one) for one in (case.rows, case.test)]
        shares = [trees.predict_proba(one)[:, 1] for one in (filled, case.test)]
        made.append((*scores, *shares, apart, outside))
    boosted, boosted_test, random, random_test, apart, outside = (np.array(one) for one in zip(*made, strict=True))
    found = bags.BagScores(*(bags._averaged(boosted, random, which, labelled) for which in (apart, outside)))
    chosen = outside | ~outside.any(axis=0)
    test = 0.0
    for own, other, turn in ((boosted, boosted_test, lambda values: values), (random, random_test, odds)):
        unseen = turn((own * chosen).sum(axis=0) / chosen.sum(axis=0))[~labelled]
        test = test + (turn(other.mean(axis=0)) - unseen.mean()) / unseen.std()
    intercept, slope = soft_targets.platt(known, found.alike, case.prior, SINGLE)
    return found, tuple(np.clip(intercept + slope * one, -MOST, MOST) for one in (found.alike, test))


def by_parts(case, fit):
    """Unseen and test log-odds of models that are fitted to two of three parts each."""
    unseen, test = np.empty(case.labelled.size), 0.0
    for number in range(boosted_pu.PARTS):
        inside, outside = case.part != number, case.part == number
        predict = fit(inside)
        unseen[outside] = predict(outside, None)
        test = test + predict(None, True) / boosted_pu.PARTS
    return unseen, test


def boosted(case, targets, weights=None, **more):
    from sklearn.ensemble import HistGradientBoostingRegressor

    options = {"max_iter": 80, "max_leaf_nodes": 16, "max_features": 0.3, "min_samples_leaf": 20, **more}

    def fit(inside):
        model = HistGradientBoostingRegressor(
            l2_regularization=1.0, early_stopping=False, random_state=case.seed, **options
        ).fit(case.rows[inside], targets[inside], None if weights is None else weights[inside])
        return lambda some, test: model.predict(case.test if test else case.rows[some])

    unseen, test = by_parts(case, fit)
    return odds(unseen), odds(test)


def random(case, targets, weights=None, trees=100, **more):
    from sklearn.ensemble import ExtraTreesRegressor

    options = {"max_features": 0.5, **more}
    forest = ExtraTreesRegressor(trees, bootstrap=True, oob_score=True, random_state=case.seed, **options)
    forest.fit(case.rows, targets, weights)
    return odds(forest.oob_prediction_), odds(forest.predict(case.test))


def kernel(case, targets, centres=400):
    ridge = KernelRidge(case.rows, np.ones(case.labelled.size), centres, case.rng())
    unseen, model = ridge.fitted(targets, case.known.dealt(boosted_pu.KERNEL_PARTS, case.rng()))
    return odds(unseen), odds(model(case.test))


def neighbours(case, targets, count=15):
    from sklearn.neighbors import NearestNeighbors

    near = NearestNeighbors(n_neighbors=count + 1).fit(case.ranks)
    unseen = near.kneighbors(case.ranks, return_distance=False)[:, 1:]
    test = near.kneighbors(case.test_ranks, n_neighbors=count, return_distance=False)
    return odds(targets[unseen].mean(axis=1)), odds(targets[test].mean(axis=1))


def network(case, targets):
    from sklearn.neural_network import MLPRegressor

    def fit(inside):
        model = MLPRegressor(
            hidden_layer_sizes=(64,), alpha=0.01, max_iter=30, learning_rate_init=3e-3, batch_size=64,
            random_state=case.seed,
        ).fit(case.ranks[inside], targets[inside])  # fmt: skip
        return lambda some, test: model.predict(case.test_ranks if test else case.ranks[some])

    unseen, test = by_parts(case, fit)
    return odds(unseen), odds(test)


def likelihood(case, iterations=120, rate=0.1):
    """Boosting of the PU likelihood itself: a row is labelled with probability c sigmoid(f).

    Newton steps with Fisher's information, which is never negative: q (1-p)^2 / (1-q) for q = cp.
    """
    from sklearn.tree import DecisionTreeRegressor

    chance = case.rng()

    def fit(inside):
        target, share = case.labelled[inside].astype(float), case.frequency
        start = float(logit(np.clip(target.mean() / share, 0.02, 0.98)))
        reached, trees = np.full(target.size, start), []
        for _ in range(iterations):
            p = expit(reached)
            q = share * p
            slope, weight = (1 - p) * (target - q) / (1 - q), q * (1 - p) ** 2 / (1 - q) + 1e-3
            tree = DecisionTreeRegressor(
                max_leaf_nodes=16, min_samples_leaf=10, max_features=0.3, random_state=int(chance.integers(2**31))
            ).fit(case.rows[inside], slope / weight, weight)
            leaf = tree.apply(case.rows[inside])
            step = rate * np.clip(np.bincount(leaf, slope) / (np.bincount(leaf, weight) + 1), -4, 4)
            reached += step[leaf]
            trees.append((tree, step))
        return lambda some, test: (
            start + sum(step[tree.apply(case.test if test else case.rows[some])] for tree, step in trees)
        )

    unseen, test = by_parts(case, fit)
    return np.clip(unseen, -MOST, MOST), np.clip(test, -MOST, MOST)


STAGE_ONE = {
    "folds 8": {"folds": 8, "members": 16},
    "folds 12": {"folds": 12, "members": 12},
    "folds 16": {"folds": 16, "members": 16},
    "24 bags": {"members": 24},
    "three columns in ten": {"columns": 0.3},
    "15 random trees": {"random_trees": 15},
    "bags twice as large": {"bag": 2.0},
    "30 iterations": {"iterations": 30},
    "all of these": {"folds": 8, "members": 24, "columns": 0.3, "random_trees": 15},
}


def trials(case):
    """Name and (accuracy, AUC) of each trial."""
    scores, first = stage_one(case)
    targets = case.targets(scores)
    parts = {"boosted": boosted(case, targets), "random": random(case, targets), "kernel": kernel(case, targets)}
    plain = [boosted(case, targets, max_iter=60, max_features=1.0), random(case, targets, min_samples_leaf=2)]
    three = list(parts.values())
    yield "before: boosting and random trees, all columns, leaves of two", plain
    yield "the same and the kernel", [*plain, parts["kernel"]]
    yield "NOW: fewer columns, leaves of one, kernel", three
    yield "stage one alone", [first]
    for name, part in parts.items():
        yield f"{name} alone", [part]
    yield "and stage one", [*three, first]
    yield "and nearest neighbours", [*three, neighbours(case, targets)]
    yield "and a network", [*three, network(case, targets)]
    fitted = likelihood(case)
    yield "boosted PU likelihood alone", [fitted]
    yield "and boosted PU likelihood", [*three, fitted]
    yield "and larger boosting", [*three, boosted(case, targets, max_iter=150, max_leaf_nodes=31, learning_rate=0.05)]
    yield "300 random trees", [three[0], random(case, targets, trees=300), three[2]]
    yield "random trees count twice", [*three, three[1]]
    yield "kernel with 1,000 centres", [*three[:2], kernel(case, targets, centres=1000)]
    for name, weights in {
        "labelled rows count twice": 1.0 + case.labelled,
        "certain rows count more": 0.25 + 1.5 * np.abs(targets - 0.5),
        "reliable rows alone": (np.abs(targets - 0.5) > 0.25) + 1e-9,
    }.items():
        yield name, [boosted(case, targets, weights), random(case, targets, weights), three[2]]
    mixed = np.mean([part[0] for part in three], axis=0)
    again = case.targets(bags.BagScores(mixed, mixed))
    yield "a second round of targets", [boosted(case, again), random(case, again), kernel(case, again)]
    half = 0.5 * (targets + again)
    yield "half a second round", [boosted(case, half), random(case, half), kernel(case, half)]
    smooth = kernel_scores(case)
    beside = bags.BagScores(scores.alike + smooth, scores.best + smooth)
    both = case.targets(beside)
    yield "kernel in stage one too", [boosted(case, both), random(case, both), kernel(case, both)]
    for name, options in STAGE_ONE.items():
        other, own = stage_one(case, **options)
        its = case.targets(other)
        its_three = [boosted(case, its), random(case, its), kernel(case, its)]
        yield f"stage one with {name}", its_three
        yield f"stage one with {name}, kept", [*its_three, own]
    truth = case.hidden.astype(float)
    yield "NOW, told the truth", [boosted(case, truth), random(case, truth), kernel(case, truth)]


def kernel_scores(case):
    ridge = KernelRidge(case.rows, np.ones(case.labelled.size), 400, case.rng())
    unseen, _ = ridge.fitted(case.labelled.astype(float), case.known.dealt(boosted_pu.KERNEL_PARTS, case.rng()))
    return bags._spread(unseen, case.labelled)


def one(folder, table, seed, frequency, rows):
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case = Case(folder, table, seed, frequency, rows)
        found = {name: case.judged(parts) for name, parts in trials(case)}
    return {"table": table, "seed": seed, "frequency": frequency, "found": found}


def show(lines):
    for frequency in sorted({line["frequency"] for line in lines}):
        here = [line for line in lines if line["frequency"] == frequency]
        print(f"\n## label frequency {frequency}, {len(here)} cases: accuracy and AUC\n")
        names = tables.CHOSEN_ON
        print(f"| trial | {' | '.join(names)} | mean | against now (standard error) |")
        print("| --- |" + " --- |" * (len(names) + 2))
        now = np.array([line["found"]["NOW: fewer columns, leaves of one, kernel"] for line in here])
        for trial in here[0]["found"]:
            values = 100 * np.array([line["found"][trial] for line in here])
            cells = [
                "/".join(f"{value:.1f}" for value in values[[line["table"] == name for line in here]].mean(axis=0))
                for name in names
            ]
            gain = values - 100 * now
            error = gain.std(axis=0, ddof=1) / len(here) ** 0.5 if len(here) > 1 else (np.nan, np.nan)
            apart = " ".join(
                f"{value:+.2f} ({doubt:.2f})" for value, doubt in zip(gain.mean(axis=0), error, strict=True)
            )
            mean = "/".join(f"{value:.2f}" for value in values.mean(axis=0))
            print(f"| {trial} | {' | '.join(cells)} | {mean} | {apart} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=2500)
    parser.add_argument("--frequencies", nargs="+", type=float, default=[0.3])
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if not given.show:
        wanted = [
            (given.data, table, seed, frequency, given.rows)
            for frequency in given.frequencies
            for seed in range(100, 100 + given.seeds)  # not those that results are reported for
            for table in tables.CHOSEN_ON
        ]
        with Path(given.out).open("a", encoding="utf-8") as file, ProcessPoolExecutor(given.processes) as pool:
            for future in as_completed([pool.submit(one, *each) for each in wanted]):
                file.write(json.dumps(future.result()) + "\n")
                file.flush()
    show(tables.stored(given.out))


if __name__ == "__main__":
    main()
