"""Bank marketing: who took out a deposit after a call."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals

NUMBERS = ("age", "balance", "day", "duration", "campaign", "pdays", "previous")
COLUMNS = (
    "age job marital education default balance housing loan contact day month duration campaign pdays previous "
    "poutcome y"
)


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


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI holds another one, and that a table with a line of names, semicolons and words in quotes."""
    inner = io.BytesIO(member(paths["bank_marketing.zip"], "bank.zip"))
    text = io.StringIO(member(inner, "bank-full.csv").decode("ascii"))
    names, *rows = csv.reader(text, delimiter=";")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return {
        name: np.array([int(value) for value in columns[name]] if name in NUMBERS else columns[name])
        for name in COLUMNS.split()
    }


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
    originals=Originals(
        (DataFile("bank_marketing.zip", None, f"{UCI}/222/bank+marketing.zip"),),
        convert,
        "2073e0ee9ef8041ffbb17d09e9683b5f823395be625703a22ba32e93f4f99d29",
    ),
)
