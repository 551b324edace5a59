"""MNIST and Fashion-MNIST: grey pictures of ten classes in four IDX files, some classes of which are positive."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pulens.research.benchmark.datasets._dataset import (
    Arrays,
    DataFile,
    Dataset,
    LabelledData,
    Originals,
    official_split,
)

PARTS = {"train-images": "X_train", "train-labels": "y_train", "t10k-images": "X_test", "t10k-labels": "y_test"}
FILES = tuple(f"{part}-idx{3 if 'images' in part else 1}-ubyte.gz" for part in PARTS)


def read_idx(paths: Mapping[str, Path]) -> dict[str, Any]:
    """Arrays of the four gzipped files: a header of 4 + 4 x dimensions bytes, then bytes."""
    arrays = {}
    for name, path in paths.items():
        part = next(array for key, array in PARTS.items() if key in name)
        content = gzip.decompress(path.read_bytes())
        dimensions = content[3]
        shape = np.frombuffer(content, ">u4", dimensions, 4)
        arrays[part] = np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(*shape.tolist())
    return arrays


def pictures(arrays: Arrays, *, positive: Sequence[int], classes: tuple[str, ...]) -> LabelledData:
    """Pictures of one channel, bytes; some of the ten classes are positive, as in PU-Bench."""
    one_channel = {name: arrays[name][:, None] for name in ("X_train", "X_test")}
    return official_split({**arrays, **one_channel}, positive, classes=classes, scale=(127.5, 1.0))


def pictures_of(name: str, digest: str, mirror: str, checksums: Sequence[str | None], **facts: Any) -> Dataset:
    """A data set of 70,000 such pictures; the makers' files, some with their checksums, lie at a mirror."""
    originals = tuple(
        DataFile(f"{name}-{file}", checksum, f"{mirror}/{file}")
        for file, checksum in zip(FILES, checksums, strict=True)
    )
    return Dataset(originals=Originals(originals, read_idx, digest), kind="picture", rows=70000, **facts)


DATASET = {
    "mnist": pictures_of(
        "mnist",
        "23c99b374b0c1c481b038125f0607d3a54ef6938bc185d746c86e42b47455e12",
        "https://ossci-datasets.s3.amazonaws.com/mnist",
        (
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
        files=(DataFile("mnist.npz", "a006723ac514a7b9e66c15515f216d66fe7ee9457c2ba5b02bdebe1df98e1383"),),
        build=partial(pictures, positive=(0, 2, 4, 6, 8), classes=tuple("0123456789")),
        title="MNIST",
        source="http://yann.lecun.com/exdb/mnist",
        licence="CC BY-SA 3.0 as commonly stated",
        citation="LeCun, Bottou, Bengio and Haffner (1998)",
        positive="even digits",
        positives=34418,
        papers=("000", "004"),
    ),
    "fashion_mnist": pictures_of(
        "fashion-mnist",
        "562723b6a26352ec4b0726a18eb9bdf84f6b05e916318f7f5d0971f810afabc5",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
        [None] * 4,
        files=(DataFile("fashion_mnist.npz", "7b122ee58e2388d5ec407e3925f0dffe3910e9fd68bfaa5aba6381768c631f4b"),),
        build=partial(
            pictures,
            positive=(0, 2, 3, 4, 6),
            classes=(
                *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
                *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
            ),
        ),
        title="Fashion-MNIST",
        source="https://github.com/zalandoresearch/fashion-mnist",
        licence="MIT",
        citation="Xiao, Rasul and Vollgraf (2017)",
        positive="T-shirt, pullover, dress, coat, shirt",
        positives=35000,
        papers=("004",),
    ),
}
