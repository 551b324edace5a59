"""Numbers of any kind under labels as uneven as in practice: read off at the tilt in the middle, and moved by others.

Whatever has a value and an interval for labels that are random has them here, too. Its construction is made of the rows
at the tilt in the middle (:func:`~pulens.selection.distortion.distorted`), which gives the value and what the sample
leaves open, and its value at other plausible tilts says how far the labelling moves it. Both sources are added: ends
are quantiles of the sum of two halves of normal distributions and of that movement.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from pulens.cached import cached_method
from pulens.counts.tally import Tally
from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.inference.kernels.quantiles import one_tail
from pulens.inference.kernels.redraws import MOST_BLOCKS, compress
from pulens.inference.method import IntervalMethod, Limits
from pulens.priors import ClassPrior, population_prior
from pulens.recovery.assumptions import Assumptions
from pulens.selection.practice import Favouring, Practice
from pulens.selection.tilts import TiltDistribution, TiltRange
from pulens.types import Floats

MOST_KEPT = 100_000  # scores up to which rows at other tilts are kept
MIXED = "labelling as in practice added"


def _tilts(rows: Evidence, labels: Practice | Favouring) -> TiltDistribution | TiltRange:
    return TiltRange(rows, labels.factor) if isinstance(labels, Favouring) else TiltDistribution(rows, labels)


@dataclass(frozen=True)
class TiltedEvidence(Evidence):
    """The rows at the tilt in the middle; ``rows`` are they as they were counted."""

    rows: Evidence | None = None
    labels: Practice | Favouring | None = None  # what is taken of them

    @classmethod
    def of(cls, rows: Evidence, labels: Practice | Favouring) -> TiltedEvidence:
        """What numbers are read off.

        >>> from pulens.evidence import gather
        >>> from pulens.selection import check_labelling
        >>> rows = gather([1, 1, 0, 0, 0, 0], [6, 3, 5, 4, 2, 1], class_prior=0.5)
        >>> TiltedEvidence.of(rows, check_labelling("practice")).counted is rows
        True
        """
        totals, own = rows.tally.totals, rows
        if totals.labelled and totals.unlabelled:  # a fold of few rows may hold none to tilt
            tilts = _tilts(rows, labels)
            own = tilts.rows_at(tilts.median())
        given = {each.name: getattr(own, each.name) for each in fields(Evidence)}
        given["labelling"] = "practice" if labels.explains_any_rows else "random"
        return cls(**given, rows=rows, labels=labels)

    @property
    def counted(self) -> Evidence:
        assert self.rows is not None
        return self.rows

    @cached_property
    def as_read(self) -> Evidence:
        return Evidence(**{each.name: getattr(self, each.name) for each in fields(Evidence)})

    @property
    def masses(self) -> Evidence:
        """At the tilt in the middle; of a factor up to which labels may favour some, the rows as they were counted."""
        return self.counted if isinstance(self.labels, Favouring) else self

    @property
    def can_be_ruled_out(self) -> bool:
        return not self.explains_any_rows

    @property
    def labelling_words(self) -> str:
        return "random" if self.labels is None else self.labels.name

    @property
    def target_population(self) -> str:
        return self.counted.target_population

    @cached_property
    def tilts(self) -> TiltDistribution | TiltRange:
        assert self.labels is not None
        return _tilts(self.counted, self.labels)

    def spread(self, *, at_threshold: bool) -> float:
        """How many times as wide the distribution of tilts is there."""
        return self.labels.at_thresholds if at_threshold and self.labels is not None else 1.0

    def share_of(self, class_prior: float) -> float:
        """Of positives among the unlabelled rows, at a class prior of the list."""
        low, high = (population_prior(end, self.counted.tally.totals, self.counted.scenario) for end in (0.0, 1.0))
        return min(max((class_prior - low) / (high - low), 0.0), 1.0) if high > low else 0.0

    def at(self, class_prior: float, levels: Floats, spread: float = 1.0) -> list[Evidence]:
        """The rows at tilts of these levels, if the list has this class prior."""
        return self.at_share(self.share_of(class_prior), levels, spread)

    def at_share(self, share: float, levels: Floats, spread: float = 1.0) -> list[Evidence]:
        """The same at a share of positives among the unlabelled rows."""
        tilts = tuple(self.tilts.quantiles(share, levels, spread).tolist())
        return self._at_tilts(tilts, share) if len(self.tally) <= MOST_KEPT else self._rows_at(tilts, share)

    def _rows_at(self, tilts: tuple[float, ...], share: float) -> list[Evidence]:
        return [self.tilts.rows_at(tilt, share) for tilt in tilts]

    _at_tilts = cached_method()(_rows_at)

    @cached_method()
    def in_the_middle(self, share: float) -> Evidence:
        """The rows at the tilt that numbers are read off at, if this share of the unlabelled rows is positive."""
        return self.tilts.rows_at(self.tilts.median(share), share)

    def rows_at(self, setting: float | None) -> tuple[Tally, Assumptions]:
        """At the labelling in the middle."""
        own = self.in_the_middle(self.counted.class_prior.unlabelled if setting is None else setting)
        return own.tally, own.assumptions

    @cached_property
    def coarse(self) -> TiltedEvidence:
        """The same rows at few thresholds that stand for all: enough to say what another labelling changes."""
        tally = self.counted.tally
        return self if len(tally) <= MOST_BLOCKS else self.with_tally(compress(tally))

    def with_class_prior(self, class_prior: ClassPrior) -> TiltedEvidence:
        assert self.labels is not None
        return TiltedEvidence.of(self.counted.with_class_prior(class_prior), self.labels)

    def with_tally(self, tally: Tally, buckets: Any = None) -> TiltedEvidence:
        """The same assumptions about other rows, as they were counted."""
        assert self.labels is not None
        return TiltedEvidence.of(self.counted.with_tally(tally, buckets), self.labels)


def tilted_rows(evidence: Evidence) -> TiltedEvidence | None:
    """The rows whose labelling is tilted, also where they belong together and stand for one stratum."""
    own = evidence.by_itself
    return own if isinstance(own, TiltedEvidence) else None


Make = Callable[[Sequence[Evidence]], IntervalMethod]


@dataclass(frozen=True, eq=False)
class OverTilts(IntervalMethod):
    """A construction at the tilt in the middle, with what other plausible tilts change in its value.

    It may be made of several samples, which share a way of labelling: all are at the same level of tilts.
    """

    samples: Sequence[TiltedEvidence]
    make: Make
    spread_of_tilts: float = 1.0
    in_strata: bool = False

    @cached_property
    def _own(self) -> IntervalMethod:
        return self.make(self.samples)

    @property
    def method(self) -> str:  # type: ignore[override]
        return f"{self._own.method}, {MIXED}"

    @property
    def is_smooth(self) -> bool:  # type: ignore[override]
        return self._own.is_smooth

    @property
    def shares_tried(self) -> int:  # type: ignore[override]
        return self._own.shares_tried

    def value(self, prior: Any) -> Any:
        return self._at(self._share(prior))[0].value(self._setting(prior))

    def ends(self, prior: Any, tail: Any) -> Limits:
        middle, moved = self._at(self._share(prior))
        ends = middle.ends(prior, tail)
        low, high = self.samples[0].tilts.ends(middle.value(self._setting(prior)), *ends, moved, tail)
        if middle.least is None:
            return low, high
        share, labels = self._share(prior), self.samples[0].labels
        own, local = None if self.in_strata else share, getattr(labels, "local", 0.0)
        tried = itertools.compress(self._everywhere(share), self.samples[0].tilts.is_within(tail))
        return min(low, *(each.least(own, tail, local) for each in tried)), high

    @cached_method()
    def _everywhere(self, share: float) -> list[Any]:
        """The construction at every tilt: first those that are equally likely, then where else a distance is tried."""
        tilts = self.samples[0].tilts
        levels = tilts.levels if self._own.least is None else tilts.all_levels
        each = [sample.at(share, levels, self.spread_of_tilts) for sample in self.samples]
        return [self.make(rows) for rows in zip(*each, strict=True)]

    def _share(self, prior: Any) -> float:
        """The class prior at a setting of it: a number, or the shares of the one stratum of rows that belong together.

        ``None`` is its own value.
        """
        if prior is None:
            return self.samples[0].class_prior.value
        return float(getattr(prior, "shares", [prior])[0])

    def _setting(self, prior: Any) -> Any:
        """As constructions take it: those of one stratum know their own."""
        return prior if self.in_strata else self._share(prior)

    @cached_method()
    def _at(self, share: float) -> tuple[IntervalMethod, Floats]:
        """The construction in the middle, and the value at every tilt less the one there."""
        middle, own = self._own, None if self.in_strata else share
        if share != self.samples[0].class_prior.value:
            middle = self.make([sample.in_the_middle(sample.share_of(share)) for sample in self.samples])
        equally_likely = self._everywhere(share)[: self.samples[0].tilts.levels.size]
        return middle, np.array([each.value(own) for each in equally_likely]) - middle.value(own)


def under_labelling(
    evidence: Evidence | Sequence[Evidence], make: Callable[..., IntervalMethod], *, at_threshold: bool = False
) -> IntervalMethod:
    """The construction that ``make`` gives, with the labelling as one more source of uncertainty where it is one.

    ``make`` takes an evidence, or as many as are given here.
    """
    given = (evidence,) if isinstance(evidence, Evidence) else evidence
    samples = [tilted for each in given if (tilted := tilted_rows(each)) is not None]
    if not samples:
        return make(evidence)
    spread = samples[0].spread(at_threshold=at_threshold)
    if not isinstance(evidence, Evidence):
        return OverTilts(samples, make, spread)

    def alone(rows: Sequence[Evidence]) -> IntervalMethod:
        return make(evidence if rows[0] is samples[0] else evidence.of_other_rows(rows[0]))

    return OverTilts(samples, alone, spread, in_strata=evidence.by_itself is not evidence)


def moved_interval(
    evidence: Evidence,
    interval: Interval | None,
    value: Any,
    number: Callable[[Evidence], Any],
    *,
    coarsely: bool = False,
) -> Interval | None:
    """An interval of one number with the labelling as one more source of uncertainty, where it is one.

    ``coarsely`` finds what the labelling changes at few thresholds that stand for all.
    """
    if interval is None or interval.confidence is None or not isinstance(evidence, TiltedEvidence):
        return interval
    assert evidence.labels is not None
    given, tail = (interval.low, interval.high), one_tail(interval.confidence)
    ends = moved_ends(evidence, value, given, number, tail, coarsely=coarsely)
    return replace(
        interval,
        low=min(ends[0], value),
        high=max(ends[1], value),
        method=f"{interval.method}, {MIXED}",
        guarantee=evidence.labels.guarantee,
    )


def moved_ends(
    evidence: Evidence,
    value: Any,
    ends: Limits,
    number: Callable[[Evidence], Any],
    tail: float,
    *,
    at_threshold: bool = False,
    coarsely: bool = False,
    locally: bool = False,
) -> Limits:
    """Ends of one number or of many with what the labelling moves; as they are where labels are random.

    ``locally``: the numbers are shares of few rows, in which the labelling may be another than the tilt's.
    """
    own = tilted_rows(evidence)
    if own is None:
        return ends
    tilts, spread = own.tilts, own.spread(at_threshold=at_threshold)
    of = own.coarse if coarsely else own
    middle = number(of) if of is not evidence else value
    tilted = of.at(own.class_prior.value, tilts.levels, spread)
    values = np.array([number(each) for each in tilted])
    if locally and isinstance(own.labels, Practice):
        values = (values[:, None] * own.labels.local_factors[:, None]).reshape(-1, *values.shape[1:])
    return tilts.ends(value, *ends, values - middle, tail)
