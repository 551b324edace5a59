"""Chains of dense layers on a CPU: forward and backward passes written out, run by run.

Of a small network's step on a CPU the matrix products are little more than half; the rest is activations that pass
through memory once per operation, masks, fresh memory and the bookkeeping of gradients. Here a run's activations are
written once into memory that is used again, dropout multiplies by 0 and 1 only (its factor goes into the next product,
where it is free), the gradient of ReLU and dropout together is read off the activations (they are positive exactly
where both let a gradient pass), and parameter gradients are written where the optimiser reads them.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from pulens.learners._run_threads import each_run
from pulens.learners._streams import Streams

Moment = tuple[int, int]
SCORED_ROWS = 1024  # rows whose activations a core's cache holds
SPARE = 3  # workspaces kept for the next steps: passes of one step, and its last short batch


@dataclass(frozen=True)
class Layer:
    """A dense layer with what follows it."""

    weight: str
    bias: str
    width: int
    has_relu: bool
    dropout: float = 0.0
    place: int = 0  # of the dropout in the network's plan, which names its stream

    @property
    def factor(self) -> float:
        """What dropout multiplies with where it keeps."""
        return 1 / (1 - self.dropout)


def dense_layers(steps: Sequence[tuple[str, nn.Module]] | None) -> list[Layer] | None:
    """The layers of a chain of ``Linear``, ``ReLU`` and ``Dropout``, or ``None`` if the chain holds anything else."""
    found: list[Layer] = []
    follows = nn.Module  # what stands before
    for place, (name, module) in enumerate(steps or ()):
        kind = type(module)
        if kind is nn.Linear and module.bias is not None:
            found.append(Layer(f"{name}weight", f"{name}bias", module.out_features, False))
        elif kind is nn.ReLU and follows is nn.Linear:
            last = found.pop()
            found.append(Layer(last.weight, last.bias, last.width, True))
        elif kind is nn.Dropout and follows is nn.ReLU and module.p < 1:
            last = found.pop()
            found.append(Layer(last.weight, last.bias, last.width, True, module.p, place))
        elif not (kind is nn.Flatten and place == 0):
            return None
        follows = kind
    return found or None


class _Workspace:
    """Activations of one pass, [R, rows, width] per layer."""

    def __init__(self, runs: int, rows: int, layers: Sequence[Layer]) -> None:
        self.rows = rows
        self.kept = [torch.empty(runs, rows, layer.width) for layer in layers]


class _Lease:
    """A workspace in use; it goes back when the graph that holds it is gone."""

    def __init__(self, chain: DenseChain, rows: int) -> None:
        self.chain, self.rows, self.workspace = chain, rows, chain._workspace(rows)

    def __del__(self) -> None:
        if len(self.chain.spare) < SPARE:
            self.chain.spare.append(self.workspace)

    def of(self, run: int) -> list[torch.Tensor]:
        """A run's activations."""
        return [kept[run, : self.rows] for kept in self.workspace.kept]


