"""Virtual screening: 120 known actives, a library of 20,000 compounds, money for 200 assays.

The library is drawn: one compound in a hundred is active, and a docking score that separates them poorly. Known actives
lie apart from the library, so this is case-control. How many of the first 200 will be active, and how early does the
score find them? Enrichment needs no class prior at all.
"""

from __future__ import annotations

import numpy as np

import pulens

# %%
rng = np.random.default_rng(3)
active = rng.random(20_000) < 0.01
library = rng.normal(1.8 * active)
known = rng.normal(1.8, 1.0, 120)
labels = np.repeat([1, 0], [known.size, library.size])
scores = np.concatenate([known, library])

# %% [markdown]
# ## How many of the first 200 will be active?
# Between one compound in two hundred and one in fifty is active, says experience with such targets.

# %%
evaluation = pulens.evaluate(
    labels, scores, class_prior=(0.005, 0.02), scenario="case-control", redraws=400, labelling="random"
)
first = evaluation.top(200)
print(first)

# %% [markdown]
# Measures of early recognition, which docking people know:

# %%
given = {"class_prior": 0.01, "scenario": "case-control", "confidence": 0.95}
print(pulens.metrics.rie(labels, scores, **given, decay=20))
print(pulens.metrics.bedroc(labels, scores, **given, decay=20))

# %% [markdown]
# ## The truth, after 200 assays

# %%
tested = np.argsort(-library)[:200]
hits = int(active[tested].sum())
enrichment = hits / 200 / active.mean()
print(f"assayed: {hits} of 200 are active, an enrichment of {enrichment:.1f}")
naive = pulens.metrics.bedroc(np.where(labels == 1, 1, -1), scores, negative=-1, decay=20)
print(f"BEDROC with the library counted as inactive and the known actives in it: {naive.value:.3f}")

# %% [markdown]
# ## How far down the list is it worth going?
# Lines are 95% intervals of the number of actives among the first compounds, dots what assays would find.

# %%
import matplotlib.pyplot as plt  # noqa: E402

depths = [50, 100, 200, 400, 800]
expected = [evaluation.top(k).hits for k in depths]
ordered = active[np.argsort(-library)]
axes = plt.subplots(figsize=(6, 4))[1]
axes.vlines(depths, [each.low for each in expected], [each.high for each in expected], linewidth=5, alpha=0.5)
axes.plot(depths, [ordered[:k].sum() for k in depths], "o", color="#b8431f", label="active among the first")
axes.plot(depths, [k * active.mean() for k in depths], "--", color="#8a8a8a", label="drawn by lot")
axes.set(xscale="log", xlabel="compounds assayed, best first", ylabel="active", xticks=depths, xticklabels=depths)
axes.minorticks_off()
axes.legend(loc="upper left")

# %%
assert first.hits.low <= hits <= first.hits.high
assert first["enrichment_factor"].interval.low <= enrichment <= first["enrichment_factor"].interval.high
