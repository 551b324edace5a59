"""How often do 95% intervals hold the truth, and how wide are they?

Draws test sets from worlds whose truth is known, evaluates each and counts. Prints one line per world and metric
group: coverage in percent (mean width). With ``--compare`` it compares two models instead, where the class prior is in
doubt: coverage of the difference and of each model's value.

Usage: python benchmarks/coverage.py [--sets 500] [--jobs 2] [--only NAME] [--quick] [--compare]
"""

from __future__ import annotations

import argparse
import math
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from pulens.doors.evaluate import best_threshold
from scipy import optimize, stats

import pulens
from pulens.estimate import Interval
from pulens.evidence import gather
from pulens.intervals.doubts import Choice, Doubts
from pulens.intervals.kernels.resampling import Resampling
from pulens.metrics.parts.measure import estimate
from pulens.priors import ClassPrior

GOLDEN = (math.sqrt(5) - 1) / 2
METRICS = ("roc_auc", "average_precision", "precision", "recall", "f1")


@dataclass(frozen=True)
class World:
    """Score distributions of both classes, numbers of rows, and what is known of the class prior."""

    name: str
    family: str
    auc: float
    prior: float
    labelled: int
    unlabelled: int
    knowledge: str = "known"  # known, interval (95%, from another study), range, estimated
    scenario: str = "case-control"
    levels: int = 0  # round scores to so many distinct values

    @property
    def distributions(self) -> tuple[stats.rv_continuous, stats.rv_continuous]:
        return pair(self.family, self.auc)


@lru_cache
def pair(family: str, auc: float) -> tuple[stats.rv_continuous, stats.rv_continuous]:
    """Positives and negatives of a family with this ROC AUC."""
    gap = math.sqrt(2) * stats.norm.ppf(auc)
    if family == "gaussian":
        return stats.norm(gap), stats.norm(0)
    if family == "unequal":  # positives spread twice as wide: negatives never look unlike positives at the top
        return stats.norm(gap * math.sqrt(2.5), 2), stats.norm(0)
    if family == "beta":

        def area(shape: float) -> float:
            x = np.linspace(0, 1, 20001)
            return float(np.trapezoid(stats.beta(2, shape).pdf(x) * stats.beta(shape, 2).sf(x), x))

        shape = optimize.brentq(lambda k: area(k) - auc, 2.0, 40.0)
        return stats.beta(shape, 2), stats.beta(2, shape)
    if family == "skewed":  # exponential scores: AUC = scale / (1 + scale)
        return stats.expon(scale=auc / (1 - auc)), stats.expon(scale=1.0)
    raise ValueError(family)


def thresholds_of(world: World) -> np.ndarray:
    """Fine enough a grid for truth by summation; exactly the levels, where scores are rounded."""
    positive, negative = world.distributions
    low = min(positive.ppf(1e-9), negative.ppf(1e-9))
    high = max(positive.ppf(1 - 1e-9), negative.ppf(1 - 1e-9))
    if world.levels:
        return np.linspace(negative.ppf(0.01), positive.ppf(0.99), world.levels)
    return np.linspace(low, high, 400_001)


