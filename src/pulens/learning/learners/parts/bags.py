r"""Labelled against unlabelled rows, bag by bag: scores of each row by members that did not see it.

A member has three models. *Boosting* and a few *fine* trees see a bag: the labelled rows and some unlabelled ones. A
*coarse* forest sees the unlabelled rows that are not in the bag, too, and its leaves are so large that each is expected
to hold half a labelled row: whether a positive is labelled is a coin, and smaller leaves would learn the coins. Fine
trees are better where labels are few, the coarse forest where there are hundreds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import logit

from pulens.learning.learners.forest.random_trees import random_trees
from pulens.learning.learners.parts.training_rows import Rows, TrainingRows, without_empty_columns
from pulens.types import Booleans, Floats, Whole

FOLDS = 4  # a labelled row is out of every fourth bag
FEWEST_IN_BAG = 200
FINE_TREES, COARSE_TREES = 6, 8  # of a member
LABELLED_IN_LEAF = 0.5  # of a coarse tree, expected
MOST_IN_FOREST = 20_000  # unlabelled rows of a coarse forest: members see others, and together nearly all
WEIGHTS = (1.0, 0.5, 0.5)  # of boosting, fine trees and the coarse forest
BINS = 63  # of a column, in boosting: where labels are noise, finer cuts tell nothing more
SHARES = 0.02  # shares of trees are kept so far from 0 and 1 before they become log-odds


@dataclass(frozen=True)
class BagScores:
    """Scores of stage one: how much rather labelled than unlabelled, by members that did not see the row.

    ``alike`` is over as many members for a labelled row as for an unlabelled one, so that labelled and hidden positives
    have scores of one distribution; ``best`` is over all members that did not see the row.
    """

    alike: Floats
    best: Floats


@dataclass(frozen=True)
class Bag:
    """Places of the rows that the three models of a member see, and which rows are kept apart from all of them."""

    boosting: Whole
    fine: Whole
    coarse: Whole
    apart: Booleans


@dataclass(frozen=True)
class Size:
    """How large a boosting machine is: trees, leaves of each, and the step that each takes."""

    trees: int
    leaves: int
    step: float

    @classmethod
    def for_labels(cls, trees: int, labelled: int) -> Size:
        """Trees for 250 labelled rows, and more with the root of their number: what many labels tell has more detail.

        From 1,000 labelled rows there are three times as many trees, with steps a third as long: with fewer labels that
        costs time and gains nothing (accuracy within a tenth of a point on ten tables).

        >>> for labelled in (10, 1000, 10**6):
        ...     print(Size.for_labels(20, labelled))
        Size(trees=20, leaves=16, step=0.3)
        Size(trees=120, leaves=31, step=0.1)
        Size(trees=240, leaves=31, step=0.1)
        """
        growth = min(max((labelled / 250) ** 0.5, 1.0), 4.0)
        return cls(int(trees * growth), 16, 0.3) if growth < 2 else cls(int(3 * trees * growth), 31, 0.1)

    def options(self, rows: int) -> dict[str, Any]:
        """What the two stages tell their boosting machines alike."""
        return {
            "max_iter": self.trees,
            "max_leaf_nodes": self.leaves,
            "learning_rate": self.step,
            "max_bins": BINS,
            "min_samples_leaf": max(2, min(20, rows // 20)),
            "l2_regularization": 1.0,
            "early_stopping": False,
        }


def bag_scores(
    known: TrainingRows, members: int, trees: int, n_jobs: int | None, rng: np.random.Generator
) -> BagScores:
    """Train the members of stage one, and score all rows."""
    filled, _ = known.filled()
    size = Size.for_labels(trees, int(known.labelled.sum()))
    dealt = list(deal_bags(known, members, rng))
    seeds = rng.integers(2**31, size=(len(dealt), 3)).tolist()
    made = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_member)(known, filled, bag, size, seed) for bag, seed in zip(dealt, seeds, strict=True)
    )
    apart = np.array([bag.apart for bag in dealt])
    alike = best = np.zeros(known.labelled.size)
    for kind, weight, scores in zip(("boosting", "fine", "coarse"), WEIGHTS, zip(*made, strict=True), strict=True):
        outside = np.array([~_seen(known, getattr(bag, kind)) for bag in dealt])
        turn = (lambda values: values) if kind == "boosting" else _log_odds
        of_apart, of_outside = (turn(_averaged(np.array(scores), which)) for which in (apart, outside))
        alike = alike + weight * _spread(of_apart, known.labelled)
        best = best + weight * _spread(of_outside, known.labelled)
    return BagScores(alike, best)


def _seen(known: TrainingRows, places: Whole) -> Booleans:
    """Rows that a model was trained on, or that belong together with one of them."""
    if known.groups is not None:
        return np.isin(known.groups, known.groups[places])
    seen = np.zeros(known.labelled.size, bool)
    seen[places] = True
    return seen


def _averaged(scores: Floats, which: Booleans) -> Floats:
    """The mean over some members of each row; where there are none, over all."""
    chosen = which | ~which.any(axis=0)
    result: Floats = (scores * chosen).sum(axis=0) / chosen.sum(axis=0)
    return result


def _log_odds(shares: Floats) -> Floats:
    result: Floats = logit(np.clip(shares, SHARES, 1 - SHARES))
    return result


def deal_bags(known: TrainingRows, members: int, rng: np.random.Generator) -> Iterator[Bag]:
    """The bags of all members; a quarter of either kind of rows is kept apart from each, every row in its turn.

    A bag has all other labelled rows, and of the other unlabelled ones about as many for the fine trees, twice as many
    for boosting, and ``MOST_IN_FOREST`` for the coarse forest.

    >>> known = TrainingRows(np.zeros((100, 1), np.float32), np.arange(100) < 8, np.ones(100))
    >>> [(bag.boosting.size, bag.coarse.size, bag.apart.sum()) for bag in deal_bags(known, 2, np.random.default_rng(0))]
    [(52, 75, np.int64(25)), (52, 75, np.int64(25))]
    """
    labelled = known.labelled
    kinds = np.flatnonzero(labelled), np.flatnonzero(~labelled)
    inside = kinds[0].size * (FOLDS - 1) // FOLDS
    fine, boosting = (max(1, min(max(times * inside, FEWEST_IN_BAG), kinds[1].size // 2)) for times in (1, 2))
    fold = np.zeros(labelled.size, np.int64)
    for member in range(members):
        if member % FOLDS == 0:
            fold = known.dealt(FOLDS, rng)
        apart: Booleans = fold == member % FOLDS
        ours, theirs = (kind[~apart[kind]] if (~apart[kind]).any() else kind for kind in kinds)
        order = rng.permutation(theirs)
        seen = [np.concatenate([ours, order[:size]]) for size in (boosting, fine, MOST_IN_FOREST)]
        yield Bag(seen[0], seen[1], seen[2], apart)


def _member(known: TrainingRows, filled: Rows, bag: Bag, size: Size, seeds: list[int]) -> tuple[Floats, Floats, Floats]:
    """Log-odds by boosting, shares by fine trees and by the coarse forest, of all rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    boosting = HistGradientBoostingClassifier(**size.options(bag.boosting.size), random_state=seeds[0]).fit(
        without_empty_columns(known.rows[bag.boosting]),
        known.labelled[bag.boosting],
        **known.fit_weights(bag.boosting),
    )
    share = known.labelled[bag.coarse].mean()
    leaf = max(2, min(round(LABELLED_IN_LEAF / share), bag.coarse.size // 20))
    return (
        boosting.decision_function(known.rows),
        _forest_shares(known, filled, bag.fine, FINE_TREES, seeds[1], max_features="sqrt"),
        _forest_shares(known, filled, bag.coarse, COARSE_TREES, seeds[2], min_samples_leaf=leaf, max_features=0.5),
    )


def _forest_shares(known: TrainingRows, filled: Rows, places: Whole, trees: int, seed: int, **options: Any) -> Floats:
    """Shares of labelled rows in the leaves of extremely randomised trees, were both kinds equally many; all rows."""
    target, weight = known.labelled[places], known.weights[places].copy()
    for kind in (target, ~target):
        weight[kind] /= weight[kind].sum()
    return random_trees(trees, filled[places], target.astype(float), weight, seed, **options).mean(filled)


def _spread(scores: Floats, labelled: Booleans) -> Floats:
    """Scores in deviations of the unlabelled rows, so that neither kind of tree outweighs the other."""
    other = scores[~labelled]
    deviation = float(other.std())
    result: Floats = (scores - other.mean()) / (deviation if deviation > 0 else 1.0)
    return result
