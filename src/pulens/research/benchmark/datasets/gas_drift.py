"""Gas drift: what 16 sensors say to two gases, eight of the ten batches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, exactly, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals

BATCHES = (1, 2, 3, 4, 5, 6, 8, 9)


def build(arrays: Arrays) -> LabelledData:
    """Gas 1 (positive) against gas 5, as in paper 003; other gases are left out."""
    kept = np.isin(arrays["y"], (1, 5))
    target = arrays["y"][kept]
    return LabelledData(arrays["X"][kept], target == 1, target=target)


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI: a file per batch, in a line the gas and 128 numbers, each behind its place and a colon."""
    tables = []
    for batch in BATCHES:
        text = member(paths["gas_drift.zip"], f"batch{batch}.dat").decode("ascii")
        table = np.array([float(number) for number in text.replace(":", " ").split()]).reshape(-1, 257)
        if (table[:, 1::2] != np.arange(1, 129)).any():
            raise ValueError(f"batch {batch} has numbers out of place")
        tables.append(table)
    whole = np.concatenate(tables)
    sizes = [len(table) for table in tables]
    return {
        "X": whole[:, 2::2],
        "y": exactly(whole[:, 0], "uint8"),
        "batch": np.repeat(np.array(BATCHES, np.uint8), sizes),
    }


DATASET = Dataset(
    build=build,
    files=(DataFile("gas_drift_8of10.npz", "247c5046263a4caa30dac4647ae45f22dce5bf23807517a5e14596ef7774bbd7"),),
    title="Gas sensor array drift (8 of 10 batches)",
    source="https://archive.ics.uci.edu/dataset/224/gas+sensor+array+drift+dataset",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Vergara et al. (2012)",
    positive="gas 1; gas 5 is negative. Paper 003 has 2565 of 5574 rows: batches 7 and 10 are missing here",
    kind="table",
    rows=3095,
    positives=1316,
    standardise=True,
    papers=("003",),
    originals=Originals(
        (DataFile("gas_drift.zip", None, f"{UCI}/224/gas+sensor+array+drift+dataset.zip"),),
        convert,
        "54a665dd20d7a88be3c4ea9b7eb17296d12ac5d074c913b5179645a2847a7e2b",
    ),
)
