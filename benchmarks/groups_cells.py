"""Labels random within cells: how often intervals hold the truth, and what cells mend.

    python benchmarks/groups_cells.py known      coverage with the cells' class priors given
    python benchmarks/groups_cells.py estimated  coverage with class priors estimated per cell and pooled
    python benchmarks/groups_cells.py f1         error of F1: pooled, within cells, had labels been random
    python benchmarks/groups_cells.py clusters   coverage where patients have rows in several cells, priors given
    python benchmarks/groups_cells.py bank       bank marketing, labels drawn at rates by job and month

Worlds are drawn anew for every set: shares of cells, class priors (log odds), separations and labelling rates (log) are
random, so a figure speaks of many worlds. The truth is that of the population.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

import pulens
from pulens.metrics import METRICS
from pulens.recovery.contingency import Contingency

THRESHOLD = 1.0
SHOWN = ("recall", "precision", "f1", "specificity", "accuracy", "matthews_correlation", "lift", "roc_auc")


@dataclass(frozen=True)
class World:
    """Cells with shares of the rows, class priors, separations and shifts of scores, and labelling rates."""

    shares: np.ndarray
    priors: np.ndarray
    apart: np.ndarray
    shift: np.ndarray
    rates: np.ndarray

    @classmethod
    def draw(
        cls, rng: np.random.Generator, cells: int, *, prior_spread: float, rate_spread: float, shift: float
    ) -> World:
        return cls(
            rng.dirichlet(np.full(cells, 3.0)),
            expit(rng.normal(-1.6, prior_spread, cells)),
            rng.uniform(0.8, 2.4, cells),
            rng.normal(0, shift, cells),
            np.exp(rng.normal(0, rate_spread, cells)),
        )

    @property
    def weights(self) -> np.ndarray:
        held = self.shares * self.priors
        return held / held.sum()

    def table(self, threshold: Any = THRESHOLD) -> Contingency:
        """The population's contingency table."""
        at = np.atleast_1d(threshold)
        prior = float(self.shares @ self.priors)
        negative = self.shares * (1 - self.priors) / (1 - prior)
        recall = self.weights @ ndtr((self.shift + self.apart)[:, None] - at)
        alarms = negative @ ndtr(self.shift[:, None] - at)
        return Contingency(at, recall, alarms, prior, 1 - prior)

    def truth(self, name: str) -> float:
        if name == "roc_auc":
            prior = float(self.shares @ self.priors)
            negative = self.shares * (1 - self.priors) / (1 - prior)
            gaps = (self.shift + self.apart)[:, None] - self.shift[None]
            return float(self.weights @ ndtr(gaps / np.sqrt(2)) @ negative)
        if name == "average_precision":
            table = self.table(np.linspace(8, -6, 20_001))
            precision = table.true_positive / (table.true_positive + table.false_positive)
            return float((np.diff(table.true_positive_rate) * (precision[1:] + precision[:-1]) / 2).sum())
        return float(METRICS[name].compute(self.table())[0])

    def rows(
        self, rng: np.random.Generator, scenario: str, labelled: int, unlabelled: int, *, random: bool = False
    ) -> Any:
        """Labels, scores and cells of about so many rows; ``random``: all positives are as likely to be labelled."""
        rates = np.ones(self.rates.size) if random else self.rates
        cells = self.shares.size
        if scenario == "case-control":
            own = self.weights * rates
            first = rng.choice(cells, labelled, p=own / own.sum())
            cell = np.concatenate([first, rng.choice(cells, unlabelled, p=self.shares)])
            positive = np.concatenate([np.ones(labelled, bool), rng.random(unlabelled) < self.priors[cell[labelled:]]])
            labels = np.repeat([1, 0], [labelled, unlabelled])
        else:
            size = labelled + unlabelled
            cell = rng.choice(cells, size, p=self.shares)
            positive = rng.random(size) < self.priors[cell]
            wanted = labelled / (size * float((self.shares * self.priors * rates).sum()))
            labels = (positive & (rng.random(size) < np.minimum(wanted * rates, 0.95)[cell])).astype(int)
        scores = rng.normal(self.shift[cell] + positive * self.apart[cell])
        return labels, scores, cell


