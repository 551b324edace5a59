"""Which positives carry labels: the chance of a label in each range of scores, with a band that holds all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pulens.answer import Answer
from pulens.audits.counts import AuditCounts
from pulens.audits.limits import DRAWS, draw_totals, quantile, stratum_limits
from pulens.confidence import check_confidence
from pulens.scenario import Scenario
from pulens.types import Floats


@dataclass(frozen=True, slots=True)
class LabellingRate(Answer):
    """How often a positive of one stratum is labelled; ``high`` is infinite where nothing limits it."""

    value: float  # nan where no positive was seen
    low: float
    high: float

    def __str__(self) -> str:
        seen = "unknown" if math.isnan(self.value) else _number(self.value)
        return f"{seen} [{_number(self.low)}, {_number(self.high)}]"


def _number(value: float) -> str:
    return "no limit" if math.isinf(value) else f"{value:.3f}"


@dataclass(frozen=True, slots=True)
class LabellingCurve(Answer):
    """Rates from the highest stratum to the lowest; the truth lies inside all limits at once with ``confidence``.

    ``relative`` rates are ratios to the average positive's (1 is random labelling); the others are shares.
    """

    _keys = ("relative", "confidence", "strata=rates")

    rates: tuple[LabellingRate, ...]
    confidence: float
    relative: bool

    def __iter__(self) -> Iterator[LabellingRate]:
        return iter(self.rates)

    def __len__(self) -> int:
        return len(self.rates)

    def __str__(self) -> str:
        what = "relative to the average positive" if self.relative else "share of positives that are labelled"
        return f"{what}, highest scores first: " + "; ".join(map(str, self.rates))


def labelling_curve(counts: AuditCounts, *, confidence: float = 0.95, seed: int = 0) -> LabellingCurve:
    r"""The labelling curve e(s), one rate a stratum.

    Single set: :math:`e_k = L_k/(L_k + X_k)`, limits from those of :math:`X_k` alone. Case-control: the labelled come
    from elsewhere, and only :math:`e_k = (L_k/n_L)/(X_k/P) = (L_k/n_L)(1 + O_k/X_k)` is known, with :math:`O_k` the
    positives of all other strata; three independent confidence distributions are melded (Fay, Proschan and Brittain
    2015). Each stratum has the level :math:`1 - \alpha/K`, so that the band holds the whole curve.

    >>> counts = AuditCounts(rows=[200, 300, 900, 2600, 6000], checked=[60, 40, 35, 30, 35], found=[45, 8, 2, 0, 0],
    ...                      labelled=[70, 18, 8, 3, 1], flagged=1)
    >>> for rate in labelling_curve(counts):
    ...     print(rate)
    0.318 [0.290, 0.363]
    0.231 [0.136, 0.419]
    0.135 [0.039, 0.615]
    1.000 [0.008, 1.000]
    1.000 [0.001, 1.000]
    """
    confidence = check_confidence(confidence)
    level = 1 - (1 - confidence) / max(counts.strata, 1)
    relative = counts.scenario is Scenario.CASE_CONTROL
    guess = _expected(counts)
    rate = _relative_rate if relative else _share
    rates = tuple(rate(counts, stratum, guess, level, seed) for stratum in range(counts.strata))
    return LabellingCurve(rates, confidence, relative)


def _expected(counts: AuditCounts) -> Floats:
    """Positives per stratum; undecided answers count half; nan where nobody looked."""
    seen = counts.found + counts.undecided / 2
    share: Floats = np.divide(seen, counts.checked, out=np.full(counts.strata, np.nan), where=counts.checked > 0)
    return counts.rows * share


def _share(counts: AuditCounts, stratum: int, guess: Floats, level: float, seed: int) -> LabellingRate:
    labelled, hidden = float(counts.labelled[stratum]), float(guess[stratum])
    rows, checked, result = (int(of[stratum]) for of in (counts.rows, counts.checked, counts.found))
    fewest, _ = stratum_limits(rows, checked, result, confidence=level)
    _, most = stratum_limits(rows, checked, result + int(counts.undecided[stratum]), confidence=level)
    value = labelled / (labelled + hidden) if labelled + hidden > 0 else math.nan  # nan stays nan
    low = labelled / (labelled + most) if labelled else 0.0
    if labelled + fewest > 0:
        return LabellingRate(value, low, labelled / (labelled + fewest))
    return LabellingRate(value, low, 1.0)  # perhaps there is no positive here at all


def _relative_rate(counts: AuditCounts, stratum: int, guess: Floats, level: float, seed: int) -> LabellingRate:
    labelled, all_labelled = int(counts.labelled[stratum]), int(counts.labelled.sum())
    if not all_labelled:
        return LabellingRate(math.nan, 0.0, math.inf)
    order = np.concatenate([[stratum], np.delete(np.arange(counts.strata), stratum)])
    rows, checked, result, open_ = (of[order] for of in (counts.rows, counts.checked, counts.found, counts.undecided))
    other = open_.copy()
    other[0] = 0
    here = open_ - other
    tail = (1 - level) / 2
    fewer = draw_totals(rows, checked, result + here, 1, interval="balanced", draws=DRAWS, seed=seed)
    more = fewer
    if open_.any():  # an undecided row is what makes the limit worst: a positive here, or one elsewhere
        more = draw_totals(rows, checked, result + other, 1, interval="balanced", draws=DRAWS, seed=seed)
    rng = np.random.default_rng([seed, stratum])
    with np.errstate(divide="ignore", invalid="ignore"):
        low = _beta(rng, labelled, all_labelled - labelled + 1) * (1 + fewer.below.low[:, 0] / fewer.above.high[:, 0])
        high = _beta(rng, labelled + 1, all_labelled - labelled) * (1 + more.below.high[:, 0] / more.above.low[:, 0])
        value = labelled / all_labelled * float(np.sum(guess)) / float(guess[stratum]) if guess[stratum] else math.nan
    low[np.isnan(low)], high[np.isnan(high)] = 0.0, math.inf
    return LabellingRate(
        math.inf if math.isnan(value) and labelled and guess[stratum] == 0 and np.nansum(guess) else value,
        float(quantile(low[:, None], tail)[0]),
        float(quantile(high[:, None], 1 - tail)[0]),
    )


def _beta(rng: np.random.Generator, first: int, second: int) -> Floats:
    if first == 0 or second == 0:
        return np.full(DRAWS, 0.0 if first == 0 else 1.0)
    return np.asarray(rng.beta(first, second, size=DRAWS))
