r"""Two classifiers judged by the same checked rows: the difference of a metric, with an interval, nothing assumed.

The decisions of both models part the rows into four groups: flagged by both, by the first alone, by the second alone
and by neither. With the positives :math:`X_{11}, X_{10}, X_{01}, X_{00}` of the groups, the true positives are
:math:`X_{11} + X_{10}` and :math:`X_{11} + X_{01}`, all positives are the sum, and the flagged rows are counted. Cells
are stratum times group: given how many checked rows fell into each, these are simple random samples of it.

**Interval.** Each group's total is drawn as one total of several strata is (``pulens.audits.limits``, balanced: one
imaginary row in the stratum of the group where rows were checked most thinly, positive or negative with equal chance),
independently of the other groups; limits are quantiles of the difference over the draws. A difference rises with one
model's positives and falls with the other's, and may do either with those that both share, which is why both limits
come from the same draws. A cell without a checked row is counted with the share of its stratum in values, and with
none, half and all of its rows positive in limits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pulens.answer import Answer
from pulens.audits.answers import POSITIVE, UNDECIDED
from pulens.audits.formulas import FORMULAS
from pulens.audits.limits import draw_totals, one_tail, quantile
from pulens.audits.reviews import OUTSIDE, Reviews
from pulens.confidence import check_confidence
from pulens.errors import PulensError, listed
from pulens.estimate import Interval
from pulens.scenario import Scenario
from pulens.types import Floats

DRAWS = 8_000
BOTH, FIRST, SECOND, NEITHER = range(4)


@dataclass(frozen=True, slots=True)
class ReviewedDifference(Answer):
    """A metric of the first model less that of the second, by checked rows."""

    _keys = ("first", "second", "basis", "value", "**interval", "undefined_because?")

    metric: str
    first: str
    second: str
    value: float
    interval: Interval | None
    undefined_because: str | None = None
    basis: ClassVar[str] = "design"

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes that the models are equal."""
        return self.interval is not None and not self.interval.low <= 0 <= self.interval.high

    def __str__(self) -> str:
        if self.undefined_because or self.interval is None:
            reach = "" if self.interval is None else f" {self.interval}"
            return f"{self.metric} {self.first} - {self.second} undefined{reach}: {self.undefined_because}"
        return (
            f"{self.metric} {self.first} - {self.second} {self.value:+.3f} "
            f"[{self.interval.low:+.3f}, {self.interval.high:+.3f}]"
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Margins:
    """What needs no estimate: flagged rows of each model, all rows, and positives known before in each group."""

    flagged: tuple[float, float]
    rows: float
    known: Floats


COMPARED = ("f1", "precision", "recall")


def compare_reviewed(
    reviews: Reviews,
    first: Any,
    second: Any,
    *,
    names: tuple[str, str] = ("first", "second"),
    metrics: tuple[str, ...] = COMPARED,
    confidence: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, ReviewedDifference]:
    """Differences of F1, precision and recall between two decisions about every row.

    >>> scores = np.arange(8, 0, -1.0)
    >>> answers = [1, 1, 0, 1, 0, 0, 1, 0]
    >>> reviews = Reviews.reviewed_above([0] * 8, scores, 1, answers=answers)
    >>> found = compare_reviewed(reviews, scores >= 5, scores >= 7)
    >>> print(found["recall"])
    recall first - second +0.250 [+0.250, +0.250]
    """
    confidence = check_confidence(confidence)
    for name in metrics:
        if name not in COMPARED:
            raise PulensError(f"checked rows compare models by {listed(COMPARED)}, got {name!r}.")
    one, two = np.asarray(first, bool), np.asarray(second, bool)
    group = np.where(one, np.where(two, BOTH, FIRST), np.where(two, SECOND, NEITHER))
    margins = _margins(reviews, one, two, group)
    cells = _Cells.of(reviews, group)
    middle = cells.values + margins.known
    limits = _limits(cells, margins, metrics, confidence, draws, seed)
    answer = {}
    for name in metrics:
        value = float(_difference(name, middle[None, :], margins)[0])
        reason = None
        interval: Interval | None = Interval(*limits[name], confidence, "audit, balanced")
        if math.isnan(value) and np.isnan(middle).any():
            reason = "rows that nobody could have checked may be positive, so there are only bounds"
        elif math.isnan(value):
            reason, interval = "a model flags no row, or no positive was found", None
        elif interval is not None:  # rounding, and undecided rows that count half
            low, high = min(interval.low, value), max(interval.high, value)
            interval = Interval(low, high, confidence, interval.method)
        answer[name] = ReviewedDifference(name, *names, value, interval, reason)
    return answer


def _margins(reviews: Reviews, one: NDArray[np.bool_], two: NDArray[np.bool_], group: NDArray[np.int64]) -> _Margins:
    inside = reviews.cell != OUTSIDE
    counted = inside if reviews.scenario is Scenario.CASE_CONTROL else np.ones_like(inside)
    known = np.zeros(4)
    if reviews.scenario is Scenario.SINGLE_SET:
        known = np.bincount(group[reviews.labels == 1], minlength=4).astype(float)
    return _Margins((float((one & counted).sum()), float((two & counted).sum())), float(counted.sum()), known)


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Stratum times group: rows, checked, found, undecided, one line a stratum and one column a group."""

    rows: NDArray[np.int64]
    checked: NDArray[np.int64]
    found: NDArray[np.int64]
    undecided: NDArray[np.int64]

    @classmethod
    def of(cls, reviews: Reviews, group: NDArray[np.int64]) -> _Cells:
        strata = reviews.probability.size
        inside = reviews.cell != OUTSIDE

        def count(which: NDArray[np.bool_]) -> NDArray[np.int64]:
            index = reviews.cell[which] * 4 + group[which]
            return np.bincount(index, minlength=4 * strata).reshape(strata, 4).astype(np.int64)

        return cls(
            count(inside),
            count(inside & reviews.is_checked),
            count(inside & (reviews.answer == POSITIVE)),
            count(inside & (reviews.answer == UNDECIDED)),
        )

    @property
    def values(self) -> Floats:
        """Estimated positives of each group; a cell without a checked row takes the share of its stratum."""
        seen = self.found + self.undecided / 2
        whole = self.checked.sum(axis=1, keepdims=True)
        of_stratum = np.divide(
            seen.sum(axis=1, keepdims=True), whole, out=np.full(whole.shape, np.nan), where=whole > 0
        )
        share = np.divide(
            seen, self.checked, out=np.broadcast_to(of_stratum, seen.shape).copy(), where=self.checked > 0
        )
        return np.asarray(np.where(self.rows == 0, 0.0, self.rows * share).sum(axis=0))


def _limits(
    cells: _Cells, margins: _Margins, metrics: tuple[str, ...], confidence: float, draws: int, seed: int
) -> dict[str, tuple[float, float]]:
    ends = dict.fromkeys(metrics, (math.inf, -math.inf))
    tail = one_tail(confidence)
    spared = np.where(cells.checked == 0, cells.rows, 0).sum(axis=0)
    for corner in _corners(cells):
        totals = np.column_stack([_drawn(cells, corner, group, draws, seed) for group in range(4)])
        for shares in product(*((0.0, 0.5, 1.0) if rows else (0.0,) for rows in spared)):
            moved = totals + np.array(shares) * spared + margins.known
            for name in metrics:
                drawn = _difference(name, moved, margins)
                drawn = drawn[~np.isnan(drawn)]
                if drawn.size:
                    low, high = (float(quantile(drawn[:, None], level)[0]) for level in (tail, 1 - tail))
                    ends[name] = min(ends[name][0], low), max(ends[name][1], high)
    return {name: (low, high) if low <= high else (-1.0, 1.0) for name, (low, high) in ends.items()}


def _corners(cells: _Cells) -> list[NDArray[np.int64]]:
    """The finds if the undecided rows of each group are all negative or all positive."""
    choices = [(0, 1) if cells.undecided[:, group].any() else (0,) for group in range(4)]
    return [cells.found + cells.undecided * np.array(chosen) for chosen in product(*choices)]


def _drawn(cells: _Cells, result: NDArray[np.int64], group: int, draws: int, seed: int) -> Floats:
    """Totals of one group, in an order of their own: the groups are independent of each other."""
    used = cells.checked[:, group] > 0
    if not used.any():
        return np.zeros(draws)
    rows, checked, hits = (part[used, group] for part in (cells.rows, cells.checked, result))
    drawn = draw_totals(rows, checked, hits, len(rows), interval="balanced", draws=draws, seed=seed + 7919 * group)
    order = np.random.default_rng([seed, group]).permutation(draws)
    return np.asarray(drawn.above.low[order, 0])


def _difference(name: str, totals: Floats, margins: _Margins) -> Floats:
    """Of each line of group totals."""
    of, positives = FORMULAS[name].of, totals.sum(axis=1)
    hits = totals[:, BOTH] + totals[:, FIRST], totals[:, BOTH] + totals[:, SECOND]
    first, second = (
        of(own, positives - own, flagged, margins.rows) for own, flagged in zip(hits, margins.flagged, strict=True)
    )
    return first - second
