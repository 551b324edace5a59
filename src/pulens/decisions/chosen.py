"""Intervals at a threshold that was chosen on the same rows: every redraw chooses again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pulens.decisions.actions import Actions
from pulens.decisions.costs import Costs
from pulens.inference.chosen import NONE, NOTHING, limits_of_choice
from pulens.inference.intervals import EstimatesIntervals
from pulens.inference.method import IntervalMethod, Limits
from pulens.inference.replicates import Replicates
from pulens.types import Booleans, Floats, Places

Value = Callable[[Actions], Floats]


@dataclass(frozen=True, eq=False)
class Rule:
    """How a threshold is chosen, so that redraws can do it again.

    ``most_flagged`` and ``least_found`` are the largest share of the list and the smallest share of labelled rows
    allowed; ``kept`` says which of the data's ``thresholds`` are allowed at all (the infinite one first). With
    ``settings`` the largest regret at these class priors is made small, not the cost at one.
    """

    costs: Costs
    thresholds: Floats
    most_flagged: float = np.inf
    least_found: float = 0.0
    kept: Booleans | None = None
    settings: tuple[Any, ...] = ()

    is_of_rankings: ClassVar[bool] = False

    def pick(self, own: Replicates, at: Callable[[Any], Replicates], thresholds: Floats) -> Places:
        drawn = _every_action(own)
        allowed = (drawn.flagged <= self.most_flagged + 1e-12) & (
            _nothing_first(own.redrawn.labelled) >= self.least_found - 1e-12
        )
        if self.kept is not None:
            allowed &= np.append(self.kept[0], self.kept[np.searchsorted(-self.thresholds, -thresholds) + 1])
        worst: Any = None
        for setting in self.settings or (None,):
            points = drawn if setting is None else _every_action(at(setting))
            cost = np.where(allowed, points.costs(self.costs), np.inf)
            regret = cost - (0.0 if setting is None else cost.min(axis=1, keepdims=True))
            worst = regret if worst is None else np.fmax(worst, regret)
        indices = np.where(np.isnan(worst), np.inf, worst).argmin(axis=1) + NOTHING  # which stands first
        return np.where(np.isfinite(worst).any(axis=1), indices, NONE)


def _nothing_first(rates: Floats) -> Floats:
    """The rates with those of the infinite threshold before them."""
    return np.concatenate([np.zeros((rates.shape[0], 1)), rates], axis=1)


def _every_action(replicates: Replicates) -> Actions:
    """At every threshold, the infinite one first."""
    maps, shape = replicates.recoveries, replicates.redrawn.labelled.shape
    recall, alarms = (np.broadcast_to(rate, shape) for rate in maps.rates(*replicates.redrawn[:3]))
    prior = np.broadcast_to(maps.positive / (maps.positive + maps.negative), len(recall))[:, None]
    flagged = np.clip(prior * recall + (1 - prior) * alarms, 0.0, 1.0)
    return Actions(np.zeros(0), _nothing_first(recall), _nothing_first(flagged), prior)


def _chosen_action(replicates: Replicates) -> Actions:
    """At the one threshold of each replicate."""
    every = _every_action(replicates)
    return Actions(np.zeros(0), every.recall[:, 1], every.flagged[:, 1], every.class_prior[:, 0])


@dataclass(frozen=True, eq=False)
class AtChosenThreshold(IntervalMethod):
    """The hull of three: percentiles of the errors of choosing again, and the interval as if the threshold had been
    fixed, moved by the mean optimism and not moved."""

    again: EstimatesIntervals  # whose choice is a :class:`Rule`
    fixed: IntervalMethod
    own: Callable[[Any], float]  # the value at a setting of the class prior
    of: Value

    method = "redraws with the threshold chosen again each time"

    def value(self, prior: Any) -> Any:
        return self.own(prior)

    def ends(self, prior: Any, tail: Any) -> Limits:
        low, high = self.fixed.ends(prior, tail)
        errors = errors_of_choice(self.again, self.of, prior)
        given = float(low), float(high)
        return limits_of_choice(self.own(prior), errors, self.again.tail(tail), given, also_given=True)


def errors_of_choice(again: EstimatesIntervals, of: Value, prior: Any) -> Floats:
    """What each redraw shows at the threshold it chose, less what the data show there."""
    return again.chosen_at(prior).errors(lambda replicates: of(_chosen_action(replicates)))
