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
from typing import Any

import torch
from torch import nn

from pulens.learning.learners.stack.dense.activations import Activations, Workspace
from pulens.learning.learners.stack.dense.layers import Layer, dense_layers
from pulens.learning.learners.stack.dense.threads import each_run
from pulens.learning.learners.stack.streams import Streams

Moment = tuple[int, int]
Own = Sequence[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]  # weight, bias and transposed weight of every layer
Place = tuple[torch.Size, tuple[int, ...], int]  # shape, strides and first place in a vector
SCORED_ROWS = 1024  # rows whose activations a core's cache holds
WORTHWHILE = 1 << 14  # parameters of a run above which a stack gains by going run by run
MOST_ROOMS = 4  # numbers of rows whose memory is laid out beforehand: batches, the last short one, and scoring
SPARE = 3  # workspaces kept for the next steps: passes of one step, and its last short batch


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


class _Lease:
    """A workspace in use; it goes back when the graph that holds it is gone."""

    def __init__(self, chain: DenseChain, rows: int) -> None:
        self.chain, self.workspace = chain, chain.workspace(rows)
        self.views = self.workspace.views(rows)
        self.resting = chain.resting
        self.own = [[] if run in self.resting else chain.own(run) for run in range(chain.runs)]  # weights of this pass

    def __del__(self) -> None:
        if len(self.chain.spare) < SPARE:
            self.chain.spare.append(self.workspace)


