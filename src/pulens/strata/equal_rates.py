r"""Do cells matter: Pearson's chi-square test of one labelling rate in all cells.

In the single set :math:`n_{Lg}` of :math:`P_g` positives are labelled: under one rate :math:`c` the sum of
:math:`(n_{Lg} - c P_g)^2 / (P_g c (1 - c))` is chi-square with one degree less than there are cells. In case-control
data, where labelled rows are a sample of their own, the same is said of their division among cells, without
:math:`1 - c`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pulens.strata.evidence import StratifiedEvidence
from pulens.types import Floats


class EqualRates(NamedTuple):
    """The test whether positives are labelled equally often in all cells."""

    chi_square: float
    degrees_of_freedom: int
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


def equal_rates(labelled: Floats, positives: Floats, *, is_single: bool) -> EqualRates | None:
    """The test from labelled rows and positives of the cells; ``None`` with fewer than two cells that hold any.

    >>> import numpy as np
    >>> found = equal_rates(np.array([50.0, 50.0]), np.array([100.0, 400.0]), is_single=True)
    >>> round(found.chi_square, 4), found.degrees_of_freedom
    (70.3125, 1)
    """
    from pulens.special import chdtrc

    kept = positives > 0
    seen, held = labelled[kept], positives[kept]
    if seen.size < 2 or not seen.sum():
        return None
    rate = seen.sum() / held.sum()
    left = 1 - rate if is_single else 1.0
    if left <= 0:
        return None
    chi_square = float(((seen - rate * held) ** 2 / (rate * held)).sum() / left)
    freedom = int(seen.size - 1)
    return EqualRates(chi_square, freedom, float(chdtrc(freedom, chi_square)))


def rates_test(evidence: StratifiedEvidence) -> EqualRates | None:
    """For these rows, where class priors are given: an estimate that errs would look like a rate that differs."""
    priors = evidence.priors
    if priors.treatment != "exact" or priors.is_estimated or evidence.label_noise:
        return None
    return equal_rates(evidence.cells.totals[:, 0], evidence.positives(), is_single=evidence.is_single)
