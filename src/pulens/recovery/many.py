"""The recovery's linear map for many redraws, segments or class priors at once: axes are free."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pulens.recovery.contingency import Contingency, Tables
from pulens.scenario import Scenario
from pulens.types import Floats

Triple = tuple[Any, Any, Any]
HIGHEST_SHARE = 1 - 1e-9  # of the labelled purity: a redrawn class prior stops short of where labels say nothing


class ManyRecoveries(NamedTuple):
    """:class:`~pulens.recovery.Recovery` with an entry for each redraw, segment or class prior, in arrays of any shape.

    ``hits`` and ``alarms`` are the coefficients of the three kinds of row in the true and the false positive rate;
    arrays broadcast with one another.
    """

    hits: Triple
    alarms: Triple
    positive: Any
    negative: Any

    @property
    def true_positive_rate(self) -> Floats:
        """Coefficients along the last axis."""
        return np.stack(np.broadcast_arrays(*self.hits, self.positive)[:3], axis=-1)

    @property
    def false_positive_rate(self) -> Floats:
        return np.stack(np.broadcast_arrays(*self.alarms, self.positive)[:3], axis=-1)

    def rates(self, *observed: Any) -> tuple[Any, Any]:
        """True and false positive rate from observed ones, which may have an axis more, that of thresholds."""
        return _weighted(self.hits, observed), _weighted(self.alarms, observed)

    def tables(self, *observed: Any) -> Contingency:
        """Contingency tables from observed rates."""
        return self.as_tables(*self.rates(*observed))

    def as_tables(self, gamma: Any, eta: Any) -> Contingency:
        """Contingency tables from recovered rates."""
        positive, rest = (_like(each, gamma) for each in (self.positive, self.negative))
        return Tables(np.zeros(np.shape(gamma)), gamma, eta, positive, rest)

    def roc_areas(self, *rates: Any) -> Floats:
        """:func:`~pulens.recovery.direct_roc_auc` of every redraw, from rates of shape (redraws, thresholds)."""
        areas = np.full((len(rates[0]), 3, 3), 0.5)
        for above, below in ((0, 1), (0, 2), (1, 2)):
            both = (rates[above][:, -1] != 0) & (rates[below][:, -1] != 0)  # else there are no pairs
            if both.any():
                steps = rates[below].copy()
                steps[:, 1:] -= rates[below][:, :-1]
                heights = rates[above].copy()
                heights[:, 1:] += rates[above][:, :-1]
                areas[:, above, below] = np.where(both, np.einsum("nt,nt->n", heights, steps) / 2, 0.5)
                areas[:, below, above] = 1.0 - areas[:, above, below]
        return np.asarray(np.einsum("ni,nij,nj->n", self.true_positive_rate, areas, self.false_positive_rate))


def _like(number: Any, rate: Any) -> Any:
    """With an axis for thresholds where a rate has one."""
    return number[..., None] if np.ndim(rate) > np.ndim(number) else number


def _weighted(coefficients: Triple, observed: tuple[Any, ...]) -> Any:
    used = [pair for pair in zip(coefficients, observed, strict=True) if np.any(pair[0])]
    if len(used) == 1:
        coefficient, rate = used[0]
        if np.ndim(rate) == 2 and np.size(coefficient) in (1, len(rate)) and np.all(coefficient == 1):
            return rate  # recall is the rate of labelled rows where their labels are right
    total: Any = 0.0
    for place, (coefficient, rate) in enumerate(used):
        if place == 0 and len(used) > 1:
            total = _like(coefficient, rate) * rate
        else:
            total = total + _like(coefficient, rate) * rate
    return total


def recover_many(totals: Triple, unlabelled_prior: Any, label_noise: float, scenario: Scenario) -> ManyRecoveries:
    """What :meth:`Recovery.of` gives, for arrays of totals and class priors that broadcast with one another.

    >>> many = recover_many((3.0, 8.0, 0.0), np.array([0.2, 0.25]), 0.0, Scenario.CASE_CONTROL)
    >>> many.false_positive_rate.round(6)
    array([[-0.25    ,  1.25    ,  0.      ], [-0.333333,  1.333333,  0.      ]])
    """
    n_labelled, n_unlabelled, n_negative, alpha = (
        np.atleast_1d(np.asarray(value, float)) for value in (*totals, unlabelled_prior)
    )
    beta, none = 1.0 - label_noise, np.zeros(1)
    single = scenario is Scenario.SINGLE_SET
    if not n_unlabelled.any():
        alpha, single = np.zeros(alpha.shape), True
        hits: Triple = np.full(1, 1 / beta), none, np.full(1, -(1 - beta) / beta)
        alarms: Triple = none, none, np.ones(1)
    else:
        scale = beta - alpha
        latent = (1 - alpha) * n_unlabelled
        if single:
            latent = latent + (1 - beta) * n_labelled
        known = none
        if n_negative.any():
            rest = latent + n_negative
            # a redraw of few clusters may hold no negative at all
            known = np.divide(n_negative, rest, out=np.zeros(rest.shape), where=rest != 0)
        hits = (1 - alpha) / scale, -(1 - beta) / scale if label_noise else none, none
        alarms = -alpha / scale * (1 - known), beta / scale * (1 - known), known
    if not single:
        return ManyRecoveries(hits, alarms, alpha * n_unlabelled, (1 - alpha) * n_unlabelled)
    positive = beta * n_labelled + alpha * n_unlabelled
    return ManyRecoveries(hits, alarms, positive, n_labelled + n_unlabelled + n_negative - positive)


def priors_in_redraws(
    unlabelled_prior: Any,
    totals: Triple,
    redrawn: Triple,
    label_noise: float,
    *,
    held: str,
    scenario: Scenario,
    elsewhere: Any = 0.0,
) -> Floats:
    r"""The share of positives among the unlabelled rows in redraws whose numbers of rows differ from the data's.

    When the share among the unlabelled rows is what is known, it stays. When the class prior :math:`\pi` of the
    population is known in the single-set scenario, the share follows from it and from how many rows each redraw
    labels, :math:`\alpha = (\pi n - \beta n_L)/n_U`. When the rows are a segment of a sample with one label frequency,
    of which ``elsewhere`` labelled rows lie in other segments, the segment's positives are its share
    :math:`n_L/(n_L + R)` of all positives, and follow its own labelled rows up and down.

    >>> args = dict(label_noise=0.0, held="population", scenario=Scenario.SINGLE_SET)
    >>> priors_in_redraws(0.2, (100, 900, 0), (np.array([100, 120]), np.array([900, 880]), 0), **args).round(4)
    array([0.2   , 0.1818])
    """
    alpha = np.asarray(unlabelled_prior, float)
    beta = 1.0 - label_noise
    if held == "frequency" and np.all(totals[0]) and np.all(totals[1]):
        each = beta + alpha * totals[1] / totals[0]  # positives behind each labelled row
        each = each * (totals[0] + elsewhere) / (np.asarray(redrawn[0], float) + elsewhere)
        alpha = (each - beta) * redrawn[0] / np.maximum(redrawn[1], 1.0)
    if scenario is Scenario.SINGLE_SET and held == "population" and np.all(totals[1]):
        population = (beta * totals[0] + alpha * totals[1]) / sum(totals)
        rows = sum(redrawn)
        alpha = (population * rows - beta * redrawn[0]) / np.maximum(redrawn[1], 1.0)
    return np.atleast_1d(np.clip(alpha, 0.0, beta * HIGHEST_SHARE))
