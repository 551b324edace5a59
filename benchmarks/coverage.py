"""How often do 95% intervals hold the truth, and how wide are they? Worlds x designs x statistics.

Ranking worlds have known score distributions and differ in what is known of the class prior; design worlds
(``pulens.testing.DesignWorld``) have strata, clusters or both, and are drawn anew for every set, so that a figure
covers many of them. In favoured worlds positives above the threshold are labelled several times as often: ``factor``
asks for the range at that factor, whose end is the truth (of recall, precision and F1; of the areas in worlds whose
name ends with theirs), apart for sets that refute random labels; ``contradiction`` counts the sets that do (false
alarms where the factor is 1), ``proved`` those whose range stops at what the rows at hand prove, in the place of
coverage. Prints, and writes with ``--csv``, one line per world, statistic and number: coverage, mean width, how often
the whole interval lay below the truth, and how many sets were refused.

Usage: python benchmarks/coverage.py [--sets 200] [--jobs 2] [--worlds NAME,...] [--statistics NAME,...] [--csv FILE]
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property, lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.special import expit, ndtr

import pulens
from pulens import calibration
from pulens.testing import DesignRows, DesignWorld, RankingWorld, another_study

METRICS = ("roc_auc", "average_precision", "precision", "recall", "f1", "specificity", "accuracy", "lift")
AT = -1.0  # threshold in design worlds
Found = tuple[str, Any, float]  # name, interval or None, truth


class Drawn(NamedTuple):
    """One test set: labels, scores of two models, what the package is told, and the truth of a metric."""

    labels: np.ndarray
    models: dict[str, np.ndarray]
    told: dict[str, Any]
    thresholds: dict[str, float]
    truth: Callable[[str, str, float], float]  # of a metric, for a model, at a threshold
    design: tuple[DesignWorld, DesignRows] | None = None
    favour: float = 1.0  # how many times as often positives above the threshold are labelled


class Ranking(NamedTuple):
    """A world of two score distributions, and what is known of its class prior."""

    family: str
    auc: float
    prior: float
    labelled: int
    unlabelled: int
    knowledge: str = "known"  # known, interval (95%, from another study), range, estimated
    scenario: str = "case-control"
    levels: int = 0  # round scores to so many distinct values

    def draw(self, rng: np.random.Generator, number: int) -> Drawn:
        size = self.labelled, self.unlabelled
        world = RankingWorld(self.family, self.auc, self.prior, *size, self.scenario, self.levels)
        aucs = {"a": self.auc, "b": self.auc - 0.06}
        labels, models = (*world.draw(rng),) if self.levels else world.draw_models(aucs, rng)
        models = {"a": models} if self.levels else models
        truths = {name: world.with_auc(auc) for name, auc in aucs.items() if name in models}

        def truth(metric: str, model: str, threshold: float) -> float:
            own = truths[model]
            values = own.values if threshold == own.threshold else own.values_at(threshold)
            return float(values[metric]) if metric in values else math.nan

        told = {"scenario": self.scenario, **self.known(rng, labels, number)}
        return Drawn(labels, models, told, {name: one.threshold for name, one in truths.items()}, truth)

    def known(self, rng: np.random.Generator, labels: np.ndarray, number: int) -> dict[str, Any]:
        if self.knowledge == "interval":
            return {"class_prior": another_study(self.prior, labels, self.scenario, number)}
        low = self.prior * (1 - 0.3 * rng.random())
        said = {"known": self.prior, "range": (low, low + 0.3 * self.prior), "estimated": "auto"}
        return {"class_prior": said[self.knowledge]}


class Population:
    """Very many rows of a design world whose classes are known, scored by both models."""

    def __init__(self, world: DesignWorld, noise: float, seed: list[int]) -> None:
        self.rng = np.random.default_rng(seed)
        self.rows = world.independent().draw(self.rng, 200_000, 1000)
        self.noise = noise

    @cached_property
    def models(self) -> dict[str, np.ndarray]:
        return two_models(self.rows, self.noise, self.rng)

    @lru_cache(maxsize=4)  # noqa: B019  (a population lives as long as its test set)
    def evaluated(self, model: str, threshold: float) -> Any:
        labels = np.where(self.rows.positive, 1, -1)
        asked = {"negative": -1, "unlabelled_prior": 0.0, "threshold": threshold, "confidence": None}
        return pulens.evaluate(labels, self.models[model], **asked, labelling="random")

    def truth(self, metric: str, model: str, threshold: float) -> float:
        return float(self.evaluated(model, threshold).estimates[metric].value)


def two_models(rows: DesignRows, noise: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"a": rows.score, "b": rows.score + noise * rng.normal(size=rows.score.size)}


class Design(NamedTuple):
    """A design world: strata, rows, labelled rows, and clusters that move scores."""

    strata: int
    rows: int
    labelled: int
    effect: float = 0.0
    cluster_rows: float = 0.0

    def draw(self, rng: np.random.Generator, number: int) -> Drawn:
        world = DesignWorld.drawn(rng, strata=self.strata, effect=self.effect, cluster_rows=self.cluster_rows)
        rows, noise = world.draw(rng, self.rows, self.labelled), rng.uniform(0.3, 1.2)
        told: dict[str, Any] = {"class_prior": world.mean(expit)}
        if self.strata > 1:
            seen = np.unique(rows.stratum).tolist()
            told = {
                "labelled_within": rows.stratum,
                "class_prior": {one: float(world.class_priors[one]) for one in seen},
            }
        if self.cluster_rows:
            told["cluster"] = rows.cluster
        population = Population(world, noise, [number, self.rows, self.strata])
        models = two_models(rows, noise, rng)
        return Drawn(rows.labels, models, told, dict.fromkeys("ab", AT), population.truth, (world, rows))


@lru_cache
def real_pool(table: str) -> tuple[np.ndarray, np.ndarray]:
    """Scores of boosted trees for the negatives and the positives of a real table, in rising order."""
    import real_worlds

    folder = Path(os.environ.get("PULENS_SHARED", "../shared")) / "data"
    world = real_worlds.pool(folder, (table, next(iter(real_worlds.TABLES[table])), "boosting"))
    return np.sort(world.negative), np.sort(world.positive)


class Favoured(NamedTuple):
    """Normal scores; positives above their median, or ``step`` above it, are labelled ``favour`` times as often.

    With a ``table`` scores are drawn from those of a model on that table.
    """

    gap: float
    prior: float
    labelled: int
    rows: int
    favour: float = 1.0
    knowledge: str = "known"  # known, interval (95%, from another study), audited (200 rows), estimated
    scenario: str = "case-control"
    step: float = 0.0
    table: str = ""

    def draw(self, rng: np.random.Generator, number: int) -> Drawn:
        more = int(1.5 * self.favour * self.labelled) + 100 if self.scenario == "case-control" else 0
        positive = np.concatenate([np.ones(more, bool), rng.random(self.rows) < self.prior])
        scores = self.scores(rng, positive)
        middle = float(np.median(real_pool(self.table)[1])) if self.table else self.gap
        chance = np.where(scores >= middle + self.step, 1.0, 1 / self.favour)
        if self.scenario == "single-set":
            mean = 1 / self.favour + (1 - 1 / self.favour) * float(ndtr(-self.step))
            chance = chance * min(self.labelled / (self.prior * self.rows * mean), 1.0)
        labels = (positive & (rng.random(positive.size) < chance)).astype(int)
        if more:  # the labelled rows were drawn separately
            kept = np.append(np.flatnonzero(labels[:more])[: self.labelled], np.arange(more, positive.size))
            labels[more:] = 0
            labels, scores, positive = labels[kept], scores[kept], positive[kept]
        told: dict[str, Any] = {"scenario": self.scenario, "class_prior": self.prior}
        if self.knowledge == "interval":
            told["class_prior"] = another_study(self.prior, labels, self.scenario, number)
        elif self.knowledge == "audited":
            del told["class_prior"]
            told["audit"] = (int(rng.choice(positive[labels == 0], 200, replace=False).sum()), 200)
        elif self.knowledge == "estimated":
            told["class_prior"] = "auto"
        return Drawn(labels, {"a": scores}, told, {"a": middle}, self.truth, favour=self.favour)

    def scores(self, rng: np.random.Generator, positive: np.ndarray) -> np.ndarray:
        if not self.table:
            return rng.normal(self.gap * positive)
        return np.where(positive, *(rng.choice(one, positive.size) for one in real_pool(self.table)[::-1]))

    def rates(self, at: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the positives and of the negatives at or above thresholds."""
        if not self.table:
            return ndtr(self.gap - at), ndtr(-at)
        negative, positive = (1 - np.searchsorted(one, at) / one.size for one in real_pool(self.table))
        return positive, negative

    def truth(self, metric: str, model: str, threshold: float) -> float:
        at = np.linspace(self.gap + 9, -9, 20_001)
        if self.table:
            at = np.unique(np.concatenate(real_pool(self.table)))[::-1]
        recall, alarms = (np.append(0.0, one) for one in self.rates(at))
        precision = self.prior * recall[1:] / (self.prior * recall[1:] + (1 - self.prior) * alarms[1:])
        reached, false = map(float, self.rates(threshold))
        known = {
            "roc_auc": float(np.trapezoid(recall, alarms)),
            "average_precision": float(precision @ np.diff(recall)),
            "recall": reached,
        }
        called = self.prior * reached + (1 - self.prior) * false
        known["precision"] = self.prior * known["recall"] / called
        return {**known, "f1": 2 * self.prior * known["recall"] / (called + self.prior)}[metric]


