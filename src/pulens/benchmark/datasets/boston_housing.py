"""Housing: the value of homes in 506 districts of Boston."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; a value above its mean is positive."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target > target.mean(),
        target=target,
        feature_names=tuple(arrays["feature_names"].tolist()),
    )


DATASET = Dataset(
    build=build,
    files=(DataFile("boston_housing.npz", "a0abf47eff58f0ea3030de597743b474bad4811f6517ee2fbe86e395f654b6e7"),),
    title="Boston housing",
    source="StatLib; formerly https://archive.ics.uci.edu/dataset/housing",
    licence="none stated",
    citation="Harrison and Rubinfeld (1978). One column encodes race: for comparison with paper 003 only",
    positive="median value above its mean",
    kind="table",
    rows=506,
    positives=209,
    standardise=True,
    papers=("003",),
)
