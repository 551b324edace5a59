"""Demands together: which thresholds capacity and floors allow, which is chosen among them, which demand binds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pulens.decisions.actions import Actions, cheapest
from pulens.decisions.costs import Costs
from pulens.types import Floats

Allowed = NDArray[np.bool_]
CAPACITY, RECALL, PRECISION = "capacity", "recall", "precision"  # what can be demanded


@dataclass(frozen=True, eq=False)
class Demands:
    """Masks over all that could be done (flag none first), by the name of the demand."""

    points: Actions
    costs: Costs | None
    masks: Mapping[str, Allowed]
    at: tuple[Actions, ...] = ()  # where the largest regret is to be small: the ends of the class prior's range

    def together(self, without: str = "") -> Allowed:
        allowed = np.ones(self.points.thresholds.size, bool)
        for name, mask in self.masks.items():
            if name != without:
                allowed &= mask
        return allowed

    @property
    def choice(self) -> str:
        """What chose among the allowed thresholds."""
        if self.costs is not None:
            return "regret" if self.at else "cost"
        return next(name for name in (RECALL, PRECISION, CAPACITY) if name in self.masks)

    def choose(self, allowed: Allowed) -> int:
        """The cheapest; without costs the fewest alarms that keep a recall floor, or else the most positives."""
        if self.costs is None:
            indices = np.flatnonzero(allowed)
            return int(indices[0] if RECALL in self.masks else indices[-1])
        return cheapest(self.criterion(allowed), allowed)

    def criterion(self, allowed: Allowed) -> Floats:
        """What is made small: the cost, or the largest cost above the cheapest at either end of the range."""
        assert self.costs is not None
        if not self.at:
            return self.points.costs(self.costs)
        costs = [points.costs(self.costs) for points in self.at]
        return np.asarray(np.max([each - each[allowed].min() for each in costs], axis=0))

    @property
    def binds(self) -> tuple[str, ...]:
        """Demands without which another threshold would have been cheaper, or chosen."""
        own = self.choose(self.together())
        if self.costs is None and len(self.masks) == 1:
            return tuple(self.masks)
        return tuple(
            name for name in self.masks if name == self.choice or self.choose(self.together(without=name)) != own
        )

    def cheaper_without(self, name: str) -> tuple[float, float] | None:
        """Threshold and saving per row if a demand were dropped; ``None`` without costs or if nothing is saved."""
        if self.costs is None or self.at:
            return None
        costs = self.points.costs(self.costs)
        own, other = (self.choose(allowed) for allowed in (self.together(), self.together(without=name)))
        return None if own == other else (float(self.points.thresholds[other]), float(costs[own] - costs[other]))

    def collision(self) -> tuple[str, ...] | None:
        """The demands that cannot be met together: one by itself, or the first two; ``None`` if all can."""
        if self.together().any():
            return None
        names = list(self.masks)
        for name in names:
            if not self.masks[name].any():
                return (name,)
        for index, first in enumerate(names):
            for second in names[index + 1 :]:
                if not (self.masks[first] & self.masks[second]).any():
                    return first, second
        return tuple(names)
