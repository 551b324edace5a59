"""The log loss without negatives, and its parts."""

from __future__ import annotations

import numpy as np

from pulens.calibration._risk import mean_estimate
from pulens.calibration.brier import ProperScore, decomposed
from pulens.calibration.masses import choose_edges
from pulens.calibration.statistic import of_rows
from pulens.errors import PulensError, shown
from pulens.evidence import Evidence
from pulens.scalars import real
from pulens.types import Floats

CLIP = float(np.finfo(np.float64).eps)  # scikit-learn's choice: a score of 0 or 1 costs at most 36 nats


@of_rows
def log_loss(
    evidence: Evidence,
    *,
    binning: str = "mass",
    bins: int | str | None = None,
    confidence: float = 0.95,
    clip: float = CLIP,
) -> ProperScore:
    r"""Mean surprise in nats about the class, from positives and unlabelled rows.

    .. math:: E[-\ln(1-f)] + \pi\,E[\ln(1-f) - \ln f \mid Y = 1]

    the unbiased PU risk (the PU-ECE paper, equation 2) of the logistic loss. Scores are kept ``clip`` away from 0 and
    1. The parts use the Kullback-Leibler divergence from a bin's share of positives to its mean score (calibration) and
    to the class prior (resolution), and the entropy of the class prior (uncertainty); shares outside [0, 1] are
    clipped for them.

    Parameters
    ----------
    clip
        How far scores are kept from 0 and 1.

    Returns
    -------
    ProperScore
        The score with its interval, and its ``decomposition``.

    Examples
    --------
    >>> options = {"class_prior": 0.25, "scenario": "case-control", "bins": 2, "labelling": "random"}
    >>> score = log_loss([1, 1, 0, 0, 0, 0], [.9, .6, .8, .4, .3, .1], **options)
    >>> round(score.value, 6), round(score.decomposition.total, 6)
    (0.320239, 0.320239)

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> print(log_loss(table, score="risk_v2", label="outcome", positive="fraud", class_prior=0.2))
    log_loss 0.409 [0.205, 0.623]
    """
    given, clip = clip, real(clip)
    if not 0 < clip < 0.5:
        raise PulensError(f"clip must lie strictly between 0 and 0.5, got {shown(given)}.")
    f = np.clip(np.asarray(evidence.tally.thresholds, float), clip, 1 - clip)
    unlikely = -np.log1p(-f)

    def parts(share: Floats, fraction: Floats, promised: Floats, prior: float) -> tuple[float, float, float]:
        fraction, promised = np.clip(fraction, 0.0, 1.0), np.clip(promised, clip, 1 - clip)
        always = np.full_like(share, min(max(prior, clip), 1 - clip))
        entropy = -float(always[0] * np.log(always[0]) + (1 - always[0]) * np.log1p(-always[0]))
        return float(share @ divergence(fraction, promised)), float(share @ divergence(fraction, always)), entropy

    result = mean_estimate("log_loss", evidence, -np.log(f) - unlikely, unlikely, confidence)
    return decomposed(result, evidence, choose_edges(evidence, binning=binning, bins=bins), parts)


def divergence(fraction: Floats, promised: Floats) -> Floats:
    """Kullback-Leibler divergence between coins, in nats."""
    from pulens.special import rel_entr

    return np.asarray(rel_entr(fraction, promised) + rel_entr(1 - fraction, 1 - promised), float)
