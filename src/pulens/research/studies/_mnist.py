"""Calibration of networks trained on MNIST, digits 5 to 9 positive: figures 1 to 3 of the PU-ECE paper."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from pulens.atomic_write import whole_file
from pulens.errors import MissingDependencyError
from pulens.research.studies._stored import store_path, unreadable
from pulens.research.studies._study import Workbench
from pulens.types import Floats

SETTINGS = ("PN-logistic", "PN-sigmoid", "PU-logistic", "PU-sigmoid")
COLOURS = {"PN-logistic": "#1f5fa8", "PN-sigmoid": "#3d8b5f", "PU-logistic": "#c8553d", "PU-sigmoid": "#b08a2e"}
FIRST_POSITIVE = 5


@dataclass(frozen=True, slots=True)
class TrainingDesign:
    """How much is trained; the paper has 100 trials, 60,000 unlabelled rows, 100 epochs, sizes that it only draws."""

    sizes: tuple[int, ...] = (100, 300, 1_000, 3_000, 10_000)
    trials: int = 20
    unlabelled: int = 60_000
    epochs: int = 100
    shrink: int = 1  # pixels a side that become one
    seed: int = 0

    @classmethod
    def of(cls, bench: Workbench) -> TrainingDesign:
        if bench.quick:
            return cls(sizes=(200, 2_000), trials=2, unlabelled=8_000, epochs=40, shrink=2, seed=bench.seed)
        return cls(seed=bench.seed)

    def __str__(self) -> str:
        small = f", {28 // self.shrink} x {28 // self.shrink} pixels" if self.shrink > 1 else ""
        return (
            f"{self.trials} trials, {self.unlabelled:,} unlabelled rows, {self.epochs} epochs "
            f"(paper: 100, 60,000, 100){small}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """Errors on the test rows (setting, size, trial), and the test logits of the largest size (setting, trial, row)."""

    design: TrainingDesign
    errors: Floats
    pu_errors: Floats
    accuracies: Floats
    logits: NDArray[np.float32]
    is_positive: NDArray[np.bool_]

    def of(self, setting: str, which: Floats) -> Floats:
        """One setting's numbers, (size, trial)."""
        return np.asarray(which[SETTINGS.index(setting)])

    def test_logits(self, setting: str) -> Floats:
        """(trial, row), networks trained with the most labelled rows."""
        return np.asarray(self.logits[SETTINGS.index(setting)], float)


def trained(bench: Workbench) -> Trained:
    """The networks of the design; what lies in ``mnist-runs-*.npz`` of the output folder is not trained again."""
    design = TrainingDesign.of(bench)
    store = store_path(bench, "mnist-runs", ".npz")
    if store is not None and store.exists():
        return _read(store, design)
    if design not in _MADE:
        _MADE[design] = train_all(design, bench.progress)
    if store is not None:
        _write(store, _MADE[design])
    return _MADE[design]


def at_hand(bench: Workbench) -> Trained | None:
    """The networks of the design where figures 1 to 3 left them, and none where they would have to be trained."""
    store = store_path(bench, "mnist-runs", ".npz")
    is_there = TrainingDesign.of(bench) in _MADE or (store is not None and store.exists())
    return trained(bench) if is_there else None


_MADE: dict[
    TrainingDesign, Trained
] = {}  # three studies read the same networks: within a process they are trained once


def train_all(design: TrainingDesign, progress: Callable[[str], None]) -> Trained:
    """All sizes and trials of a setting are one stack."""
    if find_spec("torch") is None:
        raise MissingDependencyError("PyTorch", purpose="training the networks of the PU-ECE paper", extra="torch")
    from pulens.research.benchmark import datasets

    data = datasets.load("mnist")
    rows, test_rows = (pictures(x, design.shrink) for x in (data.X, data.X_test))
    positive, test_positive = data.target >= FIRST_POSITIVE, data.target_test >= FIRST_POSITIVE
    shape = (len(SETTINGS), len(design.sizes), design.trials)
    errors, pu_errors, accuracies = (np.empty(shape) for _ in range(3))
    kept = np.empty((len(SETTINGS), design.trials, len(test_rows)), np.float32)
    for place, setting in enumerate(SETTINGS):
        progress(f"training {setting}: {len(design.sizes) * design.trials} networks")
        learners = _fit(setting, rows, positive, design)
        for run, learner in enumerate(learners):
            size, trial = divmod(run, design.trials)
            logits = learner.decision_function(test_rows)
            errors[place, size, trial] = labelled_error(logits, test_positive)
            pu_errors[place, size, trial] = pu_error(logits, test_positive, np.random.default_rng([design.seed, run]))
            accuracies[place, size, trial] = np.mean((logits > 0) == test_positive)
            if size == len(design.sizes) - 1:
                kept[place, trial] = logits
    return Trained(design, errors, pu_errors, accuracies, kept, test_positive)


