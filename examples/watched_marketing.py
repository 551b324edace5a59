"""Bank marketing over time: the model was made in the summer of 2008, and from the autumn on other people are called.

45,211 calls in the order in which they were made, from May 2008 to November 2010. A model is trained on half of the
calls of the first four months; the other half is the reference, week by week. Half of the customers who took the
deposit are "confirmed", all other answers are forgotten. Then the model is watched: nobody says who did not take it.

This is a hard case, and the watch says so instead of giving numbers. The score is weak and cannot tell more positives
from other people; weeks of the summer differ among themselves far more than their rows explain, so that the promise
on false alarms is not guaranteed. Still all three lines say that something happened: the scores moved, the confirmed
positives look different, and what looks like more positives is more than there are rows. Shares and F1 are withheld
with their reason, never a confident wrong number. The truth, which only this script knows, is printed beside.
"""

from __future__ import annotations

import datetime

import numpy as np
from pulens.benchmark import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pulens

table = datasets.load("bank_marketing")
features, names = np.asarray(table.X, float), list(table.feature_names)
subscribes = np.asarray(table.y) == 1

# days of calls: the table is in order of time, so a month that comes before the last one begins a year
calendar = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
month = np.zeros(len(features), int)
for number, name in enumerate(calendar, start=1):
    month[features[:, names.index(f"month={name}")] == 1] = number
year = 2008 + np.cumsum(np.diff(month, prepend=month[0]) < 0)
day = features[:, names.index("day")].astype(int)
week = np.array(
    [
        (datetime.date(y, m, 1) + datetime.timedelta(days=int(d) - 1)).strftime("%G-W%V")
        for y, m, d in zip(year, month, day, strict=True)
    ]
)

# what is known before a call: neither its length nor when it is made
known = [place for place, name in enumerate(names) if name not in ("duration", "day") and not name.startswith("month=")]
summer = (year == 2008) & (month <= 8)
rng = np.random.default_rng(0)
training = summer & (rng.random(len(features)) < 0.5)
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
model.fit(features[training][:, known], subscribes[training])
scores = model.predict_proba(features[:, known])[:, 1]
confirmed = subscribes & (rng.random(len(features)) < 0.5)
reference = summer & ~training
threshold = float(np.quantile(scores[reference], 0.9))


def weeks(rows: np.ndarray) -> dict[str, pulens.Tally]:
    """A tally of every week in which there were calls."""
    return {
        name: pulens.Tally.from_arrays(confirmed[rows & (week == name)].astype(int), scores[rows & (week == name)])
        for name in np.unique(week[rows]).tolist()
    }


found = pulens.watch(
    weeks(reference),
    weeks((year * 12 + month >= 2008 * 12 + 10) & (year * 12 + month <= 2009 * 12 + 6)),
    class_prior=float(subscribes[reference].mean()),  # from the books of the summer
    threshold=threshold,
    labels_lag=4,  # a customer who takes the deposit has done so after four weeks
)
print(found)
print()
for name, window in found.windows.items():
    rows = week == name
    flagged = rows & (scores >= threshold)
    truth = 2 * (flagged & subscribes).sum() / (flagged.sum() + (rows & subscribes).sum())
    shown = "withheld" if window.f1.undefined_because else f"{window.f1.value:.2f}"
    print(f"{name}: F1 {shown:>8}, {window.trust:8}; truth {truth:.2f}, positives {subscribes[rows].mean():.2f}")
found.to_html("pulse.html", title="Calls since October 2008")

assert [alarm.line for alarm in found.alarms] == ["share", "fit", "recall"]
assert all(window.trust != "ok" for window in found.windows.values())
