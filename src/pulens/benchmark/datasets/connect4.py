"""Connect-4: positions of a game, and who wins it."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, one_hot


def build(arrays: Arrays) -> LabelledData:
    """One-hot columns, 126 in all, as on OpenML; a win of the first player is positive."""
    target = arrays["y"]
    return LabelledData(one_hot(arrays["X"], 3), target == 0, target=target, classes=tuple(arrays["classes"].tolist()))


DATASET = Dataset(
    build=build,
    files=(DataFile("connect4.npz", "9a3417e97c174b5d2f147178419666d3089993fac18db874e2adc42557a05c65"),),
    title="Connect-4",
    source="https://archive.ics.uci.edu/dataset/26/connect+4",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Tromp (1995)",
    positive="win; loss and draw are negative",
    kind="table",
    rows=67557,
    positives=44473,
    papers=("004",),
)
