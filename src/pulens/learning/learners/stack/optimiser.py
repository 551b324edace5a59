"""Adam, AdamW and SGD over stacked parameters: element by element, so runs never mix."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import torch

from pulens.learning.learners.stack.networks import StackedNetwork

KINDS = ("adam", "adamw", "sgd")
IN_MEMORY = ("cuda",)  # devices where counts and factors are tensors, so that a recorded step finds today's
PIECE = 1 << 18  # numbers of each kind that stay in a CPU's cache together
NUMBERS = count()
PerRun = Any  # a number, or a tensor with one number per run


@dataclass(frozen=True)
class OptimiserSettings:
    """What an optimiser needs to know; numbers may be tensors with one value per run."""

    kind: str = "adam"
    learning_rate: PerRun = 1e-3
    weight_decay: PerRun = 0.0  # coupled (added to the gradient) in adam and sgd, decoupled in adamw
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    momentum: float = 0.9
    nesterov: bool = False  # sgd looks one step of momentum ahead
    decay_weights_only: bool = False  # biases and the scales of norms are not shrunk


class Optimiser:
    """Moments for one stacked network. A run that is not active neither moves nor ages."""

    def __init__(self, network: StackedNetwork, settings: OptimiserSettings) -> None:
        self.network, self.settings = network, settings
        self.number = next(NUMBERS)  # never used twice, other than an address
        self.first = torch.zeros_like(network.flat)
        self.second = torch.zeros_like(network.flat) if settings.kind != "sgd" else None
        self.taken = 0
        self._taken_by_run: torch.Tensor | None = None
        self._counts: list[torch.Tensor] = []  # the same, run by run
        self._parts: list[list[tuple[torch.Tensor, ...]]] = []  # parameters and moments, run by run
        self._rate = self._laid_out(settings.learning_rate)
        self._decay = self._laid_out(settings.weight_decay)
        if settings.decay_weights_only:
            self._decay = self._decay * self._is_weight()
        self._in_memory = network.device.type in IN_MEMORY
        self._steps = torch.zeros((), device=network.device)
        self._factor = torch.ones((), device=network.device)
        self._written = 1.0  # what the factor in memory is

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def renew(self) -> None:
        """Forget all steps, in place: recorded steps go on with the same memory."""
        self.taken = 0
        for memory in (self.first, self.second, self._steps, self._taken_by_run):
            if memory is not None:
                memory.zero_()

    @property
    def is_by_run(self) -> bool:
        """Whether runs have taken different numbers of steps."""
        return self._taken_by_run is not None

    def prepare(self, factor: float) -> None:
        """Write the factor of the learning rate into memory, for steps that are replayed."""
        if self._in_memory and factor != self._written:
            self._factor.fill_(factor)
            self._written = factor

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, gradient: torch.Tensor, factor: Any = 1.0, active: torch.Tensor | None = None) -> None:
        """One update; ``factor`` scales the learning rate, ``active`` [R] says which runs move."""
        if active is not None and self.network.runs == 1 and self.network.device.type == "cpu":
            if not bool(active):  # one run alone sits a step out for free; asking a GPU would mean waiting for it
                return
            active = None
        if self._in_memory:
            self.prepare(factor)
            factor = self._factor
        together = active is None and not self.is_by_run
        if self._fused_by_run(gradient, factor, active) or (together and self._fused(gradient, factor)):
            return
        gradient = self._decayed(gradient, factor, active)
        if together and not (self._in_memory and self.settings.kind != "sgd"):
            self.taken += 1
            self._plain(gradient, self._rate, factor)
        else:
            self._masked(gradient, self._rate, factor, active)

    def _decayed(self, gradient: torch.Tensor, factor: Any, active: torch.Tensor | None) -> torch.Tensor:
        """The gradient with what decay adds to it; AdamW shrinks the weights of the runs that move instead."""
        flat, decay = self.network.flat, self._decay
        if self.settings.kind == "adamw":
            shrink = 1 - self._rate * factor * decay
            flat.mul_(shrink if active is None else torch.where(self._laid_out(active), shrink, 1.0))
        elif isinstance(decay, torch.Tensor) or decay:
            return gradient + decay * flat
        return gradient

    @property
    def _can_fuse(self) -> bool:
        """Adam where all runs share their rates."""
        rates = (self._rate, self._decay)
        return self.settings.kind != "sgd" and not any(isinstance(rate, torch.Tensor) for rate in rates)

    def _fused(self, gradient: torch.Tensor, factor: Any) -> bool:
        """Adam as one kernel that reads and writes everything once, where all runs share their rates."""
        if not self._can_fuse:
            return False
        self._steps += 1
        self.taken += 1
        self._update([self.network.flat], [gradient], [self.first], [self.second], [self._steps], factor)
        return True

    def _fused_by_run(self, gradient: torch.Tensor, factor: Any, active: torch.Tensor | None) -> bool:
        """The same on a CPU for the runs that move, each with its own count: the others are not even read.

        Only where networks are large enough to compute run by run; a kernel's vectors then never span two runs.
        """
        network = self.network
        if network.runs == 1 or not network.goes_run_by_run or self._in_memory or not self._can_fuse:
            return False
        if self._taken_by_run is None:
            self._taken_by_run = self._begin_by_run()
        moving = range(network.runs) if active is None else active.nonzero().flatten().tolist()
        self._taken_by_run += 1 if active is None else active
        if moving:
            slopes = self._by_run(gradient)
            parameters, own, first, second = (
                [part for run in moving for part in parts[run]] for parts in (self._parts[0], slopes, *self._parts[1:])
            )
            steps = [self._counts[run] for run in moving for _ in slopes[run]]
            self._update(parameters, own, first, second, steps, factor)
        return True

    def _begin_by_run(self) -> torch.Tensor:
        """Steps taken so far, one number per run, with parameters and moments laid out run by run beside them."""
        assert self.second is not None
        network = self.network
        taken = torch.full((network.runs,), float(self.taken))
        self._parts = [self._by_run(whole) for whole in (network.flat, self.first, self.second)]
        self._counts = list(taken.unbind())
        return taken

    def _by_run(self, flat: torch.Tensor) -> list[tuple[torch.Tensor, ...]]:
        """Every run's parts of a vector that is laid out as the parameters are."""
        sizes = [value.numel() for value in self.network.parameters.values()]
        blocks = [block.view(self.network.runs, -1).unbind() for block in flat.split(sizes)]
        return list(zip(*blocks, strict=True))

    def _update(
        self,
        parameters: list[torch.Tensor],
        gradients: list[torch.Tensor],
        first: list[torch.Tensor],
        second: list[torch.Tensor],
        steps: list[torch.Tensor],
        factor: Any,
    ) -> None:
        settings = self.settings
        update = torch._fused_adamw_ if settings.kind == "adamw" else torch._fused_adam_
        update(
            parameters,
            gradients,
            first,
            second,
            [],
            steps,
            lr=factor * self._rate,
            beta1=settings.betas[0],
            beta2=settings.betas[1],
            weight_decay=self._decay,
            eps=settings.epsilon,
            amsgrad=False,
            maximize=False,
        )

    def _plain(self, gradient: torch.Tensor, rate: PerRun, factor: Any) -> None:
        settings, flat = self.settings, self.network.flat
        if settings.kind == "sgd":
            self.first.mul_(settings.momentum).add_(gradient)
            direction, scale = self._ahead(gradient), -factor
        else:
            self._adam(gradient, rate, factor)
            return
        if isinstance(rate * scale, torch.Tensor):
            flat.add_(direction * (rate * scale))
        else:
            flat.add_(direction, alpha=rate * scale)

    def _adam(self, gradient: torch.Tensor, rate: PerRun, factor: float) -> None:
        """Piece by piece on a CPU, where a tall stack's moments would pass through the cache once per operation."""
        assert self.second is not None
        settings, flat = self.settings, self.network.flat
        b1, b2 = settings.betas
        second_scale, scale = (1 - b2**self.taken) ** -0.5, -factor / (1 - b1**self.taken)
        size = PIECE if flat.device.type == "cpu" else max(flat.numel(), 1)
        for start in range(0, flat.numel(), size):
            part = slice(start, start + size)
            first, second, own = self.first[part], self.second[part], gradient[part]
            first.lerp_(own, 1 - b1)
            second.mul_(b2).addcmul_(own, own, value=1 - b2)
            root = second.sqrt().mul_(second_scale).add_(settings.epsilon)
            if isinstance(rate, torch.Tensor):
                flat[part].addcmul_(root.reciprocal_().mul_(first), rate[part], value=scale)
            else:
                flat[part].addcdiv_(first, root, value=rate * scale)

    def _masked(self, gradient: torch.Tensor, rate: PerRun, factor: Any, active: torch.Tensor | None) -> None:
        """The same arithmetic with one step count per run."""
        settings, network = self.settings, self.network
        if self._taken_by_run is None:
            taken = self._steps if self._in_memory else torch.tensor(float(self.taken), device=network.device)
            self._taken_by_run = taken.expand(network.runs).clone()
        moves = torch.ones(network.runs, dtype=torch.bool, device=network.device) if active is None else active
        self._taken_by_run += moves
        weight = network.spread(moves.float())
        if settings.kind == "sgd":
            self.first.copy_(torch.where(weight > 0, self.first * settings.momentum + gradient, self.first))
            network.flat.sub_(self._ahead(gradient) * rate * factor * weight)
            return
        assert self.second is not None
        b1, b2 = settings.betas
        self.first.lerp_(gradient, weight * (1 - b1))
        self.second.lerp_(gradient * gradient, weight * (1 - b2))
        taken = self._taken_by_run.clamp(min=1)
        first_scale, second_scale = network.spread(1 - b1**taken), network.spread(1 - b2**taken)
        root = (self.second / second_scale).sqrt_().add_(settings.epsilon)
        network.flat.sub_(self.first / first_scale / root * rate * factor * weight)

    def _ahead(self, gradient: torch.Tensor) -> torch.Tensor:
        """The direction of a step with momentum."""
        return torch.add(gradient, self.first, alpha=self.settings.momentum) if self.settings.nesterov else self.first

    def _is_weight(self) -> torch.Tensor:
        """1 for entries of matrices and kernels, 0 for those of vectors (biases, norms), laid out as ``flat`` is."""
        network = self.network
        parts = [
            torch.full((value.numel(),), float(len(network.shapes[key]) > 1))
            for key, value in network.parameters.items()
        ]
        return torch.cat(parts).to(network.device)

    def _laid_out(self, value: PerRun) -> PerRun:
        return self.network.spread(value) if isinstance(value, torch.Tensor) else value
