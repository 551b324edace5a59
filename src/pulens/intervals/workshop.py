"""What the intervals of one evidence's metrics share: computed once, whichever construction asks first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Tally
from pulens.evidence import Evidence
from pulens.intervals.kernels.jackknife import LeftOut, freedom_of_totals, redraw_buckets
from pulens.intervals.kernels.placements import PlacementMoments, placement_moments
from pulens.intervals.kernels.redraws import Redrawn, compress, redraw_tally
from pulens.intervals.kernels.resampling import Resampling
from pulens.intervals.measured import Measured
from pulens.intervals.prior_doubt import PRIORS_IN_RANGE
from pulens.intervals.prior_draws import PriorDraws
from pulens.intervals.rates import PlausibleRates
from pulens.intervals.redrawn import at_places, average_precisions, best_places
from pulens.types import Floats


@dataclass(frozen=True)
class Choice:
    """A threshold that was chosen on the same rows, as the best of a metric."""

    metric: Measured
    threshold: float


class ChosenAnew(NamedTuple):
    """For each redraw a normal number, the threshold it would choose (its place), its totals and its rates there."""

    normal: Floats
    places: NDArray[np.intp]
    totals: tuple[Floats, ...]
    rates: tuple[Floats, ...]


@dataclass(frozen=True)
class Workshop:
    """Placements, plausible rates and redraws of one evidence."""

    evidence: Evidence
    resampling: Resampling
    choice: Choice | None = None

    @cached_property
    def draws(self) -> PriorDraws:
        return PriorDraws(self.evidence)

    @cached_property
    def moments(self) -> PlacementMoments:
        return placement_moments(self.evidence.tally)

    @cached_property
    def rates(self) -> PlausibleRates:
        return PlausibleRates(self.draws, self.resampling)

    @cached_property
    def compressed(self) -> Tally:
        """Few thresholds that stand for all; of rows counted by bucket those at which the buckets' counts are known."""
        buckets = self.evidence.buckets
        return compress(self.evidence.tally if buckets is None else buckets.without([]))

    @property
    def buckets(self) -> BucketTally:
        found = self.evidence.buckets
        assert found is not None, "asked for buckets of rows that were not counted by cluster"
        return found

    @cached_property
    def left_out(self) -> LeftOut:
        """Counts without each bucket at the few thresholds."""
        return LeftOut.of(self.buckets, self.compressed.thresholds)

    def left_out_at(self, threshold: float) -> LeftOut:
        """Counts without each bucket at a threshold, and in all; metrics at one threshold share them."""
        if threshold not in self._left_out_at:
            self._left_out_at[threshold] = LeftOut.of(self.buckets, np.array([threshold, -np.inf]))
        return self._left_out_at[threshold]

    @cached_property
    def _left_out_at(self) -> dict[float, LeftOut]:
        return {}

    @property
    def fewest_buckets(self) -> int:
        """How many buckets hold labelled rows, or how many others, whichever are fewer."""
        return min(self.buckets.held)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of a standard error: of the buckets that hold labelled rows, or others if that is less."""
        return freedom_of_totals(self.buckets.totals)

    @property
    def average_precisions(self) -> dict[float | None, Floats]:
        """Both readings of average precision in each redraw, at each class prior that will be asked for."""
        return self._redrawn[0]

    @property
    def chosen_anew(self) -> ChosenAnew:
        """What redraws show at the threshold that each would choose, where the threshold was chosen."""
        normal, places, *counted = self._redrawn[1]
        return ChosenAnew(normal, places, tuple(counted[:3]), tuple(counted[3:]))

    @cached_property
    def _redrawn(self) -> tuple[dict[float | None, Floats], tuple[Any, ...]]:
        """One pass over the redraws for all that needs them."""
        doubt = self.draws.doubt
        asked: list[float | None] = [self.evidence.class_prior.unlabelled]
        if doubt.treatment != "exact":
            asked += [None] if doubt.treatment == "drawn" else doubt.over(PRIORS_IN_RANGE)
        labelled_at = np.asarray(self.compressed.increments()[0], float)

        def work(redrawn: Redrawn) -> tuple[list[Floats], tuple[Any, ...]]:
            maps = []
            for prior in asked:
                priors = self.draws.priors(prior, redrawn.normal, redrawn.totals)
                maps.append(self.draws.recoveries(redrawn.totals, np.broadcast_to(priors, (len(redrawn),))))
            readings = [np.stack(average_precisions(recoveries, redrawn, labelled_at)) for recoveries in maps]
            if self.choice is None:
                return readings, ()
            metric, table = self.choice.metric, maps[0].tables(*redrawn[:3])
            places = best_places(metric.compute(table), table.is_possible, higher_is_better=metric.higher_is_better)
            return readings, (redrawn.normal, places, *redrawn.totals, *at_places(redrawn, places))

        if self.evidence.buckets is not None:
            held = self.buckets.above(self.compressed.thresholds)
            chunks = redraw_buckets(held[held[:, -1].sum(axis=1) > 0], self.resampling, work)
        else:
            chunks = redraw_tally(self.compressed, self.resampling, work, random_totals=self.draws.random_totals)
        readings = {prior: np.concatenate([chunk[0][i] for chunk in chunks], axis=1) for i, prior in enumerate(asked)}
        parts = zip(*(chunk[1] for chunk in chunks), strict=True)
        return readings, tuple(np.concatenate(part) for part in parts)
