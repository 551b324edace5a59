"""Concrete: the compressive strength of 1030 mixtures."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; strength above its mean is positive."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target > target.mean(),
        target=target,
        feature_names=tuple(arrays["feature_names"].tolist()),
    )


DATASET = Dataset(
    build=build,
    files=(DataFile("concrete.npz", "0f2ea7da51de6b57dad69a32f6359e2f05e56bfb770d06267b6e81313caca744"),),
    title="Concrete compressive strength",
    source="https://archive.ics.uci.edu/dataset/165/concrete+compressive+strength",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Yeh (1998)",
    positive="strength above its mean",
    kind="table",
    rows=1030,
    positives=490,
    standardise=True,
    papers=("003",),
)
