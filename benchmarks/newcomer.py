"""What a newcomer types, and whether the answer is true: the README's commands on the bank marketing table.

    python benchmarks/newcomer.py [--tables FOLDER] [--labellings 12]

Two models are trained on PU labels of one half of the table. Of the other half, 22,606 rows, about 30% of the
positives are labelled at random in a column `status` that says "confirmed" or nothing, and each command is typed as it
stands in the README. Counted is how often the interval of precision at a threshold holds the truth, which the commands
never see. Peer: what the same command said with the scenario of the other kind.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from real_worlds import folder_of_tables

LABELLED = 0.29


def table(folder):
    import pandas
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(folder / "bank_marketing.parquet").to_pandas()
    positive = (rows.pop("y") == "yes").to_numpy()
    return pandas.get_dummies(rows).to_numpy(float), positive


def scores(folder):
    """True classes of the second half and the scores that two models give it."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    features, positive = table(folder)
    rng = np.random.default_rng(0)
    order = rng.permutation(positive.size)
    train, rest = order[: positive.size // 2], order[positive.size // 2 :]
    labels = positive[train] & (rng.random(train.size) < LABELLED)
    models = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "boosting": HistGradientBoostingClassifier(random_state=0),
    }
    return positive[rest], {
        name: model.fit(features[train], labels).predict_proba(features[rest])[:, 1] for name, model in models.items()
    }


def typed(words):
    """The command's answer, as JSON; nothing else of the machine is used."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pulens", *words, "--json", "-"], capture_output=True, text=True, env=environment
    )
    if done.returncode:
        raise SystemExit(f"pulens {' '.join(words)}\n{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--labellings", type=int, default=12)
    asked = parser.parse_args()
    start = time.perf_counter()
    folder = folder_of_tables(asked.tables)
    if folder is None:
        raise SystemExit("no folder of tables found: give --tables FOLDER")
    positive, found = scores(folder)
    prior = positive.mean()
    print(f"{positive.size:,} rows, {positive.sum():,} positive; {asked.labellings} labellings of two models")
    commands = {
        "--class-prior right, nothing else": ["--class-prior", f"{prior:.6f}"],
        "the same with --scenario single-set": ["--class-prior", f"{prior:.6f}", "--scenario", "single-set"],
        "the same with --scenario case-control": ["--class-prior", f"{prior:.6f}", "--scenario", "case-control"],
        "nothing: the class prior is estimated": [],
        "an audit of 200 rows, exactly representative": ["--audit", "AUDIT"],
        "the same combined with the estimate": ["--class-prior", "auto", "--audit", "AUDIT", "--combine"],
    }
    held = {name: {model: [] for model in found} for name in commands}
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as place:
        for _ in range(asked.labellings):
            confirmed = positive & (rng.random(positive.size) < LABELLED)
            hidden = (positive & ~confirmed).sum() / (~confirmed).sum()
            audit = f"{round(200 * hidden)}/200"
            for model, scored in found.items():
                threshold = float(np.quantile(scored, 1 - prior))
                truth = positive[scored >= threshold].mean()
                file = Path(place) / "scores.csv"
                status = np.where(confirmed, "confirmed", "")
                rows = (f"{score!r},{label}" for score, label in zip(scored.tolist(), status, strict=True))
                file.write_text("\n".join(["model_a,status", *rows]) + "\n")
                usual = ["evaluate", str(file), "--score", "model_a", "--label", "status", "--positive", "confirmed"]
                for name, words in commands.items():
                    words = [audit if word == "AUDIT" else word for word in words]
                    answer = typed([*usual, "--threshold", repr(threshold), *words])["estimates"]["precision"]
                    held[name][model].append((answer["low"] <= truth <= answer["high"], answer["high"] - answer["low"]))
    print(
        f"{'precision at a threshold: interval holds the truth':54}{'in all':>10}{'width':>8}"
        + "".join(f"{m:>18}" for m in found)
    )
    for name, by_model in held.items():
        every = list(by_model.values())
        all_of = [one for each in every for one in each]
        print(
            f"{name:54}{sum(h for h, _ in all_of):4} of {len(all_of)}{np.mean([w for _, w in all_of]):8.3f}"
            + "".join(f"{sum(h for h, _ in each):10} of {len(each):4}" for each in every)
        )
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
