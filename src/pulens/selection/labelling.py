"""What users say about how positives came to be labelled: ``labelling=`` and ``--labelling``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pulens.errors import AssumptionError, shown
from pulens.estimate import Interval
from pulens.evidence import Design, Evidence
from pulens.evidence.combinations import refuse_together
from pulens.inference.chosen import Choice
from pulens.inference.intervals import MetricIntervals, interval_estimator
from pulens.inference.kernels.resampling import Resampling
from pulens.metrics.parts.rests_on import is_estimated
from pulens.priors import population_prior
from pulens.scalars import real
from pulens.selection.favouring import FavouringInference, multiple_of
from pulens.selection.inference import SelectionInference
from pulens.selection.practice import Favouring, Practice, shipped
from pulens.selection.tilted import TiltedEvidence

LARGEST_FACTOR = 1e6
HIGHEST = 0.999  # of the share of positives among the unlabelled rows: beyond it there are no negatives left


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


def said_of_labels(labelling: object, known: Mapping[str, bool]) -> Practice | Favouring | None:
    """What was said of labels, or else what is taken: as in practice, unless more is known of them.

    ``known`` says which combinations of :mod:`pulens.evidence.combinations` would be met: they are refused.
    """
    taken = "practice" if labelling is None else labelling
    uneven = None if labelling is None and any(known.values()) else check_labelling(taken)
    if uneven is not None:
        for which, is_known in known.items():
            if is_known:
                refuse_together(which)
    return uneven


def read_as_said(evidence: Evidence, labelling: object, strata: Any = None) -> Evidence:
    """What numbers are read off, by what is said of labels, or else by what is known of the rows.

    ``strata`` are those that were named, of which there may be one only.
    """
    if isinstance(evidence, TiltedEvidence):  # was said where the rows were read
        return evidence
    design = Design(strata=strata, given=evidence.facets)
    return read_under(evidence, said_of_labels(labelling, design.refused_beside("practice")))


def read_under(evidence: Evidence, uneven: Practice | Favouring | None) -> Evidence:
    """What numbers are read off, however labels came about; the one place that asks."""
    totals = evidence.tally.totals
    if uneven is None or not totals.labelled or not totals.unlabelled:
        return evidence
    if isinstance(uneven, Favouring):
        multiple_of(evidence, uneven)  # refuses a factor that cannot explain the rows
        return TiltedEvidence.of(evidence, uneven)
    return TiltedEvidence.of(prior_in_practice(evidence), uneven)


def labelling_of(evidence: Evidence) -> str:
    """How labels are taken to have come about, in a word or two."""
    labels = evidence.by_itself.labels
    return "random" if labels is None else str(labels.name)


def told_under(interval: Interval | None, evidence: Evidence) -> Interval | None:
    """An interval with what it rests on, where labels are not taken for random."""
    labels = evidence.by_itself.labels
    if interval is None or labels is None:
        return interval
    return replace(interval, guarantee=labels.guarantee)


def estimator_of(evidence: Evidence, resampling: Resampling, choice: Choice | None = None) -> MetricIntervals:
    """What finds intervals of metrics that are read off this evidence."""
    if evidence.labels is None:
        return interval_estimator(evidence, resampling, choice)
    if isinstance(evidence.labels, Favouring):
        return FavouringInference(evidence.counted, resampling, evidence.labels)
    return SelectionInference(evidence.counted, resampling, evidence.labels, choice)


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
    result = replace(
        prior,
        value=population_prior(share, totals, scenario),
        unlabelled=share,
        interval=whole,
        unlabelled_interval=among,
        distribution=None,
        standard_error=None,
    )
    return replace(evidence, class_prior=result)