def pictures(bytes_: NDArray[Any], shrink: int) -> NDArray[np.float32]:
    """Rows of pixels between 0 and 1, blocks of ``shrink`` x ``shrink`` averaged.

    >>> pictures(np.full((1, 1, 4, 4), 255, np.uint8), 2)
    array([[1., 1., 1., 1.]], dtype=float32)
    """
    side = bytes_.shape[-1] // shrink
    blocks = bytes_.reshape(len(bytes_), side, shrink, side, shrink).astype(np.float32).mean(axis=(2, 4))
    result: NDArray[np.float32] = blocks.reshape(len(bytes_), -1) / np.float32(255)
    return result


def _fit(setting: str, rows: NDArray[np.float32], positive: NDArray[np.bool_], design: TrainingDesign) -> list[Any]:
    from pulens.learning.learners import fit_many
    from pulens.research.studies import _mnist_training as training

    kind, loss = setting.split("-")
    learners, chosen, labels, validation = [], [], [], []
    for size in design.sizes:
        for trial in range(design.trials):
            rng = np.random.default_rng([design.seed, size, trial])
            seed = int(rng.integers(2**31))
            if kind == "PU":
                labelled = rng.choice(np.flatnonzero(positive), size, replace=False)
                unlabelled = rng.permutation(len(rows))[: design.unlabelled]
                chosen.append(np.concatenate([labelled, unlabelled]))
                labels.append(np.repeat(np.array([1, 0], np.int8), [size, unlabelled.size]))
                prior = float(positive.mean())
                given: dict[str, Any] = {"class_prior": prior, "scenario": "case-control"}
                learners.append(training.PaperLearner(loss=loss, **given, epochs=design.epochs, random_state=seed))
            else:
                drawn = rng.permutation(len(rows))[:size]
                held, own = drawn[: max(1, size // 10)], drawn[max(1, size // 10) :]
                chosen.append(own)
                labels.append(positive[own].astype(np.int8))
                validation.append((held, np.where(positive[held], 1, -1).astype(np.int8)))
                # an epoch of few rows is a step or two: shortening these trainings would save nothing
                learners.append(training.Supervised(loss=loss, scenario="case-control", random_state=seed))
    return fit_many(learners, rows, labels, rows=chosen, validation=validation or None)


def labelled_error(logits: Floats, is_positive: NDArray[np.bool_]) -> float:
    """The calibration error with all labels, in bins of equal mass, as many as the cube root of the rows."""
    from scipy.special import expit

    from pulens.research.studies._pu_ece import cube_root_bins, labelled_calibration_error

    return labelled_calibration_error(expit(logits), is_positive, cube_root_bins(logits.size))


def pu_error(logits: Floats, is_positive: NDArray[np.bool_], rng: np.random.Generator) -> float:
    """PU-ECE of the same scores: positives of one half of the rows, the other half unlabelled."""
    from pulens.calibration import expected_calibration_error

    order = rng.permutation(logits.size)
    first, second = order[: logits.size // 2], order[logits.size // 2 :]
    first = first[is_positive[first]]
    labels = np.repeat([1, 0], [first.size, second.size])
    values = logits[np.concatenate([first, second])]
    prior = float(is_positive.mean())
    options: dict[str, Any] = {"class_prior": prior, "scenario": "case-control", "redraws": 1}
    return expected_calibration_error(labels, values, scores_are="logit", labelling="random", **options).value


def _read(store: Path, design: TrainingDesign) -> Trained:
    names = ("errors", "pu_errors", "accuracies", "logits", "is_positive")
    try:
        with store.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            same = json.loads(str(kept["design"])) == json.loads(json.dumps(asdict(design)))
            parts = [kept[name] for name in names]
    except (ValueError, KeyError, OSError, BadZipFile) as error:
        raise unreadable(store, error) from error
    if not same:
        raise unreadable(store)
    return Trained(design, *parts)


def _write(store: Path, result: Trained) -> None:
    with whole_file(store) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file,
            design=json.dumps(asdict(result.design)),
            errors=result.errors,
            pu_errors=result.pu_errors,
            accuracies=result.accuracies,
            logits=result.logits,
            is_positive=result.is_positive,
        )
