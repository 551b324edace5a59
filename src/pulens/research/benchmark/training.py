"""Train the runs of one stack and say everything about them that an archive keeps."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens._version import __version__
from pulens.errors import PulensError
from pulens.learning.learners.base.rescues import said
from pulens.research.benchmark import methods
from pulens.research.benchmark.archive.counts import binned_counts, decisions, exact_metrics
from pulens.research.benchmark.archive.row import RunRow
from pulens.research.benchmark.plan import Run
from pulens.research.benchmark.splits import LabelledTable, PreparedRun, prepare, scaled, table_of

Row = dict[str, Any]
Arrays = tuple[NDArray[Any], ...]  # one a run
OF_RUN = (
    *("key", "learner", "variant", "dataset", "backbone", "scenario", "unlabelled", "mechanism", "label_frequency"),
    *("seed", "validation_share", "test_share", "standardise", "precision", "own_selection"),
)
OF_METHOD = ("title", "family", "uses_truth", "needs_support")


@dataclass(frozen=True)
class RunOutcome:
    """What training found for one run, before it is put into words of the archive."""

    curve: dict[str, list[Any]]
    choices: dict[str, Any]  # selection -> watch.Chosen
    facts: dict[str, Any]


@dataclass(frozen=True)
class Cost:
    """What a stack took: seconds of training alone, of looking at it, processor seconds, and bytes at the peak."""

    training: float
    watching: float
    processor: float
    memory: int
    memory_of: str


def train(
    runs: Sequence[Run], device: str = "auto", store: Path | None = None, *, table: LabelledTable | None = None
) -> list[RunRow]:
    """Prepare, train and judge the runs of a stack; one row of the archive for each.

    ``table`` is the data set's, where somebody has it at hand already.
    """
    started = datetime.now(UTC)
    method = methods.find(runs[0].source or runs[0].learner)
    table = table_of(runs[0]) if table is None else table
    prepared = [prepare(run, table, store) for run in runs]
    fit = _fit_stack if method.is_network else _fit_one_by_one
    outcomes, cost, place = fit(method, prepared, table, device)
    result = []
    for one, outcome in zip(prepared, outcomes, strict=True):
        row = identity(one.run, method)
        row |= _sample_facts(one) | _judged(one, outcome)
        row["notices"] += _silent(outcome)
        row |= {"given_class_prior": outcome.facts.pop("given_class_prior", None), "status": "done", "reason": None}
        row |= {"found": json.dumps(outcome.facts, sort_keys=True)}
        row |= _costs(cost, len(runs)) | hardware(place)
        row |= {"started": started.isoformat(), "finished": datetime.now(UTC).isoformat()}
        result.append(RunRow.of(row))
    return result


def failed(run: Run, reason: str, device: str = "auto") -> RunRow:
    """The row of a run that could not be done."""
    try:
        method = methods.find(run.source or run.learner)
    except Exception:  # the method's own file may be what is broken
        method = methods.Method(None, run.learner, name=run.learner)
    now = datetime.now(UTC).isoformat()
    row = identity(run, method) | {"status": "failed", "reason": reason, "started": now, "finished": now}
    return RunRow.of(row | hardware(device if device != "auto" else "cpu"))


def identity(run: Run, method: methods.Method) -> Row:
    from pulens.research.benchmark import datasets

    return {
        **{name: getattr(run, name) for name in OF_RUN},
        **{name: getattr(method, name) for name in OF_METHOD},
        "told_class_prior": _cuts_by_prior(method, run),
        "kind": datasets.find(run.dataset).kind,
        "mechanism_alias": run.alias,
        "parameters": json.dumps(dict(run.parameters), sort_keys=True),
        "prior_policy": run.class_prior,
        "rows_used": run.rows,
        "settings": json.dumps(dict(run.settings), sort_keys=True),
    }


def _sample_facts(one: PreparedRun) -> Row:
    return {
        "class_prior": one.class_prior,
        "realised_label_frequency": one.label_frequency,
        "train_labelled": int((one.labels == 1).sum()),
        "train_unlabelled": int((one.labels == 0).sum()),
        "validation_rows": int(one.validation.rows.size),
        "validation_labelled": int(one.validation.labelled.sum()),
        "test_rows": int(one.test.rows.size),
        "test_positives": int(one.test.truth.sum()),
        "test_labelled": int(one.test.labelled.sum()),
        "test_unlabelled": int(one.test.unlabelled.sum()),
        "notices": list(one.notices),
    }


def _judged(one: PreparedRun, outcome: RunOutcome) -> Row:
    """Curve, choices with exact metrics, and tallies at every epoch that some criterion chose."""
    choices, tallies, done = [], [], set()
    for selection, chosen in outcome.choices.items():
        test, validation = decisions(chosen.test), decisions(chosen.validation)
        metrics = exact_metrics(test, one.test.truth)
        choices.append({"selection": selection, "epoch": chosen.epoch, "value": chosen.value, **metrics})
        if chosen.epoch in done:
            continue
        done.add(chosen.epoch)
        for part, scores, rows in (("validation", validation, one.validation), ("test", test, one.test)):
            if np.isfinite(scores).all():
                tallies.append({"part": part, "epoch": chosen.epoch, **binned_counts(scores, rows, one.run.tally_bins)})
    names = list(outcome.curve)
    points = [dict(zip(names, values, strict=True)) for values in zip(*outcome.curve.values(), strict=True)]
    return {"curve": points, "choices": choices, "tallies": tallies, "epochs": int(outcome.curve["epoch"][-1])}


def _silent(outcome: RunOutcome) -> list[str]:
    """A sentence about criteria that said nothing at any epoch, so that the last one stands in their place."""
    names = [name for name, chosen in outcome.choices.items() if name != "last" and np.isnan(chosen.value)]
    if not names:
        return []
    was = "was" if len(names) == 1 else "were"
    return [f"{', '.join(names)} {was} undefined at every epoch: the last epoch is reported in place of a selected one"]


def _costs(cost: Cost, runs: int) -> Row:
    return {
        "seconds": cost.training / runs,
        "stack_runs": runs,
        "stack_seconds": cost.training,
        "stack_watching_seconds": cost.watching,
        "stack_processor_seconds": cost.processor,
        "stack_peak_memory": cost.memory,
        "memory_of": cost.memory_of,
    }


def _fit_stack(
    method: methods.Method, prepared: Sequence[PreparedRun], table: LabelledTable, device: str
) -> tuple[list[RunOutcome], Cost, str]:
    """All runs as one, watched after every epoch."""
    import torch

    from pulens.learning.learners import fit_many
    from pulens.learning.learners.stack.device import find_device
    from pulens.research.benchmark.watch import JudgedStack, Watch

    place = find_device(device)
    _settle_memory(place)
    X, offsets = _tables(prepared, table)
    on_device = torch.as_tensor(X).to(place)
    watch = Watch(
        on_device,
        JudgedStack([one.validation for one in prepared], offsets, on_device),
        JudgedStack([one.test for one in prepared], offsets, on_device),
        [_selecting_prior(method, one, X, offset) for one, offset in zip(prepared, offsets, strict=True)],
        single_set=prepared[0].run.scenario == "single-set",
        own=prepared[0].run.own_selection,
        patience=prepared[0].run.settings.get("patience"),
    )
    stack = [_learner(method, one, str(place)) for one in prepared]
    rows, labels = zip(*(_training_rows(method, one) for one in prepared), strict=True)
    extra: dict[str, Any] = {}
    if method.needs_support:
        known = [one.support() for one in prepared]
        rows, labels = _without_support(rows, labels, known)
        extra["support"] = [(own + offset, codes) for (own, codes), offset in zip(known, offsets, strict=True)]
    held = [_labelled_first(one.validation) for one in prepared]
    processor = time.process_time()
    watch.begin()
    fit_many(
        stack,
        on_device,
        list(labels),
        rows=[own + offset for own, offset in zip(rows, offsets, strict=True)],
        validation=[(own + offset, codes) for (own, codes), offset in zip(held, offsets, strict=True)],
        on_epoch=watch,
        **extra,
    )
    cost = Cost(watch.seconds(), watch.watching, time.process_time() - processor, *_peak(place.type))
    if not watch.trace:
        raise RuntimeError(f"{method.name} trained no epoch that could be kept.")
    outcomes = [
        RunOutcome(curve, choices, _plain(watch.found(run)) | _told(prepared[run], float(watch.priors[run])))
        for run, (curve, choices) in enumerate(zip(watch.curves(), watch.choices(), strict=True))
    ]
    return outcomes, cost, str(place)


def _settle_memory(place: Any) -> None:
    """Start a new peak of memory on a device, with none held back for tensors that are gone."""
    import torch

    if place.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(place)
    else:
        _keep_freed_memory()
        _forget_peak()


def _without_support(rows: Arrays, labels: Arrays, known: Sequence[tuple[NDArray[Any], Any]]) -> tuple[Arrays, Arrays]:
    """Training rows and labels of every run, without the rows whose true labels it is given."""
    kept = [~np.isin(own, places) for own, (places, _) in zip(rows, known, strict=True)]
    left, theirs = (tuple(own[k] for own, k in zip(both, kept, strict=True)) for both in (rows, labels))
    return left, theirs


def _fit_one_by_one(
    method: methods.Method, prepared: Sequence[PreparedRun], table: LabelledTable, device: str
) -> tuple[list[RunOutcome], Cost, str]:
    """Learners without a network: an ordinary fit, which is one epoch."""
    from pulens.research.benchmark.watch import JudgedStack, Watch

    _forget_peak()
    outcomes, training, watching, processor = [], 0.0, 0.0, 0.0
    for one in prepared:
        X = scaled(table.X, one.pool) if one.run.standardise else table.X
        X = X.reshape(len(X), -1)
        learner = _learner(method, one, "cpu")
        rows, labels = _training_rows(method, one)
        extra = {"truth": one.pool_truth} if method.uses_truth else {}
        begun, used = time.perf_counter(), time.process_time()
        learner.fit(X[rows], labels, **extra)
        ended = time.perf_counter()
        training, processor = training + ended - begun, processor + time.process_time() - used
        prior = _selecting_prior(method, one, X)
        if prior is None:
            own = getattr(learner, "class_prior_", None)
            prior = _estimated_prior(one, X) if own is None else float(own)
        outcomes.append(_look_once(one, learner, X, prior, ended - begun, JudgedStack, Watch))
        watching += time.perf_counter() - ended
    return outcomes, Cost(training, watching, processor, *_peak("cpu")), "cpu"


def _look_once(
    one: PreparedRun,
    learner: Any,
    X: NDArray[Any],
    prior: float,
    seconds: float,
    stacked: Any,
    watcher: Any,
) -> RunOutcome:
    import torch

    parts, nothing = [one.validation, one.test], torch.empty(0)
    watch = watcher(
        nothing,
        *(stacked([part], [0], nothing) for part in parts),
        [prior],
        single_set=one.run.scenario == "single-set",
    )
    scores = [torch.as_tensor(np.asarray(learner.decision_function(X[part.rows]), np.float64))[None] for part in parts]
    watch.training_seconds.append(seconds)
    watch.see(1, scores[0], scores[1], None)
    return RunOutcome(watch.curves()[0], watch.choices()[0], _plain(_attributes(learner)) | _told(one, prior))


def _training_rows(method: methods.Method, one: PreparedRun) -> tuple[NDArray[Any], NDArray[Any]]:
    """PU rows and labels; the truth goes to the references that are declared to use it, and to nobody else."""
    if method.uses_truth:
        return one.pool, one.pool_truth.astype(np.int8)
    return one.rows, one.labels


def _selecting_prior(method: methods.Method, one: PreparedRun, X: NDArray[Any], offset: int = 0) -> float | None:
    """The class prior that selects epochs: the true one only where methods are told it; None is the run's own.

    A method that takes no class prior has none of its own: its epochs are then selected with the estimate that
    ``class_prior="auto"`` makes of these rows, and with none at all where too few are labelled to estimate it.
    """
    if one.run.class_prior == "known":
        return one.class_prior
    return None if method.takes_class_prior else _estimated_prior(one, X, offset)


def _estimated_prior(one: PreparedRun, X: NDArray[Any], offset: int = 0) -> float:
    """What ``class_prior="auto"`` makes of a run's rows, nan where that cannot be."""
    from pulens.learning.learners.base.prior import estimated_class_prior

    order = np.argsort(one.labels != 1, kind="stable")  # labelled rows first, as stacks have them: folds depend on it
    try:
        return estimated_class_prior(X[one.rows[order] + offset], one.labels[order], one.run.scenario, one.run.seed)
    except PulensError:
        return float("nan")


