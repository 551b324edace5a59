"""Fashion-MNIST: pictures of clothes."""

from __future__ import annotations

from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals
from pulens.research.benchmark.datasets._idx import pictures, read_idx

MIRROR = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"
CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)


def build(arrays: Arrays) -> LabelledData:
    """Tops (0, 2, 3, 4, 6) are positive, as in PU-Bench."""
    return pictures(arrays, (0, 2, 3, 4, 6), CLASSES)


DATASET = Dataset(
    build=build,
    files=(DataFile("fashion_mnist.npz", "7b122ee58e2388d5ec407e3925f0dffe3910e9fd68bfaa5aba6381768c631f4b"),),
    title="Fashion-MNIST",
    source="https://github.com/zalandoresearch/fashion-mnist",
    licence="MIT",
    citation="Xiao, Rasul and Vollgraf (2017)",
    positive="T-shirt, pullover, dress, coat, shirt",
    kind="picture",
    rows=70000,
    positives=35000,
    papers=("004",),
    originals=Originals(
        (
            DataFile("fashion-mnist-train-images-idx3-ubyte.gz", None, f"{MIRROR}/train-images-idx3-ubyte.gz"),
            DataFile("fashion-mnist-train-labels-idx1-ubyte.gz", None, f"{MIRROR}/train-labels-idx1-ubyte.gz"),
            DataFile("fashion-mnist-t10k-images-idx3-ubyte.gz", None, f"{MIRROR}/t10k-images-idx3-ubyte.gz"),
            DataFile("fashion-mnist-t10k-labels-idx1-ubyte.gz", None, f"{MIRROR}/t10k-labels-idx1-ubyte.gz"),
        ),
        read_idx,
        "562723b6a26352ec4b0726a18eb9bdf84f6b05e916318f7f5d0971f810afabc5",
    ),
)
