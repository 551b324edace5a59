"""A classifier whose probabilities are repaired from PU labels, after scikit-learn's habits."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d

from pulens.calibration.recalibration import recalibrate
from pulens.containers import numbers_for, plain_array
from pulens.counts.sample import LABELLED, NEGATIVE, UNLABELLED
from pulens.errors import InputError, PulensError, shown
from pulens.inference.kernels.resampling import check_seed
from pulens.inputs.clusters import cluster_codes
from pulens.inputs.columns import LabelCoding
from pulens.inputs.responses import PROBABILITIES, positive_scores
from pulens.priors.from_features import folds_for
from pulens.scalars import is_among
from pulens.scenario import DEFAULT_SCENARIO

PREFIT = "prefit"
FOLDS = 5  # that the error of the map is measured with


def _has_scores(wrapper: Any) -> bool:
    return hasattr(wrapper.estimator, "predict_proba") or hasattr(wrapper.estimator, "decision_function")


class PUCalibratedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Probabilities of being positive from an estimator that learnt from PU labels.

    ``fit`` takes labels 1 (labelled positive), 0 (unlabelled) and, if there are any, -1 (known negative). The
    estimator learns to tell labelled from other rows on part of the data and scores the rest, fold by fold; a map
    from these scores to the probability of being positive is fitted to them, and the estimator is then fitted to all
    rows. So neither the map nor the error reported with it ever sees a score of a row that its estimator was
    trained on.

    Parameters
    ----------
    estimator
        Anything with ``fit`` and ``predict_proba`` or ``decision_function``.
    method
        ``"isotonic"``, ``"platt"``, ``"beta"``, ``"temperature"``, ``"histogram"``, or ``"auto"``, which chooses among
        the first three and the scores as they are by the likelihood of held-out labels.
    class_prior
        Share of positives in the population: a number, a range, or the name of an estimator as for
        :func:`pulens.evaluate`. By default it is estimated from the held-out scores, with all the doubt that brings;
        give it if you know it.
    scenario, label_noise, labelling
        As for :func:`pulens.evaluate`.
    cv
        Number of folds, a scikit-learn splitter, or ``"prefit"`` for an estimator that is fitted already; the rows
        given to ``fit`` must then be others than those it was trained on.
    random_state
        Seed of the folds.

    After ``fit``: ``estimator_``, ``calibration_map_``, ``recalibration_`` (with the error before and after, the
    latter cross-fitted), ``classes_``.

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(1, 1, 500), np.where(rng.random(5000) < 0.3, 1, -1) + rng.normal(size=5000)])
    >>> labels = np.repeat([1, 0], [500, 5000])
    >>> options = {"class_prior": 0.3, "scenario": "case-control", "method": "platt", "labelling": "random"}
    >>> model = PUCalibratedClassifier(LogisticRegression(), **options).fit(x[:, None], labels)
    >>> model.predict_proba([[0.42]]).round(1)  # where both classes are equally likely
    array([[0.5, 0.5]])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        method: str = "auto",
        class_prior: Any = None,
        scenario: str = DEFAULT_SCENARIO,
        label_noise: float = 0.0,
        cv: Any = 5,
        random_state: int | None = 0,
        labelling: str | float | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.class_prior = class_prior
        self.scenario = scenario
        self.label_noise = label_noise
        self.cv = cv
        self.random_state = random_state
        self.labelling = labelling

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> PUCalibratedClassifier:
        """Fit model and map; ``groups``, one id per row, keeps rows that belong together in one fold."""
        labels = _check_labels(y)
        _check_rows(X, labels.size)
        seed = None if self.random_state is None else check_seed(self.random_state)
        if sample_weight is not None:
            sample_weight = numbers_for("sample_weight", sample_weight, labels.size)
        if not _has_scores(self):
            raise PulensError(
                f"{type(self.estimator).__name__} has neither predict_proba nor decision_function to score rows with."
            )
        targets = (labels == LABELLED).astype(int)
        if isinstance(self.cv, str) and self.cv == PREFIT:
            self.estimator_ = self.estimator
            scores, meaning = _scores(self.estimator_, X)
        else:
            scores, meaning = self._held_out(X, labels, targets, sample_weight, groups, fit_params, seed)
            self.estimator_ = clone(self.estimator).fit(X, targets, **_weighted(fit_params, sample_weight))
        self.recalibration_ = recalibrate(
            labels,
            scores,
            method=self.method,
            scores_are=meaning,
            class_prior=self.class_prior,
            scenario=self.scenario,
            label_noise=self.label_noise,
            labelling=self.labelling,
            seed=seed or 0,
            folds=FOLDS if sample_weight is None else _folds(labels, scores, sample_weight),
            **({} if sample_weight is None else {"weights": sample_weight}),
            **({} if groups is None else {"cluster": groups}),
        )
        self.calibration_map_ = self.recalibration_.map
        self.classes_ = np.array([0, 1])
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _held_out(
        self,
        X: Any,
        labels: Any,
        targets: Any,
        sample_weight: Any,
        groups: Any,
        fit_params: dict[str, Any],
        seed: int | None,
    ) -> tuple[Any, str]:
        """Scores of each row by an estimator that was not trained on it."""
        from sklearn.model_selection import check_cv
        from sklearn.utils import _safe_indexing

        ids = None if groups is None else cluster_codes(groups, "groups")[1]
        if isinstance(self.cv, str | int | np.integer):
            fewest = int(min(np.unique(labels, return_counts=True)[1], default=0))
            if isinstance(self.cv, str) or self.cv < 2 or fewest < self.cv:
                raise PulensError(
                    f"cv must be a whole number of at least 2 folds and at most {fewest}, the rows of the rarest "
                    f"kind, or 'prefit', got {self.cv!r}."
                )
            splitter = folds_for(labels, ids, folds=int(self.cv), seed=None if seed is None else seed % 2**32)
        else:
            splitter = check_cv(self.cv, labels, classifier=True)
        scores = np.full(labels.size, np.nan)
        meaning = "probability"
        for train, test in splitter.split(X, labels, ids):
            weights = None if sample_weight is None else sample_weight[train]
            if np.ptp(targets[train]) == 0:
                raise PulensError(
                    f"cv={self.cv!r} trains on rows of one class alone: labelled rows must be in at least two folds."
                )
            model = clone(self.estimator)
            model.fit(_safe_indexing(X, train), targets[train], **_weighted(fit_params, weights))
            scores[test], meaning = _scores(model, _safe_indexing(X, test))
        if np.isnan(scores).any():
            raise PulensError(f"the splitter {self.cv!r} left {int(np.isnan(scores).sum())} rows in no test fold.")
        return scores, meaning

    def predict_proba(self, X: Any) -> Any:
        """Probability of being negative and of being positive."""
        check_is_fitted(self)
        positive = self.calibration_map_(_scores(self.estimator_, X)[0])
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any) -> Any:
        """1 where the probability of being positive is at least one half."""
        return (self.predict_proba(X)[:, 1] >= 0.5).astype(int)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def _check_rows(X: Any, many: int) -> None:
    try:
        rows = _num_samples(X)
    except TypeError as error:
        raise InputError(f"X must hold one row of features per label, got {shown(X)}.") from error
    if rows != many:
        raise InputError(f"X and y must have as many rows, got {rows:,} and {many:,}.")


def _check_labels(y: Any) -> Any:
    if y is None:
        raise InputError("requires y to be passed, but the target y is None: labels 1 (labelled positive), 0, -1.")
    plain = plain_array(y)
    try:
        labels = column_or_1d(plain, warn=True)
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from error
    if labels.dtype.kind == "b":
        labels = labels.astype(int)
    allowed = np.array([is_among(label, (LABELLED, UNLABELLED, NEGATIVE)) for label in labels.tolist()], bool)
    if not allowed.all():
        raise InputError(
            "Unknown label type: y must hold 1 (labelled positive), 0 (unlabelled) and perhaps -1 (known negative), "
            f"got {labels[~allowed][0]!r}."
        )
    if labels.size and not (labels == LABELLED).any():
        raise InputError("y holds no row of the labelled positive class: mark labelled positives 1.")
    LabelCoding().check_whole(
        labels,
        "Mark unlabelled rows 0. With every row's class known, scikit-learn's CalibratedClassifierCV is the tool.",
    )
    return labels.astype(int)


def _scores(model: Any, X: Any) -> tuple[Any, str]:
    """Scores of the positive class and what they are."""
    scores, method = positive_scores(model, X, LabelCoding())
    if method == PROBABILITIES:
        return np.clip(np.asarray(scores, float), 0.0, 1.0), "probability"
    return np.asarray(scores, float), "rank"


def _folds(labels: Any, scores: Any, sample_weight: Any) -> int:
    """Folds that each kind of row can be dealt to: weighted rows of one score stay together."""
    labelled, unlabelled, negative = (
        np.unique(scores[(labels == kind) & (sample_weight > 0)]).size for kind in (LABELLED, UNLABELLED, NEGATIVE)
    )
    return int(np.clip(min(labelled, max(unlabelled, negative)), 2, FOLDS))


def _weighted(fit_params: dict[str, Any], sample_weight: Any) -> dict[str, Any]:
    return fit_params if sample_weight is None else {**fit_params, "sample_weight": sample_weight}