def _told(one: PreparedRun, prior: float) -> dict[str, float]:
    """The class prior that selected epochs, where it is not the true one and there is one."""
    return {} if one.run.class_prior == "known" or np.isnan(prior) else {"selecting_class_prior": prior}


def _learner(method: methods.Method, one: PreparedRun, device: str) -> Any:
    """The learner with the plan's settings; ``selection="last"``, since the watch does the selecting."""
    run = one.run
    decided: dict[str, Any] = {"random_state": run.seed, "scenario": run.scenario}
    if method.takes_class_prior:
        decided["class_prior"] = one.class_prior if run.class_prior == "known" else "auto"
    elif _cuts_by_prior(method, run):
        decided["class_prior"] = one.class_prior
    if method.is_network:
        decided |= {"backbone": run.backbone, "device": device, "precision": run.precision, "progress": False}
    settings = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in run.settings.items()
        if name != "selection"
    }
    if method.is_network:
        decided["selection"] = "last"
    known = method.settings
    return method.learner(**settings, **{name: value for name, value in decided.items() if name in known})


def _cuts_by_prior(method: methods.Method, run: Run) -> bool:
    """Whether a method that takes no class prior is told it all the same."""
    return method.cuts_by_class_prior and run.class_prior == "known" and bool(run.settings.get("pinned", True))


