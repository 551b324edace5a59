"""The two references of every table, on the same networks as the learners: PN, told the truth, and the naive one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from pulens.learners.base.facts import REFERENCE, Learner
from pulens.learners.base.settings import setting
from pulens.learners.stack.learner import PULearner
from pulens.learners.stack.program import Program, Stage
from pulens.learners.stack.rows import Batch, Pooled
from pulens.risks.losses import logistic
from pulens.risks.means import masked_mean


class ClassifyingProgram(Program):
    """Logistic loss, the first kind of rows against the second."""

    needs_class_prior = False
    recordable = True
    same_steps = True

    def stages(self) -> list[Stage]:
        batches = Pooled(self.value("batch_size"), skip_without_labelled=False)
        return [Stage("training", self.value("epochs"), batches, self.adam())]

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        z = self.stack.logits(batch)
        losses = logistic(z, 1) * batch.labelled + logistic(z, -1) * batch.unlabelled
        found: torch.Tensor = masked_mean(losses, batch.labelled + batch.unlabelled)
        return found


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveNetwork(PULearner):
    """Unlabelled rows taken for negatives, the usual cut at one half: what every PU learner must beat."""

    epochs: int = 50
    batch_size: int = setting(128, least=1)
    learning_rate: float = setting(5e-4, above=0)
    weight_decay: float = 1e-5

    _program = ClassifyingProgram


@dataclass(kw_only=True, eq=False, repr=False)
class PNNetwork(NaiveNetwork):
    """Trained on true classes: "labelled" rows are the positives of the training pool, "unlabelled" its negatives.

    Settings of paper 004's release. ``uses_truth`` marks it, so that no table shows it as a PU learner.
    """

    selection: str = "oracle"  #: it is told the truth anyway

    uses_truth: ClassVar[bool] = True


LEARNERS = {
    "pn": Learner(PNNetwork, title="PN", family=REFERENCE),
    "naive_network": Learner(NaiveNetwork, title="naive", family=REFERENCE),
}
