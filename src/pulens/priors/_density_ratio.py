r"""Maximum likelihood for log density ratios that are linear in a basis, at many class priors at once.

Let :math:`r = f_0/f_1 = e^{a^\top b(z)}`. Relative to :math:`f_1` labelled rows have density
:math:`A = \beta + (1-\beta) r`, unlabelled ones :math:`W = \alpha + (1-\alpha) r`, known negatives :math:`r`. Leaving
:math:`f_1` free, the profile empirical likelihood is that of guessing a row's kind from its place,

.. math:: \ell = \sum_L \log A + \sum_U \log W + \sum_N \log r - \sum_{L,U,N} \log(n A + m W + k r),

so no density is estimated (Qin 1999). The kind of a row depends on its place through the one number
:math:`a^\top b`, which gives Fisher scoring a positive definite matrix at every step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pulens.priors._cells import Cells
from pulens.types import Floats

STEEPEST = 40.0  # exponents beyond this change nothing that a double could show


@dataclass(frozen=True, slots=True, eq=False)
class RatioFit:
    """For each class prior tried: the penalised log likelihood, the coefficients and log det of the information."""

    log_likelihood: Floats
    coefficients: Floats
    log_determinant: Floats


def fit_ratio(
    basis: Floats,
    cells: Cells,
    unlabelled_priors: Floats,
    label_noises: Floats,
    centre: Floats,
    precision: Floats,
    *,
    start: Floats | None = None,
    most_steps: int = 60,
    tolerance: float = 1e-3,
) -> RatioFit:
    """Fit the coefficients by damped Fisher scoring, side by side for every pair of class prior and label noise.

    ``centre`` and ``precision`` describe a normal prior on the coefficients; a weak one keeps separable samples
    finite.
    """
    alpha, mistaken = unlabelled_priors[:, None], label_noises[:, None]
    rest = 1 - alpha
    labelled, unlabelled, negative = cells.labelled, cells.unlabelled, cells.negative
    rows = labelled + unlabelled + negative
    n, m, k = labelled.sum(), unlabelled.sum(), negative.sum()
    noisy = bool(label_noises.any())
    products = (basis[:, :, None] * basis[:, None, :]).reshape(len(basis), -1)
    size = basis.shape[1]
    diagonal = np.arange(size)

    def state(coefficients: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        log_ratio = np.clip(coefficients @ basis.T, -STEEPEST, STEEPEST)
        ratio = np.exp(log_ratio)
        of_labelled = 1 + mistaken * (ratio - 1) if noisy else np.ones((1, 1))
        of_unlabelled = rest * ratio
        of_unlabelled += alpha
        pooled = m * of_unlabelled
        pooled += n * of_labelled
        if k:
            pooled = pooled + k * ratio
        value = np.log(of_unlabelled) @ unlabelled - np.log(pooled) @ rows
        if noisy:
            value = value + np.log(of_labelled) @ labelled
        if k:
            value = value + log_ratio @ negative
        value = value - 0.5 * (coefficients - centre) ** 2 @ precision
        return ratio, of_labelled, of_unlabelled, pooled, value

    coefficients = np.tile(centre, (len(unlabelled_priors), 1)) if start is None else np.array(start)
    ratio, of_labelled, of_unlabelled, pooled, value = state(coefficients)
    damping = np.full(len(unlabelled_priors), 1e-3)
    resolved = np.zeros(len(unlabelled_priors), bool)
    information = np.empty((len(unlabelled_priors), size, size))
    for _ in range(most_steps):
        share_unlabelled = m * of_unlabelled
        share_unlabelled /= pooled
        slope_unlabelled = rest * ratio
        slope_unlabelled /= of_unlabelled
        slope = share_unlabelled * slope_unlabelled
        if noisy:
            share_labelled = n * of_labelled / pooled
            slope_labelled = mistaken * ratio / of_labelled
            slope = slope + share_labelled * slope_labelled
        else:
            share_labelled = n / pooled
        if k:
            share_negative = k * ratio / pooled
            slope = slope + share_negative
        gradient = unlabelled * slope_unlabelled
        gradient -= rows * slope
        weight = np.square(slope_unlabelled - slope)
        weight *= share_unlabelled
        weight += share_labelled * np.square(slope_labelled - slope if noisy else slope)
        if noisy:
            gradient += labelled * slope_labelled
        if k:
            gradient += negative
            weight += share_negative * np.square(1 - slope)
        uphill = gradient @ basis - (coefficients - centre) * precision
        weight *= rows
        information = (weight @ products).reshape(-1, size, size)
        information[:, diagonal, diagonal] += precision
        damped = information.copy()
        damped[:, diagonal, diagonal] *= 1 + damping[:, None]
        tried = coefficients + np.linalg.solve(damped, uphill[..., None])[..., 0]
        candidate = state(tried)
        better = candidate[4] >= value - 1e-9 * np.abs(value)  # rounding is no reason to step back
        gain = np.where(better, candidate[4] - value, 0.0)
        if better.all():
            coefficients, (ratio, of_labelled, of_unlabelled, pooled, value) = tried, candidate
        else:
            coefficients[better] = tried[better]
            for new, old in zip(candidate, (ratio, of_labelled, of_unlabelled, pooled, value), strict=True):
                if len(old) == better.size:
                    old[better] = new[better]
        damping = np.where(better, damping * 0.2, damping * 8 + 1e-3)
        resolved |= (better & (gain < tolerance)) | (damping > 1e6)
        if resolved.all():
            break
    return RatioFit(value, coefficients, np.linalg.slogdet(information)[1])
