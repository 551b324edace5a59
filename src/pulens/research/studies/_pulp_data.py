"""Data sets for the study of measures: the paper's three from a local mirror, scikit-learn's digits always."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 100  # text is reduced to this many directions


@dataclass(frozen=True, slots=True, eq=False)
class LabelledSet:
    """Rows whose classes are all known."""

    name: str
    features: NDArray[Any]
    classes: NDArray[Any]
    positive_classes: int  # classes that make up the positives of a task


def available(rng: np.random.Generator) -> list[LabelledSet]:
    """What there is: ``PULENS_MIRROR`` names a folder with mnist.npz, newsgroups20_*, elkan_noto_protein.npz."""
    result = [digits()]
    mirror = os.environ.get("PULENS_MIRROR")
    if mirror:
        folder = Path(mirror)
        if (folder / "mnist.npz").exists():
            result.append(mnist(folder, rng))
        if (folder / "newsgroups20_text.parquet").exists() and find_spec("pyarrow"):
            result.append(newsgroups(folder, rng))
        if (folder / "elkan_noto_protein.npz").exists():
            result.append(proteins(folder))
    return result


def digits() -> LabelledSet:
    from sklearn.datasets import load_digits

    features, classes = load_digits(return_X_y=True)
    return LabelledSet("digits", features / 16.0, classes, 5)


def mnist(folder: Path, rng: np.random.Generator, rows: int = 5000) -> LabelledSet:
    """Raw pixels shrunk to 16 x 16, as the paper does."""
    with np.load(folder / "mnist.npz") as archive:
        pictures, classes = archive["X_train"], archive["y_train"]
    chosen = rng.choice(len(pictures), rows, replace=False)
    shrink = _area_weights(28, 16)
    small = np.einsum("ai,nij,bj->nab", shrink, pictures[chosen] / 255.0, shrink)
    return LabelledSet("MNIST", small.reshape(rows, -1), classes[chosen], 5)


def _area_weights(before: int, after: int) -> NDArray[Any]:
    """How much of each old pixel lies in each new one, along one side."""
    edges_new, edges_old = np.linspace(0, before, after + 1), np.arange(before + 1)
    low = np.maximum(edges_new[:-1, None], edges_old[None, :-1])
    high = np.minimum(edges_new[1:, None], edges_old[None, 1:])
    weights: NDArray[Any] = np.maximum(high - low, 0) * after / before
    return weights


def newsgroups(folder: Path, rng: np.random.Generator, rows: int = 5000) -> LabelledSet:
    """Bags of words with TF-IDF weights, as the paper does."""
    import pyarrow.parquet as pq
    from sklearn.feature_extraction.text import TfidfVectorizer

    table = pq.read_table(folder / "newsgroups20_text.parquet")
    target = next(name for name in table.column_names if name in ("target", "y", "label"))
    texts, classes = table.column("text").to_pylist(), np.array(table.column(target).to_pylist())
    chosen = rng.choice(len(texts), rows, replace=False)
    words = TfidfVectorizer(max_features=8000, sublinear_tf=True, stop_words="english")
    counts = words.fit_transform([texts[i] for i in chosen])
    return LabelledSet("20 Newsgroups", _reduced(counts), classes[chosen], 10)


def proteins(folder: Path) -> LabelledSet:
    """Elkan and Noto's transport proteins: records with TF-IDF weights."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfTransformer

    with np.load(folder / "elkan_noto_protein.npz") as archive:
        parts = (archive["data"].astype(float), archive["indices"], archive["indptr"])
        counts, classes = csr_matrix(parts, shape=tuple(archive["shape"])), archive["y"]
    return LabelledSet("proteins", _reduced(TfidfTransformer(sublinear_tf=True).fit_transform(counts)), classes, 1)


def _reduced(counts: Any) -> NDArray[Any]:
    from sklearn.decomposition import TruncatedSVD

    reduced: NDArray[Any] = TruncatedSVD(DIMENSIONS, random_state=0).fit_transform(counts)
    lengths: NDArray[Any] = np.linalg.norm(reduced, axis=1, keepdims=True).clip(1e-9)
    return np.asarray(reduced / lengths)
