"""Metrics, those of a kind in one file. Calling one gives an :class:`~pulens.estimate.Estimate`.

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
from collections.abc import Iterable, Mapping
from typing import Literal

from pulens.catalogue import Catalogue, load_guests
from pulens.errors import PulensError, UnknownNameError, listed, nearest, shown
from pulens.estimate import Estimate
from pulens.metrics.parts.function import MetricFunction
from pulens.metrics.parts.measure import raw_value
from pulens.metrics.parts.metric import Metric, Shown, divide
from pulens.metrics.parts.other_names import plain, said_of

__all__ = [
    "METRICS",
    "Metric",
    "MetricFunction",
    "Shown",
    "among",
    "divide",
    "find",
    "in_reading_order",
    "leading",
    "look_up",
    "measure",
    "names",
    "raw_value",
    "unknown",
]

OWN: Catalogue[Metric] = Catalogue(__name__, __path__, "METRIC", "metric", together=True)
METRICS: dict[str, Metric] = dict(sorted({**OWN, **load_guests(__name__, Metric, (*OWN, *__all__))}.items()))
# where a metric's file and its public function share a name, the function is what people mean
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
    indices = {name: getattr(metric.shown, view) for name, metric in METRICS.items()}
    return tuple(sorted((name for name, index in indices.items() if index is not None), key=lambda name: indices[name]))


def names() -> tuple[str, ...]:
    """All metrics, in alphabetical order."""
    return tuple(METRICS)


def find(name: str) -> Metric:
    """A metric by name, or an error that offers the nearest name, or those that tables lead with.

    >>> find("recall").reads
    'threshold'
    >>> find("ROC AUC")
    Traceback (most recent call last):
    ...
    pulens.errors.UnknownNameError: there is no metric 'ROC AUC'. Did you mean 'roc_auc'?
    """
    if isinstance(name, str) and name in METRICS:
        return METRICS[name]
    raise unknown(name, METRICS)


def unknown(name: object, known: Iterable[str]) -> UnknownNameError:
    """What to raise for a name that is not among those known: the metric that was meant, or where to look."""
    among = list(known)
    if not isinstance(name, str):
        return UnknownNameError(f"a metric is named by text, got {shown(name)}; pulens.metrics.names() lists all.")
    told = said_of(str(name)) or nearest(plain(str(name)), among).strip()
    if not told:
        first = in_reading_order(one for one in among if one in METRICS)[:6]
        told = f"Most asked for: {', '.join(first)}; pulens.metrics.names() lists all {len(METRICS)}."
    return UnknownNameError(f"there is no metric {shown(name)}. {told}")


def among(metrics: Iterable[str], name: str) -> str:
    """The name, if it is one of the metrics that an answer was asked for; otherwise an error that says which are.

    >>> among(["recall", "f1"], "recal")
    Traceback (most recent call last):
    ...
    pulens.errors.UnknownNameError: there is no metric 'recal'. Did you mean 'recall'?
    """
    known = list(metrics)
    if isinstance(name, str) and name in known:
        return name
    if isinstance(name, str) and name in METRICS:
        raise UnknownNameError(
            f"{name!r} was not asked for; the metrics here are {listed(known)}. Name it in metrics=."
        )
    raise unknown(name, known)


def look_up(estimates: Mapping[str, Estimate], name: str) -> Estimate:
    """One of an answer's estimates by the metric's name, or an error that says which name or place was meant.

    >>> look_up({}, "f_beta")
    Traceback (most recent call last):
    ...
    pulens.errors.UnknownNameError: 'f_beta' is not among these numbers. Ask for it alone: pulens.metrics.f_beta(...).
    """
    if isinstance(name, str) and name in estimates:
        return estimates[name]
    if isinstance(name, str) and name in METRICS:
        way_out = f"pulens.metrics.{name}(...)"
        if "k" in METRICS[name].parameters:
            way_out += f", or evaluation.top(k)[{name!r}]"
        raise UnknownNameError(f"{name!r} is not among these numbers. Ask for it alone: {way_out}.")
    raise unknown(name, estimates or METRICS)


def __getattr__(name: str) -> MetricFunction:  # reached only for names that no file defines
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        find(name)
    except PulensError as error:
        raise AttributeError(str(error)) from None
    raise AttributeError(name)
