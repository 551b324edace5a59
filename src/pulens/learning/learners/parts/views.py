"""Weak and strong views of rows, for methods that ask for the same answer on both.

A view is drawn from the runs' streams: it depends on (seed of the run, purpose, epoch, step, place in the batch) and
on nothing else, so a run of a stack sees the views that it sees alone. Everything is a tensor operation on the rows of
all runs at once. What a view needs to know of the data (the range of pictures, mean and deviation of columns) is
learned from each run's own training rows, so views mean the same however the caller scaled the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from pulens.learning.learners.parts import pictures as operations
from pulens.learning.learners.stack.rows import StackedRows
from pulens.learning.learners.stack.streams import Streams

Moment = tuple[int, int]


@dataclass(frozen=True)
class VectorView:
    """Noise on standardised columns, some set to their mean, some mirrored at it. Without arguments: the row itself."""

    noise: float = 0.0  #: standard deviation, in standard deviations of the column
    zero: float = 0.0  #: chance of each entry to become its column's mean
    flip: float = 0.0  #: chance of each entry to change sides of its column's mean


@dataclass(frozen=True)
class PictureView:
    """Crop and mirror, then contrast, random operations and a hole. Without arguments: the picture itself.

    Mirroring is a choice of the caller: a mirrored digit is no digit.
    """

    mirror: bool = False  #: flip left and right with a chance of one half
    shift: int = 0  #: crop with up to this many pixels of offset either way
    padding: str = "reflect"  #: what the crop finds beyond the edge, or "zeros": the darkest value
    contrast: float = 0.0  #: chance of autocontrast, and that of equalising after it
    operations: int = 0  #: how many random operations of :data:`pictures.OPERATIONS`
    chance: float = 1.0  #: with which each of them is applied
    whole_magnitudes: bool = False  #: 1 .. 9 instead of anything in 0 .. 10
    hole: tuple[float, float] = (0.0, 0.0)  #: smallest and largest side of the square cut out, in sides
    crop_last: bool = False  #: crop and mirror after everything else


View = VectorView | PictureView


def usual_views(
    row_shape: tuple[int, ...],
    *,
    mirror: bool = False,
    weak_noise: float = 0.01,
    noise: float = 0.05,
    zero: float = 0.05,
    flip: float = 0.05,
) -> tuple[View, View]:
    """The weak and the strong view for rows of a shape: vectors, grey pictures, colour pictures.

    >>> usual_views((57,))
    (VectorView(noise=0.01, zero=0.0, flip=0.0), VectorView(noise=0.05, zero=0.05, flip=0.05))
    """
    if len(row_shape) != 3:
        return VectorView(weak_noise), VectorView(noise, zero, flip)
    shift = max(1, round(min(row_shape[1:]) / 8))
    weak = PictureView(mirror, shift)
    if row_shape[0] == 1:
        return weak, PictureView(mirror, shift, contrast=0.5)
    return weak, PictureView(mirror, shift, operations=2, chance=0.5, whole_magnitudes=True, hole=(0.5, 0.5))


class Views:
    """Weak and strong views of batches [R, rows, ...] of one stack."""

    def __init__(self, data: StackedRows, weak: View, strong: View) -> None:
        self.views = {"weak": weak, "strong": strong}
        if data.table.dim() == 4:
            self.low, self.span = _ranges(data)
        else:
            self.mean, self.deviation = _moments(data)

    def weak(self, x: torch.Tensor, streams: Streams, moment: Moment, purpose: str = "weak") -> torch.Tensor:
        """A weak view of every row."""
        return self._view(self.views["weak"], x, _Draws(streams, moment, purpose, x.shape[1]))

    def strong(self, x: torch.Tensor, streams: Streams, moment: Moment, purpose: str = "strong") -> torch.Tensor:
        """A strong view of every row; give weak and strong ``purpose`` alike to begin both with the same crop."""
        return self._view(self.views["strong"], x, _Draws(streams, moment, purpose, x.shape[1]))

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _view(self, view: View, x: torch.Tensor, draws: _Draws) -> torch.Tensor:
        if isinstance(view, VectorView):
            return x if view == VectorView() else self._vectors(view, x, draws)
        return x if view == PictureView() else self._pictures(view, x, draws)

    def _vectors(self, view: VectorView, x: torch.Tensor, draws: _Draws) -> torch.Tensor:
        result, mean = x, self.mean
        if view.noise:
            result = result + view.noise * self.deviation * draws.normal("noise", x.shape[2])
        if view.zero:
            result = torch.where(draws.happens("zero", view.zero, x.shape[2]), mean, result)
        if view.flip:
            result = torch.where(draws.happens("flip", view.flip, x.shape[2]), 2 * mean - result, result)
        return result

    def _pictures(self, view: PictureView, x: torch.Tensor, draws: _Draws) -> torch.Tensor:
        pictures = ((x - self.low) / self.span).flatten(0, 1)
        if not view.crop_last:
            pictures = _crop(view, pictures, draws)
        if view.contrast:
            pictures = torch.where(
                draws.each("autocontrast", view.contrast), operations.autocontrast(pictures), pictures
            )
            pictures = torch.where(draws.each("equalise", view.contrast), operations.equalise(pictures), pictures)
        for number in range(view.operations):
            pictures = _random_operation(view, pictures, draws, number)
        if view.hole[1]:
            least, most = view.hole
            side = least + (most - least) * draws.uniform("side").flatten()
            pictures = operations.cut_out(pictures, draws.uniform("centre", 2).flatten(0, 1), side)
        if view.crop_last:
            pictures = _crop(view, pictures, draws)
        return pictures.view(x.shape) * self.span + self.low


def _crop(view: PictureView, pictures: torch.Tensor, draws: _Draws) -> torch.Tensor:
    if not view.shift and not view.mirror:
        return pictures
    offset = (draws.uniform("crop", 2) * (2 * view.shift + 1)).long().flatten(0, 1) - view.shift
    mirror = draws.uniform("mirror").flatten() < (0.5 if view.mirror else 0.0)
    return operations.shifted(pictures, offset[:, 0], offset[:, 1], mirror, view.padding)


def _random_operation(view: PictureView, pictures: torch.Tensor, draws: _Draws, number: int) -> torch.Tensor:
    kind, strength, side, applied = draws.uniform(f"operation {number}", 4).flatten(0, 1).unbind(1)
    operation = (kind * len(operations.OPERATIONS)).long()
    operation = torch.where(applied < view.chance, operation, 0)  # 0 leaves the picture alone
    magnitude = 1 + (9 * strength).floor() if view.whole_magnitudes else 10 * strength
    return operations.operate(pictures, operation, magnitude, torch.where(side < 0.5, -1.0, 1.0))


@dataclass(frozen=True)
class _Draws:
    """Chance for the rows of a batch: what a row draws depends on its place, not on how many rows there are."""

    streams: Streams
    moment: Moment
    purpose: str
    rows: int

    def uniform(self, name: str, *shape: int) -> torch.Tensor:
        return self.streams.uniform(f"{self.purpose} {name}", self.moment, (self.rows, *shape))

    def normal(self, name: str, *shape: int) -> torch.Tensor:
        return self.streams.normal(f"{self.purpose} {name}", self.moment, (self.rows, *shape))

    def happens(self, name: str, chance: float, *shape: int) -> torch.Tensor:
        return self.streams.keep(f"{self.purpose} {name}", self.moment, (self.rows, *shape), chance) == 0

    def each(self, name: str, chance: float) -> torch.Tensor:
        """One choice per picture, shaped to choose between pictures."""
        return self.happens(name, chance).flatten()[:, None, None, None]


def _ranges(data: StackedRows) -> tuple[torch.Tensor, torch.Tensor]:
    """Smallest value and span of every channel among each run's training rows, [R, 1, channels, 1, 1]."""
    real = (data.is_labelled | data.is_unlabelled)[..., None]
    low = data.table.amin((2, 3)).float()[data.rows].masked_fill(~real, torch.inf).amin(1)
    high = data.table.amax((2, 3)).float()[data.rows].masked_fill(~real, -torch.inf).amax(1)
    span = torch.where(high > low, high - low, 1.0)
    return low[:, None, :, None, None], span[:, None, :, None, None]


def _moments(data: StackedRows, piece: int = 1024) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and deviation of every column among each run's training rows, [R, 1, columns]."""
    real = (data.is_labelled | data.is_unlabelled).double()
    counts = real.sum(1)[:, None]
    mean = torch.zeros(data.runs, data.table[0].numel(), dtype=torch.float64, device=data.device)
    squares = mean.clone()
    centre = data.table[data.rows[:, 0]].flatten(1).double()  # near the values, so that squares do not swallow them
    for start in range(0, data.widest, piece):
        x = data.table[data.rows[:, start : start + piece]].flatten(2).double() - centre[:, None]
        weighted = x * real[:, start : start + piece, None]
        mean += weighted.sum(1)
        squares += (weighted * x).sum(1)
    mean = mean / counts
    deviation = (squares / counts - mean**2).clamp(min=0).sqrt()
    return (mean + centre).float()[:, None], deviation.float()[:, None]
