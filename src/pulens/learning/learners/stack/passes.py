"""Epochs of several passes, each over rows of its own for one of several students: what Self-PU draws from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch

from pulens.learning.learners.stack.rows import Batch, Batches, Draw, StackedRows
from pulens.learning.learners.stack.streams import Streams

MOST_STEPS = 1 << 17  # of a pass


@dataclass(frozen=True)
class Pass:
    """Rows that one student goes through once."""

    student: int
    is_trusted: bool
    rows: torch.Tensor  # [R, widest], true for rows that take part
    counts: list[int]  # how many they are, per run


@dataclass(frozen=True)
class PassBatch(Batch):
    """A batch that knows whose it is; ``valid`` is 1 where a row is real."""

    student: int = 0
    is_trusted: bool = False
    valid: torch.Tensor | None = None


@dataclass(frozen=True)
class PassDraw(Draw):
    """A draw that knows whose it is."""

    student: int = 0
    is_trusted: bool = False

    @property
    def kind(self) -> tuple[Any, ...]:
        return (*super().kind, self.student, self.is_trusted)

    def batch(self, data: StackedRows) -> PassBatch:
        result = super().batch(data)
        own = {field.name: getattr(result, field.name) for field in fields(result)}
        return PassBatch(**own, student=self.student, is_trusted=self.is_trusted, valid=self.valid)


def spread_order(data: StackedRows, streams: Streams, purpose: str, epoch: int, rows: torch.Tensor) -> torch.Tensor:
    """Positions [R, widest]: the given rows first, shuffled, labelled ones at even distances among the others."""
    shuffled = streams.permutations(purpose, (epoch, 0), data.row_counts, data.widest)
    place = shuffled.argsort(1)  # of each position in its shuffle
    key = torch.full(rows.shape, torch.inf, device=rows.device, dtype=torch.float64)
    for group in (rows & data.is_labelled, rows & data.is_unlabelled):
        order = place.masked_fill(~group, data.widest).argsort(dim=1, stable=True).argsort(dim=1, stable=True)
        key = torch.where(group, (order + 0.5).double() / group.sum(1, keepdim=True).clamp(min=1), key)
    return key.argsort(dim=1, stable=True)


@dataclass(frozen=True)
class Passes(Batches):
    """One pass after the other; ``plan`` says which, again at every epoch."""

    size: int
    plan: Callable[[], Sequence[Pass]]

    def steps(self, data: StackedRows) -> int:
        return sum(-(-max(part.counts) // self.size) for part in self.plan())

    def draws(self, data: StackedRows, streams: Streams, epoch: int) -> Iterator[Draw]:
        for part in self.plan():
            # steps are counted within a pass: how long the passes of other runs are must not change what is drawn
            first = (2 * part.student + part.is_trusted) * MOST_STEPS
            order = spread_order(data, streams, f"pass {part.student} {part.is_trusted}", epoch, part.rows)
            counts = torch.tensor(part.counts, device=data.device)
            order = order[:, : max(part.counts)]
            real = torch.arange(order.shape[1], device=data.device) < counts[:, None]
            # without a labelled row the risk says nothing about positives: the run sits the step out
            needed = real if part.is_trusted else data.is_labelled.gather(1, order) & real
            active = torch.stack([piece.any(1) for piece in needed.split(self.size, 1)], 1)
            everyone = bool(active.all())  # the one wait for the device in a pass
            for number, (chosen, own) in enumerate(
                zip(order.split(self.size, 1), real.split(self.size, 1), strict=True)
            ):
                moves = None if everyone else active[:, number]
                moment = (epoch, first + number)
                yield PassDraw(
                    chosen,
                    moment,
                    moves,
                    not data.is_even,
                    own.float(),
                    student=part.student,
                    is_trusted=part.is_trusted,
                )
