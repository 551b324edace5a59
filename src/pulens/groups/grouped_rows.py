"""Rows counted group by group at one threshold, and how groups are named."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pulens.counts.buckets import BucketTally
from pulens.counts.exactness import in_precision
from pulens.counts.tallies import Tallies
from pulens.scenario import Scenario
from pulens.types import Floats


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """The rows of every group, the common threshold (``None`` where each has its own), and how labels came about."""

    group_by: str
    tallies: Tallies
    threshold: float | None
    threshold_words: str
    scenario: Scenario
    label_noise: float
    is_chosen: bool = False  # the threshold, on these rows
    buckets: Mapping[Any, BucketTally] = field(default_factory=dict)  # of each group, where rows belong together

    def counts(self) -> tuple[Floats, Floats]:
        """Rows of each kind in every group, and those at or above the threshold; of shape (groups, 3)."""
        return self.tallies.totals, self._above

    @cached_property
    def _above(self) -> Floats:
        assert self.threshold is not None
        scores, bounds = self.tallies.thresholds, self.tallies.bounds
        is_above = scores >= in_precision(self.threshold, scores.dtype)
        before = np.concatenate([[0], np.cumsum(is_above)])
        many = before[bounds[1:]] - before[bounds[:-1]]
        some = many > 0
        last = (bounds[:-1] + many - 1)[some]  # scores fall within a group, and counts are running sums
        result = np.zeros((len(self.tallies), 3))
        for kind, running in enumerate((self.tallies.labelled, self.tallies.unlabelled, self.tallies.negative)):
            if running is not None:
                result[some, kind] = running[last]
        return result

    @property
    def many_buckets(self) -> int | None:
        """How many buckets of clusters all groups have together; ``None`` where rows were not counted by cluster."""
        return len({name for counted in self.buckets.values() for name in counted.names}) if self.buckets else None

    def bucket_counts(self) -> tuple[Floats, Floats]:
        """The same in every bucket of clusters that some group has; of shape (buckets, groups, 3)."""
        assert self.threshold is not None
        indices: dict[str, int] = {}
        for counted in self.buckets.values():
            for name in counted.names:
                indices.setdefault(name, len(indices))
        totals, above = np.zeros((2, len(indices), len(self.tallies), 3))
        for group, name in enumerate(self.tallies):
            counted = self.buckets[name]
            mine = [indices[bucket] for bucket in counted.names]
            totals[mine, group], above[mine, group] = counted.totals, counted.at(self.threshold)
        return totals, above

    def population(self, counts: Floats) -> Floats:
        """Of counts by group and kind, the rows of the population; labelled rows collected separately are none."""
        every: Floats = counts.sum(axis=-1)
        if self.scenario is Scenario.SINGLE_SET:
            return every
        return np.where(self.tallies.totals[:, 1] > 0, counts[..., 1], every)


def title_of(group: Any) -> str:
    """A group or segment as tables name it."""
    return "(null)" if group is None else str(group)


def plain_of(group: Any) -> Any:
    """A group or segment as JSON names it: inf and nan are no numbers there."""
    is_json = isinstance(group, str | int | bool | None) or (isinstance(group, float) and math.isfinite(group))
    return group if is_json else str(group)
