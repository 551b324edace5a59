"""Rows scored by several models, redrawn together, a chunk of redraws at a time.

Every redraw takes the same rows for all models; where the models agree their errors move together and cancel in the
difference. A redraw is how often each entry was drawn; running sums in a model's order then are the rows of each
stratum and kind at or above its thresholds. Of a long ranking a few hundred thresholds are kept, and what that changes
in a value is taken out of the redraws again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pulens.counts.exactness import in_precision
from pulens.counts.tally import Tally
from pulens.inference.kernels.redraws import compress
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.replicates import Replicates
from pulens.metrics.parts.metric import Metric
from pulens.types import Floats, Places, Whole

ROWS_PER_CELL = 8  # rows per entry from which a redraw draws each entry's count: below, drawing row by row is quicker
MOST_THRESHOLDS = 256  # of a ranking that are kept in redraws
CHUNK = 1 << 18  # counts that a chunk of redraws may hold: what a core's cache holds


@dataclass(frozen=True, eq=False)
class PairedRows:
    """Counts of rows by kind (labelled, unlabelled, known negative), stratum and combination of scores.

    ``apart`` are the entries that are redrawn by themselves, as many rows as they hold.
    """

    names: tuple[str, ...]
    counts: Whole
    kinds: NDArray[np.int8]
    strata: NDArray[np.integer[Any]]
    scores: Mapping[str, NDArray[Any]]
    apart: Sequence[Places | slice]

    def redraws(self, many: int, rng: np.random.Generator) -> Iterator[Whole]:
        """How often each entry is drawn; a redraw without labelled rows, or without any others, is left out."""
        groups = [_Redraw(self.counts, entries) for entries in self.apart]
        labelled = self.kinds == 0
        for _ in range(many):
            drawn = np.zeros(self.counts.size, np.int64)
            for group in groups:
                drawn[group.entries] = group.draw(rng)
            result = int(drawn[labelled].sum())
            if result and result < int(drawn.sum()):
                yield drawn


class _Redraw:
    """As many rows as were counted, drawn with replacement: how many fall into each entry."""

    def __init__(self, counts: Whole, entries: Places | slice) -> None:
        self.entries, self._counts = entries, counts[entries]
        self._rows = int(self._counts.sum())
        by_row = self._rows <= ROWS_PER_CELL * self._counts.size
        self._entry_of_row = np.repeat(np.arange(self._counts.size), self._counts) if by_row else None

    def draw(self, rng: np.random.Generator) -> Whole:
        if self._entry_of_row is None:
            return np.asarray(rng.multinomial(self._rows, self._counts / self._rows), np.int64)
        if not self._rows:
            return np.zeros(self._counts.size, np.int64)
        rows = rng.integers(0, self._rows, self._rows)
        if self._rows > self._counts.size:
            rows = self._entry_of_row[rows]
        return np.bincount(rows, minlength=self._counts.size)


@dataclass(frozen=True, eq=False)
class View:
    """Entries in one model's order, and where its thresholds lie; the last of these is the one that was asked for."""

    thresholds: NDArray[Any]
    order: Places
    places: Places  # strata, thresholds, kinds
    begins: Places  # strata, 1, kinds

    @classmethod
    def of(cls, rows: PairedRows, model: str, tally: Tally, threshold: float, most: int) -> View:
        scores = rows.scores[model]
        kept = (tally if len(tally) <= most else compress(tally, most)).thresholds
        asked = in_precision(threshold, scores.dtype) if np.isfinite(threshold) else np.inf
        order = np.lexsort((-scores, rows.kinds, rows.strata))
        cells = (rows.strata.astype(np.int64) * 3 + rows.kinds)[order]
        strata = int(rows.strata.max(initial=0)) + 1
        edges = np.searchsorted(cells, np.arange(3 * strata + 1))
        falling, at = -scores[order], -np.append(kept.astype(scores.dtype), scores.dtype.type(asked))
        indices = [start + np.searchsorted(falling[start:end], at, side="right") for start, end in pairwise(edges)]
        result = np.array(indices).reshape(strata, 3, at.size).transpose(0, 2, 1)
        return cls(kept, order, np.ascontiguousarray(result), edges[:-1].reshape(strata, 1, 3))

    def above(self, drawn: Whole) -> Whole:
        """Rows of each stratum and kind at or above each threshold."""
        running = np.zeros(drawn.size + 1, np.int64)
        np.take(drawn, self.order, out=running[1:], mode="clip")  # places are known to be within: no second look
        np.cumsum(running[1:], out=running[1:])
        return np.asarray(running[self.places] - running[self.begins])


