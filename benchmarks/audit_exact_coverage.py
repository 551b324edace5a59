"""How often an audit's limits hold in the worst population: by enumeration of every answer, without simulation.

For strata of sizes M checked in n rows each, the limits of the total of positives are computed for every outcome by
exact convolution, and the chance that they hold is added up for every population. Prints the lowest one found for each
design: the question whether ``strict`` holds in general with several strata.

    python benchmarks/audit_exact_coverage.py [--designs 40] [--seed 0]
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from scipy.stats import hypergeom

from pulens.audits.limits import _cumulative

TAIL = 0.025


def masses(unseen: int, first: int, second: int) -> np.ndarray:
    return np.diff(_cumulative(unseen, first, second), prepend=0.0)


def limits(rows: tuple[int, ...], checked: tuple[int, ...], found: tuple[int, ...], kind: str) -> tuple[int, int]:
    """Exact limits of the total: those of pulens.audits.limits without draws."""
    heavy = int(np.argmax([(m - n) / (n + 1) for m, n in zip(rows, checked, strict=True)]))
    ends = []
    for up, level in ((0, TAIL), (1, 1 - TAIL)):
        total = np.ones(1)
        for k, (m, n, a) in enumerate(zip(rows, checked, found, strict=True)):
            if k != heavy:
                part = masses(m - n, a, n - a)
            elif kind == "strict":
                part = masses(m - n, a + up, n - a + 1 - up)
            else:
                part = (masses(m - n, a + 1, n - a) + masses(m - n, a, n - a + 1)) / 2
            total = np.convolve(total, part)
        ends.append(sum(found) + int(np.searchsorted(np.cumsum(total), level - 1e-12)))
    return ends[0], min(ends[1], sum(rows))


def lowest(rows: tuple[int, ...], checked: tuple[int, ...], kind: str) -> dict[str, object]:
    """The population whose total is held least often, and the worst one-sided misses."""
    outcomes = list(product(*(range(n + 1) for n in checked)))
    ends = np.array([limits(rows, checked, found, kind) for found in outcomes]).T.reshape(2, *(n + 1 for n in checked))
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
            found = np.einsum(f"{rule},{letters}->{letters.upper()}", *chances, weight, optimize=True)
            missed.append(np.where(here, found, 0.0))
        both = np.where(here, missed[0] + missed[1], 0.0)
        for name, part in zip(("missed above", "missed below"), missed, strict=True):
            worst[name] = max(float(worst[name]), float(part.max()))
        if 1 - both.max() < float(worst["coverage"]):
            place = np.unravel_index(int(both.argmax()), both.shape)
            worst |= {"coverage": 1 - float(both.max()), "population": tuple(int(x) for x in place)}
    return worst


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--designs", type=int, default=30)
    asked.add_argument("--seed", type=int, default=0)
    options = asked.parse_args()
    random = np.random.default_rng(options.seed)
    fixed = [((60,), (8,)), ((40, 40), (1, 1)), ((40, 40), (2, 2)), ((40, 40), (5, 5)), ((40, 40), (8, 8)),
             ((25, 25, 25), (1, 1, 1)), ((25, 25, 25), (2, 2, 2)), ((25, 25, 25), (5, 5, 5)), ((30, 30, 30), (8, 8, 8))]
    drawn = []
    for _ in range(options.designs):
        strata = int(random.integers(2, 4))
        rows = tuple(int(x) for x in random.integers(12, 70 if strata == 2 else 28, strata))
        drawn.append((rows, tuple(int(random.integers(8, 11)) for _ in rows)))
    for label, designs in (("fixed", fixed), ("drawn, at least 8 rows checked in each stratum", drawn)):
        for kind in ("strict", "balanced"):
            print(f"\n{label}, {kind}")
            found = [(lowest(rows, checked, kind), rows, checked) for rows, checked in designs]
            for worst, rows, checked in sorted(found, key=lambda one: float(one[0]["coverage"]))[:12]:
                print(
                    f"  M {rows} n {checked}: lowest coverage {worst['coverage']:.4f} at X {worst.get('population')}, "
                    f"above the upper limit {worst['missed above']:.4f}, below the lower {worst['missed below']:.4f}"
                )


if __name__ == "__main__":
    main()
