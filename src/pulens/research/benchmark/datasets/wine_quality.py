"""Wine: 6497 red and white wines and their quality."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, exactly, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals

FEATURES = (
    "fixed acidity",
    "volatile acidity",
    "citric acid",
    "residual sugar",
    "chlorides",
    "free sulfur dioxide",
    "total sulfur dioxide",
    "density",
    "pH",
    "sulphates",
    "alcohol",
)


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; a quality of 6 or more is positive."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target >= 6,
        target=target,
        feature_names=FEATURES,
    )


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI: two tables with a line of names and semicolons, quality last; red wines come first."""
    red, white = (
        np.loadtxt(io.BytesIO(member(paths["wine_quality.zip"], f"winequality-{color}.csv")), delimiter=";", skiprows=1)
        for color in ("red", "white")
    )
    table = np.concatenate([red, white])
    color = np.repeat(np.array([0, 1], np.uint8), [len(red), len(white)])
    return {"X": table[:, :-1], "y": exactly(table[:, -1], "uint8"), "color": color}


DATASET = Dataset(
    build=build,
    files=(DataFile("wine_quality.npz", "d44876f22d4aad66d23356c35d83673a8b7b4b6a051210757867f45c6c43a4ca"),),
    title="Wine quality",
    source="https://archive.ics.uci.edu/dataset/186/wine+quality",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Cortez et al. (2009)",
    positive="quality of 6 or more",
    kind="table",
    rows=6497,
    positives=4113,
    standardise=True,
    papers=("003",),
    originals=Originals(
        (DataFile("wine_quality.zip", None, f"{UCI}/186/wine+quality.zip"),),
        convert,
        "5b81a75f8421fd01cd68471d5ec5f991f0dcdc53093275563190f6406f121386",
    ),
)
