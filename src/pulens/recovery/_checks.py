"""What the formulas of the recovery may be given: shares that could be shares, and labels that say something."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pulens.containers import numbers
from pulens.errors import AssumptionError, PulensError, shown
from pulens.recovery.assumptions import Assumptions
from pulens.scalars import real


def check_numbers(name: str, values: Any) -> Any:
    """One finite number or an array of them."""
    result = numbers(values)
    if result is None:
        raise PulensError(f"{name} must be a number or an array of numbers, got {shown(values)}.")
    if not np.isfinite(result).all():
        first = result[~np.isfinite(result)].flat[0] if result.ndim else result.item()
        raise PulensError(f"{name} must be finite, got {float(first)!r}. Leave out what was not observed.")
    return result if result.ndim else result.item()


def check_shares(name: str, values: Any) -> Any:
    """One share from 0 to 1 or an array of them."""
    shares = check_numbers(name, values)
    outside = np.asarray((shares < 0) | (shares > 1))
    if outside.any():
        first = np.asarray(shares)[outside].flat[0]
        raise PulensError(f"{name} must be a share from 0 to 1, got {float(first)!r}. Write 30% as 0.3.")
    return shares


def check_unlabelled_prior(unlabelled_prior: Any, label_noise: Any) -> tuple[float, float]:
    """The share of positives among unlabelled and among labelled rows, the second above the first."""
    share = real(unlabelled_prior)
    if math.isnan(share):
        raise AssumptionError(
            f"unlabelled_prior must be a number of at least 0 and below 1, got {shown(unlabelled_prior)}. "
            "It is the share of positives among the unlabelled rows: write 30% as 0.3."
        )
    given = Assumptions(share, label_noise)  # refuses what no data could satisfy
    return given.unlabelled_prior, given.labelled_purity
