"""Metrics, one per file. Calling one gives an :class:`~pulens.estimate.Estimate`.

>>> import pulens.metrics
>>> print(pulens.metrics.recall([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1], class_prior=0.2, threshold=0.5))
recall 0.500
>>> "roc_auc" in pulens.metrics.names()
True
"""

from __future__ import annotations

from pulens.catalogue import load_catalogue
from pulens.errors import PulensError, listed, nearest
from pulens.metrics._function import MetricFunction
from pulens.metrics._metric import Metric

METRICS: dict[str, Metric] = {
    name: metric for name, (_, metric) in load_catalogue(__name__, __path__, "METRIC").items()
}
# a metric's file and its public function share a name: the function is what people mean
globals().update({name: MetricFunction(name, metric) for name, metric in METRICS.items()})


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
