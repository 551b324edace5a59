"""How many rows to check in each range of scores: Neyman's allocation for two guesses, with a floor under it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.audits.counts import Counts
from pulens.containers import distinct
from pulens.errors import AssumptionError, nearest, shown
from pulens.scalars import is_among, whole
from pulens.types import Floats

GOALS = ("all", "f1", "precision", "recall", "class_prior", "roc_auc")
_PARTS_OF_ALL = ("precision", "recall", "f1", "class_prior")
_FLAGGED_FIRST = ("precision", "f1", "all")  # goals for which a quarter of the rows are flagged ones
FLOOR = 0.35  # of proportional allocation: no total's standard error is more than 1.7 times that of proportional strata
FLAGGED_SHARE = 0.25
LARGEST_SHARE, SMALLEST_SHARE = 0.98, 1e-4  # of positives in a stratum, where a spread is guessed
FEWEST_ROWS, MOST_ROWS = 10, 200_000  # of a budget; nobody checks more, and files stay small
FEWEST = 8  # rows to check in a stratum below the threshold, or ranges are joined


def check_goal(goal: Any) -> str:
    """The goal's name.

    >>> check_goal("recal")
    Traceback (most recent call last):
    ...
    pulens.errors.AssumptionError: goal must be one of all, f1, precision, recall, class_prior, roc_auc, got 'recal'. \
