"""The cells as an answer: a row for each, what the split can do, whether they matter, what they change."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pulens.answer import ShownAsText, plain
from pulens.errors import listed
from pulens.estimate import Estimate, Interval, with_interval
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.measured import Target
from pulens.inference.prior_uncertainty import holding
from pulens.notice import Notice, Severity
from pulens.strata.clustered import recall_interval
from pulens.strata.equal_rates import EqualRates, rates_test
from pulens.strata.evidence import StratifiedEvidence
from pulens.strata.intervals import StratifiedIntervalEstimator
from pulens.strata.split import SplitRange, split_range

LARGE_SHARE = 0.05  # of the positives in cells without a label, from which on that is a warning
DIFFERENT = 0.05  # p-value below which cells are said to label differently


@dataclass(frozen=True, slots=True)
class CellRow:
    """One cell: its rows, its class prior, what of its positives is found and labelled, and its share of them.

    ``label_rate`` is that of the cell's positives in the single set; in case-control data, where labelled rows are a
    sample of their own, it is over that of all cells (1: as often as on average).
    """

    name: str
    labelled: float
    unlabelled: float
    known_negative: float
    class_prior: float  # nan without rows of the population
    prior_interval: Interval | None
    recall: float  # nan without labelled rows
    recall_interval: Interval | None
    label_rate: float
    share_of_positives: float

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "cell": self.name,
            "labelled": self.labelled,
            "unlabelled": self.unlabelled,
            "known_negative": self.known_negative,
            "class_prior": with_interval(self.class_prior, self.prior_interval),
            "recall": with_interval(self.recall, self.recall_interval),
            "label_rate": plain(self.label_rate),
            "share_of_positives": self.share_of_positives,
        }


@dataclass(frozen=True, repr=False)
class CellTable(Sequence[CellRow], ShownAsText):
    """A row per cell, with what all of them say together; prints itself."""

    columns: tuple[str, ...]
    rows: tuple[CellRow, ...]
    method: str
    whatever_the_split: SplitRange
    equal_rates: EqualRates | None
    changes: Mapping[str, tuple[float, float]]  # (without cells, within)
    rate_is_relative: bool = False

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return next(row for row in self.rows if row.name == index)
        return self.rows[index]

    def __iter__(self) -> Iterator[CellRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def words(self) -> str:
        return " and ".join(self.columns)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What changed, what the split can do, whether the cells matter."""
        result = []
        if "recall" in self.changes:
            before, after = self.changes["recall"]
            result.append(f"Recall without cells would be {before:.3f}; within {self.words} it is {after:.3f}.")
        result.append(
            f"However the positives divide among the {len(self)} cells, recall lies between "
            f"{self.whatever_the_split.low:.3f} and {self.whatever_the_split.high:.3f}."
        )
        if self.equal_rates is not None:
            chance = self.equal_rates.p_value
            often = f"p {chance:.2g}" if chance >= 1e-4 else "p below 0.0001"
            said = "differs between cells" if chance < DIFFERENT else "may be the same in all cells"
            result.append(f"The rate at which positives are labelled {said} ({often}).")
        return tuple(result)

    def __str__(self) -> str:
        rate = "relative rate" if self.rate_is_relative else "label rate"
        width = min(max([len(row.name) for row in self.rows] + [len(self.words)]), 30)
        head = f"{self.words[:width]:<{width}}{'labelled':>10}{'unlabelled':>12}{'prior':>8}{'recall':>8}"
        lines = [f"{head}{rate:>15}{'of positives':>14}"]
        for row in self.rows:
            known = (row.class_prior, row.recall, row.label_rate)
            prior, recall, often = ("-" if math.isnan(each) else f"{each:.3f}" for each in known)
            lines.append(
                f"{row.name[:width]:<{width}}{row.labelled:>10,.6g}{row.unlabelled:>12,.10g}{prior:>8}"
                f"{recall:>8}{often:>15}{row.share_of_positives:>14.3f}"
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "columns": list(self.columns),
            "class_priors": self.method,
            "cells": [row.to_dict() for row in self.rows],
            "whatever_the_split": {"recall": self.whatever_the_split.to_dict()},
            "equal_rates": None if self.equal_rates is None else self.equal_rates.to_dict(),
            "changes": {
                name: {"pooled": plain(before), "within": plain(after)}
                for name, (before, after) in self.changes.items()
            },
        }


def cell_table(
    evidence: StratifiedEvidence,
    threshold: float,
    doubts: Any,
    within: Mapping[str, Estimate],
    pooled: Mapping[str, Estimate],
) -> CellTable:
    """The cells of an evaluation, beside the numbers without them."""
    cells, totals = evidence.cells, evidence.cells.totals
    held, weights = evidence.positives(), evidence.weights()
    recalls, priors = np.clip(evidence.recalls(threshold), 0.0, 1.0), evidence.cell_priors
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.where(held > 0, totals[:, 0] * (1 - evidence.label_noise) / held, np.nan)
        if not evidence.is_single:
            rates = rates / (totals[:, 0].sum() / held.sum())
    rows = [
        CellRow(
            name,
            float(totals[index, 0]),
            float(totals[index, 1]),
            float(totals[index, 2]),
            float(priors[index]),
            prior_interval(evidence, index),
            float(recalls[index]),
            _recall_interval(evidence, index, threshold, doubts),
            float(rates[index]),
            float(weights[index]),
        )
        for index, name in enumerate(cells.names)
    ]
    changes = {name: (pooled[name].value, result.value) for name, result in within.items()}
    return CellTable(
        cells.columns,
        tuple(rows),
        evidence.priors.method,
        split_range(evidence, threshold),
        None if cells.buckets else rates_test(evidence),  # the test takes rows for independent
        changes,
        not evidence.is_single,
    )


