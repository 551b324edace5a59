"""What learners around any scikit-learn classifier share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import logit
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from pulens.errors import AssumptionError, InputError, shown
from pulens.keywords import typed
from pulens.learning.learners.base.classifier import PUClassifier, flat, seed_of
from pulens.learning.learners.base.tables import NotNumbersError, numbers_only
from pulens.types import Booleans, Floats

# probabilities are kept off 0 and 1 so that their odds stay finite
SMALLEST = 1e-12


class Wrapper(PUClassifier):
    """Rows are handed to the wrapped classifier as they came: frames, sparse matrices, pictures.

    The default classifier takes pictures as rows of pixels.
    """

    estimator: Any

    def _rows(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, list | tuple):
            with numbers_only(type(self).__name__):
                X = np.asarray(X)
        if not hasattr(X, "shape") and not hasattr(X, "__array__"):  # a dictionary has a length and no rows
            raise NotNumbersError(f"X must be an array or a table of rows and columns, got {shown(X)}.")
        if issparse(X):
            X = X.tocsr()  # rows can be picked from it
        if self.estimator is None:
            X = flat(X)
        if getattr(X, "ndim", 2) == 1:
            raise InputError(
                f"Reshape your data: X must have rows and columns, got an array of shape {X.shape}. A single row is "
                "X.reshape(1, -1), a single column X.reshape(-1, 1)."
            )
        if not reset:
            check_is_fitted(self)
        with numbers_only(type(self).__name__):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if self.estimator is None:  # others may take missing values and words, the default does not
                check_array(X, accept_sparse=True, ensure_min_samples=0)
        return X

    def _fresh(self, X: Any, seed: int) -> Any:
        """An unfitted copy of the wrapped classifier, or a logistic regression on standardised columns."""
        if self.estimator is not None and not hasattr(self.estimator, "get_params"):
            raise InputError(f"estimator must be a classifier of scikit-learn's kind, got {shown(self.estimator)}.")
        model = default_model(X) if self.estimator is None else clone(self.estimator)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        return model

    @typed
    def save(self, path: str | Path) -> Path:
        """Write the fitted learner to a folder: models by skops, everything else as JSON, nothing pickled.

        ``load`` wants the version of scikit-learn that the models were fitted with, or one close to it.
        """
        from pulens.learning.learners.saving.models import save

        check_is_fitted(self)
        return save(self, Path(path))

    def _weights(self, sample_weight: Any, labelled: Booleans) -> Floats | None:
        """How many rows each row stands for; None where each is one."""
        if sample_weight is None:
            return None
        refuse_estimated_prior(getattr(self, "class_prior", None))
        return checked_weights(sample_weight, labelled)

    def _random(self) -> np.random.Generator:
        return np.random.default_rng(seed_of(self.random_state))


def refuse_estimated_prior(class_prior: Any) -> None:
    """A class prior cannot be estimated from rows with weights."""
    if isinstance(class_prior, str):
        raise AssumptionError(
            f"class_prior={class_prior!r} would be estimated from rows that count alike, and sample_weight says that "
            "they do not: give the class prior as a number."
        )


def checked_weights(sample_weight: Any, labelled: Booleans) -> Floats:
    """One weight per row, none negative, and rows of either kind left.

    >>> checked_weights([1, 2, 0], np.array([True, False, False]))
    array([1., 2., 0.])
    """
    weights = np.asarray(sample_weight, float)
    if weights.shape != labelled.shape or not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError(
            f"sample_weight must hold one finite number of at least 0 for each of {labelled.size:,} rows, got "
            f"{'shape ' + str(weights.shape) if weights.shape != labelled.shape else 'a negative or missing one'}."
        )
    if not weights.any():
        raise InputError("Sample weights must contain at least one non-zero number.")
    if not weights[labelled].any() or not weights[~labelled].any():
        raise InputError("sample_weight is 0 for every row of one kind: labels of one class only are left.")
    return weights


def fit_weighted(model: Any, X: Any, y: Any, weight: Floats | None) -> Any:
    """Fit with weights, if there are any, in a pipeline too: its last step gets them."""
    if weight is None:
        return model.fit(X, y)
    steps = getattr(model, "steps", None)
    name = "sample_weight" if steps is None else f"{steps[-1][0]}__sample_weight"
    try:
        return model.fit(X, y, **{name: weight})
    except TypeError as error:
        if "sample_weight" not in str(error):
            raise
        raise AssumptionError(
            f"{type(model).__name__} cannot be used here: its fit does not take sample_weight."
        ) from error


class ByEstimator(Wrapper):
    """Predictions of a classifier in ``estimator_`` that was fitted to positive against negative."""

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of being positive."""
        return log_odds_beyond(self._posterior(X), 0.5)

    def _posterior(self, X: Any) -> Floats:
        X = self._rows(X, reset=False)
        return positive_probability(self.estimator_, X)


