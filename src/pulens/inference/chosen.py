"""A threshold that was chosen on the same rows: what redraws show at the one that each of them would choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from pulens.inference.bootstrap import best_places
from pulens.inference.kernels.quantiles import percentiles
from pulens.inference.measured import Measured
from pulens.inference.method import Limits
from pulens.inference.replicates import Replicates
from pulens.types import Floats, Places

NOTHING, NONE = -1, -2  # in the place of a threshold: nothing is flagged; no threshold is allowed


class Chooser(Protocol):
    """How a threshold is chosen, so that redraws can do it again."""

    is_of_rankings: ClassVar[bool]  # whether metrics of rankings are found in the same redraws

    def pick(self, own: Replicates, at: Callable[[Any], Replicates], thresholds: Floats) -> Places:
        """Which of the thresholds each redraw chooses, from what it shows at the class prior's own value.

        ``at`` gives what it shows at another setting of the class prior.
        """


@dataclass(frozen=True)
class Choice:
    """A threshold that was chosen on the same rows, as the best of a metric."""

    metric: Measured
    threshold: float

    is_of_rankings: ClassVar[bool] = True

    def pick(self, own: Replicates, at: Callable[[Any], Replicates], thresholds: Floats) -> Places:
        table = own.all_tables
        return best_places(self.metric.compute(table), table.is_possible, higher_is_better=self.metric.higher_is_better)


class ChosenReplicates(NamedTuple):
    """What redraws show at the threshold that each would choose, and what the rows themselves show there."""

    redrawn: Replicates
    observed: Replicates

    def errors(self, value: Callable[[Replicates], Floats]) -> Floats:
        """Of each redraw; their mean is the optimism of choosing."""
        return np.asarray(value(self.redrawn) - value(self.observed))


def limits_of_choice(value: float, errors: Floats, tail: float, given: Limits, *, also_given: bool = False) -> Limits:
    """The hull of the percentiles of errors of choosing again and of what is ``given`` as if nothing had been chosen.

    The latter is moved by the mean optimism; ``also_given`` keeps it where it was, too.

    >>> limits_of_choice(0.5, np.array([0.0, 0.1, 0.2]), 0.0, (0.45, 0.55))
    (0.3, 0.5)
    """
    known = errors[~np.isnan(errors)]
    if not known.size:
        return given
    low, high = percentiles(known, tail, tail)
    moved = float(known.mean())
    lows, highs = [value - high, given[0] - moved], [value - low, given[1] - moved]
    return min(lows + [given[0]] * also_given), max(highs + [given[1]] * also_given)
