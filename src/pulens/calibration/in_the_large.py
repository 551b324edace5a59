"""Calibration in the large: does the model promise the right number of positives over all?"""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.calibration._risk import mean_estimate
from pulens.calibration.probabilities import calibration_evidence
from pulens.cells import gather_within
from pulens.estimate import Estimate
from pulens.inputs.reading import said
from pulens.keywords import hands_on
from pulens.types import Column, LabelValues


@hands_on(gather_within)
def calibration_in_the_large(
    labels: Any,
    scores: Any = None,
    *,
    score: Column | None = None,
    label: Column | None = None,
    positive: LabelValues | None = None,
    negative: LabelValues | None = None,
    unlabelled: LabelValues | None = None,
    cluster: Any = None,
    scores_are: str = "probability",
    confidence: float = 0.95,
    **options: Any,
) -> Estimate:
    r"""Mean score less the class prior, :math:`E[f] - \pi`: above zero the model promises too many positives.

    It is overconfidence less underconfidence of any bins, and the simplest necessary condition of calibration.

    >>> found = calibration_in_the_large([1, 1, 0, 0, 0, 0], [.9, .6, .8, .4, .3, .1], class_prior=0.5)
    >>> round(found.value, 6)  # 3.1 / 6 - 0.5
    0.016667
    """
    options |= said(
        score=score, label=label, positive=positive, negative=negative, unlabelled=unlabelled, cluster=cluster
    )
    evidence = calibration_evidence(labels, scores, scores_are=scores_are, **options)
    f = np.asarray(evidence.tally.thresholds, float)
    return mean_estimate("calibration_in_the_large", evidence, -np.ones_like(f), f, confidence)
