"""What labels are worth: curves over the label frequency, and what biased labelling costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from pulens.benchmark.analyse.cells import Summary, check_metric, is_defined, summarise
from pulens.benchmark.analyse.conditions import setting_of
from pulens.errors import InputError

RANDOM = "S1"  # labels completely at random


@dataclass(frozen=True)
class LabelCurve:
    """A method on one data set, over label frequencies; all else about the condition is the same."""

    method: str
    dataset: str
    frequencies: tuple[float, ...]
    summaries: tuple[Summary, ...]
    setting: tuple[Any, ...] = ()  # :data:`pulens.benchmark.analyse.conditions.SETTING`

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
    """Curves of every method, data set and setting with labels at random at two or more label frequencies."""
    check_metric(metric)
    values: dict[tuple[str, str, tuple[Any, ...]], dict[float, list[float]]] = {}
    for row in rows:
        if row["strategy"] == RANDOM and is_defined(row[metric]):
            own = values.setdefault((row["method"], row["dataset"], setting_of(row)), {})
            own.setdefault(row["label_frequency"], []).append(float(row[metric]))
    return [
        LabelCurve(method, dataset, tuple(sorted(own)), tuple(summarise(own[c]) for c in sorted(own)), setting)
        for (method, dataset, setting), own in sorted(values.items(), key=_in_order)
        if len(own) > 1
    ]


def _in_order(item: tuple[tuple[Any, ...], Any]) -> tuple[Any, ...]:
    """By numbers and names; what may be missing, by its words."""
    return tuple(part if isinstance(part, float | str) else str(part) for part in item[0])


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
    parameters: str | None = None  # of the strategy
    setting: tuple[Any, ...] = ()  # :data:`pulens.benchmark.analyse.conditions.SETTING`

    @property
    def loss(self) -> float:
        return self.random - self.biased


def robustness(rows: Iterable[Mapping[str, Any]], metric: str = "f1") -> list[Robustness]:
    """Means over seeds under every biased strategy beside :data:`RANDOM` at the same label frequency and setting."""
    check_metric(metric)
    values: dict[tuple[str, str, float, str, str | None, tuple[Any, ...]], list[float]] = {}
    random: dict[tuple[str, str, float, tuple[Any, ...]], list[float]] = {}
    for row in rows:
        if is_defined(row[metric]):
            about, strategy = (row["method"], row["dataset"], row["label_frequency"]), row["strategy"]
            setting = setting_of(row)
            if strategy == RANDOM:
                random.setdefault((*about, setting), []).append(float(row[metric]))
                continue
            place = (*about, strategy or row["mechanism"], row["parameters"], setting)
            values.setdefault(place, []).append(float(row[metric]))
    found = []
    for place, own in sorted(values.items(), key=_in_order):
        method, dataset, frequency, strategy, parameters, setting = place
        plain = random.get((method, dataset, frequency, setting))
        if plain:
            means = fmean(plain), fmean(own), len(own)
            found.append(Robustness(method, dataset, frequency, strategy, *means, parameters, setting))
    if values and not random:
        raise InputError("robustness compares biased labels with random ones (S1), of which the archive has none.")
    return found
