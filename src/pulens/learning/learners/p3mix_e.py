r"""P3Mix-E: heuristic mixup, held to what a mean teacher learned early (Li et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from pulens.learning.learners.base.facts import DISAMBIGUATION, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.parts.mixup_partners import PartnerLearner, PartnerProgram, blend
from pulens.learning.learners.stack.program import Stage
from pulens.learning.learners.stack.rows import Batch
from pulens.learning.risks.early_learning import early_learning
from pulens.learning.risks.losses import sigmoid


def teacher_keeps(epoch: int, decay: float) -> float:
    """How much of itself the teacher keeps after an epoch: a plain mean at first, a moving one later.

    >>> [round(teacher_keeps(epoch, 0.997), 6) for epoch in range(4)]
    [0.0, 0.5, 0.666667, 0.75]
    """
    return min(1 - 1 / (epoch + 1), decay)


class EarlyLearningProgram(PartnerProgram):
    network_names = ("network", "teacher")

    def further(self, z: torch.Tensor, batch: Batch, partner: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = early_learning(z, blend(self.expected(batch), partner, share)).mean(1)
        return self.value("early_learning_weight") * result

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def expected(self, batch: Batch) -> torch.Tensor:
        """The teacher's chances of the rows as they are, and certainty for the positives of the pool behind them."""
        chance = sigmoid(self.stack.named("teacher")(batch.x), -1)
        return torch.cat([chance, torch.ones_like(chance)], 1)

    def end_epoch(self, stage: Stage) -> None:
        super().end_epoch(stage)
        keeps = teacher_keeps(self.epoch_in_stage, self.value("teacher_decay"))
        self.stack.named("teacher").move_towards(self.stack.network, 1 - keeps)


@dataclass(kw_only=True, eq=False, repr=False)
class P3MixE(PartnerLearner):
    r"""P3Mix-E: mixup with boundary positives as partners, and early-learning regularisation; needs no class prior.

    Minimises :math:`w_P L_P + w_U L_U + w_H L_H + w_E L_{ELR}` on mixed rows (Li et al. 2022, section 3);
    :math:`L_{ELR}` rewards agreement with a teacher, the mean of the classifier over the epochs so far. Made for
    case-control data with labels completely at random. As labelled and unlabelled rows weigh alike, the cut at zero
    balances the two classes' errors rather than minimising their sum.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> learner = P3MixE(backbone="linear", learning_rate=0.05, batch_size=64, random_state=0)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.95)
    True
    """

    early_learning_weight: float = 1.0
    #: at most this much of itself does the teacher keep after an epoch
    teacher_decay: float = setting(0.997, least=0, most=1)

    _program = EarlyLearningProgram


LEARNER = Learner(P3MixE, title="P3Mix-E", family=DISAMBIGUATION, place=10)
