"""Which files a command reads, so that none of them is replaced by what it writes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from fnmatch import fnmatch
from glob import glob, has_magic
from pathlib import Path

from pulens.inputs.addresses import database_file, is_address
from pulens.inputs.tables.formats import COMPRESSED, EXTENSIONS


def reads(source: str, place: str) -> bool:
    """Whether a file (its real path) is read from a source, or would be the next time.

    >>> reads("scores.csv", os.path.realpath("./scores.csv")), reads("scores.csv", os.path.realpath("page.html"))
    (True, False)
    >>> reads("sqlite:///scores.sqlite", os.path.realpath("scores.sqlite"))
    True
    """
    if source == "-":
        return False
    if is_address(source):
        file = database_file(source)
        return file is not None and os.path.realpath(file) == place
    whole = os.path.realpath(source)
    if os.path.isdir(whole):
        return os.path.commonpath([whole, place]) == whole and (os.path.exists(place) or _is_table(place))
    if has_magic(source) and not os.path.exists(source):
        result = {os.path.realpath(name) for name in glob(source, recursive=True)}
        return place in result or fnmatch(place, os.path.realpath(source))
    return whole == place


def read_by(sources: Iterable[str], place: str) -> str | None:
    """The first source that a file is read from."""
    return next((source for source in sources if reads(source, place)), None)


def _is_table(place: str) -> bool:
    name = Path(place)
    ending = Path(name.stem).suffix if name.suffix.lower().removeprefix(".") in COMPRESSED else name.suffix
    return ending.lower().removeprefix(".") in EXTENSIONS
