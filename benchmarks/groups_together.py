"""Cells, clusters and what rests on them together: how often intervals hold the truth.

    python benchmarks/groups_together.py calibrate   calibration within cells, and with clusters
    python benchmarks/groups_together.py compare     differences of two models within cells, and with clusters
    python benchmarks/groups_together.py decide      cost, savings and floors within cells, and with clusters
    python benchmarks/groups_together.py reviews     checked rows with clusters, and priors of cells from an audit

Every set is a new world: shares of cells, class priors, separations and labelling rates are random, and so are the
effects of clusters, which lie across the cells. The truth is that of the population the world describes.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

import pulens
from pulens import calibration


@dataclass(frozen=True)
class Place:
    """A world of cells: chances of being positive are logistic in a number that is normal within each cell."""

    shares: np.ndarray
    middles: np.ndarray
    spreads: np.ndarray
    rates: np.ndarray
    effect: float = 0.0  # standard deviation of what the rows of one cluster share
    cluster_rows: float = 0.0

    @classmethod
    def draw(cls, rng: np.random.Generator, cells: int, effect: float = 0.0, cluster_rows: float = 0.0) -> Place:
        return cls(
            rng.dirichlet(np.full(cells, 4.0)),
            rng.normal(-1.5, 0.6, cells),
            rng.uniform(0.9, 1.6, cells),
            np.exp(rng.normal(0, 0.8, cells)),
            effect,
            cluster_rows,
        )

    def rows(self, rng: np.random.Generator, size: int, labelled: int) -> dict[str, np.ndarray]:
        """Cells, clusters, the number behind the chance, classes and labels of one sample."""
        cell = rng.choice(self.shares.size, size, p=self.shares)
        cluster, shared = np.arange(size), np.zeros(size)
        if self.cluster_rows:
            many = max(int(size / self.cluster_rows), 2)
            worth = rng.gamma(1.5, size=many)
            cluster = rng.choice(many, size, p=worth / worth.sum())
            shared = rng.normal(0, self.effect, many)[cluster]
        own = np.sqrt(np.maximum(self.spreads[cell] ** 2 - self.effect**2, 0.0))
        logit = self.middles[cell] + shared + own * rng.normal(size=size)
        positive = rng.random(size) < expit(logit)
        wanted = labelled / (size * float(self.shares @ (self.rates * self.priors)))
        labels = (positive & (rng.random(size) < np.minimum(wanted * self.rates, 0.95)[cell])).astype(int)
        return {"cell": cell, "cluster": cluster, "logit": logit, "positive": positive, "labels": labels}

    @property
    def priors(self) -> np.ndarray:
        return np.array([float(weight @ expit(at)) for at, weight in self.grid])

    @property
    def grid(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of every cell: values of the number and their weights."""
        normal = np.linspace(-7, 7, 4001)
        weight = np.exp(-(normal**2) / 2)
        return [(m + s * normal, weight / weight.sum()) for m, s in zip(self.middles, self.spreads, strict=True)]

    def mean(self, of: Any) -> float:
        """Over the population, of a function of the number."""
        return float(sum(share * (weight @ of(at)) for share, (at, weight) in zip(self.shares, self.grid, strict=True)))


def scored(logit: np.ndarray, intercept: float, slope: float) -> np.ndarray:
    return np.asarray(expit(intercept + slope * logit))


WORLDS = {  # name: cells, rows, labelled, effect of clusters, rows per cluster
    "4 cells": (4, 6000, 400, 0.0, 0.0),
    "12 cells": (12, 8000, 400, 0.0, 0.0),
    "one cell, 60 clusters": (1, 3000, 300, 0.8, 50.0),
    "4 cells, 100 clusters": (4, 6000, 400, 0.7, 60.0),
    "6 cells, 40 clusters": (6, 6000, 400, 0.7, 150.0),
}


