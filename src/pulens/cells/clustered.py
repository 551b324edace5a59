r"""Intervals within cells where rows belong together: a bucket of clusters left out of every cell at once.

Without bucket b each cell has other rates and other positives, and cells are added up again from them; the spread of
the sums is the standard error (:mod:`pulens.intervals.kernels.jackknife`), and ends are those of
:mod:`pulens.intervals.clustered`. A patient seen in two clinics leaves both. Class priors of cells stay as they are
while buckets are left out; where they are in doubt, what their draws change is mixed in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from pulens.cells.evidence import CellEvidence
from pulens.cells.priors import PriorSetting
from pulens.cells.rates import positives_of
from pulens.cells.redraws import CellRedraws, CellsRedrawn
from pulens.counts.tally import Tally
from pulens.estimate import Interval
from pulens.intervals.clustered import METHOD, ends_around
from pulens.intervals.kernels.jackknife import (
    FEWEST_BUCKETS,
    freedom_of,
    freedom_of_totals,
    jackknife_error,
    student_quantile,
)
from pulens.intervals.kernels.quantiles import mixture_ends, normal_quantile
from pulens.intervals.kernels.redraws import Redrawn
from pulens.intervals.measured import Measured
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.contingency import missing_of
from pulens.recovery.many import recover_many
from pulens.scenario import Scenario
from pulens.types import Floats

Ends = tuple[float, float]
CHUNK = 4_000_000  # numbers that a chunk of redraws may hold


class Asked(Protocol):
    """One metric: its value at a setting of the class priors, the rows as they are."""

    @property
    def metric(self) -> Measured: ...
    @property
    def threshold(self) -> float | None: ...
    @property
    def parameters(self) -> dict[str, Any]: ...
    @property
    def draws_read(self) -> int | None:
        """How many draws of class priors are looked at; ``None`` for all."""

    def value(self, setting: PriorSetting) -> float: ...
    def values(self, shares: Floats) -> Floats: ...


@dataclass(frozen=True)
class CellBuckets:
    """The counts of every bucket that holds rows, cell by cell."""

    evidence: CellEvidence

    @cached_property
    def totals(self) -> Floats:
        """Rows of each kind, of shape (buckets, cells, 3)."""
        return np.asarray(self._spread([counted.totals for counted in self.evidence.cells.buckets])[self._held])

    @cached_property
    def _places(self) -> dict[str, int]:
        names = (name for counted in self.evidence.cells.buckets for name in counted.names)
        return {name: place for place, name in enumerate(dict.fromkeys(names))}

    @cached_property
    def _held(self) -> Any:
        return self._spread([counted.totals for counted in self.evidence.cells.buckets]).sum(axis=(1, 2)) > 0

    def _spread(self, parts: list[Floats]) -> Floats:
        found = np.zeros((len(self._places), len(parts), *parts[0].shape[1:]))
        for cell, counted in enumerate(self.evidence.cells.buckets):
            found[[self._places[name] for name in counted.names], cell] = parts[cell]
        return found

    def above(self, thresholds: Any) -> Floats:
        """Rows at or above falling thresholds, of shape (buckets, cells, thresholds, 3)."""
        found = self._spread([counted.above(thresholds) for counted in self.evidence.cells.buckets])
        return np.asarray(found[self._held])

    @property
    def fewest(self) -> int:
        """How many buckets hold labelled rows, or how many others, whichever are fewer."""
        kinds = self.totals.sum(axis=1)
        return min(int(np.count_nonzero(kinds[:, 0])), int(np.count_nonzero(kinds[:, 1] + kinds[:, 2])))

    @property
    def freedom(self) -> float:
        """Degrees of freedom of a standard error found without each bucket."""
        return freedom_of_totals(self.totals.sum(axis=1))


def added_up(evidence: CellEvidence, above: Floats, totals: Floats, alpha: Any) -> CellsRedrawn:
    """Cells of many counts, of shapes (counts, cells, thresholds, 3) and (counts, cells, 3), as though of one tally."""
    kinds = [0, 1, 2] if evidence.is_single else [1]
    listed = np.zeros(totals.shape)
    listed[:, :, kinds] = totals[:, :, kinds]
    rows = np.maximum(listed.sum(axis=(1, 2)), 1e-300)
    held = positives_of(evidence, listed / rows[:, None, None], alpha)
    first, second = (np.broadcast_to(each, held.shape) for each in evidence.coefficients(alpha))
    size = np.where(totals > 0, totals, 1.0)
    recalls = first[:, :, None] * above[..., 0] / size[:, :, None, 0]
    if evidence.label_noise:
        recalls = recalls + second[:, :, None] * above[..., 1] / size[:, :, None, 1]
    seen = np.where(totals[:, :, 0] > 0, held, 0.0)  # a cell without labelled rows takes the mean of the others
    recall = np.einsum("nc,nct->nt", seen, recalls) / np.maximum(seen.sum(axis=1), 1e-300)[:, None]
    flagged = above[..., kinds].sum(axis=(1, 3)) / rows[:, None]
    known = np.zeros(len(rows)) if evidence.is_single else totals[:, :, 2].sum(axis=1)
    spurned = above[..., 2].sum(axis=1) / np.maximum(known, 1.0)[:, None] if known.any() else np.zeros(recall.shape)
    prior = np.clip(held.sum(axis=1), 1e-12, 1 - 1e-9)
    sizes = totals[:, :, 0].sum(axis=1), rows, known
    redrawn = Redrawn(recall, flagged, spurned, sizes, np.zeros(len(rows)))
    return CellsRedrawn(redrawn, recover_many(sizes, prior, 0.0, Scenario.CASE_CONTROL))


@dataclass(frozen=True)
class ClusterRedraws(CellRedraws):
    """Whole buckets redrawn, out of every cell at once."""

    def _redraw(self, alpha: Any) -> CellsRedrawn:
        buckets = CellBuckets(self.evidence)
        above, totals = buckets.above(self.thresholds), buckets.totals
        many = len(totals)
        rng = np.random.Generator(np.random.PCG64([self.resampling.seed, 47]))
        drawn = rng.multinomial(many, np.full(many, 1 / many), self.size).astype(float)
        step = max(1, CHUNK // max(above[0].size, 1))
        parts = []
        for start in range(0, self.size, step):
            some = drawn[start : start + step]
            share = alpha if len(alpha) == 1 else alpha[start : start + step]
            counts = (some @ above.reshape(many, -1)).reshape(len(some), *above.shape[1:])
            kinds = (some @ totals.reshape(many, -1)).reshape(len(some), *totals.shape[1:])
            parts.append(added_up(self.evidence, counts, kinds, share))
        recall, flagged, spurned = (np.concatenate([part.redrawn[place] for part in parts]) for place in range(3))
        sizes = tuple(np.concatenate([part.redrawn.totals[kind] for part in parts]) for kind in range(3))
        positive, negative = (
            np.concatenate([np.broadcast_to(getattr(part.recoveries, name), len(part.redrawn)) for part in parts])
            for name in ("positive", "negative")
        )
        prior = positive / (positive + negative)
        redrawn = Redrawn(recall, flagged, spurned, sizes, np.zeros(self.size))  # type: ignore[arg-type]
        return CellsRedrawn(redrawn, recover_many(sizes, prior, 0.0, Scenario.CASE_CONTROL))  # type: ignore[arg-type]


@dataclass(frozen=True)
class CellJackknife:
    """Any metric without one bucket at a time, and its ends."""

    evidence: CellEvidence
    redraws: CellRedraws

    method = f"{METHOD}, within cells"

    @cached_property
    def buckets(self) -> CellBuckets:
        return CellBuckets(self.evidence)

    @property
    def freedom(self) -> float:
        return self.buckets.freedom

    @cached_property
    def _errors(self) -> dict[Any, float]:
        return {}

    def ends(self, ask: Asked, setting: PriorSetting, tail: float, *, with_priors: bool) -> Ends:
        if self.buckets.fewest < FEWEST_BUCKETS:
            return math.nan, math.nan
        value, error = ask.value(setting), self.error(ask, setting.shares)
        reach = student_quantile(self.freedom, tail), normal_quantile(1 - 2 * tail)
        rows = float(self.evidence.cells.totals[:, 0].sum())
        within = ask.metric.lowest, ask.metric.highest
        fixed = ends_around(value, error, tail, reach, self.buckets.fewest, rows, within)
        if not with_priors or setting.draws is None:
            return fixed
        values = ask.values(setting.draws[: ask.draws_read])
        wider = reach[0] / reach[1] if reach[1] > 0 else 1.0  # at a confidence of zero neither reaches anywhere
        drawn = mixed_ends(values[~np.isnan(values)], error * wider, tail, rows, within)
        return min(fixed[0], drawn[0]), max(fixed[1], drawn[1])

    def error(self, ask: Asked, shares: Floats) -> float:
        """The standard error at these class priors."""
        key = (id(ask.metric), ask.threshold, str(ask.parameters), shares.tobytes())
        if key not in self._errors:
            errors = [float(jackknife_error(values)) for values in self.replicates(ask, shares)]
            self._errors[key] = max(errors, key=lambda error: float(np.nan_to_num(error)))
        return self._errors[key]

    def replicates(self, ask: Asked, shares: Floats) -> list[Floats]:
        """The metric without each bucket, not clipped: what is cut off shows no spread.

        Where the recovered rates of all rows lie beyond 0 or 1, also with all of them moved there.
        """
        metric, threshold = ask.metric, float(ask.threshold or 0.0)
        lowest = float(self.evidence.cells.whole.thresholds[-1])
        thresholds = np.array([threshold, min(threshold - 1.0, lowest)])
        if metric.reads == "ranking":
            thresholds = self.redraws.thresholds
        counts, totals = self.buckets.above(thresholds), self.buckets.totals
        # weights that are no whole numbers leave a rounding error where nothing is left
        above, left = (np.maximum(each.sum(axis=0) - each, 0.0) for each in (counts, totals))
        found = added_up(self.evidence, above, left, shares[None])
        if metric.reads == "threshold":
            whole = added_up(self.evidence, counts.sum(axis=0)[None], totals.sum(axis=0)[None], shares[None])
            return self._at_threshold(ask, found, whole)
        priors = found.recoveries.positive / (found.recoveries.positive + found.recoveries.negative)
        values = []
        for row, prior in enumerate(np.broadcast_to(priors, len(left)).tolist()):
            kinds = [
                rates[row] * size[row] for rates, size in zip(found.redrawn[:3], found.redrawn.totals, strict=True)
            ]
            assumed = Assumptions(prior, 0.0, Scenario.CASE_CONTROL)
            extra = () if metric.reads == "ranking" else (threshold,)
            values.append(metric.compute(Tally(thresholds, *kinds), *extra, assumed, **ask.parameters))
        return [np.array(values, float)]

    @staticmethod
    def _at_threshold(ask: Asked, found: CellsRedrawn, whole: CellsRedrawn) -> list[Floats]:
        table, here = (each.recoveries.tables(*(rates[:, 0] for rates in each.redrawn[:3])) for each in (found, whole))
        hits, alarms = missing_of(here.true_positive_rate, here.false_positive_rate)
        return [
            np.asarray(ask.metric.compute(each, **ask.parameters), float) for each in table.plausible((hits, alarms))
        ]

    def recall_interval(self, cell: int, threshold: float, tail: float, confidence: float) -> Interval | None:
        """Of one cell's recall, from the buckets that hold its labelled rows."""
        counts, rows = self.buckets.above(np.array([threshold]))[:, cell, 0, 0], self.buckets.totals[:, cell, 0]
        many = int(np.count_nonzero(rows))
        if many < FEWEST_BUCKETS:
            return None
        left = rows.sum() - rows
        error = float(jackknife_error((counts.sum() - counts) / np.where(left > 0, left, np.nan)))
        reach = student_quantile(float(freedom_of(rows)), tail), normal_quantile(1 - 2 * tail)
        low, high = ends_around(float(counts.sum() / rows.sum()), error, tail, reach, many, float(rows.sum()))
        return Interval(low, high, confidence, METHOD)


def mixed_ends(values: Floats, error: float, tail: float, rows: float, within: Ends) -> Ends:
    """Over draws of the class priors: a mixture on the scale of log odds where the number has one."""
    from scipy.special import expit, logit

    lowest, width = within[0], within[1] - within[0]
    if not values.size:
        return math.nan, math.nan
    if not math.isfinite(width):
        return mixture_ends(values, np.full(values.size, error), tail)
    edge = 0.5 / (rows + 1)
    shares = np.clip((values - lowest) / width, edge, 1 - edge)
    low, high = mixture_ends(logit(shares), error / width / (shares * (1 - shares)), tail)
    return lowest + width * float(expit(low)), lowest + width * float(expit(high))
