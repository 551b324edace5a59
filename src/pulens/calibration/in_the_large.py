"""Calibration in the large: does the model promise the right number of positives over all?"""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.calibration._risk import mean_estimate
from pulens.calibration.probabilities import calibration_evidence
from pulens.estimate import Estimate
from pulens.inputs.reading import said
from pulens.keywords import forwards_keywords
from pulens.selection.gathering import gather_labelled
from pulens.types import Clusters, Column, LabelValues, RowsLike, Values


@forwards_keywords(gather_labelled)
def calibration_in_the_large(
    labels: RowsLike,
    scores: Values | None = None,
    *,
    score: Column | None = None,
    label: Column | None = None,
    positive: LabelValues | None = None,
    negative: LabelValues | None = None,
    unlabelled: LabelValues | None = None,
    cluster: Clusters | None = None,
    scores_are: str = "probability",
    confidence: float = 0.95,
    **options: Any,
) -> Estimate:
    r"""Mean score less the class prior, :math:`E[f] - \pi`: above zero the model promises too many positives.

    It is overconfidence less underconfidence of any bins, and the simplest necessary condition of calibration.

    Parameters
    ----------
    labels, scores
        Labels and scores as arrays; or a table, file or database alone, as for :func:`pulens.evaluate`.
    score, label, positive, negative, unlabelled, cluster
        Columns of a table, and what its label values mean, as for :func:`pulens.evaluate`.
    scores_are
        ``"probability"``, or ``"logit"`` for scores that the logistic function turns into probabilities.
    confidence
        Level of the intervals.
    options
        ``class_prior`` and the other assumptions of :func:`pulens.evaluate`.

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
    options |= said(
        score=score, label=label, positive=positive, negative=negative, unlabelled=unlabelled, cluster=cluster
    )
    evidence = calibration_evidence(labels, scores, scores_are=scores_are, **options)
    f = np.asarray(evidence.tally.thresholds, float)
    return mean_estimate("calibration_in_the_large", evidence, -np.ones_like(f), f, confidence)
