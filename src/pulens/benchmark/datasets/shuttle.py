"""Shuttle: radiator positions of the space shuttle."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, joined


def build(arrays: Arrays) -> LabelledData:
    """Training and test rows together, as paper 003 uses them; class 4 is positive."""
    X = joined(arrays["X_train"], arrays["X_test"])
    target = joined(arrays["y_train"], arrays["y_test"])
    return LabelledData(X, target == 4, target=target)


DATASET = Dataset(
    build=build,
    files=(DataFile("shuttle.npz", "fe3331a020fe311137e084514ef6bbc22498109445bb2a3222b9e664c6f5322e"),),
    title="Statlog Shuttle",
    source="https://archive.ics.uci.edu/dataset/148/statlog+shuttle",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Catlett (1993)",
    positive="class 4",
    kind="table",
    rows=58000,
    positives=8903,
    standardise=True,
    papers=("003",),
)
