"""Training that ends with one answer for every row: the usual way in which PU learning fails, and a silent one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import CollapseWarning

MOST_ROWS = 2000  # looked at, evenly spread over the unlabelled rows
FEWEST_EXPECTED = 50  # rows of the missing class, by the class prior, from which one answer for all is no accident


def warn_if_collapsed(learner: Any, unlabelled: NDArray[np.float32]) -> None:
    """Warn where a fitted learner calls all of many unlabelled rows, scaled as its network reads them, the same."""
    chosen = np.unique(np.linspace(0, len(unlabelled) - 1, min(len(unlabelled), MOST_ROWS)).round().astype(int))
    share = float((learner._network_logits(unlabelled[chosen]) > learner.cut_).mean())
    prior = learner.class_prior_
    expected = len(chosen) * (0.5 if prior is None else prior if share == 0 else 1 - prior)
    if share not in (0.0, 1.0) or expected < FEWEST_EXPECTED:
        return
    word = "positive" if share else "negative"
    known = "" if prior is None else f", class prior {prior:.2g}"
    warnings.warn(
        f"{type(learner).__name__} calls every unlabelled row {word} ({len(chosen):,} looked at{known}): training has "
        "collapsed. Scale the features (standardise=True), lower learning_rate, or take another loss or method; its "
        "scores may still rank rows.",
        CollapseWarning,
        stacklevel=4,  # whoever called fit
    )
