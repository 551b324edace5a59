"""The training loop: R runs as one program.

A method gives a :class:`Program`: its stages, its loss (a vector of R) and what it remembers between steps. The loop
owns batches, optimisers, schedules, early stopping, the best checkpoint and the progress bar. Losses are summed before
the gradient is taken: runs share no parameter, so their gradients do not mix.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from pulens.errors import PulensError
from pulens.learners.stack.dense.chain import DenseChain, joined
from pulens.learners.stack.networks import StackedNetwork
from pulens.learners.stack.optimiser import Optimiser, OptimiserSettings
from pulens.learners.stack.recording import Graphs, Recorder, is_wanted
from pulens.learners.stack.rows import Batch, Batches, StackedRows
from pulens.learners.stack.streams import FURTHER_PASS, Streams

Builder = Callable[[], nn.Module]


@dataclass(frozen=True)
class Stage:
    """Some epochs that share a loss, a way to draw batches and an optimiser."""

    name: str
    epochs: int
    batches: Batches
    optimiser: OptimiserSettings | tuple[OptimiserSettings, ...]  # one for all networks, or one for each
    schedule: Callable[[int], float] = lambda epoch: 1.0
    selectable: bool = True  # may an epoch of this stage be the one that is kept?
    renew_every: int | None = None  # forget the optimiser's moments after every so many epochs
    networks: tuple[int, ...] = (0,)

    def optimisers(self, stack: Stack) -> list[Optimiser]:
        """Fresh ones, one for each network that this stage trains."""
        one = self.optimiser
        settings = [one] * len(self.networks) if isinstance(one, OptimiserSettings) else one
        return [Optimiser(stack.networks[index], own) for index, own in zip(self.networks, settings, strict=True)]


@dataclass
class Stack:
    """What all runs share, and the numbers in which they differ."""

    data: StackedRows
    streams: Streams
    networks: list[StackedNetwork]
    class_prior: torch.Tensor  # [R], of the population
    settings: dict[str, Any]  # a number, or a tensor [R] where runs differ
    held_out: StackedRows | None = None  # validation rows, never trained on
    class_priors: Sequence[float | None] = ()
    support: StackedRows | None = None  # rows of known class, for methods that ask for some; positives first
    backbone: Builder | None = None  # makes a fresh module like those of the first network

    def named(self, name: str) -> StackedNetwork:
        """A network by its name."""
        return next(network for network in self.networks if network.name == name)

    @property
    def network(self) -> StackedNetwork:
        return self.networks[0]

    @property
    def runs(self) -> int:
        return self.data.runs

    @property
    def dense_chains(self) -> list[DenseChain]:
        """Of the networks that compute run by run."""
        return [network._dense for network in self.networks if network._dense is not None]

    def population_scores(self) -> list[torch.Tensor]:
        """Evaluation-mode logits of every run's population rows, on the CPU: one wait for the device for all runs."""
        scores = self.network.score(self.data.table, self.data.rows).cpu()
        return [row[mask] for row, mask in zip(scores, self.data.is_population.cpu(), strict=True)]

    def logits(self, batch: Batch, x: torch.Tensor | None = None, *, network: int = 0, again: int = 0) -> torch.Tensor:
        """Training-mode logits of a batch; ``again`` sets a further pass of the same step apart, for its dropout."""
        epoch, step = batch.moment
        moment = (epoch, step + again * FURTHER_PASS)
        return self.networks[network](batch.x if x is None else x, self.streams, moment)