# --- statistics ------------------------------------------------------------------------------------------------------


def evaluate(drawn: Drawn) -> Iterator[Found]:
    """Metrics of one model at a threshold given beforehand."""
    at = drawn.thresholds["a"]
    result = pulens.evaluate(drawn.labels, drawn.models["a"], threshold=at, redraws=400, **drawn.told)
    for name in METRICS:
        if name in result.estimates:
            yield name, result.estimates[name].interval, drawn.truth(name, "a", at)


def chosen(drawn: Drawn) -> Iterator[Found]:
    """At the threshold with the best F1 on the same rows."""
    result = pulens.evaluate(drawn.labels, drawn.models["a"], redraws=400, **drawn.told)
    for name in ("precision", "recall", "f1"):
        yield name, result.estimates[name].interval, drawn.truth(name, "a", result.threshold)


def compare(drawn: Drawn) -> Iterator[Found]:
    """The difference of two models."""
    if len(drawn.models) < 2:
        return
    names = ("roc_auc", "average_precision", "precision", "recall", "f1")
    asked = {"metrics": names, "threshold": drawn.thresholds, "redraws": 200, **drawn.told}
    result = pulens.compare(drawn.labels, drawn.models, **asked)
    for name in names:
        first, second = (drawn.truth(name, model, drawn.thresholds[model]) for model in "ab")
        yield name, result.difference("a", "b", name).interval, first - second


