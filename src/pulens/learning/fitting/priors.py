"""The class prior that a learner trains with, where the evaluation allows for a range, an audit or an estimate."""

from __future__ import annotations

from typing import Any

from pulens.counts.tally import Totals
from pulens.errors import AssumptionError, shown
from pulens.learning.learners.base.prior import check_known_prior
from pulens.notice import Notice, Severity
from pulens.priors.audit import check_audit
from pulens.priors.class_prior import population_prior
from pulens.scalars import real
from pulens.scenario import check_scenario

NARROW = 1e-9


def takes_range(learner_class: Any) -> bool:
    """Whether a learner can be given a range ``(low, high)`` to keep its estimate in.

    >>> from pulens.learners import PUET, BoostedPU
    >>> takes_range(BoostedPU), takes_range(PUET)
    (True, False)
    """
    return hasattr(learner_class, "_settled_prior")


def training_prior(
    given: Any, audit: Any, scenario: str, labelled: int, rows: int, learner_class: Any
) -> tuple[Any, tuple[Notice, ...]]:
    """What the learner is told, and what the reader should know about it; ``None`` leaves the learner's own way."""
    kind, totals = check_scenario(scenario), Totals(labelled, rows - labelled, 0)
    if audit is not None:
        result = check_audit(audit)
        share = (result.positives + 0.5) / (result.checked + 1)  # none found is not none there
        return population_prior(share, totals, kind), ()
    value = getattr(given, "value", given)
    if isinstance(value, tuple | list):
        if len(value) != 2 or not 0 < real(value[0]) <= real(value[1]) < 1:
            raise AssumptionError(
                f"class_prior as a range must be (low, high) with 0 < low <= high < 1, got {shown(given)}: 0.1:0.2 on "
                "the command line."
            )
        if takes_range(learner_class):
            return (float(value[0]), float(value[1])), ()
        middle = check_known_prior((value[0] + value[1]) / 2, kind, labelled / rows)
        return middle, (
            Notice(
                Severity.NOTE,
                "middle-of-range",
                f"{learner_class.__name__} trains with one class prior: it was given the middle of the range, "
                f"{middle:.4g}. The numbers here allow for all of the range.",
            ),
        )
    if value is None or isinstance(value, str):
        return value, ()
    return check_known_prior(value, kind, labelled / rows), ()


def of_these_rows(prior: Any, scenario: str, labelled: int, rows: int) -> Any:
    """The same for part of the rows, of which a little more may be labelled than of all.

    >>> of_these_rows(0.1, "single-set", 1, 4) > 0.25, of_these_rows(0.1, "case-control", 1, 4)
    (True, 0.1)
    """
    if not isinstance(prior, float) or str(scenario) != "single-set":
        return prior
    return max(prior, min(labelled / rows * (1 + NARROW), 1 - NARROW))
