"""The training loop: R runs as one program.

A method gives a :class:`~pulens.learners.stack.program.Program`. The loop owns batches, optimisers, schedules and the
progress bar; who watches its epochs says which runs go on. Losses are summed before the gradient is taken: runs share
no parameter, so their gradients do not mix.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from pulens.errors import PulensError
from pulens.learning.learners.stack.program import Program, Stack, Stage
from pulens.learning.learners.stack.recording import Graphs, Recorder, is_wanted
from pulens.learning.learners.stack.watching import BestParameters, Criterion, Watcher

# called after every epoch; may say which runs go on, as a mask [R], and the others keep the parameters they have
EpochHook = Callable[[Program, int, Stage], torch.Tensor | None]


@dataclass(frozen=True)
class Report:
    """How training went: the epoch that each run's parameters are of, and what the criterion said of every epoch."""

    best_epoch: list[int]
    history: list[dict[str, Any]]


def train(
    program: Program,
    *,
    criterion: Criterion | None = None,
    patience: int | None = None,
    on_epoch: EpochHook | None = None,
    progress: bool = False,
    deterministic: bool = False,
) -> Report:
    """Run every stage; with a criterion keep each run's best epoch, higher being better.

    ``patience`` stops a run after this many selectable epochs without improvement; the others go on. ``on_epoch`` can
    stop runs too: those where the mask [R] that it gives back is false. Where nobody goes on, training ends.
    """
    stack = program.stack
    watcher = None if criterion is None else BestParameters(stack, criterion, patience)
    hooks = [hook for hook in (watcher, on_epoch) if hook is not None]
    with (
        _determinism(deterministic),
        _torch_seed(stack),
        _matmul_precision(stack.network.precision),
    ):
        number = _go_through(program, hooks, progress)
    best = [number] * stack.runs if watcher is None else watcher.put_back()
    program.finish()
    # a watcher of its own kept what it wanted of the runs that it stopped; where they ended is nobody's concern
    _check_finite(stack, on_epoch.running if isinstance(on_epoch, Watcher) else None)
    return Report(best, [] if watcher is None else watcher.history)


def _go_through(program: Program, hooks: Sequence[EpochHook], progress: bool) -> int:
    """All epochs, as long as a run goes on; how many they were."""
    stack, stages = program.stack, program.stages()
    recorder = Recorder(program, Graphs if is_wanted(program) else None)
    number, running = 0, None
    with _progress(sum(stage.epochs for stage in stages), stack.runs, progress) as advance, _resting(stack) as rest:
        for stage, optimisers, factor in _epochs(program, stages):
            program.begin_epoch(stage, number)
            rest(running)
            recorder.epoch(stage, optimisers, factor, running, number)
            program.end_epoch(stage)
            number += 1
            running = _running([hook(program, number, stage) for hook in hooks], stack.runs)
            advance(number)
            if running is not None and not bool(running.any()):
                break
    return number


def _epochs(program: Program, stages: Sequence[Stage]) -> Iterator[tuple[Stage, Any, float]]:
    """Every epoch of every stage, with its optimisers and the factor of its learning rate."""
    for stage in stages:
        program.begin_stage(stage)
        optimisers = stage.optimisers(program.stack)
        for epoch in range(stage.epochs):
            program.epoch_in_stage = epoch
            if stage.renew_every and epoch and epoch % stage.renew_every == 0:
                for optimiser in optimisers:
                    optimiser.renew()
            yield stage, optimisers, stage.schedule(epoch)


def _running(masks: Sequence[Any], runs: int) -> torch.Tensor | None:
    """The runs that everybody wants to go on; None means all."""
    running = None
    for mask in masks:
        if mask is None:
            continue
        if not isinstance(mask, torch.Tensor) or mask.dtype is not torch.bool or mask.shape != (runs,):
            raise PulensError(
                f"on_epoch must give back None, or a boolean tensor with one entry for each of the {runs} runs that "
                f"says which of them go on, got {mask!r}."
            )
        running = mask if running is None else running & mask
    return running


def _check_finite(stack: Stack, runs: torch.Tensor | None = None) -> None:
    """Refuse parameters that are no numbers, of these runs or of all."""
    for network in stack.networks:
        parts = network.parameters.values()
        values = [network.flat] if runs is None else [part.detach()[runs.to(part.device)] for part in parts]
        if not all(bool(torch.isfinite(part).all()) for part in values):
            raise PulensError(
                "training diverged: some parameters are no longer finite numbers. Lower learning_rate, and scale the "
                "features first (sklearn.preprocessing.StandardScaler)."
            )


@contextmanager
def _progress(total: int, runs: int, wanted: bool) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal; silence elsewhere."""
    if not wanted or not sys.stderr.isatty():
        yield lambda number: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("training" if runs == 1 else f"training {runs} runs", total=total)
        yield lambda number: bar.update(task, completed=number)


@contextmanager
def _resting(stack: Stack) -> Iterator[Callable[[torch.Tensor | None], None]]:
    """A way to say which runs train on: where networks compute run by run, the others then cost nothing."""

    def rest(running: torch.Tensor | None) -> None:
        by_run = [network for network in stack.networks if network.goes_run_by_run]
        resting = () if running is None or not by_run else (~running).nonzero().flatten().tolist()
        for network in by_run:
            network.rest(resting)

    try:
        yield rest
    finally:
        rest(None)


@contextmanager
def _determinism(wanted: bool) -> Iterator[None]:
    """Only deterministic kernels, or else the fastest convolutions, while training; what was set comes back."""
    before, warns = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    benchmark = torch.backends.cudnn.benchmark
    if wanted:
        torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = not wanted  # batches have two sizes, so trying the kernels pays
    try:
        yield
    finally:
        if wanted:  # asking takes a second the first time: torch loads its compiler to pass it on
            torch.use_deterministic_algorithms(before, warn_only=warns)
        torch.backends.cudnn.benchmark = benchmark


@contextmanager
def _torch_seed(stack: Stack) -> Iterator[None]:
    """Modules that ask torch's own generator (dropout of a user's network) get a seeded one, which is then put back."""
    if all(network.steps is not None for network in stack.networks):
        yield
        return
    devices = [stack.data.device] if stack.data.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(sum(seed * 31**place for place, seed in enumerate(stack.streams.seeds)) % (1 << 63))
        yield


@contextmanager
def _matmul_precision(precision: str) -> Iterator[None]:
    """TF32 products where asked for; what was set before comes back."""
    if precision != "tf32":
        yield
        return
    before, convolutions = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = True
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
        torch.backends.cudnn.allow_tf32 = convolutions
