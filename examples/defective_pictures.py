"""Defects in pictures, labelled with a bias: the obvious scratches were found first.

Patches of two photographs that come with scikit-learn; a fifth of them gets a scratch, faint or strong. An inspector
found scratches, the stronger the more surely. Judged by such labels a detector looks better than it is. How far could
that go, and what do forty scratches found by a random inspection change?
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_sample_images
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import cross_val_predict

import pulens

# %%
SIDE = 16
rng = np.random.default_rng(0)
patches = np.concatenate(
    [
        photo[: photo.shape[0] // SIDE * SIDE, : photo.shape[1] // SIDE * SIDE]
        .mean(2)
        .reshape(photo.shape[0] // SIDE, SIDE, -1, SIDE)
        .swapaxes(1, 2)
        .reshape(-1, SIDE, SIDE)
        for photo in load_sample_images().images
    ]
)
scratched = rng.random(len(patches)) < 0.2
contrast = rng.uniform(15, 90, len(patches))
for patch in np.flatnonzero(scratched):
    row, slope = rng.integers(3, SIDE - 3), rng.uniform(-0.4, 0.4)
    line = np.clip(row + slope * np.arange(SIDE), 0, SIDE - 1).astype(int)
    patches[patch, line, np.arange(SIDE)] += contrast[patch] * rng.choice([-1, 1])

# %% [markdown]
# ## What the inspector saw

# %%
by_inspector = scratched & (rng.random(len(patches)) < np.where(contrast > 50, 0.75, 0.15))  # five times as often
strength = np.argsort(contrast)
found, missed = by_inspector[strength], (scratched & ~by_inspector)[strength]
pulens.plots.draw_pictures({"found": patches[strength][found][-10:], "missed": patches[strength][missed][:10]})

# %% [markdown]
# ## A detector, and what the inspector's labels say of it

# %%
steps = np.abs(np.diff(patches, axis=1))
features = np.column_stack(
    [steps.max((1, 2)), steps.mean((1, 2)), np.sort(steps.max(2), axis=1)[:, -4:], patches.std((1, 2))]
)
forest = ExtraTreesClassifier(100, min_samples_leaf=3, class_weight="balanced", random_state=0)
scores = cross_val_predict(forest, features, by_inspector, cv=5, method="predict_proba")[:, 1]

setting = {"class_prior": scratched.mean(), "scenario": "single-set", "threshold": 0.4}
evaluation = pulens.evaluate(by_inspector.astype(int), scores, **setting, labelling="random")
true_recall = (scores[scratched] >= 0.4).mean()
recall = evaluation.estimates["recall"]
labelled_rate = (scores[by_inspector] >= 0.4).mean()
print(f"found are {labelled_rate:.3f} of the inspector's {by_inspector.sum()} scratches, {true_recall:.3f} of all")
print(evaluation.to_dict()["verdict"][0])  # labels so far from random contradict the share of scratches
print(f"what is possible: {recall}")

# %% [markdown]
# ## What if strong scratches were found more often?

# %%
for factor in (2, 5):
    print(evaluation.sensitivity("recall", factor=factor))
print(evaluation.robustness("recall > 0.5"))
evaluation.plot()

# %% [markdown]
# ## Forty scratches of a random inspection

# %%
inspected = rng.random(len(patches)) < 40 / scratched.sum()  # a random inspection, whatever the scratch
at_random = (scratched & inspected).astype(int)
again = pulens.evaluate(at_random, scores, **setting, labelling="random").estimates["recall"]
print(f"{at_random.sum()} scratches of a random inspection say: {again}")
wide = evaluation.sensitivity("recall", factor=5)

# %%
assert evaluation.labelling is not None
assert true_recall in recall.interval
assert wide.interval.low <= true_recall
assert true_recall in again.interval
