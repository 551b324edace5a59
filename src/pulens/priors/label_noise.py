"""The class prior and the label noise, estimated together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pulens.answer import Answer
from pulens.confidence import check_confidence
from pulens.estimate import Interval
from pulens.inputs import READING, read_tally
from pulens.keywords import forwards_keywords
from pulens.notice import Notice, Severity
from pulens.priors._twice import exchanged
from pulens.priors.class_prior import ClassPrior
from pulens.priors.estimate import as_class_prior, check_enough, weaknesses
from pulens.priors.feasible import feasible_ranges, highest_prior
from pulens.priors.with_noise import find
from pulens.scenario import DEFAULT_SCENARIO, check_scenario
from pulens.types import RowsLike, Values


@dataclass(frozen=True, slots=True)
class LabelNoise(Answer):
    """Share of labelled rows that are really negative; ``feasible`` is what the data cannot exclude."""

    _keys = (*("value", "interval", "method", "feasible_low=feasible.low", "feasible_high=feasible.high"),)

    value: float
    method: str
    interval: Interval | None
    feasible: Interval
    notices: tuple[Notice, ...] = ()

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        doubt = "" if self.interval is None else f" {self.interval}"
        return f"label noise {self.value:.4g}{doubt} ({self.method})"


@dataclass(frozen=True, slots=True)
class PriorAndNoise(Answer):
    """Both answers; the class prior was estimated allowing for the noise."""

    class_prior: ClassPrior
    label_noise: LabelNoise

    def __str__(self) -> str:
        return f"{self.class_prior}\n{self.label_noise}"


@forwards_keywords(READING)
def estimate_prior_and_noise(
    labels: RowsLike,
    scores: Values | None = None,
    *,
    method: str = "auto",
    scenario: str = DEFAULT_SCENARIO,
    confidence: float = 0.95,
    **reading: Any,
) -> PriorAndNoise:
    """Estimate the share of positives among the unlabelled rows and that of negatives among the labelled ones.

    Needs more than the class prior alone: besides a region of scores without negatives also one without positives.
    Noise is read off the lowest labelled scores, so take an estimate for a diagnostic, and for evidence of noise
    only if its interval excludes zero.

    Parameters
    ----------
    labels, scores
        Labels and scores as arrays; or a table, file or database alone, as for :func:`pulens.evaluate`.
    method
        Estimator of the class prior (:func:`pulens.estimate_prior`).
    scenario, confidence
        As for :func:`pulens.evaluate`.
    reading
        Columns of a table, and what its label values mean, as for :func:`pulens.evaluate`.

    Returns
    -------
    PriorAndNoise
        ``class_prior`` and ``label_noise``, each with its interval.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> scores = np.concatenate([rng.normal(2.5, 1, 450), rng.normal(0, 1, 50), rng.normal(2.5, 1, 1000),
    ...                          rng.normal(0, 1, 4000)])
    >>> found = estimate_prior_and_noise(np.repeat([1, 0], [500, 5000]), scores)  # 1450 positives, 50 wrong labels
    >>> 0.1 in found.label_noise.interval and 1450 / 5500 in found.class_prior.interval
    True

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> found = estimate_prior_and_noise(table, score="risk_v2", label="outcome", positive="fraud")
    >>> print(found.label_noise)
    label noise 0.02501 [0.000, 0.098] (estimated: auto)
    """
    tally = read_tally(labels, scores, **reading)
    facts = find(method)
    checked = check_scenario(scenario)
    confidence = check_confidence(confidence)
    check_enough(tally)
    result = facts.compute(tally, confidence=confidence)
    noise = result.label_noise
    limit = highest_prior(exchanged(tally), confidence=confidence)
    notices = []
    if noise.low is not None and noise.low > 0:
        notices.append(
            Notice(
                Severity.WARNING,
                "noisy-labels",
                f"About {noise.value:.1%} of the labelled rows look negative (at least {noise.low:.1%}): check the "
                "labelled rows with the lowest scores.",
            )
        )
    interval = None
    if noise.low is not None and noise.high is not None:
        low, high = min(noise.low, noise.value), max(noise.high, noise.value)  # few draws may all err to one side
        interval = Interval(low, high, confidence, "likelihood")
    feasible, uneven = feasible_ranges(tally, checked, confidence=confidence)
    class_prior = as_class_prior(
        result.unlabelled_prior,
        tally.totals,
        checked,
        noise.value,
        method=f"{method}, with label noise",
        confidence=confidence,
        feasible=feasible,
        uneven=uneven,
        assumption=facts.assumption,
        notices=(*notices, *weaknesses(tally, result.unlabelled_prior.value, feasible, uneven)),
    )
    answer = LabelNoise(
        noise.value,
        f"estimated: {method}",
        interval,
        Interval(0.0, limit, confidence, "no region may hold more negatives than labelled rows"),
        tuple(notices),
    )
    return PriorAndNoise(class_prior, answer)
