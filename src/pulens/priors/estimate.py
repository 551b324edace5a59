"""The doors: the class prior estimated from labels and scores, or from a tally."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pulens.confidence import check_confidence
from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Tally, Totals
from pulens.errors import AssumptionError
from pulens.estimate import Interval
from pulens.inference.kernels.resampling import check_seed
from pulens.inputs import READING, holds_buckets, read_buckets, read_tally
from pulens.inputs.reading import said
from pulens.keywords import check_keywords, keywords_of, typed
from pulens.notice import Notice, Severity, worst_first
from pulens.priors._cells import cut
from pulens.priors._estimator import Finding
from pulens.priors.audit import check_alone, decided_alone, prior_from_audit
from pulens.priors.audit import combine as combine_with_audit
from pulens.priors.class_prior import ClassPrior, population_prior
from pulens.priors.clustered import allowing_for_clusters, few_clusters_for_prior
from pulens.priors.feasible import UNEVEN, feasible_ranges
from pulens.priors.from_scores import find
from pulens.priors.known_negatives import notice_of_estimate
from pulens.recovery.assumptions import check_label_noise
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario
from pulens.types import Clusters, Column, LabelValues, RowsLike, Values

FEWEST_LABELLED, FEWEST_UNLABELLED, FEW_LABELLED = 20, 50, 100
WEAK_AUC, HIGH_PRIOR, LOW_PRIOR = 0.65, 0.9, 0.02


def estimate_prior(
    labels: RowsLike,
    scores: Values | None = None,
    *,
    score: Column | None = None,
    label: Column | None = None,
    positive: LabelValues | None = None,
    negative: LabelValues | None = None,
    unlabelled: LabelValues | None = None,
    method: str | None = None,
    scenario: str = DEFAULT_SCENARIO,
    label_noise: float = 0.0,
    confidence: float = 0.95,
    audit: object = None,
    combine: bool = False,
    seed: int = 0,
    cluster: Clusters | None = None,
    **options: Any,
) -> ClassPrior:
    """Estimate the share of positives from positive and unlabelled rows.

    Parameters
    ----------
    labels, scores
        As for :func:`pulens.evaluate`; also a table or the path of a file. Scores must be out of sample for these
        rows: scores of the rows a model was trained on put labelled rows too high and make the estimate too low.
    score, label
        Columns of scores and labels, where the first argument is a table, file or database; ``"score"`` and
        ``"label"`` unless given.
    positive, negative, unlabelled
        Label values that mean labelled positive, known negative and unlabelled, each a value or a list.
    method
        ``"auto"`` (the default), or a name from :func:`pulens.priors.names`.
    scenario
        What ``value`` is about: the population the unlabelled rows were drawn from (``"case-control"``), or labelled
        and unlabelled rows together (``"single-set"``).
    label_noise
        Share of labelled rows that are really negative, if known; see :func:`estimate_prior_and_noise`.
    confidence
        Of the interval and of the feasible range.
    audit
        Positives found and rows checked among randomly chosen unlabelled rows, such as ``(13, 200)``. It decides the
        class prior by itself, with an exact interval (:mod:`pulens.priors.audit`).
    combine
        Multiply the likelihoods of the audit and of the estimate, which narrows the interval if the estimate's
        assumption holds.
    seed
        For methods that draw at random (Elkan and Noto's folds); ``"auto"`` does not.
    cluster
        Which rows belong together, as for :func:`pulens.evaluate`: the interval and the feasible range allow for it.
        An audit's own interval is that of a random sample of rows, whatever they belong to.
    options
        Parameters of the method, and what :func:`pulens.inputs.read_sample` understands.

    Returns
    -------
    ClassPrior
        The share with its interval, the feasible range and what the estimate assumes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> scores = np.concatenate([rng.normal(2, 1, 1500), rng.normal(0, 1, 4000)])
    >>> prior = estimate_prior(np.repeat([1, 0], [500, 5000]), scores)  # 1500 of the 5500 rows are positive
    >>> 1500 / 5500 in prior.interval and 1500 / 5500 in prior.feasible
    True

    A table is taken as it is, with the names of its columns:

    >>> import polars
    >>> claims = polars.DataFrame({"risk": scores, "outcome": np.repeat(["fraud", ""], [500, 5000])})
    >>> estimate_prior(claims, score="risk", label="outcome", positive="fraud").value == prior.value
    True
    """
    facts = find("auto" if method is None else method)
    check_keywords("estimate_prior", options, keywords_of(estimate_prior) | READING | set(facts.parameters))
    options |= said(score=score, label=label, positive=positive, negative=negative, unlabelled=unlabelled)
    parameters = {name: options.pop(name) for name in tuple(options) if name in facts.parameters}
    if "seed" in facts.parameters:
        parameters["seed"] = check_seed(seed)
    parameters |= {"scenario": scenario, "label_noise": label_noise, "confidence": confidence}
    parameters |= {"audit": audit, "combine": combine}
    if cluster is None and not holds_buckets(labels):
        return estimate_from_tally(read_tally(labels, scores, **options), method, **parameters)
    told: dict[str, Any] = {} if cluster is None else {"cluster": cluster}
    return estimate_from_buckets(read_buckets(labels, scores, **told, **options), method, **parameters)


def estimate_from_buckets(counted: BucketTally, method: str | None = None, **options: Any) -> ClassPrior:
    """Estimate the share of positives from rows counted by cluster, with doubts that allow for clusters.

    See :func:`estimate_prior` and ``pulens.priors.clustered.allowing_for_clusters``.
    """

    def estimated(tally: Tally) -> ClassPrior:
        return estimate_from_tally(tally, method, **options)

    result = estimated(counted.tally)
    if counted.holds_single_rows:
        return result
    world: Any = {
        "scenario": check_scenario(options.get("scenario", DEFAULT_SCENARIO)),
        "label_noise": check_label_noise(options.get("label_noise", 0.0)),
    }
    wide = allowing_for_clusters(result, counted, estimated, **world)
    return replace(wide, notices=worst_first((*wide.notices, *few_clusters_for_prior(wide, counted))))


@typed
def estimate_from_tally(
    tally: Tally,
    method: str | None = None,
    *,
    scenario: str | Scenario = DEFAULT_SCENARIO,
    label_noise: float = 0.0,
    confidence: float = 0.95,
    audit: object = None,
    combine: bool = False,
    **parameters: Any,
) -> ClassPrior:
    """Estimate the share of positives from counts per score; see :func:`estimate_prior`."""
    check_alone(method, audit, combine)
    method = "auto" if method is None else method
    facts = find(method)
    check_keywords("estimate_from_tally", parameters, keywords_of(estimate_from_tally) | set(facts.parameters))
    checked = check_scenario(scenario)
    label_noise = check_label_noise(label_noise)
    confidence = check_confidence(confidence)
    if audit is not None and not (combine and _enough(tally)):
        alone = prior_from_audit(audit, tally.totals, scenario=checked, label_noise=label_noise, confidence=confidence)
        return replace(alone, notices=(decided_alone("These rows are too few for an estimate"),)) if combine else alone
    check_enough(tally)
    finding = facts.compute(tally, label_noise=float(label_noise), confidence=confidence, **parameters)
    feasible, uneven = feasible_ranges(tally, checked, confidence=confidence, label_noise=label_noise)
    negatives = notice_of_estimate(tally, reads_negatives=facts.reads_negatives, method=method)
    notices = (*finding.notices, *negatives, *weaknesses(tally, finding.value, feasible, uneven))
    estimated = as_class_prior(
        finding,
        tally.totals,
        checked,
        label_noise,
        method=str(method),
        confidence=confidence,
        feasible=feasible,
        uneven=uneven,
        assumption=facts.assumption,
        notices=notices,
    )
    return estimated if audit is None else combine_with_audit(estimated, audit, tally.totals, checked, label_noise)


def as_class_prior(
    finding: Finding,
    totals: Totals,
    scenario: Scenario,
    label_noise: float,
    *,
    method: str,
    confidence: float,
    feasible: Interval,
    uneven: Interval,
    assumption: str,
    notices: tuple[Notice, ...] = (),
) -> ClassPrior:
    """Refer to the population instead of the unlabelled rows.

    An estimate without an interval of its own gets the feasible range for one, without a confidence.
    """

    def moved(interval: Interval) -> Interval:
        low, high = (population_prior(end, totals, scenario, label_noise) for end in (interval.low, interval.high))
        return Interval(low, high, interval.confidence, interval.method)

    ceiling = (1 - label_noise) * (1 - 1e-6)  # a recovery needs some contrast between labelled and unlabelled rows
    value = min(max(finding.value, 0.0), ceiling)
    if finding.low is None or finding.high is None:
        among = Interval(0.0, max(min(feasible.high, ceiling), value), None, "feasible range")
    else:
        among = Interval(
            min(max(finding.low, 0.0), value),
            max(min(finding.high, ceiling), value),
            confidence,
            finding.interval_method,
        )
    return ClassPrior(
        population_prior(value, totals, scenario, label_noise),
        value,
        f"estimated: {method}",
        moved(among),
        among,
        assumption,
        worst_first(notices),
        moved(feasible),
        feasible,
        finding.standard_error,
        finding.distribution,
        finding.trace,
        feasible_uneven=moved(uneven),
        unlabelled_feasible_uneven=uneven,
    )


def _enough(tally: Tally) -> bool:
    labelled, unlabelled, _ = tally.totals
    return labelled >= FEWEST_LABELLED and unlabelled >= FEWEST_UNLABELLED and len(tally) >= 2


def check_enough(tally: Tally) -> None:
    """Refuse samples from which no estimator could learn the class prior."""
    labelled, unlabelled, _ = tally.totals
    way_out = "Give class_prior= as a number or a range, or check some unlabelled rows by hand (audit=)."
    if labelled < FEWEST_LABELLED or unlabelled < FEWEST_UNLABELLED:
        raise AssumptionError(
            f"the class prior cannot be estimated from {labelled:g} labelled and {unlabelled:g} unlabelled rows: at "
            f"least {FEWEST_LABELLED} and {FEWEST_UNLABELLED} are needed. {way_out}"
        )
    if len(tally) < 2:
        raise AssumptionError(
            f"the class prior cannot be estimated from scores that are all {float(tally.thresholds[0]):g}: equal "
            f"scores say nothing about the class. {way_out}"
        )


def weaknesses(tally: Tally, value: float, feasible: Interval, uneven: Interval) -> Iterator[Notice]:
    """What to know about any estimate from these rows, whichever method made it."""
    labelled = tally.totals.labelled
    area = cut(tally, 400).auc  # cells fine enough for a warning
    if labelled < FEW_LABELLED:
        yield Notice(
            Severity.WARNING,
            "few-labelled-for-prior",
            f"The class prior was estimated from only {labelled:g} labelled rows; {FEW_LABELLED} or more are "
            "advisable.",
        )
    if area < 0.5:
        yield Notice(
            Severity.SERIOUS,
            "reversed-scores",
            f"Labelled rows score lower than unlabelled ones (AUC {area:.3f}): are higher scores more positive? "
            "Otherwise labels are noisier than the unlabelled rows, and no class prior can be estimated.",
        )
    elif area < WEAK_AUC:
        yield Notice(
            Severity.WARNING,
            "weak-scores-for-prior",
            f"Labelled and unlabelled rows have similar scores (AUC {area:.3f}): either the score is weak or "
            "most unlabelled rows are positive, and scores alone cannot show which.",
        )
    if value < LOW_PRIOR or value > HIGH_PRIOR:
        yield Notice(
            Severity.WARNING,
            "extreme-prior",
            f"The estimated share of positives among the unlabelled rows is {value:.3g}, near an end of the "
            "scale, where small errors matter most: check it by an audit.",
        )
    yield Notice(
        Severity.NOTE,
        "prior-identified-from-above",
        "Positive and unlabelled rows bound the share of positives among the unlabelled only from above. Without "
        f"the shape assumption of the estimate any value up to {feasible.high:.3f} is possible if labels are a "
        f"random sample of the positives, and up to {uneven.high:.3f} if high scores were labelled up to "
        f"{UNEVEN:g} times as often.",
    )
