"""CIFAR-10: small colour pictures of vehicles and animals."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import MissingDependencyError
from pulens.research.benchmark.datasets._dataset import (
    Arrays,
    DataFile,
    Dataset,
    LabelledData,
    Originals,
    official_split,
)

VEHICLES = (0, 1, 8, 9)
ARCHIVE = "cifar-10-binary.tar.gz"


def build(arrays: Arrays) -> LabelledData:
    """Vehicles are positive, as in PU-Bench; pictures of three channels, bytes, between 0 and 1 when prepared."""
    parts: dict[str, Any] = dict(arrays)
    for part in ("train", "test"):
        if f"X_{part}" not in parts:
            stored = f"cifar10_{part}/"
            parts[f"X_{part}"] = unpack(parts[f"{stored}webp"], parts[f"{stored}offsets"])
            parts[f"y_{part}"] = parts[f"{stored}y"]
    return official_split(parts, VEHICLES, scale=(255.0, 0.0))


def unpack(strips: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Pictures (rows, 3, 32, 32) from lossless WebP strips of pictures on top of one another."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError("Pillow", purpose="reading the CIFAR-10 pictures", extra="bench") from error
    pictures = []
    for first, last in pairwise(offsets.tolist()):
        with Image.open(io.BytesIO(strips[first:last].tobytes())) as strip:
            pictures.append(np.asarray(strip.convert("RGB")).reshape(-1, 32, 32, 3))
    return np.ascontiguousarray(np.concatenate(pictures).transpose(0, 3, 1, 2))


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The makers' binary version: a byte for the class, then 3072 bytes channel by channel."""
    rows: dict[str, list[NDArray[np.uint8]]] = {"train": [], "test": []}
    with tarfile.open(paths[ARCHIVE]) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            content = archive.extractfile(member) if member.name.endswith(".bin") else None
            if content is not None:
                part = "test" if "test" in member.name else "train"
                rows[part].append(np.frombuffer(content.read(), np.uint8).reshape(-1, 3073))
    arrays = {}
    for part, batches in rows.items():
        table = np.concatenate(batches)
        arrays[f"y_{part}"], arrays[f"X_{part}"] = table[:, 0], table[:, 1:].reshape(-1, 3, 32, 32)
    return arrays


DATASET = Dataset(
    build=build,
    files=(
        DataFile("cifar10_train.npz", "27bf7c282eff46dc65396f0b4e1b05b57d918e8a582db770e8f46df52b6e148f"),
        DataFile("cifar10_test.npz", "97bb5ec4c321129085599d2279336770fb45bb20174cfc7ad32e4f0b73b0a845"),
    ),
    originals=Originals(
        (DataFile(ARCHIVE, None, f"https://www.cs.toronto.edu/~kriz/{ARCHIVE}"),),
        convert,
        "ff8cfbefea5af1b87a47874f9e36892208daa3a38b52832720c061cf41be9b01",
    ),
    title="CIFAR-10",
    source="https://www.cs.toronto.edu/~kriz/cifar.html",
    licence="none stated by the authors",
    citation="Krizhevsky (2009)",
    positive="vehicles: airplane, automobile, ship, truck",
    kind="picture",
    rows=60000,
    positives=24000,
    papers=("004",),
)
