r"""What can be promised about PU-ECE: the PU-ECE paper, Theorems 1 to 3 and Corollaries 1 and 2, term by term.

Every bound adds a *binning* term (the model is judged by its bins) and a *statistical* term (bins are counted on a
sample). More bins shrink the first and swell the second, so it matters which of the two dominates. The bounds hold
for scores with a density and a posterior :math:`E[Y \mid f]` that is L-Lipschitz in the score; a well calibrated
model has L = 1. They are worst cases: below tens of thousands of rows they exceed what is seen by far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pulens.answer import Answer
from pulens.calibration.binning import check_binning, proof_bins, spread
from pulens.confidence import check_confidence
from pulens.counts.tally import MOST_ROWS
from pulens.errors import PulensError, shown
from pulens.keywords import forwards_keywords, typed
from pulens.scalars import is_among, real

MOST_PER_LABELLED = 1e9


@dataclass(frozen=True, slots=True)
class Bound(Answer):
    """A bound on ``|PU-ECE - true calibration error|`` and its parts.

    ``confidence`` is ``None`` where the bound is one on the expectation.

    >>> print(Bound(0.2, 0.1, bins=10, confidence=None))
    0.3000 on average (binning 0.2000, statistical 0.1000; 10 bins)
    """

    _keys = ("total", "binning", "statistical", "bins", "confidence", "dominated_by")

    binning: float
    statistical: float
    bins: float
    confidence: float | None = None

    @property
    def total(self) -> float:
        return self.binning + self.statistical

    @property
    def dominated_by(self) -> str:
        return "binning" if self.binning > self.statistical else "statistical"

    def __str__(self) -> str:
        how = "on average" if self.confidence is None else f"with probability {self.confidence:g}"
        return (
            f"{self.total:.4f} {how} (binning {self.binning:.4f}, statistical {self.statistical:.4f}; "
            f"{self.bins:.6g} bins)"
        )


@typed
def evaluation_bound(
    class_prior: float,
    labelled: float,
    unlabelled: float,
    bins: int,
    *,
    binning: str = "mass",
    lipschitz: float = 1.0,
    confidence: float | None = None,
) -> Bound:
    r"""Theorem 1: how far PU-ECE on fresh data may be from the true calibration error.

    Equal widths, with :math:`\ell = B\ln 2` on average and :math:`\ell = B\ln 2 + \ln(1/\delta)` with probability
    :math:`1 - \delta`:

    .. math:: \frac{1+L}{B} + \sqrt{2\left(\frac{\pi^2}{n_P} + \frac{1}{n_U}\right)\ell}

    Equal masses (Lemmas 1 and 2, whose sum is the theorem):

    .. math::
       (1+L)\left(\frac1B + \sqrt{\frac{2\ell}{n_U-B}} + \frac{2B}{n_U-B}\right)
       + \sqrt{2\left(\frac{\pi^2}{n_P} + \frac{1}{n_U-B}\right)\ell} + \frac{B}{n_U-B}

    >>> bound = evaluation_bound(0.4, 200, 3000, 9, binning="width", lipschitz=1.5)
    >>> round(bound.total, 6), bound.dominated_by
    (0.39669, 'binning')
    """
    _check_sizes(class_prior, labelled, unlabelled, lipschitz)
    _check_some(bins)
    exponent = bins * math.log(2)
    if confidence is not None:
        exponent += math.log(1 / (1 - check_confidence(confidence)))
    if check_binning(binning) == "width":
        statistical = math.sqrt(2 * spread(class_prior, labelled, unlabelled) * exponent)
        return Bound((1 + lipschitz) / bins, statistical, bins, confidence)
    if unlabelled < 2 * bins:
        raise PulensError(
            f"the bound for bins of equal mass asks for at least two unlabelled rows per bin (Assumption 1), got "
            f"{unlabelled:,.10g} rows for {bins:,} bins."
        )
    rest = unlabelled - bins
    by_bins = (1 + lipschitz) * (1 / bins + math.sqrt(2 * exponent / rest) + 2 * bins / rest)
    by_chance = math.sqrt(2 * spread(class_prior, labelled, rest) * exponent) + bins / rest
    return Bound(by_bins, by_chance, bins, confidence)


@typed
def best_evaluation_bound(
    class_prior: float, labelled: float, unlabelled: float, *, binning: str = "mass", lipschitz: float = 1.0
) -> Bound:
    r"""Corollary 1: the bound at the number of bins that minimises it, as appendix A.2 derives it.

    Equal widths: :math:`3\{(1+L)\ln 2/2\}^{1/3} S^{1/3}`. Equal masses, after further inequalities:
    :math:`3(2+L)(2+\sqrt{\ln 2})^{2/3} S^{1/3}`, with :math:`S = \pi^2/n_P + 1/n_U`.

    >>> round(best_evaluation_bound(0.4, 200, 3000, binning="width", lipschitz=1.5).total, 6)
    0.298185
    """
    _check_sizes(class_prior, labelled, unlabelled, lipschitz)
    rate = spread(class_prior, labelled, unlabelled)
    bins = proof_bins(class_prior, labelled, unlabelled, binning=binning, lipschitz=lipschitz)
    if check_binning(binning) == "width":
        return Bound((1 + lipschitz) / bins, math.sqrt(2 * rate * bins * math.log(2)), bins)
    scale = 2 + lipschitz
    return Bound(scale / bins, scale * 2 * (2 + math.sqrt(math.log(2))) * math.sqrt(rate * bins), bins)


@typed
def prior_error_bound(class_prior: float, estimated: float) -> float:
    r"""Theorem 2: a wrong class prior moves PU-ECE by at most :math:`|\pi - \hat\pi|`, whatever the data.

    >>> round(prior_error_bound(0.5, 0.42), 6)
    0.08
    """
    return abs(class_prior - estimated)


@typed
def information_bound(vc_dimension: float, rows: float) -> float:
    r"""Bound on the information a model keeps about its training rows, from its VC dimension (section 4.2).

    .. math:: fCMI \le \max\{(d+1)\ln 2,\; d\ln(2e\,n/d)\}

    >>> round(information_bound(5, 32_000), 6)
    52.286002
    """
    if not min(vc_dimension, rows) >= 1 or not max(vc_dimension, rows) <= MOST_ROWS:
        raise PulensError(
            f"vc_dimension and rows must be at least 1 and at most {MOST_ROWS:g}, got {vc_dimension:g} and {rows:g}."
        )
    return max((vc_dimension + 1) * math.log(2), vc_dimension * math.log(2 * math.e * rows / vc_dimension))


@typed
def training_bound(
    class_prior: float,
    labelled: float,
    unlabelled: float,
    bins: int,
    *,
    vc_dimension: float | None = None,
    information: float | None = None,
    unlabelled_information: float | None = None,
    binning: str = "mass",
    lipschitz: float = 1.0,
) -> Bound:
    r"""Theorem 3: how far PU-ECE on the model's own training rows may be from the true error, on average.

    .. math::
       \frac{1+L}{B} + \sqrt{8\left(\frac{\pi^2}{n_P} + \frac{1}{n_U}\right)(fCMI + B\ln 2)}
       \left[{} + (1+L)\sqrt{\frac{8}{n_U}(fCMI_U + B\ln 2)}\right]

    with the bracket for bins of equal mass only. Give ``information`` (fCMI, in nats) or a ``vc_dimension`` that
    bounds it; ``unlabelled_information`` is at most ``information``, which stands in for it.

    >>> round(training_bound(0.4, 2000, 30_000, 20, vc_dimension=5, binning="width", lipschitz=1.5).total, 6)
    0.369898
    """
    _check_sizes(class_prior, labelled, unlabelled, lipschitz)
    if (vc_dimension is None) == (information is None):
        raise PulensError("give exactly one of vc_dimension and information (fCMI in nats).")
    _check_some(bins)
    known = information_bound(vc_dimension, labelled + unlabelled) if vc_dimension is not None else information
    assert known is not None
    if not known >= 0 or not (unlabelled_information is None or unlabelled_information >= 0):
        raise PulensError("information (fCMI, in nats) must be at least 0.")
    exponent = known + bins * math.log(2)
    statistical = math.sqrt(8 * spread(class_prior, labelled, unlabelled) * exponent)
    by_bins = (1 + lipschitz) / bins
    if check_binning(binning) == "mass":
        of_unlabelled = known if unlabelled_information is None else min(unlabelled_information, known)
        by_bins += (1 + lipschitz) * math.sqrt(8 / unlabelled * (of_unlabelled + bins * math.log(2)))
    return Bound(by_bins, statistical, bins)


@typed
@forwards_keywords(training_bound)
def best_training_bound(
    class_prior: float, labelled: float, unlabelled: float, *, binning: str = "mass", **knowledge: Any
) -> Bound:
    """Corollary 2: the smallest bound of Theorem 3 over the number of bins, found by trying them.

    The paper's closed form carries a slip in its derivative (appendix C.2); searching needs no closed form. Options
    as in :func:`training_bound`.

    >>> best_training_bound(0.4, 2000, 30_000, vc_dimension=5, binning="width", lipschitz=1.5).bins
    47
    """
    _check_sizes(class_prior, labelled, unlabelled, 1.0)
    most = 2 * math.ceil(spread(class_prior, labelled, unlabelled) ** -0.5) + 10
    return _lowest(
        lambda bins: training_bound(class_prior, labelled, unlabelled, bins, binning=binning, **knowledge), most
    )


def _lowest(bound: Any, most: int) -> Bound:
    """The smallest of a bound that falls and then rises with the number of bins: golden-section on whole numbers."""
    low, high = 1, most
    while high - low > 2:
        left, right = low + (high - low) // 3, high - (high - low) // 3
        if bound(left).total <= bound(right).total:
            high = right
        else:
            low = left
    result: Bound = min((bound(bins) for bins in range(low, high + 1)), key=lambda one: one.total)
    return result


@dataclass(frozen=True, slots=True)
class SampleSize(Answer):
    """How many rows an error takes.

    >>> print(SampleSize(labelled=1000, unlabelled=10_000, bins=10, error=0.02, basis="noise"))
    1,000 labelled and 10,000 unlabelled rows, 10 bins: error 0.0200 (noise)
    """

    labelled: int
    unlabelled: int
    bins: int
    error: float
    basis: str

    def __str__(self) -> str:
        return (
            f"{self.labelled:,} labelled and {self.unlabelled:,} unlabelled rows, {self.bins:,} bins: "
            f"error {self.error:.4f} ({self.basis})"
        )


@typed
def sample_size_for_error(
    error: float,
    class_prior: float,
    *,
    unlabelled_per_labelled: float = 10.0,
    basis: str = "noise",
    binning: str = "width",
    lipschitz: float = 1.0,
    bins: int | None = None,
    confidence: float | None = None,
) -> SampleSize:
    r"""How many labelled and unlabelled rows bring the error of PU-ECE down to a given size.

    ``basis="guarantee"``: Theorem 1 promises it, for any model and population with the Lipschitz constant.
    ``basis="noise"``: the noise floor of a calibrated model is that small; by Cauchy-Schwarz it is at most

    .. math:: \sqrt{\tfrac{2}{\pi_{\circ}}}\,\sqrt{B\left(\frac{\pi^2}{n_P} + \frac{\pi}{n_U}\right)},
       \qquad \pi_\circ = 3.14\ldots

    since :math:`E|N(0,v)| = \sqrt{2v/\pi_\circ}`, the variances of the gaps add up to no more than
    :math:`\pi^2/n_P + E[f^2]/n_U`, and :math:`E[f^2] \le E[f] = \pi`. The bins are the paper's optimum unless given.

    >>> sample_size_for_error(0.02, 0.3).labelled
    6112
    >>> sample_size_for_error(0.1, 0.3, basis="guarantee").labelled
    3556
    """
    from pulens.calibration.binning import optimal_bins

    if not 0 < error < 1:
        raise PulensError(f"error must lie between 0 and 1, got {error!r}.")
    if not 0 < real(unlabelled_per_labelled) <= MOST_PER_LABELLED:
        raise PulensError(
            f"unlabelled_per_labelled must be above 0 and at most {MOST_PER_LABELLED:g}, got "
            f"{shown(unlabelled_per_labelled)}."
        )
    if not is_among(basis, ("noise", "guarantee")):
        raise PulensError(f"basis must be 'noise' or 'guarantee', got {basis!r}.")
    if bins is not None:
        _check_some(bins)

    def reached(labelled: int) -> tuple[float, int]:
        unlabelled = max(1, math.ceil(labelled * unlabelled_per_labelled))
        if basis == "noise":
            number = bins or optimal_bins(class_prior, labelled, unlabelled)
            variance = class_prior**2 / labelled + class_prior / unlabelled
            return math.sqrt(2 / math.pi * number * variance), number
        most = int(min(unlabelled // 2, 10**6)) or 1
        options: dict[str, Any] = {"binning": binning, "lipschitz": lipschitz, "confidence": confidence}

        def bound(number: int) -> Bound:
            return evaluation_bound(class_prior, labelled, max(unlabelled, 2), number, **options)

        result = bound(bins) if bins else _lowest(bound, most)
        return result.total, int(result.bins)

    _check_sizes(class_prior, 1, 1, lipschitz)
    low, high = 0, 1
    while reached(high)[0] > error:
        low, high = high, 2 * high
        if high > 10**13:
            raise PulensError(f"no sample below {high:,} labelled rows brings the error to {error!r}.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle)[0] <= error else (middle, high)
    result, number = reached(high)
    return SampleSize(high, max(1, math.ceil(high * unlabelled_per_labelled)), number, result, basis)


def _check_sizes(class_prior: float, labelled: float, unlabelled: float, lipschitz: float) -> None:
    if not 0 < class_prior < 1:
        raise PulensError(f"class_prior must lie strictly between 0 and 1, got {class_prior!r}. Write 30% as 0.3.")
    if not min(labelled, unlabelled) >= 1 or not max(labelled, unlabelled) <= MOST_ROWS:
        raise PulensError(
            f"labelled and unlabelled must be at least 1 row and at most {MOST_ROWS:g}, got {labelled:g} and "
            f"{unlabelled:g}."
        )
    if not 0 <= lipschitz < math.inf:
        raise PulensError(f"lipschitz must be at least 0, got {lipschitz!r}; a well calibrated model has 1.")


def _check_some(bins: int) -> None:
    if not 1 <= bins <= MOST_ROWS:
        raise PulensError(f"bins must be a whole number from 1 to {MOST_ROWS:g}, got {shown(bins)}.")
