"""Digits: 1797 small handwritten digits that come with scikit-learn."""

from __future__ import annotations

from typing import Any

from pulens.research.benchmark.datasets._dataset import Arrays, Dataset, LabelledData


def read() -> dict[str, Any]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return {"X": X, "y": y}


def build(arrays: Arrays) -> LabelledData:
    """Digits from 5 to 9 are positive."""
    return LabelledData(arrays["X"], arrays["y"] >= 5, target=arrays["y"])


DATASET = Dataset(
    build=build,
    read=read,
    title="Digits",
    source="scikit-learn, from the UCI optical recognition data",
    licence="CC BY 4.0 as stated by UCI",
    citation="Alpaydin and Kaynak (1998)",
    positive="digits 5 to 9",
    kind="table",
    rows=1797,
    positives=896,
)
