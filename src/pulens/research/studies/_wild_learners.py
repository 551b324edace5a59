"""Learners on real labels: each trained on the labels somebody gave, its scores judged by the truth.

Where rows and labels are one sample, scores are out of fold; where presences were collected separately from a survey,
the learner is trained on the presences and on background rows, and the surveyed rows are judged. A learner is given the
true class prior where it takes one. No more than ``MOST_ROWS`` rows train.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from pulens.research.benchmark.wild import family_of
from pulens.types import Booleans, Floats

FOLDS = 3
MOST_ROWS = 3000
METRICS = ("roc_auc", "average_precision", "f1")
Arrays = Mapping[str, Any]
Part = tuple[Any, Booleans, Any, Booleans, Booleans]  # training rows and labels, judged rows, their places and truth


@dataclass(frozen=True, slots=True)
class WildRun:
    """What a learner reached on one data set, judged by the truth; F1 with as many rows flagged as are positive."""

    world: str
    family: str
    learner: str
    roc_auc: float
    average_precision: float
    f1: float
    seconds: float
    rows: int
    labelled: int
    class_prior: float
    scenario: str

    def to_line(self) -> str:
        return json.dumps({name: round(v, 5) if isinstance(v, float) else v for name, v in asdict(self).items()})


def learners(prior: float, scenario: str, seed: int) -> dict[str, Callable[[], Any]]:
    """Learners that train in minutes, with their defaults; two plain models of labelled rows against the rest first."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    from pulens.learning import learners as own

    options: dict[str, Any] = {"class_prior": prior, "scenario": scenario, "random_state": seed}
    network = {**options, "device": "cpu", "progress": False}

    def boosting() -> Any:
        return HistGradientBoostingClassifier(random_state=seed)

    return {
        "logistic regression": lambda: LogisticRegression(max_iter=500),
        "boosting": boosting,
        "forest, balanced": lambda: RandomForestClassifier(
            200, class_weight="balanced_subsample", min_samples_leaf=3, random_state=seed
        ),
        "BoostedPU": lambda: own.BoostedPU(**options),
        "PUET": lambda: own.PUET(**options),
        "PUBagging": lambda: own.PUBagging(**options),
        "PUBagging, boosting": lambda: own.PUBagging(boosting(), n_estimators=20, **options),
        "ElkanNoto": lambda: own.ElkanNoto(**options),
        "WeightedElkanNoto": lambda: own.WeightedElkanNoto(**options),
        "NNPU": lambda: own.NNPU(**network),
        "UPU": lambda: own.UPU(**network),
    }


NAMES = (
    *("logistic regression", "boosting", "forest, balanced", "BoostedPU", "PUET", "PUBagging", "PUBagging, boosting"),
    *("ElkanNoto", "WeightedElkanNoto", "NNPU", "UPU"),
)
TAKES_MISSING = ("boosting", "BoostedPU")


