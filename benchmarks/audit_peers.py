"""Rows checked by a person: the F1 error of an audit beside that of published samplers, on the same rows.

    python benchmarks/audit_peers.py [--repeats 40] [--labels 50,100,300] [--sets abt_buy,...] [--data FOLDER]

Every way is given the same pool (known positives taken out of it), the same flagged rows, the same number of answers,
and is held against the true F1 of that pool. Peers, from the package ``oasis`` (``pip install --no-deps oasis``):
OASIS (Marchant and Rubinstein 2017) and importance sampling (Sawade et al. 2010); and rows drawn at random. Peers are
told the probabilities that came with the scores, OASIS once more the margins alone, and cannot use the known positives.
"nothing assumed" uses these only to spread the rows, "labels random" in full: known positives are drawn at random here,
which is what that column assumes.

Sets: record matching and tweets as the authors of OASIS used them, and tables in which positives were thinned out to
less than one in a hundred (logistic regression, five folds; as many rows are flagged as there are positives). Printed:
root mean square error, and the ratio to OASIS. A sampler that has no estimate yet is counted as 0.
"""

from __future__ import annotations

import argparse
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from pulens.audits import AuditCounts
from pulens.audits.allocation import allocate, thinly_checked
from pulens.audits.estimates import point_values
from pulens.audits.if_random import if_random_estimates
from pulens.audits.strata import Strata, cut_strata
from pulens.counts import Tally

MATCHING = {"abt_buy": "matching_abt_buy", "restaurant": "matching_restaurant", "tweets": "matching_tweets100k"}
TABLES = {"letter": ("letter", 100), "page_blocks": ("page_blocks", 40), "spambase": ("spambase", 25)}
MOST_KNOWN = 50


@dataclass(frozen=True)
class Rows:
    """Scores, classes and which rows are flagged."""

    score: np.ndarray
    positive: np.ndarray
    threshold: float
    probability: np.ndarray  # what peers are told about each row

    @property
    def flagged(self) -> np.ndarray:
        return self.score >= self.threshold

    @property
    def f1(self) -> float:
        return float(2 * (self.flagged & self.positive).sum() / (self.flagged.sum() + self.positive.sum()))


def matching(folder: Path, name: str) -> Rows:
    with np.load(folder / f"{MATCHING[name]}.npz", allow_pickle=False) as held:
        score = held["score"].astype(float)
        probability = held["probability"] if "probability" in held.files else expit(score)
        return Rows(score, held["y"] == 1, 0.0, probability)


