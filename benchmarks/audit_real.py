"""Audits on real tables: how often intervals hold the truth, and how far values miss it.

Worlds: the proteins of Elkan and Noto (2008) with their own labels; bank marketing with labels that favour some jobs or
some months; benchmark tables with labels that favour obvious positives (S2), ambiguous ones (S3) or are exactly the
most obvious ones (S4 of ``pulens.labelling``). Nothing of pulens was chosen by looking at them, but for the proteins.

Every model is fitted once, out of fold, on one draw of such labels (labelled against the rest). Then labels are drawn
anew with other seeds, and audits of every draw. Thresholds flag as many rows as there are positives (proteins: 5%).

A line of a table: coverage in percent (mean width) of 95% intervals without assumption; root mean square error of F1 by
the audit, by as many random rows and by the column that takes labels for random; how often the labelling test rejects
random labels (999 draws a test instead of 9,999). Coverages below 93 are listed at the end, and measured again with
other seeds and more audits: of so many cells some are low by chance.

Usage: python benchmarks/audit_real.py [--only bank] [--rows 50,100,200,400] [--labellings 12] [--audits 20]
       [--tests 2] [--again 600] [--seed 2]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from pulens.labelling import auxiliary_log_odds, find

from audit import Proteins, design, point_margins
from pulens.audits import AuditCounts, labelling_test
from pulens.audits.counts import CheckedRows
from pulens.audits.estimates import design_limits, point_values
from pulens.audits.if_random import drawn_metrics
from pulens.audits.labelling_test import labelling_of
from pulens.audits.strata import Strata
from pulens.counts.tally import Tally
from pulens.scenario import Scenario
from pulens.testing.audit_worlds import AuditedTable

METRICS = ("class_prior", "precision", "recall", "f1")
DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
DRAWS = 2_000  # for each interval
SHARP = {"draws": 48, "nodes": 32}  # for each value of the column that takes labels for random
FIT_SEED = 1  # labels that models learn from, never those that are audited
WANTED = 93.0

Choose = Callable[[np.ndarray, int, np.random.Generator], np.ndarray]


@dataclass(frozen=True, eq=False)
class RealWorld:
    """Rows with scores and known classes; which positives are labelled is drawn by ``choose`` (places among them)."""

    name: str
    scores: np.ndarray
    positive: np.ndarray
    choose: Choose
    labels: int
    scenario: Scenario
    goal: str = "all"

    def draw(self, rng: np.random.Generator) -> AuditedTable:
        threshold = float(np.sort(self.scores)[-int(self.positive.sum())])
        if self.scenario is Scenario.SINGLE_SET:
            pool, population = np.arange(self.scores.size), np.arange(self.scores.size)
        else:  # labelled positives come from one half of the rows, the other half is the population
            pool, population = np.array_split(rng.permutation(self.scores.size), 2)
        candidates = pool[self.positive[pool]]
        labelled = candidates[self.choose(candidates, min(self.labels, candidates.size // 2), rng)]
        rest = np.setdiff1d(population, labelled)
        rest = rest[np.argsort(-self.scores[rest], kind="stable")]
        return AuditedTable(self.scores[labelled], self.scores[rest], self.positive[rest], threshold, self.scenario)


@dataclass(frozen=True, eq=False)
class ProteinWorld:
    """The proteins as they are: only audits are drawn."""

    name: str
    table: AuditedTable
    goal: str

    def draw(self, rng: np.random.Generator) -> AuditedTable:
        return self.table


def out_of_fold(rows: Any, labels: np.ndarray) -> np.ndarray:
    """Scores of a logistic regression that tells labelled rows from the rest, each row by a model without it."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = LogisticRegression(C=1.0, max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a model that has not converged is a model to be audited all the same
        return np.asarray(cross_val_predict(model, rows, labels, cv=folds, method="decision_function"))


def world(name: str, rows: Any, positive: np.ndarray, choose: Choose, scenario: Scenario, share: float) -> RealWorld:
    places, labels = np.flatnonzero(positive), min(round(share * positive.sum()), 500)
    learned = np.zeros(positive.size, int)
    learned[places[choose(places, labels, np.random.default_rng(FIT_SEED))]] = 1
    return RealWorld(f"{name}, {scenario}", out_of_fold(rows, learned), positive, choose, labels, scenario)


