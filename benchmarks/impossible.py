"""Where random labels are impossible: what clipping says, what possible worlds say, and what is true.

Five parts. ``proteins``: the transport proteins of Elkan and Noto (2008), whose labels come from one data base and
whose hidden positives were found in another, so that labels are no random draw and the truth is known; out-of-fold
scores of a logistic regression on tf-idf counts, the threshold that flags 5% of the unlabelled rows, the true class
prior given.
``worlds``: simulated preferences in labelling, of shapes and sizes that the construction was not tuned on, the class
prior known: how often the range over possible worlds holds the truth in the sets in which the test fires, beside the
interval of chance around clipped rates, which is not shown any more. Truth is that of the world, from a million rows.

``alarms``: how often the test fires under random labels (false alarms) and under labels of six to one (power), with a
class prior that is known, given as a range, audited and estimated, in worlds of good scores and large tables and in
pools of rows of real tables; beside it the same test with the class prior's value taken for exact, and at the lower
end of its 95% interval. ``ranges``: how often sensitivity's intervals hold the truth, at a factor of 1 under random
labels and at the true factor under uneven ones, in both scenarios, how often the range without sampling error does,
and whether it ever goes below what the rows prove. ``limits``: how often the largest possible share of positives
among the unlabelled rows holds where high scores were labelled up to so many times as often, and how large it is.

Usage: python benchmarks/impossible.py [proteins | worlds | alarms | ranges | limits ...] [--data FOLDER] [--sets 100]
           [--multiples 1 2 3 5] [--only NAME] [--workers 2] [--seconds 600] [--out FILE]
FOLDER holds elkan_noto_protein.npz and the tables that ``alarms`` draws real pools from (docs/research/data.md
says where they come from). The last three parts take --workers, stop after
--seconds, and write all counts to FILE.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import sys
import time
import traceback
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import pulens
from pulens.counts.tally import Tally
from pulens.errors import AssumptionError, PulensError
from pulens.evidence import gather
from pulens.intervals.doubts import Doubts
from pulens.intervals.kernels.resampling import Resampling
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import estimate
from pulens.metrics.parts.possible_worlds import find_contradiction, within_what_is_possible
from pulens.priors import feasible_range
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.feasibility import chance_of_excess, impossible_rates
from pulens.scenario import Scenario
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


# --- false alarms, ranges, limits: many sets of each cell, in many workers ------------------------------------------


@dataclass(frozen=True)
class Cell:
    """Rows of one kind: scores of both classes, how labels favour high scores, and how the class prior is known."""

    part: str
    world: str
    scenario: str
    class_prior: float
    labelled: int
    rows: int
    favour: float = 1.0
    preference: str = "step"
    knows: str = "known"
    checked: int = 200

    @property
    def name(self) -> str:
        sizes = f"{self.labelled}+{self.rows}"
        labels = "random" if self.favour == 1 else f"{self.preference} {self.favour:g}:1"
        return f"{self.world}, {self.scenario} {sizes}, prior {self.class_prior:g}, {labels}, {self.knows}"


GAPS = {"gap 1": 1.0, "gap 1.5": 1.5, "gap 2": 2.0, "gap 3": 3.0, "gap 6": 6.0, "gap 8": 8.0, "gap 3 in tenths": 3.0}


@lru_cache(maxsize=64)
def pool(world: str, data: str) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the negatives and of the positives that stand for the population, in rising order."""
    if world in GAPS:
        rng = np.random.default_rng(12345)
        both = [rng.normal(mean, 1, 400_000) for mean in (0.0, GAPS[world])]
        both = [np.round(each, 1) if "tenths" in world else each for each in both]
    else:
        scores, positive = real_pool(world, data)
        both = [scores[~positive], scores[positive]]
    return np.sort(both[0]), np.sort(both[1])


REAL = {
    "spambase": lambda y: y == 1,
    "letter": lambda y: y < 13,
    "pendigits": lambda y: y < 3,
    "landsat": lambda y: y >= 4,
    "page_blocks": lambda y: y > 1,
    "mushroom": lambda y: y == 1,
    "avila": lambda y: y == 0,
    "wine_quality": lambda y: y >= 6,
}


