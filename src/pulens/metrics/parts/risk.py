"""What the risk measures share: mean losses read off a tally, the scores being logits."""

from __future__ import annotations

import numpy as np

from pulens.counts.tally import Tally
from pulens.errors import PulensError, shown
from pulens.learning.risks import LOSSES, RiskParts, risk_parts
from pulens.metrics.parts.observed import class_prior_of
from pulens.recovery.assumptions import Assumptions
from pulens.scalars import is_among
from pulens.scenario import Scenario


def observed_risk(tally: Tally, assumptions: Assumptions, loss: str, measure: str) -> RiskParts:
    """Both parts of the PU risk; the population is the unlabelled rows (case-control) or all of them."""
    if not is_among(loss, LOSSES):
        allowed = ", ".join(repr(name) for name in LOSSES)
        raise PulensError(f"loss of {measure} must be one of {allowed}, got {shown(loss)}.")
    if assumptions.label_noise:
        raise PulensError(
            f"{measure} takes every labelled row for a positive, but label_noise is {assumptions.label_noise!r}. "
            "Leave the label noise out, or use a recovered metric such as error_rate."
        )
    logits = tally.thresholds.astype(np.float64)
    as_positive, as_negative = LOSSES[loss](logits, 1), LOSSES[loss](logits, -1)
    labelled, unlabelled, negative = tally.increments()
    everyone = unlabelled
    if assumptions.scenario is Scenario.SINGLE_SET or not tally.totals.unlabelled:
        everyone = labelled + unlabelled + negative
    return risk_parts(
        float(labelled @ as_positive) / float(labelled.sum()),
        float(labelled @ as_negative) / float(labelled.sum()),
        float(everyone @ as_negative) / float(everyone.sum()),
        class_prior_of(tally.totals, assumptions),
    )