def thinned(folder: Path, name: str) -> Rows:
    """A table with a few positives left, scored out of fold by a model that saw all classes."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    file, kept = TABLES[name]
    with np.load(folder / f"{file}.npz", allow_pickle=False) as held:
        X, y = held["X"], held["y"]
    rng = np.random.default_rng(11)
    names, sizes = np.unique(y, return_counts=True)
    positive = y == (names[np.argmin(sizes)] if name != "spambase" else names[-1])
    chosen = np.sort(np.concatenate([np.flatnonzero(~positive), rng.permutation(np.flatnonzero(positive))[:kept]]))
    X, positive = X[chosen], positive[chosen]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    score = cross_val_predict(model, X, positive, cv=5, method="decision_function")
    return Rows(score, positive, float(np.sort(score)[-int(positive.sum())]), expit(score))


def ours(rows: Rows, known: np.ndarray, labels: int, rng: np.random.Generator) -> tuple[float, float]:
    """F1 without an assumption, and if labels are random."""
    tally = Tally.from_arrays(
        np.concatenate([np.ones(known.size, np.int8), np.zeros(rows.score.size, np.int8)]),
        np.concatenate([known, rows.score]),
    )
    strata, checked = designed(tally, rows.threshold, labels)
    held = np.bincount(strata.of(rows.score[rows.positive]), minlength=len(strata))
    found = [rng.hypergeometric(x, m - x, n) if n else 0 for x, m, n in zip(held, strata.rows, checked, strict=True)]
    counts = AuditCounts(
        rows=strata.rows, checked=checked, found=np.array(found), labelled=strata.labelled, flagged=strata.flagged,
        scenario="case-control",
    )  # fmt: skip
    return point_values(counts)["f1"], if_random_estimates(counts)["f1"].value


def designed(tally: Tally, threshold: float, labels: int) -> tuple[Strata, np.ndarray]:
    for ranges in (4, 3, 2, 1):
        strata = cut_strata(tally, threshold, ranges)
        checked = allocate(strata.rows, strata.labelled, strata.flagged, labels, "f1")
        if not thinly_checked(strata.rows, checked, strata.flagged):
            break
    return strata, checked


def at_random(rows: Rows, labels: int, rng: np.random.Generator) -> float:
    drawn = rng.choice(rows.score.size, labels, replace=False)
    weight = rows.score.size / labels
    hits, positives = (rows.flagged & rows.positive)[drawn].sum(), rows.positive[drawn].sum()
    return float(2 * hits * weight / (rows.flagged.sum() + positives * weight))


def peers() -> dict[str, Callable[[Rows, list[int], int], Iterator[float]]]:
    """Samplers of the package oasis, or none if it is not installed."""
    import scipy

    scipy.percentile, scipy.ptp = np.percentile, np.ptp  # what the package still expects of scipy
    sys.modules.setdefault("tables", types.ModuleType("tables"))  # asked for by its experiments only
    try:
        import oasis
    except ImportError:
        print("oasis is not installed: its samplers are left out (pip install --no-deps oasis)")
        return {}

    def run(kind: Any, calibrated: bool = True) -> Callable[[Rows, list[int], int], Iterator[float]]:
        def estimates(rows: Rows, labels: list[int], seed: int) -> Iterator[float]:
            np.random.seed(seed)  # noqa: NPY002 (the package draws from the global generator)
            predicted = rows.flagged.astype(int)
            told = rows.probability if calibrated else expit(rows.score - rows.threshold)
            sampler = kind(0.5, predicted, told, lambda row: int(rows.positive[row]), proba=True, max_iter=200_000)
            spent = 0
            for wanted in labels:
                sampler.sample_distinct(wanted - spent)
                spent = wanted
                yield float(np.nan_to_num(sampler.estimate_[sampler.t_ - 1]))

        return estimates

    return {
        "OASIS": run(oasis.OASISSampler),
        "OASIS, margins": run(oasis.OASISSampler, calibrated=False),
        "importance": run(oasis.ImportanceSampler),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--labels", default="50,100,300")
    parser.add_argument("--sets", default=",".join([*MATCHING, *TABLES]))
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    labels = [int(number) for number in given.labels.split(",")]
    warnings.simplefilter("ignore")
    others = peers()
    for name in given.sets.split(","):
        whole = matching(given.data, name) if name in MATCHING else thinned(given.data, name)
        errors: dict[tuple[str, int], list[float]] = {}
        known = min(MOST_KNOWN, int(whole.positive.sum()) // 3)
        for repeat in range(given.repeats):
            rng = np.random.default_rng([given.seed, repeat])
            taken = rng.choice(np.flatnonzero(whole.positive), known, replace=False)
            left = np.setdiff1d(np.arange(whole.score.size), taken)
            pool = Rows(whole.score[left], whole.positive[left], whole.threshold, whole.probability[left])
            for spent in labels:
                one, two = ours(pool, whole.score[taken], spent, rng)
                found = {"random rows": at_random(pool, spent, rng), "nothing assumed": one, "labels random": two}
                for way, value in found.items():
                    errors.setdefault((way, spent), []).append(value - pool.f1)
            for way, estimates in others.items():
                for spent, value in zip(labels, estimates(pool, labels, given.seed * 1000 + repeat), strict=True):
                    errors.setdefault((way, spent), []).append(value - pool.f1)
        print_set(name, whole, known, labels, errors)


def print_set(name: str, rows: Rows, known: int, labels: list[int], errors: dict[tuple[str, int], list[float]]) -> None:
    print(
        f"\n{name}: {rows.score.size:,} rows, {int(rows.positive.sum()):,} positives ({known} known), "
        f"{int(rows.flagged.sum()):,} flagged, F1 {rows.f1:.3f}"
    )
    size = {key: float(np.sqrt(np.mean(np.square(values)))) for key, values in errors.items()}
    for way in dict.fromkeys(way for way, _ in size):
        shown = "  ".join(f"{size[way, spent]:.3f}" for spent in labels)
        beside = (
            "  ".join(f"{size[way, s] / size['OASIS', s]:.2f}" for s in labels) if ("OASIS", labels[0]) in size else ""
        )
        print(f"  {way:16} error {shown}" + (f"   over OASIS {beside}" if beside else ""))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