def real_pool(name: str, data: str) -> tuple[np.ndarray, np.ndarray]:
    """Out-of-fold scores of boosted trees trained on the true classes, kept beside the data of this run."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import cross_val_predict

    with np.load(Path(data) / f"{name}.npz") as kept:
        both = [("X", "y")] if "X" in kept else [("X_train", "y_train"), ("X_test", "y_test")]
        features, classes = (np.concatenate([kept[pair[k]] for pair in both]) for k in (0, 1))
    positive = REAL[name](classes.astype(int))
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0)
    chances = cross_val_predict(model, features.astype(float), positive, cv=3, method="predict_proba")[:, 1]
    return np.log(np.clip(chances, 1e-9, 1 - 1e-9) / (1 - np.clip(chances, 1e-9, 1 - 1e-9))), positive


def chance_of_label(cell: Cell, scores: np.ndarray, positives: np.ndarray, threshold: float) -> np.ndarray:
    """Relative chance of a label, 1 at most: a step at the threshold, or a straight rise over the ranks."""
    if cell.preference == "step":
        return np.where(scores >= threshold, 1.0, 1 / cell.favour)
    place = np.searchsorted(positives, scores) / positives.size
    return (1 + (cell.favour - 1) * place) / cell.favour


def draw(cell: Cell, rng: np.random.Generator, data: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Labels, scores and classes of one set, and the threshold that half of the world's positives reach."""
    negatives, positives = pool(cell.world, data)
    threshold = float(np.median(positives))

    def rows(number: int) -> tuple[np.ndarray, np.ndarray]:
        positive = rng.random(number) < cell.class_prior
        return np.where(positive, rng.choice(positives, number), rng.choice(negatives, number)), positive

    if cell.scenario == "case-control":
        drawn = rng.choice(positives, int(1.5 * cell.favour * cell.labelled) + 100)
        drawn = drawn[rng.random(drawn.size) < chance_of_label(cell, drawn, positives, threshold)][: cell.labelled]
        scores, positive = rows(cell.rows)
        labels = np.repeat([1, 0], [drawn.size, cell.rows])
        return labels, np.concatenate([drawn, scores]), np.concatenate([np.ones(drawn.size, bool), positive]), threshold
    scores, positive = rows(cell.labelled + cell.rows)
    chance = chance_of_label(cell, scores, positives, threshold)
    mean = float(chance_of_label(cell, positives, positives, threshold).mean())
    wanted = cell.labelled / (cell.class_prior * (cell.labelled + cell.rows))
    # as many labels as asked for, or all of the favoured positives
    labels = positive & (rng.random(scores.size) < chance * min(wanted / mean, 1.0))
    return labels.astype(int), scores, positive, threshold


def knowledge(cell: Cell, rng: np.random.Generator, labels: np.ndarray, positive: np.ndarray) -> dict[str, Any]:
    if cell.knows == "known":
        return {"class_prior": cell.class_prior}
    if cell.knows == "range":
        return {"class_prior": (0.85 * cell.class_prior, 1.15 * cell.class_prior)}
    if cell.knows == "estimated":
        return {}
    hidden = positive[labels == 0]
    return {"audit": (int(rng.choice(hidden, cell.checked, replace=False).sum()), cell.checked)}


def one_alarm(cell: Cell, seed: int, data: str) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    labels, scores, positive, _ = draw(cell, rng, data)
    known = knowledge(cell, rng, labels, positive)
    evidence = gather(labels, scores, scenario=cell.scenario, **known)
    evidence = within_what_is_possible(evidence)
    prior = evidence.class_prior
    at_value, at_low = (
        float(share > 0 and impossible_rates(evidence.tally, evidence.assumptions_at(share)).standard_errors >= 4)
        for share in (prior.unlabelled, prior.least_unlabelled)
    )
    return {"value": at_value, "low end": at_low, "shown": float(find_contradiction(evidence) is not None)}


def proven(scores: np.ndarray, labels: np.ndarray, positives: int, threshold: float) -> dict[str, float]:
    """The numbers with the hidden positives at the end of the unlabelled rows: nothing lower can be."""
    from sklearn.metrics import roc_auc_score

    at_worst, hidden = labels == 1, max(positives - int(labels.sum()), 0)
    places = np.flatnonzero(labels == 0)
    at_worst[places[np.argsort(scores[places], kind="stable")[:hidden]]] = True
    flagged = scores >= threshold
    hits = float(at_worst[flagged].sum())
    return {
        "recall": hits / at_worst.sum(),
        "precision": hits / flagged.sum(),
        "f1": 2 * hits / (flagged.sum() + at_worst.sum()),
        "roc_auc": float(roc_auc_score(at_worst, scores)),
    }


