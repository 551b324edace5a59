"""Chance for stacked runs: one stream per run, the same on every device and for every height of the stack.

Every draw is a function of (seed of the run, purpose, epoch, step, place), so run 3 of a stack sees the numbers that
the same run sees alone, and no draw depends on how many were made before. The function is the finaliser of splitmix64
(Steele, Lea and Flood 2014) in wrapping 64-bit arithmetic.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from pulens.splitmix import GOLDEN, WORD, mix, mix_array, mix_twice, signed

FURTHER_PASS = 1 << 20  # added to a step's number, this sets a further pass of the step apart
PIECE = 1 << 14  # words drawn at once on a CPU


class _Rooms(threading.local):
    """Memory of a thread for one piece, overwritten by the next: words, words shifted, and what their lanes keep."""

    def __init__(self) -> None:
        self.words, self.shifted = np.empty((2, PIECE), np.uint64)
        self.kept = np.empty(4 * PIECE, bool)


_rooms = _Rooms()
_MULTIPLES = np.arange(1, PIECE + 1, dtype=np.uint64) * np.uint64(GOLDEN)


def salt_of(purpose: str, moment: tuple[int, int]) -> int:
    """What a draw adds to a run's key."""
    return mix(mix(zlib.crc32(purpose.encode()) * GOLDEN + moment[0]) + moment[1] * GOLDEN)


class Slots:
    """Salts of a recorded step, one place per draw in the order of asking; they are written before every replay.

    A moment that belongs to the step itself (or to a further pass of it) moves on with the step, any other stays.
    """

    MOST: ClassVar[int] = 64

    def __init__(self, values: torch.Tensor, moment: tuple[int, int]) -> None:
        self.values, self.moment = values, moment
        self.asked: list[tuple[str, tuple[int, int], bool]] = []
        self.next = 0

    @property
    def count(self) -> int:
        return len(self.asked)

    def take(self, purpose: str, moment: tuple[int, int]) -> torch.Tensor:
        """The place of the next draw."""
        place, self.next = self.next, self.next + 1
        if place == len(self.asked):
            if place == self.MOST:
                raise RuntimeError(f"a step draws more than {self.MOST} times")
            further = moment[1] - self.moment[1]
            moves = moment[0] == self.moment[0] and further >= 0 and further % FURTHER_PASS == 0
            self.asked.append((purpose, (0, further) if moves else moment, moves))
        return self.values[place]

    def salts(self, moments: Sequence[tuple[int, int]]) -> Any:
        """What belongs into the places at given moments: [moments, count]."""
        result = np.empty((len(moments), self.count), np.int64)
        for place, (purpose, moment, moves) in enumerate(self.asked):
            for row, (epoch, step) in enumerate(moments):
                at = (epoch, step + moment[1]) if moves else moment
                result[row, place] = signed(salt_of(purpose, at))
        return result


_slots: Slots | None = None  # set while a step is being recorded


@contextmanager
def drawing_from(slots: Slots) -> Iterator[None]:
    """Every draw takes its salt from a place in memory instead of a number."""
    global _slots
    before, _slots, slots.next = _slots, slots, 0
    try:
        yield
    finally:
        _slots = before


def is_recording() -> bool:
    """Whether draws take their salts from memory."""
    return _slots is not None


