"""Estimates where random labels are impossible: the nearest possible world, and the range over worlds near it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.answer import Answer
from pulens.cached import cached_method
from pulens.errors import PulensError, shown
from pulens.estimate import Estimate, Interval
from pulens.evidence import Evidence
from pulens.inference.clustered import inflation_at
from pulens.inference.kernels.quantiles import jeffreys_quantiles
from pulens.inference.kernels.redraws import compress
from pulens.inference.prior_uncertainty import PriorUncertainty
from pulens.metrics.parts.labelling_range import Favoured, floor_of, negative_rate, of_placings, outscored_by
from pulens.metrics.parts.metric import Metric
from pulens.notice import Notice, Severity
from pulens.priors import ClassPrior, population_prior
from pulens.recovery.contingency import Contingency
from pulens.recovery.feasibility import (
    CHANCE_LIMIT,
    ImpossibleRates,
    impossible_rates,
    largest_possible_prior,
    prior_explains,
)
from pulens.recovery.labelling import Favours, precision_gradient, precision_sum, rate_range
from pulens.recovery.possible_worlds import SLACK, PossibleWorlds, blocks_of, positives_that_fit
from pulens.scalars import real
from pulens.scenario import Scenario
from pulens.types import Floats

DEFAULT_MULTIPLE = 3.0  # of the least factor: a convention, see docs/research/sensitivity.md
NARROWEST = 1e-3  # a number that was cut at the edge of what is possible is not known better than this
MOST_WORLDS = 1_000_000  # times the least factor: beyond, a range holds all that anything could be
RATES_TRIED = 257
FINE = 2048  # thresholds at which average precision is summed
STEPS = 25  # of the Frank-Wolfe method; what is left of its gap is taken off
TOLERANCE = 1e-3


class Range(NamedTuple):
    """A metric in the nearest possible world, and its extremes over the worlds up to the factor."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Labelling(Answer):
    """What random labels cannot explain: by how much, and what would."""

    standard_errors: float
    least_factor: float | None  # None: no preference by score explains it
    factor: float | None
    favours: Favours | None
    largest_possible_prior: float


def check_multiple(worlds: object) -> float:
    """How many times the least factor the worlds in a range may have."""
    number = real(worlds)
    if not 1 <= number <= MOST_WORLDS:
        raise PulensError(
            f"worlds must be a number of at least 1, got {shown(worlds)}; the largest is {MOST_WORLDS:,}. Where random "
            "labels are impossible, ranges cover labelling with up to this many times the least possible preference in "
            "labelling; the default is 3."
        )
    return number


def at_least_so_wide(interval: Interval, metric: Metric) -> Interval:
    """The interval, widened to :data:`NARROWEST` within what the metric can be."""
    if interval.width >= NARROWEST:
        return interval
    high = min(interval.high + (NARROWEST - interval.width) / 2, metric.highest)
    low = max(high - NARROWEST, metric.lowest)
    return replace(interval, low=min(low, interval.low), high=max(high, low + NARROWEST))


def impossible_rates_of(evidence: Evidence) -> ImpossibleRates:
    """Recovered rates outside [0, 1], and whether chance explains them.

    Standard errors allow for rows that belong together. A class prior that is in doubt may be what chance moved: one
    given as a range is tried at its lower end, any other over its distribution.
    """
    result = impossible_rates(evidence.tally, evidence.assumptions)
    times = _inflation(evidence, result)
    result = replace(result, standard_errors=result.standard_errors / times)
    if result.standard_errors < CHANCE_LIMIT:
        return result
    # all of its doubt: also what redraws of a segment's rows would bring along
    doubt = PriorUncertainty(replace(evidence, class_prior=replace(evidence.class_prior, implied=None)))
    spread = _error_of_share(evidence)
    if doubt.treatment == "exact" and not spread:
        return result
    shares = doubt.lowest_first(spread)
    tried = [evidence.assumptions_at(share) for share in shares]
    return replace(result, prior_explains=prior_explains(evidence.tally, tried, inflation=times))


