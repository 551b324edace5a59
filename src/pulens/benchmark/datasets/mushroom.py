"""Mushroom: 8124 descriptions of mushrooms, poisonous or edible."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, one_hot


def build(arrays: Arrays) -> LabelledData:
    """One-hot columns, a missing value being a level of its own; poisonous is positive."""
    levels = [len(characters) for characters in arrays["levels"].tolist()]
    names = zip(arrays["feature_names"].tolist(), arrays["levels"].tolist(), strict=True)
    return LabelledData(
        one_hot(arrays["X"], levels),
        arrays["y"] == 1,
        feature_names=tuple(f"{name}={level}" for name, characters in names for level in characters),
    )


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
)
