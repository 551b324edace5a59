"""What an archive keeps of scores: counts per bin of decision values, and metrics that were exact before binning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.research.benchmark.splits import JudgedRows

JUST_NEGATIVE = np.float32(-1.1754944e-38)
KINDS = ("positive", "negative", "labelled", "unlabelled")


def decisions(values: Any) -> NDArray[np.float32]:
    """Decision values as float32 for which "predicted positive" is ``>= 0``: learners call an exact zero negative.

    >>> decisions([0.0, 1.0]) >= 0
    array([False,  True])
    """
    result = np.asarray(values, np.float64).astype(np.float32)
    result = np.where((result == 0) & (np.asarray(values) > 0), -JUST_NEGATIVE, result)  # too small for float32
    return np.where(result == 0, JUST_NEGATIVE, result).astype(np.float32)


def binned_counts(scores: NDArray[np.float32], part: JudgedRows, bins: int) -> dict[str, NDArray[Any]]:
    """Rows of each kind per bin of scores, lowest bin first; every distinct score its own bin if they are few enough.

    Bins hold about equally many rows and never straddle zero, so that what happens at the decision is exact.

    >>> part = JudgedRows(np.arange(3), *(np.array(mask, bool) for mask in ([1, 0, 1], [1, 0, 0], [0, 1, 1])))
    >>> found = binned_counts(np.array([0.5, -1.0, 2.0], np.float32), part, 16)
    >>> found["lowest"], found["positive"], found["unlabelled"]
    (array([-1. ,  0.5,  2. ], dtype=float32), array([0, 1, 1], dtype=int32), array([1, 0, 1], dtype=int32))
    """
    distinct, place = np.unique(scores, return_inverse=True)
    if distinct.size > bins:
        before = np.cumsum(np.bincount(place)) - np.bincount(place)
        cell = before * (bins - 1) // scores.size
        cell = cell + (distinct >= 0)  # zero is always an edge
        starts = np.flatnonzero(np.diff(cell, prepend=cell[0] - 1))
    else:
        starts = np.arange(distinct.size)
    ends = np.append(starts[1:], distinct.size) - 1
    owner = np.repeat(np.arange(starts.size), ends - starts + 1)[place]
    masks = {
        "positive": part.truth,
        "negative": ~part.truth,
        "labelled": part.labelled,
        "unlabelled": part.unlabelled,
    }
    counted = {name: np.bincount(owner[mask], minlength=starts.size).astype(np.int32) for name, mask in masks.items()}
    return {"lowest": distinct[starts], "highest": distinct[ends], **counted}


def exact_metrics(scores: NDArray[np.float32], truth: NDArray[np.bool_]) -> dict[str, float]:
    """Metrics against the truth, from all scores at once; nan where there is nothing to divide by.

    >>> found = exact_metrics(np.array([1.0, 2.0, -1.0, -2.0], np.float32), np.array([True, False, True, False]))
    >>> found["accuracy"], found["f1"], found["roc_auc"]
    (0.5, 0.5, 0.5)
    """
    called = scores >= 0
    both, positives, negatives = int((called & truth).sum()), int(truth.sum()), int((~truth).sum())
    if not np.isfinite(scores).all():
        return dict.fromkeys(METRICS, float("nan"))
    return {
        "accuracy": float((called == truth).mean()),
        "precision": both / int(called.sum()) if called.any() else float("nan"),
        "recall": both / positives if positives else float("nan"),
        "f1": 2 * both / (int(called.sum()) + positives) if positives or called.any() else float("nan"),
        "macro_f1": macro_f1(both, int(called.sum()), positives, truth.size),
        "roc_auc": _area(scores, truth) if positives and negatives else float("nan"),
        "average_precision": _average_precision(scores, truth) if positives else float("nan"),
        "predicted_positive_rate": float(called.mean()),
    }


METRICS = (
    *("accuracy", "precision", "recall", "f1", "macro_f1"),
    *("roc_auc", "average_precision", "predicted_positive_rate"),
)


def macro_f1(both: int, called: int, positives: int, rows: int) -> float:
    """Mean of the F1 of both classes; nan where one of them neither occurs nor is predicted.

    >>> macro_f1(both=1, called=2, positives=1, rows=4)
    0.7333333333333334
    """
    neither = rows - called - positives + both
    sizes = called + positives, 2 * rows - called - positives
    return (2 * both / sizes[0] + 2 * neither / sizes[1]) / 2 if all(sizes) else float("nan")


def _area(scores: NDArray[np.float32], truth: NDArray[np.bool_]) -> float:
    from pulens.learning.learners.base.proxies import proxy_auc

    return proxy_auc(scores[truth], scores[~truth])


def _average_precision(scores: NDArray[np.float32], truth: NDArray[np.bool_]) -> float:
    """Sum of precision times gained recall over distinct scores, highest first."""
    distinct, place = np.unique(-scores, return_inverse=True)
    hits = np.bincount(place, truth, minlength=distinct.size)
    called = np.cumsum(np.bincount(place, minlength=distinct.size))
    return float((hits * np.cumsum(hits) / called).sum() / hits.sum())
