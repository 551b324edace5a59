"""Worlds for audits: hidden positives are known, so that every interval of an audit can be held against the truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from pulens.scenario import Scenario
from pulens.types import Booleans, Floats

__all__ = ["AUDIT_WORLDS", "UNSEEN_AUDIT_WORLDS", "AuditWorld", "AuditedTable"]

Family = Literal["normal", "student", "beta", "exponential", "tied", "gamma", "laplace"]


@dataclass(frozen=True, eq=False)
class AuditedTable:
    """One table of a world: scores of the labelled, scores and classes of the unlabelled, highest score first."""

    labelled: Floats
    unlabelled: Floats
    positive: Booleans
    threshold: float
    scenario: Scenario

    def truth(self) -> dict[str, float]:
        """The metrics of the rows at hand: unlabelled ones, in the single set with the labelled positives."""
        flagged = self.unlabelled >= self.threshold
        result, missed = float((self.positive & flagged).sum()), float((self.positive & ~flagged).sum())
        rows, picked = float(self.unlabelled.size), float(flagged.sum())
        if self.scenario is Scenario.SINGLE_SET:
            above = float((self.labelled >= self.threshold).sum())
            result, picked = result + above, picked + above
            missed, rows = missed + self.labelled.size - above, rows + self.labelled.size
        positives = result + missed
        right = rows - picked - missed
        spread = np.sqrt(picked * (rows - picked) * positives * (rows - positives))
        return {
            "class_prior": positives / rows,
            "precision": result / picked if picked else np.nan,
            "recall": result / positives if positives else np.nan,
            "f1": 2 * result / (picked + positives),
            "accuracy": (result + right) / rows,
            "specificity": right / (rows - positives),
            "matthews": (result * right - (picked - result) * missed) / spread if spread else np.nan,
        }


@dataclass(frozen=True)
class AuditWorld:
    """A class prior, two densities of the score, and a preference for labelling some positives.

    ``hidden`` is the share of positives that score like negatives; a positive above the mean of the others is
    ``factor`` times as likely to be labelled as one below it (below 1: labels favour low scores). The threshold is
    the one of best F1 in the population, or the one that flags ``flags`` of it.

    >>> world = AuditWorld("small", class_prior=0.1, labelled=50, unlabelled=1000, shift=2.0)
    >>> table = world.draw(np.random.default_rng(0))
    >>> table.labelled.size, table.unlabelled.size, int(table.positive.sum())
    (50, 1000, 100)
    >>> bool(0 < table.truth()["recall"] < 1)
    True
    """

    name: str
    class_prior: float
    labelled: int
    unlabelled: int
    shift: float = 1.0
    family: Family = "normal"
    hidden: float = 0.0
    factor: float = 1.0
    flags: float | None = None
    scenario: Literal["case-control", "single-set"] = "case-control"

    @property
    def random_labels(self) -> bool:
        return self.factor == 1.0

    def scores(self, rng: np.random.Generator, positives: int, negatives: int) -> Floats:
        """Scores of this many positives, then of this many negatives."""
        like_negatives = rng.random(positives) < self.hidden
        from_negatives = int(like_negatives.sum())
        high = self._of(rng, positives - from_negatives, True)
        low = self._of(rng, negatives + from_negatives, False)
        answer = np.empty(positives + negatives)
        answer[:positives][~like_negatives] = high
        answer[:positives][like_negatives] = low[:from_negatives]
        answer[positives:] = low[from_negatives:]
        return answer

    def _of(self, rng: np.random.Generator, size: int, positive: bool) -> Floats:
        move = self.shift if positive else 0.0
        if self.family == "student":
            return np.asarray(rng.standard_t(3, size) + move)
        if self.family == "beta":
            return np.asarray(rng.beta(1 + self.shift, 1.5, size) if positive else rng.beta(1, 1 + self.shift, size))
        if self.family == "exponential":
            return np.asarray(rng.exponential(1 + move, size))
        if self.family == "gamma":
            return np.asarray(rng.gamma(2 + move, 1.0, size))
        if self.family == "laplace":
            return np.asarray(rng.laplace(move, 1.0, size))
        if self.family == "tied":
            return np.asarray(np.round(4 * rng.normal(move, 1.5 if positive else 1.0, size)) / 4)
        return np.asarray(rng.normal(move, 1.0, size))

    def draw(self, rng: np.random.Generator) -> AuditedTable:
        """A fresh table; as many hidden positives as the class prior says, to the row."""
        threshold, mean = _landmarks(self)
        single = self.scenario == "single-set"
        rows = self.unlabelled + (self.labelled if single else 0)
        hidden = round(self.class_prior * rows) - (self.labelled if single else 0)
        pool = hidden + self.labelled if single else max(20 * self.labelled, 2_000)
        if single:
            scores = self.scores(rng, pool, rows - pool)
            chosen = self._labelled(rng, scores[:pool], mean)
            labelled, unlabelled = scores[:pool][chosen], np.concatenate([scores[:pool][~chosen], scores[pool:]])
        else:
            candidates = self.scores(rng, pool, 0)
            labelled = candidates[self._labelled(rng, candidates, mean)]
            unlabelled = self.scores(rng, hidden, rows - hidden)
        order = np.argsort(-unlabelled, kind="stable")
        return AuditedTable(labelled, unlabelled[order], order < hidden, threshold, Scenario(self.scenario))

    def _labelled(self, rng: np.random.Generator, scores: Floats, mean: float) -> Booleans:
        chance = np.where(scores >= mean, self.factor, 1.0)
        keys = rng.exponential(size=scores.size) / chance  # the smallest are a draw one after the other by chance
        chosen = np.zeros(scores.size, bool)
        chosen[np.argpartition(keys, self.labelled - 1)[: self.labelled]] = True
        return chosen


@lru_cache(maxsize=256)
def _landmarks(world: AuditWorld) -> tuple[float, float]:
    """The threshold, and the mean of positives that do not hide, from 200,000 rows of each class."""
    size = 200_000
    scores = world.scores(np.random.default_rng(1), size, size)
    mean = float(world._of(np.random.default_rng(2), size, True).mean())
    order = np.argsort(-scores, kind="stable")
    positive = order < size
    true = np.cumsum(positive) / size * world.class_prior
    picked = true + np.cumsum(~positive) / size * (1 - world.class_prior)
    ordered = scores[order]
    ends = np.append(ordered[1:] != ordered[:-1], True)
    if world.flags is not None:
        place = int(np.flatnonzero(ends)[np.argmin(np.abs(picked[ends] - world.flags))])
    else:
        place = int(np.flatnonzero(ends)[np.argmax((2 * true / (picked + world.class_prior))[ends])])
    return float(ordered[place]), mean


def _both(name: str, class_prior: float, labelled: int, unlabelled: int, **more: float) -> list[AuditWorld]:
    fair = AuditWorld(f"{name}, random labels", class_prior, labelled, unlabelled, **more)  # type: ignore[arg-type]
    high = AuditWorld(f"{name}, high 3:1", class_prior, labelled, unlabelled, factor=3.0, **more)  # type: ignore[arg-type]
    return [fair, high]


AUDIT_WORLDS: tuple[AuditWorld, ...] = (
    *_both("rare", 0.02, 100, 20_000, shift=2.33),
    AuditWorld("prior .2, random labels", 0.2, 200, 5_000, 1.47),
    AuditWorld("prior .2, high 3:1", 0.2, 200, 5_000, 1.47, factor=3.0),
    AuditWorld("prior .2, low 3:1", 0.2, 200, 5_000, 1.47, factor=1 / 3),
    AuditWorld("prior .5, 1 label per 100", 0.5, 40, 4_000, 1.19),
    AuditWorld("sharp, 1 label per 100", 0.05, 100, 10_000, 3.29),
    AuditWorld("weak score", 0.1, 100, 10_000, 0.95),
    *_both("30% like negatives", 0.03, 200, 20_000, shift=2.8, hidden=0.3),
    AuditWorld("matching, prior .001", 0.001, 16, 50_000, 4.3, hidden=0.2),
    AuditWorld("single set, random labels", 0.2, 480, 5_520, 1.47, scenario="single-set"),
    AuditWorld("single set, high 3:1", 0.2, 480, 5_520, 1.47, factor=3.0, scenario="single-set"),
)

# not looked at while constants were chosen: thresholds that are not the best, tails, ties, few labels
UNSEEN_AUDIT_WORLDS: tuple[AuditWorld, ...] = (
    AuditWorld("student, flags 3%", 0.05, 60, 12_000, 2.5, "student", flags=0.03),
    AuditWorld("beta, prior .3", 0.3, 50, 3_000, 2.0, "beta", flags=0.2),
    AuditWorld("exponential, prior .1", 0.1, 150, 8_000, 3.0, "exponential", flags=0.05),
    AuditWorld("tied, unequal spread", 0.08, 80, 10_000, 2.0, "tied"),
    AuditWorld("gamma, flags 1%", 0.01, 50, 30_000, 5.0, "gamma", flags=0.01),
    AuditWorld("laplace, many labels", 0.04, 1_000, 15_000, 3.0, "laplace"),
    AuditWorld("flags too much", 0.05, 40, 6_000, 2.0, flags=0.3),
    AuditWorld("student, low 3:1", 0.1, 100, 8_000, 2.0, "student", factor=1 / 3),
    AuditWorld("gamma, high 5:1", 0.06, 200, 12_000, 4.0, "gamma", factor=5.0),
    AuditWorld("single set, few labels", 0.1, 60, 6_000, 1.8, "laplace", scenario="single-set"),
)
