"""What a number takes for granted, said beside the number itself."""

from __future__ import annotations

from typing import Literal

from pulens.evidence import Evidence
from pulens.metrics.parts.metric import Metric
from pulens.priors import ClassPrior

RANDOM_LABELLING = "random labelling"
#: what a number rests on, by how positives are taken to have come by their labels
BASIS: dict[str, Literal["random labelling", "labelling in practice"]] = {
    "random": "random labelling",
    "practice": "labelling in practice",
}


def rests_on(metric: Metric, evidence: Evidence) -> tuple[str, ...]:
    """What would have to fail for the number to be wrong, from the metric's facts and the evidence.

    >>> from pulens.evidence import gather
    >>> from pulens.metrics import METRICS
    >>> evidence = gather([1, 0, 0, 0], [4, 3, 2, 1], class_prior=(0.3, 0.4), scenario="case-control")
    >>> rests_on(METRICS["precision"], evidence)
    ('random labelling', 'class prior (given as a range)')
    >>> rests_on(METRICS["recall"], evidence), rests_on(METRICS["predicted_positive_rate"], evidence)
    (('random labelling',), ())
    """
    if metric.ignores_class_prior or metric.counted or not evidence.tally.totals.unlabelled:
        return ()  # a number of the rows as they are
    result: list[str] = [BASIS[evidence.labelling]]
    if metric.needs_class_prior or evidence.label_noise or evidence.labelling == "practice":
        result.append(f"class prior ({origin(evidence.class_prior)})")
    if evidence.label_noise:
        result.append("label noise (given)")
    return tuple(result)


def origin(prior: ClassPrior) -> str:
    """Where a class prior comes from, in a word or two.

    >>> origin(ClassPrior(0.2, 0.2, "estimated: auto")), origin(ClassPrior(0.2, 0.2, "audit of 200 rows"))
    ('estimated', 'audit of 200 rows')
    """
    if not is_estimated(prior):
        return prior.method
    _, *audit = prior.method.split(", ")
    return ", ".join(["estimated", *audit])


def is_estimated(prior: ClassPrior) -> bool:
    """Whether it was read off the scores, and so rests on an assumption about their shape."""
    return prior.method.startswith("estimated")
