"""Virtual screening: 120 known actives, a library of 20,000 compounds, money for 200 assays.

The library is drawn: one compound in a hundred is active, and a docking score that separates them poorly. Known actives
lie apart from the library, so this is case-control. How many of the first 200 will be active, and how early does the
score find them? Enrichment needs no class prior at all.
"""

from __future__ import annotations

import numpy as np

import pulens

rng = np.random.default_rng(3)
active = rng.random(20_000) < 0.01
library = rng.normal(1.8 * active)
known = rng.normal(1.8, 1.0, 120)
labels = np.repeat([1, 0], [known.size, library.size])
scores = np.concatenate([known, library])

evaluation = pulens.evaluate(labels, scores, class_prior=(0.005, 0.02), scenario="case-control", redraws=400)
first = evaluation.top(200)
print(first)
given = {"class_prior": 0.01, "scenario": "case-control", "confidence": 0.95}
print(pulens.metrics.rie(labels, scores, **given, decay=20))
print(pulens.metrics.bedroc(labels, scores, **given, decay=20))

tested = np.argsort(-library)[:200]
hits = int(active[tested].sum())
enrichment = hits / 200 / active.mean()
print(f"\nassayed: {hits} of 200 are active, an enrichment of {enrichment:.1f}")
naive = pulens.metrics.bedroc(np.where(labels == 1, 1, -1), scores, negative=-1, decay=20)
print(f"BEDROC with the library counted as inactive and the known actives in it: {naive.value:.3f}")
assert first.hits.low <= hits <= first.hits.high
assert first["enrichment_factor"].interval.low <= enrichment <= first["enrichment_factor"].interval.high
