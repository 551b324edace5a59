"""Any metric of the catalogue, of archived test rows with their true classes.

The truth is a case that metrics know: every positive is labelled, every other row a known negative, and nothing is left
to recover. A metric at a threshold is read at the decision, 0, which is always an edge of bins and therefore exact; one
of the ranking is read off the binned tally. The few that were computed from all scores when a run ended are stored with
its choices: a cache, which spares reading tallies.
"""

from __future__ import annotations

from functools import cache

from pulens.counts.tally import Tally
from pulens.errors import InputError, listed, nearest
from pulens.metrics import METRICS, Metric
from pulens.metrics.parts.measure import value
from pulens.recovery.assumptions import UNCORRECTED
from pulens.research.benchmark.vocabulary import current

DECISION = 0.0  # a row is predicted positive where its score is at least this


def check_metric(name: str) -> str:
    """A metric of the catalogue by its name, or an older spelling of it.

    >>> check_metric("auc"), check_metric("matthews_correlation")
    ('roc_auc', 'matthews_correlation')
    """
    word = current(name)
    if word not in METRICS:
        raise InputError(f"metric must be one of {listed(METRICS, limit=99)}, got {name!r}.{nearest(name, METRICS)}")
    return word


def facts_of_metric(name: str) -> Metric:
    return METRICS[check_metric(name)]


def true_value(name: str, truth: Tally) -> float:
    """A metric of rows whose true classes are known; nan where there is nothing to divide by.

    >>> import numpy as np
    >>> truth = Tally.from_arrays(np.array([1, 1, -1, -1]), np.array([2.0, -1.0, 1.0, -2.0]))
    >>> true_value("accuracy", truth), true_value("matthews_correlation", truth)
    (0.5, 0.0)
    """
    return value(METRICS[name], truth, UNCORRECTED, DECISION)


@cache
def is_share(name: str) -> bool:
    """Whether a metric lies between -1 and 1, so that tables show it in percent.

    >>> is_share("youden_j"), is_share("lift")
    (True, False)
    """
    facts = facts_of_metric(name)
    return facts.lowest >= -1 and facts.highest <= 1


@cache
def sign_of(name: str) -> int:
    """1 where higher is better, -1 where lower is.

    >>> sign_of("f1"), sign_of("error_rate")
    (1, -1)
    """
    return 1 if facts_of_metric(name).higher_is_better else -1
