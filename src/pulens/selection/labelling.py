"""What users say about how positives came to be labelled: ``labelling=`` and ``--labelling``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pulens.errors import AssumptionError, shown
from pulens.evidence import Evidence
from pulens.metrics.parts.rests_on import is_estimated
from pulens.priors import population_prior
from pulens.scalars import real
from pulens.selection.practice import Practice, shipped

LARGEST_FACTOR = 1e6
HIGHEST = 0.999  # of the share of positives among the unlabelled rows: beyond it there are no negatives left


@dataclass(frozen=True, slots=True)
class Favouring:
    """High scores up to a factor as likely to be labelled as low ones, and nothing else known of the labelling."""

    factor: float
    explains_any_rows: ClassVar[bool] = False  # rows may still rule it out, as they rule random labels out

    @property
    def name(self) -> str:
        return f"high scores up to {self.factor:g} times as likely"

    @property
    def guarantee(self) -> str:
        return "possible set"


def check_labelling(labelling: object) -> Practice | Favouring | None:
    """How labels favour easy positives; ``None`` for labels that are a random draw of the positives.

    >>> check_labelling("random") is None, check_labelling("practice").domains > 10, check_labelling("3")
    (True, True, Favouring(factor=3.0))
    >>> check_labelling("easy")
    Traceback (most recent call last):
    ...
    pulens.errors.AssumptionError: labelling must be 'practice', 'random' or a factor such as 3, got 'easy'. ...
    """
    if isinstance(labelling, Practice | Favouring):
        return labelling
    if isinstance(labelling, str) and labelling in ("random", "practice"):
        return shipped() if labelling == "practice" else None
    factor = math.nan if isinstance(labelling, bool | np.bool_) else _number(labelling)
    if 1 <= factor <= LARGEST_FACTOR:
        return Favouring(factor)
    raise AssumptionError(
        f"labelling must be 'practice', 'random' or a factor such as 3, got {shown(labelling)}. 'practice': labels "
        "favour easy positives as much as they do in real data sets; 'random': labels are a random draw of the "
        f"positives; a factor from 1 to {LARGEST_FACTOR:g}: high scores were up to 3 times as likely to be labelled."
    )


def _number(said: object) -> float:
    try:
        return real(float(said) if isinstance(said, str) else said)
    except ValueError:
        return math.nan


def prior_in_practice(evidence: Evidence) -> Evidence:
    """The evidence with a class prior that uneven labels cannot mislead; one that was given or audited stays.

    An estimate from scores takes labels for random. Without that, the unlabelled rows may hold any share of positives
    up to the limit for high scores labelled up to three times as often
    (``ClassPrior.feasible_uneven``): a range, in which the estimate is one value.
    """
    prior = evidence.class_prior
    limit = prior.unlabelled_feasible_uneven
    if limit is None or not is_estimated(prior):
        return evidence
    totals, scenario = evidence.tally.totals, evidence.scenario
    among = replace(limit, low=0.0, high=min(limit.high, HIGHEST), confidence=None, guarantee="")
    ends = [population_prior(share, totals, scenario) for share in (among.low, among.high)]
    whole = replace(among, low=ends[0], high=ends[1])
    share = min(max(prior.unlabelled, among.low), among.high)
    found = replace(
        prior,
        value=population_prior(share, totals, scenario),
        unlabelled=share,
        interval=whole,
        unlabelled_interval=among,
        distribution=None,
        standard_error=None,
    )
    return replace(evidence, class_prior=found)
