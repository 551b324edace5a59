"""Moderation: two filters, one strict and one loose. Which is worth more depends on what a wrong removal costs.

The posts are the handwritten digits of scikit-learn: eights are to be taken down, and four in ten of them were
reported. The strict filter sees every pixel and removes few posts, the loose one sees half of the picture and removes
many. At which cost ratio, and at which share of bad posts, are they worth the same?
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pulens

# %%
digits = load_digits()
bad = digits.target == 8
rng = np.random.default_rng(0)
reported = (bad & (rng.random(bad.size) < 0.4)).astype(int)
filters = {"strict": digits.data, "loose": digits.data[:, 32:]}
scores = {
    name: cross_val_predict(
        make_pipeline(StandardScaler(), LogisticRegression(C=0.01)), pixels, reported, cv=5, method="decision_function"
    )
    for name, pixels in filters.items()
}
thresholds = {"strict": float(np.quantile(scores["strict"], 0.93)), "loose": float(np.quantile(scores["loose"], 0.8))}

# %% [markdown]
# ## Which filter?
# A wrong removal costs a fifth of a bad post that stays.

# %%
comparison = pulens.compare(
    reported, scores, class_prior=0.1, threshold=thresholds, cost_ratio=0.2, metrics=["net_benefit"], redraws=400
)
print(comparison.verdict)
for sentence in comparison.worth.sentences:
    print(sentence)

# %% [markdown]
# ## The truth

# %%
flags = {name: scores[name] >= thresholds[name] for name in filters}
found = {name: float(each[bad].mean()) for name, each in flags.items()}
more = flags["loose"].mean() - flags["strict"].mean()
truth = bad.mean() * (found["loose"] - found["strict"]) / more
(pair,) = comparison.worth.pairs
print(f"with every post's class known they are worth the same at a cost ratio of {truth:.3f}")
assert pair.ratio_interval.low <= truth <= pair.ratio_interval.high

# %% [markdown]
# ## The same question for one filter
# Where is it better than removing nothing, or everything?

# %%
curve = pulens.evaluate(
    reported, scores["strict"], class_prior=0.1, threshold=thresholds["strict"], labelling="random"
).decision_curve()
useful = curve.ratios[(curve.low > 0) & (curve.low > curve.flag_all)]
print(f"the strict filter is surely worth having for cost ratios from {useful[0]:.3f} to {useful[-1]:.3f}")
curve.plot()
