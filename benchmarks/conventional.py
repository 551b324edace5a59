"""Accuracy under the conventional setting of paper 004: case-control, labels completely at random, c = 0.1.

    PULENS_MIRROR=/path/to/data python benchmarks/conventional.py --out results
    python benchmarks/conventional.py --out results --device cuda --jobs 8     # many processes share one GPU
    python benchmarks/conventional.py --out results --table                    # only print what is there

All seeds of a (data set, method) are one stack. A result file per task makes it resumable. Test accuracy is shown at
the epoch chosen on PU validation rows alone, at the last epoch, and at the one an oracle with true validation labels
would choose (positive-class F1, as the published benchmark does); the method never sees any true label. The class prior
handed to the methods is the true share of positives among the unlabelled rows, not the published code's inflated one.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import json
import math
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

SEEDS = (2, 25, 42, 52, 99, 103, 250, 666, 777, 2026)
METHODS = ("UPU", "NNPU", "PUSB", "VPU", "MPEPU", "LBE", "DistPU", "PULDA")
LABEL_FREQUENCY = 0.1
CHILD = "PULENS_BENCHMARK_CHILD"  # set in processes that do one task
# mean accuracy in percent: paper 004, Table 1 (no uPU row, and no Mushroom column)
TABLE_1 = {
    "NNPU": {
        "imdb": 77.37,
        "20news": 88.81,
        "mnist": 94.85,
        "fmnist": 96.67,
        "cifar10": 85.30,
        "connect4": 74.71,
        "spambase": 81.66,
    },
    "PUSB": {
        "imdb": 77.86,
        "20news": 87.49,
        "mnist": 95.19,
        "fmnist": 95.76,
        "cifar10": 87.68,
        "connect4": 85.07,
        "spambase": 81.56,
    },
    "VPU": {
        "imdb": 78.08,
        "20news": 87.76,
        "mnist": 96.46,
        "fmnist": 97.50,
        "cifar10": 83.76,
        "connect4": 85.62,
        "spambase": 79.25,
    },
    "MPEPU": {
        "imdb": 77.65,
        "20news": 86.68,
        "mnist": 95.90,
        "fmnist": 97.79,
        "cifar10": 83.41,
        "connect4": 74.60,
        "spambase": 81.11,
    },
    "LBE": {
        "imdb": 76.25,
        "20news": 85.74,
        "mnist": 97.23,
        "fmnist": 98.42,
        "cifar10": 83.98,
        "connect4": 83.94,
        "spambase": 68.53,
    },
    "DistPU": {
        "imdb": 77.88,
        "20news": 88.65,
        "mnist": 95.70,
        "fmnist": 95.31,
        "cifar10": 88.09,
        "connect4": 73.85,
        "spambase": 85.71,
    },
    "PULDA": {
        "imdb": 75.30,
        "20news": 86.67,
        "mnist": 96.69,
        "fmnist": 96.92,
        "cifar10": 87.02,
        "connect4": 78.18,
        "spambase": 84.80,
    },
}
# what the method's own paper used on that kind of data, where its default is for another kind
PICTURES = {"regularisation": 0.3, "learning_rate": 3e-4}
OWN_SETTINGS = {("VPU", "mnist"): PICTURES, ("VPU", "fmnist"): PICTURES}


def one_hot(codes: np.ndarray, levels: list[int]) -> np.ndarray:
    columns = [codes[:, [place]] == np.arange(count) for place, count in enumerate(levels)]
    return np.concatenate(columns, 1).astype(np.float32)


def load(name: str, folder: Path):
    """Rows, true classes, which rows are the official test set (or None), backbone, whether to standardise."""
    files = {"20news": "newsgroups20_minilm", "fmnist": "fashion_mnist", "imdb": "imdb_minilm"}
    if name == "cifar10":
        X, y, test = _cifar(folder)
        return X.transpose(0, 3, 1, 2).astype(np.float32) / 255, np.isin(y, (0, 1, 8, 9)), test, "cifar_cnn", False
    z = np.load(folder / f"{files.get(name, name)}.npz")
    if name in ("mnist", "fmnist"):
        X = np.concatenate([z["X_train"], z["X_test"]])[:, None].astype(np.float32) / 127.5 - 1
        digits = (0, 2, 4, 6, 8) if name == "mnist" else (0, 2, 3, 4, 6)
        y = np.isin(np.concatenate([z["y_train"], z["y_test"]]), digits)
        return X, y, np.arange(len(X)) >= len(z["X_train"]), "lenet", False
    if name in ("20news", "imdb"):
        X = np.concatenate([z["X_train"], z["X_test"]]).astype(np.float32)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        classes = np.concatenate([z["y_train"], z["y_test"]])
        topics = [str(topic).split(".")[0] in ("alt", "comp", "misc", "rec", "pos") for topic in z["classes"]]
        return X, np.array(topics)[classes], np.arange(len(X)) >= len(z["X_train"]), "mlp", False
    if name == "connect4":
        return one_hot(z["X"], [3] * 42), z["y"] == 0, None, "mlp", False
    if name == "mushroom":
        return one_hot(z["X"], [len(levels) for levels in z["levels"]]), z["y"] == 1, None, "mlp", False
    return z["X"].astype(np.float32), z["y"] == 1, None, "mlp", True  # spambase


def _cifar(folder: Path):
    """Plain arrays if somebody prepared them (--prepare-cifar), else the pictures through Pillow."""
    plain = Path(os.environ.get("PULENS_CIFAR", folder / "cifar10_arrays.npz"))
    if plain.exists():
        z = np.load(plain)
        return z["X"], z["y"], z["test"]
    import io

    from PIL import Image

    parts, labels = [], []
    for kind in ("train", "test"):
        z = np.load(folder / f"cifar10_{kind}.npz")
        webp, offsets = z["webp"], z["offsets"]
        for a, b in itertools.pairwise(offsets):
            parts.append(np.asarray(Image.open(io.BytesIO(webp[a:b].tobytes())).convert("RGB")).reshape(-1, 32, 32, 3))
        labels.append(z["y"])
    y = np.concatenate(labels)
    return np.concatenate(parts), y, np.arange(len(y)) >= len(labels[0])


def available(folder: Path) -> list[str]:
    found = []
    for name, file in (
        ("spambase", "spambase"),
        ("mushroom", "mushroom"),
        ("20news", "newsgroups20_minilm"),
        ("imdb", "imdb_minilm"),
        ("connect4", "connect4"),
        ("mnist", "mnist"),
        ("fmnist", "fashion_mnist"),
        ("cifar10", "cifar10_train"),
    ):
        if (folder / f"{file}.npz").exists():
            found.append(name)
    return found


def splits(y: np.ndarray, test: np.ndarray | None, seed: int, validation: float):
    """Training rows (labelled, unlabelled), validation rows (labelled, all), test rows. U is the whole pool."""
    rng = np.random.default_rng(seed)

    def stratified(rows: np.ndarray, share: float):
        held = np.concatenate(
            [(own := rng.permutation(rows[y[rows] == kind]))[: round(share * len(own))] for kind in (True, False)]
        )
        return np.setdiff1d(rows, held), held

    pool, tested = stratified(np.arange(len(y)), 0.2) if test is None else (np.flatnonzero(~test), np.flatnonzero(test))
    pool, held = stratified(pool, validation)

    def labelled(rows: np.ndarray):
        positive = rows[y[rows]]
        return rng.permutation(positive)[: max(1, math.floor(LABEL_FREQUENCY * len(positive)))]

    return labelled(pool), pool, labelled(held), held, tested


def with_support(learner, parts: list, truth: np.ndarray) -> tuple[list, dict]:
    """For a method that needs rows of known class: as many as 1% of the training rows, out of the held-out ones."""
    if "support" not in inspect.signature(learner.fit).parameters:
        return parts, {}
    kept, support = [], []
    for own, pool, labelled, held, tested in parts:
        spare = np.setdiff1d(held, labelled)
        chosen = np.concatenate(
            [spare[truth[spare] == kind][: max(1, round(0.01 * (truth[pool] == kind).sum()))] for kind in (True, False)]
        )
        kept.append((own, pool, labelled, np.setdiff1d(held, chosen), tested))
        support.append((chosen, np.where(truth[chosen], 1, -1)))
    return kept, {"support": support}


def run_task(dataset: str, method: str, given: argparse.Namespace) -> dict:
    import torch

    from pulens import learners
    from pulens.learners._data import Part, StackedRows
    from pulens.learners._selection import Selection, _agreement, proxy_auc
    from pulens.scenario import Scenario

    X, y, test, backbone, standardise = load(dataset, Path(os.environ["PULENS_MIRROR"]))
    standardise = standardise or (given.standardise and backbone == "mlp")
    tables, parts, offset = [], [], 0
    for seed in given.seeds:
        chosen = splits(y, test, seed, given.validation)
        if standardise:  # with the training rows of this seed alone, so every seed has a table of its own
            mean, sd = X[chosen[1]].mean(0), X[chosen[1]].std(0)
            tables.append((X - mean) / np.where(sd > 0, sd, 1))
            chosen = tuple(rows + offset for rows in chosen)
            offset += len(X)
        parts.append(chosen)
    table = np.concatenate(tables) if standardise else X
    truth = np.tile(y, len(given.seeds)) if standardise else y
    learner = getattr(learners, method)
    parts, known = with_support(learner, parts, truth)
    priors = [float(truth[pool].mean()) for _, pool, _, _, _ in parts]
    settings = {"backbone": backbone, "scenario": "case-control", "device": given.device, "precision": given.precision}
    settings |= OWN_SETTINGS.get((method, dataset), {})
    if given.epochs is not None:
        settings["epochs"] = given.epochs
        if "warm_up_epochs" in learner.__dataclass_fields__:
            settings["warm_up_epochs"] = given.epochs
    device = torch.device(given.device)
    on_device = torch.as_tensor(table, dtype=torch.float32).to(device)
    validation = StackedRows(on_device, [Part(own, held) for _, _, own, held, _ in parts], Scenario.CASE_CONTROL)
    test_rows = torch.as_tensor(np.stack([tested for *_, tested in parts])).to(device)
    test_truth = truth[test_rows.cpu().numpy()]
    held_truth = [truth[held] for *_, held, _ in parts]
    criterion = Selection(learner(class_prior=0.5).selection, validation, priors)
    trace: list[dict] = []

    def watch(program, number, stage):
        if not stage.selectable:
            return
        network = program.stack.network
        cuts = np.array([program.cut(scores, run) for run, scores in enumerate(program.reference_scores())])
        scores = network.score(on_device, test_rows).cpu().numpy()
        held = network.score(on_device, validation.rows).cpu().numpy()
        own = validation.n_labelled
        trace.append(
            {
                "epoch": number,
                "criterion": [float(number)] * len(parts) if criterion.name == "last" else criterion(program),
                "oracle": [
                    _agreement(held[run, own[run] : validation.n_rows[run]] > cuts[run], held_truth[run], "oracle_f1")
                    for run in range(len(parts))
                ],
                "accuracy": ((scores > cuts[:, None]) == test_truth).mean(1).tolist(),
                "f1": [
                    _agreement(predicted, truth, "oracle_f1")
                    for predicted, truth in zip(scores > cuts[:, None], test_truth, strict=True)
                ],
                "auc": [proxy_auc(s[t], s[~t]) for s, t in zip(scores, test_truth, strict=True)],
            }
        )

    needs_prior = learner._program.needs_class_prior
    stack = [
        learner(
            class_prior=prior if needs_prior else "auto",
            random_state=seed,
            selection="last",
            progress=False,
            **settings,
        )
        for seed, prior in zip(given.seeds, priors, strict=True)
    ]
    started = time.perf_counter()
    learners.fit_many(
        stack,
        table,
        [np.repeat([1, 0], [len(own), len(pool)]) for own, pool, *_ in parts],
        rows=[np.concatenate([own, pool]) for own, pool, *_ in parts],
        validation=[
            (np.concatenate([own, held]), np.repeat([1, 0], [len(own), len(held)])) for _, _, own, held, _ in parts
        ],
        on_epoch=watch,
        **known,
    )
    seconds = time.perf_counter() - started
    accuracy = np.array([entry["accuracy"] for entry in trace])
    f1 = np.array([entry["f1"] for entry in trace])
    auc = np.array([entry["auc"] for entry in trace])
    runs = np.arange(len(parts))
    choices = {"last": np.full(len(parts), len(trace) - 1)}
    for name, key in (("pu", "criterion"), ("oracle", "oracle")):
        values = np.array([entry[key] for entry in trace], float)
        choices[name] = np.nan_to_num(values, nan=-np.inf).argmax(0)
    return {
        "dataset": dataset,
        "method": method,
        "seeds": list(given.seeds),
        "validation": given.validation,
        "standardised": standardise,
        "settings": settings,
        "selection": criterion.name,
        "class_priors": priors,
        "estimated_unlabelled_priors": [getattr(fitted, "unlabelled_prior_", None) for fitted in stack],
        "true_labels_used": [getattr(fitted, "true_labels_used_", 0) for fitted in stack],
        "seconds": seconds,
        "accuracy": {name: accuracy[epochs, runs].tolist() for name, epochs in choices.items()},
        "f1": {name: f1[epochs, runs].tolist() for name, epochs in choices.items()},
        "auc": {name: auc[epochs, runs].tolist() for name, epochs in choices.items()},
        "epoch": {name: [trace[epoch]["epoch"] for epoch in epochs] for name, epochs in choices.items()},
        "trace": {"mean_accuracy": accuracy.mean(1).round(5).tolist(), "mean_auc": auc.mean(1).round(5).tolist()},
    }


def show(out: Path) -> None:
    found = [json.loads(path.read_text()) for path in sorted(out.glob("*.json"))]
    print(
        f"\n{'data':<10}{'method':<8}{'PU-only':>14}{'last epoch':>14}{'oracle (F1)':>14}{'Table 1':>9}{'gap':>7}"
        "   F1 (PU-only)  seeds, s"
    )
    order = {name: place for place, name in enumerate(METHODS)}
    for result in sorted(found, key=lambda result: (result["dataset"], order[result["method"]])):
        cells = []
        for name in ("pu", "last", "oracle"):
            values = 100 * np.array(result["accuracy"][name])
            cells.append(f"{values.mean():.2f}±{values.std(ddof=1) if len(values) > 1 else 0:.2f}")
        paper = TABLE_1.get(result["method"], {}).get(result["dataset"])
        f1 = f"{100 * np.mean(result['f1']['pu']):.2f}" if "f1" in result else ""
        gap = "" if paper is None else f"{100 * np.mean(result['accuracy']['pu']) - paper:+.2f}"
        print(
            f"{result['dataset']:<10}{result['method']:<8}{cells[0]:>14}{cells[1]:>14}{cells[2]:>14}"
            f"{'' if paper is None else f'{paper:.2f}':>9}{gap:>7}{f1:>15}  "
            f"{len(result['seeds'])}, {result['seconds']:.0f}"
        )


def main() -> None:
    folder = Path(os.environ.get("PULENS_MIRROR", "../shared/data"))
    os.environ["PULENS_MIRROR"] = str(folder)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of results, one JSON file per task")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--datasets", nargs="+", default=None, help=f"default: {', '.join(available(folder))}")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS[:3]))
    parser.add_argument("--epochs", type=int, default=None, help="instead of each method's own number")
    parser.add_argument("--validation", type=float, default=0.1, help="share of the training rows held out")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--jobs", type=int, default=1, help="tasks at the same time, each in a process")
    parser.add_argument(
        "--standardise", action="store_true", help="scale the columns of every table, not Spambase alone"
    )
    parser.add_argument("--table", action="store_true", help="print the results that are there and stop")
    parser.add_argument("--prepare-cifar", type=Path, help="write CIFAR-10 as plain arrays to this file and stop")
    given = parser.parse_args()
    if given.prepare_cifar:
        X, y, test = _cifar(folder)
        np.savez(given.prepare_cifar, X=X, y=y, test=test)
        return
    given.out.mkdir(parents=True, exist_ok=True)
    if given.table:
        show(given.out)
        return
    tasks = [(dataset, method) for dataset in given.datasets or available(folder) for method in given.methods]
    waiting = [task for task in tasks if not (given.out / f"{task[0]}-{task[1]}.json").exists()]
    if given.jobs > 1 and len(waiting) > 1:
        words = sys.argv[1:]
        with ThreadPoolExecutor(given.jobs) as pool:
            for (dataset, method), code in zip(
                waiting, pool.map(lambda task: _spawn(words, *task), waiting), strict=True
            ):
                if code:
                    print(f"{dataset} {method}: failed with exit code {code}", file=sys.stderr)
    else:
        for dataset, method in waiting:
            result = run_task(dataset, method, given)
            path = given.out / f"{dataset}-{method}.json"
            path.with_suffix(".part").write_text(json.dumps(result) + "\n")
            path.with_suffix(".part").replace(path)
            accuracy = {name: round(100 * float(np.mean(values)), 2) for name, values in result["accuracy"].items()}
            print(f"{dataset} {method} {accuracy} in {result['seconds']:.0f} s", flush=True)
    if CHILD not in os.environ:
        show(given.out)


def _spawn(words: list[str], dataset: str, method: str) -> int:
    """The same command for one task, in a process of its own."""
    command = [sys.executable, __file__, *words, "--datasets", dataset, "--methods", method, "--jobs", "1"]
    return subprocess.run(command, env={**os.environ, CHILD: "1", "OMP_NUM_THREADS": "2"}).returncode


if __name__ == "__main__":
    main()