Did you mean 'recall'?
    """
    if goal == "average_precision":
        raise AssumptionError(
            "rows are not chosen for average_precision: no way of spreading them for it has been validated. An audit "
            f"with any goal estimates it where scores are known; goals are {', '.join(GOALS)}."
        )
    if not is_among(goal, GOALS):
        raise AssumptionError(
            f"goal must be one of {', '.join(GOALS)}, got {shown(goal)}.{nearest(goal, GOALS)}".rstrip()
        )
    return str(goal)


def default_guess(rows: Counts, flagged: int) -> Floats:
    """Positives per stratum if nothing is known: half of the flagged rows, as many below, halving from range to range.

    >>> default_guess(np.array([200, 332, 882, 2347, 6239]), 1).round(2).tolist()
    [100.0, 53.33, 26.67, 13.33, 6.67]
    """
    half = np.asarray(rows, float) / 2
    guess = half.copy()
    below = len(rows) - flagged
    if below:
        shares = 0.5 ** np.arange(below)
        guess[flagged:] = np.minimum(half[flagged:].copy(), half[:flagged].sum() * shares / shares.sum())
    return guess


def labelled_guess(rows: Counts, labelled: Counts, positives: float) -> Floats:
    r"""Positives per stratum if labels are a random draw of them: :math:`T (L_k + 1/K)/(n_L + 1)`, at most 98% of rows.

    >>> rows, labelled = np.array([200, 332, 882, 2347, 6239]), np.array([60, 20, 10, 5, 5])
    >>> labelled_guess(rows, labelled, 200).round(2).tolist(), labelled_guess(rows, labelled, 500).round(2).tolist()
    ([119.21, 40.0, 20.2, 10.3, 10.3], [196.0, 100.0, 50.5, 25.74, 25.74])
    """
    shares = (np.asarray(labelled, float) + 1 / len(rows)) / (np.sum(labelled) + 1)
    return np.minimum(LARGEST_SHARE * np.asarray(rows, float), positives * shares)


def guesses(
    rows: Counts, labelled: Counts, flagged: int, positives: float | None = None
) -> tuple[Floats] | tuple[Floats, Floats]:
    """The default guess and, where rows are labelled, the guess from labels; ``positives`` is a given total."""
    plain = default_guess(rows, flagged)
    if not np.sum(labelled):
        return (plain,)
    return plain, labelled_guess(rows, labelled, float(plain.sum()) if positives is None else positives)


def weights(rows: Counts, guess: Floats, flagged: int, goal: str) -> Floats:
    r"""Shares of the rows to check by Neyman: :math:`M_k |c_k| \sqrt{p_k (1 - p_k)}`, scaled to sum 1.

    :math:`c_k` is the derivative of the goal in the positives of stratum :math:`k`.
    """
    if goal == "all":
        return np.mean([weights(rows, guess, flagged, part) for part in _PARTS_OF_ALL], axis=0)  # type: ignore[no-any-return]
    sizes = np.asarray(rows, float)
    share = np.clip(np.divide(guess, sizes, out=np.zeros(len(rows)), where=sizes > 0), SMALLEST_SHARE, LARGEST_SHARE)
    above, below = _derivatives(share * sizes, sizes, flagged, goal)
    derivative = np.where(np.arange(len(rows)) < flagged, above, below)
    result = sizes * np.abs(derivative) * np.sqrt(share * (1 - share))
    total = result.sum()
    shares: Floats = result / total if total > 0 else sizes / sizes.sum()
    return shares


def _derivatives(guess: Floats, sizes: Floats, flagged: int, goal: str) -> tuple[float, float]:
    hits, positives, size = guess[:flagged].sum(), guess.sum(), sizes[:flagged].sum()
    if goal == "precision":
        return 1.0, 0.0
    if goal == "recall":
        recall = hits / positives
        return 1 - recall, -recall
    if goal == "f1":
        f1 = 2 * hits / (size + positives)
        return 2 - f1, -f1
    return 1.0, 1.0


def allocate(
    rows: Counts,
    labelled: Counts,
    flagged: int,
    budget: int,
    goal: str = "all",
    *,
    positives: float | None = None,
    at_least: Counts | None = None,
) -> Counts:
    r"""Rows to check in each stratum, ``budget`` in all or every row there is.

    The weights are the mean of those of the two :func:`guesses`: labels are believed by half only. Each
    :math:`n_k = \lambda w_k` is raised to :math:`.35 B M_k / M`, the flagged rows to a quarter of the budget where the
    goal needs them, and cut at :math:`M_k`; :math:`\lambda` makes the sum right. ``at_least`` are rows that were queued
    before.

    >>> rows, labelled = np.array([200, 332, 882, 2347, 6239]), np.array([60, 20, 10, 5, 5])
    >>> allocate(rows, labelled, 1, 200).tolist(), allocate(rows, labelled, 1, 200, "recall").tolist()
    ([76, 22, 27, 31, 44], [23, 31, 39, 45, 62])
    """
    sizes = np.asarray(rows, np.int64)
    budget = min(int(budget), int(sizes.sum()))
    share = np.mean([weights(sizes, guess, flagged, goal) for guess in guesses(sizes, labelled, flagged, positives)], 0)
    lowest = FLOOR * budget * sizes / sizes.sum()
    if goal in _FLAGGED_FIRST and flagged and sizes[:flagged].sum():
        first = sizes[:flagged]
        lowest[:flagged] = np.maximum(lowest[:flagged], np.minimum(FLAGGED_SHARE * budget * first / first.sum(), first))
    if at_least is not None:
        lowest = np.maximum(lowest, at_least)
    return _whole(_scaled(share, np.minimum(lowest, sizes), sizes, budget), sizes, at_least, budget)


def _scaled(share: Floats, lowest: Floats, highest: NDArray[np.int64], budget: int) -> Floats:
    """lambda * share between both limits, with the sum asked for; the limits bend at known values of lambda."""
    if lowest.sum() >= budget:  # rows queued before and the floor leave no choice
        return lowest

    def total(factor: float) -> float:
        return float(np.clip(factor * share, lowest, highest).sum())

    used = share > 0
    bends = distinct(np.concatenate([lowest[used] / share[used], highest[used] / share[used], [0.0]]))
    totals = np.array([total(bend) for bend in bends])
    index = int(np.searchsorted(totals, budget))
    if index == len(bends):  # strata without weight take what no other can hold
        result = np.clip(bends[-1] * share, lowest, highest)
        room = highest - result
        return result + room * ((budget - result.sum()) / room.sum() if room.sum() else 0.0)  # type: ignore[no-any-return]
    begin, end = bends[max(index - 1, 0)], bends[index]
    rise = totals[index] - totals[max(index - 1, 0)]
    factor = end if rise == 0 else end - (end - begin) * (totals[index] - budget) / rise
    return np.clip(factor * share, lowest, highest)  # type: ignore[no-any-return]


def _whole(wanted: Floats, highest: NDArray[np.int64], at_least: Counts | None, budget: int) -> Counts:
    """Whole numbers by largest remainders; of equal ones the higher stratum comes first."""
    result = np.minimum(np.floor(wanted + 1e-9).astype(np.int64), highest)
    if at_least is not None:
        result = np.maximum(result, np.asarray(at_least, np.int64))
    remainder = np.round(wanted - result, 9)
    missing = budget - int(result.sum())
    while missing > 0:  # at most one row for each stratum, unless limits bind
        order = np.argsort(-np.where(result < highest, remainder, -np.inf), kind="stable")
        taken = [index for index in order.tolist() if result[index] < highest[index]][:missing]
        if not taken:
            break
        result[taken] += 1
        remainder[taken] -= 1
        missing -= len(taken)
    return result


def thinly_checked(rows: Counts, allocation: Counts, flagged: int) -> bool:
    """Whether a stratum below the threshold has fewer rows to check than an interval needs."""
    fewest = np.minimum(FEWEST, np.asarray(rows)[flagged:])
    return bool((np.asarray(allocation)[flagged:] < fewest).any())


def check_budget(budget: Any) -> int:
    """A whole number of rows, ten or more.

    >>> check_budget(9)
    Traceback (most recent call last):
    ...
    pulens.errors.AssumptionError: budget must be a whole number of rows to check, 10 to 200,000, got 9.
    """
    number = whole(budget)
    if number is None or not FEWEST_ROWS <= number <= MOST_ROWS:
        raise AssumptionError(
            f"budget must be a whole number of rows to check, {FEWEST_ROWS} to {MOST_ROWS:,}, got {shown(budget)}."
        )
    return number
