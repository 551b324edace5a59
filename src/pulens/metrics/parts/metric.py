"""What a metric file declares about itself, and the arithmetic that metrics share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from pulens.inference.of_metric import MetricIntervalMethod
from pulens.scalars import is_among
from pulens.types import Floats


@dataclass(frozen=True, slots=True)
class Shown:
    """Where people look for a metric first: its place, from 1 on, in each view that leads with some of them.

    ``table``: of all metrics of an evaluation; the rest follow by name. ``tiles``: at the top of the page.
    ``segments``: where each segment has a row. ``comparison``: of models, unless others are named. ``gaps``: of groups,
    where one class prior is tried for all of them. ``top``: of the first rows of a list. A metric between the second
    and the third has the place 2.5.
    """

    table: float | None = None
    tiles: float | None = None
    segments: float | None = None
    comparison: float | None = None
    gaps: float | None = None
    top: float | None = None


@dataclass(frozen=True, slots=True)
class OtherLabelling:
    """What a number of the whole ranking can be where labelling favours some scores.

    ``up_to(evidence, factor, favours, known)`` gives its extremes over labels that favour a side up to a factor
    (:class:`~pulens.metrics.parts.labelling_range.LabellingRange`);
    ``in_worlds(worlds)`` its value and extremes where random labels are impossible
    (:class:`~pulens.metrics.parts.possible_worlds.WorldsAt`). Metrics at a threshold need none: with the true positive
    rate their whole table is given.
    """

    up_to: Callable[..., Any]
    in_worlds: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Metric:
    """The facts of one metric; they choose the tests that its file must pass.

    ``reads="threshold"``: ``compute(contingency, **parameters)`` gives one value per table, nan where undefined.
    ``reads="ranking"``: ``compute(tally, assumptions, **parameters)`` gives one number, not clipped.
    ``reads="counts"``: ``compute(tally, threshold, assumptions, **parameters)`` gives one number from the rows as
    they are counted at a threshold, nan where undefined.

    ``ignores_class_prior``: the number is one of labelled against other rows, so no class prior need be given.
    ``counted``: rows of the population are counted as they are, whatever is labelled and however many are positive.
    ``confirmed``: labelled rows among the flagged count in its favour: in one sample it is at least their share.
    ``of_labelled``: the share of the labelled rows at or above the threshold, where no label is wrong.
    ``landmarks``: numbers to read the value beside, from ``(tally, value, **parameters)``.
    ``caution``: what to know before using the number, in words, from ``(tally, assumptions, **parameters)``; or empty.
    ``many``: ``compute`` of a ranking for many replicates at once, from their recoveries and rates of the shape
    (replicates, thresholds); ``None`` where these parameters have no such form, and replicates are computed one by one.
    ``construction``: from its parameters, how its interval is made (:mod:`pulens.inference`); without one, or where it
    is ``None``, the construction follows from what the metric reads.
    ``other_labelling``: of a ranking, where labels are not random. ``order_is_fixed``: no class prior changes the order
    of two models, by the formula, unless there are known negatives.
    ``title`` is how people write it, ``derivation`` how it is found, with the equations of Jain, White and Radivojac
    (2017), which docs/research/recovery.md derives; ``page_computes``: the page's script has its formula,
    so that it follows the sliders.
    """

    compute: Callable[..., Any]
    summary: str
    reads: Literal["threshold", "ranking", "counts"] = "threshold"
    higher_is_better: bool = True
    lowest: float = 0.0
    highest: float = 1.0
    needs_class_prior: bool = True
    ignores_class_prior: bool = False
    counted: bool = False
    of_labelled: bool = False
    confirmed: bool = False
    reads_ranks: bool = False  # of whole rows, so that it takes no weights
    listed: bool = True  # whether `evaluate` shows it without being asked
    undefined_because: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    landmarks: Callable[..., dict[str, float]] | None = None
    caution: Callable[..., str] | None = None
    # of a ranking: (tally, assumptions, **parameters), nan if unknown
    binning_error: Callable[..., float] | None = None
    # of a ranking: (recoveries, labelled, unlabelled, negative rates, **parameters), a number for each replicate
    many: Callable[..., Floats | None] | None = None
    construction: Callable[..., type[MetricIntervalMethod] | None] | None = None
    other_labelling: OtherLabelling | None = None
    order_is_fixed: bool = False
    title: str = ""
    derivation: str = ""
    shown: Shown = Shown()
    page_computes: bool = False

    @property
    def needs_threshold(self) -> bool:
        return self.reads != "ranking"

    def is_as_declared(self, parameters: Mapping[str, Any]) -> bool:
        """Whether these parameters ask for the number as the metric's facts describe it."""
        return all(is_among(given, (self.parameters[name],)) for name, given in parameters.items())


def divide(numerator: Any, denominator: Any, *, empty: float = np.nan) -> Floats:
    """Ratio of arrays, with a stated value where the denominator is zero.

    >>> divide(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    numerator, denominator = np.broadcast_arrays(np.asarray(numerator, float), np.asarray(denominator, float))
    if denominator.all():
        return np.asarray(numerator / denominator)
    ratio: Floats = np.divide(numerator, denominator, out=np.full(numerator.shape, empty), where=denominator != 0)
    return ratio
