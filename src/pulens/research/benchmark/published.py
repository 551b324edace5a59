"""Figures that others published, to stand beside ours."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pulens.research.benchmark.methods import plain

TITLES = {"lagampu": "lagam", "lbepu": "lbe"}  # the table's names that are longer than ours


@dataclass(frozen=True)
class PublishedAccuracy:
    """Mean accuracy and standard deviation over ten seeds, in percent.

    The published deviations grow by nearly constant steps from row to row: do not use them as tolerances.
    """

    accuracy: float
    sd: float


def _read(name: str) -> dict[tuple[str, str], dict[str, str]]:
    """Lines of a published table by learner and data set."""
    text = (resources.files("pulens.research.benchmark") / name).read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    names = [plain(row["learner"]) for row in rows]
    return {(TITLES.get(name, name), row["dataset"]): row for name, row in zip(names, rows, strict=True)}


@cache
def table_d6() -> dict[tuple[str, str], float]:
    """PU-Bench, Table D.6: p-values of paired t-tests against nnPU, Holm-corrected over methods.

    >>> table_d6()["pan", "spambase"]
    0.089
    """
    return {place: float(row["p_value"]) for place, row in _read("published_table_d6.csv").items()}


@cache
def table_1() -> dict[tuple[str, str], PublishedAccuracy]:
    """PU-Bench, Table 1 (conventional setting), by learner (see :func:`pulens.benchmark.methods.plain`) and data set.

    >>> table_1()["nnpu", "spambase"]
    PublishedAccuracy(accuracy=81.66, sd=2.73)
    """
    rows = _read("published_table_1.csv")
    return {place: PublishedAccuracy(float(row["accuracy"]), float(row["sd"])) for place, row in rows.items()}
