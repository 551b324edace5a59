"""Intervals under labels as uneven as in practice: a tilt is drawn in every redraw, as a doubtful class prior is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from pulens.cached import cached_method
from pulens.containers import distinct
from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.inference.area import AreaUnderROC
from pulens.inference.chosen import Choice, limits_of_choice
from pulens.inference.intervals import IntervalEstimator, MetricInterval, MetricIntervals
from pulens.inference.kernels.jackknife import redraw_buckets
from pulens.inference.kernels.quantiles import percentiles, quantiles
from pulens.inference.kernels.redraws import BootstrapCounts
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.measured import Target
from pulens.inference.percentile import AveragePrecisionReadTwice
from pulens.inference.prior_uncertainty import PRIORS_IN_RANGE, holding
from pulens.inference.threshold import values_of
from pulens.recovery.contingency import Contingency, possible_hits
from pulens.scenario import Scenario
from pulens.selection.distortion import distort, label_frequency
from pulens.selection.practice import Practice
from pulens.selection.tilted import TiltedEvidence
from pulens.selection.tilts import TiltDistribution, mixed
from pulens.types import Floats

NODES = 9  # shares of a drawn class prior at which tilts are found, and in between linear
PER_LOG_ODDS, LEAST_SHARE = 16, 1e-6  # of the grid that they lie on
CHOSEN_AGAIN = 300  # redraws in which a threshold is chosen anew: enough for how much better it looks than it is
LEVELS_KEY, HIDDEN_KEY = 101, 102  # streams of the tilts and of the hidden positives that are flagged
RANKED: tuple[Any, ...] = (AreaUnderROC, AveragePrecisionReadTwice)  # constructions of what :func:`_areas` gives
Ends = tuple[float, float]
METHOD = "tilt of the labelling drawn as in practice"


@dataclass(frozen=True)
class SelectionInference(MetricIntervals):
    """Finds intervals of one evidence's metrics under labels as uneven as in practice."""

    evidence: Evidence
    resampling: Resampling
    practice: Practice
    choice: Choice | None = None  # how the threshold was chosen on the same rows, if it was

    @cached_property
    def tilts(self) -> TiltDistribution:
        return TiltDistribution(self.evidence, self.practice)

    @cached_property
    def _random(self) -> IntervalEstimator:
        """The machinery of random labels: its redraws are ours, before they are tilted."""
        return IntervalEstimator(self.evidence, self.resampling)

    def of(self, target: Target, known: float, cut: float = 0.0) -> MetricInterval | None:
        """The interval of a metric whose value is ``known``, and what the sample alone would give at its tilt."""
        metric, threshold = target.metric, target.threshold
        if metric.ignores_class_prior or getattr(metric, "counted", False):
            return self._random.of(target, known, cut)
        own = None if metric.construction is None else metric.construction(**target.parameters)
        ends = self._ends(target)
        if ends is None:
            return None
        if own is not None and own.fitted is not None:  # a number of places along the list, whose ends fit together
            elsewhere = partial(self._known_ends, target)
            ends = own.fitted(self.evidence, target.parameters, elsewhere, self._fitted.setdefault(metric.compute, {}))
        low, high = ends
        if self.choice is not None and metric.reads == "threshold" and threshold == self.choice.threshold:
            low, high = self._of_choice(target, known, (low, high))
        low, high = holding(known, low, high)
        if self.resampling.factor != 1:  # more was drawn than rows: what that adds is what it adds for random labels
            wide = self._random.of(target, known, cut)
            added = 1 - 1 / self.resampling.factor**2
            if wide is not None:
                low = known - math.hypot(known - low, math.sqrt(added) * (known - wide.sample.low))
                high = known + math.hypot(high - known, math.sqrt(added) * (wide.sample.high - known))
        low, high = (min(max(end, metric.lowest), metric.highest) for end in (low, high))
        confidence = self.resampling.confidence
        factor = self.resampling.factor
        method = METHOD if factor == 1 else f"{METHOD}, errors of the rows times {factor:.3g}"
        result = Interval(low, high, confidence, method, self.practice.guarantee)
        return MetricInterval(result, result)

    def _ends(self, target: Target) -> Ends | None:
        """Before anything is known of the value: the widest ends of all shares."""
        ends = []
        for share in self._shares:
            values = self._values(target, share)
            if values is None:
                reach = self._moved(target, share)
            else:
                values, tail = values[~np.isnan(values)], self.resampling.tail
                reach = percentiles(values, tail, tail) if values.size else None
            ends += [] if reach is None else [reach]
        return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None

    def _known_ends(self, target: Target, parameters: Any) -> Ends:
        """With these parameters; where there are no ends, all values are possible."""
        return self._ends(replace(target, parameters=parameters)) or (target.metric.lowest, target.metric.highest)

    @cached_property
    def _fitted(self) -> dict[Any, dict[float, Any]]:
        """Ends of numbers of places along the list, which must fit together."""
        return {}

    def _of_choice(self, target: Target, known: float, given: tuple[float, float]) -> Any:
        """The interval with what choosing the threshold adds: redraws at the tilt in the middle, which chose it."""
        again = self._again
        errors = again.chosen_at(again.evidence.class_prior.unlabelled).errors(
            lambda replicates: values_of(target, replicates.tables())
        )
        return limits_of_choice(known, errors, again.tail(self.resampling.tail), given)

    @cached_property
    def _again(self) -> IntervalEstimator:
        few = replace(self.resampling, redraws=min(self.resampling.redraws, CHOSEN_AGAIN))
        return IntervalEstimator(TiltedEvidence.of(self.evidence, self.practice).as_read, few, self.choice)

    @cached_property
    def _shares(self) -> tuple[float | None, ...]:
        """Shares of positives among the unlabelled rows whose intervals are joined; ``None`` where it is drawn."""
        doubt = self._random.draws.doubt
        if doubt.treatment == "drawn":
            return (None,)
        return tuple(doubt.over(PRIORS_IN_RANGE)) if doubt.treatment == "range" else (doubt.over(1)[0],)

    def _values(self, target: Target, share: float | None) -> Floats | None:
        """The metric in redraws of rows, tilt and, without a share, class prior; ``None`` where it has no such form."""
        metric = target.metric
        if metric.reads == "threshold":
            return values_of(target, self._table(float(target.threshold or 0.0), share))
        own = None if metric.construction is None else metric.construction(**target.parameters)
        return self._ranked[share][RANKED.index(own)] if own in RANKED else None

    def _tilts(self, share: float | None, priors: Floats, spread: float = 1.0) -> Floats:
        """A tilt for each redraw, whose shares of positives among the unlabelled rows are given, and who is aside."""
        levels = _levels(priors.size, self.resampling.seed, LEVELS_KEY)

        def both(share: float, levels: Floats) -> Floats:
            tilts = self.tilts.quantiles(share, levels, spread)
            return np.stack([tilts, self.tilts.aside(share, tilts)])

        if share is not None:
            key = share, priors.size, spread
            if key not in self._of_share:
                self._of_share[key] = both(share, levels)
            return self._of_share[key]
        nodes = distinct(_on_grid(quantiles(priors, np.linspace(0, 1, NODES))))
        table = np.stack([both(float(node), np.sort(levels)) for node in nodes], axis=1)
        index = np.clip(np.searchsorted(nodes, priors) - 1, 0, max(nodes.size - 2, 0))
        after = np.minimum(index + 1, nodes.size - 1)
        wide = nodes[after] - nodes[index]
        part = np.divide(priors - nodes[index], wide, out=np.zeros(priors.size), where=wide > 0)
        rank = np.argsort(np.argsort(levels))
        return np.asarray((1 - part) * table[:, index, rank] + part * table[:, after, rank])

    @cached_property
    def _of_share(self) -> dict[tuple[float, int, float], Floats]:
        return {}

    def _listed(self, rates: Any, totals: Any) -> Any:
        """Shares of the list at or above the thresholds of redraws, whatever the share of positives."""
        labelled, unlabelled, negative = rates
        if self.evidence.recovery_scenario is not Scenario.SINGLE_SET:
            return unlabelled
        column = partial(_column, wide=np.ndim(labelled) == 2)
        kinds = zip(totals, (labelled, unlabelled, negative), strict=True)
        rows = sum(np.asarray(total, float) for total in totals)
        return sum(column(total) * rate for total, rate in kinds if np.any(total)) / column(rows)

    def _recovered(
        self, rates: Any, totals: Any, priors: Floats, tilts: Floats, listed: Any, *, of_these_rows: bool = False
    ) -> Contingency:
        """Tables of redraws: recall is the labelled rows' own, distorted; the rest follows from the list.

        ``of_these_rows``: how many of the hidden positives at hand are flagged is a matter of chance, too; where there
        are thirty of them, that is as much as thirty labelled rows leave open.
        """
        labelled, unlabelled, _ = rates
        scenario = self.evidence.recovery_scenario
        rows: Any = sum(np.asarray(total, float) for total in totals)
        single = scenario is Scenario.SINGLE_SET
        column = partial(_column, wide=np.ndim(labelled) == 2)
        population = (totals[0] + priors * totals[1]) / rows if single else priors
        population = np.clip(population, 1e-12, 1 - 1e-12)
        frequency = label_frequency(totals, population, scenario)
        many = np.broadcast_to(rows if single else np.asarray(totals[1], float), np.shape(population))
        hidden = distort(labelled, column(tilts[0]), 0.0, column(tilts[1]), unlabelled)
        if of_these_rows:
            from pulens.special import ndtri

            normal = ndtri(_levels(np.size(hidden), self.resampling.seed, HIDDEN_KEY))
            count = np.maximum((1 - frequency) * population * many, 1.0)
            hidden = np.clip(hidden + normal * np.sqrt(np.maximum(hidden * (1 - hidden), 0.0) / count), 0.0, 1.0)
        recall = column(frequency) * labelled + (1 - column(frequency)) * hidden
        positive, negative = column(population), 1 - column(population)
        hits = possible_hits(positive * recall, listed, positive, negative)
        return Contingency(
            np.zeros(np.shape(hits)),
            hits / positive,
            (listed - hits) / negative,
            column(population * many),
            column((1 - population) * many),
        )

    @cached_method()
    def _table(self, threshold: float, share: float | None) -> Contingency:
        rates: Any
        totals: Any
        if self.evidence.buckets is None:
            normal, rates, totals = self._random.drawn_at(threshold)
        else:
            held = self._random.buckets.above(np.array([threshold, -np.inf]))[:, 0]
            chunks = redraw_buckets(held, self.resampling, lambda drawn: drawn)
            normal = np.concatenate([chunk.normal for chunk in chunks])
            rates = tuple(np.concatenate([_first(chunk, kind) for chunk in chunks]) for kind in range(3))
            totals = tuple(np.concatenate([chunk.totals[kind] for chunk in chunks]) for kind in range(3))
        priors = np.broadcast_to(self._random.draws.priors(share, normal, totals), normal.shape)
        tilts = self._tilts(share, priors, self.practice.at_thresholds)
        return self._recovered(rates, totals, priors, tilts, self._listed(rates, totals), of_these_rows=True)

    @cached_property
    def _ranked(self) -> dict[float | None, tuple[Floats, ...]]:
        """ROC AUC and average precision in redraws of the whole ranking, at each share: one pass over them."""
        random, tally = self._random, self._random.compressed

        def work(redrawn: BootstrapCounts) -> list[tuple[Floats, Floats]]:
            result, listed = [], self._listed(redrawn[:3], redrawn.totals)
            for share in self._shares:
                priors = random.draws.priors(share, redrawn.normal, redrawn.totals)
                priors = np.broadcast_to(priors, (len(redrawn),))
                tilts = self._tilts(share, priors)
                result.append(_areas(self._recovered(redrawn[:3], redrawn.totals, priors, tilts, listed)))
            return result

        chunks = random.redrawn(tally, work)
        return {
            share: tuple(np.concatenate([chunk[at][kind] for chunk in chunks]) for kind in range(len(RANKED)))
            for at, share in enumerate(self._shares)
        }

    def _moved(self, target: Target, share: float | None) -> Ends | None:
        """Of a metric that has no form for many redraws: the sample's ends at the middle tilt, moved by other tilts."""
        metric = target.metric
        middle, others, estimator = self._at_tilts(self.evidence.class_prior.unlabelled if share is None else share)

        def value_of(rows: Evidence, prior: float) -> float:
            extra = () if metric.reads == "ranking" else (target.threshold,)
            return float(metric.compute(rows.tally, *extra, rows.assumptions_at(prior), **target.parameters))

        value = value_of(middle, middle.class_prior.value)
        if math.isnan(value):
            return None
        sample = estimator.of_sample(replace(target, value_at=lambda prior: value_of(middle, prior)), value)
        if sample is None:
            return None
        moved = np.array([value_of(rows, rows.class_prior.value) for rows in others]) - value
        return mixed(value, sample.low, sample.high, moved, self.resampling.tail)

    @cached_method()
    def _at_tilts(self, share: float) -> tuple[Evidence, list[Evidence], IntervalEstimator]:
        """The rows at the middle tilt, at others, and what finds intervals of the former."""
        tilts = self.tilts
        others = tilts.quantiles(share, tilts.levels, self.practice.at_thresholds).tolist()
        middle, *rest = (tilts.rows_at(tilt, share) for tilt in (tilts.median(share), *others))
        return middle, rest, IntervalEstimator(middle, self.resampling)


