"""Rows counted group by group at one threshold, and how groups are named."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

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
        found = np.zeros((len(self.tallies), 3))
        for kind, running in enumerate((self.tallies.labelled, self.tallies.unlabelled, self.tallies.negative)):
            if running is not None:
                found[some, kind] = running[last]
        return found

    def population(self, counts: Floats) -> Floats:
        """Of counts by kind, the rows that stand for the population: labelled rows collected apart do not."""
        every: Floats = counts.sum(axis=1)
        if self.scenario is Scenario.SINGLE_SET:
            return every
        return np.where(self.tallies.totals[:, 1] > 0, counts[:, 1], every)


def title_of(group: Any) -> str:
    """A group or segment as tables name it."""
    return "(null)" if group is None else str(group)


def plain_of(group: Any) -> Any:
    """A group or segment as JSON names it."""
    return group if isinstance(group, str | int | float | bool | None) else str(group)
