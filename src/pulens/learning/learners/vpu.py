r"""VPU: variational PU learning, without a class prior (Chen, Liu, Wang, Zhao and Wu 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pulens.learning.learners.base.facts import RISK, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.parts.mixing import mix
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Program, Stage
from pulens.learning.learners.stack.rows import Batch, Drawn
from pulens.learning.risks.losses import logistic, sigmoid
from pulens.learning.risks.variational import mixup_gap, variational

HALF = float(np.log(0.5))


class VariationalProgram(Program):
    shares: torch.Tensor
    needs_class_prior = False
    recordable = True
    same_steps = True

    def stages(self) -> list[Stage]:
        size, every = self.value("batch_size"), self.value("halve_every")
        batches = Drawn({"labelled": size, "population": size}, fixed_steps=self.value("steps_per_epoch"))
        return [
            Stage(
                "training",
                self.value("epochs"),
                batches,
                self.adam(betas=(0.5, 0.99)),
                schedule=lambda epoch: 0.5 ** (epoch // every),
                renew_every=every,
            )
        ]

    def begin_epoch(self, stage: Stage, moment_epoch: int) -> None:
        steps = self.value("steps_per_epoch")
        self.hold("shares", self.stack.streams.beta("mixup", moment_epoch, steps, self.value("mixup")))

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        size = self.value("batch_size")
        labelled, population = batch.x[:, :size], batch.x[:, size:]
        z = self.stack.logits(batch)
        result: torch.Tensor = variational(-logistic(z[:, size:], 1), -logistic(z[:, :size], 1))
        # labelled rows come in a fresh shuffle, so pairing them in order is a random pairing
        share = batch.now(self.shares)
        mixed = self.stack.logits(batch, mix(population, labelled, share), again=1)
        phi = sigmoid(z[:, size:], -1)
        target = phi.detach() if self.value("detach_target") else phi
        return result + self.value("regularisation") * mixup_gap(target, -logistic(mixed, 1), share[:, None])

    def cut(self, population_scores: torch.Tensor, run: int) -> float:
        """The logit at which Phi is half of its largest value on population rows."""
        return float(logit_of(self._log_largest(population_scores) + HALF))

    def _log_largest(self, scores: torch.Tensor) -> float:
        return float(-logistic(scores.double().max(), 1))

    def reference_scores(self) -> list[Any]:
        return self.stack.population_scores()

    def own_loss(self, labelled: torch.Tensor, population: torch.Tensor) -> float:
        return float(variational(-logistic(population, 1), -logistic(labelled, 1)))


def logit_of(log_probability: float) -> float:
    """The logit of a probability given by its logarithm.

    >>> round(logit_of(HALF), 12)
    0.0
    """
    return log_probability - float(np.log(-np.expm1(log_probability)))


@dataclass(kw_only=True, eq=False, repr=False)
class VPU(PULearner):
    """VPU: match the density of positives; no class prior is needed.

    An epoch is a fixed number of steps, each on as many labelled as population rows. By default the epoch with the
    lowest variational loss on held-out rows is kept, and a row is positive where Phi exceeds half of its largest value.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> learner = VPU(scenario="single-set", backbone="linear", learning_rate=0.05, random_state=0)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.95)
    True
    """

    selection: str = "loss"
    regularisation: float = 1.0  #: weight of the mixup term; the authors use 1e-4 to 0.3, by data set
    mixup: float = 0.3  #: both parameters of the Beta distribution
    detach_target: bool = False  #: the authors let gradients flow through the mixup target
    epochs: int = 50
    steps_per_epoch: int = setting(30, least=1)
    batch_size: int = setting(500, least=1)
    learning_rate: float = setting(1e-4, above=0)  #: the authors use 3e-5 to 6e-4, by data set
    weight_decay: float = 0.0
    halve_every: int = setting(20, least=1)  #: epochs after which the learning rate is halved and Adam starts again

    _program = VariationalProgram

    def _probability(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        largest = np.log(2.0) - logistic(np.float64(self.cut_), 1)  # log of the largest Phi
        result: NDArray[np.float64] = np.minimum(1.0, np.exp(-logistic(logits, 1) - largest))
        return result


LEARNER = Learner(VPU, title="VPU", family=RISK, place=3)
