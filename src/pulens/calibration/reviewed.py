r"""Reliability by rows that people checked: predicted against actual shares, nothing assumed about labels.

Cells are stratum times bin. With M rows of a cell, n of them checked and a positive, the positives of a bin are
estimated by :math:`\sum M a / n`, every checked row standing for the rows of its cell, which is what weighting by one
over the chance of being checked comes to once the cells are counted. In the single set labelled positives and known
negatives belong to the bin as they are. A bin's interval is that of one total of several strata
(``pulens.audits.limits``, balanced); a cell without a checked row adds none of its rows to the lower and all of them to
the upper limit, and takes the bin's own share in the value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pulens.answer import Answer
from pulens.audits import Reviews
from pulens.audits.answers import POSITIVE, UNDECIDED
from pulens.audits.limits import DRAWS, draw_totals, one_tail, quantile
from pulens.calibration.binning import check_bins
from pulens.confidence import check_confidence
from pulens.errors import InputError
from pulens.estimate import Interval
from pulens.inputs.arrays import plain_values
from pulens.inputs.columns import check_scores
from pulens.keywords import typed
from pulens.scenario import Scenario
from pulens.types import Floats

ROWS_PER_BIN, FEWEST_BINS, MOST_BINS = 20, 2, 10


@dataclass(frozen=True, slots=True)
class ReviewedBin(Answer):
    """Rows that score in (low, high]: what the model promises on average, and what was found among them."""

    _keys = ("low", "high", "rows", "checked", "found", "promised", "verdict", "share", "basis", "interval")

    low: float
    high: float
    rows: int
    checked: int
    found: int
    promised: float
    share: float
    interval: Interval
    basis: ClassVar[str] = "design"

    @property
    def verdict(self) -> str:
        """``"overconfident"`` or ``"underconfident"`` where the interval excludes the promise."""
        if self.promised in self.interval:
            return ""
        return "overconfident" if self.promised > self.interval.high else "underconfident"


@dataclass(frozen=True, slots=True)
class ReviewedReliability(Answer):
    """Bins from the lowest prediction to the highest, and the mean gap between predicted and actual over all rows."""

    _keys = ("error", "checked", "confidence", "bins")

    bins: tuple[ReviewedBin, ...]
    error: float
    checked: int
    confidence: float

    def __str__(self) -> str:
        level = f"{self.confidence:.0%} interval"
        lines = [
            f"by {self.checked:,} checked rows predictions are off by {self.error:.3f} on average; nothing is assumed "
            "about labels",
            f"{'bin':<18}{'rows':>9}{'checked':>9}{'predicted':>11}{'actual':>8}{level:>17}",
        ]
        for one in self.bins:
            share = "unknown" if math.isnan(one.share) else f"{one.share:.3f}"
            reach = f"{one.interval.low:.3f} to {one.interval.high:.3f}"
            name = f"({one.low:.4f}, {one.high:.4f}]"
            counts = f"{name:<18}{one.rows:>9,}{one.checked:>9,}"
            said = {"overconfident": "too high", "underconfident": "too low"}.get(one.verdict, "")
            lines.append(f"{counts}{one.promised:>11.3f}{share:>8}{reach:>17} {said}".rstrip())
        return "\n".join(lines)


@typed
def reviewed_reliability(
    reviews: Reviews,
    probabilities: Any,
    *,
    bins: int | None = None,
    confidence: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> ReviewedReliability:
    """Judge promised probabilities, one for each row, by the rows that were checked.

    Bins hold about equally many checked rows, one bin for every twenty of them and at most ten, unless ``bins`` says
    how many.

    >>> scores = np.array([0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1])
    >>> reviews = Reviews.reviewed_above([0] * 8, scores, 0, answers=[1, 1, 1, 0, 0, 0, 0, 0])
    >>> found = reviewed_reliability(reviews, scores, bins=2)
    >>> [(one.promised, one.share, str(one.interval)) for one in found.bins]
    [(0.1, 0.0, '[0.000, 0.000]'), (0.9, 0.75, '[0.750, 0.750]')]
    """
    confidence = check_confidence(confidence)
    promised = check_scores(plain_values(probabilities), "probabilities").astype(np.float64)
    if promised.shape != reviews.cell.shape:
        raise InputError(f"there are {promised.size:,} probabilities for {reviews.cell.size:,} rows: give one each.")
    if not ((promised >= 0) & (promised <= 1)).all():
        raise InputError("a reliability diagram needs probabilities: every score must lie in [0, 1].")
    checked = promised[reviews.is_checked]
    if not checked.size:
        raise InputError("no row was checked, so there is nothing to judge the probabilities by.")
    edges = _edges(promised, checked, bins)
    index = np.searchsorted(edges, promised, "left") - 1
    result = [
        _bin(reviews, promised, index == one, float(edges[one]), float(edges[one + 1]), confidence, draws, seed + one)
        for one in range(edges.size - 1)
    ]
    kept = tuple(one for one in result if one is not None)
    weights = np.array([one.rows for one in kept], float)
    gaps = np.array([abs(one.promised - one.share) for one in kept])
    return ReviewedReliability(kept, float(gaps @ weights / weights.sum()), int(checked.size), confidence)


def _edges(promised: Floats, checked: Floats, bins: int | None) -> Floats:
    """Cuts between checked rows: equal numbers of them in each bin, ties together."""
    many = int(np.clip(checked.size // ROWS_PER_BIN, FEWEST_BINS, MOST_BINS)) if bins is None else check_bins(bins)
    inner = np.quantile(checked, np.arange(1, many) / many, method="lower")
    inner = np.unique(inner[inner < promised.max()])
    return np.concatenate([[-np.inf], inner, [float(promised.max())]])


def _bin(
    reviews: Reviews,
    promised: Floats,
    inside: NDArray[np.bool_],
    low: float,
    high: float,
    confidence: float,
    draws: int,
    seed: int,
) -> ReviewedBin | None:
    single = reviews.scenario is Scenario.SINGLE_SET
    counted = inside if single else inside & (reviews.cell >= 0)
    if not counted.any():
        return None
    strata = reviews.probability.size

    def count(which: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(reviews.cell[inside & (reviews.cell >= 0) & which], minlength=strata)

    rows, took = count(np.ones_like(inside)), count(reviews.is_checked)
    result, undecided = count(reviews.answer == POSITIVE), count(reviews.answer == UNDECIDED)
    known = int((inside & (reviews.labels == 1)).sum()) if single else 0
    whole = int(counted.sum())
    seen = result + undecided / 2
    used = took > 0
    spared = int(rows[~used].sum())
    value = float((rows[used] * seen[used] / took[used]).sum())
    share = value / rows[used].sum() if used.any() else math.nan
    total = value + (spared * share if spared else 0.0) + known
    ends = _ends(rows[used], took[used], result[used], undecided[used], confidence, draws, seed)
    reach = sorted(((ends[0] + known) / whole, (ends[1] + spared + known) / whole))
    middle = total / whole
    if not math.isnan(middle):
        reach = [min(reach[0], middle), max(reach[1], middle)]
    return ReviewedBin(
        max(low, 0.0),
        high,
        whole,
        int(took.sum()),
        int(result.sum()),
        float(promised[counted].mean()),
        middle,
        Interval(reach[0], reach[1], confidence, "audit, balanced"),
    )


def _ends(
    rows: NDArray[np.int64],
    took: NDArray[np.int64],
    result: NDArray[np.int64],
    undecided: NDArray[np.int64],
    confidence: float,
    draws: int,
    seed: int,
) -> tuple[float, float]:
    """Limits of the positives in checked cells; undecided rows are negative for the lower, positive for the upper."""
    if not rows.size:
        return 0.0, 0.0
    tail = one_tail(confidence)
    ends = []
    for hits, level in ((result, tail), (result + undecided, 1 - tail)):
        drawn = draw_totals(rows, took, hits, rows.size, interval="balanced", draws=draws, seed=seed).above.low
        ends.append(float(quantile(drawn, level)[0]))
    return ends[0], ends[1]
