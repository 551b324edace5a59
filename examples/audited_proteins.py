"""An afternoon of checking rows against labels that are not random.

A collection of proteins of one function, grown over years: the well-known ones, which a classifier scores high, were
entered first. 2,453 are in the collection; among 4,906 other proteins 348 have the function and nobody wrote it down.
The table is simulated to look like that, so the truth is known. What the labels tell is wrong, and no class prior
repairs it; 200 rows that a person checks do, and show that the labels are to blame.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import pulens

rng = np.random.default_rng(4)
known, hidden, others = 2453, 348, 4558
scores = np.r_[rng.normal(2.4, 0.8, known), rng.normal(1.3, 1.1, hidden), rng.normal(-0.2, 0.8, others)]
labels = np.repeat([1, 0], [known, hidden + others])
has_function = np.repeat([True, False], [known + hidden, others])
order = rng.permutation(scores.size)
scores, labels, has_function = scores[order], labels[order], has_function[order]
threshold = float(np.quantile(scores[labels == 0], 0.95))

unlabelled = labels == 0
flagged = scores >= threshold
truth = {
    "precision": has_function[flagged & unlabelled].mean(),
    "recall": flagged[has_function & unlabelled].mean(),
}

# what the labels tell, even with the true class prior
given = {"class_prior": hidden / (hidden + others), "scenario": "case-control", "threshold": threshold}
told = pulens.evaluate(labels, scores, **given, redraws=200, labelling="random")
print(f"labels alone: {told.estimates['recall']}; the truth is {truth['recall']:.3f}")

# an afternoon: 200 rows, drawn where answers matter, and a person who looks at each
plan = pulens.plan_audit(labels, scores, threshold=threshold, budget=200, goal="f1", scenario="case-control", seed=7)
plan.write("queue.csv")
with Path("queue.csv").open(newline="") as file:
    rows = list(csv.DictReader(file))
with Path("queue.csv").open("w", newline="") as file:
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    writer.writerows({**row, "answer": "yes" if has_function[int(row["row"])] else "no"} for row in rows)

evaluation = pulens.evaluate(
    labels, scores, reviews="queue.csv", scenario="case-control", redraws=200, labelling="random"
)
audit = evaluation.audit
print(f"\n{audit.labelling.verdict}\n")
for name, value in truth.items():
    print(f"checked rows: {audit.estimates[name]}; the truth is {value:.3f}")
print(f"\nfirst notice: {evaluation.notices[0]}")
evaluation.to_html("report.html")
audit.to_html("audit.html")

errors = [abs(found.estimates["recall"].value - truth["recall"]) for found in (told, audit)]
assert errors[0] > 2 * errors[1]
assert all(value in audit.estimates[name].interval for name, value in truth.items())
assert audit.labelling.contradicted
