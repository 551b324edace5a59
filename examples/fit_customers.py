"""Customers who will leave: from a table as it comes to a judged model, in one call.

Some customers were confirmed as leaving; of the others nobody knows. The table is simulated, so the truth is known: it
has an id, numbers with gaps, words, dates, truth values, and a column that was filled in only once somebody was
confirmed. That one gives the labels away, which is noticed; left out, the recovered numbers stand beside the truth.
"""

from __future__ import annotations

import numpy as np
from pulens.learners import BoostedPU, load

import pulens

rng = np.random.default_rng(3)
count = 1000
leaving = rng.random(count) < 0.25
confirmed = leaving & (rng.random(count) < 0.4)
table = {
    "customer_id": [f"C{number:05d}" for number in range(count)],
    "age": np.where(rng.random(count) < 0.05, np.nan, rng.normal(45 - 6 * leaving, 10)),
    "plan": np.where(leaving & (rng.random(count) < 0.6), "monthly", rng.choice(["monthly", "yearly", "free"], count)),
    "since": (np.datetime64("2024-06-01") - rng.integers(0, 900, count) * (2 - leaving)).astype(str),
    "paperless": rng.random(count) < 0.4 + 0.3 * leaving,
    "complaints": rng.poisson(0.4 + 1.4 * leaving),
    "closing_fee": np.where(confirmed, 19.0, np.nan),  # filled in once the contract was closed
    "status": np.where(confirmed, "confirmed", ""),
}
known = {"label": "status", "positive": "confirmed", "id": "customer_id", "class_prior": (0.2, 0.3), "folds": 2}

leaky = pulens.fit(table, method=BoostedPU(n_estimators=4, iterations=20), **known)
print(leaky.notices[0])
assert leaky.notices[0].code == "leaking-column"

found = pulens.fit(table, drop=["closing_fee"], **known)
print(f"\n{found}")

found.save("model")
again = load("model").predict_proba(table)[:, 1]
assert (again == found.model.predict_proba(table)[:, 1]).all()

flagged = found.scores >= found.evaluation.threshold
truth = {"precision": leaving[flagged].mean(), "recall": flagged[leaving].mean()}
for name, true in truth.items():
    recovered, plain = found.evaluation.estimates[name], found.evaluation.uncorrected[name]
    print(f"{name}: uncorrected {plain.value:.2f}, recovered {recovered}, truth {true:.2f}")
    assert recovered.interval.low <= true <= recovered.interval.high