class Program:
    """What one method does. A stack of one is the ordinary case; everything is written for R."""

    needs_class_prior = True
    network_names: tuple[str, ...] = ("network",)
    kept: ClassVar[tuple[str, ...]] = ()  # auxiliary networks that stay with the fitted learner, as ``name_``
    # may a step be recorded and replayed? It must then ask nothing of the host: no branch on a value, no counter of its
    # own, and what it remembers from step to step is changed in place
    recordable: ClassVar[bool] = False
    same_steps: ClassVar[bool] = False  # are recorded steps the same in all epochs of a stage?

    @classmethod
    def builders(cls, learner: Any, row_shape: tuple[int, ...], backbone: Builder) -> dict[str, Builder]:
        """What makes each network, by name; the first is the classifier."""
        return dict.fromkeys(cls.network_names, backbone)

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.epoch_in_stage = 0

    def stages(self) -> list[Stage]:
        raise NotImplementedError

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        """[R], differentiable."""
        raise NotImplementedError

    def begin_stage(self, stage: Stage) -> None:
        """Before the first epoch of a stage."""

    def begin_epoch(self, stage: Stage, moment_epoch: int) -> None:
        """Before the steps of an epoch."""

    def after_step(self, stage: Stage, batch: Batch) -> None:
        """After the parameters moved."""

    def end_epoch(self, stage: Stage) -> None:
        """After the steps of an epoch."""

    def gradients(self, stage: Stage, batch: Batch) -> list[torch.Tensor]:
        """One flat gradient per trained network."""
        networks = [self.stack.networks[index] for index in stage.networks]
        return gradients_of(self.loss(stage, batch).sum(), networks)

    def step(
        self,
        stage: Stage,
        batch: Batch,
        optimisers: Sequence[Optimiser],
        factor: float,
        moves: torch.Tensor | None,
    ) -> None:
        """Move the parameters once; methods whose networks take turns replace this.

        ``optimisers`` stand in the order of ``stage.networks``; ``moves`` [R] says which runs take the step.
        """
        for optimiser, gradient in zip(optimisers, self.gradients(stage, batch), strict=True):
            optimiser.step(gradient, factor, moves)

    def score(self, rows: StackedRows) -> torch.Tensor:
        """Evaluation-mode logits [R, widest] of the classifier that would be returned now."""
        return self.stack.network.score(rows.table, rows.rows)

    def finish(self) -> None:
        """After the best epoch was put back: leave in the first network what the learner shall predict with."""

    @classmethod
    def needs_held_out_rows(cls, learner: Any) -> bool:
        """Whether training itself reads held-out rows, besides any selection."""
        return False

    def recorded_for(self, stage: Stage) -> Any:
        """A recorded step holds as long as this stays the same: usually for an epoch."""
        return None if self.same_steps else self.epoch_in_stage

    def hold(self, name: str, values: torch.Tensor) -> None:
        """Set an attribute, in place where it has that shape already: a recorded step then reads the new values."""
        there = getattr(self, name, None)
        if there is not None and there.shape == values.shape:
            there.copy_(values)
        else:
            setattr(self, name, values)

    def value(self, name: str) -> Any:
        """A setting: a number, or a tensor [R] where runs differ."""
        return self.stack.settings[name]

    def adam(self, **changes: Any) -> OptimiserSettings:
        """The optimiser the learner's settings ask for."""
        given = {
            "kind": self.value("optimiser"),
            "learning_rate": self.value("learning_rate"),
            "weight_decay": self.value("weight_decay"),
        }
        return OptimiserSettings(**{**given, **changes})

    def cut(self, population_scores: torch.Tensor, run: int) -> float:
        """The logit above which a row is called positive, given a run's scores on rows that follow the population."""
        return 0.0

    def reference_scores(self) -> list[Any]:
        """What :meth:`cut` is given after training; methods with a fixed cut need nothing scored."""
        return [None] * self.stack.runs

    def own_loss(self, labelled: torch.Tensor, population: torch.Tensor) -> float:
        """The method's own criterion on one run's validation logits, for ``selection="loss"``; lower is better."""
        raise PulensError(f"{type(self).__name__} has no validation loss of its own to select by.")

    def facts(self, run: int) -> dict[str, Any]:
        """What a run found besides its parameters, such as an estimated class prior."""
        return {}


def leaves_of(network: StackedNetwork) -> list[torch.Tensor]:
    """What a loss may be differentiated by: the parameters, and all of them as the one vector a dense chain reads."""
    return [*network.parameters.values(), *(() if network._dense is None else (network._dense.leaf,))]


def gradients_of(
    total: torch.Tensor, networks: Sequence[StackedNetwork], *, keep_graph: bool = False
) -> list[torch.Tensor]:
    """The gradient of a number with respect to each network, laid out as its ``flat`` is."""
    asked = [leaf for network in networks for leaf in leaves_of(network)]
    found = iter(torch.autograd.grad(total, asked, retain_graph=keep_graph, allow_unused=True))
    gradients = []
    for network in networks:
        group = list(network.parameters.values())
        parts = [next(found) for _ in group]
        whole = None if network._dense is None else next(found)
        if all(part is None for part in parts):
            if whole is None:
                raise RuntimeError("a loss does not reach any parameter of a network.")
            gradients.append(whole)
            continue
        # a bias that a batch norm would take away takes no part: its gradient is 0
        known = [torch.zeros_like(leaf) if part is None else part for leaf, part in zip(group, parts, strict=True)]
        # some passes may go through the chain as a whole and others layer by layer
        gradients.append(joined(known) if whole is None else whole + joined(known))
    return gradients


@dataclass
class Report:
    """How training went."""

    best_epoch: list[int]
    history: list[dict[str, Any]] = field(default_factory=list)
    stopped: list[int] = field(default_factory=list)


