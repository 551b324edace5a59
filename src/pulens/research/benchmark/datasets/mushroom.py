"""Mushroom: 8124 descriptions of mushrooms, poisonous or edible."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, codes, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals, one_hot

CLASSES = "ep"
LEVELS = {  # of each column, the letters that occur; "?" is a root that nobody described
    "cap-shape": "bcfksx",
    "cap-surface": "fgsy",
    "cap-color": "bcegnpruwy",
    "bruises": "ft",
    "odor": "acflmnpsy",
    "gill-attachment": "af",
    "gill-spacing": "cw",
    "gill-size": "bn",
    "gill-color": "beghknopruwy",
    "stalk-shape": "et",
    "stalk-root": "?bcer",
    "stalk-surface-above-ring": "fksy",
    "stalk-surface-below-ring": "fksy",
    "stalk-color-above-ring": "bcegnopwy",
    "stalk-color-below-ring": "bcegnopwy",
    "veil-type": "p",
    "veil-color": "nowy",
    "ring-number": "not",
    "ring-type": "eflnp",
    "spore-print-color": "bhknoruwy",
    "population": "acnsvy",
    "habitat": "dglmpuw",
}


def build(arrays: Arrays) -> LabelledData:
    """One-hot columns, a missing value being a level of its own; poisonous is positive."""
    return LabelledData(
        one_hot(arrays["X"], [len(characters) for characters in LEVELS.values()]),
        arrays["y"] == 1,
        feature_names=tuple(f"{name}={level}" for name, characters in LEVELS.items() for level in characters),
    )


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI: 23 letters in a line between commas, the first one says poisonous or edible."""
    lines = member(paths["mushroom.zip"], "agaricus-lepiota.data").decode("ascii").splitlines()
    columns = zip(*(line[::2] for line in lines), strict=True)
    y, *X = (
        codes("".join(column), levels) for column, levels in zip(columns, (CLASSES, *LEVELS.values()), strict=True)
    )
    return {"X": np.stack(X, 1), "y": y}


DATASET = Dataset(
    build=build,
    files=(DataFile("mushroom.npz", "95d9c0c52c42b9557a47a7b405e6744d6066452f2c1b9a9294a367bb87947995"),),
    title="Mushroom",
    source="https://archive.ics.uci.edu/dataset/73/mushroom",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Schlimmer (1987)",
    positive="poisonous",
    kind="table",
    rows=8124,
    positives=3916,
    papers=("003", "004 (program only)"),
    originals=Originals(
        (DataFile("mushroom.zip", None, f"{UCI}/73/mushroom.zip"),),
        convert,
        "7bd2f273c50743f93db09cb26a0865d5a7efa82c2cc9d9089a6e6fe0bada5a94",
    ),
)
