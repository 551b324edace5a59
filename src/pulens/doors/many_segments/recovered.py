"""The recovery's linear map for many segments, each at one class prior or at many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pulens.recovery.contingency import Contingency
from pulens.recovery.many import HIGHEST_SHARE
from pulens.scenario import Scenario
from pulens.types import Floats

Kinds = tuple[Any, Any, Any]  # labelled, unlabelled, known negative: arrays that broadcast with one another


class World(NamedTuple):
    """What is the same in all segments."""

    label_noise: float
    scenario: Scenario
    held: str  # which share stays when numbers of rows are redrawn: see :class:`pulens.evidence.Evidence`

    @property
    def purity(self) -> float:
        return 1.0 - self.label_noise

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


class Recoveries(NamedTuple):
    """Coefficients of the observed rates, as in :class:`pulens.recovery.Recovery`, in arrays of any one shape."""

    true_positive_rate: Kinds
    false_positive_rate: Kinds
    positive: Any
    negative: Any

    def rates(self, observed: Kinds) -> tuple[Any, Any]:
        answer = []
        for coefficients in (self.true_positive_rate, self.false_positive_rate):
            total: Any = coefficients[0] * observed[0]
            for coefficient, rate in zip(coefficients[1:], observed[1:], strict=True):
                if np.any(coefficient):
                    total = total + coefficient * rate
            answer.append(total)
        return answer[0], answer[1]

    def tables(self, observed: Kinds) -> Tables:
        hits, alarms = self.rates(observed)
        return Tables(np.zeros(1), hits, alarms, self.positive, self.negative)


def recoveries(totals: Kinds, unlabelled_prior: Any, world: World) -> Recoveries:
    """What :meth:`pulens.recovery.Recovery.of` gives where there are unlabelled rows.

    >>> world = World(0.0, Scenario.CASE_CONTROL, "unlabelled")
    >>> found = recoveries((3.0, 8.0, 0.0), np.array([0.2]), world)
    >>> [float(coefficient[0]) for coefficient in found.false_positive_rate[:2]]
    [-0.25, 1.25]
    """
    n_labelled, n_unlabelled, n_negative = totals
    alpha, beta = unlabelled_prior, world.purity
    scale = beta - alpha
    latent = (1 - alpha) * n_unlabelled
    if world.scenario is Scenario.SINGLE_SET:
        latent = latent + (1 - beta) * n_labelled
    known = n_negative / (latent + n_negative) if np.any(n_negative) else np.zeros(1)
    gamma = ((1 - alpha) / scale, -(1 - beta) / scale if world.label_noise else np.zeros(1), np.zeros(1))
    eta = (-alpha / scale * (1 - known), beta / scale * (1 - known), known)
    if world.scenario is Scenario.CASE_CONTROL:
        return Recoveries(gamma, eta, alpha * n_unlabelled, (1 - alpha) * n_unlabelled)
    positive = beta * n_labelled + alpha * n_unlabelled
    return Recoveries(gamma, eta, positive, n_labelled + n_unlabelled + n_negative - positive)


def moved(unlabelled_prior: Any, totals: Kinds, redrawn: Kinds, world: World, elsewhere: Any) -> Floats:
    """What :func:`pulens.recovery.many.priors_in_redraws` gives where there are labelled and unlabelled rows."""
    alpha, beta = np.asarray(unlabelled_prior, float), world.purity
    if world.held == "frequency":
        each = beta + alpha * totals[1] / totals[0]
        each = each * (totals[0] + elsewhere) / (redrawn[0] + elsewhere)
        alpha = (each - beta) * redrawn[0] / np.maximum(redrawn[1], 1.0)
    elif world.held == "population" and world.scenario is Scenario.SINGLE_SET:
        population = (beta * totals[0] + alpha * totals[1]) / (totals[0] + totals[1] + totals[2])
        alpha = (population * (redrawn[0] + redrawn[1] + redrawn[2]) - beta * redrawn[0]) / np.maximum(redrawn[1], 1.0)
    return np.asarray(np.clip(alpha, 0.0, beta * HIGHEST_SHARE))
