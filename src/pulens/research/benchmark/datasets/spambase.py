"""Spambase: 4601 e-mails, spam or not."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, exactly, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals

WORDS = (
    "make address all 3d our over remove internet order mail receive will people report addresses free business email "
    "you credit your font 000 money hp hpl george 650 lab labs telnet 857 data 415 85 technology 1999 parts pm direct "
    "cs meeting original project re edu table conference"
)
FEATURES = (
    *(f"word_freq_{word}" for word in WORDS.split()),
    *(f"char_freq_{character}" for character in ";([!$#"),
    *(f"capital_run_length_{what}" for what in ("average", "longest", "total")),
)


def build(arrays: Arrays) -> LabelledData:
    """Rows as they are; spam is positive."""
    target = arrays["y"]
    return LabelledData(
        arrays["X"],
        target == 1,
        target=target,
        feature_names=FEATURES,
    )


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI: 58 numbers in a line, the last one says spam."""
    table = np.loadtxt(io.BytesIO(member(paths["spambase.zip"], "spambase.data")), delimiter=",")
    return {"X": table[:, :-1], "y": exactly(table[:, -1], "uint8")}


DATASET = Dataset(
    build=build,
    files=(DataFile("spambase.npz", "e5039f6d1632de3f8bab32be77a69fd2eb4f1733cbb8fa4340d3e68da1667961"),),
    title="Spambase",
    source="https://archive.ics.uci.edu/dataset/94/spambase",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Hopkins, Reeber, Forman and Suermondt (1999)",
    positive="spam",
    kind="table",
    rows=4601,
    positives=1813,
    standardise=True,
    papers=("003", "004"),
    originals=Originals(
        (DataFile("spambase.zip", None, f"{UCI}/94/spambase.zip"),),
        convert,
        "f245fd54b7f64d0495f5264f9d75a93d74555b6fe92fb558fc1ee18bbb23639c",
    ),
)
