"""IMDb: film reviews as sentence vectors of 384 numbers (all-MiniLM-L6-v2, unit length)."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, official_split
from pulens.research.benchmark.datasets._fetch import fetch
from pulens.research.benchmark.datasets._vectors import PARTS, Texts, TextVectors

CLASSES = ("neg", "pos")
ARCHIVE = DataFile("aclImdb_v1.tar.gz", None, "https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz")


def build(arrays: Arrays) -> LabelledData:
    """Favourable reviews are positive; the official split."""
    return official_split(arrays, [1], classes=tuple(arrays["classes"].tolist()))


def read_texts(place: Path | None) -> Texts:
    """Reviews of the makers' archive or of a folder with its tree: in each part neg then pos, by number."""
    place = fetch(ARCHIVE) if place is None else place
    reviews: dict[tuple[str, str], list[tuple[int, str]]] = {(part, kind): [] for part in PARTS for kind in CLASSES}
    for path, content in _in_folder(place) if place.is_dir() else _in_archive(place):
        where = path.parts[-3:-1]
        if where in reviews:
            reviews[where].append((int(path.stem.partition("_")[0]), content.decode()))
    return {
        part: (
            [text for kind in CLASSES for _, text in sorted(reviews[part, kind])],
            np.repeat(np.arange(2, dtype=np.uint8), [len(reviews[part, kind]) for kind in CLASSES]),
        )
        for part in PARTS
    }


def _in_folder(place: Path) -> Iterator[tuple[Path, bytes]]:
    return ((path, path.read_bytes()) for part in PARTS for path in place.rglob(f"{part}/*/*_*.txt"))


def _in_archive(place: Path) -> Iterator[tuple[Path, bytes]]:
    with tarfile.open(place) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".txt") else None
            if file is not None:
                yield Path(member.name), file.read()


DATASET = Dataset(
    build=build,
    files=(DataFile("imdb_minilm.npz", "ab9802f1e65ca09007ed6efe90353a47bb21834c7c03484239dd1257b5eafc7e"),),
    title="IMDb (MiniLM vectors)",
    source="https://ai.stanford.edu/~amaas/data/sentiment, through sentence-transformers/all-MiniLM-L6-v2",
    licence="none stated",
    citation="Maas et al. (2011)",
    positive="favourable reviews",
    kind="text",
    rows=50000,
    positives=25000,
    papers=("004",),
    vectors=TextVectors(
        read_texts, "imdb_minilm_made.npz", "33ed2547ecf0c70afff3f208898506c9b1935199418632040e4f0ea1b4655c57", CLASSES
    ),
)
