"""Chains of dense layers on a CPU: forward and backward passes written out, run by run.

Of a small network's step on a CPU the matrix products are little more than half; the rest is activations that pass
through memory once per operation, masks, fresh memory and the bookkeeping of gradients. Here a run's activations are
written once into memory that is used again, dropout multiplies by 0 and 1 only (its factor goes into the next product,
where it is free), the gradient of ReLU and dropout together is read off the activations (they are positive exactly
where both let a gradient pass), and parameter gradients are written where the optimiser reads them.

With ``dtype=torch.bfloat16`` all products but the last layer's take numbers of 16 bits, as autocast's do, and
activations are kept in them; sums, parameters, their gradients and the outputs stay in 32 bits.
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
Own = Sequence[tuple[torch.Tensor, torch.Tensor]]  # weight and bias of every layer
SCORED_ROWS = 1024  # rows whose activations a core's cache holds
WORTHWHILE = 1 << 14  # parameters of a run above which a stack gains by going run by run
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
    if not found or found[-1].dropout:  # a dropout's factor goes into the product behind it
        return None
    return found


def dense_chain(
    steps: Sequence[tuple[str, nn.Module]] | None,
    name: str,
    parameters: dict[str, torch.Tensor],
    dtype: torch.dtype = torch.float32,
) -> DenseChain | None:
    """The kernels for a stack of networks, or ``None`` where one batched product per layer is the better way."""
    layers = dense_layers(steps)
    if layers is None or len(layers) == 1:
        return None
    chain = DenseChain(layers, name, parameters, dtype)
    return chain if chain.runs == 1 or chain.size >= chain.runs * WORTHWHILE else None


class _Workspace:
    """Activations of one pass, [R, rows, width] for every layer but the last."""

    def __init__(self, runs: int, rows: int, layers: Sequence[Layer], dtype: torch.dtype) -> None:
        self.runs, self.rows = runs, rows
        self.kept = [torch.empty(runs, rows, layer.width, dtype=dtype) for layer in layers[:-1]]
        self._views: dict[int, list[list[torch.Tensor]]] = {}

    def views(self, rows: int) -> list[list[torch.Tensor]]:
        """Every run's activations of so many rows; a tenth of a small step would go into making them anew."""
        if rows not in self._views:
            self._views = dict(list(self._views.items())[-1:])  # full batches and the last short one
            self._views[rows] = [[kept[run, :rows] for kept in self.kept] for run in range(self.runs)]
        return self._views[rows]


class _Lease:
    """A workspace in use; it goes back when the graph that holds it is gone."""

    def __init__(self, chain: DenseChain, rows: int) -> None:
        self.chain, self.workspace = chain, chain.workspace(rows)
        self.views = self.workspace.views(rows)
        self.own = [chain.own(run) for run in range(chain.runs)]  # weights of this pass

    def __del__(self) -> None:
        if len(self.chain.spare) < SPARE:
            self.chain.spare.append(self.workspace)


