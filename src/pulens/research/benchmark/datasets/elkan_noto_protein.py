"""Elkan and Noto's protein records: really PU, and the hidden positives were found later."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from pulens.research.benchmark.datasets._archive import exactly
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals

REPOSITORY = "https://raw.githubusercontent.com/jperla/pulearning/51ddde425e51f2d628c31067d920c3a2fcae0229/proteindata"
WORDS = 24080
GROUPS = {
    "P": "P labelled (TCDB)",
    "Q": "Q unlabelled, found positive",
    "N": "N unlabelled, found negative",
}


def build(arrays: Arrays) -> LabelledData:
    """Word counts of 7359 records: labelled ones come from a specialised database, 348 others are positive too."""
    table = csr_array(
        (arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"].tolist())
    )
    return LabelledData(table, arrays["y"] == 1, labels=arrays["s"].astype(np.int8))


def convert(paths: Mapping[str, Path]) -> Arrays:
    """Three files in SVMlight's format, a record in a line: ``+1<TAB>1:1 5:2 9:2``, words counted from 1."""
    groups: list[int] = []
    counts: list[tuple[int, int]] = []
    ends = [0]
    for place, name in enumerate(GROUPS):
        for line in paths[f"elkan_noto_{name}.txt"].read_text("ascii").splitlines():
            pairs = (pair.split(":") for pair in line.split("\t", 1)[1].split())
            counts += [(int(word) - 1, int(times)) for word, times in pairs]
            ends.append(len(counts))
            groups.append(place)
    indices, data = np.array(counts).T
    group = np.array(groups)
    return {
        "data": exactly(data, "uint16"),
        "indices": exactly(indices, "int32"),
        "indptr": exactly(ends, "int32"),
        "shape": np.array([group.size, WORDS]),
        "y": exactly(group < 2, "uint8"),
        "s": exactly(group == 0, "uint8"),
        "group": exactly(group, "uint8"),
        "group_names": np.array(list(GROUPS.values())),
    }


DATASET = Dataset(
    build=build,
    files=(DataFile("elkan_noto_protein.npz", "3eca63c736994ea8d054a230ac4d8eb21251db98208d58a8e10998150dd1b31a"),),
    title="Elkan-Noto protein records",
    source="https://github.com/jperla/pulearning (proteindata)",
    licence="none stated",
    citation="Elkan and Noto (2008); Das, Saier and Elkan (2007)",
    positive="membrane transport proteins: 2453 labelled and 348 among the 4906 unlabelled",
    kind="text",
    rows=7359,
    positives=2801,
    papers=("000",),
    originals=Originals(
        tuple(DataFile(f"elkan_noto_{name}.txt", None, f"{REPOSITORY}/{name}") for name in GROUPS),
        convert,
        "83747c51a4c45865bd30992766589f025cf4754a834941d0b8dd95b1d1a7ab27",
    ),
)
