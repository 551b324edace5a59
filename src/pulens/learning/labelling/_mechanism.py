"""What a labelling mechanism declares about itself, and the draws that several of them share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from pulens.errors import PulensError
from pulens.types import Floats, Places


@dataclass(frozen=True, slots=True)
class Mechanism:
    """The facts of one mechanism; they choose the tests that its file must pass.

    ``choose(evidence, count, rng, **parameters)`` gives the places, in ascending order, of the ``count`` positives
    that get a label. ``evidence`` holds one number per positive: log-odds of being positive, log-density among the
    positives, or anything at all for a mechanism that ``reads="nothing"``.
    """

    choose: Callable[..., Places]
    summary: str
    reads: Literal["nothing", "log_odds", "representativeness"]
    source: str
    alias: str
    deterministic: bool = False
    may_fall_short: bool = False  # whether fewer than `count` positives may come back
    parameters: Mapping[str, Any] = field(default_factory=dict)
    in_words: str = ""  # what happened to the positives, as short as a menu needs it

    @property
    def completely_at_random(self) -> bool:
        """Whether every positive is equally likely to be labelled (SCAR): what a recovery takes for granted."""
        return self.reads == "nothing"


def draw_in_succession(log_weights: Floats, count: int, rng: np.random.Generator) -> Places:
    """Draw without replacement, each time in proportion to the weights that are left.

    The ``count`` smallest of independent exponential times with rates ``exp(log_weights)`` are exactly such a draw.
    Logarithms keep apart what would underflow: a tenth power does so easily. With the same generator a larger draw
    contains the smaller one.

    >>> draw_in_succession(np.log([0.5, 1e-300, 0.5]), 2, np.random.default_rng(0))
    array([0, 2])
    """
    possible = int(np.count_nonzero(log_weights > -np.inf))
    if count > possible:
        raise PulensError(
            f"cannot label {count} positives: only {possible} of {log_weights.size} have a labelling weight above 0. "
            "Lower label_frequency, or give posteriors strictly between 0 and 1."
        )
    with np.errstate(divide="ignore"):
        times = np.log(rng.exponential(size=log_weights.size)) - log_weights
    return np.sort(np.argsort(times, kind="stable")[:count])


def highest(values: Floats, count: int) -> Places:
    """Places of the largest values, ties by position.

    >>> highest(np.array([0.6, 0.9, 0.6]), 2)
    array([0, 1])
    """
    return np.sort(np.argsort(-values, kind="stable")[:count])


def log_posterior(log_odds: Floats) -> Floats:
    """log P(positive) from log-odds, without rounding to 0.

    >>> log_posterior(np.array([0.0, 800.0]))
    array([-0.69314718, -0.        ])
    """
    return -np.logaddexp(0.0, -log_odds)
