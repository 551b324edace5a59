"""Tables of true and false positives and negatives, one per threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pulens.containers import plain_array
from pulens.errors import PulensError, cut
from pulens.types import Floats

ROUNDING = 1e-12  # rates this far outside [0, 1] are rounding, not evidence: the end point (1, 1) must stay


def possible_hits(hits: Any, flagged: Any, positive: Any, negative: Any) -> Any:
    """True positives, cut to what the margins of the table allow: the one rule, for every number that is shown.

    How many rows are flagged is counted, and how many are positive is given. With both fixed a table has one free cell,
    and its four cells are not negative exactly if the hits are at least what the negatives cannot hold, and at most the
    rows flagged and the positives there are. Rows or shares of rows, one number or arrays.

    >>> possible_hits(30.0, 20.0, 40.0, 60.0).item(), possible_hits(5.0, 70.0, 40.0, 60.0).item()
    (20.0, 10.0)
    """
    # minimum and maximum are vectorised where np.clip between arrays is not
    return np.minimum(np.maximum(hits, np.maximum(flagged - negative, 0.0)), np.minimum(flagged, positive))


@dataclass(frozen=True, slots=True, eq=False)
class Contingency:
    """Contingency tables of one target population at one or many thresholds.

    A recovered rate may leave [0, 1] when the class prior is wrong or the sample small. The rates are kept as
    recovered; the cells are those of the nearest possible table (``possible_hits``), every metric reads the cells,
    and :attr:`is_possible` says where nothing was cut. So recall times the class prior is always precision times the
    share flagged, and no more positives are found than rows are flagged.

    >>> import numpy as np
    >>> table = Contingency(np.array([0.5]), np.array([0.75]), np.array([0.25]), positive=40.0, negative=60.0)
    >>> table.true_positive, table.false_positive, table.false_negative, table.true_negative
    (array([30.]), array([15.]), array([10.]), array([45.]))
    """

    thresholds: Floats
    true_positive_rate: Floats
    false_positive_rate: Floats
    positive: Any  # rows of the target population that are positive: one number, or one per table
    negative: Any

    @classmethod
    def from_cells(
        cls, thresholds: Any, true_positive: Any, false_positive: Any, false_negative: Any, true_negative: Any
    ) -> Contingency:
        """Build from the four cells, as the bounds of Claesen et al. give them.

        >>> float(Contingency.from_cells(0.5, 30, 15, 10, 45).true_positive_rate)
        0.75
        """
        cells = true_positive, false_positive, false_negative, true_negative
        try:
            hits, alarms, misses, rejections, at = (plain_array(cell).astype(float) for cell in (*cells, thresholds))
            positive, negative, _ = np.broadcast_arrays(hits + misses, alarms + rejections, at)
        except (TypeError, ValueError, OverflowError) as error:
            raise PulensError(f"thresholds and cells of a table must be numbers: {cut(str(error), 120)}.") from error
        with np.errstate(invalid="ignore"):
            return cls(at, hits / positive, alarms / negative, positive, negative)

    @property
    def predicted_positive(self) -> Floats:
        """Rows at or above the threshold, which are counted: what is cut moves hits, not them."""
        result = self.positive * self.true_positive_rate + self.negative * self.false_positive_rate
        return np.asarray(np.clip(result, 0.0, self.total))

    @property
    def true_positive(self) -> Floats:
        return self.called_and_hits[1]

    @property
    def false_positive(self) -> Floats:
        called, hits = self.called_and_hits
        unknown = np.isnan(called)
        if unknown.any():
            return np.where(unknown, self.negative * np.clip(self.false_positive_rate, 0.0, 1.0), called - hits)
        return np.asarray(called - hits)

    @property
    def called_and_hits(self) -> tuple[Floats, Floats]:
        """``predicted_positive`` and ``true_positive``, for whoever needs both."""
        hits = self.positive * self.true_positive_rate
        called = np.asarray(np.clip(hits + self.negative * self.false_positive_rate, 0.0, self.total))
        hits = possible_hits(hits, called, self.positive, self.negative)
        unknown = np.isnan(called)
        if unknown.any():  # a class without rows has no rate: the other one is cut by itself
            hits = np.where(unknown, self.positive * np.clip(self.true_positive_rate, 0.0, 1.0), hits)
        return called, np.asarray(hits)

    @property
    def hit_rate(self) -> Floats:
        """The true positive rate of the possible table."""
        return _rate(self.true_positive, self.positive, self.true_positive_rate)

    @property
    def alarm_rate(self) -> Floats:
        """The false positive rate of the possible table."""
        return _rate(self.false_positive, self.negative, self.false_positive_rate)

    @property
    def false_negative(self) -> Floats:
        return np.asarray(self.positive - self.true_positive)

    @property
    def true_negative(self) -> Floats:
        return np.asarray(self.negative - self.false_positive)

    @property
    def total(self) -> Any:
        return self.positive + self.negative

    @property
    def class_prior(self) -> Any:
        """Share of positives in the target population."""
        return self.positive / self.total

    @property
    def is_possible(self) -> NDArray[np.bool_]:
        """Whether both recovered rates are rates, allowing for rounding."""
        rates = (self.true_positive_rate, self.false_positive_rate)
        inside = [(rate >= -ROUNDING) & (rate <= 1 + ROUNDING) for rate in rates]
        return inside[0] & inside[1]

    def plausible(self, missing: tuple[Any, Any] = (0.0, 0.0)) -> list[Self]:
        """Draws around one table, as an interval reads them; ``missing`` is what its two rates lack to be rates.

        Each rate is cut by itself there: what is known of recall does not end where another count does. Where the table
        itself was cut, the draws count as they are, too, and moved to the edge: a rate of -0.01 +- 0.003 would be cut
        to 0 in every draw, an interval of width zero. The truth is not below 0, so the estimate counts as one at 0 with
        the same spread: [0, 0.006] holds what of the first interval lies within [0, 1], and so misses no more often.
        """
        if max(float(np.max(np.abs(each))) for each in missing) <= ROUNDING:
            return [self._each_cut((0.0, 0.0))]
        return [self._each_cut((0.0, 0.0)), self._each_cut(missing), self]

    def _each_cut(self, moved: tuple[Any, Any]) -> Self:
        rates = self.true_positive_rate + moved[0], self.false_positive_rate + moved[1]
        hits, alarms = (np.clip(rate, 0.0, 1.0) for rate in rates)
        return replace(self, true_positive_rate=hits, false_positive_rate=alarms)

    def __len__(self) -> int:
        return int(np.size(self.true_positive_rate))

    def __getitem__(self, which: Any) -> Contingency:
        """Some of the tables."""
        positive, negative = (value[which] if np.ndim(value) else value for value in (self.positive, self.negative))
        return Contingency(
            self.thresholds[which],
            self.true_positive_rate[which],
            self.false_positive_rate[which],
            positive,
            negative,
        )


@dataclass(frozen=True, eq=False)
class Tables(Contingency):
    """Tables whose cells several metrics read: each is found once."""

    @property
    def predicted_positive(self) -> Floats:
        return self.called_and_hits[0]

    @cached_property
    def called_and_hits(self) -> tuple[Floats, Floats]:
        return super().called_and_hits


def missing_of(*rates: Any) -> tuple[Any, ...]:
    """What recovered rates lack to be rates.

    >>> missing_of(np.array([0.4]), np.array([-0.25]))
    (array([0.]), array([0.25]))
    """
    return tuple(np.clip(rate, 0.0, 1.0) - rate for rate in rates)


def _rate(rows: Any, of: Any, recovered: Floats) -> Floats:
    """Rows as a share of their class; the recovered rate itself where nothing was cut, to the bit."""
    of = np.broadcast_to(of, np.shape(rows))
    raw = np.clip(recovered, 0.0, 1.0)  # where there are no such rows nothing else is known
    share = np.divide(rows, of, out=np.array(np.broadcast_to(raw, np.shape(rows)), float), where=of > 0)
    return np.asarray(np.where(np.abs(share - recovered) <= ROUNDING, raw, share))
