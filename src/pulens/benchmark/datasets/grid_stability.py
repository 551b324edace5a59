"""Grid stability: simulated electrical grids, stable or not."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; stable is positive."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target == 1,
        target=target,
        feature_names=tuple(arrays["feature_names"].tolist()),
    )


DATASET = Dataset(
    build=build,
    files=(DataFile("grid_stability.npz", "72c9f278a0de28186d1738feca1e9e9519571044934f6258cf967f1588750e8a"),),
    title="Electrical grid stability",
    source="https://archive.ics.uci.edu/dataset/471/electrical+grid+stability+simulated+data",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Arzamasov, Boehm and Jochem (2018)",
    positive="stable",
    kind="table",
    rows=10000,
    positives=3620,
    standardise=True,
)
