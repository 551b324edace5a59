"""Letters: 20000 printed capitals."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; A to M are positive."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target < 13,
        target=target,
        feature_names=tuple(arrays["feature_names"].tolist()),
    )


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
)
