"""Letters: 20000 printed capitals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, exactly, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals

FEATURES = "x.box y.box width high onpix x.bar y.bar x2bar y2bar xybar x2ybr xy2br x.ege xegvy y.ege yegvx"


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; A to M are positive."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target < 13,
        target=target,
        feature_names=tuple(FEATURES.split()),
    )


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI: a capital and 16 whole numbers in a line."""
    text = member(paths["letter.zip"], "letter-recognition.data").decode("ascii")
    rows = [line.split(",") for line in text.splitlines()]
    X = np.array([row[1:] for row in rows]).astype(np.int64)
    return {"X": exactly(X, "uint8"), "y": exactly([ord(row[0]) - ord("A") for row in rows], "uint8")}


DATASET = Dataset(
    build=build,
    files=(DataFile("letter.npz", "a62d6d4fad6fa26378a8d648c75888122c379caf52826074b970319622d544a4"),),
    title="Letter recognition",
    source="https://archive.ics.uci.edu/dataset/59/letter+recognition",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Frey and Slate (1991)",
    positive="A to M",
    kind="table",
    rows=20000,
    positives=9940,
    standardise=True,
    originals=Originals(
        (DataFile("letter.zip", None, f"{UCI}/59/letter+recognition.zip"),),
        convert,
        "1555a08789d26d2e5c2d20bce3bc89f446a7bc7c7577773ed29b665c0fdf7c58",
    ),
)
