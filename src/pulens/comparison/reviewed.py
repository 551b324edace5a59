"""Models compared by rows that people checked: differences with intervals that assume nothing about labelling."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.audits import Reviews, design_estimates
from pulens.audits.comparing import COMPARED, ReviewedDifference, compare_reviewed
from pulens.audits.formulas import in_words
from pulens.audits.prior import prior_of_counts
from pulens.confidence import check_confidence
from pulens.errors import AssumptionError, InputError, PulensError
from pulens.estimate import Estimate
from pulens.evaluation.reviews import plan_score, row_reviews
from pulens.evidence.review_options import ReviewOptions
from pulens.frozen import FrozenMapping
from pulens.inputs import ReadOptions, read_sample
from pulens.priors import ClassPrior


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class ReviewedComparison:
    """What the checked rows say of each model and of each pair, at the models' thresholds.

    ``estimates[metric][model]`` and ``differences[metric]`` (all pairs, each at the confidence of its own).
    """

    models: tuple[str, ...]
    thresholds: Mapping[str, float]
    estimates: Mapping[str, Mapping[str, Estimate]]
    differences: Mapping[str, tuple[ReviewedDifference, ...]]
    checked: int
    found: int
    confidence: float
    class_prior: ClassPrior | None = None  # that the checked rows settle; none where rows were left out

    @property
    def verdict(self) -> str:
        """One sentence on the first metric: what the checked rows can tell."""
        metric = next(iter(self.differences))
        shown = in_words(metric)
        known = [
            (pair, pair.interval) for pair in self.differences[metric] if pair.interval and not pair.undefined_because
        ]
        if not known:
            return f"The {self.checked:,} checked rows do not say which model is better by {shown}."
        clear = [(pair, interval) for pair, interval in known if pair.is_clear]
        pair, interval = max(clear or known, key=lambda one: abs(one[0].value))
        better, other = (pair.first, pair.second) if pair.value >= 0 else (pair.second, pair.first)
        if not clear:
            low, high = (interval.low, interval.high) if pair.value >= 0 else (-interval.high, -interval.low)
            return (
                f"No clear difference between {better} and {other} in {self.checked:,} checked rows: {shown} "
                f"differs by {abs(pair.value):+.3f} ({self.confidence:.0%} interval {low:+.3f} to {high:+.3f})."
            )
        low, high = sorted((abs(interval.low), abs(interval.high)))
        return (
            f"By {self.checked:,} checked rows {better} is better than {other}: {shown} differs by "
            f"{abs(pair.value):+.3f} ({self.confidence:.0%} interval {low:+.3f} to {high:+.3f})."
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "checked": self.checked,
            "found": self.found,
            "thresholds": {model: at if math.isfinite(at) else None for model, at in self.thresholds.items()},
            "metrics": {
                name: {
                    "estimates": {model: one.to_dict() for model, one in self.estimates[name].items()},
                    "differences": [pair.to_dict() for pair in pairs],
                }
                for name, pairs in self.differences.items()
            },
        }


def reviewed_comparison(
    labels: Any,
    scores: Any,
    thresholds: Mapping[str, float],
    asked: ReviewOptions,
    said: Mapping[str, Any],
    *,
    scenario: str,
    confidence: float,
    seed: int,
) -> ReviewedComparison | None:
    """Read the answers beside the rows that all models scored; ``None`` if nobody spoke of reviews."""
    if asked.is_silent:
        return None
    reading = ReadOptions(**{name: value for name, value in said.items() if name != "score"})
    if any(np.isnan(one) for one in thresholds.values()):
        raise PulensError(
            "checked rows compare models by F1, precision and recall, which need a threshold: threshold= (--threshold)."
        )
    columns = _scores(labels, scores, tuple(thresholds), reading)
    reviews = _joined(labels, columns, asked, reading, scenario=scenario, is_arrays=scores is not None)
    if reviews.relabelled:
        raise InputError(
            f"{reviews.relabelled:,} checked rows carry their answer as a label in the table, and would count as "
            "labelled rows in what is recovered. Give the table with the labels of before the check."
        )
    decisions = {model: columns[model] >= thresholds[model] for model in thresholds}
    return compared(reviews, decisions, thresholds, confidence=confidence, seed=seed)


def compared(
    reviews: Reviews,
    decisions: Mapping[str, NDArray[np.bool_]],
    thresholds: Mapping[str, float],
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> ReviewedComparison:
    """The same of rows that are read already."""
    models = tuple(decisions)
    confidence = check_confidence(confidence)
    options: dict[str, Any] = {"confidence": confidence, "seed": seed}
    alone = {
        model: design_estimates(
            reviews.counts(decisions[model]),
            metrics=COMPARED,
            unchecked_share=reviews.sibling_share(decisions[model]),
            **options,
        )
        for model in models
    }
    pairs: dict[str, list[ReviewedDifference]] = {name: [] for name in COMPARED}
    for one, two in combinations(models, 2):
        result = compare_reviewed(reviews, decisions[one], decisions[two], names=(one, two), **options)
        for name, pair in result.items():
            pairs[name].append(pair)
    return ReviewedComparison(
        models=models,
        thresholds=FrozenMapping(dict(thresholds)),
        estimates=FrozenMapping({n: FrozenMapping({m: alone[m][n] for m in models}) for n in COMPARED}),
        differences=FrozenMapping({name: tuple(result) for name, result in pairs.items()}),
        checked=int(reviews.is_checked.sum()),
        found=int((reviews.answer == 1).sum()),
        confidence=confidence,
        class_prior=_class_prior(reviews, decisions[models[0]], confidence, seed),
    )


def _class_prior(reviews: Reviews, decision: NDArray[np.bool_], confidence: float, seed: int) -> ClassPrior | None:
    try:
        return prior_of_counts(reviews.counts(decision), confidence=confidence, seed=seed)
    except AssumptionError:  # rows that nobody could have checked: there are only bounds
        return None


def _scores(labels: Any, scores: Any, models: tuple[str, ...], reading: ReadOptions) -> dict[str, NDArray[Any]]:
    if isinstance(scores, Mapping):
        return {model: np.asarray(scores[model]) for model in models}
    said = reading.rows
    return {model: read_sample(labels, allow_one_kind=True, **{**said, "score": model}).scores for model in models}


def _joined(
    labels: Any,
    columns: Mapping[str, NDArray[Any]],
    asked: ReviewOptions,
    reading: ReadOptions,
    *,
    scenario: str,
    is_arrays: bool,
) -> Reviews:
    """The answers on the rows, drawn by the score that the plan names or, of arrays, by that of one of the models."""
    if not is_arrays:
        column = plan_score(asked) or next(iter(columns))
        return row_reviews(labels, None, replace(reading, score=column), asked, scenario=scenario)
    trouble: InputError | None = None
    for scores in columns.values():
        try:
            return row_reviews(labels, scores, reading, asked, scenario=scenario)
        except InputError as error:
            trouble = trouble or error
    raise trouble or InputError("there is no column of scores to join the answers to.")
