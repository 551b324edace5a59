"""Intervals at a threshold that was chosen on the same rows: every redraw chooses again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.cells import WeightedEvidence
from pulens.cells.priors import PriorSetting
from pulens.counts.tally import Tally
from pulens.decisions.actions import Actions
from pulens.decisions.costs import Costs
from pulens.decisions.within import ChosenAgainWithin
from pulens.evidence import Evidence
from pulens.intervals.construction import Construction, Ends
from pulens.intervals.kernels.quantiles import percentiles
from pulens.intervals.kernels.redraws import Redrawn, compress, redraw_tally
from pulens.intervals.kernels.resampling import Resampling
from pulens.intervals.prior_draws import PriorDraws
from pulens.types import Floats

Value = Callable[[Actions], Floats]


@dataclass(frozen=True, eq=False)
class Rule:
    """How a threshold is chosen, so that redraws can do it again.

    ``most_flagged`` and ``least_found`` are the largest share of the list and the smallest share of labelled rows
    allowed; ``kept`` says which thresholds of the data are allowed at all (the infinite one first). With ``at`` the
    largest regret at these shares of positives among the unlabelled rows is made small, not the cost at one.
    """

    costs: Costs
    most_flagged: float = np.inf
    least_found: float = 0.0
    kept: NDArray[np.bool_] | None = None
    at: tuple[float, ...] = ()
    settings: tuple[PriorSetting, ...] = ()  # within cells, in the place of ``at``


@dataclass(frozen=True, eq=False)
class ChosenAgain:
    """For each redraw: rates at the threshold it would choose, what the data show there, and its numbers of rows."""

    evidence: Evidence
    normal: Floats
    totals: tuple[Floats, Floats, Floats]
    redrawn: tuple[Floats, Floats, Floats]
    observed: tuple[Floats, Floats, Floats]

    @classmethod
    def by(cls, rule: Rule, evidence: Evidence, resampling: Resampling) -> ChosenAgain | ChosenAgainWithin:
        if isinstance(evidence, WeightedEvidence):
            return ChosenAgainWithin.by(rule, evidence, resampling)
        draws, tally = PriorDraws(evidence), compress(evidence.tally)
        kept = _kept(rule, evidence.tally, tally)
        shares = rule.at or (evidence.class_prior.unlabelled,)

        def work(redrawn: Redrawn) -> list[Floats]:
            each = [_nothing_first(rates) for rates in redrawn[:3]]
            worst: Any = None
            for share in shares:
                priors = np.broadcast_to(draws.priors(share, redrawn.normal, redrawn.totals), (len(redrawn),))
                points = _points(draws, redrawn.totals, priors, each)
                allowed = (points.flagged <= rule.most_flagged + 1e-12) & (each[0] >= rule.least_found - 1e-12) & kept
                cost = np.where(allowed, points.costs(rule.costs), np.inf)
                regret = cost - (cost.min(axis=1, keepdims=True) if rule.at else 0.0)
                worst = regret if worst is None else np.fmax(worst, regret)
            some = np.isfinite(worst).any(axis=1)
            places = np.where(some, np.where(np.isnan(worst), np.inf, worst).argmin(axis=1), -1)
            rows = np.arange(len(redrawn))
            return [redrawn.normal, *redrawn.totals, *(rates[rows, places] for rates in each), places]

        chunks = redraw_tally(tally, resampling, work, random_totals=draws.random_totals)
        columns = [np.concatenate(part) for part in zip(*chunks, strict=True)]
        chosen = columns[7] >= 0
        normal, *rest = (column[chosen] for column in columns)
        kinds = zip((tally.labelled, tally.unlabelled, tally.negative), tally.totals, strict=True)
        own = [_nothing_first(np.asarray(kind, float)[None] / (total or 1.0))[0][rest[6]] for kind, total in kinds]
        return cls(evidence, normal, tuple(rest[:3]), tuple(rest[3:6]), tuple(own))  # type: ignore[arg-type]

    def errors(self, value: Value, prior: float | None) -> Floats:
        """What each redraw shows at the threshold it chose, less what the data show there."""
        draws, own = PriorDraws(self.evidence), tuple(self.evidence.tally.totals)
        fixed = self.evidence.class_prior.unlabelled if prior is None else prior
        priors = np.broadcast_to(draws.priors(prior, self.normal, self.totals, mirrored=True), self.normal.shape)
        drawn = value(_points(draws, self.totals, priors, list(self.redrawn)))
        known = value(_points(draws, own, np.full(self.normal.size, fixed), list(self.observed)))
        return np.asarray(drawn - known)

    def tail(self, tail: float) -> float:
        """The tail of percentiles for this many labelled rows."""
        return PriorDraws(self.evidence).tail(tail)


def _nothing_first(rates: Floats) -> Floats:
    """The rates with those of the infinite threshold before them."""
    return np.concatenate([np.zeros((rates.shape[0], 1)), rates], axis=1)


def _kept(rule: Rule, tally: Tally, compressed: Tally) -> NDArray[np.bool_]:
    if rule.kept is None:
        return np.ones(len(compressed) + 1, bool)
    places = np.searchsorted(-np.asarray(tally.thresholds, float), -np.asarray(compressed.thresholds, float))
    return np.append(rule.kept[0], rule.kept[places + 1])


def _points(draws: PriorDraws, totals: Any, priors: Floats, rates: list[Floats]) -> Actions:
    """Recall and flagged share from observed rates, of shape (redraws,) or (redraws, thresholds)."""
    maps = draws.recoveries(totals, priors)
    gamma, eta = maps.rates(*rates)
    prior = maps.positive / (maps.positive + maps.negative)
    prior = prior[:, None] if np.ndim(gamma) == 2 else prior
    flagged = np.clip(prior * gamma + (1 - prior) * eta, 0.0, 1.0)
    return Actions(np.zeros(0), gamma, flagged, prior)


@dataclass(frozen=True, eq=False)
class AtChosenThreshold(Construction):
    """The hull of three: percentiles of the errors of choosing again, and the interval as if the threshold had been
    fixed, moved by the mean optimism and not moved."""

    again: ChosenAgain | ChosenAgainWithin
    fixed: Construction
    own: Callable[[float], float]  # the value at a share of positives among the unlabelled rows
    of: Value

    method = "redraws with the threshold chosen anew"

    def value(self, prior: float) -> Any:
        return self.own(prior)

    @property
    def optimism(self) -> float:
        """How far the number of the chosen threshold is off on average, because it was chosen on these rows."""
        errors = self.again.errors(self.of, self.again.evidence.class_prior.unlabelled)
        return float(np.nanmean(errors)) if errors.size and not np.isnan(errors).all() else 0.0

    def ends(self, prior: float | None, tail: Any) -> Ends:
        errors = self.again.errors(self.of, prior)
        errors = errors[~np.isnan(errors)]
        low, high = self.fixed.ends(prior, tail)
        given = float(low), float(high)
        if not errors.size:
            return given
        value = self.own(self.again.evidence.class_prior.unlabelled if prior is None else prior)
        each = self.again.tail(tail)
        low, high = percentiles(errors, each, each)
        moved = float(errors.mean())
        return (
            min(value - high, given[0] - moved, given[0]),
            max(value - low, given[1] - moved, given[1]),
        )
