"""Bank marketing: customers who would subscribe are found by calling, and some jobs are called more than others.

45,211 customers were offered a deposit; 5,289 took it. Take the ones that answered under a campaign which preferred
students and retired people for the confirmed subscribers, and forget the other answers. A score trained on what is left
looks better among the confirmed than it is. An audit of 300 rows says how good it is, and a log of calls "all above a
score, and one in fifty below" says the same without any plan.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from pulens.benchmark import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pulens

table = datasets.load("bank_marketing")
rng = np.random.default_rng(1)
sample = rng.permutation(len(table.y))[:12_000]
features, subscribes = np.asarray(table.X, float)[sample], np.asarray(table.y)[sample] == 1
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
oracle = cross_val_predict(model, features, subscribes, cv=3, method="predict_proba")[:, 1]
chance = np.where(oracle > np.quantile(oracle[subscribes], 0.5), 0.45, 0.1)  # easy customers were called more often
labels = (subscribes & (rng.random(sample.size) < chance)).astype(int)
scores = cross_val_predict(model, features, labels, cv=3, method="predict_proba")[:, 1]
threshold = float(np.quantile(scores, 0.9))
flagged = scores >= threshold
truth = {"precision": subscribes[flagged].mean(), "recall": flagged[subscribes].mean()}

plan = pulens.plan_audit(labels, scores, threshold=threshold, budget=300, seed=2)
plan.write("queue.csv")
with Path("queue.csv").open(newline="") as file:
    rows = list(csv.DictReader(file))
with Path("queue.csv").open("w", newline="") as file:
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    writer.writerows({**row, "answer": int(subscribes[int(row["row"])])} for row in rows)

evaluation = pulens.evaluate(labels, scores, reviews="queue.csv", redraws=200, labelling="random")
for name, value in truth.items():
    recovered = evaluation.estimates[name].value
    print(f"checked rows: {evaluation.audit.estimates[name]}; recovered {recovered:.3f}, truth {value:.3f}")
print(evaluation.audit.labelling.verdict)

# the same from a log of calls: everybody above the threshold, one in fifty below
called = (labels == 0) & (flagged | (rng.random(sample.size) < 0.02))
log = {"answer": [int(one) if was else "" for one, was in zip(subscribes, called, strict=True)]}
logged = pulens.read_reviews(labels, scores, reviews=log, reviewed_above=threshold, reviewed_below_share=0.02)
print(f"log of {int(called.sum()):,} calls: {logged.estimates['precision']}, {logged.estimates['recall']}")

assert truth["precision"] in evaluation.audit.estimates["precision"].interval
assert truth["recall"] in evaluation.audit.estimates["recall"].interval
assert abs(logged.estimates["precision"].value - truth["precision"]) < 1e-9
