"""What a run costs beside what it brings: seconds and memory against a metric, and which methods nothing beats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from pulens.benchmark.analysis.cells import check_metric, is_defined


@dataclass(frozen=True)
class Cost:
    """Means over seeds on one data set. Memory is that of the whole stack divided by its runs."""

    method: str
    dataset: str
    value: float
    seconds: float
    memory: float
    device: str
    stack_runs: float
    is_efficient: bool = False  # no other method is at least as good for as little time


def costs(rows: Iterable[Mapping[str, Any]], metric: str = "f1") -> list[Cost]:
    """Every method and data set; ``seconds`` is a run's share of its stack's training, scoring left out."""
    check_metric(metric)
    gathered: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if is_defined(row[metric]) and row["seconds"] is not None:
            gathered.setdefault((row["method"], row["dataset"]), []).append(row)
    found = [
        Cost(
            method,
            dataset,
            fmean(row[metric] for row in own),
            fmean(row["seconds"] for row in own),
            fmean(row["stack_peak_memory"] / row["stack_runs"] for row in own),
            str(own[0]["device_name"] or own[0]["device"]),
            fmean(row["stack_runs"] for row in own),
        )
        for (method, dataset), own in sorted(gathered.items())
    ]
    return [replace(one, is_efficient=not any(_beats(other, one) for other in found)) for one in found]


def _beats(other: Cost, one: Cost) -> bool:
    if other.dataset != one.dataset or other is one:
        return False
    at_least = other.value >= one.value and other.seconds <= one.seconds
    return at_least and (other.value > one.value or other.seconds < one.seconds)
