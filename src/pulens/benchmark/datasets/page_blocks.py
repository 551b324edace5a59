"""Page blocks: parts of printed pages, text or not."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; everything but text is positive."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target > 1,
        target=target,
        feature_names=tuple(arrays["feature_names"].tolist()),
    )


DATASET = Dataset(
    build=build,
    files=(DataFile("page_blocks.npz", "230db3416687b6e468f48e4d3ee14cd5b6701c96d8fec4017da7edb3dfca9a35"),),
    title="Page blocks",
    source="https://archive.ics.uci.edu/dataset/78/page+blocks+classification",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Malerba (1994)",
    positive="not text (class above 1)",
    kind="table",
    rows=5473,
    positives=560,
    standardise=True,
    papers=("003",),
)