class DenseChain:
    """Passes through R dense networks of one architecture; ``parameters`` lie one behind the other in one vector.

    Gradients are those of ``leaf``, the whole vector: one tensor to hand on and, after several passes, to add up.
    """

    def __init__(
        self,
        layers: list[Layer],
        name: str,
        parameters: dict[str, torch.Tensor],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.layers, self.dtype = layers, dtype
        first = next(iter(parameters.values())).detach()
        self.runs, self.size = first.shape[0], sum(own.numel() for own in parameters.values())
        self.leaf = first.as_strided((self.size,), (1,), first.storage_offset()).detach().requires_grad_()
        self.resting: frozenset[int] = frozenset()  # runs that no longer train: passes leave them out
        self.unscored: frozenset[int] = frozenset()  # runs that nobody wants scored
        self.spare: list[Workspace] = []
        self._scratch = threading.local()
        self._purposes = [f"{name}.{layer.place}" for layer in layers]
        own = {key: value.detach() for key, value in parameters.items()}
        both = [[(own[layer.weight][run], own[layer.bias][run]) for layer in layers] for run in range(self.runs)]
        self._own = [[(weight, bias, weight.t()) for weight, bias in run] for run in both]
        self._places = [[(_place(weight), _place(bias)) for weight, bias in run] for run in both]

    def __call__(self, x: torch.Tensor, streams: Streams, moment: Moment) -> torch.Tensor:
        """Outputs [R, rows, width] of inputs [R, rows, ...] in training mode; they can be differentiated once."""
        result: torch.Tensor = _Pass.apply(self, streams, moment, x if x.dim() == 3 else x.flatten(2), self.leaf)
        return result

    def score(self, x: torch.Tensor) -> torch.Tensor:
        """Outputs [R, rows, width] in evaluation mode, without gradients."""
        x = x.flatten(2)
        result = torch.empty(self.runs, x.shape[1], self.layers[-1].width)

        def one(run: int) -> None:
            if run in self.unscored:
                result[run].zero_()
                return
            own = self.own(run)
            for start in range(0, x.shape[1], SCORED_ROWS):
                read = x[run, start : start + SCORED_ROWS].to(self.dtype)
                wrote = [room.values for room in self._rooms(len(read))]
                wrote.append(result[run, start : start + SCORED_ROWS])
                for layer, (weight, bias, transposed), out in zip(self.layers, own, wrote, strict=True):
                    torch.addmm(bias, read.to(weight.dtype), transposed, out=out)
                    read = out.relu_() if layer.has_relu else out

        each_run(one, self.runs)
        return result

    def own(self, run: int) -> Own:
        """A run's weights and biases as its products take them; the last layer's as they are."""
        own = self._own[run]
        if self.dtype is torch.float32:
            return own
        rounded = [(weight.to(self.dtype), bias.to(self.dtype)) for weight, bias, _ in own[:-1]]
        return [*((weight, bias, weight.t()) for weight, bias in rounded), own[-1]]

    def workspace(self, rows: int) -> Workspace:
        for place, workspace in enumerate(self.spare):
            if workspace.rows >= rows:
                return self.spare.pop(place)
        return Workspace(self.runs, rows, self.layers, self.dtype)

    def laid_out(self, flat: torch.Tensor, run: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """A run's weights and biases in a vector laid out as the parameters are."""
        return [(flat.as_strided(*weight), flat.as_strided(*bias)) for weight, bias in self._places[run]]

    def _rooms(self, rows: int) -> list[Activations]:
        """Memory of this thread for [rows, width] of every layer but the last, overwritten by the next call."""
        rooms: dict[int, list[Activations]] = self._scratch.__dict__.setdefault("by_rows", {})
        if rows not in rooms:
            whole: list[torch.Tensor] = self._scratch.__dict__.get("whole", [])
            if not whole or len(whole[0]) < rows:
                rooms.clear()
                whole = [torch.empty(rows, layer.width, dtype=self.dtype) for layer in self.layers[:-1]]
                self._scratch.__dict__["whole"] = whole
            for old in list(rooms)[: -MOST_ROOMS + 1]:
                del rooms[old]
            rooms[rows] = [Activations(room[:rows]) for room in whole]
        return rooms[rows]

    def forward(
        self,
        run: int,
        x: torch.Tensor,
        own: Own,
        wrote: Sequence[Activations],
        outputs: torch.Tensor,
        streams: Streams,
        moment: Moment,
    ) -> None:
        """One run's activations into ``wrote``, those behind a dropout without its factor, and ``outputs``."""
        read, factor = x, 1.0
        for place, layer in enumerate(self.layers):
            weight, bias, transposed = own[place]
            room = wrote[place] if place < len(wrote) else None
            out = outputs if room is None else room.values
            torch.addmm(bias, read.to(weight.dtype), transposed, alpha=factor, out=out)
            if layer.has_relu:
                out.relu_()
            if layer.dropout:
                assert room is not None
                if room.flat is not None:
                    streams.drop_of(run, self._purposes[place], moment, room.flat, layer.dropout)
                else:
                    kept = streams.kept_of(run, self._purposes[place], moment, out.numel(), layer.dropout)
                    out.mul_(self._rooms(len(out))[place].values.copy_(kept.view_as(out)))
            read, factor = out, layer.factor

    def backward(
        self,
        run: int,
        x: torch.Tensor,
        own: Own,
        wrote: Sequence[Activations],
        outputs: torch.Tensor,
        slopes: torch.Tensor,
        flat: torch.Tensor,
        at_inputs: torch.Tensor | None,
    ) -> None:
        """One run's gradients, given that of its outputs, into ``flat`` and, where asked for, ``at_inputs``."""
        into, rooms = self.laid_out(flat, run), self._rooms(len(x))
        slope, across = slopes, slopes.t()
        for place in reversed(range(len(self.layers))):
            if self.layers[place].has_relu:
                out = wrote[place].values if place < len(wrote) else outputs
                _through_relu(slope, out, 0, grad_input=slope)
            read, factor = (wrote[place - 1].values, self.layers[place - 1].factor) if place else (x, 1.0)
            _transposed_product(slope, across, read.to(slope.dtype), factor, into[place][0])
            torch.sum(slope, 0, dtype=torch.float32, out=into[place][1])
            below = rooms[place - 1].values if place else at_inputs
            if below is not None and below.dtype is slope.dtype:
                torch.addmm(below, slope, own[place][0], beta=0, alpha=factor, out=below)
            elif below is not None:
                below.copy_(torch.mm(slope, own[place][0])).mul_(factor)
            if place:
                slope, across = rooms[place - 1].values, rooms[place - 1].transposed


_through_relu = torch.ops.aten.threshold_backward.grad_input


def _transposed_product(
    slope: torch.Tensor, across: torch.Tensor, read: torch.Tensor, factor: float, out: torch.Tensor
) -> None:
    """slope' read: the gradient of weights [out, in]. Narrow inputs multiply faster from the other side."""
    if slope.dtype is not out.dtype:
        out.copy_(torch.mm(across, read)).mul_(factor)
    elif out.shape[1] < out.shape[0]:
        out.copy_(torch.mm(read.t(), slope).t())
        if factor != 1.0:
            out.mul_(factor)
    else:
        torch.addmm(out, across, read, beta=0, alpha=factor, out=out)


def _place(part: torch.Tensor) -> Place:
    """Where a tensor lies in its own vector."""
    return part.shape, part.stride(), part.storage_offset()


class _Pass(torch.autograd.Function):  # type: ignore[misc]
    """A pass in training mode as one operation."""

    @staticmethod
    def forward(
        ctx: Any, chain: DenseChain, streams: Streams, moment: Moment, x: torch.Tensor, leaf: torch.Tensor
    ) -> torch.Tensor:
        lease = _Lease(chain, x.shape[1])
        result = torch.empty(*x.shape[:2], chain.layers[-1].width)
        read = x.to(chain.dtype)

        def one(run: int) -> None:
            if run in lease.resting:
                result[run].zero_()
                return
            chain.forward(run, read[run], lease.own[run], lease.views[run], result[run], streams, moment)

        each_run(one, chain.runs)
        ctx.chain, ctx.lease = chain, lease
        ctx.save_for_backward(read, result, leaf)  # so that a change in between is noticed
        return result

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, slopes: torch.Tensor) -> Any:
        chain: DenseChain = ctx.chain
        x, result, _ = ctx.saved_tensors
        flat = torch.empty(chain.size)
        at_inputs = torch.empty(x.shape) if ctx.needs_input_grad[3] else None
        if chain.layers[-1].has_relu:
            slopes = slopes.clone()  # it is overwritten

        def one(run: int) -> None:
            if run in ctx.lease.resting:
                for part in (*chain.laid_out(flat, run), () if at_inputs is None else (at_inputs[run],)):
                    for whole in part:
                        whole.zero_()
                return
            wrote, below = ctx.lease.views[run], None if at_inputs is None else at_inputs[run]
            chain.backward(run, x[run], ctx.lease.own[run], wrote, result[run], slopes[run], flat, below)

        each_run(one, chain.runs)
        return None, None, None, at_inputs, flat