def calibrate(drawn: Drawn) -> Iterator[Found]:
    """Scores that promise too much; design worlds only, whose scores are log odds."""
    world, rows = drawn.design
    intercept, slope = 0.2, 0.8

    def promised(score: np.ndarray) -> np.ndarray:
        return np.asarray(expit(intercept + slope * score))

    probabilities = promised(rows.score)
    asked = drawn.labels, probabilities
    yield (
        "brier score",
        calibration.brier_score(*asked, **drawn.told).interval,
        world.mean(lambda x: promised(x) ** 2 + expit(x) * (1 - 2 * promised(x))),
    )
    yield (
        "in the large",
        calibration.calibration_in_the_large(*asked, **drawn.told).interval,
        world.mean(promised) - world.mean(expit),
    )
    yield (
        "log loss",
        calibration.log_loss(*asked, **drawn.told).interval,
        world.mean(lambda x: -expit(x) * np.log(promised(x)) - (1 - expit(x)) * np.log1p(-promised(x))),
    )
    line = calibration.calibration_slope(*asked, **drawn.told)
    yield "slope", line.slope.interval, 1 / slope
    yield "intercept", line.intercept.interval, -intercept / slope
    diagram = calibration.reliability(*asked, **drawn.told)
    edges = [one.low for one in diagram.bins[1:]]
    gaps = [
        world.mean(lambda x, place=place: (np.searchsorted(edges, promised(x)) == place) * (expit(x) - promised(x)))
        for place in range(len(diagram.bins))
    ]
    yield "calibration error", diagram.error.interval, float(np.abs(gaps).sum())


def decide(drawn: Drawn) -> Iterator[Found]:
    """The cheapest threshold, chosen on these rows; truths are those of the threshold that was chosen."""
    world, _ = drawn.design
    result = pulens.decide(drawn.labels, drawn.models["a"], cost_miss=100, cost_alarm=20, redraws=400, **drawn.told)
    prior, hits, flagged = (
        world.mean(expit),
        world.mean(lambda x: expit(x) * (x >= result.threshold)),
        world.mean(lambda x: (x >= result.threshold) * 1.0),
    )
    cost = 1000 * (100 * (prior - hits) + 20 * (flagged - hits))
    yield "cost", result.cost.interval, cost
    yield "saving over none", result.saving["flag none"].interval, 100_000 * prior - cost
    yield "saving over all", result.saving["flag all"].interval, 20_000 * (1 - prior) - cost
    yield "flagged", result.flagged.interval, flagged
    yield "recall", result.recall.interval, hits / prior
    yield "precision", result.precision.interval, hits / flagged


