"""What all learners share: PU labels in, scikit-learn's manners, scores that PU labels can give."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pulens.counts.sample import LABELLED
from pulens.errors import AssumptionError, InputError, shown
from pulens.keywords import check_flags, typed
from pulens.learning.learners.base.chance import state_number
from pulens.learning.learners.base.labels import label_codes
from pulens.learning.learners.base.prior import resolved_prior
from pulens.learning.learners.base.proxies import proxy_accuracy, proxy_auc
from pulens.scalars import is_among
from pulens.scenario import Scenario, check_scenario
from pulens.types import Booleans, Floats


class PUClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions from a decision function, and a score that PU labels can give.

    Labels are 1 for labelled positives and 0 (or null) for unlabelled rows; declare other codings with ``positive``.
    Predictions are 1 and 0.
    """

    def predict(self, X: Any) -> NDArray[np.int64]:
        """1 where the decision function is positive, else 0."""
        predicted: NDArray[np.int64] = (self.decision_function(X) > 0).astype(np.int64)
        return predicted

    def predict_proba(self, X: Any) -> Floats:
        """Columns for negative and positive; 0.5 is where :meth:`predict` changes its mind."""
        positive = self._posterior(X)
        return np.stack([1 - positive, positive], 1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        r"""Accuracy as PU labels can tell it, :math:`2\pi\,\mathrm{recall} + P(\text{predicted negative}) - \pi`.

        Without a class prior: the chance that a labelled row outscores an unlabelled one. Plain accuracy against PU
        labels would reward calling every unlabelled row negative.
        """
        if sample_weight is not None:
            raise InputError("score does not take sample_weight; use pulens.evaluate, which takes weights.")
        values = self.decision_function(X)
        labelled = self._labelled(y, len(values))
        prior = getattr(self, "class_prior_", None)
        if prior is None:
            return proxy_auc(values[labelled], values[~labelled])
        followed = values if getattr(self, "scenario", None) == Scenario.SINGLE_SET else values[~labelled]
        return float(proxy_accuracy((values[labelled] > 0).mean(), (followed <= 0).mean(), prior))

    def decision_function(self, X: Any) -> Floats:
        raise NotImplementedError

    def _posterior(self, X: Any) -> Floats:
        """The decision function taken for log-odds, unless a learner knows better."""
        squashed: Floats = expit(self.decision_function(X))
        return squashed

    def _labelled(self, y: Any, rows: int) -> Booleans:
        """Which rows are labelled, both kinds being there."""
        check_flags(self)
        labelled: Booleans = label_codes(y, rows, positive=self.positive, who=type(self).__name__) == LABELLED
        if not labelled.any() or labelled.all():
            missing = "labelled positive (1)" if not labelled.any() else "unlabelled (0)"
            raise InputError(
                f"there is no {missing} row among {rows:,}: labels of one class only. Both kinds are needed to learn."
            )
        self.classes_ = np.array([0, 1])
        return labelled

    def _resolved_prior(
        self, X: Any, labelled: Booleans, *, needed: bool, weights: Floats | None = None
    ) -> float | None:
        """The class prior of the population: given, estimated by name, or none where one can do without."""
        scenario = check_scenario(self.scenario)

        def estimate(method: str) -> float:
            from pulens.priors.from_features import estimate_prior_from_features

            seed = int(seed_of(self.random_state).generate_state(1)[0])
            result = estimate_prior_from_features(
                flat(X), labelled.astype(int), method=method, scenario=str(scenario), seed=seed
            )
            return float(np.clip(result.value, 1e-6, 1 - 1e-6))

        return resolved_prior(
            self.class_prior,
            scenario,
            float(np.average(labelled, weights=weights)),
            who=type(self).__name__,
            needed=needed,
            estimate=estimate,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # labels say who was labelled, not who is positive: agreement with them is no measure of quality
        tags.classifier_tags.poor_score = True
        tags.input_tags.sparse = True
        return tags

    positive: Any
    class_prior: Any
    random_state: Any
    scenario: str


class StoredAsArrays(PUClassifier):
    """A learner that says in ``_stored`` which facts and arrays make it up, and takes them back in ``_restore``."""

    @typed
    def save(self, path: str | Path) -> Path:
        """Write the learner to a folder, arrays and JSON, nothing pickled; :func:`pulens.learners.load` reads it."""
        from pulens.learning.learners.saving.arrays import save

        check_is_fitted(self)
        return save(self, Path(path))


def dealt_folds(labelled: Booleans, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A fold for every row, labelled and unlabelled rows shared out evenly.

    >>> dealt_folds(np.array([True, True, False, False]), 2, np.random.default_rng(0)).tolist()
    [0, 1, 0, 1]
    """
    fold = np.empty(labelled.size, np.int64)
    for kind in (labelled, ~labelled):
        fold[kind] = rng.permutation(int(kind.sum())) % folds
    return fold


def refuse_options(who: str, given: Mapping[str, Any]) -> None:
    """Refuse what ``fit`` does not take; for weights of rows, with the learners that take them.

    >>> refuse_options("PUET", {"sample_weight": [1, 2]})
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: PUET takes no sample_weight. BoostedPU, ElkanNoto, WeightedElkanNoto, PUBagging, NNPU...
    """
    if given.get("sample_weight") is not None:
        raise InputError(
            f"{who} takes no sample_weight. BoostedPU, ElkanNoto, WeightedElkanNoto, PUBagging, NNPU and UPU do; where "
            "weights are whole numbers, repeat the rows instead."
        )
    unknown = sorted(set(given) - {"sample_weight"})
    if unknown:
        raise TypeError(f"{who}.fit() got an unexpected keyword argument {unknown[0]!r}")


def check_word(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """One of the allowed words, or an error that lists them."""
    if not is_among(value, allowed):
        raise AssumptionError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {shown(value)}.")
    return str(value)


def check_count(name: str, value: Any) -> int:
    """A whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise AssumptionError(f"{name} must be a whole number of at least 1, got {shown(value)}.")
    return int(value)


def seed_of(random_state: Any) -> np.random.SeedSequence:
    """Chance from scikit-learn's ``random_state``: a number repeats itself, ``None`` is new every time."""
    return np.random.SeedSequence(state_number(random_state))


def flat(X: Any) -> Any:
    """Pictures as rows of pixels; tables as they are."""
    return np.asarray(X).reshape(len(X), -1) if getattr(X, "ndim", 2) > 2 else X
