"""Wine: 6497 red and white wines and their quality."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; a quality of 6 or more is positive."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target >= 6,
        target=target,
        feature_names=tuple(arrays["feature_names"].tolist()),
    )


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
)