def reviews(drawn: Drawn) -> Iterator[Found]:
    """300 unlabelled rows checked, half of them among the tenth with the highest scores; no class prior given."""
    world, rows = drawn.design
    rng = np.random.default_rng(int(drawn.labels.sum()))
    free = np.flatnonzero(rows.labels == 0)
    is_high = rows.score[free] >= np.quantile(rows.score[free], 0.9)
    parts = [free[is_high], free[~is_high]]
    picked = np.concatenate([rng.choice(part, 150, replace=False) for part in parts])
    log = {
        "row": picked,
        "answer": rows.positive[picked] * 1,
        "probability": np.repeat([150 / part.size for part in parts], 150),
    }
    told = {name: value for name, value in drawn.told.items() if name != "class_prior"}
    result = pulens.evaluate(rows.labels, rows.score, reviews=log, threshold=AT, **told)
    prior, hits, flagged = (
        world.mean(expit),
        world.mean(lambda x: expit(x) * (x >= AT)),
        world.mean(lambda x: (x >= AT) * 1.0),
    )
    yield "class prior of these rows", result.class_prior.interval, float(rows.positive.mean())
    yield "recall", result.estimates["recall"].interval, hits / prior
    yield "precision", result.estimates["precision"].interval, hits / flagged
    yield "f1", result.estimates["f1"].interval, 2 * hits / (flagged + prior)


def estimated(drawn: Drawn) -> Iterator[Found]:
    """Class priors of strata and of all rows, estimated from the same rows."""
    world, rows = drawn.design
    told = {name: value for name, value in drawn.told.items() if name != "class_prior"}
    result = pulens.evaluate(rows.labels, rows.score, threshold=AT, redraws=400, **told)
    yield "class prior", result.class_prior.interval, world.mean(expit)
    for cell in result.cells or ():
        yield "class prior of a stratum", cell.prior_interval, float(world.class_priors[int(cell.name)])


def factor(drawn: Drawn) -> Iterator[Found]:
    """What is possible where labels favour high scores up to the world's factor; favoured worlds only."""
    result = pulens.evaluate(
        drawn.labels, drawn.models["a"], threshold=drawn.thresholds["a"], redraws=200, **drawn.told
    )
    for name in ("roc_auc", "average_precision", "precision", "recall", "f1"):
        ends = result.sensitivity(name, factor=drawn.favour).interval
        kept = pulens.Interval(ends.low, ends.high, 0.95, "range")  # of sets that refute random labels too
        is_refuted = result.contradiction is not None
        yield f"{name} (refuted)" if is_refuted else name, kept, drawn.truth(name, "a", drawn.thresholds["a"])


def proved(drawn: Drawn) -> Iterator[Found]:
    """1 where the range without sampling error stops at what the rows prove; favoured worlds of one sample only.

    Every labelled row is a positive. The others, as many as the class prior says, prove the least where they are the
    unlabelled rows with the lowest scores.
    """
    if drawn.told["scenario"] != "single-set":
        return
    labels, scores, at = drawn.labels, drawn.models["a"], drawn.thresholds["a"]
    result = pulens.evaluate(labels, scores, threshold=at, redraws=200, **drawn.told)
    positives, flagged = result.class_prior.value * labels.size, int((scores >= at).sum())
    hits = int(labels[scores >= at].sum())
    hidden = max(round(positives) - int(labels.sum()), 0)
    order = np.argsort(scores)
    truth = labels.copy()
    truth[order[labels[order] == 0][:hidden]] = 1
    worst = pulens.evaluate(
        np.where(truth, 1, -1), scores, negative=-1, unlabelled_prior=0.0, confidence=None, labelling="random"
    )
    hits += max(0.0, positives - labels.sum() - ((labels == 0) & (scores < at)).sum())
    floors = {
        "recall": hits / positives,
        "precision": hits / flagged,
        "f1": 2 * hits / (flagged + positives),
        "roc_auc": worst.estimates["roc_auc"].value - 1e-3,  # whole rows are placed
    }
    for name, floor in floors.items():
        kept = float(result.sensitivity(name, factor=1000.0).possible.low >= floor - 1e-9)
        yield name, pulens.Interval(kept, kept, 0.95, "share"), 1.0


