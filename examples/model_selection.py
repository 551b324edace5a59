"""Model selection: the same grid searched by plain accuracy and by accuracy recovered from PU labels.

Handwritten digits, 5 to 9 are positive, a quarter of them confirmed. The grid decides how much a confirmed row weighs.
Plain accuracy, scikit-learn's default, counts every hidden positive that is found as a mistake, so it prefers models
that find nothing; the PU scorer sees through that, and chooses as one would with all labels.
"""

from __future__ import annotations

import numpy as np
from pulens.benchmark import datasets
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import pulens

digits = datasets.load("digits")
made = pulens.synthesise(digits.X, digits.y, label_frequency=0.25, scenario="single-set", test_share=0.4, seed=0)
rows, labels = made.train.X, made.train.labels

model = make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=200))
grid = {
    "logisticregression__class_weight": [{1: weight} for weight in (1, 2, 4, 8, 16)],
    "logisticregression__C": [0.1, 1.0],
}
scorings = {
    "plain accuracy": "accuracy",
    "recovered accuracy": pulens.sklearn.scorer(
        "accuracy", threshold=0.5, class_prior=made.train.class_prior, scenario="single-set"
    ),
}


def true_accuracy(fitted):
    """What only a study can know: accuracy on other rows, with their true classes."""
    return np.mean(fitted.predict(made.test.X) == made.truth.test)


folds = StratifiedKFold(5, shuffle=True, random_state=0)
chosen = {}
for name, scoring in scorings.items():
    search = GridSearchCV(model, grid, scoring=scoring, cv=StratifiedKFold(5, shuffle=True, random_state=0)).fit(
        rows, labels
    )
    chosen[name] = true_accuracy(search.best_estimator_)
    setting = search.best_params_
    weight, strength = setting["logisticregression__class_weight"][1], setting["logisticregression__C"]
    print(
        f"{name:18} chooses weight {weight:2}, C {strength}: it says {search.best_score_:.3f}, truth {chosen[name]:.3f}"
    )

each = [
    true_accuracy(
        clone(model).set_params(logisticregression__class_weight=w, logisticregression__C=c).fit(rows, labels)
    )
    for w in grid["logisticregression__class_weight"]
    for c in grid["logisticregression__C"]
]
print(f"true accuracy of the ten models: best {max(each):.3f}, worst {min(each):.3f}, mean {np.mean(each):.3f}")
assert chosen["recovered accuracy"] > chosen["plain accuracy"]
