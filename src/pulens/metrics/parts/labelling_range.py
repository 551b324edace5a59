r"""Ranges of metrics when labelling may favour some scores: the extremes over all labellings, and their own errors.

Each end is a smooth function of the counts, but for the corner at which it stands, and by the envelope theorem a corner
may be held while the counts move. With g the labelled shares, :math:`f = g h` the positives' shares at the end,
v the end's derivative for f, c the least h allowed and :math:`\nu` the end's derivative for c, a labelled row
adds :math:`h(v - \sum f v + c\nu)`: the multiplier of :math:`\sum g h = 1` is the sum without the floor's part, since
all other conditions hold for any multiple of h. What other rows add through the ranking is that of each metric; how
many rows are labelled, in one sample, and the class prior are moved a little with f held.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pulens.counts.tally import Tally, Totals
from pulens.evidence import Evidence
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.inference.kernels.redraws import compress
from pulens.priors.class_prior import ClassPrior
from pulens.recovery import Recovery
from pulens.recovery.contingency import Contingency
from pulens.recovery.labelling import (
    Extreme,
    Favours,
    mean_range,
    precision_gradient,
    precision_sum,
    precision_sum_range,
    rate_range,
)
from pulens.recovery.many import priors_in_redraws
from pulens.scenario import Scenario
from pulens.types import Floats

RATES_TRIED = 257  # true positive rates between the extremes, for metrics that need not be monotone
STEP = 1e-4  # of a rate, for derivatives
WITHOUT_ERRORS = (math.nan, math.nan, math.nan)


class Favoured(NamedTuple):
    """A metric, at a threshold unless it is of the ranking, where labels favour one side's scores up to a factor."""

    metric: Any
    factor: float
    favours: Favours
    threshold: float | None
    parameters: Mapping[str, Any]


class LabellingRange(NamedTuple):
    """A metric's lowest and highest value over all labellings, their standard errors, and that under random labels."""

    low: float
    high: float
    low_error: float
    high_error: float
    error: float


def negative_rate(
    evidence: Evidence, recovery: Recovery, hits: Any, labelled: Any, unlabelled: Any, refuted: Any
) -> Any:
    r"""False positive rate when the true positive rate is ``hits`` instead of the labelled one.

    Case-control: :math:`\eta_{pu} = \alpha\gamma + (1-\alpha)\eta`. Single set: what is predicted positive less the
    positives among it. Known negatives are averaged in as the recovery does.
    """
    totals = evidence.tally.totals
    if evidence.recovery_scenario is Scenario.SINGLE_SET:
        called = totals.labelled * labelled + totals.unlabelled * unlabelled + totals.negative * refuted
        return (called - recovery.positive * hits) / recovery.negative
    on_labelled, on_unlabelled, on_negative = recovery.false_positive_rate
    return on_labelled * hits + on_unlabelled * unlabelled + on_negative * refuted


def floor_of(evidence: Evidence) -> float:
    """The least h that labelled rows allow: the label frequency, where they are among the positives; otherwise 0."""
    if evidence.recovery_scenario is not Scenario.SINGLE_SET or evidence.recovery.positive <= 0:
        return 0.0
    return min(evidence.tally.totals.labelled / evidence.recovery.positive, 1.0)


