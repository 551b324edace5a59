"""What a run costs beside what it brings: seconds and memory against a metric, and which learners nothing beats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import nan
from statistics import fmean
from typing import Any

from pulens.research.benchmark.analyse.cells import is_defined
from pulens.research.benchmark.archive.measured import check_metric, sign_of


@dataclass(frozen=True)
class LearnerCost:
    """Means over seeds on one data set and device. Memory is that of the whole stack divided by its runs.

    The metric is over all seeds, wherever they ran; seconds and memory are over the ``runs`` on the device.
    """

    learner: str
    dataset: str
    value: float
    seconds: float
    memory: float
    device: str
    stack_runs: float
    runs: int
    is_efficient: bool = False  # no other learner is at least as good for as little time on the same device


def costs(rows: Iterable[Mapping[str, Any]], metric: str = "f1") -> list[LearnerCost]:
    """Every learner, data set and device; ``seconds`` is a run's share of its stack's training, scoring left out."""
    metric = check_metric(metric)
    values: dict[tuple[str, str], list[float]] = {}
    gathered: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if is_defined(row[metric]):
            values.setdefault((row["learner"], row["dataset"]), []).append(row[metric])
            if row["seconds"] is not None:
                gathered.setdefault((row["learner"], row["dataset"], device_of(row)), []).append(row)
    result = [
        LearnerCost(
            learner,
            dataset,
            fmean(values[learner, dataset]),
            fmean(row["seconds"] for row in own),
            _memory(own),
            device,
            fmean(row["stack_runs"] for row in own),
            len(own),
        )
        for (learner, dataset, device), own in sorted(gathered.items())
    ]
    return [replace(one, is_efficient=_is_efficient(one, result, sign_of(metric))) for one in result]


def _is_efficient(one: LearnerCost, all_of_them: Iterable[LearnerCost], sign: int) -> bool:
    """Beaten by nobody; where there is nobody to beat it, that says nothing."""
    others = [
        other
        for other in all_of_them
        if other is not one and (other.dataset, other.device) == (one.dataset, one.device)
    ]
    return bool(others) and not any(_beats(other, one, sign) for other in others)


def device_of(row: Mapping[str, Any]) -> str:
    """Where a run was trained, as tables name it."""
    return str(row["device_name"] or row["device"])


def _memory(rows: Iterable[Mapping[str, Any]]) -> float:
    known = [row["stack_peak_memory"] / row["stack_runs"] for row in rows if row["stack_peak_memory"]]
    return fmean(known) if known else nan


def devices(known: Iterable[LearnerCost]) -> list[str]:
    """The devices that occur, the one with most runs first."""
    counted: Counter[str] = Counter()
    for one in known:
        counted[one.device] += one.runs
    return sorted(counted, key=lambda name: (-counted[name], name))


def _beats(other: LearnerCost, one: LearnerCost, sign: int) -> bool:
    gain = sign * (other.value - one.value)
    return gain >= 0 and other.seconds <= one.seconds and (gain > 0 or other.seconds < one.seconds)
