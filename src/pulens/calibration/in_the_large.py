"""Calibration in the large: does the model promise the right number of positives over all?"""

from __future__ import annotations

import numpy as np

from pulens.calibration._risk import mean_estimate
from pulens.calibration.statistic import of_rows
from pulens.estimate import Estimate
from pulens.evidence import Evidence


@of_rows
def calibration_in_the_large(evidence: Evidence, *, confidence: float = 0.95) -> Estimate:
    r"""Mean score less the class prior, :math:`E[f] - \pi`: above zero the model promises too many positives.

    It is overconfidence less underconfidence of any bins, and the simplest necessary condition of calibration.

    Returns
    -------
    Estimate
        The difference with its interval.

    Examples
    --------
    >>> found = calibration_in_the_large([1, 1, 0, 0, 0, 0], [.9, .6, .8, .4, .3, .1], class_prior=0.5)
    >>> round(found.value, 6)  # 3.1 / 6 - 0.5
    0.016667

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> print(calibration_in_the_large(table, score="risk_v2", label="outcome", positive="fraud", class_prior=0.2))
    calibration_in_the_large -0.007 [-0.023, 0.009]
    """
    f = np.asarray(evidence.tally.thresholds, float)
    return mean_estimate("calibration_in_the_large", evidence, -np.ones_like(f), f, confidence)
