"""What a method gives to the training loop: its stages, its loss (a vector of R), what it remembers between steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import nn

from pulens.errors import PulensError
from pulens.learning.learners.stack.networks import StackedNetwork
from pulens.learning.learners.stack.optimiser import Optimiser, OptimiserSettings
from pulens.learning.learners.stack.rows import Batch, Batches, StackedRows
from pulens.learning.learners.stack.streams import FURTHER_PASS, Streams

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
    renew_every: int | None = None  # forget the optimiser's moments after every this many epochs
    networks: tuple[int, ...] = (0,)

    def optimisers(self, stack: Stack) -> list[Optimiser]:
        """Fresh ones, one for each network that this stage trains."""
        one = self.optimiser
        settings = [one] * len(self.networks) if isinstance(one, OptimiserSettings) else one
        return [Optimiser(stack.networks[index], own) for index, own in zip(self.networks, settings, strict=True)]


@dataclass(frozen=True)
class Turn:
    """One step of a stage: its optimisers in the order of its networks, and which runs take the step [R]."""

    optimisers: Sequence[Optimiser]
    factor: float  # of the learning rates
    moves: torch.Tensor | None

    def take(self, number: int, gradient: torch.Tensor) -> None:
        """Move the stage's network of this number."""
        self.optimisers[number].step(gradient, self.factor, self.moves)


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

    def population_scores(self) -> list[torch.Tensor]:
        """Evaluation-mode logits of every run's population rows, on the CPU: one wait for the device for all runs."""
        scores = self.network.score(self.data.table, self.data.rows).cpu()
        return [row[mask] for row, mask in zip(scores, self.data.is_population.cpu(), strict=True)]

    def logits(self, batch: Batch, x: torch.Tensor | None = None, *, network: int = 0, again: int = 0) -> torch.Tensor:
        """Training-mode logits of a batch; ``again`` sets a further pass of the same step apart, for its dropout."""
        epoch, step = batch.moment
        moment = (epoch, step + again * FURTHER_PASS)
        return self.networks[network](batch.x if x is None else x, self.streams, moment)

    def both_logits(self, batch: Batch, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Training-mode logits of a batch and, in a further pass, of as many other rows; in one pass if it can."""
        network, (epoch, step) = self.network, batch.moment
        if not network.joins_passes:
            return self.logits(batch), self.logits(batch, x, again=1)
        moments = ((epoch, step), (epoch, step + FURTHER_PASS))
        first, second = network(torch.cat([batch.x, x], 1), self.streams, moments).chunk(2, 1)
        return first, second


class Program:
    """What one method does. A stack of one is the ordinary case; everything is written for R."""

    needs_class_prior = True
    leaves_out_copies: ClassVar[bool] = False  # of held-out labelled rows among the unlabelled ones that are trained on
    network_names: tuple[str, ...] = ("network",)
    #: networks that are drawn at random even where the others begin from a given one
    always_fresh: ClassVar[tuple[str, ...]] = ()
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

    def step(self, stage: Stage, batch: Batch, turn: Turn) -> None:
        """Move the parameters once; methods whose networks take turns replace this."""
        for number, gradient in enumerate(self.gradients(stage, batch)):
            turn.take(number, gradient)

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


def gradients_of(
    total: torch.Tensor, networks: Sequence[StackedNetwork], *, keep_graph: bool = False
) -> list[torch.Tensor]:
    """The gradient of a number with respect to each network, laid out as its ``flat`` is."""
    asked = [network.leaves for network in networks]
    result = iter(
        torch.autograd.grad(total, [leaf for own in asked for leaf in own], retain_graph=keep_graph, allow_unused=True)
    )
    return [network.gradient([next(result) for _ in own]) for network, own in zip(networks, asked, strict=True)]
