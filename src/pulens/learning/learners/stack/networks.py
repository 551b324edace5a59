"""R networks as one: parameters in one flat tensor, forward passes stacked."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, cast

import numpy as np
import torch
from torch import nn

from pulens.errors import PulensError
from pulens.learning.learners.stack import layers
from pulens.learning.learners.stack.dense.chain import dense_chain
from pulens.learning.learners.stack.streams import Streams, is_recording

Moment = tuple[int, int]
Moments = Moment | tuple[Moment, ...]  # of a pass, or of several passes whose rows stand side by side
CONVOLUTIONS = ("grouped", "patches")
EVALUATION_ROWS = 4096  # rows times runs scored at once are held near this many dense rows
ON_A_GPU = {"dense": 64, "picture": 8}  # times as many; a picture's channels take a hundred times its own room


class StackedNetwork:
    """R copies of an architecture, each with its own parameters.

    Chains of common layers run as stacked kernels; any other ``nn.Module`` runs through ``torch.func.vmap``.
    ``flat`` holds every parameter, one block ``[R, *shape]`` after the other, so that an optimiser step and a
    checkpoint are a handful of operations whatever the architecture.
    """

    def __init__(
        self,
        build: Callable[[], nn.Module],
        seeds: Sequence[int],
        device: torch.device,
        *,
        precision: str = "float32",
        convolution: str | None = None,
        name: str = "network",
        compiled: bool = False,
    ) -> None:
        modules = [built(build, seed, name) for seed in seeds]
        self.runs, self.device, self.name, self.precision = len(modules), device, name, precision
        self.template = modules[0]
        self.steps = layers.plan(self.template)
        self.convolution = convolution or ("patches" if device.type == "cuda" else "grouped")
        # tensor cores read the channels of a pixel side by side; stacks keep runs there instead
        self.channels_last = device.type == "cuda" and precision == "bfloat16" and self.runs == 1
        self.shapes = {key: tuple(value.shape) for key, value in self.template.named_parameters()}
        self.flat = stacked_parameters(modules).to(device)
        self.parameters = self._views(self.flat, leaves=True)
        self.buffers = {key: value.to(device) for key, value in stacked_buffers(modules).items()}
        self.forward: Callable[..., torch.Tensor] = self._chain if self.steps is not None else self._mapped
        dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
        by_hand = device.type == "cpu" and not compiled
        self._dense = dense_chain(self.steps, name, self.parameters, dtype) if by_hand else None
        self.is_compiled = compiled
        self._keep: Callable[..., torch.Tensor] = Streams.keep
        if compiled:
            self.forward = torch.compile(self.forward)
            self._keep = torch.compiler.disable(Streams.keep)  # here and not there: it takes a second to load

    def _views(self, flat: torch.Tensor, *, leaves: bool) -> dict[str, torch.Tensor]:
        result, start = {}, 0
        for key, shape in self.shapes.items():
            size = self.runs * int(np.prod(shape))
            view = flat[start : start + size].view(self.runs, *shape)
            result[key] = view.detach().requires_grad_() if leaves else view
            start += size
        return result

    @property
    def goes_run_by_run(self) -> bool:
        """Whether passes compute one run after the other, so that runs can be left out."""
        return self._dense is not None

    def rest(self, runs: Sequence[int]) -> None:
        """Leave these runs out of training passes, where runs are computed one by one."""
        if self._dense is not None:
            self._dense.resting = frozenset(runs)

    def leave_unscored(self, runs: Sequence[int]) -> None:
        """Give scores of 0 for these runs, where runs are computed one by one."""
        if self._dense is not None:
            self._dense.unscored = frozenset(runs)

    @property
    def leaves(self) -> list[torch.Tensor]:
        """What a loss may be differentiated by: the parameters, and all of them as one vector where passes read it."""
        return [*self.parameters.values(), *(() if self._dense is None else (self._dense.leaf,))]

    def gradient(self, result: Sequence[torch.Tensor | None]) -> torch.Tensor:
        """Derivatives by the :attr:`leaves`, laid out as ``flat`` is."""
        parts = result[: len(self.parameters)]
        whole = None if self._dense is None else result[-1]
        if all(part is None for part in parts):
            if whole is None:
                raise RuntimeError("a loss does not reach any parameter of a network.")
            return whole
        # a bias that a batch norm would take away takes no part: its gradient is 0
        known = [
            torch.zeros_like(leaf) if part is None else part
            for leaf, part in zip(self.parameters.values(), parts, strict=True)
        ]
        # some passes may go through the chain as a whole and others layer by layer
        return joined(known) if whole is None else whole + joined(known)

    @property
    def has_batch_norm(self) -> bool:
        return any(isinstance(module, nn.modules.batchnorm._BatchNorm) for module in self.template.modules())

    @property
    def joins_passes(self) -> bool:
        """Whether two passes of a step may be one: rows mix in a batch norm, and a CPU gains nothing by it."""
        return self.device.type == "cuda" and self.steps is not None and not self.has_batch_norm

    def spread(self, per_run: torch.Tensor) -> torch.Tensor:
        """A number per run laid out as ``flat`` is."""
        parts = [per_run[:, None].expand(-1, int(np.prod(shape))).reshape(-1) for shape in self.shapes.values()]
        return torch.cat(parts)

    def __call__(self, x: torch.Tensor, streams: Streams | None = None, moment: Moments = (0, 0)) -> torch.Tensor:
        """Outputs of inputs [R, rows, ...]; with ``streams`` in training mode.

        A network with one output per row gives logits [R, rows], any other [R, rows, ...].
        """
        # derivatives of gradients are asked for in evaluation mode only, and those need torch's own
        if self._dense is not None and (streams is not None or not torch.is_grad_enabled()) and not is_recording():
            outputs = self._dense.score(x) if streams is None else self._dense(x, streams, cast(Moment, moment))
            return outputs.squeeze(2) if outputs.shape[2] == 1 else outputs
        with self._mixed():
            outputs = self.forward(x, streams, moment)
        return outputs.float()

    def with_features(
        self, x: torch.Tensor, streams: Streams | None = None, moment: Moments = (0, 0)
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [R, rows] and what the last dense layer read [R, rows, width]."""
        with self._mixed():
            if self.steps is not None:
                features = self._chain(x, streams, moment, end=self._last_dense)
                logits = self._chain(features, streams, moment, begin=self._last_dense)
            else:
                logits, features = self._mapped(x, streams, moment, features=True)
        return logits.float(), features.float()

    @property
    def last_weight(self) -> str:
        """The name of the last dense layer's weights [R, 1, width] among the parameters."""
        dense = [name for name, module in self.template.named_modules() if isinstance(module, nn.Linear)]
        if not dense:
            raise PulensError("this method reads the features below the last nn.Linear, but the network has none.")
        return f"{dense[-1]}.weight" if dense[-1] else "weight"

    @property
    def _last_dense(self) -> int:
        assert self.steps is not None
        wanted = self.last_weight.removesuffix("weight")
        return next(number for number, (name, _) in enumerate(self.steps) if name == wanted)

    def _mixed(self) -> Any:
        return torch.autocast(self.device.type, torch.bfloat16) if self.precision == "bfloat16" else nullcontext()

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def move_towards(self, other: StackedNetwork, share: float | torch.Tensor) -> None:
        """Average with a network of the same architecture: ``share`` 1 copies it; its buffers are copied."""
        self.flat.lerp_(other.flat, self.spread(share) if isinstance(share, torch.Tensor) else share)
        for key, value in other.buffers.items():
            self.buffers[key].copy_(value)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def score(self, data: torch.Tensor, rows: torch.Tensor | None = None) -> torch.Tensor:
        """Logits [R, n] in evaluation mode, of all data or of each run's rows [R, n], in pieces."""
        count = data.shape[0] if rows is None else rows.shape[1]
        weight = max(1, int(np.prod(data.shape[1:])) // 512)
        more = 1 if self.device.type == "cpu" else ON_A_GPU["picture" if data.dim() == 4 else "dense"]
        piece = max(1, EVALUATION_ROWS * more // (self.runs * weight))
        result = []
        for start in range(0, count, piece):
            if rows is None:
                x = data[start : start + piece].float()[None].expand(self.runs, *[-1] * data.dim())
            else:
                x = data[rows[:, start : start + piece]].float()
            result.append(self(x))
        return torch.cat(result, 1) if result else torch.empty(self.runs, 0, device=self.device)

    def _chain(
        self, x: torch.Tensor, streams: Streams | None, moment: Moments, begin: int = 0, end: int | None = None
    ) -> torch.Tensor:
        """Layers ``begin`` to ``end`` of the plan; what goes in and comes out is [R, rows, ...]."""
        assert self.steps is not None
        train, rows = streams is not None, x.shape[1]
        x = self._pictures_in(x)
        masked = False
        unadded: torch.Tensor | None = None  # the bias that a batch norm would take away again
        for number, (name, module) in list(enumerate(self.steps))[begin:end]:
            if isinstance(module, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
                bias, unadded = self._bias(number, end, train)
                x = self._multiplied(x, name, module, bias)
            elif isinstance(module, nn.Unflatten):
                x = layers.unflatten(x, tuple(module.unflattened_size))
            elif isinstance(module, nn.Dropout):
                if train and module.p and not masked:
                    mask = self._mask(x, streams, f"{self.name}.{number}", moment, module.p, rows)
                    x = x * mask.to(x.dtype)  # else activations of 16 bits would leave in 32
                masked = False
            elif train and self._drops_next(number, end):
                x = self._rectified_and_dropped(x, number, streams, moment, rows)
                masked = True
            elif isinstance(module, nn.Flatten):
                x = self._flattened(x, rows)
            elif isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
                x = self._normalised(x, name, module, train, unadded)
                unadded = None
            else:
                x = module(x)
        x = self._pictures_out(x, rows)
        return x.reshape(self.runs, rows) if end is None and x.numel() == self.runs * rows else x

    def _pictures_in(self, x: torch.Tensor) -> torch.Tensor:
        """Pictures [R, rows, channels, ...] as layers take them, the channels of all runs side by side; else as is."""
        if x.dim() != 5:
            return x
        x = x.transpose(0, 1).reshape(x.shape[1], -1, *x.shape[3:])
        return x.contiguous(memory_format=torch.channels_last) if self.channels_last else x

    def _pictures_out(self, x: torch.Tensor, rows: int) -> torch.Tensor:
        """Pictures as layers give them as [R, rows, channels, ...] again; else as is."""
        return x.reshape(rows, self.runs, -1, *x.shape[2:]).transpose(0, 1) if x.dim() == 4 else x

    def _flattened(self, x: torch.Tensor, rows: int) -> torch.Tensor:
        """Rows as vectors [R, rows, width], of pictures as layers give them or of anything else."""
        return x.reshape(rows, self.runs, -1).transpose(0, 1) if x.dim() == 4 else x.flatten(2)

    def _rectified_and_dropped(
        self, x: torch.Tensor, number: int, streams: Streams | None, moment: Moments, rows: int
    ) -> torch.Tensor:
        """Through a ReLU and the dropout behind it, in place.

        Masks are not negative, so they commute with ReLU; in place a stack's activations are read once less.
        """
        assert self.steps is not None
        dropout = self.steps[number + 1][1]
        assert isinstance(dropout, nn.Dropout)
        mask = self._mask(x, streams, f"{self.name}.{number + 1}", moment, dropout.p, rows)
        return x.mul_(mask).relu_()

    def _multiplied(self, x: torch.Tensor, name: str, module: nn.Module, bias: torch.Tensor | None) -> torch.Tensor:
        """Through a dense layer or a convolution."""
        weight = self.parameters[f"{name}weight"]
        if isinstance(module, nn.Linear):
            return layers.linear(x, weight, bias)
        if isinstance(module, nn.Conv2d):
            return layers.convolution(x, weight, bias, module, self.convolution)
        return layers.transposed_convolution(x, weight, bias, module)

    def _normalised(
        self, x: torch.Tensor, name: str, module: nn.Module, train: bool, unadded: torch.Tensor | None
    ) -> torch.Tensor:
        """Through a batch norm, which in training counts its batches."""
        mean, variance = self.buffers[f"{name}running_mean"], self.buffers[f"{name}running_var"]
        if train:
            self.buffers[f"{name}num_batches_tracked"] += 1
        affine = self.parameters[f"{name}weight"], self.parameters[f"{name}bias"]
        return layers.batch_norm(x, module, *affine, mean, variance, train, unadded)

    def _bias(self, number: int, end: int | None, train: bool) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """A layer's bias as one to add, or as one to leave out: in training a batch norm takes any constant away."""
        assert self.steps is not None
        bias = self.parameters.get(f"{self.steps[number][0]}bias")
        behind = self.steps[number + 1][1] if number + 1 < len(self.steps) and number + 1 != end else None
        if train and not self.is_compiled and isinstance(behind, nn.BatchNorm1d | nn.BatchNorm2d):
            return None, bias
        return bias, None

    def _drops_next(self, number: int, end: int | None) -> bool:
        """Whether a layer is a ReLU between a stack's dense layer, which nothing else reads, and a dropout."""
        assert self.steps is not None
        if self.runs == 1 or not 0 < number < len(self.steps) - 1 or number + 1 == end or self.is_compiled:
            return False
        before, here, behind = (self.steps[place][1] for place in (number - 1, number, number + 1))
        return type(before) is nn.Linear and type(here) is nn.ReLU and type(behind) is nn.Dropout and behind.p > 0

    def _mask(
        self, x: torch.Tensor, streams: Streams | None, purpose: str, moment: Moments, p: float, rows: int
    ) -> torch.Tensor:
        assert streams is not None
        passes = moment if isinstance(moment[0], tuple) else (moment,)
        # of pictures the run axis stands behind the rows
        shape = x.shape[2:] if x.dim() == 3 else (x.shape[1] // self.runs, *x.shape[2:])
        parts = [self._keep(streams, purpose, one, (rows // len(passes), *shape), p) for one in passes]
        mask = parts[0] if len(parts) == 1 else torch.cat(parts, 1)
        return mask if x.dim() == 3 else mask.transpose(0, 1).reshape(x.shape)

    def _mapped(self, x: torch.Tensor, streams: Streams | None, moment: Moments, features: bool = False) -> Any:
        """Any module, through ``torch.func``; dropout then draws from torch's generator, for all runs together."""
        from torch.func import functional_call, vmap

        self.template.train(streams is not None)
        seen: list[torch.Tensor] = []

        def one(parameters: Any, buffers: Any, rows: torch.Tensor) -> Any:
            result: torch.Tensor = functional_call(self.template, (parameters, buffers), (rows,))
            result = result.reshape(rows.shape[0]) if result.numel() == rows.shape[0] else result
            return (result, seen.pop()) if features else result

        mapped = vmap(one, randomness="different")
        if not features:
            return mapped(self.parameters, self.buffers, x)
        last = self.template.get_submodule(self.last_weight.removesuffix("weight").removesuffix("."))
        hook = last.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
        try:
            return mapped(self.parameters, self.buffers, x)
        finally:
            hook.remove()

    def snapshot(self) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """A copy of everything that training changes."""
        return self.flat.clone(), {key: value.clone() for key, value in self.buffers.items()}

    def keep_where(self, better: torch.Tensor, kept: tuple[torch.Tensor, dict[str, torch.Tensor]]) -> None:
        """Overwrite a snapshot for the runs where ``better`` is true."""
        flat, buffers = kept
        flat.copy_(torch.where(self.spread(better), self.flat, flat))
        for key, value in self.buffers.items():
            shaped = better.view(-1, *[1] * (value.dim() - 1))
            buffers[key].copy_(torch.where(shaped, value, buffers[key]))

    def restore(self, kept: tuple[torch.Tensor, dict[str, torch.Tensor]]) -> None:
        self.flat.copy_(kept[0])
        for key, value in kept[1].items():
            self.buffers[key].copy_(value)

    def state_of(self, run: int) -> dict[str, torch.Tensor]:
        """One run's parameters and buffers, named as the module names them, on the CPU."""
        both = {**self.parameters, **self.buffers}
        return {key: value[run].detach().cpu().clone() for key, value in both.items()}

    def load(self, states: Sequence[dict[str, torch.Tensor]]) -> None:
        """Put given states into the runs."""
        with torch.no_grad():
            for run, state in enumerate(states):
                for key, value in {**self.parameters, **self.buffers}.items():
                    value[run].copy_(state[key])


def built(build: Callable[[], nn.Module], seed: int, name: str = "network") -> nn.Module:
    """A module initialised from a seed, leaving torch's global generator as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed((seed * 0x9E3779B9 + zlib.crc32(name.encode())) % (1 << 63))
        return build()


def stacked_parameters(modules: Sequence[nn.Module]) -> torch.Tensor:
    """The parameters of modules of one architecture in a flat tensor, one block ``[R, *shape]`` after the other."""
    states = [dict(module.named_parameters()) for module in modules]
    blocks = [torch.stack([state[key].detach() for state in states]).to(torch.float32) for key in states[0]]
    return torch.cat([block.reshape(-1) for block in blocks])


def stacked_buffers(modules: Sequence[nn.Module]) -> dict[str, torch.Tensor]:
    """The buffers of modules of one architecture, ``[R, *shape]`` each."""
    states = [dict(module.named_buffers()) for module in modules]
    return {key: torch.stack([state[key] for state in states]) for key in states[0]}


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
