"""Proxy AUC: the chance that a labelled row outscores a row of the population."""

from __future__ import annotations

from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.recovery import pairwise_auc
from pulens.recovery.assumptions import Assumptions
from pulens.scenario import Scenario


def proxy_roc_auc(tally: Tally, assumptions: Assumptions) -> float:
    r"""Labelled against unlabelled rows (two-sample form, case-control) or against all rows (one-sample form).

    Jain et al. 2017's :math:`AUC_{pu}`, and :math:`(n_L/2 + n_U AUC_{pu}) / (n_L + n_U)` in the single set. Each is an
    increasing straight line of the recovered ``roc_auc``, so all of them order models alike.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .5, .5, .9, .5, .4, .2, .1]))
    >>> round(proxy_roc_auc(tally, Assumptions(0.25)), 6)
    0.645833
    """
    totals = tally.totals
    area = pairwise_auc(tally, "labelled", "unlabelled")
    if assumptions.scenario is Scenario.CASE_CONTROL and totals.unlabelled:
        return area
    known = pairwise_auc(tally, "labelled", "negative")
    return (totals.labelled / 2 + totals.unlabelled * area + totals.negative * known) / totals.rows


METRIC = Metric(
    proxy_roc_auc,
    "Chance that a labelled row outscores a row of the population",
    reads="ranking",
    needs_class_prior=False,
    ignores_class_prior=True,
    listed=False,
)
