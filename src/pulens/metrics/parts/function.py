"""The public face of a metric: labels and scores in, an Estimate out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pulens.errors import PulensError, shown
from pulens.estimate import Estimate
from pulens.evidence import ASSUMED, NOT_USED, Evidence, IntervalOptions, gather
from pulens.inference.intervals import IntervalEstimator
from pulens.inference.kernels.resampling import DEFAULT_REDRAWS
from pulens.inputs import ReadOptions
from pulens.keywords import check_keywords, keywords_of
from pulens.metrics.parts.measure import check_threshold, estimate
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.possible_worlds import (
    DEFAULT_MULTIPLE,
    check_multiple,
    find_contradiction,
    within_what_is_possible,
)
from pulens.metrics.parts.withholding import withhold
from pulens.scalars import plain_scalar, real


def _parameter(name: str, given: Any, declared: Any) -> Any:
    """Text where the metric declares text, and a number as Python has it: a share of rows and a whole number differ."""
    if isinstance(declared, str) and not isinstance(given, str):
        raise PulensError(f"{name} must be text, such as {declared!r}, got {shown(given)}.")
    plain = plain_scalar(given)
    number = real(plain)
    return plain if isinstance(plain, int | float) or math.isnan(number) else number


class MetricFunction:
    """A metric as a function of labels and scores; see :func:`pulens.evaluate` for the arguments.

    No interval is computed unless ``confidence`` asks for one: scorers call metrics many times. A value that an
    estimated class prior leaves open is withheld (:mod:`pulens.metrics.parts.withholding`), unless ``withholds`` is
    False: who compares models needs a number of each.
    """

    def __init__(self, name: str, metric: Metric, *, withholds: bool = True) -> None:
        self.name = name
        self.metric = metric
        self.withholds = withholds
        self.__name__ = name
        self.__doc__ = f"{metric.summary}.\n\n{metric.compute.__doc__ or ''}"

    def __call__(
        self,
        labels: Any,
        scores: Any = None,
        *,
        threshold: float | None = None,
        confidence: float | None = None,
        redraws: int = DEFAULT_REDRAWS,
        seed: int = 0,
        worlds: float = DEFAULT_MULTIPLE,
        **options: Any,
    ) -> Estimate:
        self.check_keywords(self.name, options)
        assumed = {name: options.pop(name) for name in ASSUMED if name in options}
        question = IntervalOptions(confidence=confidence, redraws=redraws, seed=seed, **assumed)
        declared = self.metric.parameters
        parameters = {name: _parameter(name, options.pop(name), declared[name]) for name in declared if name in options}
        if self.metric.needs_threshold:
            threshold = check_threshold(threshold, required_by=self.name)
        if self.metric.ignores_class_prior and question.is_silent_on_prior and not isinstance(labels, Evidence):
            # any would do, since the number does not depend on it, but 0: that says every row is labelled
            question = replace(question, unlabelled_prior=NOT_USED)
        multiple = check_multiple(worlds)
        evidence = within_what_is_possible(question.evidence(labels, scores, ReadOptions(**options)))
        contradiction = None if self.metric.ignores_class_prior else find_contradiction(evidence, multiple)
        doubts = None if question.resampling is None else IntervalEstimator(evidence, question.resampling)
        given = {"threshold": threshold, "doubts": doubts, "contradiction": contradiction}
        result = estimate(self.name, self.metric, evidence, **given, **parameters)
        return withhold(result, self.metric) if self.withholds else result

    def check_keywords(self, door: str, given: Iterable[str]) -> None:
        """Refuse arguments that neither this metric nor the reading of rows takes."""
        known = keywords_of(gather) | keywords_of(MetricFunction.__call__) | set(self.metric.parameters)
        check_keywords(door, given, known)

    def __repr__(self) -> str:
        return f"<pulens metric {self.name}: {self.metric.summary}>"
