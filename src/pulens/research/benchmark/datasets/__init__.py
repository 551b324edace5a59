"""Data sets: source, licence, checksum and what counts as positive; those that differ in facts alone share a file.

>>> from pulens.benchmark import datasets
>>> digits = datasets.load("digits")
>>> digits.X.shape, int(digits.y.sum())
((1797, 64), 896)
"""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from pulens.catalogue import Catalogue
from pulens.errors import InputError, PulensError, listed
from pulens.research.benchmark.datasets._dataset import DataFile, Dataset, LabelledData, Originals
from pulens.research.benchmark.datasets._fetch import MIRROR, DataUnavailableError, data_home, fetch, fetch_arrays
from pulens.research.benchmark.datasets._vectors import MODEL, MadeVectors, encoder, make_vectors

__all__ = [
    "DATASETS",
    "MIRROR",
    "DataFile",
    "DataUnavailableError",
    "Dataset",
    "LabelledData",
    "MadeVectors",
    "Originals",
    "fetch",
    "find",
    "load",
    "make",
    "names",
]

SEVERAL = {
    "idx_pictures": ("fashion_mnist", "mnist"),
    "with_scikit_learn": ("breast_cancer", "digits"),
    "tables": (
        *(
            "avila",
            "bank_marketing",
            "boston_housing",
            "concrete",
            "connect4",
            "gas_drift",
            "grid_stability",
            "landsat",
        ),
        *("letter", "mushroom", "page_blocks", "pendigits", "pima", "shuttle", "spambase", "wine_quality"),
    ),
}
DATASETS: Catalogue[Dataset] = Catalogue(__name__, __path__, "DATASET", "data set", several=SEVERAL)

GROUP = "pulens.datasets"  # entry points by which other packages add theirs: name = "package.module:DATASET"


def names() -> tuple[str, ...]:
    """All data sets, in alphabetical order; those of other packages behind."""
    return (*DATASETS, *sorted({point.name for point in entry_points(group=GROUP)} - set(DATASETS)))


def find(name: str) -> Dataset:
    """The facts of a data set, or an error that lists the names there are.

    >>> find("mushroom").positives
    3916
    """
    if name in DATASETS:
        return DATASETS[name]
    for point in entry_points(group=GROUP):
        if point.name == name:
            result: Dataset = point.load()
            return result
    return DATASETS.find(name, *(guest for guest in names() if guest not in DATASETS))


def load(name: str, **options: Any) -> LabelledData:
    """Rows, true classes and facts of a data set; fetched and checked on first use.

    ``options`` are those the data set declares, such as ``folder=`` for ``"adni"``.
    """
    dataset = find(name)
    for option in options:
        if option not in dataset.options:
            raise PulensError(
                f"{option!r} is not an option of the data set {name!r}; "
                + (f"it takes {listed(dataset.options)}." if dataset.options else "it takes none.")
            )
    if dataset.read is not None:
        return dataset.build(dataset.read(**{**dataset.options, **options}))
    return dataset.build(fetch_arrays(name, dataset))


def make(name: str, *, texts: Path | None = None, folder: Path | None = None, model: str | None = None) -> MadeVectors:
    """Make the sentence vectors of a data set of texts: from there on it loads under its own name.

    ``texts`` and ``model`` are where you have them, else they are fetched; ``folder`` is the cache unless one is given.
    """
    vectors = find(name).vectors
    if vectors is None:
        made = [one for one in DATASETS if DATASETS[one].vectors is not None]
        raise InputError(f"{name!r} is not made of texts; {listed(made)} are.")
    if texts is not None and not texts.exists():
        raise InputError(f"there are no texts {str(texts)!r}.")
    return make_vectors(vectors, texts, folder or Path(data_home()), encoder(model or MODEL))
