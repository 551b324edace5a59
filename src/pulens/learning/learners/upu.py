"""uPU: the unbiased PU risk as it is (du Plessis, Niu and Sugiyama 2014, 2015)."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from pulens.learning.learners.base.facts import RISK, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.nnpu import SMOOTH_LOSSES, RiskLearner, RiskProgram
from pulens.learning.learners.stack.program import Stage
from pulens.learning.learners.stack.rows import Batch
from pulens.learning.risks.pu import unbiased


class UnbiasedProgram(RiskProgram):
    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        result: torch.Tensor = unbiased(self.parts(batch))
        return result


@dataclass(kw_only=True, eq=False, repr=False)
class UPU(RiskLearner):
    """uPU: minimise the unbiased PU risk. With a flexible network it overfits; with a linear one it is sound.

    With ``loss="logistic"`` and ``backbone="linear"`` the problem is convex (du Plessis et al. 2015).

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> learner = UPU(class_prior=0.4, scenario="single-set", backbone="linear", learning_rate=0.05, random_state=0)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.95)
    True
    """

    #: "sigmoid" or "logistic"; None is "sigmoid", and leaves ``fit`` free to turn to "logistic" after a collapse
    loss: str | None = setting(None, among=SMOOTH_LOSSES, own="sigmoid")
    epochs: int = 40
    batch_size: int = setting(256, least=1)
    learning_rate: float = setting(3e-4, above=0)
    weight_decay: float = 1e-4

    _program = UnbiasedProgram


LEARNER = Learner(UPU, title="uPU", family=RISK)