def survival(world: World, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """True and false positive rates at thresholds that scores can have."""
    if not world.levels:
        return tuple(side.sf(thresholds) for side in world.distributions)  # type: ignore[return-value]
    levels = thresholds_of(world)
    cuts = np.where(thresholds <= levels[0], -np.inf, thresholds - (levels[1] - levels[0]) / 2)
    return tuple(side.sf(cuts) for side in world.distributions)  # type: ignore[return-value]


@lru_cache
def truth(world: World) -> tuple[float, dict[str, float]]:
    """A threshold near the best F1, and the value of every metric."""
    grid = thresholds_of(world)[::-1]
    hits, alarms = survival(world, grid)
    hits, alarms = np.append(0.0, hits), np.append(0.0, alarms)
    a = world.prior
    called = a * hits + (1 - a) * alarms
    precision = np.divide(a * hits, called, out=np.ones_like(called), where=called > 0)
    f1 = 2 * a * hits / (a + called)
    place = int(np.argmax(f1))
    steps = np.diff(hits)
    at = float(grid[place - 1])
    if not world.levels:
        at = round(at, 3)
    values = values_at(world, at)
    middle = precision[1:] if world.levels else (precision[1:] + precision[:-1]) / 2
    values["average_precision"] = float(steps @ middle)
    values["roc_auc"] = float(np.diff(alarms) @ (hits[1:] + hits[:-1]) / 2)
    return at, values


def values_at(world: World, threshold: float) -> dict[str, float]:
    hits, alarms = (float(rate[0]) for rate in survival(world, np.array([threshold, threshold + 1e9])))
    if world.levels:
        grid = thresholds_of(world)
        here = int(np.argmin(abs(grid - threshold)))
        hits, alarms = (float(rate[here]) for rate in survival(world, grid))
    a = world.prior
    called = a * hits + (1 - a) * alarms
    return {"recall": hits, "precision": a * hits / called, "f1": 2 * a * hits / (a + called)}


def draw(world: World, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    positive, negative = world.distributions
    if world.scenario == "single-set":
        rows = world.labelled + world.unlabelled
        n_positive = rng.binomial(rows, world.prior)
        frequency = world.labelled / (rows * world.prior)
        labels = np.zeros(rows, np.int8)
        labels[:n_positive] = rng.random(n_positive) < frequency
        scores = np.concatenate([ppf(positive, rng, n_positive), ppf(negative, rng, rows - n_positive)])
    else:
        n_positive = rng.binomial(world.unlabelled, world.prior)
        labels = np.repeat(np.array([1, 0], np.int8), [world.labelled, world.unlabelled])
        scores = np.concatenate(
            [ppf(positive, rng, world.labelled + n_positive), ppf(negative, rng, world.unlabelled - n_positive)]
        )
    if world.levels:
        grid = thresholds_of(world)
        step = grid[1] - grid[0]
        scores = grid[np.clip(np.rint((scores - grid[0]) / step), 0, grid.size - 1).astype(int)]
    return labels, scores


def ppf(distribution: stats.rv_continuous, rng: np.random.Generator, size: int) -> np.ndarray:
    return np.asarray(distribution.rvs(size=size, random_state=rng))


def knowledge_of(world: World, rng: np.random.Generator, labels: np.ndarray, seed: int) -> dict[str, object]:
    """What the evaluation is told of the class prior.

    The errors of other studies are spread evenly over their distribution from set to set (by the golden ratio): all
    metrics of a set share one, so a few hundred drawn at random would move all coverages of a world together.
    """
    a = world.prior
    if world.knowledge == "known":
        return {"class_prior": a}
    if world.knowledge == "interval":
        error = 0.1 * a
        found = min(max(a + error * float(stats.norm.ppf((0.5 + seed * GOLDEN) % 1)), 0.1 * a), 0.95)
        ends = max(found - 1.96 * error, 0.0), found, found + 1.96 * error
        share = ends
        if world.scenario == "single-set":  # the study is about the population; what is left of it is unlabelled
            n_labelled, n = int(np.count_nonzero(labels == 1)), labels.size
            share = tuple(max((end * n - n_labelled) / (n - n_labelled), 0.0) for end in ends)
        interval, unlabelled = (Interval(low, high, 0.95, "another study") for low, _, high in (ends, share))
        return {"class_prior": ClassPrior(found, share[1], "another study", interval, unlabelled)}
    if world.knowledge == "range":
        low = a * (1 - 0.3 * rng.random())
        return {"class_prior": (low, low + 0.3 * a)}
    return {"class_prior": "auto"}


def one_set(world: World, seed: int, quick: bool = False) -> dict[str, tuple[float, float, float]] | None:
    """Per metric: low, high, truth."""
    rng = np.random.default_rng([seed, sum(map(ord, world.name))])
    at, values = truth(world)
    labels, scores = draw(world, rng)
    evidence = gather(labels, scores, scenario=world.scenario, **knowledge_of(world, rng, labels, seed))
    resampling = Resampling(redraws=600, threads=1)  # the sets already share the cores
    beforehand = Doubts(evidence, resampling)
    best = best_threshold(evidence, "f1")
    chosen = Doubts(evidence, resampling, Choice(pulens.metrics.METRICS["f1"], best))
    found = {}
    for name, where, doubts in (*((name, at, beforehand) for name in METRICS), ("f1 best", best, chosen)):
        if quick and name in ("average_precision", "f1 best"):
            continue
        metric = name.removesuffix(" best")
        # redraws are costly: the ranking's metrics share those of the chosen threshold
        source = chosen if metric == "average_precision" else doubts
        interval = estimate(metric, pulens.metrics.METRICS[metric], evidence, threshold=where, doubts=source).interval
        if interval is not None:
            true = values_at(world, best)["f1"] if doubts is chosen else values[name]
            found[name] = (interval.low, interval.high, true)
    if seed % 5 == 0 and not quick:
        for band in ("dkw-two-sample", "bootstrap"):
            share = evidence.class_prior.unlabelled_interval
            prior = evidence.class_prior.unlabelled if share is None else (share.low, share.high)
            bounds = pulens.bounds(evidence.tally, unlabelled_prior=prior, scenario=world.scenario, band=band)
            for name in ("roc_auc", "average_precision"):
                area = getattr(bounds, name)
                found[f"{name} {band}"] = (area.low, area.high, values[name])
    return found


WORLDS = (
    World("g-60", "gaussian", 0.60, 0.30, 500, 5_000),
    World("g-75", "gaussian", 0.75, 0.10, 200, 5_000),
    World("g-90-small", "gaussian", 0.90, 0.30, 30, 1_000),
    World("g-75-small", "gaussian", 0.75, 0.50, 30, 1_000),
    World("g-99", "gaussian", 0.99, 0.05, 200, 10_000),
    World("g-99-small", "gaussian", 0.99, 0.20, 50, 2_000),
    World("g-rare", "gaussian", 0.95, 0.02, 100, 20_000),
    World("beta-80", "beta", 0.80, 0.20, 300, 3_000),
    World("beta-95", "beta", 0.95, 0.50, 100, 2_000),
    World("tied-70", "gaussian", 0.70, 0.20, 200, 4_000, levels=8),
    World("tied-90", "gaussian", 0.90, 0.10, 100, 4_000, levels=5),
    World("skewed-75", "skewed", 0.75, 0.10, 200, 5_000),
    World("skewed-85-small", "skewed", 0.85, 0.30, 40, 1_000),
    World("single-85", "gaussian", 0.85, 0.25, 200, 2_800, scenario="single-set"),
    World("unequal-85", "unequal", 0.85, 0.20, 200, 4_000),
    World("g-90-interval", "gaussian", 0.90, 0.30, 200, 4_000, "interval"),
    World("beta-80-interval", "beta", 0.80, 0.10, 100, 5_000, "interval"),
    World("tied-80-interval", "gaussian", 0.80, 0.20, 300, 3_000, "interval", levels=8),
    # the world of the intervals' own study: X|1 ~ N(1, 1), X|0 ~ N(-1, 1), a class prior of .3 known to .03
    World("g-92-interval-small", "gaussian", 0.9214, 0.30, 50, 500, "interval"),
    World("g-92-interval", "gaussian", 0.9214, 0.30, 200, 2_000, "interval"),
    World("skewed-80-interval", "skewed", 0.80, 0.20, 100, 1_000, "interval"),
    World("single-85-interval", "gaussian", 0.85, 0.25, 100, 1_400, "interval", "single-set"),
    World("g-85-range", "gaussian", 0.85, 0.20, 300, 5_000, "range"),
    World("skewed-80-range", "skewed", 0.80, 0.30, 100, 2_000, "range"),
    World("g-90-estimated", "gaussian", 0.90, 0.30, 200, 4_000, "estimated"),
    World("beta-85-estimated", "beta", 0.85, 0.10, 300, 5_000, "estimated"),
    World("unequal-85-estimated", "unequal", 0.85, 0.20, 200, 4_000, "estimated"),
    World("g-large", "gaussian", 0.85, 0.20, 2_000, 100_000),
)


MOST_COMPARED = 2_000  # unlabelled rows: a comparison redraws rows, not counts
LESS = 0.06  # what the second model of a comparison has less of the ROC AUC
ALIKE = 0.5  # correlation of the two models' errors


def draw_pair(world: World, rng: np.random.Generator) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Labels, and the scores that two models give the same rows."""
    if world.scenario == "single-set":
        positive = rng.random(world.labelled + world.unlabelled) < world.prior
        labels = (positive & (rng.random(positive.size) < world.labelled / (positive.size * world.prior))).astype(int)
    else:
        labels = np.repeat([1, 0], [world.labelled, world.unlabelled])
        positive = (labels == 1) | (rng.random(labels.size) < world.prior)
    common, *own = rng.standard_normal((3, labels.size))
    models = {}
    for name, auc, errors in zip("ab", (world.auc, world.auc - LESS), own, strict=True):
        levels = stats.norm.cdf(math.sqrt(ALIKE) * common + math.sqrt(1 - ALIKE) * errors)
        high, low = pair(world.family, auc)
        scores = np.empty(labels.size)
        scores[positive], scores[~positive] = high.ppf(levels[positive]), low.ppf(levels[~positive])
        models[name] = scores
    return labels, models


def one_comparison(world: World, seed: int) -> dict[str, tuple[float, float, float]]:
    """Low, high and truth of the difference and of each model's value, for every metric."""
    rng = np.random.default_rng([seed, sum(map(ord, world.name)), 2])
    labels, models = draw_pair(world, rng)
    truths = {
        name: truth(replace(world, auc=auc)) for name, auc in zip("ab", (world.auc, world.auc - LESS), strict=True)
    }
    comparison = pulens.compare(
        labels,
        models,
        scenario=world.scenario,
        metrics=METRICS,
        threshold={name: at for name, (at, _) in truths.items()},
        redraws=200,
        **knowledge_of(world, rng, labels, seed),
    )
    found = {}
    for metric in METRICS:
        values = {name: true[metric] for name, (_, true) in truths.items()}
        gap = comparison.difference("a", "b", metric).interval
        if gap is not None:
            found[f"{metric} a-b"] = (gap.low, gap.high, values["a"] - values["b"])
        for name, estimate_of in comparison.estimates[metric].items():
            if estimate_of.interval is not None:
                found[f"{metric} {name}"] = (estimate_of.interval.low, estimate_of.interval.high, values[name])
    return found


def run_comparison(world: World, sets: int, pool: ProcessPoolExecutor) -> str:
    from itertools import repeat

    found = list(pool.map(one_comparison, repeat(world, sets), range(sets), chunksize=5))
    cells = []
    for metric in METRICS:
        parts = []
        for which in ("a-b", "a", "b"):
            ends = np.array([each[f"{metric} {which}"] for each in found if f"{metric} {which}" in each])
            inside = (ends[:, 0] <= ends[:, 2]) & (ends[:, 2] <= ends[:, 1])
            parts.append(f"{100 * inside.mean():.1f} ({(ends[:, 1] - ends[:, 0]).mean():.3f})")
        cells.append(" / ".join(parts))
    return f"| {world.name} | {world.labelled:,} + {world.unlabelled:,} | {' | '.join(cells)} |"


def run(world: World, sets: int, quick: bool, pool: ProcessPoolExecutor) -> tuple[str, list[str]]:
    """One line of the table, and the names of the metrics that miss the target."""
    from itertools import repeat

    try:
        found = list(pool.map(one_set, repeat(world, sets), range(sets), repeat(quick, sets), chunksize=5))
    except pulens.PulensError as error:
        return f"| {world.name} | not run: {str(error)[:60]} |", []
    cells, missed = [], []
    columns = (*METRICS, "f1 best")
    for name in columns:
        ends = np.array([each[name] for each in found if name in each])
        if not ends.size:
            cells.append("-")
            continue
        inside = (ends[:, 0] <= ends[:, 2]) & (ends[:, 2] <= ends[:, 1])
        coverage = 100 * inside.mean()
        below = 100 * (ends[:, 1] < ends[:, 2]).mean()
        cells.append(f"{coverage:.1f} ({(ends[:, 1] - ends[:, 0]).mean():.3f}; {below:.1f} low)")
        low, high = (93.0, 97.0) if world.knowledge in ("known", "interval") else (93.0, 100.0)
        if not low - 1e-9 <= coverage <= high + 1e-9:
            missed.append(name)
    for name in ("roc_auc", "average_precision"):
        parts = []
        for band in ("dkw-two-sample", "bootstrap"):
            ends = np.array([each[f"{name} {band}"] for each in found if f"{name} {band}" in each])
            if ends.size:
                inside = (ends[:, 0] <= ends[:, 2]) & (ends[:, 2] <= ends[:, 1])
                parts.append(f"{100 * inside.mean():.0f} ({(ends[:, 1] - ends[:, 0]).mean():.3f})")
        cells.append(" / ".join(parts) or "-")
    facts = f"{world.family} | {world.auc:.2f} | {world.prior:g} | {world.labelled:,} | {world.unlabelled:,}"
    return f"| {world.name} | {facts} | {' | '.join(cells)} |", missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="worlds whose name contains one of these, comma between them")
    parser.add_argument("--quick", action="store_true", help="only intervals that need no redraws")
    parser.add_argument("--compare", action="store_true", help="compare two models where the class prior is in doubt")
    asked = parser.parse_args()
    chance = 100 * math.sqrt(0.95 * 0.05 / asked.sets)
    print(f"{asked.sets} sets per world; coverage of nominal 95% intervals in percent, in brackets the mean width and")
    print(f"how often the whole interval lay below the truth. One standard error of a coverage: {chance:.1f}.")
    if asked.compare:
        print("Two models: difference / first model's value / second model's value (mean widths).")
        print()
        print("| world | rows | ROC AUC | AP | precision | recall | F1 |")
        print("|" + " --- |" * 7)
        with ProcessPoolExecutor(asked.jobs) as pool:
            for world in WORLDS:
                doubtful = world.knowledge in ("interval", "range") and not world.levels
                small = world.unlabelled <= MOST_COMPARED
                if doubtful and small and any(part in world.name for part in asked.only.split(",")):
                    print(run_comparison(world, asked.sets, pool), flush=True)
        return
    print("Last two columns: bounds of paper 001 on a fifth of the sets, two-sample DKW band / bootstrap band.")
    print()
    print(
        "| world | scores | AUC | prior | labelled | unlabelled | ROC AUC | AP | precision | recall | F1 | F1, best "
        "threshold | bounds ROC AUC | bounds AP |"
    )
    print("|" + " --- |" * 14)
    started, missed = time.perf_counter(), []
    with ProcessPoolExecutor(asked.jobs) as pool:
        for world in WORLDS:
            if not any(part in world.name for part in asked.only.split(",")):
                continue
            line, outside = run(world, asked.sets, asked.quick, pool)
            print(line, flush=True)
            missed += [f"{world.name}: {name}" for name in outside]
    print()
    print(f"outside the target (93 to 97, or above 93 where the prior is a range or estimated): {missed or 'none'}")
    print(f"{time.perf_counter() - started:.0f} seconds")


if __name__ == "__main__":
    main()
