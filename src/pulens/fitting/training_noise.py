r"""What training adds to the doubt about scores out of fold: intervals that take the scores for given are too narrow.

The scores of a table's rows come from models that were trained on its other rows. Another draw of the table would give
other rows to judge, and other models. Intervals of :func:`pulens.evaluate` allow for the first alone. What is promised
here is the *kept model's* number on new rows of the same population; the error of the estimate has the draw of the rows
in it, the draw of the models (those of the folds and the kept one), and that the kept model saw more rows.

How large it is beside the standard error of the rows was measured with the truth at hand
(``benchmarks/fit_coverage.py``, ten tables, few rows of each). It falls with the number of labelled rows, as

.. math:: f^2 = 1 + (a / n_P)^b .
"""

from __future__ import annotations

import math

from pulens.notice import Notice, Severity

LABELLED, POWER = 31.0, 0.63


def training_factor(labelled: int) -> float:
    """How many times as far from the value ends of intervals lie as those that take the scores for given.

    >>> [round(training_factor(rows), 2) for rows in (20, 50, 200, 1000, 10_000)]
    [1.52, 1.32, 1.14, 1.05, 1.01]
    """
    return math.sqrt(1 + (LABELLED / labelled) ** POWER)


def training_notice(factor: float) -> Notice:
    """What a reader should know about the intervals."""
    return Notice(
        Severity.NOTE,
        "training-noise",
        f"Intervals are for the kept model on new rows, and {factor:.2f} times as wide as those of pulens evaluate for "
        "the same scores: had other rows been drawn, other models would have been trained.",
    )
