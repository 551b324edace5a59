"""Where two models are worth the same: class priors and cost ratios at which their net benefits cross, with intervals.

At its threshold a model finds a share of the positives (recall) and flags a share of the list. With clean labels recall
is the labelled rows' rate and does not move with the class prior, so both crossings are ratios of two differences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from pulens.answer import Answer
from pulens.counts.joint import JointTally
from pulens.decisions.crossings import OperatingRates, crossing_priors, crossing_ratio, fieller
from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.notice import Notice, Severity
from pulens.scenario import Scenario

METHOD = "Fieller, paired rows"


@dataclass(frozen=True, slots=True)
class Crossover(Answer):
    """A pair at one cost ratio: where the class prior, and where the cost ratio, changes which is worth more.

    ``class_priors`` are those at which both have the same net benefit at the cost ratio, ``ratio`` the cost ratio at
    which they have it at the class prior; nan if there is none. An interval is ``None`` where these rows do not place
    the crossing.
    """

    _keys = (
        *("first", "second", "rates", "cost_ratio", "class_priors", "class_prior_interval=prior_interval"),
        *("equal_at_ratio=ratio", "ratio_interval", "more_below_the_class_prior=sparing"),
        "more_below_the_ratio=generous",
    )

    first: str
    second: str
    rates: Mapping[str, OperatingRates]
    cost_ratio: float
    class_prior: float
    class_priors: tuple[float, ...]
    prior_interval: Interval | None
    ratio: float
    ratio_interval: Interval | None

    @property
    def sparing(self) -> str:
        """The model that flags fewer rows: worth more where positives are rare, or flags dear."""
        return min((self.first, self.second), key=lambda model: self.rates[model].flagged)

    @property
    def generous(self) -> str:
        return self.second if self.sparing == self.first else self.first

    def __str__(self) -> str:
        return " ".join(self.sentences)

    @property
    def sentences(self) -> tuple[str, ...]:
        """About the class prior, and about the cost ratio."""
        pair, at = f"{self.first} and {self.second}", f"At a cost ratio of {self.cost_ratio:.4g}"
        if not self.class_priors:
            said = f"{at} no class prior changes which of {pair} is worth more."
        elif len(self.class_priors) == 1:
            said = (
                f"{at} {pair} are worth the same at a class prior of {self.class_priors[0]:.4g}"
                f"{_placed(self.prior_interval)}: {self.sparing} is worth more below it, {self.generous} above."
            )
        else:
            indices = ", ".join(f"{prior:.4g}" for prior in self.class_priors)
            said = f"{at} {pair} are worth the same at class priors of {indices}."
        if math.isnan(self.ratio):
            other = f"At a class prior of {self.class_prior:.4g} no cost ratio does."
        else:
            other = (
                f"At a class prior of {self.class_prior:.4g} they are at a cost ratio of {self.ratio:.4g}"
                f"{_placed(self.ratio_interval)}: {self.generous} is worth more below it, {self.sparing} above."
            )
        return said, other


@dataclass(frozen=True, slots=True)
class Worth(Answer):
    """Models at their thresholds and one cost ratio: where another class prior or ratio changes which is worth more."""

    _keys = ("cost_ratio", "thresholds", "thresholds_chosen_on_these_rows=is_chosen", "pairs")

    cost_ratio: float
    thresholds: Mapping[str, float]
    is_chosen: bool  # whether the thresholds were found on these rows
    pairs: tuple[Crossover, ...]

    @property
    def notices(self) -> tuple[Notice, ...]:
        """That thresholds were chosen on the rows that judge them."""
        if not self.is_chosen:
            return ()
        at = ", ".join(f"{model} {threshold:.4g}" for model, threshold in self.thresholds.items())
        said = (
            f"Each model is judged at the threshold where it is worth most on these rows ({at}), which makes every "
            "model look better: give thresholds that were fixed beforehand to avoid it."
        )
        return (Notice(Severity.NOTE, "thresholds-chosen", said),)

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(sentence for pair in self.pairs for sentence in pair.sentences)


def _placed(interval: Interval | None) -> str:
    if interval is None:
        return " (no interval could be found)"
    return f" [{interval.low:.4g}, {interval.high:.4g}]"


def crossovers(
    joint: JointTally | None,
    evidences: Mapping[str, Evidence],
    thresholds: Mapping[str, float],
    cost_ratio: float,
    confidence: float,
) -> tuple[Crossover, ...]:
    """All pairs of models at their thresholds; without the joint tally there are no intervals."""
    from pulens.decisions.actions import Actions

    rates, prior = {}, 0.0
    for model, evidence in evidences.items():
        points = Actions.at(evidence, thresholds[model], evidence.class_prior.unlabelled)
        rates[model] = OperatingRates(float(points.recall[0]), float(points.flagged[0]))
        prior = float(points.class_prior)
    evidence = next(iter(evidences.values()))
    result = []
    for first, second in combinations(evidences, 2):
        one, other = rates[first], rates[second]
        spread = None if joint is None else _spread(joint, evidence, (first, second), thresholds)
        priors = crossing_priors(one, other, cost_ratio)
        ratio = crossing_ratio(one, other, prior)
        # where hits are cut, a crossing is no ratio of the two differences
        at = priors[0] if len(priors) == 1 else math.nan
        index = _prior_interval(spread, cost_ratio, confidence) if not _is_cut(at, one, other) else None
        level = _ratio_interval(spread, evidence, prior, confidence) if not math.isnan(ratio) else None
        level = None if _is_cut(prior, one, other) else level
        pair = {first: one, second: other}
        result.append(Crossover(first, second, pair, cost_ratio, prior, priors, index, ratio, level))
    return tuple(result)


def _is_cut(prior: float, *models: OperatingRates) -> bool:
    """Whether hits of one of the models were cut; also where there is no class prior."""
    return math.isnan(prior) or any(abs(prior * model.recall - model.hits(prior)) > 1e-12 for model in models)


class _Spread(NamedTuple):
    """Differences of recall and of the flagged share, their variances and covariance."""

    recall: float
    flagged: float
    recall_variance: float
    flagged_variance: float
    covariance: float


def _spread(
    joint: JointTally, evidence: Evidence, pair: tuple[str, str], thresholds: Mapping[str, float]
) -> _Spread | None:
    """From the difference of the two flags, row by row; ``None`` where recall is not the labelled rows' rate.

    In case-control labelled rows and the list are separate samples. In the single set labelled rows are rows of the
    list of n, and to first order both differences move together by the labelled rows' variance over n.
    """
    single = evidence.recovery_scenario is Scenario.SINGLE_SET
    totals = joint.totals
    if evidence.label_noise or (totals.negative and not single) or not totals.labelled or not totals.unlabelled:
        return None
    flags = [np.asarray(joint.column(model) >= thresholds[model], float) for model in pair]
    difference = flags[1] - flags[0]
    listed = joint.labelled + joint.unlabelled + joint.negative if single else joint.unlabelled
    means, spreads = [], []
    for kind in (joint.labelled, listed):
        mean = float(kind @ difference) / float(kind.sum())
        means.append(mean)
        spreads.append(float(kind @ difference**2) / float(kind.sum()) - mean**2)
    rows = float(listed.sum())
    together = spreads[0] / rows if single else 0.0
    return _Spread(means[0], means[1], spreads[0] / totals.labelled, spreads[1] / rows, together)


def _prior_interval(spread: _Spread | None, cost_ratio: float, confidence: float) -> Interval | None:
    if spread is None:
        return None
    odds = cost_ratio / (1 - cost_ratio)
    result = fieller(
        (1 + odds) * spread.recall,
        odds * spread.flagged,
        (1 + odds) ** 2 * spread.recall_variance,
        odds**2 * spread.flagged_variance,
        normal_quantile(confidence),
        odds * (1 + odds) * spread.covariance,
    )
    return None if result is None else Interval(max(result[0], 0.0), min(result[1], 1.0), confidence, METHOD)


def _ratio_interval(spread: _Spread | None, evidence: Evidence, prior: float, confidence: float) -> Interval | None:
    """Of the cost ratio; proportional to the class prior, whose own doubt is added: a range widens it at both ends."""
    if spread is None:
        return None
    reach, z = evidence.class_prior.interval, normal_quantile(confidence)
    doubtful = reach is not None and reach.width > 0
    of_prior = 0.0
    if doubtful and reach is not None and reach.confidence is not None:
        of_prior = (reach.width / (2 * normal_quantile(reach.confidence))) ** 2
    of_hits = prior**2 * spread.recall_variance + spread.recall**2 * of_prior
    result = fieller(
        spread.flagged, prior * spread.recall, spread.flagged_variance, of_hits, z, prior * spread.covariance
    )
    if result is None:
        return None
    low, high = result
    if doubtful and reach is not None and reach.confidence is None:
        low, high = low * reach.low / prior, high * reach.high / prior
    return Interval(max(low, 0.0), min(high, 1.0), confidence, METHOD)
