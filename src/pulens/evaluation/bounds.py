"""Bounds that need no estimate: what any metric can be, given a band on the ranks of the labelled positives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from pulens.answer import Answer, ShownAsText
from pulens.confidence import check_confidence
from pulens.counts.tally import Tally
from pulens.curves.bound_curves import (
    Area,
    CurveHull,
    bound_precision_recall,
    bound_roc,
    precision_areas,
    roc_areas,
)
from pulens.errors import AssumptionError, PulensError, listed, shown
from pulens.estimate import Curve, Interval
from pulens.evidence import Evidence, gather
from pulens.evidence.combinations import refuse_together
from pulens.inference.kernels.bands import BAND_NAMES
from pulens.inputs.reading import RowKeywords
from pulens.keywords import check_keywords, forwards_keywords
from pulens.metrics import find
from pulens.metrics.parts.measure import check_threshold
from pulens.priors import ClassPrior
from pulens.priors.given import GivenPrior
from pulens.recovery.bound_cells import BoundCells
from pulens.recovery.bounds import (
    Approach,
    BoundTables,
    SurrogateBands,
    bound_tables,
    counts_tried,
    latent_range_of,
    table_from_surrogates,
    whole_numbers,
)
from pulens.recovery.contingency import Contingency
from pulens.scalars import is_among
from pulens.scenario import DEFAULT_SCENARIO, Scenario
from pulens.types import Floats, RowsLike, Values

APPROACHES = ("positives", "negatives", "tighter")
TOGETHER = 1 << 18  # thresholds times numbers of latent positives worked on at once
MOST_HEIGHTS = 1 << 22  # false positive rates times curves of which the hull is taken
FEWEST_RATES = 1001
MOST_COUNTS = 257  # numbers of latent positives tried over a range of class priors, and of hits between two limits


@dataclass(frozen=True, repr=False)
class Bounds(Answer, ShownAsText):
    """Lower and upper curves, their areas, and the range of any metric at any threshold.

    The bounds hold when the band holds the rank CDF of the latent positives and the class prior lies in its range:
    nothing is estimated.
    """

    _keys = (
        *("confidence", "band", "approach", "unlabelled_prior=shares", "scenario=evidence.scenario"),
        *("target_population", "roc_auc", "average_precision"),
    )
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
        return "all rows: labelled, unlabelled and known negative"

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
    def _latent_range(self) -> tuple[float, float]:
        return latent_range_of(self.evidence.tally, self.shares, labelled_too=self._labelled_too)

    @cached_property
    def _bands(self) -> SurrogateBands:
        return SurrogateBands.of(self.evidence.tally, self.confidence, self.band, self.approach, self._latent_range)

    @cached_property
    def _tried(self) -> Floats:
        """Numbers of latent positives tried: all that the class prior allows, or as many as time allows."""
        return whole_numbers(*self._latent_range, counts_tried(len(self.evidence.tally)))

    @property
    def _by_cells(self) -> bool:
        """Whether there are too many numbers of latent positives to try, and limits on all of them are known."""
        low, high = self._latent_range
        return self._tried.size <= high - low and self.approach == "positives"

    @cached_property
    def _cells(self) -> BoundCells:
        return BoundCells(self.evidence.tally, self._bands, self._latent_range, labelled_too=self._labelled_too)

    def _some_tried(self) -> Iterator[tuple[Floats, tuple[Floats, Floats]]]:
        """A few numbers of latent positives at a time, with the true positives of both curves, one row for each."""
        tally = self.evidence.tally
        several = max(1, TOGETHER // (len(tally) + 1))
        known = np.concatenate([[0.0], np.asarray(tally.labelled, float)]) if self._labelled_too else 0.0
        for start in range(0, self._tried.size, several):
            latent = self._tried[start : start + several]
            fewest, most = self._bands.limits(latent)
            yield latent, (fewest + known, most + known)

    def _sizes(self, latent: Floats) -> tuple[Floats, Floats]:
        """Positive and negative rows that the tables are about."""
        labelled, unlabelled, negative = self.evidence.tally.totals
        if not self._labelled_too:
            return latent, unlabelled - latent
        return latent + labelled, unlabelled - latent + negative

    @cached_property
    def _called(self) -> Floats:
        """Rows predicted positive that the tables are about, at each threshold."""
        tally = self.evidence.tally
        kinds = (tally.labelled, tally.unlabelled, tally.negative) if self._labelled_too else (tally.unlabelled,)
        return np.concatenate([[0.0], np.sum([np.asarray(kind, float) for kind in kinds], axis=0)])

    def _rates(self, latent: Floats, result: Floats) -> tuple[Floats, Floats]:
        """False and true positive rates, one row for each number of latent positives."""
        positive, negative = self._sizes(latent)
        return (self._called - result) / negative[:, None], result / positive[:, None]

    @cached_property
    def roc(self) -> tuple[Curve, Curve]:
        """Lower and upper ROC curve: points sorted, true positive rates never falling.

        Over a range of class priors the lowest and the highest of the curves at each false positive rate.
        """
        if self._tried.size == 1:
            return bound_roc(self.tables.lower, "envelope"), bound_roc(self.tables.upper, "envelope")
        if self._by_cells:
            hull = CurveHull(np.linspace(0.0, 1.0, FEWEST_RATES), all_kept=False)
            hull.add_heights(*self._cells.heights(hull.rates))
            return hull.curves()
        hulls = []
        for side in (0, 1):
            rates = [self._rates(latent, curves[side]) for latent, curves in self._some_tried()]
            alarms = np.unique(np.concatenate([x.ravel() for x, _ in rates]))
            all_kept = alarms.size * self._tried.size <= MOST_HEIGHTS
            if not all_kept:
                kept = max(MOST_HEIGHTS // self._tried.size, FEWEST_RATES)
                alarms = np.unique(np.concatenate([[0.0, 1.0], np.quantile(alarms, np.linspace(0, 1, kept))]))
            hull = CurveHull(alarms, all_kept=all_kept)
            for several in rates:
                for x, y in zip(*several, strict=True):
                    hull.add(x, y)
            hulls.append(hull.curves()[side])
        return hulls[0], hulls[1]

    @cached_property
    def precision_recall(self) -> tuple[Curve, Curve]:
        """Lower and upper precision-recall curve, in the order of the ranking.

        At a given rank precision only grows with the share of positives (equation 15), whether or not the ranking
        beats chance: the lower curve takes the low end of the class prior's range, the upper curve the high end.
        """
        pair = [
            table_from_surrogates(
                self.evidence.tally, latent, self._bands.limits(latent)[which], labelled_too=self._labelled_too
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
        if not is_among(area, ("envelope", "sorted", "rank")):
            raise PulensError(f"area must be 'envelope', 'sorted' or 'rank', got {area!r}.")
        if self._by_cells and area == "envelope":
            return self._interval(*self._cells.roc_areas())
        low, high = np.inf, -np.inf
        for latent, curves in self._some_tried():
            for result in curves:  # two bands at once may cross: then the lower curve has the larger area
                areas = roc_areas(*self._rates(latent, result), area)
                low, high = min(low, float(areas.min())), max(high, float(areas.max()))
        return self._interval(low, high)

    @property
    def average_precision(self) -> Interval:
        return self._precision_area(trapezoid=False)

    @property
    def pr_auc(self) -> Interval:
        """Trapezoidal area under both precision-recall curves; the first step takes the first precision."""
        return self._precision_area(trapezoid=True)

    def _precision_area(self, *, trapezoid: bool) -> Interval:
        if self._by_cells:
            return self._interval(*self._cells.precision_areas(trapezoid=trapezoid))
        low, high = np.inf, -np.inf
        for latent, curves in self._some_tried():
            for result in curves:
                areas = precision_areas(result, self._called, self._sizes(latent)[0], trapezoid=trapezoid)
                low, high = min(low, float(areas.min())), max(high, float(areas.max()))
        return self._interval(low, high)

    def metric(self, name: str, *, threshold: float, **parameters: Any) -> Interval:
        """The range of any metric of the contingency table at a threshold.

        Every number of latent positives that the class prior allows, and for each the fewest and the most of them
        that the band allows above the threshold, with numbers between: so the metric need not be monotone.

        >>> found = bounds([1, 1, 1, 0, 0, 0, 0, 0], [.85, .65, .45, .9, .7, .5, .3, .2], class_prior=0.5)
        >>> print(found.metric("precision", threshold=0.6))
        [0.500, 0.750]
        """
        facts = find(name)
        check_keywords("metric", parameters, (*facts.parameters, "threshold"))
        if facts.reads != "threshold":
            raise PulensError(
                f"{name!r} reads the whole ranking; bounds on it are roc_auc, average_precision and pr_auc."
            )
        at = check_threshold(threshold, required_by=name)
        result: list[Floats] = []
        around = SurrogateBands.of(self._around(at), self.confidence, self.band, self.approach, self._latent_range)
        for latent in whole_numbers(*self._latent_range, MOST_COUNTS).tolist():
            low, high = (float(limit[1]) for limit in around.limits(latent))
            counts = whole_numbers(low, high, MOST_COUNTS)
            result.append(facts.compute(self._tables_with(latent, counts, at), **parameters))
        values = np.concatenate(result)
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
        share = " to ".join(f"{end:.3g}" for end in dict.fromkeys(self.shares))
        ends = {"ROC AUC": self.roc_auc, "Average precision": self.average_precision}
        totals = self.evidence.tally.totals
        rows = (
            f"all {sum(totals):,.10g} rows" if self._labelled_too else f"the {totals.unlabelled:,.10g} unlabelled rows"
        )
        return "\n".join(
            [
                f"{self.confidence:.0%} bounds from ranks: labels random, {share} of the unlabelled rows positive",
                *(f"  {name:<20}{area.low:>6.3f} to {area.high:.3f}" for name, area in ends.items()),
                f"population  {rows}",
            ]
        )


@forwards_keywords(gather)
def bounds(
    labels: RowsLike,
    scores: Values | None = None,
    *,
    class_prior: GivenPrior | ClassPrior | None = None,
    unlabelled_prior: GivenPrior | None = None,
    label_noise: float = 0.0,
    scenario: str = DEFAULT_SCENARIO,
    confidence: float = 0.95,
    band: str = "dkw-two-sample",
    approach: str = "positives",
    **reading: Unpack[RowKeywords],
) -> Bounds:
    r"""Bounds on ROC and precision-recall curves and on any metric of the contingency table: Claesen et al..

    Parameters
    ----------
    labels, scores, class_prior, unlabelled_prior, scenario
        As for :func:`pulens.evaluate`. The tables are about the unlabelled rows in case-control data, of all rows in
        the single-set scenario (as in the paper).
    score, label, positive, negative, unlabelled, cluster
        Columns of a table, and what its label values mean, as in :func:`pulens.evaluate`.
    label_noise
        Refused unless 0: every labelled row counts as a positive.
    confidence
        Of the band on the rank CDF.
    band
        ``"dkw-two-sample"`` (simultaneous, holds for the latent positives), ``"dkw"`` (simultaneous, for their
        distribution only), ``"clopper-pearson"`` or ``"bootstrap"`` (the paper's; both at each threshold by itself).
    approach
        Start from labelled ``"positives"``, from known ``"negatives"``, or take the ``"tighter"`` at each threshold.

    Returns
    -------
    Bounds
        Bounds on the curves, on their areas, and on any metric at a threshold.

    Examples
    --------
    >>> found = bounds([1] * 3 + [0] * 8, [.9, .66, .41, .94, .83, .71, .6, .52, .35, .22, .1],
    ...     unlabelled_prior=0.375, scenario="single-set", band="dkw")
    >>> print(found.roc_auc)
    [0.200, 0.933]

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> print(bounds(table, score="risk_v2", label="outcome", positive="fraud", class_prior=0.2).roc_auc)
    [0.775, 0.983]
    """
    confidence = check_confidence(confidence)
    if not is_among(band, BAND_NAMES):
        raise PulensError(f"there is no band {shown(band)}; the bands are {listed(BAND_NAMES)}.")
    if not is_among(approach, APPROACHES):
        raise PulensError(f"approach must be one of {listed(APPROACHES)}, got {shown(approach)}.")
    assumed = {"class_prior": class_prior, "unlabelled_prior": unlabelled_prior, "scenario": scenario}
    evidence = gather(labels, scores, label_noise=label_noise, **assumed, **reading)
    if evidence.label_noise:
        raise AssumptionError(
            f"bounds hold for clean labels only, got label_noise={evidence.label_noise:g}: every labelled row counts "
            "as a positive in them. pulens.evaluate allows for noise."
        )
    if evidence.buckets is not None:
        refuse_together("clusters-bounds")
    kinds = {"positives": ("labelled",), "negatives": ("negative",), "tighter": ("labelled", "negative")}[approach]
    for kind in kinds:
        if not getattr(evidence.tally.totals, kind):
            name = {"labelled": "labelled positives", "negative": "known negatives"}[kind]
            raise AssumptionError(f"approach={approach!r} needs {name}, and there are none among the rows.")
    result = Bounds(evidence, confidence, band, approach)  # type: ignore[arg-type]
    latent_range_of(evidence.tally, result.shares, labelled_too=result._labelled_too)  # refuses rows of one class only
    return result
