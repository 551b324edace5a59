"""Screening: recall of at least .8 was promised, and few of the ill are diagnosed.

The table is the breast cancer one of scikit-learn (569 women), read with three of its measurements so that the test is
not too good. Half of the ill are diagnosed. Which score keeps the promise, and how many women are called back for it?
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pulens

table = load_breast_cancer()
ill = table.target == 0
measured = table.data[:, [1, 8, 4]]  # mean texture, symmetry, smoothness
rng = np.random.default_rng(2)
diagnosed = (ill & (rng.random(ill.size) < 0.5)).astype(int)
model = make_pipeline(StandardScaler(), LogisticRegression())
scores = cross_val_predict(model, measured, diagnosed, cv=5, method="decision_function")

evaluation = pulens.evaluate(diagnosed, scores, class_prior=(0.3, 0.45), redraws=400, labelling="random")
promise = evaluation.decide(recall_at_least=0.8)
print(promise)

called_back = scores >= promise.threshold
print(f"\ntrue recall {called_back[ill].mean():.3f}; {called_back.mean():.0%} of the women are called back")

# the same threshold as an operating point, with every other number there
print(evaluation.at(recall_at_least=0.8)["specificity"])
for floor in (0.7, 0.9):
    other = evaluation.decide(recall_at_least=floor)
    print(f"recall of at least {floor}: {other.flagged.value:.0%} called back")
assert called_back[ill].mean() >= 0.8
