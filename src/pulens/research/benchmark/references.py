"""The references of every table, on the same networks as the learners: PN, told the truth, and the naive ones.

A network that takes unlabelled rows for negatives ranks rows well and calls nearly none positive at the usual cut of
one half. A learner that beats it there has beaten a cut, not a classifier; so the two cuts that can be defended are
references as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from pulens.learning.learners.base.facts import REFERENCE, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.base.wrapper import case_control_cut, pooled_frequency
from pulens.learning.learners.parts.break_even import BreakEvenProgram
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Program, Stage
from pulens.learning.learners.stack.rows import Batch, Pooled
from pulens.learning.risks.losses import logistic
from pulens.learning.risks.means import masked_mean
from pulens.scenario import Scenario


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
        result: torch.Tensor = masked_mean(losses, batch.labelled + batch.unlabelled)
        return result


class QuantileProgram(BreakEvenProgram, ClassifyingProgram):
    """The same network, cut so that as many rows are called positive as there are positives."""

    needs_class_prior = True


class LabelFrequencyProgram(ClassifyingProgram):
    """The same network, cut where Elkan and Noto's P(positive given x) is one half."""

    needs_class_prior = True

    def cut(self, population_scores: torch.Tensor, run: int) -> float:
        prior, data = self.stack.class_priors[run], self.stack.data
        assert prior is not None
        labelled, rows = data.n_labelled[run], data.n_rows[run]
        if data.scenario is Scenario.CASE_CONTROL:
            chance = case_control_cut(pooled_frequency(labelled, rows - labelled, prior))
        else:
            chance = min(1.0, labelled / (prior * rows)) / 2
        return math.log(chance / (1 - chance))


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveNetwork(PULearner):
    """Unlabelled rows taken for negatives, the usual cut at one half: the least that a PU learner must beat."""

    epochs: int = 50
    batch_size: int = setting(128, least=1)
    learning_rate: float = setting(5e-4, above=0)
    weight_decay: float = 1e-5

    _program = ClassifyingProgram


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveAtQuantile(NaiveNetwork):
    """The naive network, cut at the class prior's quantile of the population's scores; epochs by the proxy AUC."""

    selection: str = "proxy_auc"

    _program = QuantileProgram


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveAtLabelFrequency(NaiveNetwork):
    r"""The naive network, cut where P(positive given x) is one half if its P(labelled given x) is right.

    That is c/2 in a single set and :math:`c'/(2-c')` in case-control, :math:`c' = n_P/(n_P + \pi n_U)`; epochs by the
    proxy AUC.
    """

    selection: str = "proxy_auc"

    _program = LabelFrequencyProgram


@dataclass(kw_only=True, eq=False, repr=False)
class PNNetwork(NaiveNetwork):
    """Trained on true classes: "labelled" rows are the positives of the training pool, "unlabelled" its negatives.

    Settings of PU-Bench's release. ``uses_truth`` marks it, so that no table shows it as a PU learner.
    """

    selection: str = "oracle"  #: it is told the truth anyway

    uses_truth: ClassVar[bool] = True


LEARNERS = {
    "pn": Learner(PNNetwork, title="PN", family=REFERENCE),
    "naive_network": Learner(NaiveNetwork, title="naive", family=REFERENCE),
    "naive_quantile": Learner(NaiveAtQuantile, title="naive, cut at the prior's quantile", family=REFERENCE),
    "naive_label_frequency": Learner(NaiveAtLabelFrequency, title="naive, Elkan-Noto's cut", family=REFERENCE),
}
