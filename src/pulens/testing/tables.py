"""Tables to try things on: normal scores and labels drawn at random, and the same with the columns of an insurer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.types import Booleans, Floats

__all__ = ["claims", "draw_table"]


def draw_table(
    rows: int,
    rng: np.random.Generator,
    *,
    class_prior: float = 0.2,
    label_frequency: float = 0.3,
    distance: float = 1.5,
) -> tuple[NDArray[np.int8], Floats, Booleans]:
    """Labels, scores and true classes; positives score higher by ``distance`` standard deviations.

    >>> labels, scores, positive = draw_table(1000, np.random.default_rng(0))
    >>> int(labels.sum()), int(positive.sum()), bool(positive[labels == 1].all())
    (61, 193, True)
    """
    positive = rng.random(rows) < class_prior
    labels = (positive & (rng.random(rows) < label_frequency)).astype(np.int8)
    return labels, rng.normal(distance * positive), positive


def claims(rows: int = 1000, seed: int = 0) -> dict[str, list[Any]]:
    """Columns of an insurer's table, for examples: give it to ``pandas.DataFrame`` or ``polars.DataFrame``.

    One claim in five is ``fraud``, which nobody knows in practice; three in ten of these were confirmed, and say so in
    ``outcome``. ``risk_v1`` and ``risk_v2`` are two models' probabilities, the second the better one.

    >>> table = claims(4)
    >>> list(table)
    ['claim', 'customer', 'region', 'day', 'amount', 'risk_v1', 'risk_v2', 'outcome', 'fraud']
    >>> table["claim"], table["day"][-1]
    (['C0', 'C1', 'C2', 'C3'], '2026-05-04')
    """
    rng = np.random.default_rng(seed)
    labels, new, fraud = draw_table(rows, rng, distance=2.0)
    old = rng.normal(1.0 * fraud)
    first = np.datetime64("2026-05-01")
    return {
        "claim": [f"C{index}" for index in range(rows)],
        "customer": rng.integers(0, max(rows // 3, 1), rows).tolist(),
        "region": rng.choice(["north", "south"], rows).tolist(),
        "day": [str(first + 40 * index // max(rows, 40)) for index in range(rows)],
        "amount": np.round(np.exp(rng.normal(6 + 0.5 * fraud)), 2).tolist(),
        "risk_v1": _probability(old, 1.0).round(4).tolist(),
        "risk_v2": _probability(new, 2.0).round(4).tolist(),
        "outcome": np.where(labels == 1, "fraud", "").tolist(),
        "fraud": fraud.tolist(),
    }


def _probability(scores: Floats, distance: float) -> Floats:
    """P(positive | score) of normal scores, for a class prior of 0.2."""
    odds = 0.25 * np.exp(distance * scores - distance**2 / 2)
    return odds / (1 + odds)
