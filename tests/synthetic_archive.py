"""An archive made of chance instead of training: learners of known skill, so that reports can be tested in no time."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from pulens.research.benchmark.archive import Store, read
from pulens.research.benchmark.archive.counts import binned_counts, exact_metrics
from pulens.research.benchmark.splits import JudgedRows

# name: title, family, separation of the classes, seconds; vpu shifts its scores, pan fails on one data set
LEARNERS = {
    "nnpu": ("nnPU", "risk estimators", 2.0, 1.0),
    "vpu": ("VPU", "risk estimators", 2.1, 2.0),
    "dist_pu": ("Dist-PU", "risk estimators", 2.8, 1.5),
    "self_pu": ("Self-PU", "disambiguation-guided", 1.5, 6.0),
    "lagam": ("LaGAM-PU (true support labels)", "disambiguation-guided", 2.4, 9.0),
    "pan": ("PAN", "generative", 1.0, 4.0),
    "pn": ("PN", "reference", 4.0, 1.0),
}
DATASETS = {"spambase": 0.39, "connect4": 0.66, "mnist": 0.49, "newsgroups20": 0.56}
CRITERIA = ("proxy_accuracy", "proxy_roc_auc", "oracle_accuracy", "oracle_f1", "oracle_macro_f1")
KIND = {"spambase": "table", "connect4": "table", "mnist": "picture", "newsgroups20": "text"}


def make(
    folder, *, learners=LEARNERS, datasets=DATASETS, seeds=(2, 25, 42), conditions=(("S1", 0.1),), rows=300, epochs=8
):
    """Write the archive and read it."""
    store = Store(folder).open()
    for strategy, frequency in conditions:
        for learner in learners:
            for dataset in datasets:
                stack = [run(learner, dataset, seed, strategy, frequency, rows, epochs) for seed in seeds]
                failed = [row for row in stack if row["status"] == "failed"]
                done = [row for row in stack if row["status"] == "done"]
                for part in (done, *([row] for row in failed)):
                    if part:
                        store.add(part)
    return read(folder)


def rewritten(archive, folder, change):
    """The archive again with rows as ``change`` gives them (None leaves a run out), beside what the folder holds."""
    changed = [again for row in archive.table().to_pylist() if (again := change(row)) is not None]
    Store(folder).open().add(changed)
    return read(folder)


def skill(learner, strategy, frequency):
    """Few labels and biased labels cost something; PN needs none."""
    base = LEARNERS.get(learner, LEARNERS["nnpu"])[2]
    if learner == "pn":
        return base
    return base * (1 - 0.25 * np.exp(-20 * frequency)) - (0.0 if strategy == "S1" else 0.5)


def run(learner, dataset, seed, strategy, frequency, rows, epochs):
    facts = (learner, dataset, seed, strategy, frequency)
    key = hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
    title, family, _, seconds = LEARNERS.get(learner, (learner, "other", 2.0, 1.0))
    head = {
        "key": key,
        "learner": learner,
        "title": title,
        "family": family,
        "uses_truth": learner == "pn",
        "needs_support": learner == "lagam",
        "dataset": dataset,
        "kind": KIND.get(dataset, "table"),
        "backbone": "mlp",
        "scenario": "case-control",
        "unlabelled": "whole-pool",
        "mechanism": "scar" if strategy == "S1" else "sar",
        "mechanism_alias": strategy,
        "parameters": "{}" if strategy == "S1" else json.dumps({"power": 10}),
        "label_frequency": frequency,
        "seed": seed,
        "prior_policy": "known",
        "validation_share": 0.1,
        "test_share": 0.2,
        "settings": "{}",
        "own_selection": "proxy_accuracy",
        "started": "2026-01-01T00:00:00",
        "finished": "2026-01-01T00:01:00",
        "device": "cpu",
        "device_name": "a processor",
        "pulens": "0",
    }
    if (learner, dataset, seed) == ("pan", "spambase", 2):
        return head | {"status": "failed", "reason": "out of memory: <b>no</b> bytes left"}
    rng = np.random.default_rng([int(key[:8], 16)])
    prior = DATASETS.get(dataset, 0.4)
    # the same rows for all learners of a seed, as in real archives
    truth = np.random.default_rng([seed, len(dataset)]).random(rows) < prior
    half = np.random.default_rng([seed, 1]).random(rows) < 0.5  # two independent samples, as real archives hold
    labelled = truth & half
    part = JudgedRows(np.arange(rows), truth, labelled, ~half)
    noise = rng.normal(size=rows)
    best = int(rng.integers(2, epochs))
    curve, scores = [], {}
    for epoch in range(1, epochs + 1):
        gain = skill(learner, strategy, frequency) * (1 - 0.5 * abs(epoch - best) / epochs)
        own = (gain * (truth - 0.5) + noise + (0.4 if learner == "vpu" else 0.0)).astype(np.float32)
        scores[epoch] = own
        metrics = exact_metrics(own, truth)
        shake = lambda: float(rng.normal(0, 0.01))  # noqa: E731
        curve.append(
            {
                "epoch": epoch,
                "seconds": epoch * 0.1,
                "proxy_accuracy": metrics["accuracy"] + shake(),
                "proxy_roc_auc": metrics["roc_auc"] + shake(),
                "loss": None,
                "oracle_accuracy": metrics["accuracy"] + shake(),
                "oracle_f1": metrics["f1"] + shake(),
                "oracle_macro_f1": metrics["macro_f1"],
                "test_accuracy": metrics["accuracy"],
                "test_f1": metrics["f1"],
                "test_roc_auc": metrics["roc_auc"],
            }
        )
    chosen = {name: 1 + int(np.argmax([point[name] for point in curve])) for name in CRITERIA} | {"last": epochs}
    choices = [
        {
            "selection": name,
            "epoch": epoch,
            "value": curve[epoch - 1].get(name, 0.0),
            **exact_metrics(scores[epoch], truth),
        }
        for name, epoch in chosen.items()
    ]
    tallies = [
        {
            "part": "test",
            "epoch": epoch,
            **{name: v.tolist() for name, v in binned_counts(scores[epoch], part, 64).items()},
        }
        for epoch in sorted(set(chosen.values()))
    ]
    positives = int(truth.sum())
    return head | {
        "status": "done",
        "class_prior": prior,
        "given_class_prior": prior,
        "realised_label_frequency": frequency,
        "test_rows": rows,
        "test_positives": positives,
        "test_labelled": int(labelled.sum()),
        "test_unlabelled": int((~half).sum()),
        "epochs": epochs,
        "seconds": seconds * (1 + 0.1 * float(rng.random())),
        "stack_runs": 3,
        "stack_seconds": 3 * seconds,
        "stack_peak_memory": int(2**20 * 100 * seconds),
        "memory_of": "process",
        "notices": [],
        "choices": choices,
        "curve": curve,
        "tallies": tallies,
    }