def _error_of_share(evidence: Evidence) -> float:
    r"""How far chance moves the share among the unlabelled rows that follows from the class prior of the population.

    In one sample :math:`\alpha = (\pi n - n_L)/n_U`, and how many rows are labelled is chance.
    """
    totals = evidence.tally.totals
    if evidence.recovery_scenario is not Scenario.SINGLE_SET or evidence.prior_held != "population":
        return 0.0
    labelled = totals.labelled / totals.rows
    rest = 1 - evidence.class_prior.unlabelled
    return rest * math.sqrt(totals.rows * labelled * (1 - labelled)) / totals.unlabelled


def _inflation(evidence: Evidence, result: ImpossibleRates) -> float:
    if evidence.buckets is None or not result.thresholds:
        return 1.0
    return inflation_at(evidence, result.worst_threshold, result.rate)


def find_contradiction(evidence: Evidence, multiple: float = DEFAULT_MULTIPLE) -> Contradiction | None:
    """Where recovered rates leave [0, 1] by more than chance: what is possible instead; otherwise ``None``."""
    totals, prior = evidence.tally.totals, evidence.class_prior
    if not totals.labelled or not totals.unlabelled or not prior.unlabelled:
        return None
    result = impossible_rates_of(evidence)
    return None if result.is_chance else Contradiction(evidence, multiple, result)


def within_what_is_possible(evidence: Evidence) -> Evidence:
    """A class prior given as a range, cut to the part that random labels allow, if any."""
    prior, tally = evidence.class_prior, evidence.tally
    reach = prior.unlabelled_interval
    if reach is None or reach.confidence is not None or not reach.width or not tally.totals.labelled:
        return evidence
    if not tally.totals.unlabelled:
        return evidence
    at_high, at_low = (impossible_rates(tally, evidence.assumptions_at(end)) for end in (reach.high, reach.low))
    times = _inflation(evidence, at_high)
    if at_high.standard_errors < CHANCE_LIMIT * times or at_low.standard_errors >= CHANCE_LIMIT * times:
        return evidence
    ends = reach.low, reach.high
    top = largest_possible_prior(tally, evidence.label_noise, evidence.scenario, between=ends, inflation=times)

    def population(share: float) -> float:
        return population_prior(share, tally.totals, evidence.scenario, evidence.label_noise)

    low, high, given = population(reach.low), population(top), population(reach.high)
    notice = Notice(
        Severity.WARNING,
        "prior-range-cut",
        f"The class prior was given as {low:.4g} to {given:.4g}, and random labels allow {high:.4g} at most: the part "
        "above that was left out. If it can be higher, labels are not a random draw; checking random unlabelled "
        "rows (an audit) shows which.",
    )
    cut = replace(
        prior,
        value=(low + high) / 2,
        unlabelled=(reach.low + top) / 2,
        method=f"{prior.method}, cut to what random labels allow",
        interval=None if prior.interval is None else replace(prior.interval, low=low, high=high),
        unlabelled_interval=replace(reach, high=top),
        notices=(*prior.notices, notice),
    )
    return replace(evidence, class_prior=cut)


