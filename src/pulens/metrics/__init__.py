"""Metrics, one per file. Calling one gives an :class:`~pulens.estimate.Estimate`.

>>> import pulens.metrics
>>> print(pulens.metrics.recall([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1], class_prior=0.6, threshold=0.5))
recall 0.500
>>> "roc_auc" in pulens.metrics.names()
True

Installed packages can bring more, through entry points of the group ``pulens.metrics``; ``measure`` makes a function
of a :class:`Metric` that no package brings.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from pulens.catalogue import Catalogue, load_guests
from pulens.errors import PulensError, listed, nearest
from pulens.metrics.parts.function import MetricFunction
from pulens.metrics.parts.measure import raw_value
from pulens.metrics.parts.metric import Metric, Shown, divide
from pulens.metrics.parts.other_names import said_of

__all__ = [
    "METRICS",
    "Metric",
    "MetricFunction",
    "Shown",
    "divide",
    "find",
    "in_reading_order",
    "leading",
    "measure",
    "names",
    "raw_value",
]

OWN: Catalogue[Metric] = Catalogue(__name__, __path__, "METRIC", "metric", together=True)
METRICS: dict[str, Metric] = dict(sorted({**OWN, **load_guests(__name__, Metric, (*OWN, *__all__))}.items()))
# a metric's file and its public function share a name: the function is what people mean
globals().update({name: MetricFunction(name, metric) for name, metric in METRICS.items()})


def measure(metric: Metric, name: str | None = None) -> MetricFunction:
    """A metric of your own as a function of labels and scores, without installing anything.

    >>> from pulens.metrics import Metric, divide, measure
    >>> def false_discovery_rate(table):
    ...     return divide(table.false_positive, table.predicted_positive)
    >>> mine = measure(Metric(false_discovery_rate, "Share of the flagged that is negative", higher_is_better=False))
    >>> print(mine([1, 1, 1, 0, 0, 0], [9, 8, 4, 7, 3, 2], class_prior=0.6, threshold=5))
    false_discovery_rate 0.200
    """
    return MetricFunction(name or metric.compute.__name__, metric)


def in_reading_order(which: Iterable[str]) -> tuple[str, ...]:
    """Names of metrics as a reader looks for them: those that tables lead with, then the rest by name.

    >>> in_reading_order(["accuracy", "youden_j", "error_rate", "roc_auc"])
    ('roc_auc', 'accuracy', 'error_rate', 'youden_j')
    """

    def place(name: str) -> tuple[float, str]:
        leads = METRICS[name].shown.table if name in METRICS else None
        return (math.inf if leads is None else leads, name)

    return tuple(sorted(which, key=place))


def leading(view: Literal["table", "tiles", "segments", "comparison", "gaps", "top"]) -> tuple[str, ...]:
    """The metrics that a view leads with, the first one first.

    >>> leading("tiles")
    ('roc_auc', 'precision', 'recall', 'f1', 'average_precision')
    """
    places = {name: getattr(metric.shown, view) for name, metric in METRICS.items()}
    return tuple(sorted((name for name, place in places.items() if place is not None), key=lambda name: places[name]))


def names() -> tuple[str, ...]:
    """All metrics, in alphabetical order."""
    return tuple(METRICS)


def find(name: str) -> Metric:
    """A metric by name, or an error that lists the names there are.

    >>> find("recall").reads
    'threshold'
    """
    if name in METRICS:
        return METRICS[name]
    told = said_of(name)
    if told:
        raise PulensError(f"there is no metric {name!r}. {told}")
    raise PulensError(
        f"there is no metric {name!r}; the metrics are {listed(METRICS, limit=99)}.{nearest(name, METRICS)}"
    )


def __getattr__(name: str) -> MetricFunction:  # reached only for names that no file defines
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        find(name)
    except PulensError as error:
        raise AttributeError(str(error)) from None
    raise AttributeError(name)
