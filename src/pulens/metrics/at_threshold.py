"""Metrics at a threshold: of true and false positives and negatives as the recovery gives them."""

from __future__ import annotations

import math

import numpy as np

from pulens.catalogue import Declared
from pulens.errors import PulensError, shown
from pulens.metrics.parts.metric import Metric, Shown, divide
from pulens.recovery.contingency import Contingency
from pulens.scalars import real
from pulens.types import Floats

MOST = 1e100  # whose square is a number
METRIC = Declared(Metric, page_computes=True)


@METRIC(
    "Share of rows predicted right",
    undefined_because="the target population is empty",
    derivation="(TP + TN) / all rows of the population.",
    shown=Shown(table=7, segments=6, comparison=4, gaps=3),
)
def accuracy(table: Contingency) -> Floats:
    r""":math:`(TP+TN)/(TP+FP+FN+TN)`.

    >>> accuracy(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.75
    """
    return divide(table.true_positive + table.true_negative, table.total)


@METRIC(
    "Share of rows predicted wrong",
    higher_is_better=False,
    undefined_because="the target population is empty",
    derivation="(FP + FN) / all rows of the population.",
)
def error_rate(table: Contingency) -> Floats:
    r""":math:`(FP+FN)/(TP+FP+FN+TN)`, one minus accuracy.

    >>> error_rate(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.25
    """
    return divide(table.false_positive + table.false_negative, table.total)


@METRIC(
    "Of the rows flagged, how many are positive",
    confirmed=True,
    undefined_because="nothing is predicted positive at this threshold",
    derivation="TP / (TP + FP) in the population; in case-control data α γ / u (equation 3).",
    shown=Shown(table=3, tiles=2, segments=2, comparison=5, gaps=2),
)
def precision(table: Contingency) -> Floats:
    r""":math:`TP/(TP+FP)` in the target population; Jain et al. 2017, equation 3, for case-control data.

    >>> round(precision(Contingency.from_cells(0.5, 30, 15, 10, 45)).item(), 6)
    0.666667
    """
    return divide(table.true_positive, table.predicted_positive)


@METRIC(
    "Of the positives, how many are found",
    needs_class_prior=False,
    of_labelled=True,
    undefined_because="the target population holds no positives",
    derivation="γ = ((1 − α) l − (1 − β) u) / (β − α), with l and u the shares of labelled and unlabelled "
    "rows at or above the threshold (equation 1).",
    shown=Shown(table=4, tiles=3, segments=3, comparison=6),
)
def recall(table: Contingency) -> Floats:
    r""":math:`TP/(TP+FN)`, true positive rate, sensitivity; Jain et al. 2017, equation 1.

    >>> recall(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.75
    """
    return table.hit_rate


@METRIC(
    "Of the negatives, how many are not flagged",
    undefined_because="the target population holds no negatives",
    derivation="1 − η, with η = (β u − α l) / (β − α) the recovered false positive rate (equation 2).",
    shown=Shown(table=6, segments=5),
)
def specificity(table: Contingency) -> Floats:
    r""":math:`TN/(TN+FP)`, true negative rate, one minus Jain et al. 2017's equation 2.

    >>> specificity(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.75
    """
    return 1.0 - table.alarm_rate


@METRIC(
    "Of the negatives, how many are flagged",
    higher_is_better=False,
    listed=False,
    undefined_because="the target population holds no negatives",
    derivation="η = (β u − α l) / (β − α), with l and u the shares of labelled and unlabelled rows at or above the "
    "threshold (equation 2).",
    shown=Shown(gaps=1),
    page_computes=False,
)
def false_positive_rate(table: Contingency) -> Floats:
    r""":math:`FP/(TN+FP)`, one minus specificity; Jain et al. 2017's equation 2.

    >>> false_positive_rate(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.25
    """
    return table.alarm_rate


@METRIC(
    "Harmonic mean of precision and recall",
    undefined_because="there are no positives, and nothing is predicted positive",
    title="F1",
    derivation="2 TP / (2 TP + FP + FN).",
    shown=Shown(table=5, tiles=4, segments=4, comparison=3),
)
def f1(table: Contingency) -> Floats:
    r""":math:`2TP/(2TP+FP+FN)`; zero when nothing is predicted positive.

    >>> round(f1(Contingency.from_cells(0.5, 30, 15, 10, 45)).item(), 6)
    0.705882
    """
    called, hits = table.called_and_hits
    return divide(2 * hits, table.positive + called)


@METRIC(
    "Weighted harmonic mean of precision and recall",
    listed=False,
    undefined_because="there are no positives, and nothing is predicted positive",
    parameters={"beta": 2.0},
    title="F2",
)
def f_beta(table: Contingency, *, beta: float = 2.0) -> Floats:
    r""":math:`(1+b^2)TP / ((1+b^2)TP + b^2 FN + FP)`; zero when nothing is predicted positive.

    >>> round(f_beta(Contingency.from_cells(0.5, 30, 15, 10, 45), beta=2.0).item(), 6)
    0.731707
    """
    if not 0 < real(beta) < MOST:
        raise PulensError(f"beta of f_beta must be a positive number below 1e100, got {shown(beta)}; 2 is usual.")
    square = real(beta) ** 2
    return divide((1 + square) * table.true_positive, square * table.positive + table.predicted_positive)


@METRIC(
    "Mean of the F1 of both classes",
    undefined_because="one of the classes neither occurs nor is predicted",
    title="Macro-F1",
    derivation="(F1 of positives + F1 of negatives) / 2.",
)
def macro_f1(table: Contingency) -> Floats:
    r""":math:`\frac12\left(\frac{2TP}{2TP+FP+FN} + \frac{2TN}{2TN+FP+FN}\right)`.

    >>> round(macro_f1(Contingency.from_cells(0.5, 30, 15, 10, 45)).item(), 6)
    0.744246
    """
    of_negatives = divide(2 * table.true_negative, table.negative + table.total - table.predicted_positive)
    return np.asarray((f1(table) + of_negatives) / 2)


