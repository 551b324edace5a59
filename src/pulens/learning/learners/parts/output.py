"""What generated rows may look like: the last function of a generator, chosen by the range of the training rows."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from pulens.errors import InputError, listed
from pulens.learning.learners.stack.rows import StackedRows

OUTPUTS = ("linear", "sigmoid", "tanh", "unit")
NEAR = 1e-3


def output_for(rows: torch.Tensor) -> str:
    """The name for rows [n, ...]: values within [0, 1], vectors of length 1, values within [-1, 1], anything else.

    A discriminator could tell generated rows by their range alone if a generator left the range of the data.

    >>> output_for(torch.tensor([[0.0, 1.0], [0.5, 0.2]])), output_for(torch.tensor([[3.0, -2.0]]))
    ('sigmoid', 'linear')
    >>> output_for(torch.tensor([[-0.6, 0.8], [1.0, 0.0]])), output_for(torch.tensor([[-0.6, 0.9]]))
    ('unit', 'tanh')
    """
    low, high = float(rows.min()), float(rows.max())
    if rows.dim() == 2 and rows.shape[1] > 1 and bool(((rows.float().norm(dim=1) - 1).abs() < NEAR).all()):
        return "unit"
    if low >= 0 and high <= 1:
        return "sigmoid"
    return "tanh" if low >= -1 and high <= 1 else "linear"


def shaped(raw: torch.Tensor, output: str) -> torch.Tensor:
    """Raw values as rows.

    >>> shaped(torch.zeros(2), "sigmoid")
    tensor([0.5000, 0.5000])
    """
    if output == "sigmoid":
        return torch.sigmoid(raw)
    if output == "tanh":
        return torch.tanh(raw)
    return F.normalize(raw, dim=-1) if output == "unit" else raw


class Outputs:
    """The outputs of the runs of a stack; most stacks have one for all."""

    def __init__(self, asked: str, data: StackedRows) -> None:
        if asked not in (*OUTPUTS, "auto"):
            raise InputError(f"output must be one of {listed(('auto', *OUTPUTS))}, got {asked!r}.")
        self.names = [asked] * data.runs
        if asked == "auto":
            self.names = [
                output_for(data.table[rows[:count]]) for rows, count in zip(data.rows, data.n_rows, strict=True)
            ]
        self.different = sorted(set(self.names))
        self._chosen = {
            name: torch.tensor([own == name for own in self.names], device=data.device) for name in self.different
        }

    def where(self, name: str, dimensions: int) -> torch.Tensor:
        """Which runs have this output, shaped [R, 1, ...] to stand beside a tensor of this many dimensions."""
        return self._chosen[name].view(-1, *[1] * (dimensions - 1))

    def __call__(self, raw: torch.Tensor) -> torch.Tensor:
        """Raw values [R, rows, ...] as rows."""
        result = shaped(raw, self.different[0])
        for name in self.different[1:]:
            result = torch.where(self.where(name, raw.dim()), shaped(raw, name), result)
        return result
