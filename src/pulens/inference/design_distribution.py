"""What chance does to the rows of a design: the contract of one sample of rows and of strata of labelling.

Methods of intervals ask nothing else, so that each of them is written once for all designs. A setting is one way in
which the class prior may be: a share, or one for each stratum; ``None`` asks for it to be drawn along with the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from pulens.cached import cached_method
from pulens.inference.chosen import Chooser, ChosenReplicates
from pulens.inference.kernels.jackknife import ClusterCounts
from pulens.inference.kernels.quantiles import expanded_tail
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.measured import Target
from pulens.inference.method import Limits
from pulens.inference.prior_uncertainty import KnownOfPrior
from pulens.inference.recovered_counts import recovered_counts
from pulens.recovery.contingency import Contingency, missing_of
from pulens.types import Floats, Places


@dataclass(frozen=True)
class DesignDistribution(ABC):
    """Plausible rates, redraws and replicates of one evidence."""

    evidence: Any
    resampling: Resampling
    choice: Chooser | None = None

    words: ClassVar[Mapping[str, str]]  # methods by what they are for, as intervals name them
    takes_own_methods: ClassVar[bool]  # of metrics, whatever these ask of the rows

    def target(self, asked: Target) -> Target:
        """The number that was asked for, with its value at a setting of the class prior as this design finds it."""
        return asked

    @abstractmethod
    def known_of_prior(self, target: Target) -> KnownOfPrior:
        """What is known of the class prior, for this number."""

    @property
    @abstractmethod
    def n_labelled(self) -> float: ...

    # -- rankings
    @property
    def has_area(self) -> bool:
        """Whether the area has a variance in closed form."""
        return True

    @abstractmethod
    def area_limits(self, prior: Any, tail: float) -> Limits: ...

    @abstractmethod
    def precision_readings(self, prior: Any) -> Floats:
        """Both readings of average precision in each redraw."""

    @abstractmethod
    def redrawn_values(self, target: Target, prior: Any) -> Floats:
        """Any metric in each redraw."""

    @abstractmethod
    def shift(self, target: Target, prior: Any) -> float:
        """What fewer thresholds standing for all of them change in the value, to be added to redraws."""

    # -- at a threshold
    @abstractmethod
    def tables_at(self, threshold: float, prior: Any) -> list[Contingency]:
        """Tables of all plausible rates, as an interval reads them."""

    def tail_at(self, target: Target, prior: Any, tail: float) -> float:
        """The tail of their percentiles."""
        return tail

    @property
    @abstractmethod
    def chosen_thresholds(self) -> tuple[Any, Places]:
        """Thresholds, and which of them each redraw chooses."""

    @abstractmethod
    def chosen_at(self, prior: Any) -> ChosenReplicates:
        """What redraws show at the threshold that each would choose, at a setting of the class prior."""

    def tail(self, tail: float) -> float:
        """The tail of percentiles of redraws, for this many labelled rows or buckets of clusters."""
        return expanded_tail(tail, self.buckets.fewest if self.is_clustered else self.n_labelled)

    # -- rows that belong together
    @property
    @abstractmethod
    def is_clustered(self) -> bool: ...

    @cached_property
    @abstractmethod
    def buckets(self) -> ClusterCounts: ...

    @property
    @abstractmethod
    def few_thresholds(self) -> Any:
        """That stand for all; the lowest is among them."""

    def left_out_readings(self, target: Target, prior: Any) -> list[Floats]:
        """A metric without each bucket, not clipped, as an interval reads it.

        Where the recovered rates of all rows lie beyond 0 or 1, also with all of them moved there.
        """
        metric, at = target.metric, float(target.threshold or 0.0)
        thresholds = self.few_thresholds
        if metric.reads != "ranking":
            thresholds = np.array([at, min(at - 1.0, float(thresholds[-1]))])
        shares = getattr(prior, "shares", np.array(prior))[None]
        every, left_out = self._left_out(thresholds)
        whole = recovered_counts(self.evidence, *every, shares).tables()
        hits, alarms = missing_of(whole.true_positive_rate, whole.false_positive_rate)
        result = recovered_counts(self.evidence, *left_out, shares)
        return result.readings(metric, (hits, alarms), thresholds, at, **target.parameters)

    @cached_method(np.ndarray.tobytes)
    def _left_out(self, thresholds: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Counts and rows of all buckets, and those without each."""
        every = self.buckets.above(thresholds[:1]).sum(axis=0)[None], self.buckets.totals.sum(axis=0)[None]
        return every, self.buckets.left_out(thresholds)