def prior_interval(evidence: StratifiedEvidence, index: int) -> Interval | None:
    """Of the cell's class prior, as far as it is in doubt."""
    priors, totals = evidence.priors, evidence.cells.totals[index]
    if priors.treatment == "exact" or not evidence.list_rows[index]:
        return None
    if priors.treatment == "drawn" and priors.draws is not None:
        low, high = np.quantile(priors.draws[:, index], [0.025, 0.975])
        confidence: float | None = 0.95
    elif priors.along:
        shares = [setting.shares[index] for setting in priors.along]
        low, high, confidence = min(shares), max(shares), None
    else:
        assert priors.low is not None
        assert priors.high is not None
        low, high, confidence = priors.low[index], priors.high[index], None
    if evidence.is_single:
        known = (1 - evidence.label_noise) * totals[0]
        low, high = ((known + end * totals[1]) / totals.sum() for end in (low, high))
    if high - low < 1e-12:
        return None
    low, high = holding(float(evidence.cell_priors[index]), float(low), float(high))  # draws may all lie above 0
    return Interval(low, high, confidence, evidence.priors.method)


def _recall_interval(
    evidence: StratifiedEvidence, index: int, threshold: float, doubts: StratifiedIntervalEstimator | None
) -> Interval | None:
    if doubts is None or not evidence.cells.totals[index, 0] or evidence.label_noise:
        return None
    tail, confidence = doubts.resampling.tail, doubts.resampling.confidence
    if doubts.is_clustered:
        return recall_interval(doubts.buckets, index, threshold, tail, confidence)
    low, high = np.quantile(doubts.rates.drawn(threshold).rates[:, index, 0], [tail, 1 - tail])
    value = float(np.clip(evidence.recalls(threshold)[index], 0.0, 1.0))  # which may be 1, where no draw is
    return Interval(min(float(low), value), max(float(high), value), confidence, "Beta with a borrowed row")


def cell_notices(evidence: StratifiedEvidence) -> list[Notice]:
    """What to know about cells: those without a label, those without unlabelled rows."""
    totals, weights = evidence.cells.totals, evidence.weights()
    result = []
    empty = totals[:, 0] == 0
    if empty.any():
        share = float(weights[empty].sum())
        names = [name for name, none in zip(evidence.cells.names, empty, strict=True) if none]
        result.append(
            Notice(
                Severity.WARNING if share > LARGE_SHARE else Severity.NOTE,
                "cells-without-labels",
                f"{len(names)} of {len(evidence.cells)} cells ({listed(names, limit=5)}) have no labelled row: their "
                f"recall is unknown and taken to be that of the others. They hold {share:.1%} of the positives.",
            )
        )
    unused = (totals[:, 1] == 0) & (totals[:, 0] > 0)
    if unused.any() and not evidence.is_single:
        names = [name for name, none in zip(evidence.cells.names, unused, strict=True) if none]
        result.append(
            Notice(
                Severity.WARNING,
                "cells-not-in-the-list",
                f"{len(names)} cells ({listed(names, limit=5)}) have labelled rows and no unlabelled ones: no positive "
                f"of the population is there, so their {totals[unused, 0].sum():,.10g} labelled rows do not count.",
            )
        )
    return result


def within_cells(
    result: Estimate, evidence: StratifiedEvidence | None, doubts: Any = None, **parameters: Any
) -> Estimate:
    """An estimate that says what it rests on, and what the cells' class priors alone leave open of it.

    ``parameters`` are those of the metric.
    """
    from pulens.metrics import find
    from pulens.metrics.parts.confirmed import as_confirmed

    if evidence is None:
        return result
    metric, priors = find(result.metric), evidence.priors
    result = as_confirmed(result, metric, evidence.evidence)
    if metric.ignores_class_prior or metric.counted:
        return replace(result, rests_on=())
    origin = "estimated" if priors.is_estimated else priors.method
    taken = [f"random labelling within {evidence.cells.words}", f"class prior ({origin})"]
    taken += ["label noise (given)"] if evidence.label_noise else []
    if result.undefined_because or priors.treatment == "exact":
        return replace(result, rests_on=tuple(taken))
    asked = (
        doubts
        if isinstance(doubts, StratifiedIntervalEstimator)
        else StratifiedIntervalEstimator(evidence, Resampling())
    )
    target = Target(metric, lambda _: result.value, result.threshold, parameters)
    reach = asked.of_prior(target, result.value)
    if reach is None:
        return replace(result, rests_on=tuple(taken))
    interval = reach if doubts is None else result.interval
    return replace(result, interval=interval, sources={**result.sources, "class prior": reach}, rests_on=tuple(taken))
