"""Epochs of several passes, each over rows of its own for one of several students: what Self-PU draws from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from pulens.learners._data import Batch, StackedRows, take
from pulens.learners._streams import Streams

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
class Passes:
    """One pass after the other; ``plan`` says which, anew at every epoch."""

    size: int
    plan: Callable[[], Sequence[Pass]]

    def steps(self, data: StackedRows) -> int:
        return sum(-(-max(part.counts) // self.size) for part in self.plan())

    def epoch(self, data: StackedRows, streams: Streams, epoch: int) -> Iterator[PassBatch]:
        for part in self.plan():
            # steps are counted within a pass: how long the passes of other runs are must not change what is drawn
            step = (2 * part.student + part.is_trusted) * MOST_STEPS
            order = spread_order(data, streams, f"pass {part.student} {part.is_trusted}", epoch, part.rows)
            counts = torch.tensor(part.counts, device=data.device)
            ends = order[:, : max(part.counts)]
            real = torch.arange(ends.shape[1], device=data.device) < counts[:, None]
            has_labelled = data.is_labelled.gather(1, ends) & real
            for start in range(0, ends.shape[1], self.size):
                chosen, valid = ends[:, start : start + self.size], real[:, start : start + self.size].float()
                # without a labelled row the risk says nothing about positives: the run sits the step out
                needed = valid if part.is_trusted else has_labelled[:, start : start + self.size]
                found = take(data, chosen, (epoch, step), needed.sum(1) > 0, not data.is_even)
                yield PassBatch(
                    found.positions,
                    found.x,
                    found.labelled * valid,
                    found.unlabelled * valid,
                    found.population * valid,
                    found.moment,
                    found.active,
                    found.is_padded,
                    part.student,
                    part.is_trusted,
                    valid,
                )
                step += 1
