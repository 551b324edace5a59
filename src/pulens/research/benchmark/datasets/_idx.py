"""The IDX files of MNIST and its relatives."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pulens.research.benchmark.datasets._dataset import Arrays, LabelledData

PARTS = {"train-images": "X_train", "train-labels": "y_train", "t10k-images": "X_test", "t10k-labels": "y_test"}


def read_idx(paths: Mapping[str, Path]) -> dict[str, Any]:
    """Arrays of the four gzipped files: a header of 4 + 4 x dimensions bytes, then bytes."""
    arrays = {}
    for name, path in paths.items():
        part = next(key for key in PARTS if key in name)
        content = gzip.decompress(path.read_bytes())
        dimensions = content[3]
        shape = np.frombuffer(content, ">u4", dimensions, 4)
        arrays[PARTS[part]] = np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(*shape.tolist())
    return arrays


def pictures(arrays: Arrays, positive: Sequence[int], classes: tuple[str, ...]) -> LabelledData:
    """Pictures of one channel, bytes; some of the ten classes are positive."""
    return LabelledData(
        arrays["X_train"][:, None],
        np.isin(arrays["y_train"], positive),
        arrays["X_test"][:, None],
        np.isin(arrays["y_test"], positive),
        target=arrays["y_train"],
        target_test=arrays["y_test"],
        classes=classes,
        scale=(127.5, 1.0),
    )
