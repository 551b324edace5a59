"""Small tables that come with scikit-learn."""

from __future__ import annotations

from functools import partial
from typing import Any

from pulens.research.benchmark.datasets._dataset import Arrays, Dataset, LabelledData


def read(loader: str) -> dict[str, Any]:
    from sklearn import datasets

    found = getattr(datasets, loader)()
    return {"X": found.data, "y": found.target, "feature_names": found.feature_names}


def build_digits(arrays: Arrays) -> LabelledData:
    """Digits from 5 to 9 are positive."""
    return LabelledData(arrays["X"], arrays["y"] >= 5, target=arrays["y"])


def build_breast_cancer(arrays: Arrays) -> LabelledData:
    """Malignant tumours are positive."""
    return LabelledData(
        arrays["X"], arrays["y"] == 0, target=arrays["y"], feature_names=tuple(arrays["feature_names"].tolist())
    )


DATASET = {
    "digits": Dataset(
        build=build_digits,
        read=partial(read, "load_digits"),
        title="Digits",
        source="scikit-learn, from the UCI optical recognition data",
        licence="CC BY 4.0 as stated by UCI",
        citation="Alpaydin and Kaynak (1998)",
        positive="digits 5 to 9",
        kind="table",
        rows=1797,
        positives=896,
    ),
    "breast_cancer": Dataset(
        build=build_breast_cancer,
        read=partial(read, "load_breast_cancer"),
        title="Breast cancer (Wisconsin)",
        source="scikit-learn, from UCI",
        licence="CC BY 4.0 as stated by UCI",
        citation="Street, Wolberg and Mangasarian (1993)",
        positive="malignant",
        kind="table",
        rows=569,
        positives=212,
        standardise=True,
    ),
}