# --- how much an end varies -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moves:
    """What varies besides the ranking of each kind of row: how many are labelled, and the class prior."""

    evidence: Evidence

    @cached_property
    def _labelled(self) -> tuple[Evidence, Evidence] | None:
        """One standard error more labelled rows in one sample, and as many fewer."""
        evidence, totals = self.evidence, self.evidence.tally.totals
        if evidence.recovery_scenario is not Scenario.SINGLE_SET or not totals.unlabelled:
            return None
        rows = totals.labelled + totals.unlabelled
        spread = math.sqrt(totals.labelled * totals.unlabelled / rows)
        spread = min(spread, totals.labelled / 2, totals.unlabelled / 2)
        return self._with_labelled(spread), self._with_labelled(-spread)

    def _with_labelled(self, more: float) -> Evidence:
        evidence, totals = self.evidence, self.evidence.tally.totals
        prior = evidence.class_prior
        moved = Totals(totals.labelled + more, totals.unlabelled - more, totals.negative)
        share = priors_in_redraws(
            prior.unlabelled,
            totals,
            moved,
            evidence.label_noise,
            held=evidence.prior_held,
            scenario=evidence.scenario,
            elsewhere=0.0 if prior.implied is None else prior.implied.elsewhere,
        )
        return _at(replace(evidence, tally=_scaled(evidence.tally, moved)), float(share[0]))

    @cached_property
    def _prior(self) -> tuple[Evidence, Evidence] | None:
        """A class prior one standard error higher, and one lower."""
        prior, reach = self.evidence.class_prior, self.evidence.class_prior.drawn_interval
        if reach is None or reach.confidence is None or not reach.width:
            return None
        spread = reach.width / (2 * normal_quantile(reach.confidence))
        high, low = min(prior.unlabelled + spread, 1 - STEP), max(prior.unlabelled - spread, 0.0)
        return _at(self.evidence, high), _at(self.evidence, low)

    def variance(self, value: Callable[[Evidence], float]) -> float:
        """Of ``value``, an end as a function of the evidence at a held corner."""
        pairs = [pair for pair in (self._labelled, self._prior) if pair is not None]
        result = [(value(more) - value(less)) / 2 for more, less in pairs]
        return sum(each**2 for each in result if math.isfinite(each))


def _at(evidence: Evidence, share: float) -> Evidence:
    return replace(evidence, class_prior=ClassPrior(share, share, "tried"))


def _scaled(tally: Tally, totals: Totals) -> Tally:
    """The same ranking of each kind of row, with other numbers of rows."""
    kinds = zip((tally.labelled, tally.unlabelled, tally.negative), tally.totals, totals, strict=True)
    return Tally(tally.thresholds, *(np.asarray(kind, float) * (new / old if old else 1.0) for kind, old, new in kinds))


def _spread(shares: Floats, values: Floats, total: float) -> float:
    """Variance of a mean of ``values`` over this many rows with these shares."""
    if not total:
        return 0.0
    mean = float(shares @ values)
    return float(shares @ (values - mean) ** 2) / total


# --- at a threshold ---------------------------------------------------------------------------------------------------


def range_at_threshold(evidence: Evidence, asked: Favoured, *, errors: bool = True) -> LabellingRange:
    """Any metric of the contingency table: with the true positive rate the whole table is given."""
    assert asked.threshold is not None
    totals, factor = evidence.tally.totals, asked.factor
    counted = zip(evidence.tally.at(asked.threshold), totals, strict=True)
    rates = [hits / total if total else 0.0 for hits, total in counted]

    def ends(of: Evidence, seen: list[float], up_to: float) -> tuple[float, float]:
        return _ends_at(of, asked._replace(factor=up_to), seen)

    low, high = ends(evidence, rates, factor)
    if not errors:
        return LabellingRange(low, high, *WITHOUT_ERRORS)
    result = []
    for index, up_to in ((0, factor), (1, factor), (0, 1.0)):
        variance = Moves(evidence).variance(lambda of, index=index, up_to=up_to: ends(of, rates, up_to)[index])  # type: ignore[misc]
        for kind, (rate, total) in enumerate(zip(rates, totals, strict=True)):
            if not total:
                continue
            tried = [min(rate + STEP, 1.0), max(rate - STEP, 0.0)]
            more, less = (ends(evidence, [*rates[:kind], one, *rates[kind + 1 :]], up_to)[index] for one in tried)
            smoothed = (rate * total + 0.5) / (total + 1)
            slope = (more - less) / (tried[0] - tried[1])
            variance += slope**2 * smoothed * (1 - smoothed) / total if math.isfinite(slope) else 0.0
        result.append(math.sqrt(variance))
    return LabellingRange(low, high, *result)


