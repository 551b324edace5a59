r"""PUSB: learning when easy positives are labelled more often (Kato, Teshima and Honda 2019).

If the chance of being labelled rises with the chance of being positive, the density ratio
:math:`p(x \mid s=1)/p(x)` still ranks rows correctly, though its value is off. So a logistic PU risk gives the score,
and the cut is set where the share predicted positive equals the class prior: there precision equals recall.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from pulens.learning.learners.base.facts import RISK, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.nnpu import RiskProgram
from pulens.learning.learners.parts.break_even import BreakEvenProgram
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Stage
from pulens.learning.learners.stack.rows import Batch
from pulens.learning.risks.correction import corrected
from pulens.learning.risks.pu import unbiased


class SelectionBiasProgram(BreakEvenProgram, RiskProgram):
    loss_name = "logistic"

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        parts = self.parts(batch)
        result: torch.Tensor = (
            corrected(parts, self.value("beta"), self.value("gamma")) if self.value("non_negative") else unbiased(parts)
        )
        return result


@dataclass(kw_only=True, eq=False, repr=False)
class PUSB(PULearner):
    """PUSB: logistic (non-negative) PU risk, cut at the break-even point of precision and recall.

    The cut comes from the training rows that follow the population; rows from a population with another share of
    positives need another one. ``selection`` ranks epochs by the proxy AUC, which no cut enters.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> learner = PUSB(class_prior=0.4, scenario="single-set", backbone="linear", learning_rate=0.05, random_state=0)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.95)
    True
    """

    selection: str = "proxy_auc"
    non_negative: bool = True  #: False with a linear backbone: the convex PUSB of the paper
    beta: float = 0.0
    gamma: float = 1.0
    epochs: int = 40
    batch_size: int = setting(256, least=1)
    learning_rate: float = setting(3e-4, above=0)
    weight_decay: float = 1e-4

    _program = SelectionBiasProgram


LEARNER = Learner(PUSB, title="PUSB", family=RISK, place=2)
