"""From a table to a judged model, beside a peer: python benchmarks/peers/fit.py bank_marketing.parquet [--rows N]

The table is UCI bank marketing as it is published (Moro, Cortez and Rita 2014): 45,211 calls, 7 columns of numbers, 9
of words, 11.7% positive. 30% of the positives are labelled: once at random, once with long calls more often. Each tool
is given the same rows on its command line, with its own defaults and nothing about the truth; then what it told is
shown beside what is true, on scores of rows that its models had not seen.

The peer is PU-toolbox, `pu-toolbox run`; where it is not on the path say --peer /its/venv/bin/pu-toolbox, or it is left
out and named: pip install 'pu-toolbox' torch.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from sklearn import metrics as sk
from sklearn.model_selection import StratifiedKFold

SHARE = 0.3
OF_PEER = """
import pickle, sys, numpy as np
with open(sys.argv[1], "rb") as file:  # written a moment ago by the command that stands above
    model = pickle.load(file)
X = np.loadtxt(sys.argv[2], delimiter=",", skiprows=1)
np.savetxt(sys.argv[3], np.column_stack([model.decision_function(X), model.predict(X) == 1]))
"""


def labelled_rows(table, positive, how, rng):
    """Who is labelled: 30% of the positives, at random or long calls up to nine times as often as short ones."""
    if how == "at random":
        return positive & (rng.random(positive.size) < SHARE)
    duration = np.array(table["duration"], float)
    rank = np.argsort(np.argsort(duration[positive])) / (positive.sum() - 1)
    chance = np.zeros(positive.size)
    chance[positive] = SHARE * (0.2 + 1.6 * rank)
    return rng.random(positive.size) < chance


def run(words, folder):
    """Wall and processor seconds of a command, and what it said."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    shown = " ".join(Path(word).name if "/" in word else word for word in words)
    print(f"\n$ {shown.replace('python -m pulens', 'pulens')}")
    print(f"  {wall:.1f} s, {after.ru_utime - before.ru_utime:.1f} s of processor time, exit code {done.returncode}")
    return done


def write(path, columns):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def truth(positive, scores, flagged):
    return {
        "class prior": positive.mean(),
        "ROC AUC": sk.roc_auc_score(positive, scores),
        "recall": sk.recall_score(positive, flagged),
        "precision": sk.precision_score(positive, flagged, zero_division=0),
    }


def show(told, true):
    print(f"  {'':12} {'told':>28} {'true':>8}")
    for name, value in true.items():
        print(f"  {name:12} {told.get(name, 'not told'):>28} {value:8.3f}")


def ours(folder, table, labelled, positive):
    write(folder / "bank.csv", {"row": [f"r{place}" for place in range(positive.size)], **table,
                                "status": np.where(labelled, "confirmed", "").tolist()})  # fmt: skip
    words = ["fit", "bank.csv", "--label", "status", "--positive", "confirmed", "--id", "row", "--html", "report.html"]
    words += ["--json", "answer.json", "--scores", "scored.csv", "--out", "model"]
    done = run([sys.executable, "-m", "pulens", *words, "--quiet"], folder)
    if done.returncode:
        sys.exit(done.stderr)
    answer = json.loads((folder / "answer.json").read_text())
    with (folder / "scored.csv").open(newline="") as file:
        scored = list(csv.DictReader(file))
    scores = np.array([float(row["score"]) for row in scored])
    flagged = np.array([row["predicted"] == "1" for row in scored])
    result = answer["estimates"]
    told = {"class prior": said(answer["class_prior"])}
    for name, key in (("ROC AUC", "roc_auc"), ("recall", "recall"), ("precision", "precision")):
        told[name] = said(result[key])
    show(told, truth(positive, scores, flagged))
    print("  verdict:", " ".join(answer["verdict"]) if isinstance(answer["verdict"], list) else answer["verdict"])
    for notice in answer["warnings"][:2]:
        print("  said:", " ".join(notice.split())[:300])
    print("  the model:", ", ".join(sorted(file.name for file in (folder / "model").iterdir())), "(nothing pickled)")


def said(result):
    """A value with its interval, as JSON has them."""
    interval = result.get("interval") or result
    value = result.get("value")
    number = "only a range" if value is None else f"{value:.3f}"
    low, high = interval.get("low"), interval.get("high")
    return number if low is None else f"{number} [{low:.3f}, {high:.3f}]"