def parts(world: Mapping[str, Any], stored: Arrays, seed: int) -> Iterator[Part]:
    """What trains and what is judged, fold by fold."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    rng = np.random.default_rng([seed, 43])
    if world.get("records"):
        records, sites, survey, background = (stored[world[k]] for k in ("records", "sites", "survey", "background"))
        kept = rng.permutation(len(background))[: max(MOST_ROWS - len(records), MOST_ROWS // 2)]
        codes = np.repeat([True, False], [len(records), kept.size])
        yield np.concatenate([records, background[kept]]), codes, sites, np.ones(len(sites), bool), survey.astype(bool)
        return
    features = stored[world["X"]]
    labelled, truth = (stored[world[key]].astype(bool) for key in ("labelled", "truth"))
    group = stored[world["group"]] if world.get("group") else None
    population = ~labelled if world["scenario"] == "case-control" else np.ones(labelled.size, bool)
    folds = StratifiedKFold if group is None else StratifiedGroupKFold
    for train, rest in folds(FOLDS, shuffle=True, random_state=seed).split(features, labelled, group):
        kept = train if train.size <= MOST_ROWS else thinned(train, labelled[train], rng)
        yield features[kept], labelled[kept], features[rest], population[rest], truth[rest]


def thinned(rows: Any, labelled: Booleans, rng: np.random.Generator) -> Any:
    """At most this many rows at random, as many of them labelled as in all of them."""
    share = MOST_ROWS / rows.size
    mine = [rng.permutation(rows[labelled == kind]) for kind in (True, False)]
    return np.concatenate([part[: max(10, round(share * part.size))] for part in mine])


def run_world(path: Path, world: Mapping[str, Any], name: str, seed: int) -> WildRun:
    """One learner on one data set."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    result: list[tuple[Floats, Booleans]] = []
    began, rows, labelled = time.process_time(), 0, 0
    with np.load(path) as stored:
        prior = prior_of(world, stored)
        for X, codes, judged, population, truth in parts(world, stored, seed):
            model = learners(prior, world["scenario"], seed)[name]()
            rows, labelled = max(rows, codes.size), max(labelled, int(codes.sum()))
            X, judged = (X, judged[population]) if name in TAKES_MISSING else _filled(X, judged[population])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scores = model.fit(X, codes.astype(int)).predict_proba(judged)[:, 1]
            result.append((np.nan_to_num(np.asarray(scores, float)), truth[population]))
    scores, truth = (np.concatenate(column) for column in zip(*result, strict=True))
    flagged = scores >= np.sort(scores)[scores.size - max(1, int(truth.sum()))]
    hits = float((flagged & truth).sum())
    return WildRun(
        world=str(world["world"]),
        family=family_of(world),
        learner=name,
        roc_auc=float(roc_auc_score(truth, scores)),
        average_precision=float(average_precision_score(truth, scores)),
        f1=2 * hits / float(flagged.sum() + truth.sum()),
        seconds=time.process_time() - began,
        rows=rows,
        labelled=labelled,
        class_prior=prior,
        scenario=str(world["scenario"]),
    )


def prior_of(world: Mapping[str, Any], stored: Arrays) -> float:
    """The share of positives in the population that the truth is about."""
    if world.get("records"):
        return float(stored[world["survey"]].mean())
    labelled, truth = (stored[world[key]].astype(bool) for key in ("labelled", "truth"))
    return float(truth[~labelled].mean() if world["scenario"] == "case-control" else truth.mean())


def _filled(X: Any, judged: Any) -> tuple[Any, Any]:
    """Columns scaled, missing values at the median, both as the training rows have them."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    ready = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()).fit(X)
    return ready.transform(X), ready.transform(judged)


def read_runs(store: Path | None) -> list[WildRun]:
    """Runs of a file of lines, those of a line that was cut aside."""
    if store is None or not store.is_file():
        return []
    result = []
    for line in store.read_text(encoding="utf-8").splitlines():
        try:
            result.append(WildRun(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return result


def by_family(runs: Sequence[WildRun], value: Callable[[WildRun], float]) -> float:
    """The mean over data sets of a family, then over families.

    >>> made = [WildRun(w, f, "a", auc, 0, 0, 0, 9, 3, .2, "single-set") for w, f, auc in (("x", "p", .5), ("y", "p", .7), ("z", "q", .9))]
    >>> round(by_family(made, lambda run: run.roc_auc), 3)
    0.75
    """  # noqa: E501
    families: dict[str, list[float]] = {}
    for run in runs:
        families.setdefault(run.family, []).append(value(run))
    return fmean(fmean(own) for own in families.values())


def complete(runs: Sequence[WildRun]) -> list[WildRun]:
    """Runs on the data sets that all learners have; a learner with runs on fewer than half of them is left out."""
    there: dict[str, set[str]] = {}
    for run in runs:
        there.setdefault(run.learner, set()).add(run.world)
    sets = {run.world for run in runs}
    names = {name for name, own in there.items() if len(own) >= len(sets) / 2}
    common = sets.intersection(*(there[name] for name in names))
    return [run for run in runs if run.learner in names and run.world in common]


def regrets(runs: Sequence[WildRun], metric: str, picked: str | Callable[[WildRun], str]) -> list[tuple[str, float]]:
    """What a learner, or the one that ``picked`` names, loses on each data set against the best; with the family."""
    best: dict[str, float] = {}
    own: dict[tuple[str, str], float] = {}
    for run in runs:
        value = getattr(run, metric)
        best[run.world] = max(best.get(run.world, -1.0), value)
        own[run.world, run.learner] = value
    first = {run.world: run for run in runs}
    name = (lambda run: picked) if isinstance(picked, str) else picked
    return [(run.family, best[world] - own[world, name(run)]) for world, run in first.items()]
