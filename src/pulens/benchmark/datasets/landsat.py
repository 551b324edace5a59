"""Landsat: pixels of satellite pictures."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, joined


def build(arrays: Arrays) -> LabelledData:
    """Training and test rows together, as paper 003 uses them; very damp grey soil (class 7) is positive."""
    X = joined(arrays["X_train"], arrays["X_test"])
    target = joined(arrays["y_train"], arrays["y_test"])
    return LabelledData(X, target == 7, target=target)


DATASET = Dataset(
    build=build,
    files=(DataFile("landsat.npz", "60f7772982986878436c27de2c2887abfb8376b615dc4604e79eef0e93632d01"),),
    title="Statlog Landsat",
    source="https://archive.ics.uci.edu/dataset/146/statlog+landsat+satellite",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Srinivasan (1993)",
    positive="class 7",
    kind="table",
    rows=6435,
    positives=1508,
    standardise=True,
    papers=("003",),
)
