r"""Recovery of true and false positive rates from labelled and unlabelled ones (Jain et al. 2017, Theorem 1).

Unlabelled rows are a mixture :math:`f = \alpha f_1 + (1 - \alpha) f_0` of positives and negatives, labelled rows
a mixture :math:`g = \beta f_1 + (1 - \beta) f_0`. Any rate :math:`E[h]` is linear in the distribution, so two
observed rates give two equations for the true positive rate :math:`\gamma` and the false positive rate
:math:`\eta`. Everything here is a linear map of observed rates; :class:`Recovery` is that map.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from pulens.counts.kernels import rises
from pulens.counts.tally import Tally, Totals
from pulens.errors import InputError, PulensError, listed, shown
from pulens.recovery._checks import check_numbers, check_shares, check_unlabelled_prior
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.contingency import Contingency
from pulens.recovery.many import recover_many
from pulens.scenario import Scenario
from pulens.types import Floats, Places

KINDS = ("labelled", "unlabelled", "negative")


def recovered_rates(
    labelled_rate: Any, unlabelled_rate: Any, *, unlabelled_prior: float, label_noise: float = 0.0
) -> tuple[Any, Any]:
    r"""True and false positive rate from the rates among labelled and unlabelled rows.

    .. math::
       \gamma = \frac{(1-\alpha)\gamma_{pu} - (1-\beta)\eta_{pu}}{\beta-\alpha}, \qquad
       \eta = \frac{\beta\eta_{pu} - \alpha\gamma_{pu}}{\beta-\alpha}

    with :math:`\alpha` the unlabelled prior and :math:`\beta` one minus the label noise: Jain et al. 2017, equations 1
    and 2. Nothing is clipped.

    >>> true_positive_rate, false_positive_rate = recovered_rates(0.8, 0.3, unlabelled_prior=0.25)
    >>> true_positive_rate, round(false_positive_rate, 12)
    (0.8, 0.133333333333)
    """
    labelled_rate, unlabelled_rate = (
        check_shares(name, rate)
        for name, rate in (("labelled_rate", labelled_rate), ("unlabelled_rate", unlabelled_rate))
    )
    alpha, beta = check_unlabelled_prior(unlabelled_prior, label_noise)
    scale = beta - alpha
    # coefficients first: for clean labels the first is exactly 1, so recall stays the labelled rate to the bit
    true_positive_rate = (1 - alpha) / scale * labelled_rate - (1 - beta) / scale * unlabelled_rate
    false_positive_rate = beta / scale * unlabelled_rate - alpha / scale * labelled_rate
    return true_positive_rate, false_positive_rate


def precision_in_unlabelled(true_positive_rate: Any, unlabelled_rate: Any, *, unlabelled_prior: float) -> Any:
    r"""Precision among unlabelled rows, :math:`\rho = \alpha\gamma/\eta_{pu}`: Jain et al. 2017, equation 3.

    >>> round(precision_in_unlabelled(0.8, 0.3, unlabelled_prior=0.25), 6)
    0.666667
    """
    alpha, _ = check_unlabelled_prior(unlabelled_prior, 0.0)
    true_positive_rate = check_numbers("true_positive_rate", true_positive_rate)  # recovered: any number
    unlabelled_rate = check_shares("unlabelled_rate", unlabelled_rate)
    if np.any(unlabelled_rate == 0):
        raise PulensError(
            "unlabelled_rate must be above 0, got 0: no unlabelled row is predicted positive there, and precision is a "
            "share of those. Leave such thresholds out."
        )
    return alpha * true_positive_rate / unlabelled_rate


def precision_from_pu_precision(
    pu_precision: Any, labelled_share: float, *, unlabelled_prior: float, label_noise: float = 0.0
) -> Any:
    r"""Precision among unlabelled rows from the precision of labelled against unlabelled rows.

    .. math::
       \rho = \frac{\alpha(1-\alpha)}{\beta-\alpha}
              \left(\frac{1-c}{c}\,\frac{\rho_{pu}}{1-\rho_{pu}} - \frac{1-\beta}{1-\alpha}\right)

    with :math:`c` the share of labelled rows in the data: Jain et al. 2017, Theorem 1. Equal to equation 3 whenever
    :math:`\rho_{pu} < 1`.

    >>> round(precision_from_pu_precision(2 / 7, 3 / 23, unlabelled_prior=0.25, label_noise=0.05), 6)
    0.696429
    """
    alpha, beta = check_unlabelled_prior(unlabelled_prior, label_noise)
    pu_precision = check_shares("pu_precision", pu_precision)
    if np.any(pu_precision == 1):
        raise PulensError(
            "pu_precision must be below 1, got 1: no unlabelled row is predicted positive there, and precision among "
            "them does not exist. Leave such thresholds out."
        )
    c = check_shares("labelled_share", labelled_share)
    if not np.all((c > 0) & (c < 1)):
        raise PulensError(
            f"labelled_share must lie strictly between 0 and 1, got {labelled_share!r}. It is the share of "
            "labelled rows among labelled and unlabelled rows, and there must be both."
        )
    odds = (1 - c) / c * pu_precision / (1 - pu_precision)
    return alpha * (1 - alpha) / (beta - alpha) * (odds - (1 - beta) / (1 - alpha))


@dataclass(frozen=True, slots=True)
class Recovery:
    """The linear map from observed rates to true ones, and the population that the result is about.

    ``true_positive_rate`` and ``false_positive_rate`` hold the coefficients of the rates among labelled,
    unlabelled and known negative rows; each triple sums to one, so that "everything is predicted positive" is
    mapped to itself.
    """

    true_positive_rate: tuple[float, float, float]
    false_positive_rate: tuple[float, float, float]
    positive: float
    negative: float
    target_population: str

    @classmethod
    def of(cls, totals: Totals, assumptions: Assumptions) -> Recovery:
        r"""Derive the map for a data set of these sizes.

        Without known negatives the coefficients are equations 1 and 2. Known negatives add a second estimate of
        :math:`\eta`; the two are averaged with the number of negatives each stands for. In the single-set
        scenario that is exact bookkeeping (a row known to be negative is a row of the population); in
        case-control it takes the known negatives for a random sample of negatives.
        """
        return _derived(totals, assumptions)

    @property
    def class_prior(self) -> float:
        """Share of positives in the target population."""
        return self.positive / (self.positive + self.negative)

    def rates(self, labelled: Any, unlabelled: Any, negative: Any) -> tuple[Any, Any]:
        """True and false positive rate from the observed rates of the three kinds of row."""
        observed = (labelled, unlabelled, negative)
        try:
            gamma, eta = (
                sum(coefficient * rate for coefficient, rate in zip(coefficients, observed, strict=True) if coefficient)
                for coefficients in (self.true_positive_rate, self.false_positive_rate)
            )
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"rates must be numbers, or arrays of one shape, got {shown(observed)}.") from error
        return gamma, eta


@lru_cache(maxsize=256)  # every number of an answer asks for the same few: one for each class prior that is tried
def _derived(totals: Totals, assumptions: Assumptions) -> Recovery:
    result = recover_many((*totals,), assumptions.unlabelled_prior, assumptions.label_noise, assumptions.scenario)
    hits, alarms = ((float(a[0]), float(b[0]), float(c[0])) for a, b, c in (result.hits, result.alarms))
    population = Scenario.SINGLE_SET.target_population
    if assumptions.scenario is Scenario.CASE_CONTROL and totals.unlabelled:
        population = Scenario.CASE_CONTROL.target_population
    elif totals.negative:
        population = "all rows given: labelled, unlabelled and known negative"
    return Recovery(hits, alarms, float(result.positive[0]), float(result.negative[0]), population)


def observed_rates(tally: Tally, which: slice | Places = slice(None)) -> tuple[Floats, Floats, Floats]:
    """Share of each kind of row at or above each threshold; zero where there are no such rows."""
    kinds = (tally.labelled, tally.unlabelled, tally.negative)
    return tuple(  # type: ignore[return-value]
        kind[which] / total if total else np.zeros(kind[which].shape)
        for kind, total in zip(kinds, tally.totals, strict=True)
    )


def recall_rises(tally: Tally, recovery: Recovery) -> bool:
    """Whether recovered recall never falls along the ranking: with clean labels it is the rate of the labelled rows.

    Labelled rows of strata with wrong labels among them are weighted, some below zero, and may fall.
    """
    is_clean = recovery.true_positive_rate == (1.0, 0.0, 0.0)
    return is_clean and not (tally.is_weighted and (np.diff(tally.labelled, prepend=0.0) < 0).any())


def recover(tally: Tally, assumptions: Assumptions) -> Contingency:
    """Contingency tables at every distinct score, and at "nothing is predicted positive" before them.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> table = recover(tally, Assumptions(0.2))
    >>> table.false_positive_rate[2].round(6)  # at 0.85: (0.2 - 0.2 / 3) / 0.8
    np.float64(0.166667)
    """
    recovery = Recovery.of(tally.totals, assumptions)
    gamma, eta = recovery.rates(*observed_rates(tally))
    return Contingency(
        np.concatenate([[np.inf], tally.thresholds]),
        np.concatenate([[0.0], np.broadcast_to(gamma, tally.thresholds.shape)]),
        np.concatenate([[0.0], np.broadcast_to(eta, tally.thresholds.shape)]),
        recovery.positive,
        recovery.negative,
    )


def recover_at(tally: Tally, assumptions: Assumptions, threshold: float) -> Contingency:
    """The contingency table of "predicted positive when score >= threshold", for any number."""
    if np.isnan(threshold):
        raise PulensError("threshold must be a number, got nan: no score can be compared with it.")
    totals = tally.totals
    recovery = Recovery.of(totals, assumptions)
    observed = (count / total if total else 0.0 for count, total in zip(tally.at(threshold), totals, strict=True))
    gamma, eta = recovery.rates(*observed)
    return Contingency(
        np.array([threshold], float), np.array([gamma]), np.array([eta]), recovery.positive, recovery.negative
    )


def pairwise_auc(tally: Tally, above: str, below: str) -> float:
    """Chance that a random row of one kind outscores one of another kind; ties count one half.

    >>> import numpy as np
    >>> pairwise_auc(Tally.from_arrays(np.array([1, 1, 0, 0]), np.array([3, 2, 2, 1])), "labelled", "unlabelled")
    0.875
    """
    for name, given in (("above", above), ("below", below)):
        if given not in KINDS:
            raise PulensError(f"{name} must be one of {listed(KINDS)}, got {given!r}.")
    if len(tally) == 0:
        raise PulensError("a tally without rows has no pairs to compare: it must hold at least one score.")
    first, second = getattr(tally, above), getattr(tally, below)
    if not first[-1] or not second[-1]:
        return 0.5
    pairs = 2 * first[-1].item() * second[-1].item()
    # pairs of billions of rows pass what 64 bits hold: from there on each term is rounded to 53 bits
    is_whole = first.dtype.kind == "i" and pairs <= np.iinfo(np.int64).max
    kind = np.dtype(np.int64 if is_whole else np.float64)
    doubled: Any = 0
    first_before = second_before = kind.type(0)
    for block in tally.blocks():
        here, there = first[block], second[block]
        places = rises(here, first_before) if is_whole else np.arange(here.size)
        if 2 * places.size < here.size:  # by parts, what is summed is zero wherever there is no row of the first kind
            steps = np.diff(here[places].astype(np.int64), prepend=first_before)
            at = there[places].astype(np.int64)
            until = there[np.maximum(places - 1, 0)].astype(np.int64)
            until[places == 0] = second_before
            doubled += 2 * (int(here[-1]) * int(there[-1]) - int(first_before) * int(second_before))
            doubled -= (steps * (at + until)).sum().item()
            first_before, second_before = kind.type(here[-1]), kind.type(there[-1])
            continue
        here, there = here.astype(kind, copy=False), there.astype(kind, copy=False)
        heights = here.copy()
        heights[1:] += here[:-1]
        heights[0] += first_before
        heights *= np.diff(there, prepend=second_before)  # whole numbers stay whole: the sum is exact
        doubled += heights.sum().item()
        first_before, second_before = here[-1], there[-1]
    return float(doubled / pairs)


def direct_roc_auc(tally: Tally, assumptions: Assumptions) -> float:
    r"""Area under the recovered ROC curve without building it, not clipped.

    .. math:: AUC = \frac{AUC_{pu} - \frac{1-(\beta-\alpha)}{2}}{\beta-\alpha}

    Jain et al. 2017, equation 4. The area :math:`\int\gamma\,d\eta` is bilinear in the observed rates, so the same
    holds with known negatives: a sum of pairwise areas, of which equation 4 is the case of two kinds of rows.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.85, .65, .45, .9, .7, .5, .3, .2]))
    >>> round(direct_roc_auc(tally, Assumptions(0.2)), 12)  # (0.6 - 0.1) / 0.8
    0.625
    """
    recovery = Recovery.of(tally.totals, assumptions)
    areas = np.full((3, 3), 0.5)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        areas[i, j] = pairwise_auc(tally, KINDS[i], KINDS[j])
        areas[j, i] = 1.0 - areas[i, j]
    return float(np.array(recovery.true_positive_rate) @ areas @ np.array(recovery.false_positive_rate))
