r"""An audit: some unlabelled rows, drawn at random, are checked by hand. It beats every estimator.

k positives among r checked rows give the share :math:`k/r` with the exact binomial interval of Clopper and Pearson.
Nothing is assumed about scores or about which positives get labelled, so an audit decides the class prior alone. If
asked to, its likelihood :math:`\alpha^k(1-\alpha)^{r-k}` is multiplied with that of an estimate from scores, which is
independent of it. It says how many positives there are, not which ones get labelled: labels that are not a random
draw of the positives stay so, and with them recall and ROC AUC.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pulens.confidence import check_confidence
from pulens.counts.tally import Totals
from pulens.errors import AssumptionError, shown
from pulens.estimate import Interval
from pulens.inference.kernels.exact import binomial_ends
from pulens.keywords import typed
from pulens.notice import Notice, Severity
from pulens.priors._estimator import Trace
from pulens.priors.class_prior import ClassPrior, population_prior
from pulens.priors.distribution import PriorDistribution, cell_borders
from pulens.recovery.assumptions import check_label_noise
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario
from pulens.special import betaincinv, xlog1py, xlogy

LEVELS = 401  # quantiles of the exact distribution on which its grid stands
MOST_ROWS = 2**53  # beyond, numbers of rows cannot be told from their neighbours
CONTRADICTION = 3.0  # standard errors between audit and estimate beyond which they do not measure one share


class Audit(NamedTuple):
    """Positives found among randomly chosen unlabelled rows that were checked.

    >>> Audit(13, 200).share
    0.065
    """

    positives: int
    checked: int

    @property
    def standard_error(self) -> float:
        """Never zero: half a row of each kind is added."""
        smoothed = (self.positives + 0.5) / (self.checked + 1)
        return math.sqrt(smoothed * (1 - smoothed) / self.checked)

    @property
    def share(self) -> float:
        return self.positives / self.checked

    def interval(self, confidence: float = 0.95) -> Interval:
        """Clopper and Pearson's exact interval.

        >>> print(Audit(13, 200).interval())
        [0.035, 0.109]
        """
        low, high = binomial_ends(self.positives, self.checked, (1 - confidence) / 2)
        return Interval(low, high, confidence, "exact binomial (Clopper-Pearson)")

    def log_likelihood(self, shares: np.ndarray) -> np.ndarray:
        return np.asarray(xlogy(self.positives, shares) + xlog1py(self.checked - self.positives, -shares))

    def __str__(self) -> str:
        return f"{self.positives}/{self.checked}"


def check_alone(method: str | None, audit: object, combine: bool) -> None:
    """Refuse an audit beside an estimator unless both were asked for: which of them decides must be said."""
    if combine and audit is None:
        raise AssumptionError(
            "combine=True multiplies the likelihoods of an estimate and of an audit, and there is no audit: give "
            "audit=(positives, checked), such as (13, 200) or --audit 13/200, or leave combine out."
        )
    if audit is not None and method is not None and not combine:
        raise AssumptionError(
            f"audit {check_audit(audit)} beside the estimator {method!r}: an audit decides the class prior by itself, "
            f"without assuming anything about scores. Leave out {method!r} to use the audit alone, or say combine=True "
            "(--combine) to sharpen it by the estimate."
        )


def check_audit(audit: object) -> Audit:
    """A pair of whole numbers, positives and checked rows, or the same written ``"13/200"``.

    >>> check_audit("13/200")
    Audit(positives=13, checked=200)
    """
    message = (
        f"audit must be two whole numbers, positives found and rows checked, such as (13, 200) or '13/200', "
        f"with 0 <= positives <= checked and at least one row checked, got {shown(audit)}."
    )
    parts: Any = audit.split("/") if isinstance(audit, str) else audit
    try:
        positives, checked = parts
        numbers = (float(positives), float(checked))
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise AssumptionError(message) from None
    if (
        not all(math.isfinite(n) and n == int(n) for n in numbers)
        or not 0 <= numbers[0] <= numbers[1]
        or numbers[1] < 1
    ):
        raise AssumptionError(message)
    return Audit(int(numbers[0]), int(numbers[1]))


def prior_from_audit(
    audit: object,
    totals: Totals,
    *,
    scenario: str = DEFAULT_SCENARIO,
    label_noise: float = 0.0,
    confidence: float = 0.95,
) -> ClassPrior:
    """Class prior from an audit alone.

    >>> print(prior_from_audit((13, 200), Totals(500, 10_000, 0)))
    class prior 0.1095 [0.081, 0.151] (audit of 200 rows)
    """
    result, checked = check_audit(audit), check_scenario(scenario)
    label_noise = check_label_noise(label_noise)
    ceiling = (1 - label_noise) * (1 - 1e-6)
    exact = result.interval(confidence)
    among = replace(exact, low=min(exact.low, ceiling), high=min(exact.high, ceiling))
    share = min(result.share, ceiling)
    return ClassPrior(
        population_prior(share, totals, checked, label_noise),
        share,
        f"audit of {result.checked} rows",
        _moved(among, totals, checked, label_noise),
        among,
        "The audited rows were drawn at random from the unlabelled ones and judged correctly.",
        feasible=_moved(among, totals, checked, label_noise),
        unlabelled_feasible=among,
        standard_error=result.standard_error,
        distribution=exact_distribution(result),
    )


def exact_distribution(audit: Audit) -> PriorDistribution:
    r"""Shares whose tails are those of Clopper and Pearson's interval at every confidence.

    The lower limit with tail :math:`t` is the quantile :math:`t` of Beta(k, r-k+1), the upper one the quantile
    :math:`1-t` of Beta(k+1, r-k): up to one half the distribution follows the first, from one half on the second.
    Half of it lies at 0 if no positive was found. Its quantiles carry the audit's doubt into metrics as the interval
    states it; the posterior of a flat prior, Beta(k+1, r-k+1), has a lower limit that is too high for few positives.

    >>> distribution = exact_distribution(Audit(13, 200))
    >>> [round(distribution.quantile(level), 3) for level in (0.025, 0.975)]
    [0.035, 0.109]
    """
    from pulens.special import betainc

    k, r = audit
    levels = np.concatenate([np.geomspace(1e-6, 0.005, 40), np.linspace(0.005, 0.995, LEVELS)])
    levels = np.unique(np.concatenate([levels, 1 - levels]))
    limits = [betaincinv(k, r - k + 1, levels)] if k else []
    limits += [betaincinv(k + 1, r - k, levels)] if k < r else []
    values = np.unique(np.concatenate([[1e-9, 1 - 1e-9], *limits]).clip(1e-9, 1 - 1e-9))
    borders = cell_borders(values)
    low = betainc(k, r - k + 1, borders) if k else np.ones(borders.size)
    high = betainc(k + 1, r - k, borders) if k < r else np.zeros(borders.size)
    cumulative = np.where(low <= 0.5, low, np.maximum(high, 0.5))
    cumulative[[0, -1]] = 0.0, 1.0
    return PriorDistribution(values, np.diff(cumulative) / np.diff(borders))


def combine(estimated: ClassPrior, audit: object, totals: Totals, scenario: Scenario, label_noise: float) -> ClassPrior:
    """An estimate from scores and an audit together: their likelihoods multiplied.

    An estimate without a distribution of its own adds nothing, which is said, and an audit that contradicts the
    estimate stands alone, with a warning: an assumption of the estimate must have failed.
    """
    result = check_audit(audit)
    confidence = _confidence(estimated)
    alone = prior_from_audit(result, totals, scenario=scenario, label_noise=label_noise, confidence=confidence)
    if estimated.distribution is None or estimated.standard_error is None:
        name = estimated.method.removeprefix("estimated: ")
        return replace(alone, notices=(decided_alone(f"The estimate {name} has no likelihood to multiply by"),))
    apart = abs(estimated.unlabelled - result.share) / math.hypot(estimated.standard_error, result.standard_error)
    if apart > CONTRADICTION:
        notice = Notice(
            Severity.WARNING,
            "audit-contradicts-estimate",
            f"The audit found {result} positive ({result.share:.3f}), the scores suggest {estimated.unlabelled:.3f}, "
            f"{apart:.1f} standard errors away. Only the audit was used. Likely causes: the shape assumption fails, "
            "labelled rows are not a random sample of positives, or audited rows not one of the unlabelled.",
        )
        return replace(alone, notices=(notice,))
    reach = result.interval(0.9999)
    finer = estimated.distribution.refined(np.linspace(reach.low, reach.high, 101))
    together = finer.times(result.log_likelihood(finer.values))
    among = Interval(*together.interval(confidence), confidence, "likelihood of scores and audit")
    value = together.quantile(0.5)
    return replace(
        estimated,
        value=population_prior(value, totals, scenario, label_noise),
        unlabelled=value,
        method=f"{estimated.method}, with an audit of {result.checked} rows",
        interval=_moved(among, totals, scenario, label_noise),
        unlabelled_interval=among,
        standard_error=together.standard_deviation,
        distribution=together,
        feasible=alone.feasible,
        unlabelled_feasible=alone.unlabelled_feasible,
        feasible_uneven=None,
        unlabelled_feasible_uneven=None,
        notices=tuple(n for n in estimated.notices if n.code != "prior-identified-from-above"),
        trace=Trace(
            together.values,
            together.density / together.density.max(),
            "share of positives among the unlabelled",
            "relative likelihood",
        ),
    )


def decided_alone(reason: str) -> Notice:
    """Said where both were asked for and the audit is all there is."""
    return Notice(Severity.NOTE, "audit-alone", f"{reason}: the audit decided the class prior alone.")


@typed
def rows_to_audit(share: float, width: float, *, confidence: float = 0.95) -> int:
    """How many random unlabelled rows to check for an exact interval no wider than wanted, if the share is as said.

    >>> rows_to_audit(0.2, width=0.1)
    265
    """
    confidence = check_confidence(confidence)
    if not 0 <= share <= 1 or not 0 < width < 1:
        raise AssumptionError(
            f"share must be between 0 and 1 and width strictly between, got share={share!r} and width={width!r}."
        )
    few, many = 1, 2
    while _width(share, many, confidence) > width:
        few, many = many, many * 2
        if many > MOST_ROWS:
            raise AssumptionError(f"width {width!r} takes more than {MOST_ROWS:,} checked rows: ask for a wider one.")
    while many - few > 1:  # the width falls with the number of rows, up to the rounding of positives found
        middle = (few + many) // 2
        few, many = (middle, many) if _width(share, middle, confidence) > width else (few, middle)
    return many


def _width(share: float, checked: int, confidence: float) -> float:
    return Audit(round(share * checked), checked).interval(confidence).width


def _moved(interval: Interval, totals: Totals, scenario: Scenario, label_noise: float) -> Interval:
    low, high = (population_prior(end, totals, scenario, label_noise) for end in (interval.low, interval.high))
    return Interval(low, high, interval.confidence, interval.method)


def _confidence(estimated: ClassPrior) -> float:
    interval = estimated.unlabelled_interval
    return 0.95 if interval is None or interval.confidence is None else interval.confidence
