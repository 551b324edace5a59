"""The cut at which as many rows are called positive as there are positives: there precision equals recall."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from pulens.learners.stack.program import Program


class PinnedCut(Program):
    """A program whose own cut is arbitrary: with ``pinned`` and a class prior, that share of rows is above it.

    Such methods rank rows without a class prior, and where their scores cross zero is left to the course of training.
    """

    cuts_by_class_prior = True

    def cut(self, population_scores: torch.Tensor | None, run: int) -> float:
        prior = self.stack.class_priors[run]
        if prior is None or population_scores is None:
            return 0.0
        return break_even_cut(population_scores, prior)

    def reference_scores(self) -> list[Any]:
        if not self.value("pinned"):
            return super().reference_scores()
        return self.stack.population_scores()


def break_even_threshold(scores: Any, class_prior: float) -> float:
    r"""The score :math:`a_{(k)}` with :math:`k = \lfloor n(1-\pi) \rfloor`: a share pi of scores is at or above it.

    >>> break_even_threshold([0.9, -1.2, 0.3, 2.1, -0.4, 0.0, 1.5, -2.0, -0.1, 0.6], 0.4)
    0.6
    """
    ascending = np.sort(np.asarray(scores))
    # 10 * (1 - 0.4) must be 6, whatever binary fractions make of it
    k = min(math.floor(ascending.size * (1 - class_prior) + 1e-9), ascending.size - 1)
    return float(ascending[k])


def cut_below(scores: Any, threshold: float) -> float:
    """A number between the threshold and the next score below, so that "above the cut" means "at or above it"."""
    below = np.asarray(scores)[np.asarray(scores) < threshold]
    return threshold - 1.0 if below.size == 0 else (threshold + float(below.max())) / 2


def break_even_cut(scores: torch.Tensor, class_prior: float) -> float:
    """The cut above which a share of the scores lies.

    >>> round(break_even_cut(torch.tensor([0.9, -1.2, 0.3, 2.1, -0.4]), 0.4), 3)
    0.6
    """
    own = scores.double().cpu().numpy()
    return cut_below(own, break_even_threshold(own, class_prior))
