"""What a data set's file declares about itself, and what loading it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pulens.research.benchmark.datasets._vectors import TextVectors

Arrays = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file by name, known by its SHA-256; ``url`` where the makers publish that very file."""

    name: str
    sha256: str | None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Originals:
    """The makers' own files, for those without a mirror: converted to the same arrays, and checked to be the same.

    ``digest`` is the SHA-256 of the arrays' contents (:func:`pulens.benchmark.datasets._fetch.digest`), so that what
    comes from anywhere is either identical or refused.
    """

    files: tuple[DataFile, ...]
    convert: Callable[[Mapping[str, Path]], Arrays]
    digest: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """The facts of one data set; they choose the tests that its file must pass."""

    title: str
    source: str
    licence: str
    citation: str
    positive: str  # which rows are positive, in words
    build: Callable[[Arrays], LabelledData]
    kind: Literal["table", "picture", "text", "sequence"]
    rows: int
    positives: int | None  # None where nobody knows
    files: tuple[DataFile, ...] = ()
    originals: Originals | None = None
    read: Callable[..., Arrays] | None = None  # for sets that come with a library or a folder of the user
    options: Mapping[str, Any] = field(default_factory=dict)
    where: tuple[str, ...] = ()  # options that say where the files lie: in another place they are the same data
    standardise: bool = False  # whether the benchmark scales columns with training rows
    papers: tuple[str, ...] = ()
    vectors: TextVectors | None = None  # for sentence vectors, which anybody can make of published texts

    def rows_used(self, most: int | None) -> int:
        """How many rows there are to use where a protocol says how many at most."""
        return self.rows if most is None else min(most, self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class LabelledData:
    """Rows and true classes, with the official test rows where there are any.

    Rows are compact (bytes stay bytes); :meth:`prepared` gives the numbers that networks are trained on. Sets that
    are PU data have ``labels`` (1 and 0); where nobody knows the truth ``y`` is None.
    """

    X: Any
    y: NDArray[np.bool_] | None
    X_test: Any = None
    y_test: NDArray[np.bool_] | None = None
    labels: NDArray[np.int8] | None = None
    weights: NDArray[np.float64] | None = None
    target: Any = None  # original classes of X, where they say more than y
    target_test: Any = None
    classes: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None  # (divide by, then subtract), of pictures

    def prepared(self, X: Any = None) -> Any:
        """Rows as float32, pictures scaled as in the benchmark of PU-Bench.

        >>> LabelledData(np.array([[0, 255]], np.uint8), None, scale=(127.5, 1.0)).prepared()
        array([[-1.,  1.]], dtype=float32)
        """
        rows = self.X if X is None else X
        if self.scale is None:
            return rows.astype(np.float32)
        divisor, shift = self.scale
        return np.asarray(rows, np.float32) / np.float32(divisor) - np.float32(shift)


def official_split(arrays: Arrays, positive: Sequence[int], **facts: Any) -> LabelledData:
    """Training and test rows as the makers divided them; some of their classes are positive."""
    train, test = arrays["y_train"], arrays["y_test"]
    is_positive, is_positive_test = (np.isin(target, positive) for target in (train, test))
    rows = arrays["X_train"], is_positive, arrays["X_test"], is_positive_test
    return LabelledData(*rows, target=train, target_test=test, **facts)


def joined(first: Any, second: Any) -> Any:
    """Training and test rows as one table, where a paper uses no official split."""
    return np.concatenate([first, second])


def one_hot(codes: NDArray[Any], levels: int | list[int]) -> NDArray[np.uint8]:
    """Columns of zeros and ones for category codes, feature by feature.

    >>> one_hot(np.array([[0, 1], [2, 0]]), [3, 2])
    array([[1, 0, 0, 0, 1],
           [0, 0, 1, 1, 0]], dtype=uint8)
    """
    counts = [levels] * codes.shape[1] if isinstance(levels, int) else levels
    starts = np.cumsum([0, *counts[:-1]])
    table = np.zeros((len(codes), sum(counts)), np.uint8)
    np.put_along_axis(table, codes.astype(np.intp) + starts, 1, axis=1)
    return table
