r"""What groups would show if one class prior held in all of them, and where the order of two groups turns.

A group's share flagged :math:`q` and its recall :math:`\gamma` need no class prior; with one, :math:`a`, every number
at the threshold follows, since :math:`\eta = (q - a\gamma)/(1 - a)` is the false positive rate. So the gap of two
groups at a common class prior is a function of :math:`a` alone. That of false positive rates has the sign of
:math:`\Delta q - a \Delta\gamma` and turns at :math:`\Delta q/\Delta\gamma`; that of accuracies has the sign of
:math:`2a\Delta\gamma - \Delta q` and turns at half of it; precisions, :math:`a\gamma/q`, keep their order, and their
ratio needs the ratio of the class priors only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.metrics import METRICS, leading
from pulens.recovery.contingency import Contingency
from pulens.types import Floats

GRID = 256  # class priors between which a turn is looked for
HALVINGS = 50


class GroupCrossing(NamedTuple):
    """Where two groups change places: the metric, the common class prior (``None``: nowhere), who is higher below it.

    ``leader`` is 1 for the first group, -1 for the second, 0 where they are equal.
    """

    metric: str
    at: float | None
    leader: int


@dataclass(frozen=True, eq=False)
class CommonPrior:
    """Groups with their recall and share flagged, from which numbers follow at any class prior common to all.

    >>> pair = CommonPrior(("north", "south"), np.array([0.8, 0.6]), np.array([0.5, 0.4]))
    >>> pair.turns("false_positive_rate", 0, 1).round(12), pair.turns("accuracy", 0, 1).round(12)
    (array([0.5]), array([0.25]))
    >>> round(pair.ratio_of_precisions(0, 1), 3)
    1.067
    """

    names: tuple[Any, ...]
    recall: Floats
    flagged: Floats

    @property
    def largest(self) -> Floats:
        """The largest class prior that each group's shares allow: no more found, and no more missed, than there are."""
        result = np.divide(self.flagged, self.recall, out=np.ones(self.recall.shape), where=self.recall > 0)
        left, missed = 1 - self.flagged, 1 - self.recall
        return np.minimum(np.minimum(result, np.divide(left, missed, out=np.ones(missed.shape), where=missed > 0)), 1.0)

    def values(self, metric: str, priors: Floats, groups: NDArray[np.intp] | None = None) -> Floats:
        """A metric at a threshold in each group at its class prior."""
        chosen = np.arange(self.recall.size) if groups is None else groups
        recall, flagged = self.recall[chosen], self.flagged[chosen]
        alarms = (flagged - priors * recall) / (1 - priors)
        table = Contingency(np.zeros(recall.shape), recall, alarms, priors, 1 - priors)
        return np.asarray(METRICS[metric].compute(table), float)

    def turns(self, metric: str, first: Any, second: Any) -> Floats:
        """The common class prior at which each pair of groups changes places; nan where none that both allow does."""
        one, other = np.atleast_1d(np.asarray(first, np.intp)), np.atleast_1d(np.asarray(second, np.intp))
        most = np.minimum(self.largest[one], self.largest[other]) * (1 - 1e-9)

        def gap(shares: Floats) -> Floats:
            return np.nan_to_num(self.values(metric, shares * most, one) - self.values(metric, shares * most, other))

        grid = (np.arange(GRID) + 0.5) / GRID
        signs = np.stack([np.sign(np.round(gap(np.full(one.shape, share)), 12)) for share in grid])
        flips = signs[:-1] * signs[1:] < 0
        index = flips.argmax(axis=0)
        low, high = grid[index], grid[np.minimum(index + 1, GRID - 1)]
        at_low = np.sign(gap(low))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            same = np.sign(gap(middle)) == at_low
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        return np.where(flips.any(axis=0), (low + high) / 2 * most, np.nan)

    def leader_below(self, metric: str, first: int, second: int) -> int:
        """1 where the first group has the higher value at small class priors, -1 the second, 0 where they are equal."""
        prior = np.full(1, min(self.largest[first], self.largest[second]) * 0.5 / GRID)
        apart = self.values(metric, prior, np.array([first])) - self.values(metric, prior, np.array([second]))
        return int(np.sign(np.round(np.nan_to_num(apart), 12))[0])

    def ratio_of_precisions(self, first: int, second: int) -> float:
        """Precision of the first group over the second's at a common class prior; nan where nothing is flagged."""
        shares = np.divide(self.recall, self.flagged, out=np.full(self.recall.shape, np.nan), where=self.flagged > 0)
        return float(shares[first] / shares[second]) if shares[second] > 0 else float("nan")

    def turns_of(self, first: int, second: int) -> tuple[GroupCrossing, ...]:
        """Where two groups change places in the metrics that people ask for first."""
        result = []
        for metric in leading("gaps"):
            at = float(self.turns(metric, first, second)[0])
            result.append(GroupCrossing(metric, None if np.isnan(at) else at, self.leader_below(metric, first, second)))
        return tuple(result)
