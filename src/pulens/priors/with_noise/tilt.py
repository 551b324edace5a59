r"""Tilt with two floors: the most likely class prior and label noise.

The density ratio of unlabelled to labelled rows is :math:`(\alpha + (1-\alpha) r)/(\beta + (1-\beta) r)` with
:math:`r = f_0/f_1 = e^{a_0 + a_1 z}`: it falls from :math:`(1-\alpha)/(1-\beta)` to :math:`\alpha/\beta`, and
both floors are fitted at once by maximum likelihood.
"""

from __future__ import annotations

import numpy as np

from pulens.counts.tally import Tally
from pulens.priors._cells import cut
from pulens.priors._estimator import Finding, NoiseEstimator, NoiseFinding
from pulens.priors._pairs import profile_pairs
from pulens.priors._shapes import Shape

CELLS = 120


def tilt(tally: Tally, *, confidence: float = 0.95) -> NoiseFinding:
    """Highest point of the likelihood over both floors."""
    result = profile_pairs(cut(tally, CELLS), (Shape("line"),))
    row, column = np.unravel_index(int(np.argmax(result.fitted)), result.fitted.shape)
    return NoiseFinding(Finding(float(result.priors[row])), Finding(float(result.noises[column])))


ESTIMATOR = NoiseEstimator(
    tilt,
    "Exponential tilt with two floors, most likely values",
    "The log odds of being positive are linear in the score, its logit or its normal score.",
    "Liu et al. 2025, one-score case with noisy labels",
    rank_based=False,
)