def value_of(result: Replicates, view: View, metric: Metric, threshold: float) -> Floats:
    """A metric of one model's redraws, whose last threshold is the one asked for."""
    if metric.reads == "ranking":
        return result.at(slice(-1)).values(metric, view.thresholds)
    # all that such a metric reads, whether or not the threshold is a score
    at = np.array([threshold, min(threshold - 1.0, float(view.thresholds[-1]))])
    return result.at([-1, -2]).values(metric, at, threshold)


class Settings(Protocol):
    """What is compared, and at which settings of the class prior; the redraws of a chunk are numbered."""

    @property
    def metrics(self) -> Mapping[str, Metric]: ...
    @property
    def thresholds(self) -> Mapping[str, float]: ...
    def settings(self, metric: Metric) -> Sequence[Any]: ...
    def recovered(self, above: Floats, setting: Any, numbers: Places | None) -> Replicates:
        """Rows at or above thresholds, of shape (redraws, strata, thresholds, kinds), at one of the settings."""


@dataclass(frozen=True, eq=False)
class PairedRedraws:
    """Metrics of all models in joint redraws."""

    asked: Settings
    rows: PairedRows
    tallies: Mapping[str, Tally]
    resampling: Resampling

    @cached_property
    def _views(self) -> dict[str, View]:
        most = MOST_THRESHOLDS
        if any(metric.reads == "ranking" and metric.many is None for metric in self.asked.metrics.values()):
            most = max(map(len, self.tallies.values()))
        views = self._views_of(most)
        if any(len(tally) > most for tally in self.tallies.values()) and not self._is_at_once(views):
            views = self._views_of(max(map(len, self.tallies.values())))
        return views

    def _views_of(self, most: int) -> dict[str, View]:
        at = self.asked.thresholds
        return {model: View.of(self.rows, model, tally, at[model], most) for model, tally in self.tallies.items()}

    def _is_at_once(self, views: Mapping[str, View]) -> bool:
        """Whether every metric of the ranking has a form for many redraws here; the others need every threshold."""
        view = next(iter(views.values()))
        metrics = [metric for metric in self.asked.metrics.values() if metric.reads == "ranking"]
        setting = self.asked.settings(next(iter(self.asked.metrics.values())))[0]
        result = self.asked.recovered(view.above(self.rows.counts)[None].astype(float), setting, None)
        rates = result.at(slice(-1)).redrawn[:3]
        return all(metric.many is not None and metric.many(result.recoveries, *rates) is not None for metric in metrics)

    def found(self, observed: Mapping[str, Floats]) -> dict[str, Floats]:
        """Every metric, of shape (redraws, settings, models); ``observed`` is that of the rows themselves."""
        chunks = [self._measured(above, numbers) for above, numbers in self._chunks()]
        moved = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in self.asked.metrics}
        if any(self._views[model].thresholds.size < len(tally) for model, tally in self.tallies.items()):
            own = {model: view.above(self.rows.counts)[None].astype(float) for model, view in self._views.items()}
            coarse = self._measured(own, None)
            for name, metric in self.asked.metrics.items():
                if metric.reads == "ranking":
                    moved[name] = moved[name] + np.nan_to_num(observed[name] - coarse[name][0])
        return moved

    def _chunks(self) -> Iterator[tuple[dict[str, Floats], Places]]:
        views, rng = self._views, np.random.default_rng(self.resampling.seed)
        size = max(1, CHUNK // max(view.places.size for view in views.values()))
        redraws, number = self.rows.redraws(self.resampling.redraws, rng), 0
        while some := list(islice(redraws, 1)):
            above = {model: np.empty((size, *view.places.shape)) for model, view in views.items()}
            for many, drawn in enumerate(chain(some, islice(redraws, size - 1)), 1):
                for model, view in views.items():
                    above[model][many - 1] = view.above(drawn)
            yield {model: counts[:many] for model, counts in above.items()}, np.arange(number, number + many)
            number += many

    def _measured(self, above: Mapping[str, Floats], numbers: Places | None) -> dict[str, Floats]:
        asked = self.asked
        settings = {name: list(asked.settings(metric)) for name, metric in asked.metrics.items()}
        result: dict[str, list[list[Floats]]] = {name: [[] for _ in own] for name, own in settings.items()}
        for model, view in self._views.items():
            for setting in dict.fromkeys(each for own in settings.values() for each in own):
                recovered = asked.recovered(above[model], setting, numbers)
                for name, metric in asked.metrics.items():
                    if setting in settings[name]:
                        index = settings[name].index(setting)
                        result[name][index].append(value_of(recovered, view, metric, asked.thresholds[model]))
        return {name: np.moveaxis(np.array(values), 2, 0) for name, values in result.items()}
