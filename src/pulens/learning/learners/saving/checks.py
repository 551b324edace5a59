"""What comes back from disk is looked at before it is used: a damaged learner is named, never scored with."""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError, PulensError

ROOM = 256 << 20  # bytes that any saved file may unpack to
RATIO = 100  # times its own size that a larger one may
MOST_THREADS = 1024
MOST_FEATURES = 10_000_000
ANEW = "Train and save the learner again."


def damaged(place: Path | str, why: str) -> InputError:
    """The error for a file that does not hold what was saved."""
    short = why if len(why) <= 200 else f"{why[:200]}..."
    return InputError(f"{place} is damaged: {' '.join(short.split()).rstrip('.')}. {ANEW}")


def unreadable(file: Path, error: Exception) -> InputError:
    """The error for a file of which not even the form is right; foreign messages may be long, and quote its bytes."""
    said = " ".join(str(error).split()) or type(error).__name__
    return InputError(f"{file} could not be read: {said[:200].rstrip('.')}. {ANEW}")


@contextmanager
def in_words(place: Path) -> Iterator[None]:
    """Whatever else a damaged file sets off is said in one sentence."""
    try:
        yield
    except (PulensError, ImportError):
        raise
    except Exception as error:  # what a foreign object does when it is used has no common type
        raise damaged(place, f"{type(error).__name__}: {error}") from error


def is_number(value: Any) -> bool:
    """A finite number; a truth value is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def check_number(place: Path, name: str, value: Any, *, above: float = -math.inf, below: float = math.inf) -> float:
    """A finite number strictly between two others."""
    if not is_number(value) or not above < value < below:
        allowed = "a finite number"
        if above > -math.inf:
            allowed += f" above {above:g}"
        if below < math.inf:
            allowed += f"{' and' if above > -math.inf else ''} below {below:g}"
        raise damaged(place, f"{name} must be {allowed}, got {short(value)}")
    return float(value)


def check_prior(place: Path, value: Any, *, needed: bool = False) -> None:
    """A class prior, or none where the method does without."""
    if value is not None or needed:
        check_number(place, "class_prior_", value, above=0, below=1)


def check_rows(place: Path, name: str, value: Any) -> None:
    """A number of rows, which counts are divided by."""
    if not is_number(value) or value < 1:
        raise damaged(place, f"{name} must be a number of rows, at least 1, got {short(value)}")


def check_width(place: Path, name: str, value: Any) -> int:
    """A number of features."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_FEATURES:
        raise damaged(place, f"{name} must be a whole number from 1 to {MOST_FEATURES:,}, got {short(value)}")
    return value


def check_names(place: Path, name: str, names: Any, width: int) -> None:
    """Names of columns: as many as there are features, each once; or none."""
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise damaged(place, f"{name} must be a list of words, got {short(names)}")
    if names and (len(names) != width or len(set(names)) != width):
        raise damaged(place, f"{name} must be {width:,} different words, got {len(set(names)):,} of {len(names):,}")


def check_attribute(place: Path, learner: Any, name: Any) -> str:
    """A name that fitting may have set: never one of the learner's own methods or settings."""
    good = isinstance(name, str) and name.isidentifier() and name.endswith("_") and not name.startswith("_")
    if not good or hasattr(type(learner), name):
        raise damaged(place, f"{short(name)} is not what fitting a {type(learner).__name__} leaves behind")
    return str(name)


def check_threads(place: Path, learner: Any) -> None:
    """Threads are started as told, and a thousand million of them never end."""
    value = getattr(learner, "n_jobs", None)
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value == 0 or abs(value) > MOST_THREADS:
        raise damaged(place, f"n_jobs must be None or a whole number up to {MOST_THREADS:,}, got {short(value)}")


def check_array(
    place: Path, name: str, values: Any, shape: tuple[int | None, ...], kinds: str = "fiu", *, finite: bool = True
) -> NDArray[Any]:
    """An array of a shape (None: any length) and of kinds of numbers (numpy's letters)."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in kinds:
        raise damaged(place, f"{name} is not an array of numbers of the right kind")
    fits = values.ndim == len(shape) and all(
        want is None or want == have for want, have in zip(shape, values.shape, strict=True)
    )
    if not fits:
        wanted = " x ".join("any" if want is None else f"{want:,}" for want in shape)
        raise damaged(place, f"{name} has the shape {values.shape}, and {wanted} was expected")
    if finite and values.dtype.kind == "f" and not np.isfinite(values).all():
        raise damaged(place, f"{name} holds numbers that are not finite")
    return values


def check_packed(file: Path) -> None:
    """Refuse a zip whose parts would unpack to far more than it holds, or whose arrays lie about their size."""
    try:
        with zipfile.ZipFile(file) as packed:
            parts = packed.infolist()
            whole = sum(part.file_size for part in parts)
            room = max(ROOM, RATIO * file.stat().st_size)
            if whole > room:
                raise damaged(file, f"it would unpack to {whole:,} bytes, and {room:,} is the most for its size")
            for part in parts:
                if part.filename.endswith(".npy"):
                    with packed.open(part) as opened:
                        _check_header(file, part.filename, part.file_size, opened)
    except FileNotFoundError:
        raise InputError(f"{file} could not be read: there is no such file. {ANEW}") from None
    except PulensError:
        raise
    except Exception as error:  # zlib, zipfile, struct and numpy each have their own
        raise unreadable(file, error) from error


def _check_header(file: Path, name: str, size: int, opened: Any) -> None:
    """numpy makes room for what a header says before it looks whether that is there."""
    version = np.lib.format.read_magic(opened)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(opened, max_header_size=10_000)
    if dtype.hasobject:
        raise damaged(file, f"{name} holds objects instead of numbers")
    if min(shape, default=1) < 0 or math.prod(shape) * dtype.itemsize + opened.tell() != size:
        raise damaged(file, f"{name} says it has the shape {short(shape)}, and holds {size:,} bytes")


def check_answer(place: Path, learner: Any, width: int) -> None:
    """Score one row of zeros: whatever else does not fit together shows here, and not in the middle of a table."""
    if width > 100_000:
        return
    with in_words(place), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # a row without column names
        result = np.asarray(learner.predict_proba(np.zeros((1, width))))
        if result.shape != (1, 2) or not np.isfinite(result.astype(float)).all():
            raise damaged(place, "it gives no number for a row of zeros")


def short(value: Any) -> str:
    """A value as an error shows it, however long it is."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of many digits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
