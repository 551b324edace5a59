"""Rocker proteins: reads before and after a selection experiment; really PU, and nobody knows the truth."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pulens.research.benchmark.datasets._archive import codes, exactly
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals, one_hot

REPOSITORY = (
    "https://raw.githubusercontent.com/RomeroLab/PU-learning-paper-analysis/"
    "b7338d6f794d0120fa1baca5753563bdb6fd6dba/data/rocker"
)
RESIDUES = "*ACDEFGHIKLMNPQRSTVWY"  # a star ends the protein
READS = {
    "count_unlabelled": "Rocker_ref_sequences_filtered.txt.gz",  # before the selection
    "count_positive": "Rocker_sel_sequences_filtered.txt.gz",  # what it let through
}


def build(arrays: Arrays) -> LabelledData:
    """One row per distinct sequence and sample, weighted by its reads: case-control, labelled rows first."""
    sequences = one_hot(arrays["X"], len(arrays["levels"]))
    rows, labels, weights = [], [], []
    for label, counts in ((1, arrays["count_positive"]), (0, arrays["count_unlabelled"])):
        seen = np.flatnonzero(counts)
        rows.append(seen)
        labels.append(np.full(seen.size, label, np.int8))
        weights.append(counts[seen].astype(np.float64))
    return LabelledData(
        sequences[np.concatenate(rows)], None, labels=np.concatenate(labels), weights=np.concatenate(weights)
    )


def convert(paths: Mapping[str, Path]) -> Arrays:
    """Two gzipped lists of reads, 25 residues in a line: the distinct sequences in order, with their counts."""
    reads = {
        count: Counter(gzip.decompress(paths[name].read_bytes()).decode("ascii").split())
        for count, name in READS.items()
    }
    sequences = sorted(set().union(*reads.values()))
    arrays: dict[str, Any] = {"X": codes("".join(sequences), RESIDUES).reshape(len(sequences), -1)}
    for count, result in reads.items():
        arrays[count] = exactly([result[sequence] for sequence in sequences], "uint32")
    return {**arrays, "levels": np.array(list(RESIDUES))}


DATASET = Dataset(
    build=build,
    files=(DataFile("rocker_protein_pu.npz", "836a709752b5a21de404c19379aeb93a05c0834a1fa7e521cbac680fec5208f1"),),
    title="Rocker protein reads",
    source="https://github.com/RomeroLab/PU-learning-paper-analysis (data/rocker)",
    licence="none stated",
    citation="Song, Bremer, Hinds, Raskutti and Romero (2021)",
    positive="sequences that function; unknown for the unlabelled reads",
    kind="sequence",
    rows=83778,
    positives=None,
    originals=Originals(
        tuple(DataFile(name, None, f"{REPOSITORY}/{name}") for name in READS.values()),
        convert,
        "b09646069f47228693b6c34f37201ef3a2fdb08497d6cacce7e0b131f4209cb3",
    ),
)
