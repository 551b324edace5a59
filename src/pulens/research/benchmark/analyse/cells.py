"""Runs put into cells: one value per seed for every learner and data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, sqrt
from statistics import fmean, median, stdev
from typing import Any

from pulens.errors import InputError
from pulens.research.benchmark.archive.measured import check_metric, sign_of

#: What every page shows; any other metric of the catalogue is computed on demand.
METRICS = ("accuracy", "f1", "macro_f1", "roc_auc", "precision", "recall", "average_precision")
CONDITION = ("mechanism", "parameters", "label_frequency", "scenario")
Cells = Mapping[tuple[str, str], Mapping[int, float]]  # (learner, data set) -> seed -> value


@dataclass(frozen=True)
class SeedSummary:
    """One cell of a table: what the seeds say together."""

    n: int
    mean: float
    sd: float
    median: float
    interval: tuple[float, float]  # 95%, Student's t over seeds

    def __str__(self) -> str:
        return self.shown()

    def shown(self, factor: float = 100) -> str:
        """Mean and deviation, in percent unless another factor is given."""
        return f"{factor * self.mean:.2f} ± {factor * self.sd:.2f}" if self.n > 1 else f"{factor * self.mean:.2f}"


def is_defined(value: float | None) -> bool:
    """Whether a run has the metric: precision has nothing to divide by where nothing is called positive.

    >>> is_defined(0.5), is_defined(float("nan")), is_defined(None)
    (True, False, False)
    """
    return value is not None and not isnan(value)


def cells_of(rows: Iterable[Mapping[str, Any]], metric: str = "accuracy") -> dict[tuple[str, str], dict[int, float]]:
    """Values by learner, data set and seed, of runs under one labelling condition.

    >>> rows = [{"learner": "nnpu", "dataset": "digits", "seed": seed, "accuracy": seed / 8} for seed in (5, 6)]
    >>> cells_of(rows)
    {('nnpu', 'digits'): {5: 0.625, 6: 0.75}}
    """
    metric = check_metric(metric)
    result: dict[tuple[str, str], dict[int, float]] = {}
    seen: dict[tuple[str, str, int], tuple[Any, ...]] = {}
    for row in rows:
        place = row["learner"], row["dataset"], row["seed"]
        condition = tuple(row.get(name) for name in CONDITION)
        if place in seen:
            different = "another labelling condition" if seen[place] != condition else "other settings"
            raise InputError(
                f"{place[0]} on {place[1]} with seed {place[2]} is there twice, with {different}. "
                "Choose the runs of one condition first."
            )
        seen[place] = condition
        if is_defined(row[metric]):
            result.setdefault(place[:2], {})[row["seed"]] = float(row[metric])
    return result


def conditions(rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """Labelling mechanisms (by their alias) and label frequencies that occur, in order."""
    return sorted({(row["mechanism_alias"] or row["mechanism"], row["label_frequency"]) for row in rows})


def under(rows: Iterable[Mapping[str, Any]], alias: str, label_frequency: float) -> list[Mapping[str, Any]]:
    """The runs of one labelling condition."""
    wanted = (alias, label_frequency)
    return [row for row in rows if (row["mechanism_alias"] or row["mechanism"], row["label_frequency"]) == wanted]


def better_is_higher(cells: Cells, metric: str) -> Cells:
    """The cells with values of which the higher is the better one: turned around where lower is better."""
    if sign_of(metric) > 0:
        return cells
    return {place: {seed: -value for seed, value in own.items()} for place, own in cells.items()}


def summarise(values: Sequence[float], confidence: float = 0.95) -> SeedSummary:
    r"""Mean, deviation, median and :math:`\bar x \pm t_{n-1} s / \sqrt n` over seeds.

    >>> str(summarise([0.80, 0.82, 0.81]))
    '81.00 ± 1.00'
    """
    from scipy.stats import t

    n, mean = len(values), fmean(values)
    if n < 2:
        return SeedSummary(n, mean, 0.0, median(values), (-inf, inf))
    sd = stdev(values)
    half = float(t.ppf(0.5 + confidence / 2, n - 1)) * sd / sqrt(n)
    return SeedSummary(n, mean, sd, median(values), (mean - half, mean + half))


def learners_of(cells: Cells) -> list[str]:
    return sorted({learner for learner, _ in cells})


def datasets_of(cells: Cells) -> list[str]:
    return sorted({dataset for _, dataset in cells})


def complete(cells: Cells) -> tuple[list[str], list[str]]:
    """A large table without holes: ranks compare learners on the same data sets only.

    Whatever misses the largest share of its cells, a learner or a data set, goes first, until nothing is missing.

    >>> complete({("a", "x"): {1: 0.5}, ("a", "y"): {1: 0.5}, ("a", "z"): {1: 0.5}, ("b", "x"): {1: 0.4}})
    (['a'], ['x', 'y', 'z'])
    """
    learners, datasets = learners_of(cells), datasets_of(cells)
    while True:
        lacking = {
            ("learner", name): sum((name, one) not in cells for one in datasets) / len(datasets) for name in learners
        }
        lacking |= {
            ("set", one): sum((name, one) not in cells for name in learners) / len(learners) for one in datasets
        }
        worst = max(lacking, key=lambda place: (lacking[place], place), default=None)
        if worst is None or not lacking[worst]:
            return learners, datasets
        (learners if worst[0] == "learner" else datasets).remove(worst[1])
