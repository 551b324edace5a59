"""What labels are worth: curves over the label frequency, and what biased labelling costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from pulens.benchmark.analysis.cells import Summary, check_metric, is_defined, summarise
from pulens.errors import InputError

RANDOM = "S1"  # labels completely at random


@dataclass(frozen=True)
class LabelCurve:
    """A method on one data set, over label frequencies."""

    method: str
    dataset: str
    frequencies: tuple[float, ...]
    summaries: tuple[Summary, ...]

    def enough(self, share: float = 0.95) -> float:
        """The lowest label frequency from which on the mean stays above a share of its best."""
        best = max(one.mean for one in self.summaries)
        reached = self.frequencies[-1]
        for frequency, one in zip(reversed(self.frequencies), reversed(self.summaries), strict=True):
            if one.mean < share * best:
                break
            reached = frequency
        return reached


def label_curves(rows: Iterable[Mapping[str, Any]], metric: str = "accuracy") -> list[LabelCurve]:
    """Curves of every method and data set with labels completely at random at two or more label frequencies."""
    check_metric(metric)
    values: dict[tuple[str, str], dict[float, list[float]]] = {}
    for row in rows:
        if row["strategy"] == RANDOM and is_defined(row[metric]):
            own = values.setdefault((row["method"], row["dataset"]), {})
            own.setdefault(row["label_frequency"], []).append(float(row[metric]))
    return [
        LabelCurve(method, dataset, tuple(sorted(own)), tuple(summarise(own[c]) for c in sorted(own)))
        for (method, dataset), own in sorted(values.items())
        if len(own) > 1
    ]


@dataclass(frozen=True)
class Robustness:
    """What a method loses when labels are biased, beside random labels of the same number."""

    method: str
    dataset: str
    label_frequency: float
    strategy: str
    random: float
    biased: float
    n: int

    @property
    def loss(self) -> float:
        return self.random - self.biased


def robustness(rows: Iterable[Mapping[str, Any]], metric: str = "f1") -> list[Robustness]:
    """Means over seeds under every biased strategy beside :data:`RANDOM` at the same label frequency."""
    check_metric(metric)
    values: dict[tuple[str, str, float, str], list[float]] = {}
    for row in rows:
        if is_defined(row[metric]):
            place = row["method"], row["dataset"], row["label_frequency"], row["strategy"] or row["mechanism"]
            values.setdefault(place, []).append(float(row[metric]))
    found = []
    for (method, dataset, frequency, strategy), own in sorted(values.items()):
        plain = values.get((method, dataset, frequency, RANDOM))
        if strategy != RANDOM and plain:
            found.append(Robustness(method, dataset, frequency, strategy, fmean(plain), fmean(own), len(own)))
    if values and not found and all(place[3] != RANDOM for place in values):
        raise InputError("robustness compares biased labels with random ones (S1), of which the archive has none.")
    return found
