"""Accuracy beside the published figures: LBE, PAN, CGenPU, VAE-PU, LaGAM and PULDA on the data sets of paper 004.

One cell is a method on a data set under the conventional protocol (case-control, labels completely at random, one
positive in ten labelled), its seeds trained as one stack. A finished cell is printed and appended to ``--out`` as a
line of JSON; ADNI, which needs a licence, is replaced by Mushroom, for which nothing is published.

    python benchmarks/papers_table.py --methods lbe,pan --data spambase,newsgroups20 --seconds 280 --jobs 8
    python benchmarks/papers_table.py --also "lagam@newsgroups20?epochs=180,warm_up_epochs=20"
    python benchmarks/papers_table.py --read results.jsonl            # the table of what is finished
    python benchmarks/papers_table.py --archived lagam,vae_pu         # the package's archive by epoch: would more help?
    python benchmarks/papers_table.py --pack folder --rows cifar10=12000   # tables that can travel: --tables folder
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import queue
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

METHODS = ("lbe", "pan", "cgenpu", "vae_pu", "lagam", "pulda")
DATA = ("spambase", "mushroom", "newsgroups20", "imdb", "connect4", "mnist", "fashion_mnist", "cifar10")
SEEDS = (2, 25, 42)
SELECTIONS = ("own", "oracle_f1", "last", "proxy_accuracy", "proxy_roc_auc")
MEASURES = ("accuracy", "f1", "roc_auc", "predicted_positive_rate")


def cell_of(text: str) -> dict[str, Any]:
    """``method@data?setting=value,...`` as a cell; ``rows`` and ``precision`` are the run's, not the method's.

    >>> cell_of("lagam@imdb?epochs=90,rows=9000")
    {'method': 'lagam', 'data': 'imdb', 'changed': {'epochs': 90, 'rows': 9000}}
    """
    name, _, settings = text.partition("?")
    method, _, data = name.partition("@")
    pairs = (one.split("=", 1) for one in settings.split(",") if one)
    return {"method": method, "data": data, "changed": {key: value_of(value) for key, value in pairs}}


def value_of(text: str) -> Any:
    """A number, a list written with ``:`` or a word.

    >>> value_of("3"), value_of("1e-4"), value_of("64:32"), value_of("even"), value_of("true")
    (3, 0.0001, [64, 32], 'even', True)
    """
    if ":" in text:
        return [value_of(part) for part in text.split(":")]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def runs_of(cell: dict[str, Any], seeds: Sequence[int], rows: int | None) -> list[Any]:
    """The runs of a cell: the shipped protocol with other seeds and the cell's settings."""
    from dataclasses import replace

    from pulens.research.benchmark.plan import expand
    from pulens.research.benchmark.protocol import load_protocol

    protocol = load_protocol("conventional")
    asked = protocol.model_copy(
        update={"learners": (cell["method"],), "datasets": (cell["data"],), "seeds": tuple(seeds), "rows": rows}
    )
    changed = {name: value for name, value in cell["changed"].items() if name not in ("rows", "precision")}
    own = {name: value for name, value in cell["changed"].items() if name == "precision"}
    return [replace(run, settings={**run.settings, **changed}, **own) for run in expand(asked).runs]


def rows_of(cell: dict[str, Any], rows: dict[str, int]) -> int | None:
    """How many rows a cell takes at most: as itself says, or as its data set's are limited."""
    result: int | None = cell["changed"].get("rows", rows.get(cell["data"]))
    return result


def forecast_of(cell: dict[str, Any], seeds: Sequence[int], rows: int | None) -> float:
    """Seconds of a GPU that the cell is thought to take; nan-free, so that cells can be ordered."""
    from pulens.research.benchmark.rates import load_rates

    runs = runs_of(cell, seeds, rows)
    known = [one for one in load_rates()[1] if one.learner == cell["method"] and one.device != "cpu"]
    own = [one for one in known if one.dataset == cell["data"]] or known
    return sum(min(one.seconds_for(run) for one in own) for run in runs) if own else 0.0