# may say which runs go on, as a mask [R]; the others keep the parameters they have
EpochHook = Callable[["Program", int, Stage], torch.Tensor | None]
Criterion = Callable[["Program"], Sequence[float]]


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

    ``patience`` stops a run after so many selectable epochs without improvement; the others go on. ``on_epoch`` can
    stop runs too: those where the mask [R] that it gives back is false.
    """
    stack = program.stack
    stages = program.stages()
    recorder = Recorder(program, Graphs if is_wanted(program) else None)
    watch = _Watch(stack, patience) if criterion is not None else None
    report = Report(best_epoch=[-1] * stack.runs)
    total = sum(stage.epochs for stage in stages)
    number = 0
    asked: torch.Tensor | None = None  # which runs the hook wants to go on
    with (
        _progress(total, stack.runs, progress) as advance,
        _determinism(deterministic),
        _torch_seed(stack),
        _matmul_precision(stack.network.precision),
        _resting(stack) as rest,
    ):
        for stage in stages:
            program.begin_stage(stage)
            optimisers = stage.optimisers(stack)
            for epoch in range(stage.epochs):
                program.epoch_in_stage = epoch
                if stage.renew_every and epoch and epoch % stage.renew_every == 0:
                    optimisers = stage.optimisers(stack)
                program.begin_epoch(stage, number)
                factor = stage.schedule(epoch)
                running = None if watch is None or watch.everyone else watch.active
                if asked is not None:
                    running = asked if running is None else running & asked
                rest(running)
                recorder.epoch(stage, optimisers, factor, running, number)
                program.end_epoch(stage)
                number += 1
                if watch is not None and stage.selectable:
                    assert criterion is not None
                    watch.see(criterion(program), number, report)
                if on_epoch is not None:
                    asked = _checked(on_epoch(program, number, stage), stack.runs)
                advance(number)
                if watch is not None and not watch.running:
                    break
            if watch is not None and not watch.running:
                break
    report.best_epoch = watch.finish() if watch is not None else [number] * stack.runs
    program.finish()
    _check_finite(stack)
    return report


def _checked(running: Any, runs: int) -> torch.Tensor | None:
    """Which runs a hook wants to go on: None, or a mask."""
    if running is None or (
        isinstance(running, torch.Tensor) and running.dtype is torch.bool and running.shape == (runs,)
    ):
        return running
    raise PulensError(
        f"on_epoch must give back None, or a boolean tensor with one entry for each of the {runs} runs that says which "
        f"of them go on, got {running!r}."
    )


class _Watch:
    """The best epoch of every run, by masks: a run that stops keeps its checkpoint while the others go on."""

    def __init__(self, stack: Stack, patience: int | None) -> None:
        self.stack, self.patience = stack, patience
        self.best = np.full(stack.runs, -np.inf)
        self.epoch = np.full(stack.runs, -1)
        self.since = np.zeros(stack.runs, int)
        self.running_runs = np.ones(stack.runs, bool)
        self.kept: list[Any] | None = None
        self.active = torch.ones(stack.runs, dtype=torch.bool, device=stack.data.device)

    @property
    def running(self) -> bool:
        return bool(self.running_runs.any())

    @property
    def everyone(self) -> bool:
        return bool(self.running_runs.all())

    def see(self, values: Sequence[float], number: int, report: Report) -> None:
        scores = np.asarray(values, float)
        report.history.append({"epoch": number, "selection": scores.tolist()})
        better = self.running_runs & (scores > self.best)  # nan is never better
        if self.kept is None:
            self.kept = [network.snapshot() for network in self.stack.networks]
        elif better.any():
            mask = torch.as_tensor(better, device=self.stack.data.device)
            for network, kept in zip(self.stack.networks, self.kept, strict=True):
                network.keep_where(mask, kept)
        self.best[better], self.epoch[better] = scores[better], number
        self.since = np.where(better, 0, self.since + 1)
        if self.patience is not None:
            self.running_runs &= self.since <= self.patience
            self.active = torch.as_tensor(self.running_runs, device=self.stack.data.device)
        self._last = number

    def finish(self) -> list[int]:
        """Put the kept parameters back; a run whose criterion was never a number keeps its last epoch."""
        if self.kept is None:
            return [int(number) for number in self.epoch]
        never = self.epoch < 0
        for network, kept in zip(self.stack.networks, self.kept, strict=True):
            network.keep_where(torch.as_tensor(never, device=self.stack.data.device), kept)
            network.restore(kept)
        return [int(number) for number in np.where(never, self._last, self.epoch)]


def _check_finite(stack: Stack) -> None:
    for network in stack.networks:
        if not bool(torch.isfinite(network.flat).all()):
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
    chains = stack.dense_chains

    def rest(running: torch.Tensor | None) -> None:
        resting = frozenset(() if running is None or not chains else (~running).nonzero().flatten().tolist())
        for chain in chains:
            chain.resting = resting

    try:
        yield rest
    finally:
        rest(None)


@contextmanager
def not_scored(stack: Stack, runs: Sequence[int]) -> Iterator[None]:
    """Scores of these runs are not wanted: where networks compute run by run they are 0, and cost nothing."""
    chains = stack.dense_chains
    for chain in chains:
        chain.unscored = frozenset(runs)
    try:
        yield
    finally:
        for chain in chains:
            chain.unscored = frozenset()


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
