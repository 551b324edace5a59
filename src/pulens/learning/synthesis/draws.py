"""Kernels that decide which rows go where: splits, class priors, labelled and unlabelled rows."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from pulens.types import Booleans, Places


def exact(number: float) -> Fraction:
    """A decimal as it was written: 0.07 is seven hundredths.

    >>> exact(0.07) * 100
    Fraction(7, 1)
    """
    return Fraction(repr(float(number)))


def rounded(number: Fraction) -> int:
    """To the nearest integer, halves up.

    >>> rounded(Fraction(5, 2))
    3
    """
    return int(number + Fraction(1, 2))


def split(is_positive: Booleans, share: float, rng: np.random.Generator) -> tuple[Places, Places]:
    """Places that stay and places held out: ``ceil(share n)`` rows, classes in proportion (largest remainders).

    >>> stay, out = split(np.array([True] * 5 + [False] * 5), 0.2, np.random.default_rng(0))
    >>> stay.size, out.size
    (8, 2)
    """
    n = is_positive.size
    held = ceil(exact(share) * n)
    positives, negatives = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    from_positives = rounded(Fraction(held * positives.size, n)) if n else 0
    out = np.concatenate(
        [rng.permutation(positives)[:from_positives], rng.permutation(negatives)[: held - from_positives]]
    )
    return np.setdiff1d(np.arange(n), out, assume_unique=True), np.sort(out)


def largest_counts(positives: int, negatives: int, prior: Fraction) -> tuple[int, int]:
    """The most positives and negatives that can be had at a class prior, from this many of each.

    >>> largest_counts(40, 60, Fraction(1, 2)), largest_counts(40, 60, Fraction(1, 5))
    ((40, 40), (15, 60))
    """
    if prior == 0:
        return 0, negatives
    if prior == 1:
        return positives, 0
    wanted = rounded(positives * (1 - prior) / prior)
    if wanted <= negatives:
        return positives, wanted
    return min(positives, rounded(negatives * prior / (1 - prior))), negatives


def thin(is_positive: Booleans, prior: Fraction, rng: np.random.Generator) -> Places:
    """Places of the largest random subset with a class prior, in order."""
    positives, negatives = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    kept_positives, kept_negatives = largest_counts(positives.size, negatives.size, prior)
    return np.sort(
        np.concatenate([rng.permutation(positives)[:kept_positives], rng.permutation(negatives)[:kept_negatives]])
    )
