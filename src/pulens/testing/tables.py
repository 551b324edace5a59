"""The simplest table there is: one set of rows, normal scores, labels drawn at random among the positives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pulens.types import Booleans, Floats

__all__ = ["draw_table"]


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
