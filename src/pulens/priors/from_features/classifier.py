"""The usual road for a person with features: train labelled against unlabelled, estimate from out-of-fold scores.

A classifier of labelled against unlabelled rows is the best one-dimensional summary there is: it keeps whatever
region is free of negatives. Scores must be out of fold, or labelled rows score too high and the estimate is too low.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.tally import Tally
from pulens.errors import AssumptionError, InputError
from pulens.inputs.clusters import cluster_codes
from pulens.inputs.dense import dense
from pulens.keywords import check_keywords, keywords_of
from pulens.priors.class_prior import ClassPrior
from pulens.priors.estimate import estimate_from_tally
from pulens.priors.from_features._rows import check_kinds
from pulens.priors.from_scores import find

FOLDS = 5


def estimate_prior_from_features(
    features: Any,
    labels: Any,
    *,
    model: Any = None,
    method: str = "auto",
    seed: int = 0,
    groups: Any = None,
    **options: Any,
) -> ClassPrior:
    """Estimate the class prior from features through a classifier of labelled against unlabelled rows.

    ``model`` is any scikit-learn classifier. By default logistic regression and gradient boosting compete, and the
    one that separates labelled from unlabelled rows better out of fold is used. ``groups`` says which rows belong
    together, such as those of a patient: they are never split between a model and the rows it scores. Other options as
    for :func:`pulens.estimate_prior`.

    >>> rng = np.random.default_rng(0)
    >>> positive = rng.normal(1, 1, (700, 4)); negative = rng.normal(-1, 1, (800, 4))
    >>> features, labels = np.concatenate([positive, negative]), np.repeat([1, 0], [300, 1200])  # 400 of 1200
    >>> from sklearn.linear_model import LogisticRegression
    >>> abs(estimate_prior_from_features(features, labels, model=LogisticRegression()).unlabelled - 1 / 3) < 0.05
    True
    """
    known = keywords_of(estimate_prior_from_features) | keywords_of(estimate_from_tally) | set(find(method).parameters)
    check_keywords("estimate_prior_from_features", options, known)
    table, kinds = np.asarray(dense(features, bytes_each=8)), check_kinds(labels)
    models = default_models(seed) if model is None else [model]
    told: Any = {"seed": seed, "groups": groups}
    tallies = [Tally.from_arrays(kinds, out_of_fold_scores(one, table, kinds, **told)) for one in models]
    best = max(tallies, key=_separation)
    return estimate_from_tally(best, method, **options)


def out_of_fold_scores(
    model: Any, features: Any, labels: Any, *, folds: int = FOLDS, seed: int = 0, groups: Any = None
) -> NDArray[Any]:
    """Scores of each row from a model that never saw it; log odds where the model gives probabilities.

    With ``groups``, one id per row, it never saw any row of the same group either: a model that knows a patient's other
    visits scores this one too well.
    """
    from sklearn.model_selection import cross_val_predict

    from pulens.special import logit

    fewest = int(np.unique(labels, return_counts=True)[1].min())
    if fewest < 2:
        raise AssumptionError(
            "scores out of fold, from which the class prior is estimated, need at least 2 labelled and 2 unlabelled "
            "rows, got 1 of a kind. Give the class prior as a number such as 0.2."
        )
    ids = None if groups is None else cluster_codes(groups, "groups")[1]
    split = folds_for(labels, ids, folds=min(folds, fewest), seed=seed)
    if hasattr(model, "decision_function"):
        return np.asarray(
            cross_val_predict(model, features, labels, cv=split, method="decision_function", groups=ids), float
        )
    chance = cross_val_predict(model, features, labels, cv=split, method="predict_proba", groups=ids)[:, 1]
    return np.asarray(logit(np.clip(chance, 1e-9, 1 - 1e-9)), float)


def folds_for(labels: Any, groups: Any, *, folds: int, seed: int | None) -> Any:
    """A splitter that deals each kind of row evenly, and keeps the rows of a group together where groups are given."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    if groups is None:
        return StratifiedKFold(folds, shuffle=True, random_state=seed)
    if len(groups) != len(labels):
        raise InputError(f"groups must hold one id per row, got {len(groups):,} ids for {len(labels):,} rows.")
    held = min(np.unique(np.asarray(groups)[labels == kind]).size for kind in np.unique(labels))
    if held < 2:
        raise AssumptionError(
            "scores out of fold need labelled and unlabelled rows in at least 2 groups each, got a kind of row in one "
            "group only: left out, nothing of that kind would be there to learn from."
        )
    return StratifiedGroupKFold(min(folds, held), shuffle=True, random_state=seed)


def default_models(seed: int = 0) -> list[Any]:
    """A linear and a tree model, both quick."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return [
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        HistGradientBoostingClassifier(max_iter=100, random_state=seed),
    ]


def _separation(tally: Tally) -> float:
    labelled = np.diff(tally.labelled, prepend=0) / tally.totals.labelled
    above = (tally.unlabelled - np.diff(tally.unlabelled, prepend=0) / 2) / tally.totals.unlabelled
    return float(labelled @ (1 - above))
