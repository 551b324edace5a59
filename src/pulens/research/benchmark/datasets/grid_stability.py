"""Grid stability: simulated electrical grids, stable or not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals

FEATURES = tuple(f"{kind}{place}" for kind in ("tau", "p", "g") for place in (1, 2, 3, 4))
OUTCOMES = ("unstable", "stable")


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; stable is positive."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target == 1,
        target=target,
        feature_names=FEATURES,
    )


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI: a line of names, then 12 numbers, the stability and a word, between commas.

    The benchmark's copy went through a spreadsheet, and so must this one: nine decimals, and three digits of numbers
    below 0.0001.
    """
    text = member(paths["grid_stability.zip"], "Data_for_UCI_named.csv").decode("ascii")
    rows = [line.split(",") for line in text.splitlines()[1:]]
    exact = np.array([row[:-1] for row in rows]).astype(np.float64)
    table = np.round(exact, 9)
    small = np.abs(exact) < 1e-4
    table[small] = [float(f"{value:.2e}") for value in exact[small].tolist()]
    y = np.array([OUTCOMES.index(row[-1].strip('"')) for row in rows], np.uint8)
    return {"X": table[:, :-1], "stab": table[:, -1], "y": y}


DATASET = Dataset(
    build=build,
    files=(DataFile("grid_stability.npz", "72c9f278a0de28186d1738feca1e9e9519571044934f6258cf967f1588750e8a"),),
    title="Electrical grid stability",
    source="https://archive.ics.uci.edu/dataset/471/electrical+grid+stability+simulated+data",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Arzamasov, Boehm and Jochem (2018)",
    positive="stable",
    kind="table",
    rows=10000,
    positives=3620,
    standardise=True,
    originals=Originals(
        (DataFile("grid_stability.zip", None, f"{UCI}/471/electrical+grid+stability+simulated+data.zip"),),
        convert,
        "b67f30a1019cf92067861837c0d5022684d580f5868ddaee5bbc88206bfed309",
    ),
)
