"""What a run costs when many are trained as one, and one nnPU epoch beside the published benchmark's.

    python benchmarks/training.py                  # small, on the CPU, about three minutes
    python benchmarks/training.py --device cuda    # full: stacks of up to 200 runs, CIFAR network

Rows are random numbers of the right shape: training time does not depend on what they say.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
from pulens.learners import NNPU, fit_many

# CPU seconds of one thread per nnPU epoch, training and evaluation, of the release of paper 004's benchmark
PUBLISHED = {"Spambase": 0.44, "Connect-4": 6.3, "MNIST": 23.4}
# labelled, unlabelled, validation and test rows under the conventional setting; shape of a row; backbone
SIZES = {
    "Spambase": (143, 3643, 37, 921, (57,), "mlp"),
    "Connect-4": (3522, 53504, 541, 13512, (126,), "mlp"),
    "MNIST": (2919, 59400, 600, 10000, (1, 28, 28), "lenet"),
    "CIFAR-10": (1980, 49500, 500, 10000, (3, 32, 32), "cifar_cnn"),
}


def rows(labelled: int, unlabelled: int, shape: tuple[int, ...], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(labelled + unlabelled, *shape)).astype(np.float32)
    return X, np.repeat([1, 0], [labelled, unlabelled])


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def epoch_seconds(
    runs: int,
    X: np.ndarray,
    labels: np.ndarray,
    device: str,
    *,
    epochs: int = 3,
    clock=time.perf_counter,
    each=None,
    recorded: bool = True,
    **options,
) -> float:
    """Median seconds per epoch of a stack, the first epoch (warm-up) left out."""
    marks: list[float] = []
    os.environ["PULENS_CUDA_GRAPHS"] = "1" if recorded else "0"

    def mark(program, number, stage):
        if each is not None:
            each(program)
        wait(device)
        marks.append(clock())

    settings = {"class_prior": 0.4, "scenario": "case-control", "selection": "last", "progress": False}
    settings |= {"device": device, "epochs": epochs + 1}
    network = {key: options.pop(key) for key in ("convolution",) if key in options}
    learners = [NNPU(random_state=seed, **settings, **options) for seed in range(runs)]
    fit_many(learners, X, [labels] * runs, on_epoch=mark, **network)
    return float(np.median(np.diff(marks)))


def stacks(device: str, heights: list[int], names: list[str], found: dict) -> None:
    print(f"\nstacked runs on {device}, batch 256, nnPU: seconds per run and epoch")
    for name in names:
        labelled, unlabelled, _, _, shape, backbone = SIZES[name]
        if device == "cpu" and backbone == "lenet":
            labelled, unlabelled = labelled // 40, unlabelled // 40
        ways = ("grouped", "each", "patches") if backbone == "lenet" else ("grouped",)
        alone = None
        for runs in heights:
            # a tall stack of pictures shows its cost on part of the rows; the rest is the same again
            part = 1 if runs <= 10 or backbone == "mlp" else 10
            X, labels = rows(labelled // part, unlabelled // part, shape)
            for way in ways if runs > 1 else ("grouped",):
                if way == "each" and runs > 10:
                    continue
                kinds = (
                    [("float32", False), ("bfloat16", False)]
                    if device == "cpu"
                    else [("float32", False), ("float32", True), ("tf32", True)]
                )
                for precision, recorded in kinds:
                    try:
                        spent = epoch_seconds(
                            runs,
                            X,
                            labels,
                            device,
                            backbone=backbone,
                            precision=precision,
                            convolution=way,
                            recorded=recorded,
                        )
                    except torch.OutOfMemoryError:
                        print(f"  {name:<10} R = {runs:<4} {way:<8} {precision}: out of memory")
                        continue
                    each = spent * part / runs
                    if runs == 1 and precision == "float32" and not recorded:
                        alone = each
                    assert alone is not None
                    label = f"{backbone} {way}" if backbone == "lenet" and runs > 1 else backbone
                    print(
                        f"  {name:<10} {label:<15} R = {runs:<4} {precision:<8} {'recorded' if recorded else '':<8} "
                        f"{each:.5f} s   {alone / each:6.1f} times cheaper than R = 1 in float32, step by step",
                        flush=True,
                    )
                    found.setdefault("stacks", []).append(
                        {
                            "data": name,
                            "way": label,
                            "runs": runs,
                            "precision": precision,
                            "recorded": recorded,
                            "seconds": each,
                            "ratio": alone / each,
                        }
                    )


def whole_epochs(names: list[str], found: dict) -> None:
    """One thread of the CPU, R = 1: training, then scoring of training, validation and test rows."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    print("\none nnPU epoch, R = 1, batch 256, CPU seconds of one thread (training + scoring train, validation, test)")
    for name in names:
        labelled, unlabelled, validation, test, shape, backbone = SIZES[name]
        X, labels = rows(labelled, unlabelled, shape)
        rest = torch.as_tensor(rows(1, validation + test - 1, shape, 1)[0])

        def score(program, rest=rest):
            program.stack.network.score(program.stack.data.table, program.stack.data.rows)
            program.stack.network.score(rest)

        spent = epoch_seconds(
            1,
            X,
            labels,
            "cpu",
            backbone=backbone,
            clock=time.process_time,
            each=score,
            epochs=5 if name == "Spambase" else 2,
        )
        ratio = PUBLISHED[name] / spent
        print(
            f"  {name:<10} {spent:8.3f} s   published {PUBLISHED[name]:5.2f} s   {ratio:5.2f} times cheaper", flush=True
        )
        found.setdefault("epochs", []).append(
            {"data": name, "seconds": spent, "published": PUBLISHED[name], "ratio": ratio}
        )
    torch.set_num_threads(threads)


