"""Rocker proteins: reads before and after a selection experiment; really PU, and nobody knows the truth."""

from __future__ import annotations

import numpy as np

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, one_hot


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
)
