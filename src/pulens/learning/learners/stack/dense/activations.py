"""Memory for the activations of a chain of dense layers, used again by every pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from pulens.learning.learners.stack.dense.layers import Layer


class Activations:
    """A layer's activations of one run [rows, width], or their gradient, with other ways to look at them."""

    __slots__ = ("flat", "transposed", "values")

    def __init__(self, values: torch.Tensor) -> None:
        self.values, self.transposed = values, values.t()
        # numpy's of the same memory, for dropout; it has no numbers of 16 bits
        self.flat: NDArray[np.float32] | None = (
            values.view(-1).numpy() if values.dtype is torch.float32 and values.is_contiguous() else None
        )


class Workspace:
    """Activations of one pass, [R, rows, width] for every layer but the last."""

    def __init__(self, runs: int, rows: int, layers: Sequence[Layer], dtype: torch.dtype) -> None:
        self.runs, self.rows = runs, rows
        self.kept = [torch.empty(runs, rows, layer.width, dtype=dtype) for layer in layers[:-1]]
        self._views: dict[int, list[list[Activations]]] = {}

    def views(self, rows: int) -> list[list[Activations]]:
        """Every run's activations of this many rows; a tenth of a small step would go into making them again."""
        if rows not in self._views:
            self._views = dict(list(self._views.items())[-1:])  # full batches and the last short one
            self._views[rows] = [[Activations(kept[run, :rows]) for kept in self.kept] for run in range(self.runs)]
        return self._views[rows]
