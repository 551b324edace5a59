"""Cohen's kappa: agreement of prediction and truth beyond chance."""

from __future__ import annotations

from pulens.metrics.parts.metric import Metric, divide
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def cohen_kappa(table: Contingency) -> Floats:
    r""":math:`(p_o - p_e)/(1 - p_e)` with :math:`p_e` the agreement of two independent raters with these margins.

    >>> round(cohen_kappa(Contingency.from_cells(0.5, 30, 15, 10, 45)).item(), 6)
    0.489796
    """
    called, total = table.predicted_positive, table.total
    covariance = table.true_positive * table.true_negative - table.false_positive * table.false_negative
    return divide(2 * covariance, called * table.negative + (total - called) * table.positive)


METRIC = Metric(
    cohen_kappa,
    "Agreement beyond chance",
    lowest=-1.0,
    undefined_because="prediction and truth are both constant, so chance agreement is complete",
    title="Cohen's kappa",
    derivation="(agreement − chance agreement) / (1 − chance agreement).",
    page_computes=True,
)