def calibrate(sets: int, seed: int, which: str) -> None:
    """Scores that promise too much, or are too timid; class priors of cells known."""
    for title, (cells, size, labelled, effect, each) in WORLDS.items():
        if which not in title:
            continue
        held, widths, begun = defaultdict(list), defaultdict(list), time.process_time()
        for number in range(sets):
            rng = np.random.default_rng([seed, 11, number, cells, size])
            world = Place.draw(rng, cells, effect, each)
            drawn = world.rows(rng, size, labelled)
            intercept, slope = rng.normal(0.2, 0.3), rng.uniform(0.6, 1.3)
            scores = scored(drawn["logit"], intercept, slope)
            given = dict(enumerate(world.priors.tolist()))
            asked: dict[str, Any] = {
                "labelled_within": drawn["cell"],
                "class_prior": {cell: given[cell] for cell in np.unique(drawn["cell"]).tolist()},
            }
            if each:
                asked["cluster"] = drawn["cluster"]
            try:
                found = _calibrated(drawn["labels"], scores, asked)
            except pulens.PulensError as error:
                held["refused"].append(str(error)[:60])
                continue
            truth = _truths(world, intercept, slope, found["diagram"])
            for name, estimate in found.items():
                if name == "diagram":
                    inside = [truth["bins"][b] in one.interval for b, one in enumerate(estimate.bins) if one.interval]
                    held["bins"] += inside
                    widths["bins"] += [one.interval.width for one in estimate.points if one.interval]
                elif estimate.interval is not None:
                    held[name].append(truth[name] in estimate.interval)
                    widths[name].append(estimate.interval.width)
        show(title, sets, held, widths, time.process_time() - begun)


def _calibrated(labels: np.ndarray, scores: np.ndarray, asked: dict[str, Any]) -> dict[str, Any]:
    line = calibration.calibration_slope(labels, scores, **asked)
    diagram = calibration.reliability(labels, scores, **asked)
    return {
        "error": diagram.error,
        "in the large": calibration.calibration_in_the_large(labels, scores, **asked),
        "brier": calibration.brier_score(labels, scores, **asked),
        "log loss": calibration.log_loss(labels, scores, **asked),
        "slope": line.slope,
        "intercept": line.intercept,
        "diagram": diagram,
    }


def _truths(world: Place, intercept: float, slope: float, diagram: Any) -> dict[str, Any]:
    edges = np.array([diagram.bins[0].low, *(one.high for one in diagram.bins)])
    masses, promises, positives = (np.zeros(len(diagram.bins)) for _ in range(3))
    steps = np.linspace(-8, 8, 40_001)
    normal = np.exp(-(steps**2) / 2)
    normal /= normal.sum()
    for share, middle, spread in zip(world.shares, world.middles, world.spreads, strict=True):
        logit = middle + spread * steps
        score = scored(logit, intercept, slope)
        place = np.clip(np.searchsorted(edges, score, side="left") - 1, 0, masses.size - 1)
        masses += share * np.bincount(place, normal, masses.size)
        promises += share * np.bincount(place, normal * score, masses.size)
        positives += share * np.bincount(place, normal * expit(logit), masses.size)

    def loss(logit: np.ndarray) -> np.ndarray:
        chance, score = expit(logit), scored(logit, intercept, slope)
        return -chance * np.log(score) - (1 - chance) * np.log1p(-score)

    return {
        "error": float(np.abs(positives - promises).sum()),
        "in the large": float(promises.sum() - positives.sum()),
        "brier": world.mean(
            lambda x: scored(x, intercept, slope) ** 2 + expit(x) * (1 - 2 * scored(x, intercept, slope))
        ),
        "log loss": world.mean(loss),
        "slope": 1 / slope,
        "intercept": -intercept / slope,
        "bins": positives / np.maximum(masses, 1e-300),
    }


METRICS = ("recall", "precision", "f1", "specificity", "accuracy", "balanced_accuracy", "lift", "roc_auc")
METRICS += ("matthews_correlation", "average_precision")


