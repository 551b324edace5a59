"""Pen digits: digits written on a tablet."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, exactly, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals, joined


def build(arrays: Arrays) -> LabelledData:
    """Training and test rows together, as paper 003 uses them; 0, 1 and 2 are positive."""
    X = joined(arrays["X_train"], arrays["X_test"])
    target = joined(arrays["y_train"], arrays["y_test"])
    return LabelledData(X, target <= 2, target=target)


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI: 17 whole numbers in a line between commas, the last one is the digit."""
    arrays = {}
    for part, name in (("train", "pendigits.tra"), ("test", "pendigits.tes")):
        table = np.loadtxt(io.BytesIO(member(paths["pendigits.zip"], name)), delimiter=",")
        arrays[f"X_{part}"], arrays[f"y_{part}"] = exactly(table[:, :-1], "uint8"), exactly(table[:, -1], "uint8")
    return arrays


DATASET = Dataset(
    build=build,
    files=(DataFile("pendigits.npz", "fb46299fd1c6471606aa7d757b31e87331aa0f21f1459fb62321d67c0a25854f"),),
    title="Pen-based digits",
    source="https://archive.ics.uci.edu/dataset/81/pen+based+recognition+of+handwritten+digits",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Alpaydin and Alimoglu (1996)",
    positive="digits 0, 1 and 2",
    kind="table",
    rows=10992,
    positives=3430,
    standardise=True,
    papers=("003",),
    originals=Originals(
        (DataFile("pendigits.zip", None, f"{UCI}/81/pen+based+recognition+of+handwritten+digits.zip"),),
        convert,
        "3699690c6de617b94f3626a844512a2f6b0c2319cbad30409e45a031e86c97b7",
    ),
)
