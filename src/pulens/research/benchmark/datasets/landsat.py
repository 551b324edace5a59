"""Landsat: pixels of satellite pictures."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, exactly, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals, joined


def build(arrays: Arrays) -> LabelledData:
    """Training and test rows together, as paper 003 uses them; very damp grey soil (class 7) is positive."""
    X = joined(arrays["X_train"], arrays["X_test"])
    target = joined(arrays["y_train"], arrays["y_test"])
    return LabelledData(X, target == 7, target=target)


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI: 37 whole numbers in a line, the last one is the class."""
    arrays = {}
    for part, name in (("train", "sat.trn"), ("test", "sat.tst")):
        table = np.loadtxt(io.BytesIO(member(paths["landsat.zip"], name)))
        arrays[f"X_{part}"], arrays[f"y_{part}"] = exactly(table[:, :-1], "uint8"), exactly(table[:, -1], "uint8")
    return arrays


DATASET = Dataset(
    build=build,
    files=(DataFile("landsat.npz", "60f7772982986878436c27de2c2887abfb8376b615dc4604e79eef0e93632d01"),),
    title="Statlog Landsat",
    source="https://archive.ics.uci.edu/dataset/146/statlog+landsat+satellite",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Srinivasan (1993)",
    positive="class 7",
    kind="table",
    rows=6435,
    positives=1508,
    standardise=True,
    papers=("003",),
    originals=Originals(
        (DataFile("landsat.zip", None, f"{UCI}/146/statlog+landsat+satellite.zip"),),
        convert,
        "1f15bb909cf0f5b95ee693d7e05136d9adaee704c62d33606ea99c273f93817f",
    ),
)
