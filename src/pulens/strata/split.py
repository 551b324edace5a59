r"""What the split of the positives among cells can do: recall at the extreme splits of one total.

Recall is :math:`\sum_g P_g \gamma_g / P`. With :math:`P` known and the split not, each :math:`P_g` lies between the
cell's labelled positives and the most that its rows allow, and the extremes fill cells in order of :math:`\gamma_g`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pulens.priors.feasible import highest_prior
from pulens.strata.evidence import StratifiedEvidence
from pulens.strata.priors import fill
from pulens.types import Floats


class SplitRange(NamedTuple):
    """Recall whatever the split of the positives among the cells."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.3f} to {self.high:.3f}"

    def to_dict(self) -> dict[str, float]:
        return {"low": self.low, "high": self.high}


def extreme_recalls(
    recalls: Floats, least: Floats, most: Floats, total: float, highest: Floats | None = None
) -> SplitRange:
    """The lowest and highest recall over all splits of ``total`` positives; ``highest`` is a second bound of recalls.

    >>> low, high = extreme_recalls(np.array([0.8, 0.5]), np.zeros(2), np.array([1200.0, 1600.0]), 1800.0)
    >>> round(low * 15, 9), round(high * 10, 9)
    (8.0, 7.0)
    """
    top = recalls if highest is None else highest
    low = fill(least, most, total, np.argsort(recalls, kind="stable")) @ recalls
    high = fill(least, most, total, np.argsort(-top, kind="stable")) @ top
    return SplitRange(float(low / total), float(high / total))


def split_range(evidence: StratifiedEvidence, threshold: float) -> SplitRange:
    """The range for these rows; the recall of a cell without labelled rows may be anything."""
    totals, shares = evidence.cells.totals, evidence.priors.shares
    recalls = np.clip(evidence.recalls(threshold), 0.0, 1.0)
    unknown = np.isnan(recalls)
    least = evidence.positives(np.zeros(shares.size))
    limits: Any = [
        highest_prior(tally, label_noise=evidence.label_noise)
        if tally.totals.labelled and tally.totals.unlabelled
        else 1 - evidence.label_noise
        for tally in evidence.cells.tallies
    ]
    most = least + np.maximum(limits, shares) * totals[:, 1]
    total = float(evidence.positives().sum())
    return extreme_recalls(np.where(unknown, 0.0, recalls), least, most, total, np.where(unknown, 1.0, recalls))