def pack(folder: Path, data: Sequence[str], rows: dict[str, int]) -> None:
    """Write the tables as they are trained on, in the smallest type that holds their numbers."""
    import numpy as np

    from pulens.research.benchmark.splits import load_table

    folder.mkdir(parents=True, exist_ok=True)
    for name in data:
        table = load_table(name, rows.get(name))
        X, scale = table.X, (1.0, 0.0)
        for divisor, shift in ((1.0, 0.0), (255.0, 0.0), (127.5, 1.0)):
            whole = np.rint((table.X + shift) * divisor)
            same = np.abs(whole / np.float32(divisor) - np.float32(shift) - table.X).max() < 1e-6
            if same and whole.min() >= 0 and whole.max() <= 255:
                X, scale = whole.astype(np.uint8), (divisor, shift)
                break
        else:
            half = table.X.astype(np.float16)
            X = half if np.array_equal(half.astype(np.float32), table.X) else table.X
        test = np.zeros(0, bool) if table.test is None else table.test
        np.savez_compressed(folder / f"{name}.npz", X=X, scale=scale, y=table.y, test=test)
        print(f"{name}: {X.shape} {X.dtype}, {(folder / f'{name}.npz').stat().st_size / 1e6:.1f} MB", flush=True)


def unpacked(path: Path, rows: int | None) -> Any:
    """A packed table; with ``rows`` a part of it, classes and official test rows in proportion."""
    import numpy as np

    from pulens.research.benchmark.splits import LabelledTable, part_of

    with np.load(path) as result:
        divisor, shift = result["scale"].astype(np.float32)
        X = result["X"].astype(np.float32) / divisor - shift
        test = result["test"] if result["test"].size else None
        return part_of(LabelledTable(X, result["y"], test), rows)


