"""Bounds that need no estimate: what any metric can be, given a band on the ranks of the labelled positives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.assumptions import check_label_noise
from pulens.contingency import Contingency
from pulens.curves.bound_curves import Area, bound_precision_recall, bound_roc, trapezoid
from pulens.errors import AssumptionError, PulensError, listed
from pulens.estimate import Curve, Interval
from pulens.evidence import Evidence, gather
from pulens.metrics import find
from pulens.metrics._measure import check_threshold
from pulens.priors import ClassPrior
from pulens.priors.given import GivenPrior
from pulens.recovery.bounds import (
    Approach,
    BoundTables,
    bound_tables,
    latent_range_of,
    surrogate_limits,
    table_from_surrogates,
)
from pulens.scenario import Scenario
from pulens.tally import Tally
from pulens.uncertainty.bands import BAND_NAMES
from pulens.uncertainty.resampling import check_resampling

Floats = NDArray[np.float64]
APPROACHES = ("positives", "negatives", "tighter")
MOST_COUNTS = 257  # numbers of latent positives tried over a range of class priors, and of hits between two limits


@dataclass(frozen=True)
class Bounds:
    """Lower and upper curves, their areas, and the range of any metric at any threshold.

    The bounds hold when the band holds the rank CDF of the latent positives and the class prior lies in its range:
    nothing is estimated.
    """

    evidence: Evidence
    confidence: float
    band: str
    approach: Approach

    @property
    def shares(self) -> tuple[float, float]:
        """Range of the share of positives among the unlabelled rows."""
        prior = self.evidence.class_prior
        reach = prior.unlabelled_interval
        return (prior.unlabelled, prior.unlabelled) if reach is None else (reach.low, reach.high)

    @property
    def target_population(self) -> str:
        if not self._labelled_too:
            return "the unlabelled rows"
        return "the labelled, unlabelled and known negative rows given"

    @property
    def _labelled_too(self) -> bool:
        return self.evidence.scenario is Scenario.SINGLE_SET

    def _tables(self, shares: tuple[float, float]) -> BoundTables:
        return bound_tables(
            self.evidence.tally,
            shares,
            self.confidence,
            band=self.band,
            approach=self.approach,
            labelled_too=self._labelled_too,
        )

    @cached_property
    def tables(self) -> BoundTables:
        """Contingency tables of the lower and of the upper curve at every threshold."""
        return self._tables(self.shares)

    @cached_property
    def _each_end(self) -> tuple[BoundTables, ...]:
        """Tables at either end of the class prior's range alone."""
        return tuple(self._tables((share, share)) for share in dict.fromkeys(self.shares))

    @cached_property
    def _latent_range(self) -> tuple[float, float]:
        return latent_range_of(self.evidence.tally, self.shares, labelled_too=self._labelled_too)

    def _limits(self, latent: float, tally: Tally | None = None) -> tuple[Floats, Floats]:
        return surrogate_limits(
            self.evidence.tally if tally is None else tally,
            latent,
            self.confidence,
            self.band,
            self.approach,
            latent_range=self._latent_range,
        )

    @property
    def roc(self) -> tuple[Curve, Curve]:
        """Lower and upper ROC curve: points sorted, true positive rates never falling."""
        return bound_roc(self.tables.lower, "envelope"), bound_roc(self.tables.upper, "envelope")

    @cached_property
    def precision_recall(self) -> tuple[Curve, Curve]:
        """Lower and upper precision-recall curve, in the order of the ranking.

        At a given rank precision only grows with the share of positives (equation 15), whether or not the ranking
        beats chance: the lower curve takes the low end of the class prior's range, the upper curve the high end.
        """
        pair = [
            table_from_surrogates(
                self.evidence.tally, latent, self._limits(latent)[which], labelled_too=self._labelled_too
            )
            for which, latent in enumerate(self._latent_range)
        ]
        return bound_precision_recall(pair[0]), bound_precision_recall(pair[1])

    @property
    def roc_auc(self) -> Interval:
        return self.roc_area()

    def roc_area(self, area: Area = "envelope") -> Interval:
        """Area under both ROC curves.

        A known positive can raise the number of latent ones above it by several, so the points need not be in
        order. ``envelope`` sorts them and takes the highest true positive rate so far, ``sorted`` only sorts
        them, ``rank`` leaves them as they come.
        """
        if area not in ("envelope", "sorted", "rank"):
            raise PulensError(f"area must be 'envelope', 'sorted' or 'rank', got {area!r}.")
        pairs = (self.tables, *(self._each_end if self.shares[0] < self.shares[1] else ()))
        areas = [[trapezoid(bound_roc(table, area)) for table in pair] for pair in pairs]
        return self._interval(min(low for low, _ in areas), max(high for _, high in areas))

    @property
    def average_precision(self) -> Interval:
        return self._precision_area(lambda curve: float(np.diff(curve.x, prepend=0.0) @ curve.y))

    @property
    def pr_auc(self) -> Interval:
        """Trapezoidal area under both precision-recall curves; the first step takes the first precision."""

        def area(curve: Curve) -> float:
            before = np.concatenate([curve.y[:1], curve.y[:-1]])
            return float(np.diff(curve.x, prepend=0.0) @ (curve.y + before) / 2)

        return self._precision_area(area)

    def _precision_area(self, area: Callable[[Curve], float]) -> Interval:
        found = [area(curve) for curve in self.precision_recall]
        if self.shares[0] < self.shares[1]:  # recall moves with the class prior too, so either end may be extreme
            found += [area(bound_precision_recall(table)) for pair in self._each_end for table in pair]
        return self._interval(min(found), max(found))

    def metric(self, name: str, *, threshold: float, **parameters: Any) -> Interval:
        """The range of any metric of the contingency table at a threshold.

        Every number of latent positives that the class prior allows, and for each the fewest and the most of them
        that the band allows above the threshold, with numbers between: so the metric need not be monotone.

        >>> found = bounds([1, 1, 1, 0, 0, 0, 0, 0], [.85, .65, .45, .9, .7, .5, .3, .2], class_prior=0.2)
        >>> print(found.metric("precision", threshold=0.6))
        [0.000, 0.500]
        """
        facts = find(name)
        if facts.reads != "threshold":
            raise PulensError(
                f"{name!r} reads the whole ranking; bounds on it are roc_auc, average_precision and pr_auc."
            )
        at = check_threshold(threshold, required_by=name)
        found: list[Floats] = []
        for latent in _whole_numbers(*self._latent_range):
            low, high = (float(limit[1]) for limit in self._limits(latent, self._around(at)))
            counts = np.array(_whole_numbers(low, high))
            found.append(facts.compute(self._tables_with(latent, counts, at), **parameters))
        values = np.concatenate(found)
        kept = np.clip(values[~np.isnan(values)], facts.lowest, facts.highest)
        if not kept.size:
            raise PulensError(f"{name} is undefined at threshold {at:g}: {facts.undefined_because}.")
        return self._interval(float(kept.min()), float(kept.max()))

    def _around(self, threshold: float) -> Tally:
        """The tally at one threshold and at the end of the ranking: all that a single table needs."""
        kinds = zip(self.evidence.tally.at(threshold), self.evidence.tally.totals, strict=True)
        labelled, unlabelled, negative = (np.array(pair) for pair in kinds)
        return Tally(np.array([threshold, -np.inf]), labelled, unlabelled, negative)

    def _tables_with(self, latent: float, in_head: Floats, threshold: float) -> Contingency:
        """Tables at one threshold for several numbers of latent positives above it."""
        tally = self.evidence.tally
        known, head, refuted = tally.at(threshold)
        hits, alarms = in_head, head - in_head
        positive, negative = latent, tally.totals.unlabelled - latent
        if self._labelled_too:
            hits, alarms = hits + known, alarms + refuted
            positive, negative = positive + tally.totals.labelled, negative + tally.totals.negative
        where = np.full(in_head.size, threshold)
        return Contingency.from_cells(where, hits, alarms, positive - hits, negative - alarms)

    def _interval(self, low: float, high: float) -> Interval:
        return Interval(min(low, high), max(low, high), self.confidence, f"bounds, {self.band}")

    def __str__(self) -> str:
        share = " to ".join(f"{end:.4g}" for end in dict.fromkeys(self.shares))
        return "\n".join(
            [
                f"{self.confidence:.0%} bounds ({self.band}, from {self.approach}), unlabelled prior {share}",
                f"  roc_auc            {self.roc_auc}",
                f"  average_precision  {self.average_precision}",
                f"  speak of {self.target_population}",
            ]
        )

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "confidence": self.confidence,
            "band": self.band,
            "approach": self.approach,
            "unlabelled_prior": list(self.shares),
            "scenario": str(self.evidence.scenario),
            "target_population": self.target_population,
            "roc_auc": self.roc_auc.to_dict(),
            "average_precision": self.average_precision.to_dict(),
        }


