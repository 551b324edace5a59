"""What an estimator's file declares about itself, and what it hands back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pulens.notice import Notice
from pulens.priors.distribution import PriorDistribution
from pulens.types import Floats


class Trace(NamedTuple):
    """The curve a decision was read off, for drawing."""

    x: Floats
    y: Floats
    x_name: str
    y_name: str


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """An estimate of the share of positives among the unlabelled rows.

    ``low`` and ``high`` are given only by estimators whose interval holds its confidence.
    """

    value: float
    low: float | None = None
    high: float | None = None
    standard_error: float | None = None
    distribution: PriorDistribution | None = None
    trace: Trace | None = None
    notices: tuple[Notice, ...] = ()
    interval_method: str = "likelihood"
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Estimator:
    """The facts of one estimator of the class prior; they choose the tests that its file must pass.

    ``compute(tally, label_noise=, confidence=, **parameters)`` gives a :class:`Finding`. ``rank_based``: an
    increasing change of the scores changes nothing. ``has_interval``: its interval holds its confidence where its
    assumption holds. ``reads_negatives``: known negatives count as a random draw of the negatives; others do without.
    """

    compute: Callable[..., Finding]
    summary: str
    assumption: str
    source: str
    rank_based: bool
    has_interval: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    reads_negatives: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class NoiseFinding:
    """An estimate of both: the share of positives among the unlabelled rows, that of negatives among the labelled."""

    unlabelled_prior: Finding
    label_noise: Finding


@dataclass(frozen=True, slots=True)
class NoiseEstimator:
    """The facts of one estimator of class prior and label noise: ``compute(tally, confidence=)``."""

    compute: Callable[..., NoiseFinding]
    summary: str
    assumption: str
    source: str
    rank_based: bool
    has_interval: bool = False
