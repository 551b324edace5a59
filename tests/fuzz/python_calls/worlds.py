"""Small tables of labels and scores, most of them ordinary, some with next to nothing in them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

LARGE = (60, 200, 200, 400)  # rows of which more can be said
ORDINARY = ("plain", "ties", "shares")
SIZES = (2, 12, 25, 40, 60, 60, 90, 90, 120)


@dataclass(frozen=True)
class World:
    """Rows: 1 labelled, 0 unlabelled, -1 known negative."""

    labels: Any
    scores: Any
    groups: Any
    clusters: Any
    weights: Any
    prior: float  # share of positives, as it was drawn

    @property
    def has_negatives(self) -> bool:
        return bool((self.labels < 0).any())

    def columns(self) -> dict[str, Any]:
        """A table of them, with a second score, a day and an id."""
        return {
            "label": self.labels,
            "score": self.scores,
            "other": np.round(self.scores + np.sin(np.arange(self.scores.size)), 3),
            "group": self.groups,
            "patient": self.clusters,
            "weight": self.weights,
            "day": np.array([f"2026-0{1 + place % 3}-1{place % 9}" for place in range(self.scores.size)]),
            "id": np.array([f"r{place}" for place in range(self.scores.size)]),
        }

    def take(self, order: Any) -> World:
        parts = (self.labels, self.scores, self.groups, self.clusters, self.weights)
        return World(*(part[order] for part in parts), self.prior)


def draw(chance: random.Random, *, sizes: tuple[int, ...] = SIZES, ordinary: bool = False) -> World:
    """Rows with ties as often as not; ``ordinary`` ones have both kinds of row and no negatives that are known."""
    rng = np.random.default_rng(chance.getrandbits(32))
    rows, clear = chance.choice(sizes), sizes == LARGE
    prior = chance.choice((0.3, 0.5) if clear else (0.1, 0.3, 0.5, 0.8))
    positive = rng.random(rows) < prior
    scores = rng.normal(0, 1, rows) + chance.choice((1.5, 3.0) if clear else (0.0, 0.7, 1.5, 3.0)) * positive
    kind = chance.choice(ORDINARY if ordinary else (*ORDINARY, *ORDINARY, "whole", "constant", "wild"))
    if kind == "ties":
        scores = np.round(scores, 1)
    elif kind == "shares":
        scores = np.round(1 / (1 + np.exp(-scores)), 6)
    elif kind == "whole":
        scores = np.round(3 * scores)
    elif kind == "constant":
        scores = np.full(rows, 0.5)
    elif kind == "wild":
        scores = scores * 10.0 ** rng.integers(-300, 300, rows)
    frequency = chance.choice((0.4, 0.6) if clear else (0.2, 0.3, 0.5, 0.9))
    labels = (positive & (rng.random(rows) < frequency)).astype(int)
    if (ordinary or chance.random() < 0.9) and rows > 5:
        labels[:4] = 1, 0, 1, 0
    if not ordinary and chance.random() < 0.15:
        labels[~positive & (rng.random(rows) < 0.3)] = -1
    groups = rng.choice(["a", "b", "c"][: chance.choice((1, 2, 3))], rows)
    clusters = rng.integers(0, max(1, rows // chance.choice((1, 3, 10))), rows)
    weights = rng.choice([0.0, 0.5, 1.0, 2.0, 3.0], rows, p=[0.05, 0.15, 0.4, 0.3, 0.1])
    return World(labels, scores, groups, clusters, weights, prior)