SETTINGS = {  # name: cells, labelled, unlabelled, spread of log odds of priors, of log rates, of scores, scenario
    "4 cells, 400 labelled": (4, 400, 6000, 0.6, 0.9, 0.0, "case-control"),
    "10 cells, 400 labelled": (10, 400, 8000, 0.6, 0.9, 0.0, "case-control"),
    "20 cells, 300 labelled": (20, 300, 8000, 0.6, 0.9, 0.0, "case-control"),
    "20 different cells, 600 labelled": (20, 600, 12_000, 1.0, 0.9, 0.3, "case-control"),
    "4 cells, one sample": (4, 400, 6000, 0.6, 0.7, 0.3, "single-set"),
    "20 cells, one sample": (20, 400, 10_000, 0.6, 0.7, 0.3, "single-set"),
}


def known(sets: int, seed: int, names: tuple[str, ...], which: str) -> None:
    """Class priors given for every cell."""
    for title, (cells, labelled, unlabelled, spread, rates, shift, scenario) in SETTINGS.items():
        if which and which not in title:
            continue
        held, widths, tried, begun = defaultdict(list), defaultdict(list), 0, time.process_time()
        for number in range(sets):
            rng = np.random.default_rng([seed, number, cells, labelled])
            world = World.draw(rng, cells, prior_spread=spread, rate_spread=rates, shift=shift)
            labels, scores, cell = world.rows(rng, scenario, labelled, unlabelled)
            given = dict(enumerate(world.priors.tolist()))
            priors = {name: given[name] for name in np.unique(cell).tolist()}
            found = within_cells(labels, scores, cell, held, scenario=scenario, class_prior=priors)
            if found is None:
                continue
            tried += 1
            note(found, world, names, held, widths)
        show(title, tried, held, widths, names, time.process_time() - begun)


def estimated(sets: int, seed: int, names: tuple[str, ...], which: str) -> None:
    """Class priors estimated in each cell by the package's own estimator, pooled, and without pooling."""
    for title, (cells, labelled, unlabelled, spread, rates, shift, scenario) in SETTINGS.items():
        if which and which not in title:
            continue
        for total in (False, True):
            held, widths, errors = defaultdict(list), defaultdict(list), defaultdict(list)
            tried, begun = 0, time.process_time()
            for number in range(sets):
                rng = np.random.default_rng([seed, 7, number, cells, labelled])
                world = World.draw(rng, cells, prior_spread=spread, rate_spread=rates, shift=shift)
                labels, scores, cell = world.rows(rng, scenario, labelled, unlabelled)
                asked = {"class_prior": float(world.shares @ world.priors)} if total else {}
                found = within_cells(labels, scores, cell, held, scenario=scenario, **asked)
                if found is None:
                    continue
                tried += 1
                note(found, world, names, held, widths)
                for name in names:
                    errors[name].append(found.estimates[name].value - world.truth(name))
            show(f"{title}, {'total given' if total else 'nothing given'}", tried, held, widths, names,
                 time.process_time() - begun)  # fmt: skip
            rms = "  ".join(f"{name} {np.sqrt(np.mean(np.square(errors[name]))):.3f}" for name in names)
            print(f"    error (root mean square): {rms}", flush=True)


def within_cells(labels: Any, scores: Any, cell: Any, held: Any, **asked: Any) -> pulens.Evaluation | None:
    """The evaluation, or nothing where it is refused, which is noted."""
    try:
        return pulens.evaluate(labels, scores, labelled_within=cell, threshold=THRESHOLD, redraws=1000, **asked)
    except pulens.PulensError as error:
        held["refused"].append(str(error)[:60])
        return None


def note(found: pulens.Evaluation, world: World, names: tuple[str, ...], held: Any, widths: Any) -> None:
    for name in names:
        interval = found.estimates[name].interval
        held[name].append(world.truth(name) in interval)
        widths[name].append(interval.width)


def show(title: str, tried: int, held: Any, widths: Any, names: tuple[str, ...], seconds: float) -> None:
    found = "  ".join(f"{name} {np.mean(held[name]):.3f} (width {np.mean(widths[name]):.3f})" for name in names)
    refused = f", {len(held['refused'])} refused" if held["refused"] else ""
    print(f"{title}: {tried} sets{refused}, {seconds:.0f} s\n    {found}", flush=True)


