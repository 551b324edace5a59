r"""PULDA: label distribution alignment with a smooth distance, a margin and moving averages (Jiang et al. 2023)."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from pulens.learning.learners.base.facts import RISK, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.dist_pu import MixupProgram
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Stage
from pulens.learning.learners.stack.rows import Batch, Drawn
from pulens.learning.risks.alignment import cross_entropy, margin_cost, smooth_distance
from pulens.learning.risks.losses import sigmoid
from pulens.learning.risks.means import masked_mean

SMOOTH, SHARP = 3.5, 100.0  # temperatures: the authors', and one that is nearly Dist-PU's absolute value
RARE = 0.41  # class prior up to which the authors' temperature holds; their data set has 0.4


def chosen_temperature(class_prior: torch.Tensor) -> torch.Tensor:
    r"""The temperature for class priors [R] where none is given.

    Where every row is called positive the distance pulls back with :math:`\tanh(\tau(1-\pi)/2)`, against a slope of
    :math:`2\pi` from the labelled rows. The authors' 3.5 gives way at a class prior of 0.39: theirs is 0.4.

    >>> chosen_temperature(torch.tensor([0.1, 0.4, 0.5]))
    tensor([  3.5000,   3.5000, 100.0000])
    """
    return torch.where(class_prior > RARE, SHARP, SMOOTH)


class MovingAverage:
    """A mean over batches per run: old values weigh ``decay``, the gradient flows through the newest alone.

    >>> average = MovingAverage(0.85)
    >>> average(torch.tensor([0.4])), average.scale
    (tensor([0.4000]), 1.0)
    >>> average.keep()
    >>> average(torch.tensor([0.8])), round(average.scale, 2)
    (tensor([0.4600]), 0.15)
    """

    def __init__(self, decay: float) -> None:
        self.decay = decay
        self.stored: torch.Tensor | None = None
        self._next: torch.Tensor | None = None

    @property
    def scale(self) -> float:
        """What a loss of the average is divided by, so that its gradient keeps its size."""
        return 1.0 if self.stored is None else 1 - self.decay

    def __call__(self, mean: torch.Tensor) -> torch.Tensor:
        result = mean if self.stored is None else self.decay * self.stored + (1 - self.decay) * mean
        self._next = result.detach()
        return result

    def keep(self, moves: torch.Tensor | None = None) -> None:
        """Remember the last value, in the runs that moved."""
        assert self._next is not None
        if moves is not None and self.stored is not None:
            self.stored.copy_(torch.where(moves, self._next, self.stored))
        elif self.stored is not None:
            self.stored.copy_(self._next)
        else:
            self.stored = self._next.clone()


class MarginProgram(MixupProgram):
    def batches(self) -> Drawn:
        sizes = {"labelled": self.value("labelled_batch_size"), "population": self.value("batch_size")}
        return Drawn(sizes, passes_over="population")

    def begin_stage(self, stage: Stage) -> None:
        super().begin_stage(stage)
        self.population_mean = MovingAverage(self.value("mean_decay"))
        self.population_cost = MovingAverage(self.value("margin_decay"))
        self.labelled_cost = MovingAverage(self.value("margin_decay"))

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        if stage.name == "warm-up":
            return self.aligned(self.stack.logits(batch))
        z, mixed, target, valid = self.mixed(batch)
        self.remember(batch, z)
        mixup = masked_mean(cross_entropy(mixed, target), valid)
        result: torch.Tensor = self.aligned(z) + self.value("mixup_weight") * mixup
        return result

    def aligned(self, z: torch.Tensor) -> torch.Tensor:
        """Alignment and margin of a batch, labelled rows first, through the moving averages."""
        labelled, population = z.split([first := self.value("labelled_batch_size"), z.shape[1] - first], 1)
        prior, margin = self.stack.class_prior, self.value("margin")
        given = self.value("temperature")
        temperature = chosen_temperature(prior) if given is None else given
        mean = self.population_mean(sigmoid(population, -1).mean(1))
        alignment = 2 * prior * (1 - sigmoid(labelled, -1).mean(1)) + (
            smooth_distance(mean - prior, temperature) / self.population_mean.scale
        )
        above = self.population_cost(margin_cost(population, -1, margin).mean(1))
        own = self.labelled_cost(margin_cost(labelled, -1, margin).mean(1))
        return (
            alignment
            + prior * margin_cost(labelled, 1, margin).mean(1)
            + smooth_distance(above - prior * own, 1.0) / self.population_cost.scale
        )

    def after_step(self, stage: Stage, batch: Batch) -> None:
        super().after_step(stage, batch)
        for average in (self.population_mean, self.population_cost, self.labelled_cost):
            average.keep(batch.active)


@dataclass(kw_only=True, eq=False, repr=False)
class PULDA(PULearner):
    """PULDA: Dist-PU's alignment made smooth, with a margin around the decision boundary and moving averages.

    Settings are the authors', but for the temperature where positives are not rare. The smooth distance is flat at its
    minimum while the term of the labelled rows is not: on overlapping classes too many rows are called positive, and
    with a class prior near one half or above all of them may be; a larger ``temperature`` mends that.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> options = {"class_prior": 0.4, "scenario": "single-set", "backbone": "linear", "warm_up_learning_rate": 0.05}
    >>> learner = PULDA(random_state=0, **options)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.93)
    True
    """

    warm_up_epochs: int = 60
    warm_up_learning_rate: float = setting(1e-4, above=0)
    warm_up_weight_decay: float = 5e-4
    #: sharpness of the distance; larger is nearer to Dist-PU's absolute value. None: the authors' 3.5 up to a class
    #: prior of 0.41, 100 above
    temperature: float | None = setting(None, above=0)
    margin: float = 0.6
    mean_decay: float = setting(0.85, least=0, most=1)
    margin_decay: float = 0.5
    mixup_weight: float = 4.2
    mixup: float = 11.0
    epochs: int = 60
    batch_size: int = setting(128, least=1)  #: rows of the population in a step
    labelled_batch_size: int = setting(16, least=1)
    learning_rate: float = setting(1e-3, above=0)
    weight_decay: float = 1e-4

    _program = MarginProgram


LEARNER = Learner(PULDA, title="PULDA", family=RISK, place=8)
