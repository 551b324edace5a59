"""From a pool of rows with known classes to labelled and unlabelled rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pulens.errors import AssumptionError
from pulens.learning.labelling import Mechanism, labelled_count
from pulens.learning.synthesis.draws import exact, largest_counts, rounded
from pulens.scenario import Scenario
from pulens.types import Booleans, Places

Choose = Callable[[Places, int], Places]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How many rows are labelled, by which rule, and what becomes the unlabelled sample."""

    scenario: Scenario
    mechanism: Mechanism
    label_frequency: float | None = 0.1
    labelled: int | None = None
    label_noise: float = 0.0
    unlabelled: str = "disjoint"
    candidate_share: float | None = None

    @property
    def sets_candidates_aside(self) -> bool:
        """Whether some rows can only be labelled: a biased choice would leave a biased rest as unlabelled sample."""
        return self.scenario is Scenario.CASE_CONTROL and self.unlabelled == "disjoint" and self.share < 1

    @property
    def share(self) -> float:
        if self.candidate_share is not None:
            return self.candidate_share
        return 1.0 if self.mechanism.completely_at_random else 0.5


def construct(is_positive: Booleans, recipe: Recipe, choose: Choose, rng: np.random.Generator) -> tuple[Places, Places]:
    """Places of the labelled and of the unlabelled rows in the pool, each in order.

    ``choose(places, count)`` applies the labelling mechanism to places of positives.
    """
    positives, negatives = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    candidates = positives
    if recipe.sets_candidates_aside:
        kept = rounded(exact(recipe.share) * positives.size)
        candidates = np.sort(rng.permutation(positives)[:kept])
    true_labels, false_labels = label_counts(recipe, candidates.size, negatives.size)
    labelled_positives = choose(candidates, true_labels)
    if recipe.label_noise and labelled_positives.size < true_labels:  # the mechanism fell short
        false_labels = _noise_beside(labelled_positives.size, recipe.label_noise)
    labelled_negatives = np.sort(rng.permutation(negatives)[:false_labels])
    labelled = np.sort(np.concatenate([labelled_positives, labelled_negatives]))
    if recipe.scenario is Scenario.SINGLE_SET:
        return labelled, np.setdiff1d(np.arange(is_positive.size), labelled, assume_unique=True)
    if recipe.unlabelled == "whole-pool":
        return labelled, np.arange(is_positive.size)
    # what cannot be distinguished from a fresh sample of the population: its own prior, and no biased leftovers
    used = candidates if recipe.sets_candidates_aside else labelled_positives
    left_positives = np.setdiff1d(positives, used, assume_unique=True)
    left_negatives = np.setdiff1d(negatives, labelled_negatives, assume_unique=True)
    prior = Fraction(positives.size, is_positive.size)
    n_positives, n_negatives = largest_counts(left_positives.size, left_negatives.size, prior)
    unlabelled = np.concatenate(
        [rng.permutation(left_positives)[:n_positives], rng.permutation(left_negatives)[:n_negatives]]
    )
    return labelled, np.sort(unlabelled)


def label_counts(recipe: Recipe, candidates: int, negatives: int) -> tuple[int, int]:
    """How many positives and how many negatives get a label.

    A label frequency counts positives, :math:`\\lfloor c |P| \\rfloor`, and noise comes on top; a number of labelled
    rows is shared out between the two, as in Jain et al. 2017.
    """
    if recipe.labelled is not None:
        false_labels = rounded(exact(recipe.label_noise) * recipe.labelled)
        true_labels = recipe.labelled - false_labels
    else:
        true_labels = labelled_count(recipe.label_frequency or 0.0, candidates)
        false_labels = _noise_beside(true_labels, recipe.label_noise)
    if true_labels > candidates or false_labels > negatives:
        raise AssumptionError(
            f"cannot label {true_labels} positives and {false_labels} negatives: there are {candidates} positives to "
            f"choose from and {negatives} negatives. Ask for fewer labels, less label_noise or a larger table."
        )
    return true_labels, false_labels


def _noise_beside(true_labels: int, noise: float) -> int:
    share = exact(noise)
    return rounded(true_labels * share / (1 - share))


def realised(is_positive: NDArray[np.bool_], labelled: Places, unlabelled: Places) -> tuple[float, float, float]:
    """Unlabelled prior, label frequency (among distinct positives) and label noise of a finished draw."""
    unlabelled_prior = float(is_positive[unlabelled].mean()) if unlabelled.size else 0.0
    hits = int(is_positive[labelled].sum())
    everyone = np.union1d(labelled, unlabelled)
    positives = int(is_positive[everyone].sum())
    frequency = hits / positives if positives else 0.0
    noise = 1 - hits / labelled.size if labelled.size else 0.0
    return unlabelled_prior, frequency, noise