def f1(sets: int, seed: int, names: tuple[str, ...], which: str) -> None:
    """Root mean square error of F1 and recall, class priors known."""
    for title, (cells, labelled, unlabelled, spread, rates, shift, scenario) in SETTINGS.items():
        if which and which not in title:
            continue
        errors = defaultdict(list)
        for number in range(sets):
            rng = np.random.default_rng([seed, 11, number, cells, labelled])
            world = World.draw(rng, cells, prior_spread=spread, rate_spread=rates, shift=shift)
            prior = float(world.shares @ world.priors)
            asked = {"threshold": THRESHOLD, "scenario": scenario, "confidence": None}
            labels, scores, cell = world.rows(rng, scenario, labelled, unlabelled)
            given = {int(name): float(world.priors[name]) for name in np.unique(cell)}
            try:
                within = pulens.evaluate(labels, scores, labelled_within=cell, class_prior=given, **asked)
            except pulens.PulensError:
                continue
            answers = {"within cells": within, "pooled": within.pooled}
            labels, scores, _ = world.rows(rng, scenario, labelled, unlabelled, random=True)
            answers["random labels"] = pulens.evaluate(labels, scores, class_prior=prior, **asked)
            for way, found in answers.items():
                for name in ("f1", "recall"):
                    errors[way, name].append(found.estimates[name].value - world.truth(name))
        rms = {key: float(np.sqrt(np.mean(np.square(value)))) for key, value in errors.items()}
        print(f"{title}: {len(errors['pooled', 'f1'])} sets")
        for name in ("f1", "recall"):
            ways = "  ".join(f"{way} {rms[way, name]:.4f}" for way in ("pooled", "within cells", "random labels"))
            print(
                f"    {name}: {ways}  (within over random {rms['within cells', name] / rms['random labels', name]:.2f})"
            )


