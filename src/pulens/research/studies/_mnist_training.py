"""The four networks of the PU-ECE paper, section 5.2: supervised or nnPU, with the logistic or the sigmoid loss.

Settings are those of Table 1 and appendix F: a 784-100-100-1 network, AdamW with weight decay 2.5e-4, learning rate
1e-3 on a cosine with warm-up (the paper does not say how long: five epochs here), batches of 256, a tenth of the
rows held out, and the epoch kept whose held-out error is lowest: misclassified rows if all labels are known, the uPU
0-1 risk otherwise, which orders epochs as ``proxy_accuracy`` does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import nn

from pulens.learning.learners.nnpu import NonNegativeProgram, RiskProgram
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Program, Stage
from pulens.learning.learners.stack.rows import Batch, Pooled
from pulens.learning.risks import LOSSES

WARM_UP, HIDDEN = 5, 100


def perceptron(row_shape: tuple[int, ...]) -> nn.Module:
    """Two hidden layers of a hundred neurons."""
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(math.prod(row_shape), HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, 1),
    )


def cosine(epoch: int, epochs: int) -> float:
    """Share of the learning rate in an epoch: a rise over the first ones, then half a cosine down.

    >>> [round(cosine(epoch, 25), 3) for epoch in (0, 4, 5, 15, 24)]
    [0.2, 1.0, 1.0, 0.5, 0.006]
    """
    warm = min(WARM_UP, epochs // 5)
    if epoch < warm:
        return (epoch + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (epoch - warm) / max(epochs - warm, 1)))


class PUProgram(NonNegativeProgram):
    """nnPU on the paper's schedule."""

    def stages(self) -> list[Stage]:
        epochs = self.value("epochs")
        batches = Pooled(self.value("batch_size"))
        return [Stage("training", epochs, batches, self.adam(), schedule=lambda epoch: cosine(epoch, epochs))]


class PNProgram(RiskProgram):
    """The ordinary risk: what stands in the place of unlabelled rows are negatives."""

    needs_class_prior = False

    def stages(self) -> list[Stage]:
        epochs = self.value("epochs")
        batches = Pooled(self.value("batch_size"), skip_without_labelled=False)
        return [Stage("training", epochs, batches, self.adam(), schedule=lambda epoch: cosine(epoch, epochs))]

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        cost = LOSSES[self.value("loss")]
        z = self.stack.logits(batch)
        total = (cost(z, 1) * batch.labelled + cost(z, -1) * batch.unlabelled).sum(-1)
        result: torch.Tensor = total / (batch.labelled + batch.unlabelled).sum(-1).clip(1)
        return result


@dataclass(kw_only=True, eq=False, repr=False)
class PaperLearner(PULearner):
    """Settings that all four share."""

    loss: str = "logistic"
    beta: float = 0.0
    gamma: float = 1.0
    epochs: int = 100
    batch_size: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 2.5e-4
    optimiser: str = "adamw"
    backbone: Any = perceptron
    progress: bool = False

    _program: ClassVar[type[Program]] = PUProgram


@dataclass(kw_only=True, eq=False, repr=False)
class Supervised(PaperLearner):
    """Trained with all labels; selected on true labels, as supervised learning may."""

    class_prior: Any = None
    selection: str = "oracle"

    _program: ClassVar[type[Program]] = PNProgram
