"""Choosing which positives are labelled, given how representative each of them is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]
Mechanism = Callable[[NDArray[Any], int, np.random.Generator], Indices]


def at_random(representativeness: NDArray[Any], n_labelled: int, rng: np.random.Generator) -> Indices:
    """Every positive has the same chance of a label.

    >>> at_random(np.zeros(3), 3, np.random.default_rng(0)).tolist()
    [0, 1, 2]
    """
    return np.sort(rng.choice(len(representativeness), n_labelled, replace=False))


def most_representative(representativeness: NDArray[Any], n_labelled: int, rng: np.random.Generator) -> Indices:
    """The least representative are left unlabelled: scenario 1 of paper 000. Ties go to the first.

    >>> most_representative(np.array([.9, .4, .6, .6]), 2, np.random.default_rng(0)).tolist()
    [0, 2]
    """
    return np.sort(np.argsort(-np.asarray(representativeness), kind="stable")[:n_labelled])


def least_representative(representativeness: NDArray[Any], n_labelled: int, rng: np.random.Generator) -> Indices:
    """The most representative are left unlabelled: scenario 2 of paper 000. Ties go to the first.

    >>> least_representative(np.array([.9, .4, .6, .6]), 2, np.random.default_rng(0)).tolist()
    [1, 2]
    """
    return np.sort(np.argsort(np.asarray(representativeness), kind="stable")[:n_labelled])
