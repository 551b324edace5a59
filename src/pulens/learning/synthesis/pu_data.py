"""PU data for learners, and the truth in a box of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.answer import Answer
from pulens.notice import Notice
from pulens.scenario import Scenario


@dataclass(frozen=True, slots=True, eq=False)
class PUData(Answer):
    """Rows with PU labels, and the shares that learners need. It holds no true class.

    ``rows`` are places in ``source``, the table that :func:`pulens.synthesise` was given: many samples can share
    one table. ``class_prior`` is about the population, ``unlabelled_prior`` of the unlabelled rows of this very
    sample, ``label_frequency`` is the share of this sample's positives that carry a label, and ``label_noise`` the
    share of its labelled rows that are really negative. All are counted after the draw, not hoped for.
    """

    _keys = (
        *("scenario", "labelled=n_labelled", "unlabelled=n_unlabelled"),
        *("class_prior", "unlabelled_prior", "label_frequency", "label_noise"),
    )

    source: Any
    rows: NDArray[np.intp]
    labels: NDArray[np.int8]
    scenario: Scenario
    class_prior: float
    unlabelled_prior: float
    label_frequency: float
    label_noise: float

    def __post_init__(self) -> None:
        self.rows.flags.writeable = False
        self.labels.flags.writeable = False

    @property
    def X(self) -> Any:
        """The rows themselves, in the order of ``labels``."""
        return take(self.source, self.rows)

    @property
    def n_labelled(self) -> int:
        return int(np.count_nonzero(self.labels == 1))

    @property
    def n_unlabelled(self) -> int:
        return int(np.count_nonzero(self.labels == 0))

    def __len__(self) -> int:
        return int(self.labels.size)

    def __str__(self) -> str:
        return (
            f"PUData({self.scenario}: {self.n_labelled:,} labelled, {self.n_unlabelled:,} unlabelled; class prior "
            f"{self.class_prior:.4g}, {self.unlabelled_prior:.4g} among the unlabelled)"
        )

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows without labels of any kind, to be scored."""

    source: Any
    rows: NDArray[np.intp]

    def __post_init__(self) -> None:
        self.rows.flags.writeable = False

    @property
    def X(self) -> Any:
        return take(self.source, self.rows)

    def __len__(self) -> int:
        return int(self.rows.size)


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """Who is really positive, for studies: one boolean per row of each part. Never given to a learner."""

    train: NDArray[np.bool_]
    validation: NDArray[np.bool_] | None = None
    test: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        for part in (self.train, self.validation, self.test):
            if part is not None:
                part.flags.writeable = False


@dataclass(frozen=True, slots=True, eq=False)
class Synthesis:
    """PU data made from labelled data; the truth stands apart from what learners see.

    ``configuration`` and ``seed`` repeat it exactly.
    """

    train: PUData
    validation: PUData | None
    test: Rows | None
    truth: Truth
    configuration: dict[str, Any]
    seed: int
    notices: tuple[Notice, ...] = ()

    def __str__(self) -> str:
        held = [
            f"{len(part):,} {name}" for name, part in (("validation", self.validation), ("test", self.test)) if part
        ]
        return f"{self.train}" + (f" beside {' and '.join(held)} rows" if held else "")

    def to_dict(self) -> dict[str, Any]:
        """The facts about every part, without rows: what an archive keeps."""
        return {
            "configuration": self.configuration,
            "seed": self.seed,
            "train": self.train.to_dict(),
            "validation": None if self.validation is None else self.validation.to_dict(),
            "test": None if self.test is None else len(self.test),
            "notices": [notice.code for notice in self.notices],
        }


def take(source: Any, rows: NDArray[np.intp]) -> Any:
    """Rows of an array, a sparse matrix or a frame.

    >>> take(np.array([10, 20, 30]), np.array([2, 0]))
    array([30, 10])
    """
    if hasattr(source, "iloc"):  # pandas
        return source.iloc[rows]
    return source[rows]
