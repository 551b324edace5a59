r"""Dist-PU: align the mean prediction with the class prior (Zhao, Xu, Jiang, Wen and Huang 2022)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from pulens.learning.learners.base.facts import RISK, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.parts.mixing import mix_with_partners
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Program, Stage
from pulens.learning.learners.stack.rows import Batch, Batches, Pooled
from pulens.learning.risks.alignment import clamp, cross_entropy, entropy, label_distribution
from pulens.learning.risks.losses import sigmoid
from pulens.learning.risks.means import masked_mean


def cosine(epochs: int, lowest: float) -> Callable[[int], float]:
    """A factor that falls from 1 to ``lowest`` over the epochs along half a cosine."""
    return lambda epoch: lowest + (1 - lowest) * (1 + math.cos(math.pi * epoch / epochs)) / 2


def rising(epoch: int, epochs: int) -> float:
    """A factor that rises from 0 along a quarter cosine: the weight of the entropy on unlabelled rows."""
    return 1 - math.cos(epoch / epochs * math.pi / 2)


class MixupProgram(Program):
    """Two stages: alignment alone, then with mixup on pseudo-labels that are renewed as training goes on."""

    recordable = True
    same_steps = True  # what changes with the epoch is written into buffers

    def batches(self) -> Batches:
        raise NotImplementedError

    def stages(self) -> list[Stage]:
        warm, main, batches = self.value("warm_up_epochs"), self.value("epochs"), self.batches()
        warm_adam = self.adam(
            learning_rate=self.value("warm_up_learning_rate"), weight_decay=self.value("warm_up_weight_decay")
        )
        return [
            Stage("warm-up", warm, batches, warm_adam, schedule=cosine(warm, 0.0), selectable=False),
            Stage("mixup", main, batches, self.adam(), schedule=cosine(main, 0.7)),
        ]

    def begin_stage(self, stage: Stage) -> None:
        self.shares: torch.Tensor | None = None
        if stage.name == "mixup":
            data = self.stack.data
            scores = self.stack.network.score(data.table, data.rows)
            self.pseudo = sigmoid(scores, -1)

    def begin_epoch(self, stage: Stage, moment_epoch: int) -> None:
        if stage.name == "mixup":
            steps = stage.batches.steps(self.stack.data)
            self.hold("shares", self.stack.streams.beta("mixup", moment_epoch, steps, self.value("mixup")))

    def mixed(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Logits of the rows as they are and mixed, the targets of the mixed ones, and which of them are real."""
        valid = batch.labelled + batch.unlabelled
        partner = self.stack.streams.permutations("partner", batch.moment, valid.sum(1).long(), valid.shape[1])
        assert self.shares is not None
        share = batch.now(self.shares)
        own = torch.where(batch.labelled > 0, 1.0, self.pseudo.gather(1, batch.positions))
        x, target = (mix_with_partners(values, partner, share) for values in (batch.x, own))
        z, mixed = self.stack.both_logits(batch, x)
        return clamp(z), clamp(mixed), target, valid

    def remember(self, batch: Batch, z: torch.Tensor) -> None:
        """Scores before the step become the pseudo-labels after it."""
        self._fresh = sigmoid(z.detach(), -1)

    def after_step(self, stage: Stage, batch: Batch) -> None:
        if stage.name != "mixup":
            return
        fresh = self._fresh
        if batch.active is not None or batch.is_padded:
            stays = (batch.labelled + batch.unlabelled) == 0
            if batch.active is not None:
                stays = stays | ~batch.active[:, None]
            fresh = torch.where(stays, self.pseudo.gather(1, batch.positions), fresh)
        self.pseudo.scatter_(1, batch.positions, fresh)


class AlignmentProgram(MixupProgram):
    entropy_weight: torch.Tensor | None = None  # of unlabelled rows [R], another one in every epoch of the second stage

    def begin_epoch(self, stage: Stage, moment_epoch: int) -> None:
        super().begin_epoch(stage, moment_epoch)
        weight = self.value("unlabelled_entropy") * rising(self.epoch_in_stage, stage.epochs)
        self.hold("entropy_weight", torch.zeros_like(self.stack.class_prior) + weight)

    def batches(self) -> Pooled:
        return Pooled(self.value("batch_size"), skip_without_labelled=False)

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        if stage.name == "warm-up":
            z = self.stack.logits(batch)
            return self.aligned(z, batch) + self.value("warm_up_entropy") * masked_mean(
                entropy(clamp(z)), batch.population
            )
        z, mixed, target, valid = self.mixed(batch)
        self.remember(batch, z)
        assert self.entropy_weight is not None
        result: torch.Tensor = (
            self.aligned(z, batch)
            + self.entropy_weight * masked_mean(entropy(z), batch.population)
            + self.value("mixed_entropy") * masked_mean(entropy(mixed), valid)
            + self.value("mixup_weight") * masked_mean(cross_entropy(mixed, target), valid)
        )
        return result

    def aligned(self, z: torch.Tensor, batch: Batch) -> torch.Tensor:
        """The alignment risk; a group missing from the batch adds nothing."""
        chance, prior = sigmoid(z, -1), self.stack.class_prior
        labelled = torch.where(batch.labelled.sum(1) > 0, masked_mean(chance, batch.labelled), 1.0)
        population = torch.where(batch.population.sum(1) > 0, masked_mean(chance, batch.population), prior)
        result: torch.Tensor = label_distribution(labelled, population, prior)
        return result


@dataclass(kw_only=True, eq=False, repr=False)
class DistPU(PULearner):
    """Dist-PU: mean predictions of 1 on labelled rows and of the class prior on the population, entropy and mixup.

    Settings are the authors', but for the weight decay of the first stage: 5e-3 shrinks a network without batch norm
    to a constant. By default the best epoch of the second stage is kept.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> options = {"class_prior": 0.4, "scenario": "single-set", "backbone": "linear", "warm_up_learning_rate": 0.05}
    >>> learner = DistPU(random_state=0, **options)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.95)
    True
    """

    warm_up_epochs: int = 60
    warm_up_learning_rate: float = setting(5e-4, above=0)
    warm_up_weight_decay: float = 5e-4  #: the authors' 5e-3 needs a network with batch norm
    warm_up_entropy: float = 0.002  #: mu
    unlabelled_entropy: float = 0.004  #: nu, reached at the end of the second stage
    mixed_entropy: float = 0.04  #: eta
    mixup_weight: float = 5.0  #: kappa
    mixup: float = 6.0  #: both parameters of the Beta distribution
    epochs: int = 60
    batch_size: int = setting(256, least=1)
    learning_rate: float = setting(5e-5, above=0)
    weight_decay: float = 1e-3

    _program = AlignmentProgram


LEARNER = Learner(DistPU, title="Dist-PU", family=RISK, place=7)
