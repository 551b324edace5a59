"""MNIST: handwritten digits."""

from __future__ import annotations

from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals
from pulens.research.benchmark.datasets._idx import pictures, read_idx

MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist"


def build(arrays: Arrays) -> LabelledData:
    """Even digits are positive, as in PU-Bench."""
    return pictures(arrays, (0, 2, 4, 6, 8), tuple("0123456789"))


DATASET = Dataset(
    build=build,
    files=(DataFile("mnist.npz", "a006723ac514a7b9e66c15515f216d66fe7ee9457c2ba5b02bdebe1df98e1383"),),
    title="MNIST",
    source="http://yann.lecun.com/exdb/mnist",
    licence="CC BY-SA 3.0 as commonly stated",
    citation="LeCun, Bottou, Bengio and Haffner (1998)",
    positive="even digits",
    kind="picture",
    rows=70000,
    positives=34418,
    papers=("000", "004"),
    originals=Originals(
        (
            DataFile(
                "mnist-train-images-idx3-ubyte.gz",
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                f"{MIRROR}/train-images-idx3-ubyte.gz",
            ),
            DataFile(
                "mnist-train-labels-idx1-ubyte.gz",
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                f"{MIRROR}/train-labels-idx1-ubyte.gz",
            ),
            DataFile(
                "mnist-t10k-images-idx3-ubyte.gz",
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                f"{MIRROR}/t10k-images-idx3-ubyte.gz",
            ),
            DataFile(
                "mnist-t10k-labels-idx1-ubyte.gz",
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                f"{MIRROR}/t10k-labels-idx1-ubyte.gz",
            ),
        ),
        read_idx,
        "23c99b374b0c1c481b038125f0607d3a54ef6938bc185d746c86e42b47455e12",
    ),
)
