"""Page blocks: parts of printed pages, text or not."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, exactly, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals

FEATURES = "height lenght area eccen p_black p_and mean_tr blackpix blackand wb_trans"  # spelled as by the maker


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; everything but text is positive."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target > 1,
        target=target,
        feature_names=tuple(FEATURES.split()),
    )


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI: a compressed file, 11 numbers in a line, the last one is the class."""
    table = np.loadtxt(io.BytesIO(member(paths["page_blocks.zip"], "page-blocks.data")))
    return {"X": table[:, :-1], "y": exactly(table[:, -1], "uint8")}


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
    originals=Originals(
        (DataFile("page_blocks.zip", None, f"{UCI}/78/page+blocks+classification.zip"),),
        convert,
        "33f80c63e890831be4e061330c75f82f73b2ddfe8cf80160ba29b66bd7a86789",
    ),
)
