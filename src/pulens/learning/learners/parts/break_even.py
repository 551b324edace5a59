"""The cut at which as many rows are called positive as there are positives: there precision equals recall."""

from __future__ import annotations

from typing import Any

import torch

from pulens.learning.learners.base.cuts import break_even_threshold, cut_below
from pulens.learning.learners.stack.program import Program


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


def break_even_cut(scores: torch.Tensor, class_prior: float) -> float:
    """The cut above which a share of the scores lies.

    >>> round(break_even_cut(torch.tensor([0.9, -1.2, 0.3, 2.1, -0.4]), 0.4), 3)
    0.6
    """
    own = scores.double().cpu().numpy()
    return cut_below(own, break_even_threshold(own, class_prior))


class BreakEvenProgram(Program):
    """Cuts where the share of the population that is called positive is the class prior."""

    def cut(self, population_scores: torch.Tensor, run: int) -> float:
        prior = self.stack.class_priors[run]
        assert prior is not None
        return break_even_cut(population_scores, prior)

    def reference_scores(self) -> list[Any]:
        return self.stack.population_scores()
