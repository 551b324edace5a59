"""Runs put into cells: one value per seed for every method and data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, sqrt
from statistics import fmean, median, stdev
from typing import Any

from pulens.errors import InputError, listed, nearest

METRICS = ("accuracy", "f1", "auc", "precision", "recall", "average_precision")
CONDITION = ("mechanism", "parameters", "label_frequency", "scenario")
Cells = Mapping[tuple[str, str], Mapping[int, float]]  # (method, data set) -> seed -> value


@dataclass(frozen=True)
class Summary:
    """One cell of a table: what the seeds say together."""

    n: int
    mean: float
    sd: float
    median: float
    interval: tuple[float, float]  # 95%, Student's t over seeds

    def __str__(self) -> str:
        return f"{100 * self.mean:.2f} ± {100 * self.sd:.2f}" if self.n > 1 else f"{100 * self.mean:.2f}"


def check_metric(metric: str) -> str:
    """A metric that the archive holds for every run."""
    if metric not in METRICS:
        raise InputError(f"metric must be one of {listed(METRICS)}, got {metric!r}.{nearest(metric, METRICS)}")
    return metric


def is_defined(value: float | None) -> bool:
    """Whether a run has the metric: precision has nothing to divide by where nothing is called positive.

    >>> is_defined(0.5), is_defined(float("nan")), is_defined(None)
    (True, False, False)
    """
    return value is not None and not isnan(value)


def cells_of(rows: Iterable[Mapping[str, Any]], metric: str = "accuracy") -> dict[tuple[str, str], dict[int, float]]:
    """Values by method, data set and seed, of runs under one labelling condition.

    >>> rows = [{"method": "nnpu", "dataset": "digits", "seed": seed, "accuracy": seed / 8} for seed in (5, 6)]
    >>> cells_of(rows)
    {('nnpu', 'digits'): {5: 0.625, 6: 0.75}}
    """
    check_metric(metric)
    found: dict[tuple[str, str], dict[int, float]] = {}
    seen: dict[tuple[str, str, int], tuple[Any, ...]] = {}
    for row in rows:
        place = row["method"], row["dataset"], row["seed"]
        condition = tuple(row.get(name) for name in CONDITION)
        if place in seen:
            different = "another labelling condition" if seen[place] != condition else "other settings"
            raise InputError(
                f"{place[0]} on {place[1]} with seed {place[2]} is there twice, with {different}. "
                "Choose the runs of one condition first."
            )
        seen[place] = condition
        if is_defined(row[metric]):
            found.setdefault(place[:2], {})[row["seed"]] = float(row[metric])
    return found


def conditions(rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """Labelling strategies and label frequencies that occur, in order."""
    return sorted({(row["strategy"] or row["mechanism"], row["label_frequency"]) for row in rows})


def under(rows: Iterable[Mapping[str, Any]], strategy: str, label_frequency: float) -> list[Mapping[str, Any]]:
    """The runs of one labelling condition."""
    wanted = (strategy, label_frequency)
    return [row for row in rows if (row["strategy"] or row["mechanism"], row["label_frequency"]) == wanted]


def summarise(values: Sequence[float], confidence: float = 0.95) -> Summary:
    r"""Mean, deviation, median and :math:`\bar x \pm t_{n-1} s / \sqrt n` over seeds.

    >>> str(summarise([0.80, 0.82, 0.81]))
    '81.00 ± 1.00'
    """
    from scipy.stats import t

    n, mean = len(values), fmean(values)
    if n < 2:
        return Summary(n, mean, 0.0, median(values), (-inf, inf))
    sd = stdev(values)
    half = float(t.ppf(0.5 + confidence / 2, n - 1)) * sd / sqrt(n)
    return Summary(n, mean, sd, median(values), (mean - half, mean + half))


def methods_of(cells: Cells) -> list[str]:
    return sorted({method for method, _ in cells})


def datasets_of(cells: Cells) -> list[str]:
    return sorted({dataset for _, dataset in cells})


def complete(cells: Cells) -> tuple[list[str], list[str]]:
    """A large table without holes: ranks compare methods on the same data sets only.

    Whatever misses the largest share of its cells, a method or a data set, goes first, until nothing is missing.

    >>> complete({("a", "x"): {1: 0.5}, ("a", "y"): {1: 0.5}, ("a", "z"): {1: 0.5}, ("b", "x"): {1: 0.4}})
    (['a'], ['x', 'y', 'z'])
    """
    methods, datasets = methods_of(cells), datasets_of(cells)
    while True:
        lacking = {
            ("method", name): sum((name, one) not in cells for one in datasets) / len(datasets) for name in methods
        }
        lacking |= {("set", one): sum((name, one) not in cells for name in methods) / len(methods) for one in datasets}
        worst = max(lacking, key=lambda place: (lacking[place], place), default=None)
        if worst is None or not lacking[worst]:
            return methods, datasets
        (methods if worst[0] == "method" else datasets).remove(worst[1])
