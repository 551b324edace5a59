"""Gas drift: what 16 sensors say to two gases, eight of the ten batches."""

from __future__ import annotations

import numpy as np

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData


def build(arrays: Arrays) -> LabelledData:
    """Gas 1 (positive) against gas 5, as in paper 003; other gases are left out."""
    kept = np.isin(arrays["y"], (1, 5))
    target = arrays["y"][kept]
    return LabelledData(arrays["X"][kept], target == 1, target=target)


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
)
