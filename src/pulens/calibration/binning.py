r"""Bins of scores: equal widths or equal shares of the population, and how many of them.

Bins are closed on the right, :math:`I_b = (u_{b-1}, u_b]`; the first also holds a score of exactly 0.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError, shown
from pulens.inference.kernels.resampling import MOST_REDRAWS
from pulens.keywords import typed
from pulens.scalars import is_among, whole
from pulens.types import Floats

BinRule = Literal["mass", "width"]
MOST_BINS = 100_000


def check_binning(binning: str) -> BinRule:
    if not is_among(binning, ("mass", "width")):
        raise PulensError(
            f"binning must be 'mass' (equal shares of the population) or 'width' (equal widths), got {binning!r}."
        )
    return binning  # type: ignore[return-value]


def check_bins(bins: Any) -> int:
    number = whole(bins)
    if number is None or not 1 <= number <= MOST_BINS:
        raise PulensError(
            f"bins must be a whole number from 1 to {MOST_BINS:,}, or None for the number the theory recommends, "
            f"got {shown(bins)}."
        )
    return number


def check_redraws(redraws: Any) -> int:
    """How often bins are redrawn; none at all is once."""
    number = whole(redraws)
    if number is None or not 0 <= number <= MOST_REDRAWS:
        raise PulensError(f"redraws must be a whole number from 0 to {MOST_REDRAWS:,}, got {shown(redraws)}.")
    return max(number, 1)


def spread(class_prior: float, labelled: float, unlabelled: float) -> float:
    r"""The rate that rules every bound of the PU-ECE paper: :math:`S = \pi^2/n_P + 1/n_U`.

    >>> spread(0.5, 100, 400)
    0.005
    """
    return class_prior**2 / labelled + 1 / unlabelled


@typed
def optimal_bins(
    class_prior: float,
    labelled: float,
    unlabelled: float,
    *,
    binning: str = "mass",
    constants: Literal["one", "proof"] = "one",
    lipschitz: float = 1.0,
) -> int:
    r"""The number of bins that balances the two errors: the PU-ECE paper, Corollary 1.

    .. math:: B = \left\lceil c\,\left(\frac{\pi^2}{n_P} + \frac{1}{n_U}\right)^{-1/3} \right\rceil

    with :math:`c = 1` as in section 5.3 of the paper, or the constants of its proofs:
    :math:`(2(1+L)^2/\ln 2)^{1/3}` for equal widths, :math:`(2+\sqrt{\ln 2})^{-2/3}` for equal masses. With
    :math:`c = 1` whole cube roots are decided in exact arithmetic, the class prior read as the decimal it prints as.

    >>> optimal_bins(0.5, 108, 432)
    6
    >>> optimal_bins(0.4, 200, 3000, binning="width", constants="proof", lipschitz=1.5)
    26
    """
    if not (0 <= class_prior <= 1 and min(labelled, unlabelled) > 0 and 0 <= lipschitz < math.inf):
        raise PulensError(
            f"the number of bins rests on a class prior from 0 to 1, on rows above 0 and on a lipschitz constant of at "
            f"least 0, got {class_prior:g}, {labelled:g} and {unlabelled:g} rows, and {lipschitz:g}."
        )
    if constants == "proof":
        return max(1, math.ceil(proof_bins(class_prior, labelled, unlabelled, binning=binning, lipschitz=lipschitz)))
    if constants != "one":
        raise PulensError(f"constants must be 'one' or 'proof', got {constants!r}.")
    exact = _as_printed(class_prior) ** 2 * _inverse(labelled) + _inverse(unlabelled)
    if exact == 0:
        raise PulensError("the number of bins grows without end: give bins= when there are infinitely many rows.")
    bins: int = 1 if exact >= 1 else round(float(exact) ** (-1 / 3))
    while bins**3 * exact < 1:
        bins += 1
    while bins > 1 and (bins - 1) ** 3 * exact >= 1:
        bins -= 1
    return bins


def _as_printed(number: float) -> Fraction:
    return Fraction(Decimal(repr(float(number))))


def _inverse(size: float) -> Fraction:
    return Fraction(0) if math.isinf(size) else 1 / _as_printed(size)


@typed
def proof_bins(
    class_prior: float, labelled: float, unlabelled: float, *, binning: str = "mass", lipschitz: float = 1.0
) -> float:
    """The real number of bins at which the proof of Corollary 1 minimises its bound (the PU-ECE paper, appendix A.2).

    >>> round(proof_bins(0.4, 200, 3000, binning="mass", lipschitz=1.5), 6)
    4.791027
    """
    if check_binning(binning) == "width":
        constant = (2 * (1 + lipschitz) ** 2 / math.log(2)) ** (1 / 3)
    else:
        constant = (2 + math.sqrt(math.log(2))) ** (-2 / 3)
    return float(constant * spread(class_prior, labelled, unlabelled) ** (-1 / 3))


def width_edges(bins: int) -> Floats:
    """Edges of bins of equal width: the doubles b / B.

    >>> width_edges(4)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    return np.arange(bins + 1) / bins


def mass_edges(scores: NDArray[Any], at_or_above: NDArray[Any], bins: int) -> Floats:
    r"""Edges of bins of equal mass: order statistics :math:`f_{(k)}`, :math:`k = \lfloor nb/B \rfloor`.

    ``scores`` are distinct and falling, ``at_or_above`` counts the population's rows at or above each. Tied
    scores give equal edges and so empty bins; the tied rows fall into the first bin that ends at them.

    >>> mass_edges(np.array([0.9, 0.4, 0.2]), np.array([1, 3, 4]), 2)
    array([0. , 0.4, 1. ])
    """
    rows = at_or_above[-1].item()
    if rows < bins:
        raise InputError(
            f"{bins:,} bins of equal mass need at least {bins:,} rows for their edges, but there are {rows:,.10g}. "
            "Give fewer bins= or binning='width'. (A weight is the number of rows that a row counts "
            "for.)"
        )
    above, below = Fraction(rows).as_integer_ratio()
    ranks = [above * b // (below * bins) for b in range(1, bins)]  # whole numbers: exact at any size
    indices = np.searchsorted(at_or_above, [rows - rank for rank in ranks], side="right")
    return np.concatenate([[0.0], scores[indices], [1.0]])


def bin_starts(scores: NDArray[Any], edges: Floats) -> NDArray[np.intp]:
    """Where each bin begins in the falling list of scores; bin b occupies ``starts[b + 1]:starts[b]``.

    >>> bin_starts(np.array([1.0, 0.5, 0.2, 0.0]), np.array([0.0, 0.5, 1.0]))
    array([4, 1, 0])
    """
    inner = np.searchsorted(scores[::-1], edges[1:-1], side="right")
    return scores.size - np.concatenate([[0], inner, [scores.size]])


def population_at_or_above(tally: Tally, *, unlabelled_only: bool) -> NDArray[Any]:
    """Rows of the sample of the population at or above each threshold."""
    if unlabelled_only:
        return tally.unlabelled
    everyone = tally.labelled + tally.unlabelled
    return everyone + tally.negative if tally.has_negatives else everyone