def contradiction(drawn: Drawn) -> Iterator[Found]:
    """1 where random labels are refuted, as an interval without width: its coverage of 1 is how often that is."""
    result = pulens.evaluate(drawn.labels, drawn.models["a"], confidence=None, **drawn.told)
    fired = float(result.contradiction is not None)
    yield "refuted", pulens.Interval(fired, fired, 0.95, "share"), 1.0


ANY = {"evaluate": evaluate, "chosen": chosen, "compare": compare}
OF_FAVOURED = {"factor": factor, "contradiction": contradiction, "proved": proved}
OF_DESIGNS = {"calibrate": calibrate, "decide": decide, "reviews": reviews, "estimated": estimated}
REAL = ("spambase", "letter", "pendigits", "landsat", "page_blocks", "mushroom", "avila", "wine_quality")
STATISTICS = {**ANY, **OF_DESIGNS, **OF_FAVOURED}
WORLDS: dict[str, Ranking | Design | Favoured] = {
    "g-60": Ranking("gaussian", 0.60, 0.30, 500, 5_000),
    "g-75": Ranking("gaussian", 0.75, 0.10, 200, 5_000),
    "g-90-small": Ranking("gaussian", 0.90, 0.30, 30, 1_000),
    "g-75-small": Ranking("gaussian", 0.75, 0.50, 30, 1_000),
    "g-99": Ranking("gaussian", 0.99, 0.05, 200, 10_000),
    "g-99-small": Ranking("gaussian", 0.99, 0.20, 50, 2_000),
    "g-rare": Ranking("gaussian", 0.95, 0.02, 100, 20_000),
    "beta-80": Ranking("beta", 0.80, 0.20, 300, 3_000),
    "beta-95": Ranking("beta", 0.95, 0.50, 100, 2_000),
    "tied-70": Ranking("gaussian", 0.70, 0.20, 200, 4_000, levels=8),
    "tied-90": Ranking("gaussian", 0.90, 0.10, 100, 4_000, levels=5),
    "skewed-75": Ranking("skewed", 0.75, 0.10, 200, 5_000),
    "skewed-85-small": Ranking("skewed", 0.85, 0.30, 40, 1_000),
    "single-85": Ranking("gaussian", 0.85, 0.25, 200, 2_800, scenario="single-set"),
    "unequal-85": Ranking("unequal", 0.85, 0.20, 200, 4_000),
    "g-90-interval": Ranking("gaussian", 0.90, 0.30, 200, 4_000, "interval"),
    "beta-80-interval": Ranking("beta", 0.80, 0.10, 100, 5_000, "interval"),
    "tied-80-interval": Ranking("gaussian", 0.80, 0.20, 300, 3_000, "interval", levels=8),
    # the world of the intervals' own study: X|1 ~ N(1, 1), X|0 ~ N(-1, 1), a class prior of .3 known to .03
    "g-92-interval-small": Ranking("gaussian", 0.9214, 0.30, 50, 500, "interval"),
    "g-92-interval": Ranking("gaussian", 0.9214, 0.30, 200, 2_000, "interval"),
    "skewed-80-interval": Ranking("skewed", 0.80, 0.20, 100, 1_000, "interval"),
    "single-85-interval": Ranking("gaussian", 0.85, 0.25, 100, 1_400, "interval", "single-set"),
    "g-85-range": Ranking("gaussian", 0.85, 0.20, 300, 5_000, "range"),
    "skewed-80-range": Ranking("skewed", 0.80, 0.30, 100, 2_000, "range"),
    "g-90-estimated": Ranking("gaussian", 0.90, 0.30, 200, 4_000, "estimated"),
    "beta-85-estimated": Ranking("beta", 0.85, 0.10, 300, 5_000, "estimated"),
    "unequal-85-estimated": Ranking("unequal", 0.85, 0.20, 200, 4_000, "estimated"),
    "g-large": Ranking("gaussian", 0.85, 0.20, 2_000, 100_000),
    "plain": Design(1, 6_000, 400),
    "strata-4": Design(4, 6_000, 400),
    "strata-12": Design(12, 8_000, 400),
    "clusters-10": Design(1, 2_000, 300, 0.8, 200.0),
    "clusters-20": Design(1, 2_000, 300, 0.8, 100.0),
    "clusters-60": Design(1, 3_000, 300, 0.8, 50.0),
    "clusters-400": Design(1, 4_000, 400, 0.8, 10.0),
    "both-4-100": Design(4, 6_000, 400, 0.7, 60.0),
    "both-6-40": Design(6, 6_000, 400, 0.7, 150.0),
    **{
        f"favoured-{scenario}-{favour:g}-{knowledge}-{size}": Favoured(*sizes, favour, knowledge, scenario)
        for scenario in ("case-control", "single-set")
        for favour in (1.0, 3.0, 6.0)
        for knowledge in ("known", "interval", "audited", "estimated")
        for size, sizes in {"small": (1.5, 0.2, 600, 6_600), "large": (3.0, 0.2, 2_000, 22_000)}.items()
    },
    **{  # steps at which the truth is the lower end of the range of an area
        f"favoured-{scenario}-3-{knowledge}-{area}": Favoured(1.5, 0.2, 600, 6_600, 3.0, knowledge, scenario, step)
        for scenario in ("case-control", "single-set")
        for knowledge in ("known", "audited")
        for area, step in {"roc_auc": -0.28, "average_precision": 0.29}.items()
    },
    **{  # few rows; and a sample in which every positive above the threshold is labelled: both limits are the truth
        f"favoured-{scenario}-{favour:g}-{knowledge}-{size}": Favoured(*sizes, favour, knowledge, scenario)
        for scenario in ("case-control", "single-set")
        for favour in (1.0, 3.0)
        for knowledge in ("known", "audited")
        for size, sizes in {"few": (1.0, 0.3, 150, 1_650), "all": (3.0, 0.1, 440, 6_600)}.items()
    },
    **{  # scores of boosted trees on real tables
        f"real-{favour:g}-{knowledge}-{table}": Favoured(0, 0.25, 800, 8_000, favour, knowledge, table=table)
        for favour in (1.0, 6.0)
        for knowledge in ("known", "interval", "audited", "estimated")
        for table in REAL
    },
}
TAKES = {Ranking: {*ANY}, Design: {*ANY, *OF_DESIGNS}, Favoured: {*OF_FAVOURED}}  # kind of world: statistics