def peers(folder, command, table, labelled, positive):
    write(folder / "raw.csv", table)
    write(folder / "labels.csv", {"label": labelled.astype(int).tolist()})
    words = ["run", "--data", "raw.csv", "--labels", "labels.csv", "--out-dir", "raw"]
    refused = run([command, *words], folder)
    print("  it said:", refused.stderr.strip().splitlines()[-1][:200] if refused.returncode else "took it")
    start = time.perf_counter()
    X, names = one_hot(table)
    np.savetxt(folder / "encoded.csv", X, delimiter=",", header=",".join(names), comments="", fmt="%g")
    print(f"  so columns of words are made numbers in a script of one's own ({time.perf_counter() - start:.1f} s)")
    words = ["run", "--data", "encoded.csv", "--labels", "labels.csv", "--out-dir", "out"]
    done = run([command, *words, "--save-model"], folder)
    if done.returncode:
        print("  it said:", done.stderr.strip()[-300:])
        return
    report = json.loads((folder / "out" / "report.json").read_text())
    values = {entry: report["cv_metrics"].get(entry) for entry in ("pu_recall", "pu_estimated_precision")}
    told = {"class prior": f"{report['prior_value']:.3f}" if "prior_value" in report else said_prior(report)}
    for name, key in (("recall", "pu_recall"), ("precision", "pu_estimated_precision")):
        told[name] = said_by_peer(values[key])
    scores, flagged = unseen_by_peer(folder, command, X, names, labelled)
    show(told, truth(positive, scores, flagged))
    print("  learner:", report["classifier"], "| the model:", "model.pkl (a pickle)")
    for issue in report["issues"][:3]:
        print("  said:", issue["message"][:200])


def said_prior(report):
    prior = report["prior"]
    value = prior.get("value", prior.get("class_prior", prior)) if isinstance(prior, dict) else prior
    return f"{value:.3f}" if isinstance(value, float) else str(value)[:28]


def said_by_peer(entry):
    if isinstance(entry, dict) and entry.get("mean") is not None:
        return f"{entry['mean']:.3f} (sd of folds {entry['std']:.3f})"
    return "not told"


def one_hot(table):
    names, columns = [], []
    for name, values in table.items():
        if isinstance(values[0], str):
            for level in sorted(set(values)):
                names.append(f"{name}_{level}".replace(",", " "))
                columns.append([float(value == level) for value in values])
        else:
            names.append(name)
            columns.append(values)
    return np.array(columns, float).T, names


def unseen_by_peer(folder, command, X, names, labelled):
    """What its model, fitted by its own command to four folds of five, says of the fifth: all rows in turn."""
    python = Path(command).resolve().parent / "python"
    scores, flagged = np.zeros(len(X)), np.zeros(len(X), bool)
    for inside, outside in StratifiedKFold(5, shuffle=True, random_state=0).split(X, labelled):
        head = ",".join(names)
        np.savetxt(folder / "in.csv", X[inside], delimiter=",", header=head, comments="", fmt="%g")
        np.savetxt(folder / "out.csv", X[outside], delimiter=",", header=head, comments="", fmt="%g")
        write(folder / "in_labels.csv", {"label": labelled[inside].astype(int).tolist()})
        words = [
            "run",
            "--data",
            "in.csv",
            "--labels",
            "in_labels.csv",
            "--out-dir",
            "part",
            "--save-model",
            "--cv",
            "2",
        ]
        subprocess.run([command, *words, "--quiet"], cwd=folder, capture_output=True, check=True)
        subprocess.run([str(python), "-c", OF_PEER, "part/model.pkl", "out.csv", "said.txt"], cwd=folder, check=True)
        scores[outside], called = np.loadtxt(folder / "said.txt").T
        flagged[outside] = called == 1
    return scores, flagged


def main():
    options = argparse.ArgumentParser()
    options.add_argument("table")
    options.add_argument("--rows", type=int)
    options.add_argument("--peer", default=shutil.which("pu-toolbox"))
    options.add_argument("--only", choices=["ours", "peer"])
    given = options.parse_args()
    whole = pq.read_table(given.table)
    rng = np.random.default_rng(0)
    kept = np.sort(rng.permutation(whole.num_rows)[: given.rows])
    table = {name: whole[name].take(kept).to_pylist() for name in whole.column_names}
    positive = np.array(table.pop("y")) == "yes"
    for how in ("at random", "long calls more often"):
        labelled = labelled_rows(table, positive, how, rng)
        print(f"\n== {positive.size:,} rows, {positive.sum():,} positive, {labelled.sum():,} labelled, {how}")
        with tempfile.TemporaryDirectory() as place:
            if given.only != "peer":
                ours(Path(place), table, labelled, positive)
            if given.peer is None:
                print("\nPU-toolbox is not installed: left out.")
            elif given.only != "ours":
                peers(Path(place), given.peer, table, labelled, positive)


if __name__ == "__main__":
    main()
