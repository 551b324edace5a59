"""Concrete: the compressive strength of 1030 mixtures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals
from pulens.research.benchmark.datasets._xls import read_numbers

FEATURES = (
    "Cement (component 1)(kg in a m^3 mixture)",
    "Blast Furnace Slag (component 2)(kg in a m^3 mixture)",
    "Fly Ash (component 3)(kg in a m^3 mixture)",
    "Water  (component 4)(kg in a m^3 mixture)",
    "Superplasticizer (component 5)(kg in a m^3 mixture)",
    "Coarse Aggregate  (component 6)(kg in a m^3 mixture)",
    "Fine Aggregate (component 7)(kg in a m^3 mixture)",
    "Age (day)",
)


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; strength above its mean is positive."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target > target.mean(),
        target=target,
        feature_names=FEATURES,
    )


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI: a legacy workbook, a line of names, then eight numbers and the strength in a row."""
    cells = read_numbers(member(paths["concrete.zip"], "Concrete_Data.xls"))
    rows = sorted({row for row, _ in cells})
    table = np.array([[cells[row, column] for column in range(len(FEATURES) + 1)] for row in rows])
    return {"X": table[:, :-1], "y": table[:, -1]}


DATASET = Dataset(
    build=build,
    files=(DataFile("concrete.npz", "0f2ea7da51de6b57dad69a32f6359e2f05e56bfb770d06267b6e81313caca744"),),
    title="Concrete compressive strength",
    source="https://archive.ics.uci.edu/dataset/165/concrete+compressive+strength",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Yeh (1998)",
    positive="strength above its mean",
    kind="table",
    rows=1030,
    positives=490,
    standardise=True,
    papers=("003",),
    originals=Originals(
        (DataFile("concrete.zip", None, f"{UCI}/165/concrete+compressive+strength.zip"),),
        convert,
        "4aff5af17e7be6eb8679297615016e9887454427939fa76417218b5b9142046b",
    ),
)
