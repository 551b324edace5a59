"""What the studies of Claesen et al. share: rankings whose truth is known, labels drawn from it, and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from pulens.counts.tally import Tally
from pulens.estimate import Curve
from pulens.inference.kernels.bands import rank_band
from pulens.recovery import pairwise_auc
from pulens.types import Floats

SEPARATION = 1.0  # standard deviations between the means of positives and negatives in simulated rankings
COLOURS = {"truth": "#222222", "ours": "#1f5fa8", "other": "#c8553d", "third": "#3d8b5f", "fourth": "#7d5ba6"}
PAPER_AREA = 0.768  # true AUROC of the paper's model on covtype, in the heads of Tables 1 and 2
TRAINING_LABELS, TRAINING_UNLABELLED = 200, 6_000
MEMBERS = 20


@dataclass(frozen=True, eq=False)
class TrueRanking:
    """Scores of rows whose classes are all known."""

    name: str
    scores: Floats
    is_positive: NDArray[np.bool_]

    @cached_property
    def roc_auc(self) -> float:
        """Area under the true ROC curve of these rows."""
        return pairwise_auc(self.tally, "labelled", "negative")

    @cached_property
    def tally(self) -> Tally:
        """All rows counted by their true class."""
        return Tally.from_arrays(np.where(self.is_positive, 1, -1), self.scores)

    def labels(self, positives: int, rng: np.random.Generator, negatives: int = 0) -> NDArray[np.int8]:
        """PU labels: this many positives and negatives, drawn completely at random, are known.

        >>> ranking = binormal("toy", 5, 10, np.random.default_rng(0))
        >>> np.bincount(ranking.labels(2, np.random.default_rng(0), negatives=3) + 1).tolist()
        [3, 10, 2]
        """
        result = np.zeros(self.scores.size, np.int8)
        for known, label, rows in ((positives, 1, self.is_positive), (negatives, -1, ~self.is_positive)):
            result[rng.choice(np.flatnonzero(rows), known, replace=False)] = label
        return result

    def some(self, positives: int, negatives: int, rng: np.random.Generator) -> TrueRanking:
        """Rows drawn at random, this many of each class."""
        rows = np.concatenate(
            [
                rng.choice(np.flatnonzero(of), count, replace=False)
                for of, count in ((self.is_positive, positives), (~self.is_positive, negatives))
            ]
        )
        return TrueRanking(self.name, self.scores[rows], self.is_positive[rows])


def binormal(name: str, positives: int, negatives: int, rng: np.random.Generator) -> TrueRanking:
    """Normal scores of both classes: one of the simulated rankings that the paper does not describe."""
    scores = np.concatenate([rng.normal(SEPARATION, 1, positives), rng.normal(0, 1, negatives)])
    return TrueRanking(name, scores, np.repeat([True, False], [positives, negatives]))


@cache
def trained_ranking(seed: int) -> TrueRanking:
    """A model trained on PU rows, and 20,000 test rows of each class: the setup of section 6.3.

    The paper's covtype is not among our data sets. Connect-4 has as many rows; bagging on 200 labelled positives (the
    paper's model is a bagged ensemble too) ranks them about as well as the paper's model ranks covtype. Where even
    Connect-4 cannot be had the scores are simulated.
    """
    from pulens.errors import MissingDependencyError
    from pulens.learning.learners import PUBagging
    from pulens.research.benchmark import datasets

    rng = np.random.default_rng(seed)
    try:
        data = datasets.load("connect4")
    except (datasets.DataUnavailableError, MissingDependencyError):
        return binormal("simulated normal scores (Connect-4 is not at hand)", 20_000, 20_000, rng)
    assert data.y is not None
    positive, negative = (rng.permutation(np.flatnonzero(of)) for of in (data.y, ~data.y))
    half = TRAINING_UNLABELLED // 2
    train = np.concatenate([positive[20_000 : 20_000 + TRAINING_LABELS + half], negative[20_000 : 20_000 + half]])
    labels = np.repeat([1, 0], [TRAINING_LABELS, TRAINING_UNLABELLED])
    model = PUBagging(n_estimators=MEMBERS, scenario="case-control", random_state=seed).fit(data.X[train], labels)
    test = np.concatenate([positive[:20_000], negative[:20_000]])
    return TrueRanking("Connect-4 ranked by PU bagging", model.decision_function(data.X[test]), data.y[test])


def band_holds(
    ranking: TrueRanking, labels: NDArray[np.int8], band: str, confidence: float = 0.95
) -> tuple[bool, float]:
    """Whether a band on the known positives' rank CDF holds the latent ones' at every rank, and at what share of ranks.

    Equation 14 asks for the first.
    """
    known, latent = labels == 1, ranking.is_positive & (labels == 0)
    # three kinds of rows, distinguished by the codes of a tally
    kinds = np.where(known, 1, np.where(latent, -1, 0)).astype(np.int8)
    counted = Tally.from_arrays(kinds, ranking.scores)
    total, hidden = counted.totals.labelled, counted.totals.negative
    limits = rank_band(counted.labelled, total, confidence, band, latent=hidden)
    share = counted.negative / hidden
    inside = (limits.low <= share) & (share <= limits.high)
    return bool(inside.all()), float(inside.mean())


def height_at(curve: Curve, places: Floats) -> Floats:
    """A curve's height at given places of its x axis, points in any order."""
    order = np.lexsort((curve.y, curve.x))
    return np.asarray(np.interp(places, curve.x[order], curve.y[order]))
