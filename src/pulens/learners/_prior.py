"""``class_prior="auto"``: out-of-fold scores of a quick classifier, handed to the class-prior estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import AssumptionError

FOLDS, MOST_FEATURES = 5, 2000


def estimated_class_prior(X: NDArray[Any], labels: NDArray[Any], scenario: str, seed: int) -> float:
    """Share of positives in the population; scores are out of fold, since in-sample ones make it too low."""
    from pulens.priors import estimate_prior

    return float(estimate_prior(labels, out_of_fold_scores(X, labels, seed), scenario=scenario).value)


def out_of_fold_scores(X: NDArray[Any], labels: NDArray[Any], seed: int) -> NDArray[np.float64]:
    """Log odds of being labelled, by a logistic regression that never saw the row."""
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    flat = np.asarray(X, np.float64).reshape(len(X), -1)
    steps: list[Any] = [StandardScaler()]
    if flat.shape[1] > MOST_FEATURES:
        steps.append(PCA(100, random_state=seed % (1 << 32)))
    model = make_pipeline(*steps, LogisticRegression(C=0.1, max_iter=200))
    fewest = min(int((labels == 1).sum()), int((labels != 1).sum()))
    if fewest < 2:
        raise AssumptionError(
            f"the class prior cannot be estimated from {fewest} row{'s' if fewest > 1 else ''} of a kind. Give it as a "
            "number: class_prior=0.2."
        )
    folds = StratifiedKFold(min(FOLDS, fewest), shuffle=True, random_state=seed % (1 << 32))
    found: NDArray[np.float64] = cross_val_predict(model, flat, labels == 1, cv=folds, method="decision_function")
    return found
