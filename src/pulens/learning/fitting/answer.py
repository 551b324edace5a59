"""A judged model: what was learned, and how good it is on rows that it had not seen."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pulens.evaluation.evaluate import Evaluation
from pulens.keywords import typed
from pulens.learning.learners.base.rescues import Rescue, said
from pulens.notice import Notice
from pulens.types import Floats

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


_WORDS = {
    "number": ("number", "numbers"),
    "category": ("category", "categories"),
    "date": ("date", "dates"),
    "boolean": ("true or false", "true or false"),
}


@dataclass(repr=False, frozen=True, eq=False)
class JudgedModel:
    """A model trained on all rows, and the evaluation of scores by models that had not seen the row.

    ``model`` is a scikit-learn ``Pipeline`` of the table's columns and the learner; ``scores`` and ``fold`` hold a
    number for each row of the table, in its order. Values of ``evaluation`` are those of models trained on all folds
    but one; its intervals are for the model that is kept, on new rows of the same population.
    """

    model: Pipeline
    evaluation: Evaluation
    scores: Floats
    fold: NDArray[np.int64]
    labels: NDArray[np.int8]
    notices: tuple[Notice, ...]
    left_out: dict[str, str]  # columns that nothing was learned from, and why

    @property
    def columns(self) -> dict[str, str]:
        """What each column is that the model learned from."""
        result: dict[str, str] = self.model[0].kinds
        return result

    @property
    def rescues(self) -> tuple[Rescue, ...]:
        """What training the kept model did next to its method, where that is a network."""
        result: tuple[Rescue, ...] = getattr(self.model[-1], "rescues_", ())
        return result

    @typed
    def save(self, folder: str | PathLike[str]) -> Path:
        """Write the model to a folder, nothing pickled; :func:`pulens.learners.load` and ``pulens score`` read it."""
        from pulens.learning.learners.tables.pipeline import save_pipeline

        return save_pipeline(self.model, Path(folder))

    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """The page of the evaluation; written to ``path`` if given."""
        return self.evaluation.to_html(path, title=title, scores_are="probability")

    def describe(self) -> dict[str, Any]:
        """What was learned from what, in plain values."""
        learner = self.model[-1]
        prior = getattr(learner, "class_prior_", None)
        return {
            "learner": type(learner).__name__,
            "class_prior": None if prior is None else float(prior),
            "folds": int(self.fold.max()) + 1,
            "columns": self.columns,
            "interval_factor": None if self.evaluation.resampling is None else self.evaluation.resampling.factor,
            "rescues": [str(one) for one in self.rescues],
            "left_out": self.left_out,
        }

    def to_dict(self) -> dict[str, Any]:
        """The evaluation with what was learned, ready for JSON."""
        return self.evaluation.to_dict() | {"fit": self.describe()}

    def __str__(self) -> str:
        return f"{self.sentence}\n\n{self.evaluation}"

    __repr__ = __str__

    @property
    def in_short(self) -> str:
        """What was trained on which columns, and judged how."""
        counts: dict[str, int] = {}
        for kind in self.columns.values():
            counts[kind] = counts.get(kind, 0) + 1
        kinds = ", ".join(f"{count} {_WORDS[kind][count > 1]}" for kind, count in counts.items())
        out = f"; left out: {', '.join(self.left_out)}" if self.left_out else ""
        return f"{type(self.model[-1]).__name__} on {kinds}{out}; {int(self.fold.max()) + 1} held-out folds"

    @property
    def sentence(self) -> str:
        """The same with the rows, what the intervals are for, and what had to be repaired while training."""
        labelled = int((self.labels == 1).sum())
        return (
            f"{self.in_short}, {labelled:,} labelled and {self.labels.size - labelled:,} unlabelled"
            + ("; intervals are for this model on new rows" if self.evaluation.resampling is not None else "")
            + f". {said(self.rescues)}".rstrip()
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(self.sentence)}</p>{self.evaluation._repr_html_()}"
