"""Undiagnosed high blood pressure: real labels, an audit of one hundred people, and the truth.

Every adult of a health survey was asked whether a doctor ever told them that their blood pressure is high, and had it
measured. The first is what a hospital knows: labels that somebody else gave, to people who see doctors often. The
second is the truth. A model is trained on the labels, evaluated, audited by checking one hundred people, and judged.
"""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GroupKFold, cross_val_predict

import pulens
from pulens.research.benchmark.wild_sources import fetch_wild

# %%
with tempfile.TemporaryDirectory() as folder, np.load(fetch_wild("nhanes_hypertension", folder)) as stored:
    cycle = next(one for one in json.loads(str(stored["worlds"])) if one["world"] == "hypertension-2015-2016")
    people, unit = stored[cycle["X"]], stored[cycle["group"]]
    told, high = stored[cycle["labelled"]].astype(int), stored[cycle["truth"]].astype(bool)
print(f"{told.size:,} adults, {told.sum():,} were told by a doctor, {int((high & (told == 0)).sum())} have it unknown")

# %% [markdown]
# ## Train
# On what a hospital knows: told against not told, each person scored by a model of other sampling units.

# %%
model = HistGradientBoostingClassifier(max_iter=100, random_state=0)
scores = cross_val_predict(model, people, told, groups=unit, cv=GroupKFold(5), method="predict_proba")[:, 1]
prevalence = float(high.mean())  # what the survey publishes
threshold = float(np.quantile(scores, 1 - prevalence))

# %% [markdown]
# ## Evaluate
# Labels favour the easy cases: old people with other diseases. The default allows for that.

# %%
evaluation = pulens.evaluate(told, scores, class_prior=round(prevalence, 2), threshold=threshold)
print(evaluation)

# %% [markdown]
# ## Measure one hundred people
# Which of those who were not told are to be measured, and what their answers prove, whatever doctors did.

# %%
with tempfile.TemporaryDirectory() as folder:
    queue = Path(folder) / "queue.csv"
    pulens.plan_audit(told, scores, threshold=threshold, budget=100, seed=1).write(queue)
    with queue.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with queue.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "answer": int(high[int(row["row"])])} for row in rows)
    audit = pulens.read_audit(queue)
print(audit)

# %% [markdown]
# ## The truth

# %%
flagged = scores >= threshold
hits = float((flagged & high).sum())
truth = {"precision": hits / flagged.sum(), "recall": hits / high.sum(), "f1": 2 * hits / (flagged.sum() + high.sum())}
for name, value in truth.items():
    told_by = evaluation[name], evaluation.if_random[name], audit.estimates[name]
    print(f"{name:<10} truth {value:.3f}; evaluated {told_by[0]}; if random {told_by[1]}; audited {told_by[2]}")
    assert value in evaluation[name].interval
    assert value in audit.estimates[name].interval