def compare(sets: int, seed: int, which: str) -> None:
    """Two models, the second with noise of its own; truth from a very large sample of the world."""
    for title, (cells, size, labelled, effect, each) in WORLDS.items():
        if which not in title:
            continue
        held, widths, begun = defaultdict(list), defaultdict(list), time.process_time()
        for number in range(sets):
            rng = np.random.default_rng([seed, 13, number, cells, size])
            world = Place.draw(rng, cells, effect, each)
            drawn = world.rows(rng, size, labelled)
            noise = rng.uniform(0.3, 1.2)
            scores = {"a": drawn["logit"], "b": drawn["logit"] + noise * rng.normal(size=size)}
            asked: dict[str, Any] = {"class_prior": known_priors(world, drawn), "threshold": -1.0, "metrics": METRICS}
            if cells > 1:
                asked["labelled_within"] = drawn["cell"]
            else:
                asked["class_prior"] = float(world.priors[0])
            if each:
                asked["cluster"] = drawn["cluster"]
            try:
                found = pulens.compare(drawn["labels"], scores, redraws=200, **asked)
            except pulens.PulensError as error:
                held["refused"].append(str(error)[:60])
                continue
            truth = true_differences(world, noise, np.random.default_rng([seed, 14, number]))
            for name in METRICS:
                (pair,) = found.differences[name]
                if pair.interval is not None:
                    held[name].append(truth[name] in pair.interval)
                    widths[name].append(pair.interval.width)
        show(title, sets, held, widths, time.process_time() - begun)


def known_priors(world: Place, drawn: dict[str, np.ndarray]) -> dict[int, float]:
    """The class priors of the cells that occur."""
    return {cell: float(world.priors[cell]) for cell in np.unique(drawn["cell"]).tolist()}


def true_differences(world: Place, noise: float, rng: np.random.Generator) -> dict[str, float]:
    """From 400,000 independent rows whose classes are known."""
    rows = Place(world.shares, world.middles, world.spreads, world.rates).rows(rng, 400_000, 1000)
    labels = np.where(rows["positive"], 1, -1)
    scores = {"a": rows["logit"], "b": rows["logit"] + noise * rng.normal(size=labels.size)}
    found = {
        model: pulens.evaluate(labels, each, negative=-1, unlabelled_prior=0.0, threshold=-1.0, confidence=None)
        for model, each in scores.items()
    }
    return {name: found["a"].estimates[name].value - found["b"].estimates[name].value for name in METRICS}


def decide(sets: int, seed: int, which: str) -> None:
    """The cheapest threshold, chosen on these rows, and floors; truths are those of the threshold that was chosen."""
    for title, (cells, size, labelled, effect, each) in WORLDS.items():
        if which not in title:
            continue
        held, widths, begun = defaultdict(list), defaultdict(list), time.process_time()
        for number in range(sets):
            rng = np.random.default_rng([seed, 17, number, cells, size])
            world = Place.draw(rng, cells, effect, each)
            drawn = world.rows(rng, size, labelled)
            asked: dict[str, Any] = {"class_prior": known_priors(world, drawn), "labelled_within": drawn["cell"]}
            if cells == 1:
                asked = {"class_prior": float(world.priors[0])}
            if each:
                asked["cluster"] = drawn["cluster"]
            rows = (drawn["labels"], drawn["logit"])
            try:
                found = pulens.decide(*rows, cost_miss=100, cost_alarm=20, redraws=400, **asked)
                floor = pulens.decide(*rows, recall_at_least=0.7, redraws=400, **asked)
                kept = pulens.decide(*rows, precision_at_least=0.35, redraws=400, **asked)
            except pulens.PulensError as error:
                held["refused"].append(str(error)[:60])
                continue
            prior, recall, flagged = at_threshold(world, found.threshold)
            cost = 1000 * (100 * prior * (1 - recall) + 20 * (flagged - prior * recall))
            curve = pulens.evaluate(*rows, threshold=-1.0, redraws=400, **asked).decision_curve()
            odds, there = curve.ratios / (1 - curve.ratios), at_threshold(world, -1.0)
            benefit = (1 + odds) * prior * there[1] - odds * there[2]
            note(held, widths, "cost", cost, found.cost.interval)
            note(held, widths, "saving, none", 1000 * 100 * prior - cost, found.saving["flag none"].interval)
            note(held, widths, "saving, all", 1000 * 20 * (1 - prior) - cost, found.saving["flag all"].interval)
            note(held, widths, "flagged", flagged, found.flagged.interval)
            note(held, widths, "recall", recall, found.recall.interval)
            note(held, widths, "precision", prior * recall / flagged, found.precision.interval)
            if curve.low is not None:
                held["whole curve"].append(bool(((benefit >= curve.low) & (benefit <= curve.high)).all()))
                widths["whole curve"].append(float((curve.high - curve.low).mean()))
            if floor.threshold is not None:
                held["recall kept"].append(at_threshold(world, floor.threshold)[1] >= 0.7)
                widths["recall kept"].append(at_threshold(world, floor.threshold)[1])
            if kept.threshold is not None:
                prior, recall, flagged = at_threshold(world, kept.threshold)
                held["precision kept"].append(prior * recall / flagged >= 0.35)
                widths["precision kept"].append(prior * recall / flagged)
        show(title, sets, held, widths, time.process_time() - begun)


