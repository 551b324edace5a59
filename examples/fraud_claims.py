"""Fraud-like tables: a few confirmed cases, a budget of checks, and a class prior that nobody knows.

The table is Spambase (4,601 mails), thinned until one row in ten is "fraud"; a third of the fraud is confirmed. Nobody
knows how common fraud is, so 150 of the other rows are drawn at random and looked at: the audit. The department can
check 200 rows. How many of those will be fraud, and which of two models should rank them?
"""

from __future__ import annotations

import numpy as np
from pulens.benchmark import datasets
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pulens
from pulens.priors import prior_from_audit

table = datasets.load("spambase")
made = pulens.synthesise(
    table.X, table.y, class_prior=0.1, label_frequency=0.35, scenario="single-set", test_share=0, seed=3
)
rows, confirmed, fraud = made.train.X, made.train.labels, made.truth.train

models = {
    "boosting": HistGradientBoostingClassifier(max_iter=60, random_state=0),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500)),
}
# shuffled: this table is sorted by class, and folds of neighbours would train on the fraud of some rows only
folds = StratifiedKFold(5, shuffle=True, random_state=0)
scores = {
    name: cross_val_predict(model, rows, confirmed, cv=folds, method="predict_proba")[:, 1]
    for name, model in models.items()
}

# the audit is the one moment at which somebody looks at rows
drawn = np.random.default_rng(0).choice(np.flatnonzero(confirmed == 0), 150, replace=False)
audit = (int(fraud[drawn].sum()), drawn.size)
print(f"audit: {audit[0]} of {audit[1]} randomly chosen rows are fraud")

totals = pulens.Tally.from_arrays(confirmed, scores["logistic"]).totals
prior = prior_from_audit(audit, totals, scenario="single-set")
print(f"{prior}; the truth is {fraud.mean():.3f}")

comparison = pulens.compare(
    confirmed, scores, class_prior=prior, scenario="single-set", redraws=300, labelling="random"
)
print(f"\n{comparison.verdict}")

best = scores[comparison.winner or "logistic"]
threshold = float(np.sort(best)[-200])  # the 200 highest scores are what the department can check
evaluation = pulens.evaluate(
    confirmed, best, class_prior=prior, scenario="single-set", threshold=threshold, labelling="random"
)
print("\nof the 200 rows with the highest scores:")
flagged = best >= threshold
for name, truth in (("precision", fraud[flagged].mean()), ("recall", flagged[fraud].mean())):
    found, plain = evaluation.estimates[name], evaluation.uncorrected[name]
    print(f"{found}   uncorrected {plain.value:.3f}, truth {truth:.3f}")

precision = evaluation.estimates["precision"]
assert abs(precision.value - fraud[flagged].mean()) < abs(
    evaluation.uncorrected["precision"].value - fraud[flagged].mean()
)
