"""What is known of the class priors of many segments, in columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pulens.groups.segment_priors import SharedAssumptions
from pulens.inference.kernels.quantiles import spread_of_interval
from pulens.inference.prior_draws import AssumedRows
from pulens.inference.rates import columns_of
from pulens.metrics.parts.measure import PRIORS_TRIED
from pulens.priors import ClassPrior
from pulens.types import Booleans, Floats


@dataclass(frozen=True, slots=True, eq=False)
class PriorColumns:
    """Shares of positives among the unlabelled rows, one row per segment; nan where there is no interval.

    ``low`` and ``high`` end the interval that draws come from (``None`` as confidence: there is none), ``reach`` the
    one that is shown, ``elsewhere`` counts labelled rows of other segments.
    """

    share: Floats
    low: Floats
    high: Floats
    reach_low: Floats
    reach_high: Floats
    elsewhere: Floats
    drawn: Booleans
    confidence: float | None = None
    reach_confidence: float | None = None

    @classmethod
    def of(cls, priors: Sequence[ClassPrior]) -> PriorColumns:
        columns, drawn = np.full((len(priors), 6), math.nan), np.zeros(len(priors), bool)
        confidence = reach_confidence = None
        for index, prior in enumerate(priors):
            reach, own = prior.unlabelled_interval, prior.drawn_interval
            columns[index, 0] = prior.unlabelled
            columns[index, 5] = 0.0 if prior.implied is None else prior.implied.elsewhere
            if reach is None or own is None:
                continue
            columns[index, 1:5] = own.low, own.high, reach.low, reach.high
            drawn[index] = reach.width > 0
            confidence, reach_confidence = own.confidence, reach.confidence
        share, low, high, reach_low, reach_high, elsewhere = columns.T
        return cls(share, low, high, reach_low, reach_high, elsewhere, drawn, confidence, reach_confidence)

    def take(self, which: Any) -> PriorColumns:
        """Those of some segments."""
        names = ("share", "low", "high", "reach_low", "reach_high", "elsewhere", "drawn")
        return replace(self, **{name: getattr(self, name)[which] for name in names})

    def rows(self, totals: Floats, shared: SharedAssumptions) -> AssumedRows:
        """The segments' numbers of rows, with what is assumed of them."""
        return AssumedRows(columns_of(totals), *shared, self.elsewhere[:, None])

    def drawn_at(self, normal: Floats) -> Floats:
        """The share of every segment (rows) at normal numbers (columns), as its interval spreads it."""
        assert self.confidence is not None
        share, low, high = (column[:, None] for column in (self.share, self.low, self.high))
        return spread_of_interval(share, low, high, self.confidence, normal)  # type: ignore[arg-type]

    def over_reach(self, many: int = PRIORS_TRIED) -> Floats:
        """This many shares, evenly over the interval that is shown."""
        low, high = self.reach_low[:, None], self.reach_high[:, None]
        shares = np.arange(many) * ((high - low) / (many - 1)) + low
        shares[:, -1] = self.reach_high
        return np.asarray(shares)

    def over_reach_or_own(self) -> Floats:
        """The same; the share itself where no interval is shown."""
        missing = np.isnan(self.reach_low)[:, None]
        return self.share[:, None] if missing.all() else np.where(missing, self.share[:, None], self.over_reach())


def is_covered(prior: ClassPrior) -> bool:
    """Whether a class prior is a number, or has an interval at a confidence."""
    own = prior.drawn_interval
    is_bare = own is not None and own.confidence is None and not prior.is_exact
    return not is_bare and prior.distribution is None
