"""Breast cancer: 569 measured tumours that come with scikit-learn."""

from __future__ import annotations

from typing import Any

from pulens.research.benchmark.datasets._dataset import Arrays, Dataset, LabelledData


def read() -> dict[str, Any]:
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    return {"X": found.data, "y": found.target, "feature_names": found.feature_names}


def build(arrays: Arrays) -> LabelledData:
    """Malignant tumours are positive."""
    return LabelledData(
        arrays["X"], arrays["y"] == 0, target=arrays["y"], feature_names=tuple(arrays["feature_names"].tolist())
    )


DATASET = Dataset(
    build=build,
    read=read,
    title="Breast cancer (Wisconsin)",
    source="scikit-learn, from UCI",
    licence="CC BY 4.0 as stated by UCI",
    citation="Street, Wolberg and Mangasarian (1993)",
    positive="malignant",
    kind="table",
    rows=569,
    positives=212,
    standardise=True,
)
