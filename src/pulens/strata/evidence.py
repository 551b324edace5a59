r"""What all rows show where labels are random within cells: each cell recovered, then added up by what the cells hold.

A cell holds :math:`P_g` positives: :math:`\alpha_g n_{Ug}` of the unlabelled rows (case-control), or those and its
labelled ones (single set, :math:`\beta n_{Lg} + \alpha_g n_{Ug}`). With :math:`\omega_g = P_g / \sum P_g` the positives
of all cells together are distributed as :math:`f_1 = \sum_g \omega_g f_{1g}`, where :math:`f_{1g}` is what the cell's
labelled rows show. That is one tally in which a labelled row of cell g weighs :math:`P_g / n_{Lg}` (inverse
propensity), beside the list: the unlabelled rows in case-control, all rows in the single set. Weights are not rows, so
intervals do not come from that tally (:mod:`pulens.strata.intervals`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pulens.containers import numbers_for
from pulens.counts.tally import Tally
from pulens.errors import AssumptionError
from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.inference.prior_uncertainty import holding
from pulens.priors import ClassPrior
from pulens.scenario import Scenario
from pulens.strata.counts import LabellingCells, counts_above
from pulens.strata.priors import CellPriors
from pulens.types import Floats

LEAST_POSITIVES = 1e-12  # of all rows: fewer are none


@dataclass(frozen=True)
class StratifiedEvidence:
    """Counts per cell and what is assumed of them; owns the tally in which labelled rows are weighted."""

    cells: LabellingCells
    priors: CellPriors
    label_noise: float = 0.0
    scenario: Scenario = Scenario.SINGLE_SET

    @property
    def is_single(self) -> bool:
        return self.scenario is Scenario.SINGLE_SET

    @cached_property
    def list_rows(self) -> Floats:
        """Rows of every cell in the list that numbers are about."""
        totals = self.cells.totals
        return totals.sum(axis=1) if self.is_single else totals[:, 1]

    @property
    def cell_priors(self) -> Floats:
        """The class prior of every cell; nan where a cell has no row of the population."""
        rows = self.list_rows
        held = self.positives()
        return np.array([each / many if many else np.nan for each, many in zip(held, rows, strict=True)])

    def positives(self, shares: Floats | None = None) -> Floats:
        """Positives of every cell, at these shares among its unlabelled rows."""
        totals = self.cells.totals
        alpha = self.priors.shares if shares is None else numbers_for("shares", shares, len(totals))
        known = (1 - self.label_noise) * totals[:, 0] if self.is_single else 0.0
        return np.asarray(known + alpha * totals[:, 1])

    def weights(self, shares: Floats | None = None) -> Floats:
        """Every cell's share of the positives."""
        held = self.positives(shares)
        total = held.sum()
        if not total > LEAST_POSITIVES * self.list_rows.sum():
            raise AssumptionError(
                "the cells hold no positives at these class priors, so there is nothing to add up: give a class prior "
                "above 0, or leave labelled_within out."
            )
        return np.asarray(held / total)

    def coefficients(self, shares: Any) -> tuple[Any, Any]:
        """What the labelled and the unlabelled rate of a cell add to its true positive rate: 1 and 0, but for noise."""
        alpha, purity = numbers_for("shares", shares, len(self.cells.totals)), 1 - self.label_noise
        scale = np.maximum(purity - alpha, 1e-9)
        has_both = self.cells.totals[:, 1] > 0
        return (
            np.where(has_both, (1 - alpha) / scale, 1.0),
            np.where(has_both, -(1 - purity) / scale, 0.0),
        )

    def recalls(self, threshold: float) -> Floats:
        """Recall of every cell; nan where no row is labelled."""
        return self._true_positive_rates(np.array([threshold]), self.priors.shares)[:, 0]

    def _true_positive_rates(self, thresholds: Any, shares: Floats) -> Floats:
        totals, above = self.cells.totals, self.cells.above(thresholds)
        first, second = self.coefficients(shares)
        with np.errstate(invalid="ignore", divide="ignore"):
            labelled = np.where(totals[:, :1] > 0, above[:, 0] / totals[:, :1], np.nan)
            unlabelled = np.where(totals[:, 1:2] > 0, above[:, 1] / np.maximum(totals[:, 1:2], 1e-300), 0.0)
        return np.asarray(first[:, None] * labelled + (second[:, None] * unlabelled if self.label_noise else 0.0))

    def borrowed(self, weights: Floats) -> Floats:
        """Weights of the cells that have labelled rows; the others take their mean."""
        kept = np.where(self.cells.totals[:, 0] > 0, numbers_for("weights", weights, len(self.cells)), 0.0)
        if not kept.sum() > 0:
            raise AssumptionError(
                "no cell with labelled rows holds a positive at these class priors: give other class priors, or leave "
                "labelled_within out."
            )
        return np.asarray(kept / kept.sum())

    def combined(self, shares: Floats | None = None) -> Evidence:
        """The weighted tally beside the list, for the values of every metric."""
        alpha = self.priors.shares if shares is None else shares
        whole, totals = self.cells.whole, self.cells.totals
        weights = self.borrowed(self.weights(alpha))
        first, second = self.coefficients(alpha)
        labelled = np.zeros(len(whole))
        many = float(totals[:, 0].sum())
        for index, tally in enumerate(self.cells.tallies):
            if not weights[index]:
                continue
            above = counts_above(tally, whole.thresholds)
            labelled += (many * weights[index] * first[index] / totals[index, 0]) * above[0]
            if self.label_noise and totals[index, 1]:
                labelled += (many * weights[index] * second[index] / totals[index, 1]) * above[1]
        listed = np.asarray(whole.unlabelled, float)
        negative = np.asarray(whole.negative)
        if self.is_single:
            listed = listed + np.asarray(whole.labelled, float) + np.asarray(whole.negative, float)
            negative = np.zeros(len(whole))
        share = float(self.positives(alpha).sum() / self.list_rows.sum())
        tally = Tally(whole.thresholds, labelled, listed, negative.copy(), binning=whole.binning)
        prior = ClassPrior(share, share, self.priors.method, assumption=self.priors.assumption)
        return Evidence(tally, prior, 0.0, Scenario.CASE_CONTROL)

    @cached_property
    def weighted(self) -> Evidence:
        """:meth:`combined` at the class priors' own values."""
        return self.combined()

    @cached_property
    def class_prior(self) -> ClassPrior:
        """The class prior of all rows that the cells' make together."""
        priors, totals = self.priors, self.cells.totals
        rows, listed = float(totals[:, 1].sum()), float(self.list_rows.sum())
        known = float(self.positives(np.zeros(len(self.cells))).sum())

        def both(alpha: Any) -> tuple[Any, Any]:
            held = np.asarray(alpha) @ totals[:, 1]
            return (known + held) / listed, held / rows

        value, among = both(priors.shares)
        interval = reach = None
        if priors.treatment == "drawn" and priors.draws is not None:
            ends = np.sort(np.asarray(both(priors.draws)), axis=1)
            cut = [np.quantile(end, [0.025, 0.975]) for end in ends]
            if cut[1][1] - cut[1][0] > 1e-12:
                around = [holding(float(own), *map(float, e)) for own, e in zip((value, among), cut, strict=True)]
                interval, reach = (Interval(*e, 0.95, "draws of the cells' class priors") for e in around)
        elif priors.treatment == "range":
            sides = [each.shares for each in priors.along]
            if priors.low is not None and priors.high is not None:
                sides = [priors.low, priors.high]
            result = np.array([both(side) for side in sides])
            low, high = np.minimum(result.min(axis=0), (value, among)), np.maximum(result.max(axis=0), (value, among))
            interval, reach = (Interval(float(low[i]), float(high[i]), None, "given") for i in range(2))
        return ClassPrior(float(value), float(among), priors.method, interval, reach, priors.assumption, priors.notices)

    @cached_property
    def evidence(self) -> Evidence:
        """All rows as they were counted, with the class prior of all cells."""
        result = Evidence(self.cells.whole, self.class_prior, self.label_noise, self.scenario, self.priors.held)
        return replace(result, buckets=self.cells.whole_buckets)
