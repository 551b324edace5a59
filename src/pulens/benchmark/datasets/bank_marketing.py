"""Bank marketing: who took out a deposit after a call."""

from __future__ import annotations

import numpy as np

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData


def build(arrays: Arrays) -> LabelledData:
    """Numbers as they are, words as columns of zeros and ones; a deposit is positive."""
    columns, names = [], []
    for name, values in arrays.items():
        if name == "y":
            continue
        if values.dtype.kind in "iuf":
            columns.append(values.astype(np.float64))
            names.append(name)
            continue
        for level in np.unique(values).tolist():
            columns.append((values == level).astype(np.float64))
            names.append(f"{name}={level}")
    return LabelledData(np.stack(columns, 1), arrays["y"] == "yes", feature_names=tuple(names))


DATASET = Dataset(
    build=build,
    files=(DataFile("bank_marketing.parquet", "dcde4eb74d4b2630d962af5ca08c07cabed7eebab24447c97a169da3e7d8112b"),),
    title="Bank marketing",
    source="https://archive.ics.uci.edu/dataset/222/bank+marketing",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Moro, Cortez and Rita (2014)",
    positive="took out a deposit. Paper 003 has 5188 of 45000 rows",
    kind="table",
    rows=45211,
    positives=5289,
    standardise=True,
    papers=("003",),
)
