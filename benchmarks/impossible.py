"""Where random labels are impossible: what clipping says, what possible worlds say, and what is true.

Two parts. ``proteins``: the transport proteins of Elkan and Noto (2008), whose labels come from one data base and whose
hidden positives were found in another, so that labels are no random draw and the truth is known; out-of-fold scores of
a logistic regression on tf-idf counts, the threshold that flags 5% of the unlabelled rows, the true class prior given.
``worlds``: simulated preferences in labelling, of shapes and sizes that the construction was not tuned on, the class
prior known: how often the range over possible worlds holds the truth in the sets in which the test fires, beside the
interval of chance around clipped rates, which is not shown any more. Truth is that of the world, from a million rows.

Usage: python benchmarks/impossible.py [proteins | worlds] [--data FOLDER] [--sets 100]
           [--multiples 1 2 3 5] [--only NAME]
FOLDER holds elkan_noto_protein.npz (see docs/data.md for where it comes from).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pulens.intervals.doubts import Doubts
from pulens.intervals.kernels.resampling import Resampling
from pulens.metrics.parts.measure import estimate
from pulens.metrics.parts.possible_worlds import find_contradiction

import pulens
from pulens.evidence import gather
from pulens.metrics import METRICS
from pulens.testing import BiasedWorld

SHOWN = ("roc_auc", "average_precision", "precision", "recall", "f1")


def truth_of(scores: np.ndarray, positive: np.ndarray, threshold: float) -> dict[str, float]:
    from sklearn.metrics import average_precision_score, roc_auc_score

    flagged = scores >= threshold
    hits = float(np.count_nonzero(flagged & positive))
    return {
        "roc_auc": float(roc_auc_score(positive, scores)),
        "average_precision": float(average_precision_score(positive, scores)),
        "precision": hits / np.count_nonzero(flagged),
        "recall": hits / np.count_nonzero(positive),
        "f1": 2 * hits / (np.count_nonzero(flagged) + np.count_nonzero(positive)),
    }


# --- proteins ---------------------------------------------------------------------------------------------------------


def protein_scores(folder: Path | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, hidden classes and out-of-fold scores."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    if folder is None:
        raise SystemExit("say where elkan_noto_protein.npz lies: --data FOLDER")
    with np.load(folder / "elkan_noto_protein.npz") as kept:
        counts = csr_matrix((kept["data"].astype(float), kept["indices"], kept["indptr"]), shape=kept["shape"])
        labels, positive = kept["s"].astype(int), kept["y"].astype(bool)
    model = make_pipeline(TfidfTransformer(), LogisticRegression(C=10, max_iter=1000))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return labels, positive, cross_val_predict(model, counts, labels, cv=folds, method="predict_proba")[:, 1]


def proteins(folder: Path | None, multiples: list[float]) -> None:
    labels, positive, scores = protein_scores(folder)
    apart = labels == 0
    threshold = float(np.sort(scores[apart])[::-1][int(0.05 * apart.sum()) - 1])
    for scenario, rows in (("case-control", apart), ("single-set", np.ones(labels.size, bool))):
        prior = float(positive[rows].mean())
        truth = truth_of(scores[rows], positive[rows], threshold)
        evidence = gather(labels, scores, class_prior=prior, scenario=scenario)
        doubts = Doubts(evidence, Resampling())
        clipped = {name: estimate(name, METRICS[name], evidence, threshold=threshold, doubts=doubts) for name in SHOWN}
        found = {
            multiple: pulens.evaluate(
                labels, scores, class_prior=prior, scenario=scenario, threshold=threshold, worlds=multiple
            )
            for multiple in multiples
        }
        first = next(iter(found.values())).labelling
        print(f"\nproteins, {scenario}, class prior {prior:.4f}: {first}")
        widths = "".join(f"{f'worlds at {multiple:g} G0':>24}" for multiple in multiples)
        print(f"{'':20}{'clipped':>24}{'nearest':>9}{widths}{'truth':>8}")
        for name in SHOWN:
            line = f"{name:20}{str(clipped[name]).removeprefix(name):>24}"
            line += f"{next(iter(found.values())).estimates[name].value:>9.3f}"
            for evaluation in found.values():
                interval = evaluation.estimates[name].interval
                line += f"{f'{interval} ' + ('held' if truth[name] in interval else 'MISSED'):>24}"
            print(f"{line}{truth[name]:>8.3f}")


# --- simulated worlds -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """A world by name, and the share of rows that are flagged in it."""

    name: str
    family: str
    prior: float
    preference: str
    factor: float
    flagged: float = 0.05
    scenario: str = "case-control"
    labelled: int = 1000
    rows: int = 10_000

    @property
    def biased(self) -> BiasedWorld:
        bias = self.preference, self.factor
        return BiasedWorld(self.family, self.prior, *bias, self.scenario, self.labelled, self.rows)


WORLDS = (
    World("beta, quarter 6:1, rare", "beta", 0.05, "quarter", 6.0),
    World("mixture, quarter 10:1, rare", "mixture", 0.05, "quarter", 10.0),
    World("mixture, quarter 20:1", "mixture", 0.1, "quarter", 20.0),
    World("gamma, two steps 6:1", "gamma", 0.2, "two steps", 6.0),
    World("beta, straight 5:1", "beta", 0.15, "straight", 5.0),
    World("laplace, late 10:1", "laplace", 0.1, "late", 10.0),
    World("mixture, top fifth 4:1", "mixture", 0.25, "top fifth", 4.0, 0.1),
    World("mixture, straight 8:1", "mixture", 0.1, "straight", 8.0),
    World("beta, quarter 5:1, single set", "beta", 0.2, "quarter", 5.0, 0.1, "single-set"),
    World("student, two steps 8:1, single set", "student", 0.3, "two steps", 8.0, 0.2, "single-set"),
    World("beta, two steps 6:1, few rows", "beta", 0.2, "two steps", 6.0, 0.1, "case-control", 200, 3000),
)


def worlds(sets: int, multiples: list[float], seed: int, only: str) -> None:
    print(f"\nshare of fired sets that hold the truth ({' / '.join(SHOWN)}), mean width of recall's range")
    for world in (world for world in WORLDS if only in world.name):
        rng = np.random.default_rng(seed)
        positive = rng.random(1_000_000) < world.prior
        scores = world.biased.scores(rng, positive)
        ranks = np.sort(scores[positive])
        threshold = float(np.quantile(scores, 1 - world.flagged))
        truth = truth_of(scores, positive, threshold)
        held = {key: {name: [] for name in SHOWN} for key in ("clipped", *multiples)}
        widths: dict[float, list[float]] = {multiple: [] for multiple in multiples}
        fired, narrow = 0, 0
        for _ in range(sets):
            labels, drawn = world.biased.draw(rng, ranks)
            evidence = gather(labels, drawn, class_prior=world.prior, scenario=world.scenario)
            if find_contradiction(evidence) is None:
                continue
            fired += 1
            doubts = Doubts(evidence, Resampling(redraws=200))
            for name in SHOWN:
                plain = estimate(name, METRICS[name], evidence, threshold=threshold, doubts=doubts)
                held["clipped"][name].append(truth[name] in plain.interval)
            for multiple in multiples:
                against = find_contradiction(evidence, multiple)
                for name in SHOWN:
                    found = estimate(name, METRICS[name], evidence, threshold=threshold, contradiction=against)
                    held[multiple][name].append(found.interval is not None and truth[name] in found.interval)
                    narrow += found.interval is not None and found.interval.width < 1e-3
                    if name == "recall":
                        widths[multiple].append(found.interval.width if found.interval else np.nan)
        print(f"{world.name}: {fired} of {sets} sets fired; {narrow} ranges narrower than 0.001")
        for key in ("clipped", *multiples) if fired else ():
            shares = " ".join(f"{np.mean(held[key][name]):.2f}" for name in SHOWN)
            width = "" if key == "clipped" else f"   width {np.nanmean(widths[key]):.2f}"
            print(f"    {key if key == 'clipped' else f'{key:g} G0':>8}  {shares}{width}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=("proteins", "worlds"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--multiples", type=float, nargs="+", default=[3.0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of a simulated world's name")
    asked = parser.parse_args()
    if asked.part != "worlds":
        proteins(asked.data, asked.multiples)
    if asked.part != "proteins":
        worlds(asked.sets, asked.multiples, asked.seed, asked.only)


if __name__ == "__main__":
    main()