@lru_cache(maxsize=64)
def truth_of_pool(world: str, class_prior: float, data: str) -> dict[str, float]:
    negatives, positives = pool(world, data)
    threshold = float(np.median(positives))
    rng = np.random.default_rng(1)
    positive = rng.random(1_000_000) < class_prior
    scores = np.where(positive, rng.choice(positives, 1_000_000), rng.choice(negatives, 1_000_000))
    found = truth_of(scores, positive, threshold)
    recall, flagged = float((positives >= threshold).mean()), float((negatives >= threshold).mean())
    called = class_prior * recall + (1 - class_prior) * flagged
    found |= {"recall": recall, "precision": class_prior * recall / called}
    return found | {"f1": 2 * class_prior * recall / (class_prior + called)}


def one_range(cell: Cell, seed: int, data: str) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    labels, scores, positive, threshold = draw(cell, rng, data)
    known = knowledge(cell, rng, labels, positive)
    truth = truth_of_pool(cell.world, cell.class_prior, data)
    evaluation = pulens.evaluate(labels, scores, scenario=cell.scenario, threshold=threshold, redraws=200, **known)
    found: dict[str, float] = {"contradicted": float(evaluation.labelling is not None)}
    least = {}
    if cell.scenario == "single-set" and cell.knows == "known":
        least = proven(scores, labels, math.floor(cell.class_prior * labels.size), threshold)
    for name in SHOWN:
        try:
            answer = evaluation.sensitivity(name, factor=cell.favour)
        except AssumptionError:  # the rows need a larger factor still
            found[f"{name} held"] = 0.0
            continue
        found[f"{name} held"] = float(truth[name] in answer.interval)
        found[f"{name} held without error"] = float(truth[name] in answer.possible)
        found[f"{name} width"] = answer.interval.width
        if name in least:
            for factor in (cell.favour, 100.0):
                low = evaluation.sensitivity(name, factor=factor).possible.low
                found[f"{name} below proof"] = max(
                    found.get(f"{name} below proof", 0.0), float(low < least[name] - 0.002)
                )
    if evaluation.labelling is not None:
        found |= {f"{name} held when contradicted": found[f"{name} held"] for name in SHOWN}
    return found


def one_limit(cell: Cell, seed: int, data: str) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    labels, scores, positive, _ = draw(cell, rng, data)
    tally = Tally.from_arrays(labels, scores)
    share = float(positive[labels == 0].mean())
    found: dict[str, float] = {"true share": share}
    for factor in (1.0, 2.0, 3.0, 5.0, 8.0):
        top = feasible_range(tally, factor=factor, scenario=Scenario(cell.scenario)).high
        found |= {f"held at {factor:g}": float(share <= top), f"limit at {factor:g}": top}
    top = inverted(tally, cell.scenario)
    return found | {"held inverted": float(share <= top), "limit inverted": top}


def inverted(tally: Tally, scenario: str, confidence: float = 0.95) -> float:
    """The largest share whose largest deviation along the ranking chance explains, by the bound on that chance."""
    low, high = 0.0, 0.999
    for _ in range(25):
        middle = (low + high) / 2
        assumptions = Assumptions(middle, 0.0, Scenario(scenario))
        errors = impossible_rates(tally, assumptions).standard_errors
        likely = chance_of_excess(tally, assumptions, errors) > 1 - confidence
        low, high = (middle, high) if likely else (low, middle)
    return low


ONE = {"alarms": one_alarm, "ranges": one_range, "limits": one_limit}


