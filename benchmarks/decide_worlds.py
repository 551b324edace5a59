"""Do decisions hold in worlds that were not used to build them? Those of coverage.py, and real tables with real models.

For every world: how often intervals of recall and precision in the first 10 rows, 100 rows and 1% hold the truth, of
the cost at the chosen threshold, and of a whole decision curve at 20 cost ratios; and how often a promised recall or
precision is not kept. Worlds whose class prior is only known to an interval or a range are told so.

Usage: python benchmarks/decide_worlds.py [--sets 100] [--real] [--tables FOLDER] [--only NAME] [--parts top,cost,...]
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import pulens
from pulens import metrics
from pulens.decisions.curve import decision_curve
from pulens.evidence import gather

SEED = 77_2026
FIRST = (10, 100, "1%")
ALARM = 20.0
REAL = (
    ("connect4", "win", "boosting", 0.1, 200, 4000, "single-set"),
    ("connect4", "loss", "logistic", 0.25, 100, 2000, "case-control"),
    ("bank_marketing", "yes", "logistic", 0.12, 150, 4000, "single-set"),
    ("bank_marketing", "yes", "boosting", 0.05, 60, 3000, "case-control"),
    ("letter", "vowels", "forest", 0.2, 200, 3000, "single-set"),
    ("letter", "B", "svm", 0.04, 80, 5000, "case-control"),
    ("imdb_minilm", "positive", "logistic", 0.3, 150, 2000, "single-set"),
    ("imdb_minilm", "positive", "neighbours", 0.1, 100, 3000, "case-control"),
)


@dataclass(frozen=True, eq=False)
class Known:
    """A world: how rows are drawn, what is said of the class prior, and the true rates at falling thresholds."""

    name: str
    scenario: str
    class_prior: float
    labelled: int
    unlabelled: int
    draw: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]
    told: Callable[[np.random.Generator, np.ndarray, int], Any]
    thresholds: np.ndarray
    recall: np.ndarray
    alarms: np.ndarray
    has_ties: bool

    @property
    def rows(self) -> int:
        return self.unlabelled if self.scenario == "case-control" else self.labelled + self.unlabelled

    @cached_property
    def flagged(self) -> np.ndarray:
        return self.class_prior * self.recall + (1 - self.class_prior) * self.alarms

    def at(self, threshold: float) -> tuple[float, float]:
        """True recall and flagged share."""
        if not np.isfinite(threshold):
            return 0.0, 0.0
        if self.has_ties:  # rows at or above: those of the last threshold that is not lower
            tolerance = 1e-9 * max(abs(threshold), 1.0)
            place = int(np.searchsorted(-self.thresholds, -(threshold - tolerance), side="right")) - 1
            return (float(self.recall[place]), float(self.flagged[place])) if place >= 0 else (0.0, 0.0)
        each = (np.interp(-threshold, -self.thresholds, values) for values in (self.recall, self.flagged))
        return tuple(map(float, each))  # type: ignore[return-value]

    def recall_in_first(self, share: float) -> float:
        """Of the first rows: tied ones are a straight line between what stands above and below."""
        return float(np.interp(share, np.append(0.0, self.flagged), np.append(0.0, self.recall)))


def simulated() -> list[Known]:
    """The worlds of coverage.py whose class prior is not estimated from the very rows."""
    from coverage import WORLDS, knowledge_of

    found = []
    for world in WORLDS:
        if world.knowledge == "estimated" or world.name == "g-large":
            continue
        ranking = world.ranking
        grid = ranking._grid()[::-1]
        grid = grid if world.levels else grid[::20]
        recall, alarms = ranking._rates(grid)

        def told(rng: np.random.Generator, labels: np.ndarray, seed: int, world: Any = world) -> Any:
            return knowledge_of(world, rng, labels, seed)["class_prior"]

        size = world.labelled, world.unlabelled
        ties = bool(world.levels)
        known = (world.name, world.scenario, world.prior, *size, ranking.draw, told, grid, recall, alarms, ties)
        found.append(Known(*known))
    return found


def real(folder: Path) -> list[Known]:
    """Scores of models on rows that they have not seen; sets are drawn from them with replacement."""
    from real_worlds import draw, pool

    found = []
    for table, target, model, prior, labelled, rows, scenario in REAL:
        world = pool(folder, (table, target, model))
        if world is None:
            continue
        both = [np.asarray(scores, float) for scores in (world.positive, world.negative)]
        thresholds = np.unique(np.concatenate(both))[::-1]
        rates = [np.searchsorted(np.sort(-scores), -thresholds, side="right") / scores.size for scores in both]
        given = {"labelled": labelled, "others": rows, "prior": prior, "scenario": scenario}

        def drawn(rng: np.random.Generator, world: Any = world, given: Any = given) -> tuple[np.ndarray, np.ndarray]:
            sample = draw(world, rng, **given)
            return sample.labels, np.asarray(sample.scores, float)

        size = (labelled, rows) if scenario == "case-control" else (labelled, rows - labelled)

        def own(rng: np.random.Generator, labels: np.ndarray, seed: int, prior: float = prior) -> float:
            return prior

        found.append(Known(f"{world.name}", scenario, prior, *size, drawn, own, thresholds, *rates, True))
    return found


def first_rows(world: Known, labels: np.ndarray, scores: np.ndarray, given: dict[str, Any], seed: int) -> dict:
    held = {}
    for k in FIRST:
        rows = k if isinstance(k, int) else int(np.ceil(world.rows / 100))
        share = rows / world.rows
        recall = world.recall_in_first(share)
        precision = world.class_prior * recall / share
        for name, truth in (("recall", recall), ("precision", min(precision, 1.0))):
            found = getattr(metrics, f"{name}_at_k")(labels, scores, k=k, confidence=0.95, **given).interval
            held[f"{name} {k}"] = found.low - 1e-12 <= truth <= found.high + 1e-12
    return held


def prices(world: Known) -> dict[str, float]:
    ratio = min(1.5 * world.class_prior, 0.6)
    return {"cost_miss": ALARM * (1 - ratio) / ratio, "cost_alarm": ALARM}


def cost(world: Known, labels: np.ndarray, scores: np.ndarray, given: dict[str, Any], seed: int) -> dict:
    asked = prices(world)
    decision = pulens.decide(labels, scores, **given, **asked, redraws=300, seed=seed)
    recall, flagged = world.at(decision.threshold)
    miss, prior = asked["cost_miss"], world.class_prior
    truth = 1000 * (miss * prior + ALARM * flagged - (miss + ALARM) * prior * recall)
    return {"cost": truth in decision.cost.interval}


def curve(world: Known, labels: np.ndarray, scores: np.ndarray, given: dict[str, Any], seed: int) -> dict:
    """Scores are moved to where each ratio is the threshold: a band depends on their order only."""
    lowest = min(12 / world.labelled, 0.3)
    places = np.unique([int(np.argmin(abs(world.recall - level))) for level in np.linspace(lowest, 0.97, 20)])
    cuts = world.thresholds[places][::-1]  # rising
    odds = np.log(world.class_prior / (1 - world.class_prior)) + np.linspace(-2.1, 1.4, cuts.size)
    ratios = 1 / (1 + np.exp(-odds))
    truth = np.array([world.at(cut) for cut in cuts])
    w = ratios / (1 - ratios)
    benefits = (1 + w) * world.class_prior * truth[:, 0] - w * truth[:, 1]
    low, high = min(scores.min(), cuts[0]) - 1, max(scores.max(), cuts[-1]) + 1
    moved = np.interp(scores, [low, *cuts, high], [0.0, *ratios, 1.0])
    if world.has_ties:  # which a rounding error must not part from their thresholds
        nearest = np.abs(moved[:, None] - ratios).argmin(axis=1)
        moved = np.where(np.abs(moved - ratios[nearest]) < 1e-9, ratios[nearest], moved)
    found = decision_curve(gather(labels, moved, **given), ratios=ratios, scores_are="probability")
    inside = (found.low <= benefits + 1e-12) & (benefits - 1e-12 <= found.high)
    return {"curve": bool(inside.all())}


def floors(world: Known, labels: np.ndarray, scores: np.ndarray, given: dict[str, Any], seed: int) -> dict:
    held = {}
    middle = int(np.argmin(abs(world.recall - 0.5)))
    half = world.class_prior * world.recall[middle] / world.flagged[middle]
    for which, least in (("recall", 0.8), ("precision", min(0.9 * half, 0.9))):
        decision = pulens.decide(labels, scores, **given, **{f"{which}_at_least": least}, redraws=100)
        held[f"{which} floor"] = True  # nothing is promised where no threshold is given
        if decision.threshold is not None and np.isfinite(decision.threshold):
            recall, flagged = world.at(decision.threshold)
            true = recall if which == "recall" else world.class_prior * recall / max(flagged, 1e-300)
            held[f"{which} floor"] = true >= least - 1e-12
    return held


PARTS = {"top": first_rows, "cost": cost, "curve": curve, "floors": floors}


def study(world: Known, sets: int, parts: list[str]) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = defaultdict(list)
    rng = np.random.default_rng([SEED, sum(map(ord, world.name))])
    for seed in range(sets):
        labels, scores = world.draw(rng)
        given = {"class_prior": world.told(rng, labels, seed), "scenario": world.scenario}
        for part in parts:
            for name, held in PARTS[part](world, labels, scores, given, seed).items():
                found[name].append(bool(held))
    return found


def report(worlds: list[Known], sets: int, parts: list[str]) -> None:
    everything: dict[str, dict[str, float]] = defaultdict(dict)
    for world in worlds:
        found = study(world, sets, parts)
        for name, held in found.items():
            everything[name][world.name] = 100 * np.mean(held)
        line = "  ".join(f"{name} {100 * np.mean(held):.0f}" for name, held in found.items())
        print(f"{world.name:<32} {line}", flush=True)
    print("\nlowest, mean and highest over worlds, % that hold")
    for name, by_world in everything.items():
        shares = np.array(list(by_world.values()))
        lowest = min(by_world, key=by_world.__getitem__)
        print(f"  {name:<16} {shares.min():.1f} ({lowest})  {shares.mean():.1f}  {shares.max():.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--real", action="store_true")
    shared = Path(os.environ.get("PULENS_SHARED", Path(__file__).parents[2] / "shared"))
    parser.add_argument("--tables", type=Path, default=shared / "data")
    parser.add_argument("--only", default="")
    parser.add_argument("--parts", default=",".join(PARTS))
    given = parser.parse_args()
    worlds = real(given.tables) if given.real else simulated()
    report([world for world in worlds if given.only in world.name], given.sets, given.parts.split(","))


if __name__ == "__main__":
    main()
