"""F-beta: precision and recall weighed so that recall counts beta times as much."""

from __future__ import annotations

from pulens.errors import PulensError, shown
from pulens.metrics.parts.metric import Metric, divide
from pulens.recovery.contingency import Contingency
from pulens.scalars import real
from pulens.types import Floats

MOST = 1e100  # whose square is a number


def f_beta(table: Contingency, *, beta: float = 2.0) -> Floats:
    r""":math:`(1+b^2)TP / ((1+b^2)TP + b^2 FN + FP)`; zero when nothing is predicted positive.

    >>> round(f_beta(Contingency.from_cells(0.5, 30, 15, 10, 45), beta=2.0).item(), 6)
    0.731707
    """
    if not 0 < real(beta) < MOST:
        raise PulensError(f"beta of f_beta must be a positive number below 1e100, got {shown(beta)}; 2 is usual.")
    square = real(beta) ** 2
    return divide((1 + square) * table.true_positive, square * table.positive + table.predicted_positive)


METRIC = Metric(
    f_beta,
    "Weighted harmonic mean of precision and recall",
    listed=False,
    undefined_because="there are no positives, and nothing is predicted positive",
    parameters={"beta": 2.0},
    title="F2",
    page_computes=True,
)
