"""What labels are worth: curves over the label frequency, and what biased labelling costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from pulens.errors import InputError
from pulens.research.benchmark.analyse.cells import SeedSummary, is_defined, summarise
from pulens.research.benchmark.analyse.conditions import setting_of
from pulens.research.benchmark.archive.measured import check_metric, sign_of

RANDOM = "S1"  # labels completely at random


@dataclass(frozen=True)
class LabelCurve:
    """A learner on one data set, over label frequencies; all else about the condition is the same."""

    learner: str
    dataset: str
    frequencies: tuple[float, ...]
    summaries: tuple[SeedSummary, ...]
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
    """Curves of every learner, data set and setting with labels at random at two or more label frequencies."""
    metric = check_metric(metric)
    values: dict[tuple[str, str, tuple[Any, ...]], dict[float, list[float]]] = {}
    for row in rows:
        if row["mechanism_alias"] == RANDOM and is_defined(row[metric]):
            own = values.setdefault((row["learner"], row["dataset"], setting_of(row)), {})
            own.setdefault(row["label_frequency"], []).append(float(row[metric]))
    return [
        LabelCurve(learner, dataset, tuple(sorted(own)), tuple(summarise(own[c]) for c in sorted(own)), setting)
        for (learner, dataset, setting), own in sorted(values.items(), key=_in_order)
        if len(own) > 1
    ]


def _in_order(item: tuple[tuple[Any, ...], Any]) -> tuple[Any, ...]:
    """By numbers and names; what may be missing, by its words."""
    return tuple(part if isinstance(part, float | str) else str(part) for part in item[0])


@dataclass(frozen=True)
class BiasLoss:
    """What a learner loses when labels are biased, beside random labels of the same number."""

    learner: str
    dataset: str
    label_frequency: float
    alias: str  # of the labelling mechanism
    random: float
    biased: float
    n: int
    parameters: str | None = None  # of the mechanism
    setting: tuple[Any, ...] = ()  # :data:`pulens.benchmark.analyse.conditions.SETTING`

    @property
    def loss(self) -> float:
        return self.random - self.biased


def robustness(rows: Iterable[Mapping[str, Any]], metric: str = "f1") -> list[BiasLoss]:
    """Means over seeds under every biased mechanism beside :data:`RANDOM` at the same label frequency and setting."""
    metric = check_metric(metric)
    values: dict[tuple[str, str, float, str, str | None, tuple[Any, ...]], list[float]] = {}
    random: dict[tuple[str, str, float, tuple[Any, ...]], list[float]] = {}
    for row in rows:
        if is_defined(row[metric]):
            about, alias = (row["learner"], row["dataset"], row["label_frequency"]), row["mechanism_alias"]
            setting = setting_of(row)
            if alias == RANDOM:
                random.setdefault((*about, setting), []).append(float(row[metric]))
                continue
            place = (*about, alias or row["mechanism"], row["parameters"], setting)
            values.setdefault(place, []).append(float(row[metric]))
    result = []
    for place, own in sorted(values.items(), key=_in_order):
        learner, dataset, frequency, alias, parameters, setting = place
        plain = random.get((learner, dataset, frequency, setting))
        if plain:
            sign = sign_of(metric)  # what is lost is good: less of an error is more
            means = sign * fmean(plain), sign * fmean(own), len(own)
            result.append(BiasLoss(learner, dataset, frequency, alias, *means, parameters, setting))
    if values and not random:
        raise InputError("robustness compares biased labels with random ones (S1), of which the archive has none.")
    return result
