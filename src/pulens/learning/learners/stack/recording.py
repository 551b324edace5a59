"""Steps recorded once and replayed: on a GPU one launch instead of some two hundred.

Small networks keep a GPU busy for a tenth of a step; the rest is Python asking for one kernel after the other. A CUDA
graph holds all kernels of a step. What changes from step to step therefore has to live on the device: positions of
rows, masks of runs and the salts of random draws are written into one buffer before every replay, step counts and
learning rates are tensors of the optimiser. What changes from epoch to epoch (weights that grow, branches that open) is
recorded again in every epoch, unless a program says that its steps never change.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from pulens.learning.learners.stack.program import Turn
from pulens.learning.learners.stack.rows import Draw
from pulens.learning.learners.stack.streams import Slots, drawing_from

if TYPE_CHECKING:
    from pulens.learning.learners.stack.optimiser import Optimiser
    from pulens.learning.learners.stack.program import Program, Stage

FEWEST = 4  # steps of one kind in an epoch for which recording pays
SWITCH = "PULENS_CUDA_GRAPHS"
Capture = Callable[[Callable[[], None]], Callable[[], None]]


def is_wanted(program: Program) -> bool:
    """On a GPU, for programs that can be recorded, unless the environment says no (``PULENS_CUDA_GRAPHS=0``)."""
    stack = program.stack
    plain = all(network.steps is not None and not network.is_compiled for network in stack.networks)
    return program.recordable and plain and stack.data.device.type == "cuda" and os.environ.get(SWITCH, "1") != "0"


class Graphs:
    """Captures functions as CUDA graphs, one after the other in the same pool of memory.

    A pool that no graph uses is closed for good, and a recording is thrown away before the next one is made: a graph of
    its own, which nobody replays, keeps the pool open.
    """

    def __init__(self) -> None:
        self._pool: Any = None
        self._stream: Any = None
        self._keeper: Any = None

    def __call__(self, function: Callable[[], None]) -> Callable[[], None]:
        if self._stream is None:
            self._pool, self._stream = torch.cuda.graph_pool_handle(), torch.cuda.Stream()
            self._keeper = self._captured(lambda: torch.zeros(1, device="cuda"))
        result: Callable[[], None] = self._captured(function).replay
        return result

    def _captured(self, function: Callable[[], Any]) -> Any:
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.stream(self._stream):
            graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
            try:
                function()
            finally:
                graph.capture_end()
        return graph


class Recording:
    """Steps of one kind, which read what is theirs from a buffer.

    The buffer holds, one after the other: salts, the step's number, positions, active, valid, running.
    """

    def __init__(self, draw: Draw, running: torch.Tensor | None) -> None:
        self.draw, self.running = draw, running
        given = [draw.positions, draw.active, draw.valid, running]
        self._sizes = [Slots.MOST, 1, *(0 if one is None else one.numel() for one in given)]
        self._now = torch.zeros(sum(self._sizes), dtype=torch.int64, device=draw.positions.device)
        self._table = self._now[None]
        self._place = 0
        self.slots = Slots(self._now[: Slots.MOST], draw.moment)
        self.replay: Callable[[], None] = _nothing

    def parts(self) -> tuple[Draw, torch.Tensor | None]:
        """The draw and the running runs as the buffer has them."""
        draw = self.draw
        _, step, positions, active, valid, runs = self._now.split(self._sizes)
        result = replace(
            draw,
            positions=positions.view(draw.positions.shape),
            step=step,
            active=None if draw.active is None else active > 0,
            valid=None if draw.valid is None else valid.view(draw.valid.shape).float(),
        )
        return result, None if self.running is None else runs > 0

    def load(self, draws: Sequence[Draw], running: torch.Tensor | None) -> None:
        """Lay out what the buffer shall hold at the coming draws."""
        moments = [draw.moment for draw in draws]
        host = np.zeros((len(draws), Slots.MOST + 1), np.int64)
        host[:, : self.slots.count] = self.slots.salts(moments)
        host[:, -1] = [step for _, step in moments]
        parts = [torch.as_tensor(host).to(self._now.device), torch.stack([draw.positions.flatten() for draw in draws])]
        for name in ("active", "valid"):
            if getattr(self.draw, name) is not None:
                parts.append(torch.stack([getattr(draw, name).flatten().long() for draw in draws]))
        if running is not None:
            parts.append(running.long().expand(len(draws), -1))
        self._table, self._place = torch.cat(parts, 1), 0

    def step(self) -> None:
        """Replay the next draw."""
        self._now.copy_(self._table[self._place])
        self._place += 1
        self.replay()


def _nothing() -> None:
    raise AssertionError("nothing was recorded yet")


class Recorder:
    """Runs the epochs of a program; with a way to capture steps, most of them as replays."""

    def __init__(self, program: Program, capture: Callable[[], Capture] | None = None) -> None:
        self.program, self._new_capture = program, capture
        # by kind of draw: a recording that is made again takes the old one's room
        self._captures: dict[Any, Capture] = {}
        self._recordings: dict[Any, Recording] = {}
        self._seen: dict[Any, Any] = {}

    def epoch(
        self, stage: Stage, optimisers: Sequence[Optimiser], factor: float, running: torch.Tensor | None, number: int
    ) -> None:
        """All steps of an epoch."""
        stack = self.program.stack
        drawn = stage.batches.draws(stack.data, stack.streams, number)
        if self._new_capture is None:
            for draw in drawn:
                self._step(stage, draw, optimisers, factor, running)
            return
        draws = list(drawn)
        for optimiser in optimisers:
            optimiser.prepare(factor)
        left = Counter(draw.kind for draw in draws)
        loaded: set[Any] = set()
        for place, draw in enumerate(draws):
            kind = draw.kind
            key = self._key_of(stage, optimisers, running)
            if self._seen.get(kind) != key:
                # the first of its kind runs as it is: it makes the buffers, and lets libraries choose their kernels
                self._recordings.pop(kind, None)
                self._step(stage, draw, optimisers, factor, running)
                self._seen[kind] = self._key_of(stage, optimisers, running)
            elif kind in self._recordings or (
                left[kind] >= FEWEST
                and self._new_capture is not None
                and self._record(stage, draw, optimisers, factor, running)
            ):
                if kind not in loaded:
                    self._recordings[kind].load([one for one in draws[place:] if one.kind == kind], running)
                    loaded.add(kind)
                self._recordings[kind].step()
            else:
                self._step(stage, draw, optimisers, factor, running)
            left[kind] -= 1

    def _key_of(self, stage: Stage, optimisers: Sequence[Optimiser], running: Any) -> Any:
        """What must be the same for a recording to hold."""
        own = tuple((optimiser.number, optimiser.is_by_run) for optimiser in optimisers)
        return stage.name, self.program.recorded_for(stage), running is None, own

    def _step(
        self, stage: Stage, draw: Draw, optimisers: Sequence[Optimiser], factor: float, running: torch.Tensor | None
    ) -> None:
        batch = draw.batch(self.program.stack.data)
        moves = batch.active if running is None else running
        if running is not None and batch.active is not None:
            moves = running & batch.active
        self.program.step(stage, batch, Turn(optimisers, factor, moves))
        self.program.after_step(stage, batch)

    def _record(
        self, stage: Stage, draw: Draw, optimisers: Sequence[Optimiser], factor: float, running: torch.Tensor | None
    ) -> bool:
        """Capture a step. Where that fails, training goes on step by step."""
        recording = Recording(draw, running)

        def function() -> None:
            with drawing_from(recording.slots):
                own, runs = recording.parts()
                self._step(stage, own, optimisers, factor, runs)

        assert self._new_capture is not None
        if draw.kind not in self._captures:
            self._captures[draw.kind] = self._new_capture()
        try:
            recording.replay = self._captures[draw.kind](function)
        except RuntimeError as error:
            self._new_capture = None
            name = type(self.program).__name__
            warnings.warn(f"a step of {name} could not be recorded, training goes on without: {error}", stacklevel=2)
            return False
        self._recordings[draw.kind] = recording
        return True