def train_cell(cell: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """Train the seeds of a cell as one stack and say what they reach."""
    from pulens.research.benchmark.published import table_1
    from pulens.research.benchmark.splits import table_of
    from pulens.research.benchmark.training import train

    rows = rows_of(cell, options.rows)
    runs = runs_of(cell, options.seeds, rows)
    table = table_of(runs[0]) if options.tables is None else unpacked(options.tables / f"{cell['data']}.npz", rows)
    begun = time.perf_counter()
    result = train(runs, options.device, table=table)
    published = table_1().get((cell["method"].replace("_", ""), cell["data"]))
    return {
        **cell,
        "seeds": list(options.seeds),
        "rows": len(table.y),
        "epochs": result[0].epochs,
        "settings": dict(runs[0].settings),
        "own_selection": result[0].own_selection,
        "chosen": {name: _measured(result, name) for name in SELECTIONS},
        "curve": [
            [point.epoch, *(_mean([run.curve[place] for run in result], name) for name in ("test_accuracy", "test_f1"))]
            for place, point in enumerate(result[0].curve)
        ],
        "found": [json.loads(run.found or "{}") for run in result],
        "published": None if published is None else published.accuracy,
        "stack_seconds": result[0].stack_seconds,
        "watching_seconds": result[0].stack_watching_seconds,
        "stack_peak_memory": result[0].stack_peak_memory,
        "wall_seconds": time.perf_counter() - begun,
        "device": result[0].device_name,
    }


def _mean(points: Sequence[Any], name: str) -> float:
    return round(fmean(getattr(point, name) for point in points), 4)


def _measured(result: Sequence[Any], selection: str) -> dict[str, list[float]]:
    """The measures of every seed at the epoch that a criterion chose."""
    at = []
    for run in result:
        wanted = run.own_selection if selection == "own" else selection
        by_name = {choice.selection: choice for choice in run.choices}
        at.append(by_name.get(wanted, by_name["last"]))
    return {name: [float(getattr(choice, name)) for choice in at] for name in MEASURES}


def told(cell: dict[str, Any]) -> str:
    """A finished cell as a line: accuracy, F1, published, and how far the better of the two is from it."""
    name = f"{cell['method']}@{cell['data']}"
    if cell["changed"]:
        name += "?" + ",".join(f"{key}={value}" for key, value in cell["changed"].items())
    if "failed" in cell:
        return f"{name}: {cell['failed']}"
    own, oracle = cell["chosen"]["own"], cell["chosen"]["oracle_f1"]
    accuracy, f1, best = 100 * fmean(own["accuracy"]), 100 * fmean(own["f1"]), cell["published"]
    line = f"{name:44s} {accuracy:5.1f} F1 {f1:5.1f} AUC {100 * fmean(own['roc_auc']):5.1f}"
    line += f" called {100 * fmean(own['predicted_positive_rate']):4.1f}%"
    line += f" (oracle {100 * fmean(oracle['accuracy']):5.1f}, {100 * fmean(oracle['f1']):5.1f})"
    if best is not None:
        line += f" / {best:5.1f}: {accuracy - best:+6.1f}, the better {max(accuracy, f1) - best:+6.1f}"
    return line + f"  {cell['rows']} rows, {cell['epochs']} epochs, {cell['wall_seconds']:.0f} s"


def read(path: Path) -> list[dict[str, Any]]:
    with path.open() as lines:
        return [json.loads(line) for line in lines if line.strip()]


def show(cells: Sequence[dict[str, Any]]) -> None:
    """All finished cells, failures last; then the table of the page."""
    done = [cell for cell in cells if "chosen" in cell]
    for cell in sorted(done, key=lambda one: (one["method"], DATA.index(one["data"]))):
        print(told(cell))
    for cell in cells:
        if "failed" in cell:
            print(told(cell))
    plain = {(cell["method"], cell["data"]): cell for cell in done if not cell["changed"]}
    print("\n| | " + " | ".join(DATA) + " |\n|" + " --- |" * (len(DATA) + 1))
    for method in METHODS:
        texts = []
        for data in DATA:
            cell = plain.get((method, data))
            if cell is None:
                texts.append("")
                continue
            own = cell["chosen"]["own"]
            stroke = "" if cell["published"] is None else f" / {cell['published']:.1f}"
            texts.append(f"{100 * fmean(own['accuracy']):.1f} (F1 {100 * fmean(own['f1']):.1f}){stroke}")
        print(f"| {method} | " + " | ".join(texts) + " |")


def show_archived(methods: Sequence[str]) -> None:
    """Archived runs at the last epoch beside the best one by true labels: a best one long past wants no more epochs."""
    from collections import defaultdict
    from importlib.resources import files

    from pulens.research.benchmark.archive.summary import read_summary

    runs: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for run in read_summary(files("pulens.research.benchmark") / "summary.csv.gz"):
        if run["mechanism_alias"] == "S1" and run["label_frequency"] == 0.1 and run["learner"] in methods:
            runs[run["learner"], run["dataset"]][run["selection"]].append(run)
    print("accuracy, F1 and AUC at the kept, the last and the best epoch by true labels; last minus best accuracy")
    for (method, data), result in sorted(runs.items()):
        parts = []
        for selection in ("own", "last", "oracle_f1"):
            means = [100 * fmean(run[name] for run in result[selection]) for name in ("accuracy", "f1", "roc_auc")]
            parts.append(" ".join(f"{mean:.1f}" for mean in means))
        best = {run["seed"]: run for run in result["oracle_f1"]}
        change = [100 * (run["accuracy"] - best[run["seed"]]["accuracy"]) for run in result["last"]]
        error = stdev(change) / len(change) ** 0.5
        epochs = sorted(run["epoch"] for run in best.values())
        print(f"{method}@{data}: {' | '.join(parts)} | {fmean(change):+.1f} ({error:.1f}), best epochs {epochs}")


def work(waiting: Any, done: Any, options: argparse.Namespace) -> None:
    """Take cells until there are none."""
    import torch

    torch.set_num_threads(options.threads)
    while True:
        with waiting.lock:
            cells = list(waiting.cells)
            if not cells:
                return
            cell = cells.pop(0)
            waiting.cells[:] = cells
        try:
            done.put(train_cell(cell, options))
        except Exception as error:  # one cell's failure is told, the others go on
            done.put({**cell, "failed": f"{type(error).__name__}: {error}"})
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def run(cells: list[dict[str, Any]], options: argparse.Namespace) -> list[dict[str, Any]]:
    """Train the cells in several processes; what is not finished when the seconds are over is given up."""
    began = time.monotonic()
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        waiting = Waiting(manager.list(cells), manager.Lock())
        done: Any = context.Queue()
        workers = [context.Process(target=work, args=(waiting, done, options)) for _ in range(options.jobs)]
        for worker in workers:
            worker.start()
        finished: list[dict[str, Any]] = []
        with options.out.open("a") as out:
            while len(finished) < len(cells) and time.monotonic() - began < options.seconds:
                try:
                    cell = done.get(timeout=1)
                except queue.Empty:
                    if not any(worker.is_alive() for worker in workers):
                        break
                    continue
                finished.append(cell)
                out.write(json.dumps(cell) + "\n")
                out.flush()
                os.fsync(out.fileno())
                at = f"[{time.monotonic() - began:5.0f} s] "
                print(
                    at + (told(cell) if "chosen" in cell else f"{cell['method']}@{cell['data']}: {cell['failed']}"),
                    flush=True,
                )
        for worker in workers:
            worker.terminate()
            worker.join(5)
    return finished


class Waiting:
    """Cells that nobody has taken, shared by the workers."""

    def __init__(self, cells: Any, lock: Any) -> None:
        self.cells, self.lock = cells, lock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--data", default=",".join(DATA))
    parser.add_argument("--without", default="", help="cells method@data that are left out")
    parser.add_argument("--cells", type=Path, help="a file of such cells, in the order in which they are to be done")
    parser.add_argument("--also", action="append", default=[], help="method@data?setting=value,...; may be repeated")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--rows", action="append", default=[], help="data=most rows; may be repeated")
    parser.add_argument("--seconds", type=float, default=280.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--pack", type=Path)
    parser.add_argument("--out", type=Path, default=Path("papers_table.jsonl"))
    parser.add_argument("--read", type=Path)
    parser.add_argument("--archived", help="methods whose archived runs are shown by epoch; nothing is trained")
    options = parser.parse_args()
    options.rows = {name: int(most) for name, _, most in (one.partition("=") for one in options.rows)}
    options.seeds = [int(seed) for seed in options.seeds.split(",")]
    data = [name for name in options.data.split(",") if name]
    if options.read is not None:
        show(read(options.read))
        return
    if options.archived is not None:
        show_archived(options.archived.split(","))
        return
    if options.pack is not None:
        pack(options.pack, data, options.rows)
        return
    left_out = set(options.without.split(","))
    plain = [cell_of(f"{method}@{name}") for method in options.methods.split(",") if method for name in data]
    cells = [cell for cell in plain if f"{cell['method']}@{cell['data']}" not in left_out]
    cells += [cell_of(text) for text in options.also]
    if options.cells is not None:
        cells = [cell_of(line.strip()) for line in options.cells.read_text().splitlines() if line.strip()]
    else:
        cells.sort(key=lambda cell: forecast_of(cell, options.seeds, rows_of(cell, options.rows)))
    print(f"{len(cells)} cells, {len(options.seeds)} seeds, {options.jobs} at a time", flush=True)
    finished = run(cells, options)
    print(f"{len(finished)} of {len(cells)} cells finished", flush=True)
    show(finished)
    sys.exit(0 if finished else 1)


if __name__ == "__main__":
    main()
