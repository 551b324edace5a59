"""Shuttle: radiator positions of the space shuttle."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, exactly, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals, joined


def build(arrays: Arrays) -> LabelledData:
    """Training and test rows together, as paper 003 uses them; class 4 is positive."""
    X = joined(arrays["X_train"], arrays["X_test"])
    target = joined(arrays["y_train"], arrays["y_test"])
    return LabelledData(X, target == 4, target=target)


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI: 10 whole numbers in a line, the last one is the class; training rows are compressed."""
    arrays = {}
    for part, name in (("train", "shuttle.trn"), ("test", "shuttle.tst")):
        table = np.loadtxt(io.BytesIO(member(paths["shuttle.zip"], name)))
        arrays[f"X_{part}"], arrays[f"y_{part}"] = exactly(table[:, :-1], "int16"), exactly(table[:, -1], "uint8")
    return arrays


DATASET = Dataset(
    build=build,
    files=(DataFile("shuttle.npz", "fe3331a020fe311137e084514ef6bbc22498109445bb2a3222b9e664c6f5322e"),),
    title="Statlog Shuttle",
    source="https://archive.ics.uci.edu/dataset/148/statlog+shuttle",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Catlett (1993)",
    positive="class 4",
    kind="table",
    rows=58000,
    positives=8903,
    standardise=True,
    papers=("003",),
    originals=Originals(
        (DataFile("shuttle.zip", None, f"{UCI}/148/statlog+shuttle.zip"),),
        convert,
        "b39652a12bce306f304868ddf38975e360d6561f4ef86df33dd1d9b339c36b7b",
    ),
)
