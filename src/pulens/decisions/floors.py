"""Promises: recall at least, precision at least, each with a confidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.decisions.linear import Form
from pulens.decisions.within import linear_method
from pulens.errors import InputError, shown
from pulens.evidence import Evidence
from pulens.inference.method import IntervalMethod
from pulens.inference.prior_uncertainty import PRIORS_IN_RANGE, KnownOfPrior
from pulens.scalars import real
from pulens.selection import under_labelling
from pulens.strata import uncertainty_of
from pulens.types import Floats

FIRST_ROWS = 10  # labelled rows from which on precision is looked at
MOST_STEPS = 400  # thresholds of the walk


def check_floor(name: str, floor: Any) -> float | None:
    """A share strictly between 0 and 1."""
    if floor is None:
        return None
    number = real(floor)
    if not 0 < number < 1:
        raise InputError(f"{name} must lie strictly between 0 and 1, got {shown(floor)}. Write 80% as 0.8.")
    return number


def rows_for_recall(floor: float, confidence: float) -> int:
    """Labelled rows with which a recall can be shown at all: if every one of them is found.

    >>> rows_for_recall(0.8, 0.95), rows_for_recall(0.9, 0.95)
    (14, 29)
    """
    return math.ceil(math.log(1 - confidence) / math.log(floor) - 1e-12)


def lowest_recall(hits: Any, labelled: float, confidence: float) -> Any:
    """One-sided lower limit of Clopper and Pearson: recall at the h-th highest labelled score is Beta(h, n - h + 1)."""
    from pulens.special import betaincinv

    hits = np.asarray(hits, float)
    limit = betaincinv(np.maximum(hits, 1e-9), np.maximum(labelled - hits, 0.0) + 1.0, 1 - confidence)
    return np.where(hits > 0, limit, 0.0)


def recall_floor(
    evidence: Evidence, floor: float, confidence: float, limit_at: Callable[[float], float] | None = None
) -> NDArray[np.bool_]:
    """Thresholds whose recall is at least the floor with this confidence.

    No correction for having looked is needed: hits fall with the threshold, so passing where recall is below the floor
    means passing at the first such threshold. ``limit_at`` gives the lower limit at a threshold where labels are noisy.
    """
    labelled, n = np.asarray(evidence.tally.labelled, float), evidence.counted.tally.totals.labelled
    needed = rows_for_recall(floor, confidence)
    if n < needed:
        raise InputError(
            f"recall of at least {floor:g} cannot be shown with {n:,.10g} labelled rows: {needed} are needed to be "
            f"{confidence:.0%} sure even if every one is found. Ask for less, or label more rows."
        )

    def passes(index: int) -> bool:
        if limit_at is not None:
            return limit_at(float(evidence.tally.thresholds[index])) >= floor
        return float(lowest_recall(labelled[index], n, confidence)) >= floor - 1e-12

    low, high = 0, labelled.size  # the first place that passes
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle + 1, high)
    allowed = np.zeros(labelled.size + 1, bool)
    allowed[low + 1 :] = True
    return allowed


def precision_floor(evidence: Evidence, floor: float, confidence: float) -> NDArray[np.bool_]:
    r"""Thresholds whose precision is at least the floor: :math:`\pi\gamma - fq` must not be negative.

    A fixed sequence, from the tenth highest labelled row down, that stops at the first threshold whose one-sided lower
    end is below 0; it needs no correction if precision does not rise again further down.
    """
    labelled = labelled_rows(evidence)
    allowed = np.zeros(labelled.size + 1, bool)
    steps = _steps(labelled, first_rows(evidence))
    if not steps.size:
        return allowed
    ends = _margins(evidence, steps, floor, confidence)
    failed = np.flatnonzero(ends < 0)
    last = int(failed[0]) - 1 if failed.size else steps.size - 1
    if last >= 0:
        allowed[steps[0] + 1 : steps[last] + 2] = True
    return allowed


def best_precision_floor(evidence: Evidence, confidence: float) -> float:
    """The highest precision that the walk would have shown: that of its first threshold, where it may not fail."""
    steps = _steps(labelled_rows(evidence), first_rows(evidence))
    if not steps.size:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (middle, high) if _margins(evidence, steps[:1], middle, confidence)[0] >= 0 else (low, middle)
    return low


def labelled_rows(evidence: Evidence) -> Floats:
    """Labelled rows at or above each threshold; those of cells before they are weighted."""
    return np.asarray(evidence.counted.tally.labelled, float)


def first_rows(evidence: Evidence) -> float:
    """Labelled rows from which precision is looked at; within cells as many as make their weights worth ten."""
    within = evidence.within
    if within is None:
        return FIRST_ROWS
    labelled, weights = within.cells.totals[:, 0], within.borrowed(within.weights())
    held = labelled > 0
    worth = 1 / float((weights[held] ** 2 / labelled[held]).sum())
    return FIRST_ROWS * float(labelled.sum()) / worth


def _steps(labelled: Floats, first: float) -> NDArray[np.intp]:
    """Thresholds of the walk: scores of labelled rows from the tenth on."""
    steps = np.flatnonzero((np.diff(labelled, prepend=0.0) > 0) & (labelled >= first))
    if steps.size > MOST_STEPS:
        steps = steps[np.unique(np.linspace(0, steps.size - 1, MOST_STEPS).astype(int))]
    return steps


def _margins(evidence: Evidence, steps: NDArray[np.intp], floor: float, confidence: float) -> Floats:
    """Lower ends of hits less what the floor asks of the flagged rows."""
    at = np.asarray(evidence.tally.thresholds, float)[steps]
    method = partial(linear_method, form=Form(1.0, -floor), thresholds=at)
    known = uncertainty_of(evidence, float(np.median(at)))
    return lower_ends(under_labelling(evidence, method, at_threshold=True), known, 1 - confidence)


def lower_ends(construction: IntervalMethod, known: KnownOfPrior, tail: float) -> Floats:
    """One-sided lower ends with the doubt about the class prior: drawn with it, or the lowest over its range.

    Where nothing can be said they are infinite.
    """
    settings = [None] if known.treatment == "drawn" else [known.own_setting]
    if known.treatment == "range":
        settings = list(known.over(PRIORS_IN_RANGE))
    ends = np.min([construction.ends(setting, tail)[0] for setting in settings], axis=0)
    return np.where(np.isnan(ends), -math.inf, ends)
