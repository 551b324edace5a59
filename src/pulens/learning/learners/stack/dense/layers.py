"""What a chain of dense layers is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True)
class Layer:
    """A dense layer with what follows it."""

    weight: str
    bias: str
    width: int
    has_relu: bool
    dropout: float = 0.0
    place: int = 0  # of the dropout in the network's plan, which names its stream

    @property
    def factor(self) -> float:
        """What dropout multiplies with where it keeps."""
        return 1 / (1 - self.dropout)


def dense_layers(steps: Sequence[tuple[str, nn.Module]] | None) -> list[Layer] | None:
    """The layers of a chain of ``Linear``, ``ReLU`` and ``Dropout``, or ``None`` if the chain holds anything else."""
    result: list[Layer] = []
    follows = nn.Module  # what stands before
    for place, (name, module) in enumerate(steps or ()):
        kind = type(module)
        if kind is nn.Linear and module.bias is not None:
            result.append(Layer(f"{name}weight", f"{name}bias", module.out_features, False))
        elif kind is nn.ReLU and follows is nn.Linear:
            last = result.pop()
            result.append(Layer(last.weight, last.bias, last.width, True))
        elif kind is nn.Dropout and follows is nn.ReLU and module.p < 1:
            last = result.pop()
            result.append(Layer(last.weight, last.bias, last.width, True, module.p, place))
        elif not (kind is nn.Flatten and place == 0):
            return None
        follows = kind
    if not result or result[-1].dropout:  # a dropout's factor goes into the product behind it
        return None
    return result