def _ends_at(evidence: Evidence, asked: Favoured, rates: list[float]) -> tuple[float, float]:
    recovery, (labelled, unlabelled, refuted) = evidence.recovery, rates
    low, high = rate_range(np.array(labelled), asked.factor, asked.favours, floor=floor_of(evidence))
    # positives that do not fit among the rows predicted positive, or among the others, are no possibility;
    # the false positive rate falls with the true one, in a straight line
    none, all_ = (negative_rate(evidence, recovery, rate, labelled, unlabelled, refuted) for rate in (0.0, 1.0))
    ends = [float(low), float(high)]
    if none > all_:
        fits = ((none - 1.0) / (none - all_), none / (none - all_))
        inside = max(ends[0], fits[0]), min(ends[1], fits[1])
        ends = list(inside) if inside[0] <= inside[1] else ends
    hits = np.linspace(ends[0], ends[1], RATES_TRIED if ends[1] > ends[0] else 1)
    alarms = negative_rate(evidence, recovery, hits, labelled, unlabelled, refuted)
    table = Contingency(np.full(hits.size, asked.threshold), hits, alarms, recovery.positive, recovery.negative)
    values = np.asarray(asked.metric.compute(table, **asked.parameters), float)
    if np.isnan(values).all():
        return math.nan, math.nan
    return float(np.nanmin(values)), float(np.nanmax(values))


# --- of the ranking ---------------------------------------------------------------------------------------------------


def shares_at_or_above(evidence: Evidence, tally: Tally) -> tuple[Floats, Floats, Floats]:
    """Shares of labelled, unlabelled and known negative rows at or above each score."""
    return tuple(  # type: ignore[return-value]
        np.asarray(kind, float) / total if total else np.zeros(len(tally))
        for kind, total in zip((tally.labelled, tally.unlabelled, tally.negative), evidence.tally.totals, strict=True)
    )


def _error(
    evidence: Evidence,
    shares: list[Floats],
    result: Extreme,
    slope: Floats,
    others: list[Floats],
    held: Callable[[Evidence], float],
) -> float:
    """The standard error of an end: ``others`` hold what a row of each kind adds through the ranking of the list."""
    heights = np.divide(result.density, shares[0], out=np.zeros(slope.size), where=shares[0] > 0)
    floor = floor_of(evidence)
    own = heights * (slope - float(result.density @ slope) + floor * result.floor_slope)
    totals = evidence.tally.totals
    variance = _spread(shares[0], own + others[0], totals.labelled)
    variance += sum(_spread(*each) for each in zip(shares[1:], others[1:], totals[1:], strict=True))
    variance += Moves(evidence).variance(lambda of: held(of) + result.floor_slope * (floor_of(of) - floor))
    return math.sqrt(variance)


def range_of_area(
    evidence: Evidence, factor: float, favours: Favours, known: float, *, errors: bool = True
) -> LabellingRange:
    r"""ROC AUC is linear in the positives' density: :math:`\sum_s f_1(s) B(s) + c`, whatever is ``known`` of it.

    Negatives are the population less the positives in it, and positives against themselves give one half. In the
    single set no labelling goes beyond the hidden positives being the lowest, or the highest, unlabelled rows.
    """
    values, constant, weights = outscored_by(evidence)
    shares = [np.diff(rate, prepend=0.0) for rate in shares_at_or_above(evidence, evidence.tally)]
    ends = mean_range(shares[0], values, factor, favours, floor=floor_of(evidence))
    random = Extreme(0.0, shares[0], 0.0)

    def error(result: Extreme) -> float:
        above = np.cumsum(result.density) - result.density / 2

        def held(of: Evidence) -> float:
            its_values, its_constant, _ = outscored_by(of)
            return float(result.density @ its_values) + its_constant

        return _error(evidence, shares, result, values, [weight * above for weight in weights], held)

    low, high = (each.value + constant for each in ends)
    least, most = of_placings(evidence, values, constant)
    spread = (error(each) for each in (*ends, random)) if errors else WITHOUT_ERRORS
    return LabellingRange(max(low, least), min(high, most), *spread)


def of_placings(evidence: Evidence, values: Floats, constant: float) -> tuple[float, float]:
    """The area with all hidden positives at the end of the unlabelled rows, and at their head; ``values`` and
    ``constant`` are those of :func:`outscored_by`."""
    share, floor = evidence.class_prior.unlabelled, floor_of(evidence)
    if not floor or not share:
        return -math.inf, math.inf
    labelled, unlabelled, _ = (np.diff(rate, prepend=0.0) for rate in shares_at_or_above(evidence, evidence.tally))
    above = np.minimum(np.cumsum(unlabelled) / share, 1.0)
    below = np.minimum(np.cumsum(unlabelled[::-1]) / share, 1.0)
    first, last = np.diff(above, prepend=0.0), np.diff(below, prepend=0.0)[::-1]
    known = floor * float(labelled @ values) + constant
    return known + (1 - floor) * float(last @ values), known + (1 - floor) * float(first @ values)


