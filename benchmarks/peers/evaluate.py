"""What other packages say about the same data.

Usage: python benchmarks/peers/evaluate.py [numbers] [priors] [learners] [speed]

Peers: scikit-learn (unlabelled rows counted as negatives, which is what its metrics do), pulearn and PU-toolbox. A peer
that is not installed is left out and named: pip install pulearn pu-toolbox. All of it: about three minutes on one core.
"""

from __future__ import annotations

import sys
import time
import warnings
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from pulens.benchmark import datasets
from sklearn import metrics as sk
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import pulens

PRIOR, LABELLED, UNLABELLED, THRESHOLD, REPEATS = 0.3, 300, 3000, 0.5, 200
SHOWN = ("roc_auc", "average_precision", "precision", "recall", "f1", "specificity", "error_rate")


def installed(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def logistic(z):
    return 1 / (1 + np.exp(-z))


def rows(scenario, rng):
    """Labels, probabilities and true classes; labels completely at random."""
    if scenario == "case-control":
        positive = np.r_[np.ones(LABELLED, bool), rng.random(UNLABELLED) < PRIOR]
        labels = np.repeat([1, 0], [LABELLED, UNLABELLED])
    else:
        positive = rng.random(LABELLED + UNLABELLED) < PRIOR
        chosen = rng.choice(np.flatnonzero(positive), LABELLED, replace=False)
        labels = np.isin(np.arange(positive.size), chosen).astype(int)
    return labels, logistic(rng.normal(2.0 * positive - 1.0)), positive


def by_sklearn(true, scores):
    flagged = scores >= THRESHOLD
    return {
        "roc_auc": sk.roc_auc_score(true, scores),
        "average_precision": sk.average_precision_score(true, scores),
        "precision": sk.precision_score(true, flagged),
        "recall": sk.recall_score(true, flagged),
        "f1": sk.f1_score(true, flagged),
        "specificity": sk.recall_score(1 - true, ~flagged),
        "error_rate": 1 - sk.accuracy_score(true, flagged),
    }


def by_pulearn(labels, scores):
    from pulearn import metrics as pu

    return {
        "roc_auc": pu.pu_roc_auc_score(labels, scores, PRIOR),
        "average_precision": pu.pu_precision_recall_curve(labels, scores, PRIOR).corrected_ap,
        "precision": pu.pu_precision_score(labels, scores, PRIOR, threshold=THRESHOLD),
        "recall": pu.pu_recall_score(labels, scores, threshold=THRESHOLD),
        "f1": pu.pu_f1_score(labels, scores, PRIOR, threshold=THRESHOLD),
        # its specificity wants the probability of being labelled, which is another score
    }


def by_toolbox(labels, scores):
    from pu_toolbox.metrics.classification import pu_estimated_precision, pu_recall, pu_zero_one_risk

    flagged = (scores >= THRESHOLD).astype(int)
    return {
        "precision": pu_estimated_precision(labels, flagged, PRIOR),
        "recall": pu_recall(labels, flagged),
        "error_rate": pu_zero_one_risk(labels, flagged, PRIOR),
    }


def by_pulens(labels, scores, scenario, confidence=None):
    found = pulens.evaluate(
        labels,
        scores,
        class_prior=PRIOR,
        scenario=scenario,
        threshold=THRESHOLD,
        confidence=confidence,
        redraws=300,
        labelling="random",
    )
    return {name: found.estimates[name] for name in SHOWN}


def numbers():
    print(f"\nnumbers: class prior {PRIOR} known, {LABELLED} labelled, {UNLABELLED} others, {REPEATS} data sets")
    print("mean error against the truth (mean absolute error in brackets); pulens: how often its 95% interval holds it")
    for scenario in ("case-control", "single-set"):
        rng = np.random.default_rng(0)
        errors = {}
        held = {name: [] for name in SHOWN}
        for repeat in range(REPEATS):
            labels, scores, positive = rows(scenario, rng)
            meant = labels == 0 if scenario == "case-control" else np.ones(labels.size, bool)
            truth = by_sklearn(positive[meant].astype(int), scores[meant])
            answers = {"scikit-learn": by_sklearn(labels, scores)}
            if installed("pulearn"):
                answers["pulearn"] = by_pulearn(labels, scores)
            if installed("pu-toolbox"):
                answers["PU-toolbox"] = by_toolbox(labels, scores)
            ours = by_pulens(labels, scores, scenario, 0.95 if repeat < REPEATS // 2 else None)
            answers["pulens"] = {name: each.value for name, each in ours.items()}
            for tool, values in answers.items():
                for name, value in values.items():
                    errors.setdefault((name, tool), []).append(value - truth[name])
            if repeat < REPEATS // 2:  # intervals speak of the population, not of the rows at hand
                for name in SHOWN:
                    held[name].append(expected(name) in ours[name].interval)
        print(f"\n{scenario}")
        tools = list(answers)
        print(f"{'':18}" + "".join(f"{tool:>20}" for tool in tools) + f"{'interval holds':>17}")
        for name in SHOWN:
            cells = [errors.get((name, tool)) for tool in tools]
            written = ["-" if cell is None else f"{np.mean(cell):+.3f} ({np.mean(np.abs(cell)):.3f})" for cell in cells]
            print(f"{name:18}" + "".join(f"{cell:>20}" for cell in written) + f"{np.mean(held[name]):>16.0%}")


def expected(name, cache={}):  # noqa: B006
    """The population's own value, from two million rows."""
    if not cache:
        rng = np.random.default_rng(1)
        positive = rng.random(2_000_000) < PRIOR
        cache.update(by_sklearn(positive.astype(int), logistic(rng.normal(2.0 * positive - 1.0))))
    return cache[name]


def priors():
    print(
        "\nclass prior from features (six normal columns), single-set, 30% of the positives labelled, 10 data sets each"
    )
    print("mean absolute error, and seconds per estimate as a multiple of ours")
    found, spent = {}, {}
    for prior in (0.1, 0.3, 0.5):
        for seed in range(10):
            rng = np.random.default_rng([seed, int(100 * prior)])
            positive = rng.random(1500) < prior
            X = rng.normal(size=(1500, 6)) + np.where(positive, 0.7, -0.7)[:, None]
            labels = (positive & (rng.random(1500) < 0.3)).astype(int)
            for name, estimate in estimators(X, labels):
                start = time.process_time()
                value = estimate()
                spent.setdefault(name, []).append(time.process_time() - start)
                found.setdefault(name, {}).setdefault(prior, []).append(abs(value - positive.mean()))
    ours = np.mean(spent["pulens auto"])
    print(f"{'':34}" + "".join(f"{f'prior {prior}':>12}" for prior in (0.1, 0.3, 0.5)) + f"{'time':>10}")
    for name, by_prior in found.items():
        cells = "".join(f"{np.mean(by_prior[prior]):>12.3f}" for prior in (0.1, 0.3, 0.5))
        print(f"{name:34}{cells}{np.mean(spent[name]) / ours:>9.1f}x")


def estimators(X, labels):
    from pulens.priors.from_features import estimate_prior_from_features

    options = {"scenario": "single-set", "model": LogisticRegression()}
    yield "pulens auto", lambda: estimate_prior_from_features(X, labels, **options).value
    if installed("pulearn"):
        import pulearn

        yield (
            "pulearn HistogramMatch",
            lambda: pulearn.HistogramMatchPriorEstimator(LogisticRegression()).fit(X, labels).result_.pi,
        )
        yield "pulearn ScarEM", lambda: pulearn.ScarEMPriorEstimator(LogisticRegression()).fit(X, labels).result_.pi
    if installed("pu-toolbox"):
        from pu_toolbox.prior.kernel_mean import KernelMeanPriorEstimator
        from pu_toolbox.prior.pen_l1 import ClassPriorEstimator

        def of_population(among_unlabelled):
            return (labels.sum() + among_unlabelled * (labels == 0).sum()) / labels.size

        yield "PU-toolbox penL1", lambda: of_population(ClassPriorEstimator().fit(X, labels).estimate())
        yield (
            "PU-toolbox KM2 (400 rows a group)",
            lambda: of_population(
                KernelMeanPriorEstimator(variant="km2", max_samples_per_group=400, standardize=True, random_state=0)
                .fit(X, labels)
                .estimate()
            ),
        )


def learners():
    print("\nlearners: digits, 5 to 9 positive, single-set, 30% labelled, class prior told where asked for, 5 splits")
    print("accuracy on other rows with their true classes, seconds of training as a multiple of ours")
    digits = datasets.load("digits")
    found, spent = {}, {}
    for seed in range(5):
        made = pulens.synthesise(
            digits.X / 16, digits.y, label_frequency=0.3, scenario="single-set", test_share=0.4, seed=seed
        )
        X, labels, truth = made.train.X, made.train.labels, made.truth.test
        for group, name, learner in contestants(made.train, seed):
            start = time.process_time()
            learner.fit(X, labels)
            spent.setdefault((group, name), []).append(time.process_time() - start)
            said = np.asarray(learner.predict(made.test.X)) > 0
            found.setdefault((group, name), []).append(np.mean(said == truth))
    for (group, name), accuracies in found.items():
        ratio = np.mean(spent[group, name]) / np.mean(spent[group, "pulens"])
        print(f"{group:24}{name:14}{np.mean(accuracies):.3f} (sd {np.std(accuracies):.3f}){ratio:>8.1f}x")


def contestants(train, seed):
    from pulens.learners import NNPU, PUET, ElkanNoto, PUBagging

    # peers whose risk knows case-control data only are told the share among the unlabelled rows: right for them
    plain = {"max_iter": 500}
    told = {"class_prior": train.class_prior, "scenario": "single-set", "random_state": seed}
    yield "Elkan and Noto", "pulens", ElkanNoto(LogisticRegression(**plain), scenario="single-set", random_state=seed)
    yield (
        "PU bagging, 30 trees",
        "pulens",
        PUBagging(DecisionTreeClassifier(), n_estimators=30, bag_size=200, **told),
    )
    yield "nnPU", "pulens", NNPU(**told, epochs=60, batch_size=128, learning_rate=1e-3)
    yield "PU extra trees", "pulens", PUET(**told)
    if installed("pulearn"):
        import pulearn

        yield (
            "Elkan and Noto",
            "pulearn",
            pulearn.ElkanotoPuClassifier(LogisticRegression(**plain), hold_out_ratio=0.2, random_state=seed),
        )
        yield (
            "PU bagging, 30 trees",
            "pulearn",
            pulearn.BaggingPuClassifier(DecisionTreeClassifier(), n_estimators=30, max_samples=200, random_state=seed),
        )
        yield "nnPU", "pulearn", pulearn.NNPUClassifier(prior=train.unlabelled_prior, random_state=seed)
    if installed("pu-toolbox"):
        from pu_toolbox.estimators.classic.elkan_noto import ElkanNotoClassifier
        from pu_toolbox.estimators.risk.nnpu import NonNegativePUClassifier

        yield "Elkan and Noto", "PU-toolbox", ElkanNotoClassifier(LogisticRegression(**plain), random_state=seed)
        yield (
            "nnPU",
            "PU-toolbox",
            NonNegativePUClassifier(
                class_prior=train.unlabelled_prior, max_epochs=60, batch_size=128, random_state=seed
            ),
        )


def speed():
    print("\nspeed: one process, CPU seconds, least of three; a multiple of ours")
    rng = np.random.default_rng(0)
    for size in (10_000, 1_000_000):
        positive = rng.random(size) < PRIOR
        labels = (positive & (rng.random(size) < 0.3)).astype(int)
        for task, tools in tasks(labels, logistic(rng.normal(2.0 * positive - 1.0))).items():
            taken = {tool: least(function) for tool, function in tools.items()}
            shown = ", ".join(f"{tool} {seconds / taken['pulens']:.1f}x" for tool, seconds in taken.items())
            print(f"{size:>10,} rows  {task:24}{taken['pulens'] * 1000:8.1f} ms: {shown}")


def tasks(labels, scores):
    """The same question to each tool that answers it."""
    setting = {"class_prior": PRIOR, "scenario": "single-set"}
    areas = {
        "pulens": lambda: pulens.metrics.roc_auc(labels, scores, **setting),
        "scikit-learn": lambda: sk.roc_auc_score(labels, scores),
    }
    curves = {
        "pulens": lambda: (
            pulens.evaluate(
                labels, scores, confidence=None, threshold=THRESHOLD, **setting, labelling="random"
            ).precision_recall
        ),
        "scikit-learn": lambda: sk.precision_recall_curve(labels, scores),
    }
    if installed("pulearn"):
        from pulearn import metrics as pu

        areas["pulearn"] = lambda: pu.pu_roc_auc_score(labels, scores, PRIOR)
        curves["pulearn"] = lambda: pu.pu_precision_recall_curve(labels, scores, PRIOR)
    return {"ROC AUC": areas, "precision-recall curve": curves}


def least(function):
    spent = []
    for _ in range(3):
        start = time.process_time()
        function()
        spent.append(time.process_time() - start)
    return min(spent)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of the peers: curves outside [0, 1], deprecated calls
    peers = {name: installed(name) for name in ("scikit-learn", "pulearn", "pu-toolbox")}
    print(", ".join(f"{name} {found or 'is not installed: left out'}" for name, found in peers.items()))
    for part in sys.argv[1:] or ["numbers", "priors", "learners", "speed"]:
        {"numbers": numbers, "priors": priors, "learners": learners, "speed": speed}[part]()
