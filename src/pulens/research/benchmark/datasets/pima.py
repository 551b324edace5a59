"""Pima: diabetes among 768 women."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import exactly
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals

FEATURES = ("pregnant", "glucose", "pressure", "triceps", "insulin", "mass", "pedigree", "age")
CLASSES = {"tested_negative": 0, "tested_positive": 1}


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; diabetes is positive; zeros that stand for missing values are kept."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target == 1,
        target=target,
        feature_names=FEATURES,
    )


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The file that comes with Weka: a head of attributes, then eight numbers and a word in a line."""
    text = paths["diabetes.arff"].read_text("ascii")
    rows = [line.rsplit(",", 1) for line in text[text.index("@data") :].splitlines()[1:] if line]
    table = np.loadtxt(io.StringIO("\n".join(numbers for numbers, _ in rows)), delimiter=",")
    return {"X": table, "y": exactly([CLASSES[word] for _, word in rows], "uint8")}


DATASET = Dataset(
    build=build,
    files=(DataFile("pima.npz", "028863bd535fee42226d96be73c414be667f91ec8c57b5abc1bc975198e9fa28"),),
    title="Pima Indians diabetes",
    source="Debian package r-cran-mlbench 2.1-3-1; formerly UCI, whose file comes with Weka",
    licence="data of the NIDDK; the package is GPL-2",
    citation="Smith et al. (1988)",
    positive="diabetes",
    kind="table",
    rows=768,
    positives=268,
    standardise=True,
    papers=("003",),
    originals=Originals(
        (
            DataFile(
                "diabetes.arff",
                None,
                "https://raw.githubusercontent.com/bnjmn/weka/5f12404511a3eaeb2415ec1311bc510f14eae52b/wekadocs/data/"
                "diabetes.arff",
            ),
        ),
        convert,
        "c0b7131a1c401c842a869f2bc4f33f84991b3529c5910ec3a1e8056729e539c0",
    ),
)
