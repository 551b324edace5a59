"""What users say about how positives came to be labelled: ``labelling=`` and ``--labelling``."""

from __future__ import annotations

from dataclasses import replace

from pulens.errors import AssumptionError, shown
from pulens.evidence import Evidence
from pulens.metrics.parts.rests_on import is_estimated
from pulens.priors import population_prior
from pulens.selection.practice import Practice, shipped

HIGHEST = 0.999  # of the share of positives among the unlabelled rows: beyond it there are no negatives to speak of


def check_labelling(labelling: object) -> Practice | None:
    """The distribution of tilts that is meant; ``None`` for labels that are a random draw of the positives.

    >>> check_labelling("random") is None, check_labelling("practice").domains > 10
    (True, True)
    >>> check_labelling("easy")
    Traceback (most recent call last):
    ...
    pulens.errors.AssumptionError: labelling must be 'random' or 'practice', got 'easy'. 'random': labels are a ...
    """
    if isinstance(labelling, Practice):
        return labelling
    if isinstance(labelling, str) and labelling in ("random", "practice"):
        return shipped() if labelling == "practice" else None
    raise AssumptionError(
        f"labelling must be 'random' or 'practice', got {shown(labelling)}. 'random': labels are a random draw of the "
        "positives; 'practice': labels favour easy positives as much as they do in real data sets. For a range up to a "
        "factor use sensitivity= (--sensitivity)."
    )


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
