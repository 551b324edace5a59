"""Pen digits: digits written on a tablet."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, joined


def build(arrays: Arrays) -> LabelledData:
    """Training and test rows together, as paper 003 uses them; 0, 1 and 2 are positive."""
    X = joined(arrays["X_train"], arrays["X_test"])
    target = joined(arrays["y_train"], arrays["y_test"])
    return LabelledData(X, target <= 2, target=target)


DATASET = Dataset(
    build=build,
    files=(DataFile("pendigits.npz", "fb46299fd1c6471606aa7d757b31e87331aa0f21f1459fb62321d67c0a25854f"),),
    title="Pen-based digits",
    source="https://archive.ics.uci.edu/dataset/81/pen+based+recognition+of+handwritten+digits",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Alpaydin and Alimoglu (1996)",
    positive="digits 0, 1 and 2",
    kind="table",
    rows=10992,
    positives=3430,
    standardise=True,
    papers=("003",),
)