def outscored_by(evidence: Evidence) -> tuple[Floats, float, tuple[float, float, float]]:
    """What a positive at each score adds to the ROC AUC, what positives against themselves take away, and how much
    of it comes from labelled, unlabelled and known negative rows."""
    recovery, tally, totals = evidence.recovery, evidence.tally, evidence.tally.totals
    rates = shares_at_or_above(evidence, tally)
    if evidence.recovery_scenario is Scenario.SINGLE_SET:
        weights = tuple(total / recovery.negative for total in totals)
        constant = -0.5 * recovery.positive / recovery.negative
    else:
        on_labelled, *others = recovery.false_positive_rate
        weights, constant = (0.0, *others), 0.5 * on_labelled
    outscored = [1.0 - (rate - np.diff(rate, prepend=0.0) / 2) for rate in rates]
    values = sum(weight * part for weight, part in zip(weights, outscored, strict=True))
    return np.asarray(values), constant, weights  # type: ignore[return-value]


def range_of_average_precision(
    evidence: Evidence, factor: float, favours: Favours, known: float, *, errors: bool = True
) -> LabellingRange:
    """Change of average precision from labelling at random, added to its value (which cuts precisions at 1)."""
    tally = compress(evidence.tally)
    if evidence.recovery.class_prior == 0:  # no positive to find, and perhaps no row at the scores of the labelled ones
        return LabellingRange(known, known, 0.0, 0.0, 0.0)
    rates = shares_at_or_above(evidence, tally)
    shares = [np.diff(rate, prepend=0.0) for rate in rates]
    kept = shares[0] > 0
    prior, called = evidence.recovery.class_prior, _called(evidence, rates, kept)
    ends = precision_sum_range(shares[0][kept], called, factor, favours, floor=floor_of(evidence))
    now = precision_sum(shares[0][kept], called)
    weights = _called_weights(evidence)

    def error(result: Extreme) -> float:
        density = np.zeros(kept.size)
        density[kept] = result.density
        slope, lost = np.zeros(kept.size), np.zeros(kept.size)
        slope[kept] = prior * precision_gradient(result.density, called)
        lost[kept] = prior * result.density * np.cumsum(result.density) / called**2
        through = -np.cumsum(lost[::-1])[::-1]  # what one more row at or above these scores takes away
        placed = Extreme(result.value, density, prior * result.floor_slope)

        def held(of: Evidence) -> float:
            return of.recovery.class_prior * precision_sum(result.density, _called(of, rates, kept))

        return _error(evidence, shares, placed, slope, [weight * through for weight in weights], held)

    low, high = (known + prior * (each.value - now) for each in ends)
    random = Extreme(now, shares[0][kept], 0.0)
    spread = (error(each) for each in (*ends, random)) if errors else WITHOUT_ERRORS
    return LabellingRange(low, high, *spread)


def _called_weights(evidence: Evidence) -> tuple[float, float, float]:
    """What share of the population each kind of row is."""
    totals = evidence.tally.totals
    if evidence.recovery_scenario is not Scenario.SINGLE_SET:
        return 0.0, 1.0, 0.0
    return totals.labelled / totals.rows, totals.unlabelled / totals.rows, totals.negative / totals.rows


def _called(evidence: Evidence, rates: tuple[Floats, Floats, Floats], kept: Any) -> Floats:
    """Share of the population at or above the scores of labelled rows.

    A precision cannot pass 1: where fewer rows are called than positives would be found, those rows count.
    """
    called = sum(weight * rate for weight, rate in zip(_called_weights(evidence), rates, strict=True))
    called = np.maximum(called, evidence.recovery.class_prior * rates[0])
    return np.asarray(np.maximum.accumulate(called[kept]))
