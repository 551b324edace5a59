"""Avila: who copied a page of a Latin bible."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, exactly, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals

COPYISTS = tuple("ABCDEFGHIWXY")


def build(arrays: Arrays) -> LabelledData:
    """Copyist A is positive."""
    return LabelledData(
        arrays["X_train"],
        arrays["y_train"] == 0,
        arrays["X_test"],
        arrays["y_test"] == 0,
        target=arrays["y_train"],
        target_test=arrays["y_test"],
        classes=COPYISTS,
    )


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI: ten numbers and the letter of a copyist in a line."""
    arrays = {}
    for part, name in (("train", "avila-tr.txt"), ("test", "avila-ts.txt")):
        rows = [line.split(",") for line in member(paths["avila.zip"], name).decode("ascii").splitlines()]
        arrays[f"X_{part}"] = np.array([row[:-1] for row in rows]).astype(np.float64)
        arrays[f"y_{part}"] = exactly([COPYISTS.index(row[-1]) for row in rows], "uint8")
    return arrays


DATASET = Dataset(
    build=build,
    files=(DataFile("avila.npz", "329aea4c6937bde3bc9e7dfa9399841f3aae9234da91e113dd1307ad922575ed"),),
    title="Avila",
    source="https://archive.ics.uci.edu/dataset/459/avila",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="De Stefano et al. (2018)",
    positive="copyist A",
    kind="table",
    rows=20867,
    positives=8572,
    standardise=True,
    originals=Originals(
        (DataFile("avila.zip", None, f"{UCI}/459/avila.zip"),),
        convert,
        "17ffdc2ca047e2e5800faee04cdf0275c3b5fa0de33644a339189cb97acaaa5b",
    ),
)
