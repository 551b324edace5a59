"""The classifier that was told the truth: an upper reference for studies, never a PU learner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from pulens.errors import InputError
from pulens.learning.learners.base.facts import REFERENCE, Learner
from pulens.learning.learners.base.wrapper import ByEstimator, count_rows


@dataclass(kw_only=True, eq=False, repr=False)
class OracleClassifier(ByEstimator):
    """Train any classifier on true classes, which come as an argument of their own.

    ``fit(X, labels, truth=...)`` ignores the PU labels and needs the truth, one boolean (or 1 and 0) per row, such as
    ``synthesis.truth.train``. ``uses_truth`` marks it, so that no table shows it as a PU method.

    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([True, False], 100)
    >>> X = rng.normal(size=(200, 2)) + 3 * truth[:, None]
    >>> labels = truth & (rng.random(200) < 0.1)
    >>> OracleClassifier().fit(X, labels, truth=truth).predict([[3.0, 3.0], [0.0, 0.0]])
    array([1, 0])
    """

    #: true classes are an input of fit
    uses_truth: ClassVar[bool] = True

    estimator: Any = field(default=None, kw_only=False)
    random_state: Any = None
    positive: Any = None

    def fit(self, X: Any, y: Any = None, *, truth: Any = None) -> Self:
        """Train on the truth. PU labels are accepted for the sake of a common signature, and not used."""
        if truth is None:
            raise InputError(
                "OracleClassifier needs the true classes: fit(X, labels, truth=...), one boolean per row. With PU "
                "labels alone use a PU learner, or NaiveClassifier for the baseline."
            )
        X = self._rows(X, reset=True)
        known = np.asarray(truth)
        if known.dtype.kind in "if" and np.isin(known, (-1, 1)).all():
            known = known == 1  # both classes are known, so -1 may say negative
        is_positive = self._labelled(known, count_rows(X))
        self.estimator_ = self._fresh(X, int(self._random().integers(2**31))).fit(X, is_positive.astype(int))
        return self


LEARNER = Learner(OracleClassifier, title="PN (logistic regression)", family=REFERENCE)
