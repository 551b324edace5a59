"""How much training a run is: rows times passes over them, by the settings that say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pulens.research.benchmark import datasets
from pulens.research.benchmark.plan import Run

EPOCHS = ("epochs", "warm_up_epochs", "pretraining_epochs", "trend_epochs", "fence_epochs")
MOST_WORK = 10**30  # rows: numbers of a protocol may be larger than a double holds, and no forecast needs more
EPISODES = ("episodes", "epochs_per_episode")
STEPS = ("steps_per_epoch", "batch_size", "pretraining_steps")
LENGTHS = (*EPOCHS, *EPISODES, *STEPS, "n_estimators")


def rows_of(run: Run) -> int:
    """Rows of the data set that a run uses, before they are split."""
    return datasets.find(run.dataset).rows_used(run.rows)


def lengths(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that say how long training is.

    >>> lengths({"epochs": 40, "beta": 0.0, "batch_size": 256})
    {'epochs': 40, 'batch_size': 256}
    """
    return {name: settings[name] for name in LENGTHS if settings.get(name) is not None}


def work(settings: Mapping[str, Any], rows: int) -> float:
    """Rows that training passes through, up to a factor that is the learner's own.

    A pass over all rows for every epoch, or as many batches as an epoch is said to have; a tree reads every row.

    >>> work({"epochs": 40, "batch_size": 256}, 1000)
    40000.0
    >>> work({"epochs": 50, "steps_per_epoch": 3, "batch_size": 100}, 1000)
    15000.0
    """
    given = lengths(settings)
    batch = min(given.get("batch_size", rows), rows)  # learners without batches take the whole table at every step
    epoch = given["steps_per_epoch"] * batch if "steps_per_epoch" in given else rows
    passes = sum(given.get(name, 0) for name in EPOCHS)
    passes += given.get("episodes", 0) * given.get("epochs_per_episode", 0)
    whole = passes * epoch + given.get("pretraining_steps", 0) * batch + given.get("n_estimators", 0) * rows
    return float(min(whole or rows, MOST_WORK))
