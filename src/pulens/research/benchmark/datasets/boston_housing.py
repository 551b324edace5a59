"""Housing: the value of homes in 506 districts of Boston."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals

FEATURES = ("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT")


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; a value above its mean is positive."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target > target.mean(),
        target=target,
        feature_names=FEATURES,
    )


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The file of StatLib: 22 lines of words, then 14 numbers on two lines for each district, the value last."""
    numbers = paths["boston.txt"].read_text("latin-1").split("\n", 22)[22].split()
    table = np.array([float(number) for number in numbers]).reshape(-1, len(FEATURES) + 1)
    return {"X": table[:, :-1], "y": table[:, -1]}


DATASET = Dataset(
    build=build,
    files=(DataFile("boston_housing.npz", "a0abf47eff58f0ea3030de597743b474bad4811f6517ee2fbe86e395f654b6e7"),),
    title="Boston housing",
    source="StatLib; formerly https://archive.ics.uci.edu/dataset/housing",
    licence="none stated",
    citation="Harrison and Rubinfeld (1978). One column encodes race: for comparison with paper 003 only",
    positive="median value above its mean",
    kind="table",
    rows=506,
    positives=209,
    standardise=True,
    papers=("003",),
    originals=Originals(
        (DataFile("boston.txt", None, "http://lib.stat.cmu.edu/datasets/boston"),),
        convert,
        "9e06b89ff628a75575a41ecefbb503b2b53ceb28827a2110165dc41c1fe63a70",
    ),
)