def cifar(device: str, found: dict, compiling: bool) -> None:
    """Each optimisation of the CIFAR network, alone and together; timed on part of the rows."""
    labelled, unlabelled, _, _, shape, backbone = SIZES["CIFAR-10"]
    part = 100 if device == "cpu" else 4
    X, labels = rows(labelled // part, unlabelled // part, shape)
    whole = "" if device == "cpu" else f", times {part}"
    print(f"\nCIFAR network on {device}, {len(X):,} rows, batch 256, nnPU: seconds per epoch{whole}")
    from pulens.learning.learners.stack import loop, networks

    # precision, channels last, compiled, tried kernels, recorded
    kinds = [("float32", False, False, False, False), ("float32", False, False, True, False)]
    kinds += [("tf32", False, False, True, False), ("bfloat16", False, False, True, False)]
    kinds += [("bfloat16", True, False, True, False)]
    if device == "cuda":
        if compiling:
            kinds += [("tf32", False, True, True, False), ("bfloat16", True, True, True, False)]
        kinds += [
            (precision, precision == "bfloat16", False, True, True) for precision in ("float32", "tf32", "bfloat16")
        ]
    before, plain, fastest = None, networks.StackedNetwork.__init__, loop._determinism
    for precision, channels_last, compiled, tried, recorded in kinds:

        def init(self, *given, channels_last=channels_last, **named):
            plain(self, *given, **named)
            self.channels_last = channels_last

        networks.StackedNetwork.__init__ = init
        loop._determinism = fastest if tried else lambda wanted: nullcontext()
        allowed = torch.backends.cudnn.allow_tf32
        torch.backends.cudnn.allow_tf32 = precision != "float32"
        try:
            spent = epoch_seconds(
                1,
                X,
                labels,
                device,
                backbone=backbone,
                precision=precision,
                compile=compiled,
                recorded=recorded,
                epochs=2,
            )
        except Exception as error:  # a machine without a compiler still shows the rest
            print(f"  {precision:<9} compile={compiled}: {type(error).__name__}: {str(error)[:100]}")
            continue
        finally:
            torch.backends.cudnn.allow_tf32 = allowed
            networks.StackedNetwork.__init__, loop._determinism = plain, fastest
        spent *= 1 if device == "cpu" else part
        before = before or spent
        words = {"tried kernels": tried, "channels last": channels_last, "compiled": compiled, "recorded": recorded}
        what = ", ".join([precision, *(word for word, wanted in words.items() if wanted)])
        print(f"  {what:<50} {spent:8.2f} s   {before / spent:5.2f} times faster than float32", flush=True)
        found.setdefault("cifar", []).append({"what": what, "seconds": spent, "ratio": before / spent})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument(
        "--heights", type=int, nargs="+", help="heights of the stacks (default 1 10, on a GPU 1 10 50 200)"
    )
    parser.add_argument("--stacks-of", nargs="+", choices=["Spambase", "MNIST"], default=["Spambase", "MNIST"])
    parser.add_argument("--parts", nargs="+", choices=["stacks", "epochs", "cifar"], default=None)
    parser.add_argument("--no-compiling", action="store_true", help="leave torch.compile out, which takes minutes")
    parser.add_argument("--epochs-of", nargs="+", choices=list(PUBLISHED), default=list(PUBLISHED))
    parser.add_argument("--out", type=Path, help="also write the numbers as JSON")
    given = parser.parse_args()
    parts = given.parts or (["stacks", "epochs"] if given.device == "cpu" else ["stacks", "cifar", "epochs"])
    device = torch.cuda.get_device_name() if given.device == "cuda" else f"{os.cpu_count()} CPU cores"
    print(f"torch {torch.__version__} on {device}, {torch.get_num_threads()} threads")
    found: dict = {"torch": torch.__version__, "device": device}
    if "stacks" in parts:
        stacks(
            given.device,
            given.heights or ([1, 10] if given.device == "cpu" else [1, 10, 50, 200]),
            given.stacks_of,
            found,
        )
    if "cifar" in parts:
        cifar(given.device, found, not given.no_compiling)
    if "epochs" in parts:
        whole_epochs(given.epochs_of, found)
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
