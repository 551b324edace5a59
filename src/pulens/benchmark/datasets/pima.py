"""Pima: diabetes among 768 women."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; diabetes is positive; zeros that stand for missing values are kept."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target == 1,
        target=target,
        feature_names=tuple(arrays["feature_names"].tolist()),
    )


DATASET = Dataset(
    build=build,
    files=(DataFile("pima.npz", "028863bd535fee42226d96be73c414be667f91ec8c57b5abc1bc975198e9fa28"),),
    title="Pima Indians diabetes",
    source="Debian package r-cran-mlbench 2.1-3-1; formerly UCI",
    licence="data of the NIDDK; the package is GPL-2",
    citation="Smith et al. (1988)",
    positive="diabetes",
    kind="table",
    rows=768,
    positives=268,
    standardise=True,
    papers=("003",),
)
