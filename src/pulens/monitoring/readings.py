"""What the reference's labelled rows say of all positives: as they are, or as uneven labelling would have them.

The labelling of the reference is drawn as everywhere else (:mod:`pulens.selection`): at a tilt the labelled rows stand
for all positives, as shares p' of the cells in place of p. With w the weight of a score, of mean 0 over the reference's
population and 1 over its labelled rows, the shift of a window is d/(p' w), and recall is the share of p' that is
flagged. So sizes and rates depend on the labelling. Whether anything changed does not: a labelling that stays as it was
divides d and its error by the same constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.evidence import IntervalOptions
from pulens.monitoring.rates import METRICS, Parts, WindowRate, parts_of, rate_of, recall_among, with_own_positives
from pulens.monitoring.shift import CellReference
from pulens.scenario import Scenario
from pulens.selection import Favouring, Practice, TiltedEvidence
from pulens.special import ndtr
from pulens.types import Booleans, Floats

LEAST = 0.05  # of the mean weight of a positive: however labels came about, a rise of d is a rise of the share
ALMOST = 1e-9  # a class prior stays so far from what the labelled rows rule out


@dataclass(frozen=True, eq=False)
class Positives:
    """Shares of the positives in each cell: in the middle of plausible labelling, and at other plausible tilts.

    ``size`` is how many labelled rows of equal weight would say as much as those in the middle; ``ends`` gives the ends
    of a number with what the tilts change in it.
    """

    middle: Floats
    size: float
    tilted: Floats
    ends: Callable[..., tuple[Any, Any]]

    @classmethod
    def of(cls, reference: CellReference, labels: Practice | Favouring, class_prior: float) -> Positives:
        """Of a reference, at a class prior of its population."""
        unlabelled = reference.population - (reference.labelled if reference.together else 0.0)
        unlabelled = np.maximum(unlabelled, 0.0)  # of weighted rows a difference may be below
        seen = np.flatnonzero(reference.labelled + unlabelled > 0)
        tally = Tally.from_increments(seen.astype(float), reference.labelled[seen], unlabelled[seen])
        least = reference.n_labelled / reference.rows if reference.together else 0.0
        prior = min(max(class_prior, least * (1 + ALMOST)), 1 - ALMOST)
        scenario = Scenario.SINGLE_SET if reference.together else Scenario.CASE_CONTROL
        rows = IntervalOptions(class_prior=prior, scenario=str(scenario)).settle(tally)
        found = TiltedEvidence.of(rows, labels)

        def shares(counts: Tally) -> Floats:
            result = np.zeros(reference.population.size)
            result[seen] = np.diff(np.asarray(counts.labelled, float), prepend=0.0)[::-1]
            return np.asarray(result / result.sum())

        others = found.at_share(rows.class_prior.unlabelled, found.tilts.levels, found.spread(at_threshold=True))
        tilted = np.array([shares(each.tally) for each in others])
        return cls(shares(found.tally), float(found.tally.totals.labelled), tilted, found.tilts.ends)


@dataclass(frozen=True, eq=False)
class Reading:
    """The reference as numbers of windows are read off it, at one class prior; ``counted`` is it as it was counted."""

    class_prior: float
    counted: CellReference
    flagged: Booleans
    positives: Positives | None = None  # None: its labelled rows are a random draw of the positives

    @cached_property
    def reference(self) -> CellReference:
        """With labelled rows that stand for all positives."""
        if self.positives is None:
            return self.counted
        weights = self.counted.weights / self._times
        return CellReference(self.positives.size * self.positives.middle, self.counted.population, weights)

    @property
    def _times(self) -> float:
        """The mean weight of a positive, which is 1 if labels are random; positives outscore the population."""
        return 1.0 if self.positives is None else max(float(self.positives.middle @ self.counted.weights), LEAST)

    def shift(self, window: Floats) -> float:
        return float(window @ self.reference.weights) / float(window.sum())

    def parts(self, window: Floats, own: Floats | None = None, *, own_shift: bool = False) -> Parts:
        """What the metrics of a window are made of; ``own`` are its own labelled rows, where these say the recall.

        ``own_shift`` says that they say the change of the share, too.
        """
        result = parts_of(self.reference, window, self.flagged, self.shift(window))
        if own is None:
            return result
        own = own if self.positives is None else self._standing(own, self.positives.middle)
        if own_shift:
            return with_own_positives(self.reference, window, own, self.flagged, self.class_prior)
        values, covariance, size = result.values.copy(), result.covariance.copy(), float(own.sum())
        values[1] = float(own @ self.flagged) / size
        covariance[1, :] = covariance[:, 1] = 0.0
        covariance[1, 1] = (values[1] * (1 - values[1]) + 0.25 / size) / size
        return Parts(values, covariance)

    def _standing(self, own: Floats, shares: Floats) -> Floats:
        """A window's own labelled rows as they stand for its positives, as many of equal weight as say as much."""
        known = self.counted.p
        times = np.divide(shares, known, out=np.ones(known.size), where=known > 0)
        total, squares = float(own @ times), float(own @ times**2)
        return own * times * (total / squares) if squares > 0 else own

    def rate(
        self, name: str, parts: Parts, own: Floats | None = None, *, own_shift: bool = False, **given: Any
    ) -> WindowRate:
        """A metric of a window with its interval, of which the labelling is one more source of uncertainty."""
        result = rate_of(name, parts, self.class_prior, **given)
        if self.positives is None:
            return result
        found, tail = (result.value, result.low, result.high), float(ndtr(-given.get("z", 1.96)))
        ends = self.moved(name, found, parts, own, own_shift=own_shift, tail=tail)
        return WindowRate(result.value, result.error, *ends)

    def recall(self, own: Floats | None, tail: float) -> tuple[float, float, float]:
        """Recall of the positives with its interval: of the reference's, or of a window's by its own labelled rows."""
        assert self.positives is not None
        labelled = self.reference.labelled if own is None else self._standing(own, self.positives.middle)
        found = recall_among(float(labelled @ self.flagged), float(labelled.sum()), tail)
        parts = Parts(np.array([0.0, found[0], 0.0, 0.0]), np.zeros((4, 4)))
        return found[0], *self.moved("recall", found, parts, own, tail=tail)

    def share_at(self, level: float, low: float, high: float, tail: float) -> tuple[float, float, float]:
        """The share of positives at a change of it as counted, d, with its interval."""
        times = self._times
        slope = (1 - self.class_prior) / times
        new, least, most = (min(max(self.class_prior + slope * d, 0.0), 1.0) for d in (level, low, high))
        parts = Parts(np.array([level / times, 0.0, 0.0, 0.0]), np.zeros((4, 4)))
        return new, *self.moved("prior", (new, least, most), parts, tail=tail)

    def moved(
        self,
        name: str,
        found: tuple[float, float, float],
        parts: Parts,
        own: Floats | None = None,
        *,
        own_shift: bool = False,
        tail: float,
    ) -> tuple[float, float]:
        """The ends of a number in [0, 1] with what other plausible labelling changes in it."""
        assert self.positives is not None
        value, low, high = found
        shift, _, _, q1 = parts.values
        sizes = np.maximum(self.positives.tilted @ self.reference.weights, LEAST)
        recalls = self.positives.tilted @ self.flagged
        shifts = shift / sizes
        if own is not None:
            each = [self._standing(own, shares) for shares in self.positives.tilted]
            recalls = np.array([float(rows @ self.flagged) / float(rows.sum()) for rows in each])
        if own is not None and own_shift:
            means = [float(rows @ self.reference.weights) / float(rows.sum()) for rows in each]
            odds, middle = self.class_prior / (1 - self.class_prior), self._standing(own, self.positives.middle)
            mean = float(middle @ self.reference.weights) / float(middle.sum())
            in_window = (shift * (1 - self.class_prior) + self.class_prior) * (mean + odds) - odds
            share = (in_window / sizes + odds) / (np.array(means) / sizes + odds)
            shifts = (share - self.class_prior) / (1 - self.class_prior)
        prior = np.clip(self.class_prior + (1 - self.class_prior) * shifts, 0.0, 1.0)
        values = {"prior": prior, "recall": recalls}.get(name)
        if values is None:
            values = np.clip(METRICS[name](prior, np.minimum(prior * recalls, q1), q1), 0.0, 1.0)
        ends = self.positives.ends(value, low, high, values - value, tail)
        return min(max(ends[0], 0.0), value), max(min(ends[1], 1.0), value)