def bounds(
    labels: Any,
    scores: Any = None,
    *,
    class_prior: GivenPrior | ClassPrior | None = None,
    unlabelled_prior: GivenPrior | None = None,
    label_noise: float = 0.0,
    scenario: str = "case-control",
    confidence: float = 0.95,
    band: str = "dkw-two-sample",
    approach: str = "positives",
    **reading: Any,
) -> Bounds:
    r"""Bounds on ROC and precision-recall curves and on any metric of the contingency table: paper 001.

    Parameters
    ----------
    labels, scores, class_prior, unlabelled_prior, scenario
        As for :func:`pulens.evaluate`. The tables speak of the unlabelled rows in case-control data, of all rows in
        the single-set scenario (as in the paper).
    label_noise
        Refused unless 0: every labelled row counts as a positive.
    confidence
        Of the band on the rank CDF.
    band
        ``"dkw-two-sample"`` (simultaneous, holds for the latent positives), ``"dkw"`` (simultaneous, for their
        distribution only), ``"clopper-pearson"`` or ``"bootstrap"`` (the paper's; both at each threshold by itself).
    approach
        Start from labelled ``"positives"``, from known ``"negatives"``, or take the ``"tighter"`` at each threshold.

    >>> found = bounds([1] * 3 + [0] * 8, [.9, .66, .41, .94, .83, .71, .6, .52, .35, .22, .1],
    ...     unlabelled_prior=0.375, scenario="single-set", band="dkw")
    >>> print(found.roc_auc)
    [0.200, 0.933]
    """
    check_resampling(confidence)
    if band not in BAND_NAMES:
        raise PulensError(f"there is no band {band!r}; the bands are {listed(BAND_NAMES)}.")
    if approach not in APPROACHES:
        raise PulensError(f"approach must be one of {listed(APPROACHES)}, got {approach!r}.")
    if check_label_noise(label_noise):
        raise AssumptionError(
            f"bounds hold for clean labels only, got label_noise={label_noise:g}: every labelled row counts as a "
            "positive in them. pulens.evaluate allows for noise."
        )
    evidence = gather(
        labels, scores, class_prior=class_prior, unlabelled_prior=unlabelled_prior, scenario=scenario, **reading
    )
    kinds = {"positives": ("labelled",), "negatives": ("negative",), "tighter": ("labelled", "negative")}[approach]
    for kind in kinds:
        if not getattr(evidence.tally.totals, kind):
            name = {"labelled": "labelled positives", "negative": "known negatives"}[kind]
            raise AssumptionError(f"approach={approach!r} needs {name}, and there are none among the rows.")
    return Bounds(evidence, float(confidence), band, approach)  # type: ignore[arg-type]


def _whole_numbers(low: float, high: float) -> list[float]:
    """All whole numbers between two, or as many as are tried, both ends among them."""
    count = int(high - low) + 1
    if count <= MOST_COUNTS:
        return [low + step for step in range(count)]
    return [float(number) for number in np.unique(np.rint(np.linspace(low, high, MOST_COUNTS)))]