def _column(values: Any, *, wide: bool) -> Any:
    """One number per redraw beside many thresholds."""
    return np.asarray(values, float)[:, None] if wide and np.ndim(values) == 1 else values


def _areas(tables: Contingency) -> tuple[Floats, Floats]:
    """ROC AUC and average precision of tables along a ranking, a row each."""
    recall, alarms = tables.true_positive_rate, tables.false_positive_rate
    steps, middle = recall.copy(), alarms.copy()
    steps[:, 1:] -= recall[:, :-1]
    middle[:, 1:] += alarms[:, :-1]
    area = 1 - np.einsum("nt,nt->n", steps, middle) / 2
    hits = tables.positive * recall
    called = hits + tables.negative * alarms
    precision = np.divide(hits, called, out=np.ones(hits.shape), where=called > 0)
    return np.asarray(area), np.asarray(np.einsum("nt,nt->n", np.maximum(steps, 0.0, out=steps), precision))


def _first(chunk: BootstrapCounts, kind: int) -> Floats:
    """Rates of one kind of row at the first threshold."""
    result: Floats = (chunk.labelled, chunk.unlabelled, chunk.negative)[kind]
    return result[:, 0]


def _on_grid(shares: Floats) -> Floats:
    """The nearest shares of a grid of log odds, so that chunks of redraws find tilts at the same ones.

    >>> _on_grid(np.array([0.0, 0.2, 0.201])).round(4).tolist()
    [0.0, 0.2018, 0.2018]
    """
    odds = np.log(np.clip(shares, LEAST_SHARE, 1 - LEAST_SHARE) / (1 - np.clip(shares, LEAST_SHARE, 1 - LEAST_SHARE)))
    return np.asarray(1 / (1 + np.exp(-np.round(PER_LOG_ODDS * odds) / PER_LOG_ODDS)))


@lru_cache(maxsize=16)
def _levels(many: int, seed: int, key: int) -> Floats:
    """Even levels from 0 to 1 in an order of chance that nothing else shares."""
    rng = np.random.Generator(np.random.PCG64([seed, key]))
    result = (rng.permutation(many) + 0.5) / many
    result.flags.writeable = False
    return result
