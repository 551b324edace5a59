"""Many counts of the rows of a design, recovered: redraws, or the rows without each bucket of clusters."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from pulens.evidence import Evidence
from pulens.inference.kernels.redraws import BootstrapCounts
from pulens.inference.prior_draws import PriorDraws
from pulens.inference.replicates import Replicates
from pulens.types import Floats


@singledispatch
def recovered_counts(
    evidence: Evidence, above: Floats, totals: Floats, shares: Any, *, of_rows: bool = False
) -> Replicates:
    """Rows at or above thresholds and in all, of shapes (counts, strata, thresholds, 3) and (counts, strata, 3).

    ``shares`` are those of positives among the unlabelled rows that hold for the data. Strata add theirs up
    (:func:`pulens.strata.clustered.added_up`); others have one.
    """
    kinds = totals[:, 0, 0], totals[:, 0, 1], totals[:, 0, 2]
    priors = np.broadcast_to(PriorDraws(evidence).moved(shares, kinds), len(totals))
    rates = above[:, 0] / np.where(totals > 0, totals, 1.0)
    redrawn = BootstrapCounts(rates[..., 0], rates[..., 1], rates[..., 2], kinds, np.zeros(len(totals)))
    return Replicates(redrawn, priors, evidence.label_noise, evidence.recovery_scenario, of_rows=of_rows)