class DenseChain:
    """Passes through R dense networks of one architecture."""

    def __init__(self, layers: list[Layer], name: str, parameters: dict[str, torch.Tensor]) -> None:
        self.layers, self.name = layers, name
        self.runs = parameters[layers[0].weight].shape[0]
        self.names = list(parameters)  # the order in which gradients are laid out
        self.parameters = parameters
        self.spare: list[_Workspace] = []
        self._scratch = threading.local()
        self._own = [
            [(parameters[layer.weight].detach()[run], parameters[layer.bias].detach()[run]) for layer in layers]
            for run in range(self.runs)
        ]

    def __call__(self, x: torch.Tensor, streams: Streams, moment: Moment) -> torch.Tensor:
        """Outputs [R, rows, width] of inputs [R, rows, ...] in training mode, differentiable once."""
        found: torch.Tensor = _Passes.apply(self, streams, moment, x.flatten(2), *self.parameters.values())  # type: ignore[no-untyped-call]
        return found

    def score(self, x: torch.Tensor) -> torch.Tensor:
        """Outputs [R, rows, width] in evaluation mode, without gradients."""
        x = x.flatten(2)
        found = torch.empty(self.runs, x.shape[1], self.layers[-1].width)

        def one(run: int) -> None:
            for start in range(0, x.shape[1], SCORED_ROWS):
                read = x[run, start : start + SCORED_ROWS]
                wrote = [self._room(place, len(read)) for place in range(len(self.layers) - 1)]
                wrote.append(found[run, start : start + SCORED_ROWS])
                for layer, (weight, bias), out in zip(self.layers, self._own[run], wrote, strict=True):
                    torch.addmm(bias, read, weight.t(), out=out)
                    read = out.relu_() if layer.has_relu else out

        each_run(one, self.runs)
        return found

    def _workspace(self, rows: int) -> _Workspace:
        for place, workspace in enumerate(self.spare):
            if workspace.rows >= rows:
                return self.spare.pop(place)
        return _Workspace(self.runs, rows, self.layers)

    def _room(self, place: int, rows: int) -> torch.Tensor:
        """Memory of this thread for [rows, width of a layer], overwritten by the next call."""
        rooms: dict[int, torch.Tensor] = self._scratch.__dict__
        key = str(place)
        if key not in rooms or len(rooms[key]) < rows:
            rooms[key] = torch.empty(rows, self.layers[place].width)
        return rooms[key][:rows]

    def forward(self, run: int, x: torch.Tensor, wrote: list[torch.Tensor], streams: Streams, moment: Moment) -> None:
        """One run's activations into ``wrote``, those behind a dropout without its factor."""
        read, factor = x, 1.0
        for place, (layer, (weight, bias), out) in enumerate(zip(self.layers, self._own[run], wrote, strict=True)):
            torch.addmm(bias, read, weight.t(), alpha=factor, out=out)
            if layer.has_relu:
                out.relu_()
            if layer.dropout:
                purpose = f"{self.name}.{layer.place}"
                kept = streams.kept_of(run, purpose, moment, out.numel(), layer.dropout)
                out.mul_(self._room(place, len(out)).copy_(kept.view_as(out)))
            read, factor = out, layer.factor

    def backward(
        self,
        run: int,
        x: torch.Tensor,
        wrote: list[torch.Tensor],
        slope: torch.Tensor,
        into: dict[str, torch.Tensor],
        at_inputs: torch.Tensor | None,
    ) -> None:
        """One run's gradients, given that of its outputs, into ``into`` and, where asked for, ``at_inputs``."""
        for place in reversed(range(len(self.layers))):
            layer, weight = self.layers[place], self._own[run][place][0]
            if layer.has_relu:
                torch.ops.aten.threshold_backward.grad_input(slope, wrote[place], 0, grad_input=slope)
            read, factor = (wrote[place - 1], self.layers[place - 1].factor) if place else (x, 1.0)
            _transposed_product(slope, read, factor, into[layer.weight][run])
            torch.sum(slope, 0, out=into[layer.bias][run])
            below = self._room(place - 1, len(slope)) if place else at_inputs
            if below is not None:
                torch.addmm(below, slope, weight, beta=0, alpha=factor, out=below)
                slope = below


def _transposed_product(slope: torch.Tensor, read: torch.Tensor, factor: float, out: torch.Tensor) -> None:
    """slope' read: the gradient of weights [out, in]. Narrow inputs multiply faster from the other side."""
    if out.shape[1] < out.shape[0]:
        out.copy_(torch.mm(read.t(), slope).t())
        if factor != 1.0:
            out.mul_(factor)
    else:
        torch.addmm(out, slope.t(), read, beta=0, alpha=factor, out=out)


def joined(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """Tensors one after the other as one vector; without a copy where memory holds them so already."""
    first, end = parts[0], parts[0].data_ptr()
    for part in parts:
        if part.data_ptr() != end or not part.is_contiguous():
            return torch.cat([one.reshape(-1) for one in parts])
        end += part.numel() * part.element_size()
    whole = first.untyped_storage()
    total = sum(part.numel() for part in parts)
    if whole.nbytes() < (first.storage_offset() + total) * first.element_size():  # neighbours by chance
        return torch.cat([one.reshape(-1) for one in parts])
    return first.as_strided((total,), (1,))


class _Passes(torch.autograd.Function):
    """The chain as one operation."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, chain: DenseChain, streams: Streams, moment: Moment, x: torch.Tensor, *parameters: torch.Tensor
    ) -> torch.Tensor:
        lease = _Lease(chain, x.shape[1])
        each_run(lambda run: chain.forward(run, x[run], lease.of(run), streams, moment), chain.runs)
        ctx.chain, ctx.lease = chain, lease
        ctx.save_for_backward(x, *parameters)  # so that a parameter changed in between is noticed
        return lease.workspace.kept[-1][:, : x.shape[1]].clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, slopes: torch.Tensor) -> Any:  # type: ignore[override]
        chain: DenseChain = ctx.chain
        x, *parameters = ctx.saved_tensors
        flat = torch.empty(sum(own.numel() for own in parameters))
        parts = flat.split([own.numel() for own in parameters])
        into = {name: part.view_as(own) for name, part, own in zip(chain.names, parts, parameters, strict=True)}
        at_inputs = torch.empty_like(x) if ctx.needs_input_grad[3] else None

        def one(run: int) -> None:
            own = None if at_inputs is None else at_inputs[run]
            chain.backward(run, x[run], ctx.lease.of(run), slopes[run].clone(), into, own)

        each_run(one, chain.runs)
        return None, None, None, at_inputs, *into.values()