class Streams:
    """Random bits, permutations and masks for R runs, each from its own seed."""

    def __init__(self, seeds: Sequence[int], device: torch.device) -> None:
        self.seeds = tuple(int(seed) for seed in seeds)
        self.device = device
        self._words = [mix(seed * GOLDEN + 1) for seed in self.seeds]
        self._keys = torch.tensor([signed(word) for word in self._words], device=device)
        self._places: dict[int, torch.Tensor] = {}

    def bits(self, purpose: str, moment: tuple[int, int], count: int) -> torch.Tensor:
        """Random words [R, count]."""
        if self.device.type == "cpu" and not is_recording():
            return torch.stack([self.bits_of(run, purpose, moment, count) for run in range(len(self.seeds))])
        salt = signed(salt_of(purpose, moment)) if _slots is None else _slots.take(purpose, moment)
        return mix_twice(self._keys ^ salt, self._counted(count)[:count])

    def bits_of(self, run: int, purpose: str, moment: tuple[int, int], count: int) -> torch.Tensor:
        """One run's random words [count], on the CPU."""
        words = np.empty(count, np.uint64)
        for start, part in self._pieces(run, purpose, moment, count):
            words[start : start + PIECE] = part
        return torch.from_numpy(words.view(np.int64))

    def _pieces(self, run: int, purpose: str, moment: tuple[int, int], count: int) -> Iterator[tuple[int, Any]]:
        """The same piece by piece, each with its place, in memory that the next overwrites: it stays in the cache."""
        first = mix(self._words[run] ^ salt_of(purpose, moment))
        counted, words, shifted = _MULTIPLES, _rooms.words, _rooms.shifted
        for start in range(0, count, PIECE):
            size = min(PIECE, count - start)
            if size < PIECE:
                counted, words, shifted = counted[:size], words[:size], shifted[:size]
            np.add(counted, np.array((first + start * GOLDEN) & WORD, np.uint64), out=words)
            mix_array(words, shifted)
            yield start, words

    def _counted(self, count: int) -> torch.Tensor:
        """Multiples of the golden ratio, kept for the next draw."""
        size = 1 << max(count - 1, 1).bit_length()
        if size not in self._places:
            self._places[size] = torch.arange(1, size + 1, device=self.device) * signed(GOLDEN)
        return self._places[size]

    def keep(self, purpose: str, moment: tuple[int, int], shape: tuple[int, ...], dropout: float) -> torch.Tensor:
        """1 / (1 - dropout) with probability 1 - dropout (to 1/65536), else 0; shape [R, *shape], four to a word."""
        count = int(np.prod(shape))
        if self.device.type == "cpu" and not is_recording():
            kept = torch.stack([self.kept_of(run, purpose, moment, count, dropout) for run in range(len(self.seeds))])
            return kept.float().mul_(1 / (1 - dropout)).view(-1, *shape)
        lanes = self.bits(purpose, moment, -(-count // 4)).view(torch.int16)[:, :count]
        return ((lanes >= _lowest_kept(dropout)) * (1 / (1 - dropout))).view(-1, *shape)

    def kept_of(self, run: int, purpose: str, moment: tuple[int, int], count: int, dropout: float) -> torch.Tensor:
        """What :meth:`keep` keeps for one run, as 1 and 0 of eight bits [count]: torch is slow at booleans on a CPU."""
        kept, lowest = np.empty(-(-count // 4) * 4, bool), _lowest_kept(dropout)
        for start, part in self._pieces(run, purpose, moment, len(kept) // 4):
            np.greater_equal(part.view(np.int16), lowest, out=kept[4 * start : 4 * (start + len(part))])
        return torch.from_numpy(kept[:count].view(np.int8))

    def drop_of(
        self, run: int, purpose: str, moment: tuple[int, int], values: NDArray[np.float32], dropout: float
    ) -> None:
        """Put 0 where :meth:`keep` has 0 for one run, in place, piece by piece: no mask passes through memory."""
        count, lowest, room = values.size, _lowest_kept(dropout), _rooms.kept
        with np.errstate(invalid="ignore"):  # where training diverges, infinity times 0; the loop says so at the end
            for start, part in self._pieces(run, purpose, moment, -(-count // 4)):
                own = values[4 * start : 4 * (start + len(part))]
                kept = np.greater_equal(part.view(np.int16), lowest, out=room[: 4 * len(part)])
                np.multiply(own, kept[: own.size], out=own)

    def uniform(self, purpose: str, moment: tuple[int, int], shape: tuple[int, ...]) -> torch.Tensor:
        """Numbers in [0, 1) of 24 bits, shape [R, *shape]."""
        words = self.bits(purpose, moment, int(np.prod(shape)))
        return (((words >> 40) & 0xFFFFFF).float() * 2.0**-24).view(-1, *shape)

    def normal(self, purpose: str, moment: tuple[int, int], shape: tuple[int, ...]) -> torch.Tensor:
        """Standard normal numbers, shape [R, *shape]: two per word, by Box and Muller's transform."""
        count = int(np.prod(shape))
        words = self.bits(purpose, moment, -(-count // 2))
        radius = torch.sqrt(-2 * torch.log((((words >> 40) & 0xFFFFFF) + 0.5) * 2.0**-24))
        angle = ((words >> 8) & 0xFFFFFF) * (2 * np.pi * 2.0**-24)
        both = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], 2)
        return both.flatten(1)[:, :count].reshape(-1, *shape).float()

    def permutations(self, purpose: str, moment: tuple[int, int], sizes: torch.Tensor, widest: int) -> torch.Tensor:
        """A shuffle of 0 .. size-1 for every run, [R, widest]; what lies beyond a run's size follows behind."""
        keys = self.bits(purpose, moment, widest)
        if len(self.seeds) > 1:
            beyond = torch.arange(widest, device=self.device) >= sizes[:, None]
            keys = keys.masked_fill(beyond, torch.iinfo(torch.int64).max)
        return torch.argsort(keys, dim=1, stable=True)

    def generators(self, purpose: str, moment: tuple[int, int]) -> list[Any]:
        """A numpy generator per run, for the few numbers drawn once per step or epoch."""
        salt = zlib.crc32(purpose.encode())
        return [np.random.default_rng([seed & WORD, salt, *moment]) for seed in self.seeds]

    def beta(self, purpose: str, epoch: int, steps: int, concentration: Any) -> torch.Tensor:
        """Symmetric Beta draws, one per step and run: [steps, R]; of one concentration, or of one [R] per run."""
        own = torch.as_tensor(concentration).cpu().expand(len(self.seeds)).tolist()
        generators = self.generators(purpose, (epoch, 0))
        drawn = [rng.beta(value, value, steps) for rng, value in zip(generators, own, strict=True)]
        return torch.as_tensor(np.stack(drawn, 1).astype(np.float32), device=self.device)


def _lowest_kept(dropout: float) -> int:
    """The smallest 16-bit lane that survives."""
    return round(dropout * 65536) - 32768