@METRIC(
    "Mean of recall and specificity",
    undefined_because="the target population lacks one of the classes",
    derivation="(recall + specificity) / 2.",
)
def balanced_accuracy(table: Contingency) -> Floats:
    r""":math:`\frac12\left(\frac{TP}{TP+FN} + \frac{TN}{TN+FP}\right)`.

    >>> balanced_accuracy(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.75
    """
    return np.asarray((1.0 + table.hit_rate - table.alarm_rate) / 2)


@METRIC(
    "Recall plus specificity minus one",
    lowest=-1.0,
    undefined_because="the target population lacks one of the classes",
    title="Youden's J",
    derivation="Recall − false positive rate: the height of the ROC curve above chance.",
)
def youden_j(table: Contingency) -> Floats:
    r""":math:`\gamma - \eta`, the height of the ROC curve above chance.

    >>> youden_j(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.5
    """
    return table.hit_rate - table.alarm_rate


@METRIC(
    "Correlation of prediction and truth",
    lowest=-1.0,
    derivation="(TP·TN − FP·FN) / √((TP + FP)(TP + FN)(TN + FP)(TN + FN)).",
)
def matthews_correlation(table: Contingency) -> Floats:
    r""":math:`\frac{TP\,TN - FP\,FN}{\sqrt{(TP+FP)(TP+FN)(TN+FP)(TN+FN)}}`; zero when a margin is empty.

    >>> round(matthews_correlation(Contingency.from_cells(0.5, 30, 15, 10, 45)).item(), 6)
    0.492366
    """
    called = table.predicted_positive
    covariance = table.true_positive * table.true_negative - table.false_positive * table.false_negative
    # roots of margins one by one: their product overflows for a population of 1e80 rows only
    spread = np.sqrt(called) * np.sqrt(np.maximum(table.total - called, 0.0))
    spread = spread * np.sqrt(table.positive) * np.sqrt(table.negative)
    return np.clip(divide(covariance, spread, empty=0.0), -1.0, 1.0)


@METRIC(
    "Agreement beyond chance",
    lowest=-1.0,
    undefined_because="prediction and truth are both constant, so chance agreement is complete",
    title="Cohen's kappa",
    derivation="(agreement − chance agreement) / (1 − chance agreement).",
)
def cohen_kappa(table: Contingency) -> Floats:
    r""":math:`(p_o - p_e)/(1 - p_e)` with :math:`p_e` the agreement of two independent raters with these margins.

    >>> round(cohen_kappa(Contingency.from_cells(0.5, 30, 15, 10, 45)).item(), 6)
    0.489796
    """
    called, total = table.predicted_positive, table.total
    covariance = table.true_positive * table.true_negative - table.false_positive * table.false_negative
    return divide(2 * covariance, called * table.negative + (total - called) * table.positive)


@METRIC(
    "Precision as a multiple of the class prior",
    highest=np.inf,
    needs_class_prior=False,
    undefined_because="nothing is predicted positive at this threshold",
    derivation="Precision divided by the class prior.",
)
def lift(table: Contingency) -> Floats:
    r""":math:`\frac{TP}{TP+FP} \Big/ \pi`: precision over class prior.

    >>> round(lift(Contingency.from_cells(0.5, 30, 15, 10, 45)).item(), 6)
    1.666667
    """
    # recall over the share flagged: the same number, and one that stays when positives become rare
    return divide(table.hit_rate * table.total, table.predicted_positive)


@METRIC(
    "Share of the population that is flagged",
    needs_class_prior=False,
    counted=True,
    undefined_because="the target population is empty",
    derivation="(TP + FP) / all rows of the population.",
)
def predicted_positive_rate(table: Contingency) -> Floats:
    r""":math:`(TP+FP)/(TP+FP+FN+TN)`.

    >>> predicted_positive_rate(Contingency.from_cells(0.5, 30, 15, 10, 45)).item()
    0.45
    """
    return divide(table.predicted_positive, table.total)


def check_cost_ratio(cost_ratio: object) -> float:
    """The price of a flag over the worth of a hit, as a number."""
    price = real(cost_ratio)
    if not 0 < price < 1:
        raise PulensError(
            f"cost_ratio of net_benefit must lie strictly between 0 and 1, got {shown(cost_ratio)}. It is the price of "
            "a flag over the worth of a hit: 20 for a false alarm and 500 for a miss make 20/520."
        )
    return price


@METRIC(
    "Hits per row, less false alarms at their price",
    lowest=-math.inf,
    listed=False,
    parameters={"cost_ratio": 0.5},
    derivation="TP / n − p / (1 − p) · FP / n, with p the cost ratio.",
    page_computes=False,
)
def net_benefit(table: Contingency, *, cost_ratio: float = 0.5) -> Floats:
    r""":math:`TP/n - \frac{p}{1-p} FP/n`, with p the cost ratio (Vickers and Elkin 2006).

    The cost ratio, or threshold probability, is the price of a flag over the worth of a hit: at .04 a hit is worth 24
    false alarms. Flag none has net benefit 0, flag all :math:`\pi - \frac{p}{1-p}(1-\pi)`.

    >>> round(net_benefit(Contingency.from_cells(0.5, 30, 15, 10, 45), cost_ratio=0.2).item(), 6)
    0.2625
    """
    price = check_cost_ratio(cost_ratio)
    return np.asarray((table.true_positive - price / (1 - price) * table.false_positive) / table.total)
