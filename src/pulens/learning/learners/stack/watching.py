"""Watching a stack's epochs: the best one of every run by some criterion, and which runs go on.

One watcher serves ``fit``, which keeps the parameters of the best epoch, and the benchmark, which keeps the scores of
the best epochs by several criteria. Everything is a mask over runs: a run that stops keeps what it has while the others
go on. Patience is an answer, not an interruption: the watcher says who goes on, and the loop ends when nobody does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from pulens.learning.learners.stack.program import Program, Stack, Stage

Criterion = Callable[[Program], Sequence[float]]


class Best:
    """The best epoch of every run by one criterion, higher being better; the first of equals stays."""

    def __init__(self, runs: int, device: torch.device | str) -> None:
        self.value = torch.full((runs,), -torch.inf, dtype=torch.float64, device=device)
        self.epoch = torch.full((runs,), -1, dtype=torch.int64, device=device)  # -1: never a number yet
        self.since = torch.zeros(runs, dtype=torch.int64, device=device)  # epochs without improvement

    def offer(self, value: torch.Tensor, number: int, running: torch.Tensor, *, is_first: bool) -> torch.Tensor:
        """Take an epoch's values [R]; gives back where they are better. A nan never is."""
        better = (value > self.value) & running
        self.value = torch.where(better, value, self.value)
        self.epoch = torch.where(better, number, self.epoch)
        self.since = torch.where(better | is_first, 0, self.since + 1)
        return better


class Watcher:
    """Called after every epoch of a loop; subclasses say what criteria say of it, and keep what is worth keeping.

    ``by`` is the criterion that ``patience`` waits by: a run stops after this many epochs without improvement.
    """

    def __init__(self, runs: int, device: torch.device | str, *, by: str, patience: int | None = None) -> None:
        self.runs, self.device, self.by, self.patience = runs, device, by, patience
        self.best: dict[str, Best] = {}
        self.running = torch.ones(runs, dtype=torch.bool, device=device)
        self.epochs: list[int] = []  # those that were looked at

    def __call__(self, program: Program, number: int, stage: Stage) -> torch.Tensor | None:
        """Look at an epoch that may be kept; gives back which runs go on, None for all."""
        if stage.selectable:
            self.look(program, number)
        return None if self.patience is None or bool(self.running.all()) else self.running

    def look(self, program: Program, number: int) -> None:
        """Find out what the criteria say of an epoch, and :meth:`note` it."""
        raise NotImplementedError

    def keep(self, name: str, better: torch.Tensor) -> None:
        """Keep this epoch for the runs where it is the best so far by a criterion."""
        raise NotImplementedError

    def note(self, number: int, values: Mapping[str, torch.Tensor]) -> None:
        """Take what the criteria say [R], higher being better."""
        is_first = not self.epochs
        self.epochs.append(number)
        for name, value in values.items():
            best = self.best.setdefault(name, Best(self.runs, self.device))
            self.keep(name, best.offer(value, number, self.running, is_first=is_first))
        if self.patience is not None:
            self.running = self.running & (self.best[self.by].since < self.patience)


class BestParameters(Watcher):
    """Keeps the parameters of every run's best epoch."""

    def __init__(self, stack: Stack, criterion: Criterion, patience: int | None = None) -> None:
        super().__init__(stack.runs, "cpu", by="selection", patience=patience)
        self.stack, self.criterion = stack, criterion
        self.history: list[dict[str, Any]] = []
        self._kept: list[Any] | None = None

    def __call__(self, program: Program, number: int, stage: Stage) -> torch.Tensor | None:
        running = super().__call__(program, number, stage)
        return None if running is None else running.to(self.stack.data.device)

    def look(self, program: Program, number: int) -> None:
        values = [float(value) for value in self.criterion(program)]
        self.history.append({"epoch": number, "selection": values})
        self.note(number, {self.by: torch.tensor(values, dtype=torch.float64)})

    def keep(self, name: str, better: torch.Tensor) -> None:
        if self._kept is None:
            self._kept = [network.snapshot() for network in self.stack.networks]
        elif bool(better.any()):
            self._keep_where(better)

    def _keep_where(self, chosen: torch.Tensor) -> None:
        assert self._kept is not None
        for network, kept in zip(self.stack.networks, self._kept, strict=True):
            network.keep_where(chosen.to(self.stack.data.device), kept)

    def put_back(self) -> list[int]:
        """Put the kept parameters back; a run whose criterion was never a number keeps its last epoch."""
        if self._kept is None:
            return [-1] * self.runs
        epoch = self.best[self.by].epoch
        never = epoch < 0
        self._keep_where(never)
        for network, kept in zip(self.stack.networks, self._kept, strict=True):
            network.restore(kept)
        return [int(number) for number in torch.where(never, self.epochs[-1], epoch)]


@contextmanager
def not_scored(stack: Stack, runs: Sequence[int]) -> Iterator[None]:
    """Scores of these runs are not wanted: where networks compute run by run they are 0, and cost nothing."""
    for network in stack.networks:
        network.leave_unscored(runs)
    try:
        yield
    finally:
        for network in stack.networks:
            network.leave_unscored(())
