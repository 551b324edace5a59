"""What mechanisms look at: the log-odds of an auxiliary classifier, or how typical a positive is."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.types import Floats


def auxiliary_log_odds(X: Any, is_positive: NDArray[np.bool_], scored: Any = None) -> Floats:
    """Log-odds of a logistic regression fitted on the true classes of ``X``, for the rows of ``scored``.

    The auxiliary posterior of PU-Bench, appendix C.3: lbfgs, at most 100 iterations, L2 with C = 1, pictures
    flattened. Log-odds instead of probabilities, because many probabilities round to 1.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    X = flat(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 100 iterations are the published rule, met or not
        model = LogisticRegression(max_iter=100).fit(X, is_positive)
    odds: Floats = model.decision_function(X if scored is None else flat(scored))
    return odds


def mixture_log_density(
    X: Any, scored: Any = None, *, components: int = 3, covariance: str = "diag", seed: int = 0
) -> Floats:
    """Log-density under a Gaussian mixture fitted on all positives ``X``: the PULP paper, section 3.

    The paper states neither the number of components nor the shape of the covariance. A single positive is a mixture of
    one component around it.
    """
    from sklearn.mixture import GaussianMixture

    rows = _dense(X)
    fitted = np.repeat(rows, 2, axis=0) if len(rows) == 1 else rows  # the fit asks for two rows
    mixture = GaussianMixture(min(components, len(rows)), covariance_type=covariance, random_state=seed, reg_covar=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few distinct rows, or not converged: still a density
        density: Floats = mixture.fit(fitted).score_samples(rows if scored is None else _dense(scored))
    return density


def _dense(X: Any) -> Floats:
    from scipy.sparse import issparse

    return np.asarray(X.toarray() if issparse(X) else flat(X), dtype=np.float64)


def flat(X: Any) -> Any:
    """Pictures as rows of pixels; tables and sparse matrices as they are."""
    return X.reshape(len(X), -1) if getattr(X, "ndim", 2) > 2 else X
