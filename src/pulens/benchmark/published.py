"""Figures that others published, to stand beside ours."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pulens.benchmark.methods import plain

TITLES = {"lagampu": "lagam", "lbepu": "lbe"}  # the table's names that are longer than ours


@dataclass(frozen=True)
class PublishedAccuracy:
    """Mean accuracy and standard deviation over ten seeds, in percent.

    The published deviations grow by nearly constant steps from row to row: do not use them as tolerances.
    """

    accuracy: float
    sd: float


@cache
def table_1() -> dict[tuple[str, str], PublishedAccuracy]:
    """Paper 004, Table 1 (conventional setting), by learner (see :func:`pulens.benchmark.methods.plain`) and data set.

    >>> table_1()["nnpu", "spambase"]
    PublishedAccuracy(accuracy=81.66, sd=2.73)
    """
    text = (resources.files("pulens.benchmark") / "published_table_1.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        name = plain(row["learner"])
        found[TITLES.get(name, name), row["dataset"]] = PublishedAccuracy(float(row["accuracy"]), float(row["sd"]))
    return found