class DenseChain:
    """Passes through R dense networks of one architecture; ``parameters`` lie one behind the other in one vector."""

    def __init__(
        self,
        layers: list[Layer],
        name: str,
        parameters: dict[str, torch.Tensor],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.layers, self.name, self.parameters, self.dtype = layers, name, tuple(parameters.values()), dtype
        self.runs = self.parameters[0].shape[0]
        self.size = sum(own.numel() for own in self.parameters)
        self.spare: list[_Workspace] = []
        self._scratch = threading.local()
        own = {key: value.detach() for key, value in parameters.items()}
        self._own = [[(own[layer.weight][run], own[layer.bias][run]) for layer in layers] for run in range(self.runs)]

    def __call__(self, x: torch.Tensor, streams: Streams, moment: Moment) -> torch.Tensor:
        """Outputs [R, rows, width] of inputs [R, rows, ...] in training mode; they can be differentiated once."""
        found: torch.Tensor = _Pass.apply(self, streams, moment, x.flatten(2), *self.parameters)
        return found

    def score(self, x: torch.Tensor) -> torch.Tensor:
        """Outputs [R, rows, width] in evaluation mode, without gradients."""
        x = x.flatten(2)
        found = torch.empty(self.runs, x.shape[1], self.layers[-1].width)

        def one(run: int) -> None:
            own = self.own(run)
            for start in range(0, x.shape[1], SCORED_ROWS):
                read = x[run, start : start + SCORED_ROWS].to(self.dtype)
                wrote = [self._room(place, len(read)) for place in range(len(self.layers) - 1)]
                wrote.append(found[run, start : start + SCORED_ROWS])
                for layer, (weight, bias), out in zip(self.layers, own, wrote, strict=True):
                    torch.addmm(bias, read.to(weight.dtype), weight.t(), out=out)
                    read = out.relu_() if layer.has_relu else out

        each_run(one, self.runs)
        return found

    def own(self, run: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """A run's weights and biases as its products take them; the last layer's as they are."""
        own = self._own[run]
        if self.dtype is torch.float32:
            return own
        return [*((weight.to(self.dtype), bias.to(self.dtype)) for weight, bias in own[:-1]), own[-1]]

    def workspace(self, rows: int) -> _Workspace:
        for place, workspace in enumerate(self.spare):
            if workspace.rows >= rows:
                return self.spare.pop(place)
        return _Workspace(self.runs, rows, self.layers, self.dtype)

    def laid_out(self, flat: torch.Tensor, run: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """A run's weights and biases in a vector laid out as the parameters are."""
        return [(_at(flat, weight), _at(flat, bias)) for weight, bias in self._own[run]]

    def _room(self, place: int, rows: int) -> torch.Tensor:
        """Memory of this thread for [rows, width of a layer], overwritten by the next call."""
        rooms: dict[str, torch.Tensor] = self._scratch.__dict__
        key = str(place)
        if key not in rooms or len(rooms[key]) < rows:
            rooms[key] = torch.empty(rows, self.layers[place].width, dtype=self.dtype)
        return rooms[key][:rows]

    def forward(
        self, run: int, x: torch.Tensor, own: Own, wrote: list[torch.Tensor], streams: Streams, moment: Moment
    ) -> None:
        """One run's activations into ``wrote``, those behind a dropout without its factor."""
        read, factor = x, 1.0
        for place, (layer, (weight, bias), out) in enumerate(zip(self.layers, own, wrote, strict=True)):
            torch.addmm(bias, read.to(weight.dtype), weight.t(), alpha=factor, out=out)
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
        own: Own,
        wrote: list[torch.Tensor],
        slope: torch.Tensor,
        flat: torch.Tensor,
        at_inputs: torch.Tensor | None,
    ) -> None:
        """One run's gradients, given that of its outputs, into ``flat`` and, where asked for, ``at_inputs``."""
        into = self.laid_out(flat, run)
        for place in reversed(range(len(self.layers))):
            layer, weight = self.layers[place], own[place][0]
            if layer.has_relu:
                torch.ops.aten.threshold_backward.grad_input(slope, wrote[place], 0, grad_input=slope)
            read, factor = (wrote[place - 1], self.layers[place - 1].factor) if place else (x, 1.0)
            _transposed_product(slope, read.to(slope.dtype), factor, into[place][0])
            torch.sum(slope, 0, dtype=torch.float32, out=into[place][1])
            below = self._room(place - 1, len(slope)) if place else at_inputs
            if below is not None and below.dtype is slope.dtype:
                torch.addmm(below, slope, weight, beta=0, alpha=factor, out=below)
            elif below is not None:
                below.copy_(torch.mm(slope, weight)).mul_(factor)
            if place:
                assert below is not None
                slope = below


def _transposed_product(slope: torch.Tensor, read: torch.Tensor, factor: float, out: torch.Tensor) -> None:
    """slope' read: the gradient of weights [out, in]. Narrow inputs multiply faster from the other side."""
    if slope.dtype is not out.dtype:
        out.copy_(torch.mm(slope.t(), read)).mul_(factor)
    elif out.shape[1] < out.shape[0]:
        out.copy_(torch.mm(read.t(), slope).t())
        if factor != 1.0:
            out.mul_(factor)
    else:
        torch.addmm(out, slope.t(), read, beta=0, alpha=factor, out=out)


def _at(flat: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The place in a vector that ``like`` has in its own."""
    return flat.as_strided(like.shape, like.stride(), like.storage_offset())


def joined(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """Tensors one behind the other as one vector; without a copy where they are the whole of one already."""
    whole = parts[0]._base
    if whole is not None and whole.dim() == 1 and whole.numel() == sum(part.numel() for part in parts):
        place = 0
        for part in parts:
            if part._base is not whole or part.storage_offset() != place or not part.is_contiguous():
                break
            place += part.numel()
        else:
            return whole
    return torch.cat([part.reshape(-1) for part in parts])


class _Pass(torch.autograd.Function):  # type: ignore[misc]
    """A pass in training mode as one operation."""

    @staticmethod
    def forward(
        ctx: Any, chain: DenseChain, streams: Streams, moment: Moment, x: torch.Tensor, *parameters: torch.Tensor
    ) -> torch.Tensor:
        lease = _Lease(chain, x.shape[1])
        found = torch.empty(*x.shape[:2], chain.layers[-1].width)
        read = x.to(chain.dtype)

        def one(run: int) -> None:
            wrote = [*lease.views[run], found[run]]
            chain.forward(run, read[run], lease.own[run], wrote, streams, moment)

        each_run(one, chain.runs)
        ctx.chain, ctx.lease = chain, lease
        ctx.save_for_backward(read, found, parameters[0])  # so that a change in between is noticed
        return found

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, slopes: torch.Tensor) -> Any:
        chain: DenseChain = ctx.chain
        x, found, _ = ctx.saved_tensors
        flat = torch.empty(chain.size)
        at_inputs = torch.empty(x.shape) if ctx.needs_input_grad[3] else None
        if chain.layers[-1].has_relu:
            slopes = slopes.clone()  # it is overwritten

        def one(run: int) -> None:
            wrote, below = [*ctx.lease.views[run], found[run]], None if at_inputs is None else at_inputs[run]
            chain.backward(run, x[run], ctx.lease.own[run], wrote, slopes[run], flat, below)

        each_run(one, chain.runs)
        return None, None, None, at_inputs, *(_at(flat, own) for own in chain.parameters)