def lowest_possible_prior(evidences: Iterable[Evidence]) -> Evidence:
    """Of several scores of the same rows, the evidence with the lowest class prior, cut as each score alone cuts it.

    A class prior belongs to the rows, not to a score: what one of them rules out is ruled out for all.
    """
    return min(map(within_what_is_possible, evidences), key=lambda result: result.class_prior.unlabelled)


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Evidence that no random labels can have given, and the worlds that can."""

    evidence: Evidence
    multiple: float
    impossible: ImpossibleRates

    @cached_property
    def labelling(self) -> Labelling:
        evidence = self.evidence
        times = _inflation(evidence, self.impossible)
        top = largest_possible_prior(evidence.tally, evidence.label_noise, evidence.scenario, inflation=times)
        highest = population_prior(top, evidence.tally.totals, evidence.scenario, evidence.label_noise)
        result = None if evidence.label_noise else self._at_value(None)
        errors = self.impossible.standard_errors
        if result is None:
            return Labelling(errors, None, None, None, highest)
        return Labelling(errors, result.worlds.least_factor, result.factor, result.worlds.favours, highest)

    def table(self, threshold: float) -> Contingency | None:
        """The contingency table of the nearest possible world."""
        result = None if self.evidence.label_noise else self._at_value(threshold)
        return None if result is None else result.table(threshold)

    def estimate(
        self, name: str, metric: Metric, threshold: float | None, parameters: dict[str, Any]
    ) -> Estimate | None:
        """The metric in the nearest possible world with its range; ``None`` if it does not need random labels."""
        if metric.ignores_class_prior or metric.counted:
            return None
        at = threshold if metric.needs_threshold else None
        own = metric.other_labelling if metric.is_as_declared(parameters) else None
        known = None if own is None else own.in_worlds

        def undefined(reason: str) -> Estimate:
            return Estimate(name, math.nan, undefined_because=reason, threshold=at, basis="possible worlds")

        # a ranking is cut nowhere but where rates are worst, whichever threshold is asked about next to it
        reason = self._why_unknown(at, has_way=metric.reads == "threshold" or known is not None)
        if reason is not None:
            return undefined(reason)
        worlds = self._all(at)
        hull = [known(each) if known else each.at_threshold(metric, at, parameters) for each in worlds]
        value = min(max(hull[0].value, metric.lowest), metric.highest)
        if math.isnan(hull[0].value):
            return undefined(metric.undefined_because or "it is 0/0")
        ends = [min(max(end, metric.lowest), metric.highest) for one in hull for end in one if not math.isnan(end)]
        interval = Interval(min(ends), max(ends), None, worlds[0].words)
        return Estimate(name, value, at_least_so_wide(interval, metric), threshold=at, basis="possible worlds")

    def _why_unknown(self, threshold: float | None, *, has_way: bool) -> str | None:
        """Why a number has no value in possible worlds; ``has_way`` says whether there is a way to find it in one."""
        if self.evidence.label_noise:
            return (
                f"{self._cannot_be()}, and with label noise it is not known what is possible; an audit of "
                "random unlabelled rows, or clean labels, would"
            )
        if not has_way:
            return (
                f"{self._cannot_be()}, and the range of this number under other labelling is not known; an audit "
                "of random unlabelled rows would give a class prior that fits"
            )
        if self._at_value(threshold) is None:
            return (
                f"a class prior of {self.evidence.class_prior.value:.3g} is impossible for these rows whichever scores "
                f"were favoured (random labels allow {self.labelling.largest_possible_prior:.3g} at most); an audit of "
                "random unlabelled rows would give one that fits"
            )
        return None

    def range_up_to(self, asked: Favoured, *, slack: float = SLACK, priors: int = 0) -> Range | None:
        """The metric over all worlds up to a given factor; ``None``: there is none.

        At the class prior's value, or with ``priors`` over this many shares of its interval too: chance may have moved
        it to where no world is. Without ``slack`` at the one of them nearest to the value that has a world.
        """
        metric, factor, favours, threshold, parameters = asked
        result = []
        for share in self._shares(priors):
            worlds = self._one_side(favours, threshold, share).worlds
            if worlds.is_empty or worlds.least_factor > factor * (1 + 1e-9):
                continue
            worst, evidence = self.impossible.worst_threshold, self._with_prior(share)
            each = WorldsAt(evidence, threshold, worst, self.multiple, (favours,), factor, worlds, slack)
            own = metric.other_labelling
            result.append(each.at_threshold(metric, threshold, parameters) if own is None else own.in_worlds(each))
            if not slack:
                break
        if not result:
            return None
        return Range(result[0].value, min(each.low for each in result), max(each.high for each in result))

    def _shares(self, many: int) -> list[float]:
        """The share of positives at the class prior's value, and this many over its interval, the nearest first."""
        prior = self.evidence.class_prior
        value, reach = prior.unlabelled, prior.unlabelled_interval
        others = [] if reach is None else np.linspace(reach.low, reach.high, many).tolist()
        shares = dict.fromkeys([value, *sorted(others, key=lambda share: abs(share - value))])
        return [share for share in shares if 0 < share < 1]

    def least_factor(self, favours: Favours, threshold: float | None) -> float:
        """The least factor with labels that favour one side, at the class prior's value; infinite: none will do."""
        worlds = self._one_side(favours, threshold, self.evidence.class_prior.unlabelled).worlds
        return math.inf if worlds.is_empty else worlds.least_factor

    @cached_method()
    def _one_side(self, favours: Favours, threshold: float | None, share: float) -> WorldsAt:
        worst = self.impossible.worst_threshold
        return WorldsAt(self._with_prior(share), threshold, worst, self.multiple, (favours,))

    def _cannot_be(self) -> str:
        return f"with a class prior of {self.evidence.class_prior.value:.3g} labels cannot be a random draw"

    @cached_method()
    def _all(self, threshold: float | None) -> list[WorldsAt]:
        """Worlds at the class prior's value and, if it has an interval, at the ends; empty if there is none at it."""
        prior, worst = self.evidence.class_prior, self.impossible.worst_threshold
        result = []
        for share in self._shares(2):
            each = WorldsAt(self._with_prior(share), threshold, worst, self.multiple)
            if not each.worlds.is_empty:
                result.append(each)
            elif share == prior.unlabelled:
                break
        return result

    def _at_value(self, threshold: float | None) -> WorldsAt | None:
        return next(iter(self._all(threshold)), None)

    def _with_prior(self, share: float) -> Evidence:
        if share == self.evidence.class_prior.unlabelled:
            return self.evidence
        population = population_prior(share, self.evidence.tally.totals, self.evidence.scenario)
        return replace(self.evidence, class_prior=ClassPrior(population, share, "tried"))


