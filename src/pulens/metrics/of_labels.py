"""Measures that are read off PU labels as they are."""

from __future__ import annotations

import numpy as np

from pulens.catalogue import Declared
from pulens.counts.tally import Tally
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.observed import class_prior_of, mutual_information_at, recall_and_share
from pulens.recovery import pairwise_auc
from pulens.recovery.assumptions import Assumptions
from pulens.scenario import Scenario

METRIC = Declared(Metric, listed=False)


@METRIC(
    "Squared recall over the share called positive",
    reads="counts",
    highest=np.inf,
    needs_class_prior=False,
    ignores_class_prior=True,
    undefined_because="no unlabelled row is called positive at this threshold, but labelled ones are",
)
def lee_liu(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`r^2 / P(f = 1)`, which is precision times recall over class prior (Lee and Liu 2003; the PULP paper).

    In case-control the share called positive is that of the unlabelled rows, in the single set that of all rows,
    the form that the PULP paper uses. Zero when nothing is called positive.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> from pulens.recovery.assumptions import UNCORRECTED
    >>> round(lee_liu(tally, 0.6, UNCORRECTED), 6)
    0.888889
    """
    recall, share = recall_and_share(tally, threshold, assumptions)
    if share == 0:
        return 0.0 if recall == 0 else float("nan")
    return recall**2 / share


@METRIC(
    "F1 over the class prior",
    reads="counts",
    highest=np.inf,
    undefined_because="the class prior is 0 and nothing is called positive",
)
def pseudo_f(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`2r / (P(f = 1) + P(y = 1))` (Calvo et al. 2007; the PULP paper).

    As printed it is F1 divided by the class prior, so it can exceed 1; the recovered ``f1`` is the scaled one.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(pseudo_f(tally, 0.6, Assumptions(0.2)), 6)  # 2 (2/3) / (4/8 + 4/8)
    1.333333
    """
    recall, share = recall_and_share(tally, threshold, assumptions)
    prior = class_prior_of(tally.totals, assumptions)
    return 2 * recall / (share + prior) if share + prior else float("nan")


@METRIC(
    "What a prediction says about the label, in nats",
    reads="counts",
    highest=float(np.log(2)),
    needs_class_prior=False,
    ignores_class_prior=True,
)
def mutual_information(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`\sum p \log (p / p_{expected})` over the table of labels against calls (the PULP paper, section 3).

    Every row without a label counts as a negative. Zero when a margin of the table is empty.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .6, .3, .9, .6, .5, .4, .2]))
    >>> round(mutual_information(tally, 0.6, Assumptions(0.2)), 6)
    0.033822
    """
    called, totals = tally.at(threshold), tally.totals
    result = mutual_information_at(called.rows, called.labelled, totals.rows, totals.labelled)  # type: ignore[arg-type]
    return float(result)


@METRIC("Accuracy plus the class prior, from PU labels alone", reads="counts", highest=2.0)
def proxy_accuracy(tally: Tally, threshold: float, assumptions: Assumptions) -> float:
    r""":math:`2\pi r + P(f = 0)`; minus :math:`\pi` it is accuracy, so both choose the same model.

    The share called negative is taken over the unlabelled rows in case-control (the two-sample form) and over
    all rows in the single set (the one-sample form). A published variant of the one-sample form adds labelled
    rows called positive to the share called negative; that is no constant shift of accuracy and is not used.

    >>> tally = Tally.from_arrays(np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([.8, .5, .5, .9, .5, .4, .2, .1]))
    >>> round(proxy_accuracy(tally, 0.5, Assumptions(0.25)), 6)
    1.4375
    """
    recall, share = recall_and_share(tally, threshold, assumptions)
    return 2 * class_prior_of(tally.totals, assumptions) * recall + 1 - share


@METRIC(
    "Chance that a labelled row outscores a row of the population",
    reads="ranking",
    needs_class_prior=False,
    ignores_class_prior=True,
)
def proxy_roc_auc(tally: Tally, assumptions: Assumptions) -> float:
    r"""Labelled against unlabelled rows (two-sample form, case-control) or against all rows (one-sample form).

    Jain et al. 2017's :math:`AUC_{pu}`, and :math:`(n_L/2 + n_U AUC_{pu}) / (n_L + n_U)` in the single set. Each is an
    increasing straight line of the recovered ``roc_auc``, so all of them order models alike.

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
