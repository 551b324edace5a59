"""Sentence vectors of texts: made with the model that PU-Bench used, and taken where they agree with ours.

Two makers of the same vectors differ in their last digits (the processor, the library, weights of 16 or 32 bits), so
such a file has no checksum. What must agree exactly is which row is of which class; what must agree to a tolerance are
some vectors of each part, kept with the package.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.atomic_write import whole_file
from pulens.errors import InputError, MissingDependencyError
from pulens.research.benchmark.datasets._dataset import Arrays

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
TOKENS = 256
TOLERANCE = 1e-3  # of every number of a vector of length one
PARTS = ("train", "test")
Texts = Mapping[str, tuple[Sequence[str], NDArray[np.uint8]]]  # part -> texts and their classes, in the order of rows
Encode = Callable[[Sequence[str]], Any]  # texts -> vectors


@dataclass(frozen=True, slots=True)
class TextVectors:
    """Vectors that anybody can make: of which texts, under which name, and how they are checked."""

    texts: Callable[[Path | None], Texts]  # from a place of the user's, or from the makers
    made: str  # the file's name
    labels: str  # SHA-256 of the classes of all rows in their order
    classes: tuple[str, ...]

    @property
    def sample(self) -> dict[str, NDArray[Any]]:
        """Places of some rows of each part, and our vectors there."""
        stored = resources.files(__package__) / f"{Path(self.made).stem}_sample.npz"
        with np.load(io.BytesIO(stored.read_bytes()), allow_pickle=False) as result:
            return {name: result[name] for name in result.files}

    def arrays(self, path: Path) -> Arrays:
        """The arrays of a file that somebody made, checked."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                result = {name: stored[name] for name in stored.files}
        except (OSError, ValueError, EOFError) as error:
            raise InputError(f"{path} is no file of vectors: {error}.") from error
        self.check(result, str(path))
        return result

    def check(self, arrays: Arrays, where: str) -> float:
        """The largest difference from our vectors; an error where rows, classes or vectors are others."""
        wanted = {f"{kind}_{part}" for kind in "Xy" for part in PARTS}
        if not wanted <= set(arrays):
            raise InputError(f"{where} must hold the arrays {', '.join(sorted(wanted))}, got {', '.join(arrays)}.")
        if labels_digest(arrays) != self.labels:
            raise InputError(f"{where}: rows or classes are not those of the data set, in its order.")
        differences = []
        for part in PARTS:
            places, ours = self.sample[f"places_{part}"], self.sample[f"X_{part}"]
            theirs = arrays[f"X_{part}"]
            if theirs.shape != (len(arrays[f"y_{part}"]), ours.shape[1]):
                raise InputError(f"{where}: X_{part} must have {ours.shape[1]} columns, got the shape {theirs.shape}.")
            differences.append(float(np.abs(theirs[places].astype(float) - ours.astype(float)).max()))
        if not max(differences) <= TOLERANCE:
            raise InputError(
                f"{where}: vectors differ from ours by up to {max(differences):.2g}, and another machine makes at most "
                f"{TOLERANCE:g}. Use {MODEL} with {TOKENS} tokens, mean pooling and vectors of length one."
            )
        return max(differences)


def labels_digest(arrays: Arrays) -> str:
    result = hashlib.sha256()
    for part in PARTS:
        result.update(np.ascontiguousarray(arrays[f"y_{part}"], np.uint8).tobytes())
    return result.hexdigest()


@dataclass(frozen=True, slots=True)
class MadeVectors:
    """A file of vectors that was made: where it is, its rows, and how far some of them are from ours at most."""

    path: Path
    rows: int
    difference: float

    def __str__(self) -> str:
        return f"{self.path}: {self.rows:,} vectors, at most {self.difference:.1g} from ours ({TOLERANCE:g} is allowed)"


def make_vectors(vectors: TextVectors, texts: Path | None, folder: Path, encode: Encode) -> MadeVectors:
    """Make a data set's file of vectors."""
    arrays: dict[str, Any] = {"classes": np.array(vectors.classes)}
    for part, (written, classes) in vectors.texts(texts).items():
        arrays[f"y_{part}"] = np.asarray(classes, np.uint8)
        arrays[f"X_{part}"] = written
    if labels_digest(arrays) != vectors.labels:
        raise InputError(f"{texts or 'the texts'}: texts or classes are not those of the data set, in its order.")
    for part in PARTS:
        arrays[f"X_{part}"] = np.asarray(encode(arrays[f"X_{part}"]), np.float16)
    far = vectors.check(arrays, "the vectors made here")
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / vectors.made) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)
    return MadeVectors(folder / vectors.made, sum(len(arrays[f"y_{part}"]) for part in PARTS), far)


def encoder(model: str = MODEL, batch: int = 64) -> Encode:
    """The model by its name, or from a folder that holds it."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingDependencyError(
            "sentence-transformers", purpose="making sentence vectors", extra="text"
        ) from error
    loaded = SentenceTransformer(model)
    loaded.max_seq_length = TOKENS

    def encode(texts: Sequence[str]) -> Any:
        return loaded.encode(list(texts), batch_size=batch, normalize_embeddings=True, show_progress_bar=None)

    return encode


def found_file(name: str, *folders: str | None) -> Path | None:
    """The first of some folders that holds a file."""
    places = (Path(folder) / name for folder in folders if folder)
    return next((place for place in places if os.path.isfile(place)), None)