def default_model(X: Any) -> Any:
    """A logistic regression on standardised columns: calibrated enough, and quick."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(with_mean=not issparse(X)), LogisticRegression(max_iter=1000))


def positive_probability(model: Any, X: Any) -> Floats:
    """P(labelled) or P(positive) by a fitted classifier of 0 and 1; a decision function is squashed."""
    with np.errstate(over="ignore", invalid="ignore"):  # beyond the largest number the chance itself tells
        if hasattr(model, "predict_proba"):
            chance = model.predict_proba(X)[:, 1]
        else:
            chance = 0.5 + 0.5 * np.tanh(0.5 * model.decision_function(X))
    result: Floats = np.clip(np.asarray(chance, float), SMALLEST, 1 - SMALLEST)
    return result


def odds(probability: Any) -> Any:
    return probability / (1 - probability)


def log_odds_beyond(probability: Floats, cut: float) -> Floats:
    """How far a probability lies above a cut, in log-odds: above 0 means predicted positive.

    >>> log_odds_beyond(np.array([0.2]), 0.2)
    array([0.])
    """
    result: Floats = logit(probability) - logit(np.clip(cut, SMALLEST, 1 - SMALLEST))
    return result


def posterior_from_odds(beyond: Floats) -> Floats:
    r"""The population's posterior when it is proportional to the odds of being labelled, one half at the cut.

    In case-control :math:`P(y=1 \mid x) = \pi (n_U / n_P)\, g / (1 - g)`; the cut is where this is one half.

    >>> posterior_from_odds(np.array([0.0, np.log(1.5), 9.0]))
    array([0.5 , 0.75, 1.  ])
    """
    return np.minimum(1.0, 0.5 * np.exp(np.minimum(beyond, 1.0)))


def pooled_frequency(labelled: float, unlabelled: float, class_prior: float) -> float:
    """Label frequency of labelled and unlabelled rows thrown together: c' = n_P / (n_P + prior n_U).

    >>> pooled_frequency(100, 1000, 0.4)
    0.2
    """
    return labelled / (labelled + class_prior * unlabelled)


def case_control_cut(frequency: float) -> float:
    """Where the population's posterior is one half: c' / (2 - c').

    >>> round(case_control_cut(0.2), 6)
    0.111111
    """
    return frequency / (2 - frequency)


def upper_quantile(scores: Floats, share: float, weights: Floats | None = None) -> float:
    """The cut above which a share of the scores lies; of their weight, where they have one.

    >>> upper_quantile(np.arange(10.0), 0.2)
    7.2
    >>> upper_quantile(np.arange(4.0), 0.4, np.array([1.0, 1.0, 1.0, 3.0]))
    3.0
    """
    if weights is None:
        return float(np.quantile(scores, 1 - share))
    return float(np.quantile(scores, 1 - share, weights=weights, method="inverted_cdf"))


def hold_out(labelled: Booleans, share: float, rng: np.random.Generator) -> Booleans:
    """A share of the labelled and of the unlabelled rows, at least one of each."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise AssumptionError(f"hold_out must lie strictly between 0 and 1, got {share!r}.")
    held = np.zeros(labelled.size, bool)
    for kind in (labelled, ~labelled):
        places = np.flatnonzero(kind)
        if places.size < 2:
            name = "labelled" if kind is labelled else "unlabelled"
            raise AssumptionError(
                f"there are too few {name} rows to hold some out: n_samples = {places.size}, at least 2 are needed."
            )
        kept_out = max(1, round(share * places.size))
        if kept_out == places.size:
            name = "labelled" if kind is labelled else "unlabelled"
            raise AssumptionError(
                f"hold_out={share!r} leaves none of the {places.size:,} {name} rows to train on: give a smaller share, "
                "such as 0.1."
            )
        held[rng.permutation(places)[:kept_out]] = True
    return held


def take(X: Any, which: NDArray[Any]) -> Any:
    """Rows of anything that scikit-learn can index."""
    return _safe_indexing(X, np.flatnonzero(which) if which.dtype == bool else which)


def count_rows(X: Any) -> int:
    with numbers_only("A learner"):
        return int(_num_samples(X))
