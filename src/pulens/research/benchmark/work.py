"""Doing stacks: train, and if that fails the same runs in smaller stacks; a run that fails alone becomes a row."""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from pulens.errors import PulensError
from pulens.research.benchmark.archive.row import RunRow
from pulens.research.benchmark.memory import run_bytes
from pulens.research.benchmark.plan import Run
from pulens.research.benchmark.training import failed, train

NO_ROOM = "OutOfMemoryError"  # torch's name for a full GPU
PATIENCE = 600.0  # seconds that a run which found no room waits for some
LOOK_EVERY = 5.0
AMPLE = 3  # times the memory that a run is thought to need


def halves(stack: Sequence[Run]) -> list[tuple[Run, ...]]:
    """A stack as two.

    >>> halves([1, 2, 3])
    [(1,), (2, 3)]
    """
    middle = len(stack) // 2
    return [part for part in (tuple(stack[:middle]), tuple(stack[middle:])) if part]


def attempt(stack: Sequence[Run], device: str, cache: Path | None) -> list[RunRow] | str:
    """Rows of a stack, or why there are none."""
    try:
        return train(stack, device, cache)
    except (Exception, SystemExit) as error:  # whatever a learner does wrong must not end the others
        reason = _reason(error)
    gc.collect()
    _free()
    return reason


def do(stack: Sequence[Run], device: str, cache: Path | None, keep: Callable[[list[RunRow]], object]) -> None:
    """Train a stack and hand every part of it that is finished to ``keep``, once."""
    result = attempt(stack, device, cache)
    if len(stack) == 1 and isinstance(result, str) and result.startswith(NO_ROOM) and room_came_back(stack[0], device):
        result = attempt(stack, device, cache)
    if isinstance(result, list):
        keep(result)
    elif len(stack) == 1:
        keep([failed(stack[0], result, device)])
    else:
        for half in halves(stack):
            do(half, device, cache, keep)


def room_came_back(run: Run, device: str) -> bool:
    """Wait until a GPU has room for a run again: other processes that share it may have taken what there was."""
    import torch

    if device == "cpu" or not torch.cuda.is_available():
        return False
    until = time.monotonic() + PATIENCE
    while True:
        free, everything = torch.cuda.mem_get_info()
        if free >= min(AMPLE * run_bytes(run), 0.9 * everything):
            return True
        if time.monotonic() > until:
            return False
        time.sleep(LOOK_EVERY)


def _reason(error: BaseException) -> str:
    """What went wrong, in a line; where, unless it is one of our own messages."""
    text = " ".join(str(error).split()) or "no message"
    if isinstance(error, PulensError):
        return text[:2000]
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {text[:1500]}{where}"


def _free() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
