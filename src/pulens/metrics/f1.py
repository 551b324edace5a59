"""F1: the harmonic mean of precision and recall."""

from __future__ import annotations

from pulens.metrics.parts.metric import Metric, Shown, divide
from pulens.recovery.contingency import Contingency
from pulens.types import Floats


def f1(table: Contingency) -> Floats:
    r""":math:`2TP/(2TP+FP+FN)`; zero when nothing is predicted positive.

    >>> round(f1(Contingency.from_cells(0.5, 30, 15, 10, 45)).item(), 6)
    0.705882
    """
    called, hits = table.called_and_hits
    return divide(2 * hits, table.positive + called)


METRIC = Metric(
    f1,
    "Harmonic mean of precision and recall",
    undefined_because="there are no positives, and nothing is predicted positive",
    title="F1",
    derivation="2 TP / (2 TP + FP + FN).",
    shown=Shown(table=5, tiles=4, segments=4, comparison=3),
    page_computes=True,
)