def one_set(name: str, statistic: str, number: int) -> list[tuple[str, float, float, float]] | None:
    """Of every number that has a confidence interval: its name, both ends and the truth; None where it was refused."""
    rng = np.random.default_rng([number, sum(map(ord, name))])
    drawn = WORLDS[name].draw(rng, number)
    drawn.told["labelling"] = "random"
    try:
        result = [
            (what, interval.low, interval.high, truth)
            for what, interval, truth in STATISTICS[statistic](drawn)
            if interval is not None and interval.confidence is not None and not math.isnan(truth)
        ]
    except pulens.PulensError:
        return None
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--worlds", default="", help="those whose name begins with one of these, comma between them")
    parser.add_argument("--statistics", default=",".join(STATISTICS))
    parser.add_argument("--csv", type=argparse.FileType("w"), default=None)
    asked = parser.parse_args()
    error = 100 * math.sqrt(0.95 * 0.05 / asked.sets)
    print(f"nominal 95%, {asked.sets} sets each: one standard error of a coverage is {error:.1f} points")
    heads = ("world", "statistic", "number", "sets", "coverage", "width", "below", "refused")
    out = csv.writer(asked.csv or sys.stdout)
    out.writerow(heads)
    with ProcessPoolExecutor(asked.jobs) as pool:
        for name, world in WORLDS.items():
            if not name.startswith(tuple(asked.worlds.split(","))):
                continue
            for statistic in asked.statistics.split(","):
                if statistic not in TAKES[type(world)]:
                    continue
                tried = list(pool.map(one_set, repeat(name), repeat(statistic), range(asked.sets), chunksize=5))
                ends = defaultdict(list)
                for what, *rest in (one for each in tried if each is not None for one in each):
                    ends[what].append(rest)
                for what, numbers in ends.items():
                    low, high, truth = np.array(numbers).T
                    held = 100 * np.mean((low <= truth) & (truth <= high))
                    shown = f"{held:.1f}", f"{np.mean(high - low):.4g}", f"{100 * np.mean(high < truth):.1f}"
                    out.writerow((name, statistic, what, low.size, *shown, sum(each is None for each in tried)))
                (asked.csv or sys.stdout).flush()


if __name__ == "__main__":
    main()
