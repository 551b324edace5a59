"""What the archives of makers have in common: files in a zip, and values that must fit the type they are kept in."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pulens.errors import listed
from pulens.research.benchmark.datasets._lzw import uncompress

UCI = "https://archive.ics.uci.edu/static/public"


def member(archive: Path | IO[bytes], name: str) -> bytes:
    """A file of a zip archive, in whatever folder it lies there; uncompressed where only ``name.Z`` is kept."""
    with zipfile.ZipFile(archive) as opened:
        places = {place.rsplit("/", 1)[-1]: place for place in opened.namelist()}
        if name in places:
            return opened.read(places[name])
        if f"{name}.Z" in places:
            return uncompress(opened.read(places[f"{name}.Z"]))
    raise ValueError(f"no {name} in the archive, which holds {listed(sorted(places))}")


def exactly(values: Any, dtype: DTypeLike) -> NDArray[Any]:
    """Values in a smaller type; a value that it cannot hold is an error, so that no two files convert to the same."""
    given = np.asarray(values)
    with np.errstate(invalid="ignore"):
        narrowed = given.astype(dtype)
    if not np.array_equal(narrowed, given):
        raise ValueError(f"values that are no {np.dtype(dtype)}, such as {given[narrowed != given].flat[0]}")
    return narrowed


def codes(characters: str, levels: str) -> NDArray[np.uint8]:
    """The place of each character among the levels; 255 for a character that is not among them.

    >>> codes("xbo", "box")
    array([2, 0, 1], dtype=uint8)
    """
    places = np.full(256, 255, np.uint8)
    places[list(levels.encode("latin-1"))] = np.arange(len(levels))
    return places[np.frombuffer(characters.encode("latin-1"), np.uint8)]
