"""Avila: who copied a page of a Latin bible."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData


def build(arrays: Arrays) -> LabelledData:
    """Copyist A is positive."""
    return LabelledData(
        arrays["X_train"],
        arrays["y_train"] == 0,
        arrays["X_test"],
        arrays["y_test"] == 0,
        target=arrays["y_train"],
        target_test=arrays["y_test"],
        classes=tuple(arrays["classes"].tolist()),
    )


DATASET = Dataset(
    build=build,
    files=(DataFile("avila.npz", "329aea4c6937bde3bc9e7dfa9399841f3aae9234da91e113dd1307ad922575ed"),),
    title="Avila",
    source="https://archive.ics.uci.edu/dataset/459/avila",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="De Stefano et al. (2018)",
    positive="copyist A",
    kind="table",
    rows=20867,
    positives=8572,
    standardise=True,
)
