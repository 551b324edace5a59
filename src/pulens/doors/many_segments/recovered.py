"""The recovery's linear map for many segments, each at one class prior or at many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pulens.recovery.contingency import Contingency
from pulens.recovery.many import ManyRecoveries, priors_in_redraws, recover_many
from pulens.scenario import Scenario
from pulens.types import Floats

Kinds = tuple[Any, Any, Any]  # labelled, unlabelled, known negative: arrays that broadcast with one another


class World(NamedTuple):
    """What is the same in all segments."""

    label_noise: float
    scenario: Scenario
    held: str  # which share stays when numbers of rows are redrawn: see :class:`pulens.evidence.Evidence`

    @property
    def random_totals(self) -> bool:
        return self.scenario is Scenario.SINGLE_SET


@dataclass(frozen=True, eq=False)
class Tables(Contingency):
    """Tables whose cells several metrics read: each is found once."""

    @cached_property
    def predicted_positive(self) -> Floats:
        return super().predicted_positive

    @cached_property
    def _cells(self) -> tuple[Floats, Floats]:
        return super()._cells


def recoveries(totals: Kinds, unlabelled_prior: Any, world: World) -> ManyRecoveries:
    return recover_many(totals, unlabelled_prior, world.label_noise, world.scenario)


def tables(maps: ManyRecoveries, observed: Kinds) -> Tables:
    hits, alarms = maps.rates(*observed)
    return Tables(np.zeros(1), hits, alarms, maps.positive, maps.negative)


def moved(unlabelled_prior: Any, totals: Kinds, redrawn: Kinds, world: World, elsewhere: Any) -> Floats:
    """Shares in redraws, of segments with labelled and unlabelled rows."""
    assumed: Any = {"held": world.held, "scenario": world.scenario, "elsewhere": elsewhere}
    return priors_in_redraws(unlabelled_prior, totals, redrawn, world.label_noise, **assumed)
