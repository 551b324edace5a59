"""Scores of rows by models that had not seen them, and how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from joblib import parallel_config
from numpy.typing import NDArray
from sklearn.base import clone

from pulens.counts.kernels import cores
from pulens.errors import AssumptionError, InputError
from pulens.inputs.typed_columns import TypedTable
from pulens.learning.fitting.priors import of_these_rows
from pulens.learning.learners.base.prior import check_estimator_name, estimated_class_prior
from pulens.learning.learners.base.rescues import Rescue
from pulens.types import Booleans, Floats


@dataclass
class Progress:
    """Steps done of all, and an estimate of the time left from those done so far.

    >>> moments = iter([0.0, 10.0, 20.0])
    >>> progress = Progress(3, tell=print, clock=lambda: next(moments))
    >>> progress.step("fold 1"); progress.step("fold 2"); progress.step("all rows")
    fold 1 (1 of 3)
    fold 2 (2 of 3), about 20 s left
    all rows (3 of 3), about 10 s left
    """

    steps: int
    tell: Callable[[str], None]
    clock: Callable[[], float] = time.perf_counter
    done: int = field(default=-1, init=False)
    _start: float = field(default=0.0, init=False)

    def step(self, words: str) -> None:
        """Say what begins now."""
        self.done += 1
        now = self.clock()
        if not self.done:
            self._start = now
        left = (now - self._start) / self.done * (self.steps - self.done) if self.done else None
        said = "" if left is None else f", about {_duration(left)} left"
        self.tell(f"{words} ({self.done + 1} of {self.steps}){said}")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def deal_folds(labelled: Booleans, folds: int, seed: int, groups: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """The fold of each row: labelled and unlabelled rows evenly, rows of one group in the same fold.

    >>> deal_folds(np.arange(6) < 2, 2, 0, None).tolist()
    [1, 0, 1, 0, 0, 1]
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    counts = {"labelled": labelled, "unlabelled": ~labelled}
    for kind, rows in counts.items():
        result = int(rows.sum()) if groups is None else np.unique(groups[rows]).size
        if result < folds:
            of = f"{kind} rows" if groups is None else f"clusters with {kind} rows"
            fewer = "ask for fewer folds (--folds 2), or " if result >= 2 else ""
            raise AssumptionError(
                f"folds={folds} needs at least {folds} {of}, got {result:,}: {fewer}label more rows; pulens train "
                "needs no folds."
            )
    start = seed % (1 << 32)
    if groups is None:
        splitter: Any = StratifiedKFold(folds, shuffle=True, random_state=start)
    else:
        splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=start)
    fold = np.zeros(labelled.size, np.int64)
    for number, (_, outside) in enumerate(splitter.split(np.zeros(labelled.size), labelled, groups)):
        fold[outside] = number
    for number in range(folds):
        inside = fold != number
        if not labelled[inside].any() or labelled[inside].all() or inside.all():
            raise AssumptionError(
                f"folds={folds}: clusters are too uneven to leave labelled and unlabelled rows in every fold. Ask for "
                "fewer folds, or leave the cluster column out."
            )
    return fold


def unseen_scores(
    model: Any, table: TypedTable, labelled: Booleans, fold: NDArray[np.int64], groups: Any, progress: Progress
) -> tuple[Floats, tuple[tuple[Rescue, ...], ...]]:
    """The score of each row by a model that was fitted to the other folds, and what these models were rescued by."""
    result, rescues = np.full(labelled.size, np.nan), []
    folds = int(fold.max()) + 1
    for number in range(folds):
        progress.step(f"Training without fold {number + 1}")
        inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        try:
            fitted = fit_one(model, table.take(inside), labelled[inside], None if groups is None else groups[inside])
        except (InputError, AssumptionError) as error:
            raise type(error)(f"without fold {number + 1} of {folds}: {error}") from error
        result[outside] = fitted.predict_proba(table.take(outside))[:, 1]
        rescues.append(getattr(fitted[-1], "rescues_", ()))
    if not np.isfinite(result).all():
        raise InputError(
            f"the learner gave no number for {int((~np.isfinite(result)).sum()):,} of {result.size:,} rows: its "
            "training failed. Take another method, or look for columns of very large numbers."
        )
    return result, tuple(rescues)


def fit_one(model: Any, table: TypedTable, labelled: Booleans, groups: Any) -> Any:
    """A fresh copy of the model, fitted; a learner that can be told which rows belong together is."""
    fresh, labels = clone(model), labelled.astype(np.int64)
    learner = fresh[-1]
    prior = getattr(learner, "class_prior", None)
    if prior is not None:
        learner.class_prior = of_these_rows(prior, learner.scenario, int(labelled.sum()), labelled.size)
    told = {}
    if groups is not None and "groups" in signature(learner.fit).parameters:
        told["learner__groups"] = groups
    elif groups is not None and isinstance(prior, str):  # from scores of models that saw no row of the same cluster
        rows, seed = clone(fresh[0]).fit_transform(table), int(getattr(learner, "random_state", 0) or 0)
        asked: dict[str, Any] = {"method": check_estimator_name(prior), "groups": groups}
        learner.class_prior = estimated_class_prior(rows, labels, str(learner.scenario), seed, **asked)
    with parallel_config("threading", n_jobs=cores()):  # for learners whose own n_jobs says nothing
        return fresh.fit(table, labels, **told)
