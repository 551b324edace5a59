"""Precision by channel on a real table with known truth: class priors implied by one label frequency, or one for all.

Usage: python benchmarks/segment_priors.py bank_marketing.parquet [--labellings 6]

The table is UCI's bank marketing (Moro, Cortez & Rita 2014). 30% of the positives are labelled at random, two models
are trained on one half of the rows and judged on the other, with the class prior of all of them given.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
import polars
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pulens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table")
    parser.add_argument("--labellings", type=int, default=6)
    asked = parser.parse_args()
    table = polars.read_parquet(asked.table)
    truth = (table["y"].cast(polars.String).is_in(["yes", "1", "true"])).to_numpy()
    channel = table["contact"].cast(polars.String).to_numpy()
    numbers = [name for name in table.columns if table[name].dtype.is_numeric() and name != "y"]
    words = [name for name in table.columns if name not in numbers and name != "y"]
    coded = OneHotEncoder(sparse_output=False).fit_transform(table.select(words).cast(polars.String).to_numpy())
    features = np.hstack([StandardScaler().fit_transform(table.select(numbers).to_numpy()), coded])
    held: Counter[tuple[str, str]] = Counter()
    tried: Counter[tuple[str, str]] = Counter()
    for seed in range(asked.labellings):
        rng = np.random.default_rng(seed)
        train = rng.random(truth.size) < 0.5
        labelled = truth & (rng.random(truth.size) < 0.3)
        for model in (LogisticRegression(max_iter=500), HistGradientBoostingClassifier(random_state=0)):
            scores = model.fit(features[train], labelled[train]).predict_proba(features[~train])[:, 1]
            judged, at, threshold = truth[~train], channel[~train], float(np.quantile(scores, 0.9))
            rows = polars.DataFrame({"score": scores, "label": labelled[~train].astype(int), "channel": at})
            for same in (False, True):
                result = pulens.evaluate_by(
                    rows,
                    "channel",
                    class_prior=float(judged.mean()),
                    scenario="single-set",
                    threshold=threshold,
                    same_prior=same,
                    labelling="random",
                )
                for name, segment in result.segments.items():
                    precision = float(judged[(at == name) & (scores >= threshold)].mean())
                    key = ("one for all" if same else "implied", name)
                    held[key] += precision in segment.estimates["precision"].interval
                    tried[key] += 1
                    if seed == 0:
                        shown = f"{segment.estimates['precision']}, true {precision:.3f}"
                        print(f"{key[0]:<12}{type(model).__name__[:10]:<12}{name:<12}{shown}")
    for key in sorted(tried):
        print(f"class priors {key[0]}, {key[1]}: precision held in {held[key]} of {tried[key]}")


if __name__ == "__main__":
    main()
