"""What training adds to the doubt about scores out of fold: intervals that take the scores for given are too narrow.

The scores of a table's rows come from models that were trained on its other rows. Another draw of the table would give
other rows to judge, and other models. Intervals of :func:`pulens.evaluate` allow for the first alone. What is promised
here is the *kept model's* number on new rows of the same population. The estimate is off that by the draw of the rows,
by the draw of the models (those of the folds, whose scores are put together, and the kept one), and because the kept
model learned from more rows.

No formula gives the size of that from one table, and nested folds (Bates, Hastie and Tibshirani 2023) take hundreds of
trainings more. It was measured where the truth is at hand (``benchmarks/fit_coverage.py``): ``FACTOR`` is how many
times as far from the value the ends must lie, so that 95% of the intervals hold the kept model's number. It hardly
depends on the number of rows, from 300 to 3,000: more rows make the models steadier, but the gain of learning from a
quarter more of them does not fall faster than the interval.
"""

from __future__ import annotations

from pulens.notice import Notice, Severity

FACTOR = 1.5

NOTICE = Notice(
    Severity.NOTE,
    "training-noise",
    f"Intervals are for the kept model on new rows, and up to {FACTOR:g} times as wide as those of pulens evaluate for "
    "the same scores: had other rows been drawn, other models would have been trained. Where they miss, the kept model "
    "is mostly better than they say, since it learned from more rows than those that were judged.",
)
