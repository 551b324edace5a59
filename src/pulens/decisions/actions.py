"""All that could be done: flag no row, or those at or above each score that occurs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.decisions.costs import Costs
from pulens.evidence import Evidence
from pulens.notice import Notice, Severity
from pulens.recovery import recover, recover_at
from pulens.recovery.contingency import ROUNDING, Contingency, possible_hits
from pulens.types import Floats

#: said where random labels are impossible at the class prior
RULED_OUT = Notice(
    Severity.SERIOUS,
    "labels-not-random",
    "These rows rule out random labels at this class prior: costs and net benefit rest on hits that were cut to what "
    "is possible. pulens evaluate says what would fit.",
)


@dataclass(frozen=True, eq=False)
class Actions:
    """Thresholds, the infinite one first, with recall and the share of the list flagged at each; at one class prior.

    ``recall`` is as recovered; ``hits``, per row of the list, are cut as in every table that is shown
    (:func:`~pulens.recovery.contingency.possible_hits`).
    """

    thresholds: Floats
    recall: Floats
    flagged: Floats
    class_prior: Any  # a number, or one per redraw

    @classmethod
    def of(cls, evidence: Evidence, unlabelled_prior: float | None = None) -> Actions:
        own = evidence.class_prior.unlabelled if unlabelled_prior is None else unlabelled_prior
        return cls._from(recover(evidence.tally, evidence.assumptions_at(own)))

    @classmethod
    def at(cls, evidence: Evidence, threshold: float, unlabelled_prior: float) -> Actions:
        """One threshold alone."""
        return cls._from(recover_at(evidence.tally, evidence.assumptions_at(unlabelled_prior), threshold))

    @classmethod
    def _from(cls, table: Contingency) -> Actions:
        prior = float(table.class_prior)
        flagged = prior * table.true_positive_rate + (1 - prior) * table.false_positive_rate
        flagged = np.where(np.abs(flagged) < ROUNDING, 0.0, flagged)  # rates that cancel leave their rounding
        return cls(table.thresholds, table.true_positive_rate, np.clip(flagged, 0.0, 1.0), prior)

    @property
    def hits(self) -> Floats:
        result = possible_hits(self.class_prior * self.recall, self.flagged, self.class_prior, 1.0 - self.class_prior)
        return np.asarray(result)

    @property
    def found(self) -> Floats:
        """Recall of the possible table."""
        hits = self.hits
        nothing = np.zeros(np.shape(hits))
        return np.asarray(np.divide(hits, self.class_prior, out=nothing, where=np.asarray(self.class_prior) > 0))

    @property
    def precision(self) -> Floats:
        nothing = np.full(np.shape(self.hits), np.nan)
        return np.asarray(np.divide(self.hits, self.flagged, out=nothing, where=self.flagged > 0))

    def costs(self, costs: Costs) -> Floats:
        """Expected cost per row of the list."""
        never = costs.miss * self.class_prior
        return np.asarray(never + costs.price_of_flag * self.flagged - costs.worth_of_hit * self.hits)


def cheapest(values: Floats, allowed: NDArray[np.bool_]) -> int:
    """The place of the lowest value among those allowed; of several the first, which is the highest threshold.

    Costs that differ by rounding alone count as equal.

    >>> cheapest(np.array([3.0, 1.0 + 1e-16, 1.0]), np.array([True, True, True]))
    1
    """
    kept = np.where(allowed, values, np.inf)
    lowest = float(kept.min())
    slack = 1e-12 * max(abs(lowest), float(np.abs(values).max()))
    return int(np.argmax(kept <= lowest + slack))
