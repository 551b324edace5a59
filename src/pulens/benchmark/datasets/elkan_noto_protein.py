"""Elkan and Noto's protein records: really PU, and the hidden positives were found later."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData


def build(arrays: Arrays) -> LabelledData:
    """Word counts of 7359 records: labelled ones come from a specialised database, 348 others are positive too."""
    table = csr_array(
        (arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"].tolist())
    )
    return LabelledData(table, arrays["y"] == 1, labels=arrays["s"].astype(np.int8))


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
)