@dataclass(frozen=True, eq=False)
class WorldsAt:
    """The possible worlds at one class prior, cut at a threshold that is asked for and where rates are worst."""

    evidence: Evidence
    threshold: float | None
    worst: float
    multiple: float
    directions: tuple[Favours, ...] = ("high", "low")
    asked: float | None = None  # a factor other than the multiple of the least one
    known: PossibleWorlds | None = None  # the worlds, where they were found before
    slack: float = SLACK  # standard errors by which ends are moved outwards; without any they stop at what rows prove

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        keep = (self.worst,) if self.threshold is None else (self.worst, self.threshold)
        return blocks_of(self.evidence.tally, keep)

    @cached_property
    def worlds(self) -> PossibleWorlds:
        """High scores favoured, or low ones where that cannot be."""
        if self.known is not None:
            return self.known
        tally, totals = self.evidence.tally, self.evidence.tally.totals
        labelled, unlabelled = (
            np.asarray(kind, float)[self._places] / total
            for kind, total in ((tally.labelled, totals.labelled), (tally.unlabelled, totals.unlabelled))
        )
        low, high = self._room(labelled, unlabelled)
        shares, floor = np.diff(labelled, prepend=0.0), floor_of(self.evidence)
        result = [PossibleWorlds(shares, low, high, side, floor) for side in self.directions]
        return next((one for one in result if not one.is_empty), result[0])

    def _room(self, labelled: Floats, unlabelled: Floats, slack: float = SLACK) -> tuple[Floats, Floats]:
        """Fewest and most positives at or above the cuts at which these shares of rows stand."""
        totals, prior = self.evidence.tally.totals, self.evidence.class_prior.unlabelled
        together = self.evidence.recovery_scenario is Scenario.SINGLE_SET
        error = _error_of_share(self.evidence)
        return positives_that_fit(
            labelled, unlabelled, totals, prior, together=together, slack=slack, share_error=error
        )

    def _share_unlabelled(self, threshold: float) -> Floats:
        tally = self.evidence.tally
        return np.array([tally.at(threshold).unlabelled / tally.totals.unlabelled, 1.0])

    @property
    def factor(self) -> float:
        return self.multiple * self.worlds.least_factor if self.asked is None else self.asked

    @property
    def words(self) -> str:
        return f"worlds in which {self.worlds.favours} scores were labelled up to {self.factor:.3g} times as often"

    # --- at a threshold ------------------------------------------------------------------------------------------

    @cached_method()
    def recall(self, threshold: float) -> Range:
        """Share of positives at or above the threshold; the ends are moved outwards by two standard errors."""
        worlds, tally = self.worlds, self.evidence.tally
        flagged = np.asarray(tally.thresholds[self._places], float) >= threshold
        value = float(worlds.nearest[flagged].sum())
        low, high = (float(world[flagged].sum()) for world in worlds.extremes(flagged.astype(float), self.factor))
        hits, total = tally.at(threshold).labelled, tally.totals.labelled
        below, above = self._beyond_labelled(hits), self._beyond_labelled(total - hits)
        least, most = low - below, high + above
        ends = _plausible(hits, total, self.slack)
        rate = hits / total
        if 0 < rate < 1:
            # a step in labelling multiplies the odds of recall, whatever the labelled rate: so it moves as they do
            low, high = (
                _with_odds(end, _odds(moved) / _odds(rate)) for end, moved in zip((low, high), ends, strict=True)
            )
        else:
            low = min(low, float(rate_range(np.array(ends[0]), self.factor, worlds.favours, floor=worlds.floor)[0]))
            high = max(high, float(rate_range(np.array(ends[1]), self.factor, worlds.favours, floor=worlds.floor)[1]))
        if flagged.any():  # room for positives is known with its own slack, which need not be added twice
            last = int(np.flatnonzero(flagged)[-1])
            if 0 < rate < 1:
                low, high = max(low, float(worlds.low[last]) - below), min(high, float(worlds.high[last]) + above)
        # an end that the labelled rows alone make up varies with their number
        low = min(low, least) if least + below <= hits / self.evidence.recovery.positive + 1e-6 else low
        high = max(high, most) if 1 - most + above <= (total - hits) / self.evidence.recovery.positive + 1e-6 else high
        if not self.slack:
            room = self._room(np.array([hits, total]) / total, self._share_unlabelled(threshold), slack=0.0)
            low, high = max(low, float(room[0][0])), min(high, float(room[1][0]))
        value = min(max(value, 0.0), 1.0)
        return Range(value, min(low, value), max(high, value))

    def _beyond_labelled(self, rows: float) -> float:
        """How far chance reaches beyond the share of the positives that this many labelled rows are, in one sample."""
        evidence = self.evidence
        if evidence.recovery_scenario is not Scenario.SINGLE_SET:
            return 0.0
        seen = rows / evidence.tally.totals.rows
        return self.slack * math.sqrt(seen * (1 - seen) / evidence.tally.totals.rows) / evidence.recovery.class_prior

    def _tables(self, threshold: float, hits: Any, ends: int | None = None) -> Contingency:
        """Tables with these true positive rates; the shares flagged as observed, or at one end of what they can be."""
        recovery = self.evidence.recovery
        hits = np.asarray(hits, float)
        alarms = negative_rate(self.evidence, recovery, hits, *self._shares_flagged(threshold, ends))
        return Contingency(np.full(hits.size, threshold), hits, alarms, recovery.positive, recovery.negative)

    def _shares_flagged(self, threshold: float, ends: int | None) -> list[float]:
        """Of each kind of row. In one sample how many are of which kind is chance too: the share of all rows varies."""
        above, totals = self.evidence.tally.at(threshold), self.evidence.tally.totals
        if ends is None:
            return [count / total if total else 0.0 for count, total in zip(above, totals, strict=True)]
        if self.evidence.recovery_scenario is Scenario.SINGLE_SET:
            return [_plausible(sum(above), totals.rows, self.slack)[ends]] * len(totals)
        return [
            _plausible(count, total, self.slack)[ends] if total else 0.0
            for count, total in zip(above, totals, strict=True)
        ]

    def table(self, threshold: float) -> Contingency:
        return self._tables(threshold, np.array([self.recall(threshold).value]))

    def at_threshold(self, metric: Metric, threshold: float | None, parameters: Mapping[str, Any]) -> Range:
        """Any metric of the table: with recall and the share flagged all of it is given."""
        if threshold is None:
            raise PulensError("a metric at a threshold needs a threshold.")
        recall = self.recall(threshold)
        value = float(metric.compute(self._tables(threshold, [recall.value]), **parameters)[0])
        tried = np.concatenate([np.linspace(recall.low, recall.high, RATES_TRIED), [recall.value]])
        values = np.concatenate(
            [metric.compute(self._tables(threshold, tried, end), **parameters) for end in (None, 0, 1)]
        )
        if np.isnan(values).all():
            return Range(value, math.nan, math.nan)
        return Range(value, float(np.nanmin(values)), float(np.nanmax(values)))

    # --- rankings ------------------------------------------------------------------------------------------------

    def _by_block(self, of_rows: Floats) -> Floats:
        """Sums over the scores of each block."""
        return np.add.reduceat(of_rows, np.concatenate([[0], self._places[:-1] + 1]))

    def roc_auc(self) -> Range:
        """Linear in the positives' shares; the ends are moved outwards by two standard errors."""
        values, constant, (_, *weights) = outscored_by(self.evidence)
        at_score = np.asarray(self.evidence.tally.increments()[0], float) / self.evidence.tally.totals.labelled
        shares = self.worlds.shares
        held = shares > 0
        means = np.divide(self._by_block(at_score * values), shares, out=np.zeros(shares.size), where=held)
        squares = np.divide(self._by_block(at_score * values**2), shares, out=np.zeros(shares.size), where=held)
        value = float(self.worlds.nearest @ means) + constant
        ends = []
        for sign, world in zip((-1, 1), self.worlds.extremes(means, self.factor), strict=True):
            mean = float(world @ means)
            height = np.divide(world, shares, out=np.zeros(shares.size), where=held)
            from_labelled = float((shares * height**2) @ (squares - 2 * mean * means + mean**2))
            variance = max(from_labelled, 0.0) / self.evidence.tally.totals.labelled + self._from_others(world, weights)
            ends.append(mean + constant + sign * self.slack * math.sqrt(variance))
        if not self.slack:
            least, most = of_placings(self.evidence, values, constant)
            ends = [max(ends[0], least), min(ends[1], most)]
        return Range(value, min(ends[0], value), max(ends[1], value))

    def _from_others(self, world: Floats, weights: list[float]) -> float:
        """Variance of the area from unlabelled and known negative rows: how many positives stand above each."""
        tally, result = self.evidence.tally, 0.0
        above = np.cumsum(world) - world / 2
        for kind, total, weight in zip((tally.unlabelled, tally.negative), tally.totals[1:], weights, strict=True):
            if total and weight:
                share = np.diff(np.asarray(kind, float)[self._places] / total, prepend=0.0)
                result += weight**2 * float(share @ (above - share @ above) ** 2) / total
        return result

    def average_precision(self) -> Range:
        r"""With precisions cut at 1: :math:`\sum_j f_j \min(1, \pi F_j/C_j)`.

        From above, precision is bounded by what the largest recall at each score gives, and a linear programme does
        the rest. From below, the quadratic form is convex, so that any of its tangents is a bound: the Frank-Wolfe
        method looks for a good one.
        """
        evidence, worlds, factor = self.evidence, self.worlds, self.factor
        tally, totals, prior = evidence.tally, evidence.tally.totals, evidence.recovery.class_prior
        fine = np.union1d(_places_of(evidence, FINE), self._places)
        labelled, unlabelled, refuted = (
            np.asarray(kind, float)[fine] / total if total else np.zeros(fine.size)
            for kind, total in zip((tally.labelled, tally.unlabelled, tally.negative), totals, strict=True)
        )
        if evidence.recovery_scenario is Scenario.SINGLE_SET:
            called = (
                totals.labelled * labelled + totals.unlabelled * unlabelled + totals.negative * refuted
            ) / totals.rows
        else:
            called = unlabelled
        block = np.searchsorted(self._places, fine)
        within = np.diff(labelled, prepend=0.0)
        shares = worlds.shares

        def spread(world: Floats) -> Floats:
            height = np.divide(world, shares, out=np.zeros(shares.size), where=shares > 0)
            return np.asarray(within * height[block])

        def gathered(values: Floats) -> Floats:
            sums = np.bincount(block, within * values, minlength=shares.size)
            return np.divide(sums, shares, out=np.zeros(shares.size), where=shares > 0)

        most = np.minimum(rate_range(labelled, factor, worlds.favours, floor=worlds.floor)[1], worlds.high[block])
        purity = np.minimum(1.0, np.divide(prior * most, called, out=np.ones(fine.size), where=called > 0))
        highest = worlds.extremes(gathered(purity), factor)[1]
        high = float(spread(highest) @ purity)
        nearest = spread(worlds.nearest)
        shown = np.divide(prior * np.cumsum(nearest), called, out=np.ones(fine.size), where=called > 0)
        value = float(nearest @ np.minimum(1.0, shown))
        # with this many rows called no precision passes 1, and none is above its own
        kept = within > 0
        room = np.maximum.accumulate(np.maximum(called, prior * most)[kept])

        def gradient(world: Floats) -> Floats:
            result = np.zeros(fine.size)
            result[kept] = prior * precision_gradient(spread(world)[kept], room)
            return gathered(result)

        world, low = worlds.nearest, -math.inf
        for _ in range(STEPS):
            f = spread(world)[kept]
            here, slope = prior * precision_sum(f, room), gradient(world)
            ahead = worlds.lowest(slope, factor)
            gap = float(slope @ (world - ahead))
            low = max(low, here - gap)
            if gap <= TOLERANCE:
                break
            bend = prior * precision_sum(spread(ahead)[kept] - f, room)
            world = world + (1.0 if bend <= 0 else min(1.0, gap / (2 * bend))) * (ahead - world)
        ends = []
        for sign, end, at in ((-1, low, world), (1, high, highest)):
            slope = gradient(at)
            height = np.divide(at, shares, out=np.zeros(shares.size), where=shares > 0)
            variance = float((shares * height**2) @ (slope - float(at @ slope)) ** 2) / totals.labelled
            ends.append(end + sign * self.slack * math.sqrt(variance))
        return Range(value, max(min(ends[0], value), 0.0), min(max(ends[1], value), 1.0))


def _places_of(evidence: Evidence, most: int) -> NDArray[np.intp]:
    kept = compress(evidence.tally, most).thresholds
    return np.searchsorted(-np.asarray(evidence.tally.thresholds, float), -np.asarray(kept, float))


def _plausible(hits: float, total: float, slack: float) -> tuple[float, float]:
    """A share this many standard errors down and up, by Jeffreys' posterior, so that 0 and 1 are not certain."""
    from pulens.special import ndtr

    if not slack:
        return hits / total, hits / total
    tail = float(ndtr(-slack))
    low, high = (float(end) for end in jeffreys_quantiles(hits, total, np.array([tail, 1 - tail])))
    return min(low, hits / total), max(high, hits / total)


def _odds(share: float) -> float:
    return share / (1 - share) if share < 1 else math.inf


def _with_odds(share: float, times: float) -> float:
    if share in (0.0, 1.0):
        return share
    odds = _odds(share) * times
    return odds / (1 + odds) if math.isfinite(odds) else 1.0
