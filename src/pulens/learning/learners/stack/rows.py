"""PU rows of R runs over one table that sits on the device once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from pulens.learning.learners.stack.streams import Streams
from pulens.scenario import Scenario


@dataclass(frozen=True)
class Part:
    """Which rows of the table a run uses, as labelled positives and as unlabelled; the two may overlap."""

    labelled: Any
    unlabelled: Any


class StackedRows:
    """Rows of every run, labelled ones first, padded to the longest: ``rows[r, :n_rows[r]]`` are real.

    A *position* is a place in this layout; buffers such as pseudo-labels are indexed by it.
    """

    def __init__(
        self, table: torch.Tensor, parts: Sequence[Part], scenario: Scenario, weights: Sequence[Any] | None = None
    ) -> None:
        """``weights[r]`` says of every row of the table how many rows it stands for in run r; None: each is one."""
        self.table, self.scenario, self.device = table, scenario, table.device
        self.n_labelled = [len(part.labelled) for part in parts]
        self.n_rows = [len(part.labelled) + len(part.unlabelled) for part in parts]
        self.runs, self.widest = len(parts), max(self.n_rows)
        rows = torch.zeros(self.runs, self.widest, dtype=torch.int64)
        for run, part in enumerate(parts):
            both = [torch.as_tensor(part.labelled), torch.as_tensor(part.unlabelled)]
            rows[run, : self.n_rows[run]] = torch.cat(both).to(torch.int64)
        self.rows = rows.to(self.device)
        self.weights: torch.Tensor | None = None
        if weights is not None:
            of_table = torch.stack([torch.as_tensor(own, dtype=torch.float32) for own in weights]).to(self.device)
            self.weights = of_table.gather(1, self.rows)
        self.labelled_counts = torch.tensor(self.n_labelled, device=self.device)
        self.row_counts = torch.tensor(self.n_rows, device=self.device)

    @property
    def is_even(self) -> bool:
        """All runs have the same number of rows of either kind."""
        return len(set(self.n_labelled)) == 1 and len(set(self.n_rows)) == 1

    @cached_property
    def places(self) -> torch.Tensor:
        return torch.arange(self.widest, device=self.device)[None]

    @cached_property
    def is_labelled(self) -> torch.Tensor:
        """[R, widest]"""
        return self.places < self.labelled_counts[:, None]

    @cached_property
    def is_unlabelled(self) -> torch.Tensor:
        return (self.places >= self.labelled_counts[:, None]) & (self.places < self.row_counts[:, None])

    @cached_property
    def is_population(self) -> torch.Tensor:
        """Rows that follow the population: the unlabelled ones, or all of a single set."""
        return self.is_unlabelled if self.scenario is Scenario.CASE_CONTROL else self.is_labelled | self.is_unlabelled

    def group(self, name: str) -> tuple[torch.Tensor, list[int]]:
        """First position [R, 1] and size of a group: "labelled", "unlabelled", "population" or "all"."""
        first = torch.zeros(self.runs, 1, dtype=torch.int64, device=self.device)
        if name == "population":
            name = "unlabelled" if self.scenario is Scenario.CASE_CONTROL else "all"
        if name == "labelled":
            return first, self.n_labelled
        if name == "all":
            return first, self.n_rows
        sizes = [rows - labelled for rows, labelled in zip(self.n_rows, self.n_labelled, strict=True)]
        return self.labelled_counts[:, None], sizes


@dataclass(frozen=True)
class Batch:
    """One step's rows of every run. Masks are floats, so that a masked mean is two sums."""

    positions: torch.Tensor  # [R, b]
    x: torch.Tensor  # [R, b, ...]
    labelled: torch.Tensor  # [R, b]
    unlabelled: torch.Tensor
    population: torch.Tensor
    moment: tuple[int, int]
    active: torch.Tensor | None  # [R]; None when every run takes this step
    is_padded: bool = False
    step: torch.Tensor | None = None  # [1], the number of the step where a recording must look it up again each time

    def now(self, values: torch.Tensor) -> torch.Tensor:
        """This step's entry of what has one for every step of the epoch."""
        return values[self.moment[1]] if self.step is None else values.index_select(0, self.step)[0]

    def now_slice(self, values: torch.Tensor, size: int) -> torch.Tensor:
        """This step's columns of [R, steps * size]."""
        if self.step is None:
            return values[:, self.moment[1] * size : (self.moment[1] + 1) * size]
        return values.index_select(1, self.step * size + torch.arange(size, device=values.device))


@dataclass(frozen=True)
class Draw:
    """Which rows a step takes, before they are looked up: small enough to hold those of an epoch."""

    positions: torch.Tensor  # [R, b]
    moment: tuple[int, int]
    active: torch.Tensor | None = None
    is_padded: bool = False
    valid: torch.Tensor | None = None  # [R, b], 1 where a row is real; None where the masks of the data say so
    step: torch.Tensor | None = None

    @property
    def kind(self) -> tuple[Any, ...]:
        """Draws of one kind run through the same operations."""
        return tuple(self.positions.shape), self.active is None, self.valid is None, self.is_padded

    def batch(self, data: StackedRows) -> Batch:
        """Look up everything the step needs."""
        rows = data.rows.gather(1, self.positions)
        labelled, unlabelled, population = (
            mask.gather(1, self.positions).float()
            for mask in (data.is_labelled, data.is_unlabelled, data.is_population)
        )
        if self.valid is not None:
            labelled, unlabelled, population = (mask * self.valid for mask in (labelled, unlabelled, population))
        if data.weights is not None:
            stands_for = data.weights.gather(1, self.positions)
            labelled, unlabelled, population = (mask * stands_for for mask in (labelled, unlabelled, population))
        x = data.table.index_select(0, rows.view(-1)).view(*rows.shape, *data.table.shape[1:]).float()
        return Batch(
            self.positions, x, labelled, unlabelled, population, self.moment, self.active, self.is_padded, self.step
        )


