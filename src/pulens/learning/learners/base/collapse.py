"""Training that ends with one answer for every row: the usual way in which PU learning fails, and a silent one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import CollapseWarning
from pulens.learning.learners.base.cuts import break_even_threshold, cut_below
from pulens.learning.learners.base.proxies import proxy_auc
from pulens.scenario import Scenario

MOST_ROWS = 2000  # looked at, evenly spread over the unlabelled rows
FEWEST_EXPECTED = 50  # rows of the missing class, by the class prior, from which one answer for all is no accident
FEWEST_TO_CALL = 10  # rows of either class, by the class prior, from which the share that is called can be judged
FAR_OFF = 3  # times fewer or more rows of a class are called than the class prior says: not overlap but a wrong cut
LEAST_KNOWN = 0.55  # of its own labelled rows, as a proxy AUC, below which a classifier has learned nothing


def collapse_of(learner: Any, unlabelled: NDArray[np.float32]) -> str | None:
    """What a fitted learner calls all of many unlabelled rows, scaled as its network reads them; None: not the same."""
    share, looked_at = _called(learner, unlabelled)
    prior = learner.class_prior_
    expected = looked_at * (0.5 if prior is None else prior if share == 0 else 1 - prior)
    if share not in (0.0, 1.0) or expected < FEWEST_EXPECTED:
        return None
    return "positive" if share else "negative"


def knows_its_labels(learner: Any, labelled: NDArray[np.float32], unlabelled: NDArray[np.float32]) -> bool:
    """Whether a fitted learner ranks the labelled rows that it was trained on above unlabelled ones.

    One that does not has hardly moved from where it began: with few rows an epoch has few steps, and a handful of
    validation rows may like an early epoch best.
    """
    return known_auc(learner, labelled, unlabelled) >= LEAST_KNOWN


def well_known_auc(class_prior: float | None, labelled: int, unlabelled: int, scenario: Scenario) -> float:
    """The proxy AUC halfway between chance and that of a perfect classifier: tens of labelled rows are soon so known.

    A perfect classifier has 1 less half the share of positives among the unlabelled rows. A class prior that is not
    known is taken for one half: where positives are many, more than that would be asked of a perfect classifier.

    >>> well_known_auc(0.5, 100, 500, Scenario.CASE_CONTROL)
    0.625
    >>> well_known_auc(0.5, 100, 500, Scenario.SINGLE_SET)
    0.65
    """
    share = 0.5 if class_prior is None else class_prior
    if scenario is Scenario.SINGLE_SET:
        share = float(np.clip((share * (labelled + unlabelled) - labelled) / unlabelled, 0, 1))
    return 0.75 - share / 4


def known_auc(learner: Any, labelled: NDArray[np.float32], unlabelled: NDArray[np.float32]) -> float:
    """Chance that a labelled row outscores an unlabelled one, of rows that a fitted learner was trained on."""
    ours, theirs = (learner._network_logits(rows[places_to_look_at(len(rows))]) for rows in (labelled, unlabelled))
    return proxy_auc(ours, theirs)


def cut_of_prior(learner: Any, population: NDArray[np.float32]) -> float | None:
    """The cut at the class prior, where a fitted learner calls far fewer or more rows of a class; None elsewhere.

    ``population`` are rows that follow the population, scaled as the network reads them.
    """
    prior = learner.class_prior_
    if prior is None or getattr(learner, "pinned", True) is False:
        return None
    scores = learner._network_logits(population)
    called = int((scores > learner.cut_).sum())
    pairs = ((called, prior * scores.size), (scores.size - called, (1 - prior) * scores.size))
    far_off = any(
        wanted >= FEWEST_TO_CALL and not wanted <= result * FAR_OFF <= FAR_OFF**2 * wanted for result, wanted in pairs
    )
    if np.ptp(scores) == 0 or not far_off:
        return None
    return cut_below(scores, break_even_threshold(scores, prior))


def warn_if_untaught(learner: Any, labelled: NDArray[np.float32], unlabelled: NDArray[np.float32]) -> None:
    """Warn where a fitted learner does not rank its own labelled rows above unlabelled ones."""
    if not knows_its_labels(learner, labelled, unlabelled):
        warnings.warn(
            f"{type(learner).__name__} does not rank the {len(labelled):,} labelled rows it was trained on above "
            "unlabelled ones: training has collapsed, and its scores say nothing. Take a learner for few rows, such as "
            "BoostedPU or WeightedElkanNoto, or give more epochs and a higher learning_rate.",
            CollapseWarning,
            stacklevel=4,  # whoever called fit
        )


def warn_that_training_lost(learner: Any, before: float, result: float) -> None:
    """Warn that the network kept is the one from which training began."""
    warnings.warn(
        f"{type(learner).__name__} lost what it began with: labelled rows outscore unlabelled ones with a chance of "
        f"{before:.2f} at the start, a short nnPU training, and of {result:.2f} in the end. Training has collapsed, "
        "and the start is kept (best_epoch_ is 0): compare it as nnPU, label more rows, or take another learner.",
        CollapseWarning,
        stacklevel=5,  # whoever called fit
    )


def places_to_look_at(count: int) -> NDArray[np.int64]:
    """Places of rows to look at, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_ROWS)).round().astype(int))


def _called(learner: Any, unlabelled: NDArray[np.float32]) -> tuple[float, int]:
    """The share of rows that are called positive, and how many were looked at."""
    chosen = places_to_look_at(len(unlabelled))
    return float((learner._network_logits(unlabelled[chosen]) > learner.cut_).mean()), len(chosen)


def warn_if_collapsed(learner: Any, unlabelled: NDArray[np.float32]) -> None:
    """Warn where a fitted learner calls all of many unlabelled rows, scaled as its network reads them, the same."""
    word = collapse_of(learner, unlabelled)
    if word is None:
        return
    prior, looked_at = learner.class_prior_, min(len(unlabelled), MOST_ROWS)
    known = "" if prior is None else f", class prior {prior:.2g}"
    warnings.warn(
        f"{type(learner).__name__} calls every unlabelled row {word} ({looked_at:,} looked at{known}): training has "
        "collapsed. Scale the features (standardise=True), lower learning_rate, or take another loss or method; its "
        "scores may still rank rows.",
        CollapseWarning,
        stacklevel=4,  # whoever called fit
    )