def weighted(weight: np.ndarray) -> Choose:
    """Positives drawn one after the other with chances by weight."""

    def choose(places: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
        return np.argsort(rng.exponential(size=places.size) / weight[places], kind="stable")[:count]

    return choose


def mechanism(alias: str, evidence: np.ndarray) -> Choose:
    rule = find(alias)

    def choose(places: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
        return rule.choose(evidence[places], count, rng)

    return choose


def proteins() -> Iterator[Any]:
    table = Proteins(DATA / "elkan_noto_protein.npz").table
    for goal in ("f1", "all"):
        yield ProteinWorld(f"proteins, own labels, case-control, goal {goal}", table, goal)


def bank() -> Iterator[RealWorld]:
    import polars as pl

    table = pl.read_parquet(DATA / "bank_marketing.parquet")
    positive = (table["y"].cast(pl.String) == "yes").to_numpy()
    # the length of a call is known only when its outcome is
    features = table.drop("y", "duration").with_columns(pl.selectors.categorical().cast(pl.String))
    texts = features.select(pl.selectors.string()).columns
    encoded = features.to_dummies(texts).to_numpy().astype(float)
    rows = (encoded - encoded.mean(0)) / np.maximum(encoded.std(0), 1e-9)
    favoured = {
        "jobs 5:1": np.where(features["job"].is_in(["student", "retired", "management"]), 5.0, 1.0),
        "months 5:1": np.where(features["month"].is_in(["mar", "sep", "oct", "dec"]), 5.0, 1.0),
        "random labels": np.ones(positive.size),
    }
    for words, weight in favoured.items():
        for scenario in (Scenario.SINGLE_SET, Scenario.CASE_CONTROL):
            yield world(f"bank, {words}", rows, positive, weighted(weight), scenario, 0.1)


# name, file, rows and which of them are positive
TABLES: dict[str, tuple[str, Callable[[Any], tuple[np.ndarray, np.ndarray]]]] = {
    "spambase": ("spambase", lambda file: (np.log1p(file["X"]), file["y"] == 1)),
    "letter A B C": ("letter", lambda file: (file["X"], file["y"] < 3)),
    "page blocks": ("page_blocks", lambda file: (np.log1p(np.abs(file["X"])), file["y"] != 1)),
    "landsat damp grey soil": ("landsat", lambda file: (file["X_train"], file["y_train"] == 4)),
    "grid stability": ("grid_stability", lambda file: (file["X"], file["y"] == 1)),
}
LABELLINGS = (("S2", Scenario.SINGLE_SET), ("S3", Scenario.CASE_CONTROL), ("S4", Scenario.SINGLE_SET))


def tables() -> Iterator[RealWorld]:
    for name, (file, load) in TABLES.items():
        raw, positive = load(np.load(DATA / f"{file}.npz"))
        rows = (raw - raw.mean(0)) / np.maximum(raw.std(0), 1e-9)
        evidence = auxiliary_log_odds(rows, positive)
        for alias, scenario in LABELLINGS:
            yield world(f"{name}, {alias}", rows, positive, mechanism(alias, evidence), scenario, 0.2)


def hidden_of(table: AuditedTable, strata: Strata) -> np.ndarray:
    """Positives among the unlabelled rows of each stratum."""
    ends = np.cumsum(strata.rows)
    return np.diff(np.concatenate([[0], np.concatenate([[0], np.cumsum(table.positive)])[ends]]))


def counts_of(strata: Strata, plan: np.ndarray, found: np.ndarray, scenario: Scenario) -> AuditCounts:
    return AuditCounts(
        rows=strata.rows,
        checked=plan,
        found=found,
        labelled=strata.labelled,
        flagged=strata.flagged,
        scenario=scenario,
    )


class Cell:
    """What audits of one world with one number of rows gave."""

    def __init__(self) -> None:
        self.held: dict[str, list[np.ndarray]] = {name: [] for name in METRICS}
        self.widths: dict[str, list[np.ndarray]] = {name: [] for name in METRICS}
        self.errors: dict[str, list[float]] = {"audit": [], "random": [], "column two": []}
        self.rejected: list[bool] = []

    def coverage(self, name: str) -> float:
        return 100 * float(np.concatenate(self.held[name]).mean())

    @property
    def audits(self) -> int:
        return sum(part.size for part in self.held["f1"])

    def line(self, budget: int) -> str:
        shares = "  ".join(
            f"{self.coverage(name):5.1f} ({np.concatenate(self.widths[name]).mean():.3f})" for name in METRICS
        )
        wrong = "  ".join(f"{np.sqrt(np.mean(np.square(of))):.3f}" for of in self.errors.values())
        return f"  {budget:>5}  {shares}   {wrong}   {np.mean(self.rejected):.2f} of {len(self.rejected)}"


def audited(
    table: AuditedTable, goal: str, budget: int, audits: int, tests: int, cell: Cell, rng: np.random.Generator
) -> None:
    """Draw audits of one table and add what they gave; column two and the test are slower, so of the first ones."""
    labels = np.concatenate([np.ones(table.labelled.size, np.int8), np.zeros(table.unlabelled.size, np.int8)])
    tally = Tally.from_arrays(labels, np.concatenate([table.labelled, table.unlabelled]))
    strata, plan = design(tally, table.threshold, budget, goal)
    hidden, truth = hidden_of(table, strata), table.truth()
    found = rng.hypergeometric(hidden, strata.rows - hidden, plan, (audits, plan.size))
    many = counts_of(strata, plan, found[0], table.scenario)
    seed = int(rng.integers(2**31))
    for name, (low, high) in design_limits(many, found=found, metrics=METRICS, draws=DRAWS, seed=seed).items():
        cell.held[name].append((low - 1e-9 <= truth[name]) & (truth[name] <= high + 1e-9))
        cell.widths[name].append(high - low)
    for place, line in enumerate(found):
        counts = counts_of(strata, plan, line, table.scenario)
        cell.errors["audit"].append(np.nan_to_num(point_values(counts)["f1"]) - truth["f1"])
        if place < tests:
            sharper = drawn_metrics(counts, ("f1",), seed, **SHARP)["f1"]
            cell.errors["column two"].append(float(np.nanmedian(sharper)) - truth["f1"])
            cell.rejected.append(rejects(counts, table, tally, rng))
    cell.errors["random"] += (random_rows(table, many, budget, audits, rng) - truth["f1"]).tolist()


def random_rows(
    table: AuditedTable, counts: AuditCounts, budget: int, audits: int, rng: np.random.Generator
) -> np.ndarray:
    """F1 as it looks after as many rows drawn from all unlabelled ones; 0 where it is undefined."""
    flagged = table.unlabelled >= table.threshold
    cells = [int((flagged & table.positive).sum()), int((flagged & ~table.positive).sum())]
    cells += [int((~flagged & table.positive).sum()), int((~flagged & ~table.positive).sum())]
    above, below, picked, _ = point_margins(counts)
    seen = rng.multivariate_hypergeometric(cells, min(budget, sum(cells)), audits) * (sum(cells) / budget)
    hits = seen[:, 0] + above
    whole = hits + seen[:, 1] + picked - above + hits + seen[:, 2] + below
    return 2 * hits / np.maximum(whole, 1e-9)


def rejects(counts: AuditCounts, table: AuditedTable, tally: Tally, rng: np.random.Generator) -> bool:
    """Draw rows with as many finds in each stratum, and test whether labels can be random."""
    starts = np.concatenate([[0], np.cumsum(counts.rows)])
    places, answers = [], []
    for k, (first, last) in enumerate(pairwise(starts)):
        inside = np.arange(first, last)
        for kind, many in ((True, counts.found[k]), (False, counts.checked[k] - counts.found[k])):
            places.append(rng.permutation(inside[table.positive[first:last] == kind])[:many])
            answers.append(np.full(many, int(kind)))
    chosen, answer = np.concatenate(places), np.concatenate(answers)
    stratum = np.searchsorted(starts[1:], chosen, "right")
    rows = CheckedRows(stratum=stratum, score=table.unlabelled[chosen], answer=answer)
    return labelling_of(counts, rows, tally, seed=int(rng.integers(2**31))).contradicted


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="worlds whose name begins so")
    parser.add_argument("--rows", default="50,100,200,400")
    parser.add_argument("--labellings", type=int, default=12)
    parser.add_argument("--audits", type=int, default=20, help="of each labelling")
    parser.add_argument("--tests", type=int, default=2, help="of each labelling: the labelling test and column two")
    parser.add_argument("--again", type=int, default=600, help="audits of cells with a coverage below 93")
    parser.add_argument("--seed", type=int, default=2)
    asked = parser.parse_args()
    labelling_test.DRAWS = 999
    low: list[tuple[Any, int, dict[str, float], int]] = []
    every, start = [], time.process_time()
    for make, begins in ((proteins, ["proteins"]), (bank, ["bank"]), (tables, list(TABLES))):
        if not any(name.startswith(asked.only) or asked.only.startswith(name) for name in begins):
            continue
        for one in make():
            if not one.name.startswith(asked.only):
                continue
            for budget, cell in study(one, asked):
                coverages = {name: cell.coverage(name) for name in METRICS}
                every += coverages.values()
                below = {name: value for name, value in coverages.items() if value < WANTED}
                low += [(one, budget, below, cell.audits)] if below else []
    many = sum(len(below) for _, _, below, _ in low)
    print(f"\n{len(every)} coverages: mean {np.mean(every):.1f}, lowest {min(every):.1f}; {many} below {WANTED:g}:")
    for one, budget, below, audits in low:
        again = Cell()
        for place in range(asked.labellings):
            rng = np.random.default_rng([asked.seed, 1, budget, place])
            audited(one.draw(rng), one.goal, budget, asked.again // asked.labellings, 0, again, rng)
        for name, value in below.items():
            told = f"{one.name}, {budget} rows: {name} {value:.1f} of {audits} audits"
            print(f"{told}, again {again.coverage(name):.1f} of {again.audits:,}", flush=True)
    print(f"{time.process_time() - start:.0f} seconds of processor time")


def study(one: Any, asked: argparse.Namespace) -> Iterator[tuple[int, Cell]]:
    table = one.draw(np.random.default_rng([asked.seed, 0]))
    truth = table.truth()
    told = ", ".join(f"{name} {truth[name]:.3f}" for name in METRICS)
    print(f"\n{one.name}: {table.labelled.size} labelled, {table.unlabelled.size:,} unlabelled; {told}")
    print("   rows     " + "    ".join(f"{name:<11}" for name in METRICS) + " F1 error: audit random two  rejected")
    for budget in (int(rows) for rows in asked.rows.split(",")):
        cell = Cell()
        for place in range(asked.labellings):
            rng = np.random.default_rng([asked.seed, budget, place])
            audited(one.draw(rng), one.goal, budget, asked.audits, asked.tests, cell, rng)
        print(cell.line(budget), flush=True)
        yield budget, cell


if __name__ == "__main__":
    main()