def reviews(sets: int, seed: int, which: str) -> None:
    """300 unlabelled rows checked, half of them among the tenth with the highest scores; no class prior given."""
    for title, (cells, size, labelled, effect, each) in WORLDS.items():
        if which not in title:
            continue
        held, widths, begun = defaultdict(list), defaultdict(list), time.process_time()
        for number in range(sets):
            rng = np.random.default_rng([seed, 19, number, cells, size])
            world = Place.draw(rng, cells, effect, each)
            drawn = world.rows(rng, size, labelled)
            free = np.flatnonzero(drawn["labels"] == 0)
            is_high = drawn["logit"][free] >= np.quantile(drawn["logit"][free], 0.9)
            picked, chances = [], []
            for part in (free[is_high], free[~is_high]):
                picked.append(rng.choice(part, 150, replace=False))
                chances.append(np.full(150, 150 / part.size))
            rows = np.concatenate(picked)
            log = {"row": rows, "answer": drawn["positive"][rows] * 1, "probability": np.concatenate(chances)}
            asked: dict[str, Any] = {} if cells == 1 else {"labelled_within": drawn["cell"]}
            if each:
                asked["cluster"] = drawn["cluster"]
            try:
                found = pulens.evaluate(drawn["labels"], drawn["logit"], reviews=log, threshold=-1.0, **asked)
            except pulens.PulensError as error:
                held["refused"].append(str(error)[:60])
                continue
            prior, recall, flagged = at_threshold(world, -1.0)
            positive = drawn["positive"]
            note(held, widths, "class prior", prior, found.class_prior.interval)
            note(held, widths, "recall", recall, found.estimates["recall"].interval)
            note(held, widths, "precision", prior * recall / flagged, found.estimates["precision"].interval)
            f1 = 2 * prior * recall / (flagged + prior)
            note(held, widths, "f1", f1, found.estimates["f1"].interval)
            here = float((drawn["logit"][positive] >= -1.0).mean())
            note(held, widths, "recall of these rows, audit", here, found.audit.estimates["recall"].interval)
        show(title, sets, held, widths, time.process_time() - begun)


def at_threshold(world: Place, threshold: float) -> tuple[float, float, float]:
    """Class prior, recall and flagged share of the population."""
    prior = float(world.shares @ world.priors)
    hits = world.mean(lambda x: expit(x) * (x >= threshold))
    return prior, hits / prior, world.mean(lambda x: (x >= threshold) * 1.0)


def note(held: Any, widths: Any, name: str, truth: float, interval: Any) -> None:
    if interval is not None:
        held[name].append(truth in interval)
        widths[name].append(interval.width)


def show(title: str, sets: int, held: Any, widths: Any, seconds: float) -> None:
    """Coverage and mean width of everything that was tried."""
    refused = held.pop("refused", [])
    shown = "  ".join(f"{name} {np.mean(hits):.3f} ({np.mean(widths[name]):.3f})" for name, hits in held.items())
    print(f"{title}: {shown}  [{sets} sets, {len(refused)} refused, {seconds:.0f} s]", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=sorted(PARTS))
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--world", default="", help="only worlds whose name holds this")
    given = parser.parse_args()
    PARTS[given.what](given.sets, given.seed, given.world)


PARTS = {"calibrate": calibrate, "compare": compare, "decide": decide, "reviews": reviews}

if __name__ == "__main__":
    main()
