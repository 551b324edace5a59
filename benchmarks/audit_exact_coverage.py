"""How often an audit's limits hold in the worst population: by enumeration of every answer, without simulation.

For strata of sizes M checked in n rows each, the limits of the total of positives, and of recall with the first stratum
flagged, are computed for every outcome by exact convolution, and the chance that they hold is added up for every
population. Prints the lowest one found for each design: the question whether ``strict`` holds with several strata.
``--rule`` chooses where the imaginary row stands: where it changes the total most ("effect", what pulens does), where a
row stands for most rows ("heavy", Fay and Feuer's rule), or in every stratum ("every").

    python benchmarks/audit_exact_coverage.py [--designs 40] [--seed 0] [--rule effect]
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from scipy.stats import betabinom, hypergeom

from pulens.audits.limits import effects

TAIL = 0.025


def masses(unseen: int, first: int, second: int) -> np.ndarray:
    if first and second:
        return np.asarray(betabinom.pmf(np.arange(unseen + 1), unseen, first, second))
    certain = np.zeros(unseen + 1)
    certain[unseen if first else 0] = 1.0
    return certain


def places(rows: np.ndarray, checked: np.ndarray, result: np.ndarray, up: int, rule: str) -> np.ndarray:
    if rule == "every":
        return np.arange(rows.size)
    weight = effects(rows, checked, result)[up] if rule == "effect" else (rows - checked) / (checked + 1)
    return np.array([int(np.argmax(weight))])


def totals(rows: np.ndarray, checked: np.ndarray, result: np.ndarray, kind: str, rule: str) -> list[np.ndarray]:
    """Chances of the total less the positives found, for the lower and for the upper limit."""
    both = []
    for up in (0, 1):
        where, total = places(rows, checked, result, up, rule), np.ones(1)
        for k in range(rows.size):
            plus = (up, 1 - up) if k in where else (0, 0)
            part = masses(rows[k] - checked[k], result[k] + plus[0], checked[k] - result[k] + plus[1])
            total = np.convolve(total, part)
        both.append(total)
    return both if kind == "strict" else [(both[0] + both[1]) / 2] * 2


def limits(rows: tuple, checked: tuple, result: tuple, kind: str, rule: str) -> tuple[int, int]:
    """Exact limits of the total: those of pulens.audits.limits without draws."""
    both = totals(np.array(rows), np.array(checked), np.array(result), kind, rule)
    low, high = (int(np.searchsorted(np.cumsum(one), q - 1e-12)) for one, q in zip(both, (TAIL, 1 - TAIL), strict=True))
    return sum(result) + low, min(sum(result) + high, sum(rows))


def recall_limits(rows: tuple, checked: tuple, result: tuple, kind: str, rule: str) -> tuple[float, float]:
    """Exact melded limits of recall with the first stratum flagged."""
    kinds = [np.array(one) for one in (rows, checked, result)]
    above = totals(*(one[:1] for one in kinds), kind, rule)
    below = totals(*(one[1:] for one in kinds), kind, rule)
    ends = []
    for hits, missed, level, empty in ((above[0], below[1], TAIL, 0.0), (above[1], below[0], 1 - TAIL, 1.0)):
        tp = result[0] + np.arange(hits.size)[:, None]
        fn = sum(result[1:]) + np.arange(missed.size)[None, :]
        recall = np.where(tp + fn > 0, tp / np.maximum(tp + fn, 1), empty).ravel()
        order = np.argsort(recall)
        share = np.cumsum((hits[:, None] * missed[None, :]).ravel()[order])
        ends.append(recall[order[min(int(np.searchsorted(share, level - 1e-12)), order.size - 1)]])
    return ends[0], ends[1]


def lowest_recall(rows: tuple, checked: tuple, kind: str, rule: str) -> tuple[float, tuple[int, ...]]:
    outcomes = list(product(*(range(n + 1) for n in checked)))
    ends = np.array([recall_limits(rows, checked, result, kind, rule) for result in outcomes]).T
    chances = [
        hypergeom.pmf(np.arange(n + 1)[None, :], m, np.arange(m + 1)[:, None], n)
        for m, n in zip(rows, checked, strict=True)
    ]
    worst, at = 1.0, (0,) * len(rows)
    for population in product(*(range(m + 1) for m in rows)):
        if not sum(population):
            continue
        recall, chance = population[0] / sum(population), np.ones(1)
        for k, x in enumerate(population):
            chance = np.outer(chance, chances[k][x]).ravel()
        held = float(chance[(ends[0] <= recall + 1e-12) & (recall <= ends[1] + 1e-12)].sum())
        if held < worst:
            worst, at = held, population
    return worst, at


def lowest(rows: tuple, checked: tuple, kind: str, rule: str) -> dict[str, object]:
    """The population whose total is held least often, and the worst one-sided misses."""
    outcomes = list(product(*(range(n + 1) for n in checked)))
    ends = np.array([limits(rows, checked, result, kind, rule) for result in outcomes]).T.reshape(
        2, *(n + 1 for n in checked)
    )
    chances = [
        hypergeom.pmf(np.arange(n + 1)[None, :], m, np.arange(m + 1)[:, None], n)
        for m, n in zip(rows, checked, strict=True)
    ]
    worst: dict[str, object] = {"coverage": 1.0, "missed below": 0.0, "missed above": 0.0}
    totals = sum(np.ogrid[tuple(slice(0, m + 1) for m in rows)])
    letters = "abc"[: len(rows)]
    rule = ",".join(letter.upper() + letter for letter in letters)
    for total in range(sum(rows) + 1):
        here = totals == total
        missed = []
        for wrong in (total > ends[1], total < ends[0]):
            weight = wrong.astype(float)
            if not weight.any():
                missed.append(np.zeros(here.shape))
                continue
            result = np.einsum(f"{rule},{letters}->{letters.upper()}", *chances, weight, optimize=True)
            missed.append(np.where(here, result, 0.0))
        both = np.where(here, missed[0] + missed[1], 0.0)
        for name, part in zip(("missed above", "missed below"), missed, strict=True):
            worst[name] = max(float(worst[name]), float(part.max()))
        if 1 - both.max() < float(worst["coverage"]):
            place = np.unravel_index(int(both.argmax()), both.shape)
            worst |= {"coverage": 1 - float(both.max()), "population": tuple(int(x) for x in place)}
    return worst


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--designs", type=int, default=20)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--rule", choices=["effect", "heavy", "every"], default="effect")
    options = asked.parse_args()
    random = np.random.default_rng(options.seed)
    alike = (
        [((60,), (8,))]
        + [((40, 40), (n, n)) for n in (2, 5, 8, 12)]
        + [((24, 24, 24), (n,) * 3) for n in (2, 5, 8)]
        + [((30, 30, 30), (8, 8, 8))]
    )
    drawn = []
    for _ in range(options.designs):
        strata = int(random.integers(2, 4))
        rows = tuple(int(x) for x in random.integers(12, 70 if strata == 2 else 28, strata))
        drawn.append((rows, tuple(int(random.integers(8, 11)) for _ in rows)))
    for label, designs in (("alike strata", alike), ("drawn designs, 8 to 10 rows checked in each stratum", drawn)):
        for kind in ("strict", "balanced"):
            print(f"\n{label}, {kind}, imaginary row: {options.rule}")
            result = [(lowest(rows, checked, kind, options.rule), rows, checked) for rows, checked in designs]
            for worst, rows, checked in sorted(result, key=lambda one: float(one[0]["coverage"]))[:8]:
                print(
                    f"  M {rows} n {checked}: total held in {worst['coverage']:.4f} at X {worst.get('population')}, "
                    f"above the upper limit {worst['missed above']:.4f}, below the lower {worst['missed below']:.4f}"
                )
    for kind in ("strict", "balanced"):
        print(f"\nrecall, first stratum flagged, {kind}, imaginary row: {options.rule}")
        for rows, checked in (((20, 40), (8, 8)), ((30, 30), (5, 10)), ((12, 60), (6, 10)), ((12, 15, 20), (6, 6, 6))):
            held, population = lowest_recall(rows, checked, kind, options.rule)
            print(f"  M {rows} n {checked}: recall held in {held:.4f} at X {population}")


if __name__ == "__main__":
    main()