def bank(sets: int, seed: int, names: tuple[str, ...], which: str) -> None:
    """Bank marketing: one model, labels drawn at rates that depend on job or on month; every row's class is known."""
    import polars
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    path = Path(which) if which else Path(__file__).resolve().parents[2] / "shared/data/bank_marketing.parquet"
    frame = polars.read_parquet(path)
    target = frame.columns[-1]
    positive = (frame[target].cast(polars.String).to_numpy() == "yes") | (
        frame[target].cast(polars.String).to_numpy() == "1"
    )
    features = frame.drop(target, "duration", strict=False)
    coded = features.select(
        polars.col(polars.String, polars.Categorical).cast(polars.Categorical).to_physical(),
        polars.selectors.numeric(),
    ).to_numpy()
    folds = StratifiedKFold(3, shuffle=True, random_state=0)  # rows come in the order of time
    model = HistGradientBoostingClassifier(max_iter=80, random_state=0)
    scores = cross_val_predict(model, coded, positive, cv=folds, method="predict_proba")[:, 1]
    threshold = float(np.quantile(scores, 0.85))
    flagged = scores >= threshold
    truth = {"recall": flagged[positive].mean(), "precision": positive[flagged].mean()}
    truth["f1"] = 2 * truth["recall"] * truth["precision"] / (truth["recall"] + truth["precision"])
    print(
        f"{len(frame):,} rows, {positive.mean():.3f} positive; at the threshold "
        + str({k: round(float(v), 4) for k, v in truth.items()})
    )
    for columns in (("job",), ("month",)):
        cell = np.unique(frame[columns[0]].cast(polars.String).to_numpy(), return_inverse=True)[1]
        priors = np.bincount(cell, positive) / np.bincount(cell)
        errors, held = defaultdict(list), defaultdict(list)
        for number in range(sets):
            rng = np.random.default_rng([seed, number, cell.max()])
            rates = np.exp(rng.normal(0, 0.9, priors.size))
            rates = np.minimum(0.25 * rates / (rates[cell][positive].mean()), 0.9)
            labels = (positive & (rng.random(cell.size) < rates[cell])).astype(int)
            random = (positive & (rng.random(cell.size) < labels.sum() / positive.sum())).astype(int)
            asked = {"threshold": threshold, "redraws": 500}
            answers = {}
            for way, own, more in (
                (
                    "priors of cells given",
                    labels,
                    {"labelled_within": cell, "class_prior": dict(enumerate(priors.tolist()))},
                ),
                (
                    "total given, split estimated",
                    labels,
                    {"labelled_within": cell, "class_prior": float(positive.mean())},
                ),
                ("pooled", labels, {"class_prior": float(positive.mean())}),
                ("random labels", random, {"class_prior": float(positive.mean())}),
            ):
                if way.startswith("total") and number >= max(sets // 4, 20):
                    continue  # an estimate in every cell takes a second
                try:
                    answers[way] = pulens.evaluate(own, scores, **asked, **more)
                except pulens.PulensError as error:
                    held[way, "refused"].append(str(error)[:90])
            for way, found in answers.items():
                for name in ("recall", "precision", "f1"):
                    errors[way, name].append(found.estimates[name].value - truth[name])
                    held[way, name].append(truth[name] in found.estimates[name].interval)
        print(f"labels by {columns[0]} ({priors.size} cells), {sets} labellings of about a quarter of the positives")
        for way in ("pooled", "priors of cells given", "total given, split estimated", "random labels"):
            parts = [
                f"{name} error {np.sqrt(np.mean(np.square(errors[way, name]))):.4f} held {np.mean(held[way, name]):.3f}"
                for name in ("recall", "precision", "f1") if errors[way, name]
            ]  # fmt: skip
            refused = f"  refused {len(held[way, 'refused'])}" if held[way, "refused"] else ""
            print(f"    {way} ({len(errors[way, 'f1'])}): {'  '.join(parts)}{refused}", flush=True)


def clusters(sets: int, seed: int, names: tuple[str, ...], which: str) -> None:
    """Patients with rows in every cell, whose scores share an effect of .8 standard deviations; one sample."""
    print(
        f"cells that share patients, class priors given, {sets} sets: held with clusters (rows taken for independent)"
    )
    for patients, each, cells in ((20, 30, 2), (40, 30, 2), (100, 30, 4), (100, 12, 10)):
        rng = np.random.default_rng([seed, patients, cells])
        world = World(*np.linspace((1, 0.1, 2.2, 0, 0.7), (1, 0.35, 1.2, 0, 0.15), cells).T)
        spread = float(np.hypot(1, 0.8))
        alike = World(world.shares / cells, world.priors, world.apart / spread, world.shift, world.rates)
        truth = {"roc_auc": alike.truth("roc_auc")}
        table = alike.table(THRESHOLD / spread)
        truth |= {name: float(METRICS[name].compute(table)[0]) for name in ("recall", "precision", "f1")}
        held = defaultdict(list)
        for _ in range(sets):
            patient = np.repeat(np.arange(patients), rng.geometric(1 / each, patients))
            cell = rng.integers(0, cells, patient.size)
            positive = rng.random(patient.size) < world.priors[cell]
            labels = positive & (rng.random(patient.size) < world.rates[cell])
            scores = rng.normal(0.8 * rng.normal(size=patients)[patient] + positive * world.apart[cell])
            asked: Any = {
                "labelled_within": cell,
                "class_prior": dict(enumerate(world.priors.tolist())),
                "threshold": THRESHOLD,
                "redraws": 300,
            }
            for way, more in (("clusters", {"cluster": patient}), ("rows", {})):
                found = pulens.evaluate(labels * 1, scores, **asked, **more)
                for name, value in truth.items():
                    held[name, way].append(value in found.estimates[name].interval)
        shown = [f"{name} {np.mean(held[name, 'clusters']):.3f} ({np.mean(held[name, 'rows']):.3f})" for name in truth]
        print(f"  {patients} patients of {each} rows, {cells} cells: {'  '.join(shown)}", flush=True)


if __name__ == "__main__":
    parts = {"known": known, "estimated": estimated, "f1": f1, "clusters": clusters, "bank": bank}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=parts)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2311)
    parser.add_argument("--which", default="", help="settings whose name holds this; for bank the path of the file")
    parser.add_argument("--metrics", default=",".join(SHOWN))
    asked = parser.parse_args()
    parts[asked.part](asked.sets, asked.seed, tuple(asked.metrics.split(",")), asked.which)