def cells(parts: list[str], data: Path | None) -> list[Cell]:
    found = []
    if "alarms" in parts:
        tables = [
            ("gap 3", "case-control", 0.2, 2000, 20_000),
            ("gap 2", "case-control", 0.2, 1000, 10_000),
            ("gap 3", "single-set", 0.3, 1500, 15_000),
            ("gap 6", "case-control", 0.3, 500, 5000),
            ("gap 8", "case-control", 0.1, 5000, 50_000),
            ("gap 8", "single-set", 0.2, 4000, 40_000),
            ("gap 3 in tenths", "case-control", 0.2, 2000, 20_000),
        ]
        tables += [(name, "case-control", 0.25, 800, 8000) for name in REAL if data and (data / f"{name}.npz").exists()]
        for world, scenario, prior, labelled, rows in tables:
            for favour in (1.0, 6.0):
                for knows in ("known", "range", "audited", "estimated"):
                    found.append(Cell("alarms", world, scenario, prior, labelled, rows, favour, "step", knows))
    if "ranges" in parts:
        for world, prior in (("gap 1", 0.3), ("gap 1.5", 0.2), ("gap 3", 0.1)):
            for scenario in ("case-control", "single-set"):
                for labelled, rows in ((150, 1500), (600, 6000)):
                    for favour, preference in ((1.0, "step"), (3.0, "step"), (3.0, "straight")):
                        for knows in ("known", "audited") if rows > 2000 else ("known",):
                            asked = (world, scenario, prior, labelled, rows, favour, preference, knows)
                            found.append(Cell("ranges", *asked))
        # most positives carry a label: what the labelled rows prove is what counts
        for favour in (1.0, 3.0):
            found.append(Cell("ranges", "gap 2", "single-set", 0.2, 480, 2520, favour, "step", "known"))
    if "limits" in parts:
        for world in ("gap 2", "gap 3"):
            for scenario in ("case-control", "single-set"):
                for favour in (1.0, 2.0, 4.0, 8.0):
                    found.append(Cell("limits", world, scenario, 0.2, 500, 5000, favour, "straight"))
    return found


def work(task: tuple[Cell, int, str]) -> tuple[Cell, dict[str, float]]:
    """What one set says. One that is refused, as by its labels alone it passes the class prior, is counted apart."""
    cell, seed, data = task
    try:
        return cell, {"refused": 0.0, **ONE[cell.part](cell, seed, data)}
    except PulensError as error:
        print(f"refused: {cell.part}: {cell.name}, seed {seed}: {error}", file=sys.stderr, flush=True)
        return cell, {"refused": 1.0}
    except Exception:  # a fault of ours: it must be seen, and not cost the sets of all other cells
        print(f"failed: {cell.part}: {cell.name}, seed {seed}\n{traceback.format_exc()}", file=sys.stderr, flush=True)
        return cell, {"failed": 1.0}


def many(parts: list[str], asked: argparse.Namespace) -> None:
    """Sets of all cells in turn until there are enough or time is up; counts are printed, and written on the way."""
    chosen = [cell for cell in cells(parts, asked.data) if asked.only in cell.name]
    seeds = np.random.SeedSequence(asked.seed).generate_state(asked.sets * len(chosen)).reshape(asked.sets, -1).tolist()
    data = "" if asked.data is None else str(asked.data)
    tasks = ((cell, seed, data) for row in seeds for cell, seed in zip(chosen, row, strict=True))
    found: dict[Cell, list[dict[str, float]]] = {cell: [] for cell in chosen}
    for world in dict.fromkeys(cell.world for cell in chosen):
        pool(world, data)  # before there are workers, so that each has it
    until = time.monotonic() + asked.seconds
    written = time.monotonic()
    with multiprocessing.get_context("fork").Pool(asked.workers) as workers:
        for cell, answer in workers.imap_unordered(work, tasks):
            found[cell].append(answer)
            if time.monotonic() - written > 60:
                written = time.monotonic()
                write(found, asked.out)
            if time.monotonic() > until:
                workers.terminate()
                break
    write(found, asked.out)
    for cell, answers in found.items():
        print(f"{cell.part}: {cell.name}: {len(answers)} sets: {told(answers)}", flush=True)


def means(answers: list[dict[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for answer in answers for name in answer)
    return {name: float(np.mean([answer[name] for answer in answers if name in answer])) for name in names}


def told(answers: list[dict[str, float]]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in means(answers).items())


def write(found: dict[Cell, list[dict[str, float]]], out: Path | None) -> None:
    if out is None:
        return
    kept = [asdict(cell) | {"sets": len(answers), "means": means(answers)} for cell, answers in found.items()]
    out.write_text(json.dumps(kept, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="proteins, worlds, alarms, ranges, limits; the first two without any")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--multiples", type=float, nargs="+", default=[3.0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of a simulated world's name")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    parts = asked.parts or ["proteins", "worlds"]
    if unknown := set(parts) - {"proteins", "worlds", *ONE}:
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    if "proteins" in parts:
        proteins(asked.data, asked.multiples)
    if "worlds" in parts:
        worlds(asked.sets, asked.multiples, asked.seed, asked.only)
    if set(parts) & set(ONE):
        many(parts, asked)


if __name__ == "__main__":
    main()
