"""Labelled against unlabelled rows, bag by bag: scores of each row by members that did not see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import logit

from pulens.learners.parts.training_rows import Rows, TrainingRows, without_empty_columns
from pulens.types import Booleans, Floats

FOLDS = 4  # a labelled row is out of every fourth bag
FEWEST_IN_BAG = 200
RANDOM_IN_BAG = 6  # extremely randomised trees beside the boosting of a bag
SHARES = 0.02  # shares of trees are kept so far from 0 and 1 before they become log-odds


@dataclass(frozen=True)
class BagScores:
    """Scores of stage one: how much rather labelled than unlabelled, by members that did not see the row.

    ``alike`` is over as many members for a labelled row as for an unlabelled one, so that labelled and hidden positives
    have scores of one distribution; ``best`` is over all members that did not see the row.
    """

    alike: Floats
    best: Floats


def bag_scores(
    known: TrainingRows, members: int, iterations: int, n_jobs: int | None, rng: np.random.Generator
) -> BagScores:
    """Train the members of stage one, and score all rows."""
    filled, _ = known.filled()
    dealt = list(deal_bags(known, members, rng))
    seeds = rng.integers(2**31, size=(len(dealt), 2)).tolist()
    made = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_member)(known, filled, bag, iterations, seed) for (bag, _), seed in zip(dealt, seeds, strict=True)
    )
    boosted, random = (np.array(part) for part in zip(*made, strict=True))
    apart, outside = np.array([apart for _, apart in dealt]), np.ones(boosted.shape, bool)
    for place, (bag, _) in enumerate(dealt):
        seen = bag if known.groups is None else np.isin(known.groups, known.groups[bag])
        outside[place, seen] = False
    return BagScores(*(_averaged(boosted, random, which, known.labelled) for which in (apart, outside)))


def _averaged(boosted: Floats, random: Floats, which: Booleans, labelled: Booleans) -> Floats:
    """The mean over some members of each row; where there are none, over all."""
    chosen = which | ~which.any(axis=0)
    each = [(scores * chosen).sum(axis=0) / chosen.sum(axis=0) for scores in (boosted, random)]
    each[1] = logit(np.clip(each[1], SHARES, 1 - SHARES))
    return _spread(each[0], labelled) + _spread(each[1], labelled)


def deal_bags(
    known: TrainingRows, members: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], Booleans]]:
    """Rows of each member's bag, and which rows are kept apart from it: a quarter of either kind, each in its turn.

    The bag has all other labelled rows, and about as many of the other unlabelled ones.

    >>> known = TrainingRows(np.zeros((100, 1), np.float32), np.arange(100) < 8, np.ones(100))
    >>> [(bag.size, apart.sum()) for bag, apart in deal_bags(known, 2, np.random.default_rng(0))]
    [(52, np.int64(25)), (52, np.int64(25))]
    """
    labelled = known.labelled
    kinds = np.flatnonzero(labelled), np.flatnonzero(~labelled)
    size = max(1, min(max(kinds[0].size * (FOLDS - 1) // FOLDS, FEWEST_IN_BAG), kinds[1].size // 2))
    fold = np.zeros(labelled.size, np.int64)
    for member in range(members):
        if member % FOLDS == 0:
            fold = known.dealt(FOLDS, rng)
        apart: Booleans = fold == member % FOLDS
        ours, theirs = (kind[~apart[kind]] if (~apart[kind]).any() else kind for kind in kinds)
        yield np.concatenate([ours, rng.permutation(theirs)[:size]]), apart


def _member(
    known: TrainingRows, filled: Rows, bag: NDArray[np.int64], iterations: int, seeds: list[int]
) -> tuple[Floats, Floats]:
    """Log-odds by boosting and shares by random trees, of all rows, from the rows of one bag."""
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier

    target, weight = known.labelled[bag], known.weights[bag].copy()
    boosting = HistGradientBoostingClassifier(
        max_iter=iterations,
        max_leaf_nodes=16,
        min_samples_leaf=max(2, min(20, bag.size // 20)),
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seeds[0],
    ).fit(without_empty_columns(known.rows[bag]), target, **known.fit_weights(bag))
    for kind in (target, ~target):
        weight[kind] /= weight[kind].sum()  # either kind counts half
    trees = ExtraTreesClassifier(RANDOM_IN_BAG, random_state=seeds[1]).fit(filled[bag], target, sample_weight=weight)
    return boosting.decision_function(known.rows), trees.predict_proba(filled)[:, 1]


def _spread(scores: Floats, labelled: Booleans) -> Floats:
    """Scores in deviations of the unlabelled rows, so that neither kind of tree outweighs the other."""
    other = scores[~labelled]
    deviation = float(other.std())
    found: Floats = (scores - other.mean()) / (deviation if deviation > 0 else 1.0)
    return found
