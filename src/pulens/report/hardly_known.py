"""Answers for which the rows hardly speak about the class prior: they lead with what does not need it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pulens.metrics.parts.rests_on import is_estimated

if TYPE_CHECKING:
    from pulens.doors.evaluate import Evaluation

SAID_BY_THE_ESTIMATOR = ("flat-likelihood", "undetermined-prior")
WIDE_PRIOR, WIDE_PRECISION = 0.3, 0.5


def prior_is_hardly_known(evaluation: Evaluation) -> bool:
    """Whether an estimated class prior is so doubtful that a single precision would say more than the rows do."""
    prior = evaluation.class_prior
    if not is_estimated(prior):
        return False
    if any(notice.code in SAID_BY_THE_ESTIMATOR for notice in prior.notices):
        return True
    if prior.interval is not None and bool(prior.interval.width > WIDE_PRIOR):
        return True
    precision = evaluation.estimates["precision"]
    wide = precision.interval is not None and precision.interval.width > WIDE_PRECISION
    return bool(wide) and not math.isnan(precision.value)
