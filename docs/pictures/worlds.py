"""Worlds whose truth is known, and colours, for the pictures."""

from __future__ import annotations

import numpy as np

INK, FAINT, STRONG, CONTRAST, THIRD = "#010203", "#8a8a8a", "#1f5fa8", "#b8431f", "#2f7d4f"


def case_control(labelled=400, unlabelled=8000, class_prior=0.2, distance=1.8, seed=0):
    """Labels, scores and true classes: normal scores, positives `distance` higher; labels completely at random."""
    rng = np.random.default_rng(seed)
    positive = np.r_[np.ones(labelled, bool), rng.random(unlabelled) < class_prior]
    labels = np.repeat([1, 0], [labelled, unlabelled])
    return labels, rng.normal(distance * positive), positive


def known(labels, positive):
    """The same unlabelled rows with their true classes: 1 and -1, for an evaluation without any doubt about labels."""
    return np.where(positive, 1, -1)[labels == 0]
