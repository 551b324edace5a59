"""Getting files: from the cache, a local mirror or the network, always checked before use.

``PULENS_DATA_HOME`` names the cache folder, ``PULENS_MIRROR`` a folder that holds the files by name, and
``PULENS_OFFLINE=1`` forbids the network. A file whose checksum is wrong is fetched again, never used.
"""

from __future__ import annotations

import csv
import hashlib
import os
import shutil
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pulens.errors import MissingDependencyError, PulensError
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset
from pulens.research.benchmark.datasets._vectors import found_file

HOME, MIRROR, OFFLINE = "PULENS_DATA_HOME", "PULENS_MIRROR", "PULENS_OFFLINE"
NAMES = {"classes", "color_classes", "feature_names", "levels", "names", "target_name"}  # ours, not the makers'
UNREADABLE = (
    *(OSError, EOFError, ValueError, LookupError, ArithmeticError, RuntimeError),
    *(csv.Error, struct.error, tarfile.TarError, zipfile.BadZipFile, zlib.error),
)


class DataUnavailableError(PulensError):
    """A data file can be had nowhere, or is not the file it should be."""


def fetch_arrays(name: str, dataset: Dataset) -> Arrays:
    """The arrays of a data set: its own files if they can be had, else the makers' originals, converted."""
    try:
        paths = {file.name: fetch(file) for file in dataset.files}
    except DataUnavailableError as missing:
        made = (
            None if dataset.vectors is None else found_file(dataset.vectors.made, os.environ.get(MIRROR), data_home())
        )
        if dataset.vectors is not None and made is not None:
            return dataset.vectors.arrays(made)
        if not _may_convert(dataset):
            why = f" `pulens bench vectors {name}` makes such a file of the texts." if dataset.vectors else ""
            raise DataUnavailableError(f"{name}: {missing}{why} Source: {dataset.source}.") from missing
        return _converted(name, dataset)
    arrays: dict[str, Any] = {}
    for path in paths.values():
        prefix = "" if len(paths) == 1 else f"{path.stem}/"
        arrays |= {f"{prefix}{key}": value for key, value in read_file(path).items()}
    return arrays


def _may_convert(dataset: Dataset) -> bool:
    """Whether the makers' files are to be tried: not past a mirror that was named, unless it holds them."""
    mirror = os.environ.get(MIRROR)
    if dataset.originals is None or not mirror:
        return dataset.originals is not None
    return all((Path(mirror) / file.name).is_file() for file in dataset.originals.files)


def data_home() -> str:
    """The folder of the cache."""
    import pooch

    return os.environ.get(HOME) or str(pooch.os_cache("pulens"))


def fetch(file: DataFile) -> Path:
    """Path of a checked copy in the cache."""
    try:
        import pooch
    except ImportError as error:
        raise MissingDependencyError("pooch", purpose="fetching data sets", extra="bench") from error
    pooch.get_logger().setLevel("WARNING")
    known = None if file.sha256 is None else f"sha256:{file.sha256}"
    try:
        result = pooch.retrieve(
            url=file.url or f"mirror://{file.name}",
            known_hash=known,
            fname=file.name,
            path=data_home(),
            downloader=_downloader(file),
        )
    except ValueError as error:
        if isinstance(error, PulensError):
            raise
        raise DataUnavailableError(
            f"{file.name} is not the file it should be: {error} Look at the copy in {_where(file)}."
        ) from error
    except OSError as error:
        raise DataUnavailableError(f"{file.name} could not be fetched from {_where(file)}: {error}.") from error
    return Path(result)


def _where(file: DataFile) -> str:
    mirror = os.environ.get(MIRROR)
    return f"the mirror {mirror!r}" if mirror else (file.url or "the cache")


def _downloader(file: DataFile) -> Callable[[str, Any, Any], None]:
    def download(url: str, output_file: Any, pooch_: Any) -> None:
        mirror = os.environ.get(MIRROR)
        if mirror and (Path(mirror) / file.name).is_file():
            shutil.copyfile(Path(mirror) / file.name, output_file)
            return
        if os.environ.get(OFFLINE, "") not in ("", "0"):
            raise DataUnavailableError(
                f"{file.name} is not in the cache, and {OFFLINE} forbids the network. Put the file into the folder "
                f"that {HOME} or {MIRROR} names."
            )
        if file.url is None:
            seen = f" (the folder {mirror!r} does not have it)" if mirror else ""
            raise DataUnavailableError(
                f"{file.name} is not in the cache and has no address of its own. Set {MIRROR} to a folder that holds "
                f"it{seen}, or put it into the folder that {HOME} names; its SHA-256 is {file.sha256}."
            )
        from pooch.downloaders import choose_downloader

        choose_downloader(url)(url, output_file, pooch_)

    return download


def _converted(name: str, dataset: Dataset) -> Arrays:
    """Arrays from the makers' files; a wrong digest drops the cached copies and tries once more."""
    originals = dataset.originals
    assert originals is not None
    converted = ", ".join(file.name for file in dataset.files)
    for last in (False, True):
        try:
            paths = {file.name: fetch(file) for file in originals.files}
        except DataUnavailableError as missing:
            raise DataUnavailableError(
                f"{name}: {missing} Or set {MIRROR} to a folder with {converted}. Source: {dataset.source}."
            ) from missing
        try:
            arrays = originals.convert(paths)
            result = digest(arrays)
        except UNREADABLE as error:
            arrays, result = {}, f"unreadable: {error}"
        if result == originals.digest:
            return arrays
        for path in paths.values():
            path.unlink(missing_ok=True)
        if last:
            raise DataUnavailableError(
                f"{name}: the files from {dataset.source} do not hold the expected data (digest {result}, expected "
                f"{originals.digest}). They may have changed there; set {MIRROR} to a folder with "
                f"{converted} instead."
            )
    raise AssertionError("unreachable")


def read_file(path: Path) -> dict[str, Any]:
    """Arrays of an npz file (no pickles) or columns of a Parquet file."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}
    table = read_parquet(path)
    return {column: np.asarray(table[column].to_pylist()) for column in table.column_names}


def read_parquet(path: Path) -> Any:
    """An Arrow table."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError("pyarrow", purpose="reading Parquet files", extra="data") from error
    return pyarrow.parquet.read_table(path)


def digest(arrays: Mapping[str, Any]) -> str:
    """SHA-256 of names, shapes and values of arrays; number types do not matter, values do.

    Columns of words count by what they say; names of classes and features, which are ours, do not count.
    """
    result = hashlib.sha256()
    for key in sorted(arrays):
        if key.rsplit("/", 1)[-1] in NAMES:
            continue
        values = np.asarray(arrays[key])
        result.update(f"{key}{values.shape}".encode())
        if values.dtype.kind == "U":
            result.update("\0".join(values.ravel().tolist()).encode())
            continue
        whole = values.dtype.kind in "iub"
        result.update(np.ascontiguousarray(values, np.int64 if whole else np.float64).tobytes())
    return result.hexdigest()