class Batches:
    """A way to draw the batches of an epoch."""

    def steps(self, data: StackedRows) -> int:
        raise NotImplementedError

    def draws(self, data: StackedRows, streams: Streams, epoch: int) -> Iterator[Draw]:
        raise NotImplementedError

    def epoch(self, data: StackedRows, streams: Streams, epoch: int) -> Iterator[Batch]:
        for draw in self.draws(data, streams, epoch):
            yield draw.batch(data)


@dataclass(frozen=True)
class Pooled(Batches):
    """Shuffle labelled and unlabelled rows together; the last short batch is kept.

    A step without a labelled row says nothing about positives: the run sits it out.
    """

    size: int
    skip_without_labelled: bool = True

    def steps(self, data: StackedRows) -> int:
        return -(-data.widest // self.size)

    def draws(self, data: StackedRows, streams: Streams, epoch: int) -> Iterator[Draw]:
        steps = self.steps(data)
        order = data.places.expand(data.runs, -1)  # all rows in one batch: their order does not matter
        if steps > 1:
            order = streams.permutations("pooled", (epoch, 0), data.row_counts, data.widest)
        padded = steps * self.size - data.widest
        is_labelled = data.is_labelled.gather(1, order)
        counted = torch.nn.functional.pad(is_labelled, (0, padded)).view(data.runs, steps, self.size).sum(2)
        first_rows = torch.arange(steps, device=data.device) * self.size
        active = first_rows[None] < data.row_counts[:, None]
        if self.skip_without_labelled:
            active = active & (counted > 0)
        everyone = bool(active.all())  # the one wait for the device in an epoch
        for step in range(steps):
            moves = None if everyone else active[:, step]
            chosen = order[:, step * self.size : (step + 1) * self.size]
            yield Draw(chosen, (epoch, step), moves, not data.is_even)


@dataclass(frozen=True)
class Subsets(Batches):
    """A random share of each run's rows, drawn afresh for every step."""

    share: float
    times: int

    def steps(self, data: StackedRows) -> int:
        return self.times

    def draws(self, data: StackedRows, streams: Streams, epoch: int) -> Iterator[Draw]:
        sizes = torch.tensor([max(1, int(self.share * count)) for count in data.n_rows], device=data.device)
        widest = max(1, int(self.share * data.widest))
        inside = (torch.arange(widest, device=data.device)[None] < sizes[:, None]).float()
        valid = None if data.is_even else inside
        for step in range(self.times):
            order = data.places.expand(data.runs, -1)
            if self.share < 1:
                order = streams.permutations("subset", (epoch, step), data.row_counts, data.widest)[:, :widest]
            yield Draw(order, (epoch, step), None, not data.is_even, valid)


@dataclass(frozen=True)
class Drawn(Batches):
    """Fixed numbers of rows per group and step, each group in an endless sequence of fresh shuffles.

    ``fixed_steps`` is the length of an epoch; otherwise it is one pass over the group ``passes_over``, or ``least``
    steps where that is more.
    """

    sizes: dict[str, int]
    fixed_steps: int | None = None
    passes_over: str | None = None
    least: int = 1

    def run_steps(self, data: StackedRows) -> list[int]:
        if self.fixed_steps is not None:
            return [self.fixed_steps] * data.runs
        assert self.passes_over is not None
        _, counts = data.group(self.passes_over)
        return [max(self.least, count // self.sizes[self.passes_over]) for count in counts]

    def steps(self, data: StackedRows) -> int:
        return max(self.run_steps(data))

    def draws(self, data: StackedRows, streams: Streams, epoch: int) -> Iterator[Draw]:
        own_steps = self.run_steps(data)
        steps = max(own_steps)
        orders = [sequence_of(data, streams, epoch, group, size * steps) for group, size in self.sizes.items()]
        limits = torch.tensor(own_steps, device=data.device)
        uneven = len(set(own_steps)) > 1
        for step in range(steps):
            parts = [
                order[:, step * size : (step + 1) * size]
                for order, size in zip(orders, self.sizes.values(), strict=True)
            ]
            yield Draw(torch.cat(parts, 1), (epoch, step), step < limits if uneven else None)


def sequence_of(data: StackedRows, streams: Streams, epoch: int, group: str, length: int) -> torch.Tensor:
    """Positions [R, length]: shuffles of a group, one after the other."""
    first, sizes = data.group(group)
    counts = torch.tensor(sizes, device=data.device)
    shuffles = -(-length // min(sizes))
    result = [streams.permutations(f"drawn {group} {n}", (epoch, 0), counts, max(sizes)) for n in range(shuffles)]
    time = torch.arange(length, device=data.device)[None]
    nth, place = time // counts[:, None], time % counts[:, None]
    flat = torch.stack(result, 1).flatten(1)
    return first + flat.gather(1, nth * max(sizes) + place)