def _plain(result: dict[str, Any]) -> dict[str, Any]:
    """What a learner found, without arrays; the class prior under the archive's name for it."""
    facts: dict[str, Any] = {}
    for name, value in sorted(result.items()):
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, float | int | str | bool):
            facts["given_class_prior" if name == "class_prior" else name] = plain
    return facts


def _attributes(learner: Any) -> dict[str, Any]:
    """What a learner that was fitted alone found: its fitted attributes, and in words what it was rescued by."""
    fitted = {name: value for name, value in vars(learner).items() if name.endswith("_") and name[0] != "_"}
    rescues = fitted.pop("rescues_", ())
    result = {name.rstrip("_"): value for name, value in fitted.items() if name not in ("n_features_in_",)}
    return result | ({"rescues": said(rescues)} if rescues else {})


def _labelled_first(part: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Validation rows with PU labels; a row that is both occurs twice, as in training."""
    labelled, unlabelled = part.rows[part.labelled], part.rows[part.unlabelled]
    return np.concatenate([labelled, unlabelled]), np.repeat([1, 0], [labelled.size, unlabelled.size])


def _tables(prepared: Sequence[PreparedRun], table: LabelledTable) -> tuple[NDArray[np.float32], list[int]]:
    """One table for all runs, or, where columns are scaled with training rows, one per seed on top of another."""
    if not prepared[0].run.standardise:
        return table.X, [0] * len(prepared)
    pools = {one.run.seed: one.pool for one in prepared}
    places = {seed: number * len(table.X) for number, seed in enumerate(pools)}
    X = np.concatenate([scaled(table.X, pool) for pool in pools.values()])
    return X, [places[one.run.seed] for one in prepared]


@cache
def _keep_freed_memory() -> None:
    """Tell glibc to keep what is freed: handing half a megabyte back at every step costs a sixth of the time."""
    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        for option in (-1, -3):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
            library.mallopt(ctypes.c_int(option), ctypes.c_int(1 << 30))


def _forget_peak() -> None:
    """Start a new peak of resident memory, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak(kind: str) -> tuple[int, str]:
    """Bytes at the peak, and of what: the device's allocations, or the process."""
    if kind == "cuda":
        import torch

        return int(torch.cuda.max_memory_allocated()), "device"
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1]), "process"
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, "process"


@lru_cache(maxsize=4)
def hardware(device: str) -> Row:
    """Versions and machine, the same for every run of a process."""

    def installed(name: str) -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    device_name = platform.processor() or platform.machine()
    if device.startswith("cuda"):
        import torch

        device_name = torch.cuda.get_device_name(torch.device(device))
    return {
        "device": device,
        "device_name": device_name,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "pulens": __version__,
        "torch": installed("torch"),
        "numpy": installed("numpy"),
        "scikit_learn": installed("scikit-learn"),
    }
