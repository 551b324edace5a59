"""Undiagnosed patients: one sample of people, few diagnosed, prevalence known from a survey.

A screening model was trained on diagnosed against undiagnosed patients. Judged the usual way it looks poor, because
the sick people it finds among the undiagnosed count as false alarms. The survey says how common the disease is; that is
all pulens needs. The data are scikit-learn's breast cancer table, with a third of the malignant cases "diagnosed".
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pulens

# %%
rng = np.random.default_rng(7)
features, benign = load_breast_cancer(return_X_y=True)
sick = benign == 0
diagnosed = (sick & (rng.random(sick.size) < 0.35)).astype(int)

model = make_pipeline(StandardScaler(), LogisticRegression(C=0.02))
scores = cross_val_predict(model, features, diagnosed, cv=5, method="predict_proba")[:, 1]

# %% [markdown]
# ## How good is the test?
# The diagnosed were picked out of the sample, and the survey's 95% interval for the prevalence is 33% to 41%.

# %%
evaluation = pulens.evaluate(
    diagnosed, scores, class_prior=(0.33, 0.41), scenario="single-set", threshold=0.15, labelling="random"
)
print(evaluation)

# %% [markdown]
# Grey is what a tool draws that takes every undiagnosed person for healthy.

# %%
evaluation.plot()

# %% [markdown]
# ## And if the obvious cases were diagnosed first?
# How much more often may they have been diagnosed before precision could fall below 0.7?

# %%
print(evaluation.robustness("precision > 0.7"))

# %% [markdown]
# ## The truth

# %%
precision = evaluation.estimates["precision"]
truth = (sick & (scores >= 0.15)).sum() / (scores >= 0.15).sum()
print(f"uncorrected {evaluation.uncorrected['precision'].value:.2f}, recovered {precision}, truth {truth:.2f}")
assert abs(precision.value - truth) < abs(evaluation.uncorrected["precision"].value - truth)
