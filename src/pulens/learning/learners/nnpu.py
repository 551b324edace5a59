r"""nnPU: the PU risk whose negative part may not fall below zero (Kiryo, Niu, du Plessis and Sugiyama 2017).

.. math:: \hat R = \pi \hat R_P^+ + \max(0,\; \hat R_U^- - \pi \hat R_P^-)

A flexible model can push the second part below zero, which no true risk can be: then the step goes back up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from pulens.errors import InputError, listed
from pulens.learning.learners.base.classifier import refuse_options
from pulens.learning.learners.base.facts import RISK, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Program, Stage
from pulens.learning.learners.stack.rows import Batch, Pooled
from pulens.learning.risks import LOSSES
from pulens.learning.risks.correction import corrected
from pulens.learning.risks.means import masked_mean
from pulens.learning.risks.pu import RiskParts, risk_parts

SMOOTH_LOSSES = ("sigmoid", "logistic")


class RiskProgram(Program):
    """Mini-batches of shuffled rows; the loss of a batch is a PU risk."""

    loss_name: str | None = None
    recordable = True
    same_steps = True

    def stages(self) -> list[Stage]:
        return [Stage("training", self.value("epochs"), Pooled(self.value("batch_size")), self.adam())]

    def parts(self, batch: Batch) -> RiskParts:
        name = self.loss_name or self.value("loss")
        if name not in SMOOTH_LOSSES:
            raise InputError(f"loss must be one of {listed(SMOOTH_LOSSES)}, got {name!r}.")
        cost = LOSSES[name]
        z = self.stack.logits(batch)
        as_negative = cost(z, -1)
        return risk_parts(
            masked_mean(cost(z, 1), batch.labelled),
            masked_mean(as_negative, batch.labelled),
            masked_mean(as_negative, batch.population),
            self.stack.class_prior,
        )


@dataclass(kw_only=True, eq=False, repr=False)
class RiskLearner(PULearner):
    """A network that minimises a mean over rows, which may stand for more rows than one."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        validation: tuple[Any, Any] | None = None,
        groups: Any = None,
        **refused: Any,
    ) -> Any:
        """Train on rows with PU labels, as every network is; ``sample_weight`` says how many rows each stands for.

        Means of the risk, and the proxy accuracy that chooses the epoch, are then weighted ones; the class prior must
        be a number.
        """
        refuse_options(type(self).__name__, refused)
        return self._fit(X, y, groups=groups, weights=sample_weight, validation=validation)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """One more pass over rows with PU labels, from where training stands: for rows that come in pieces.

        The first call settles the scale of columns and, where it is estimated, the class prior. Every piece needs
        labelled and unlabelled rows; no row is held out, and moments of the optimiser begin again with each piece.
        ``classes`` is there for scikit-learn's sake: they are 0 and 1.
        """
        return self._fit_further(X, y, sample_weight)


class NonNegativeProgram(RiskProgram):
    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        result: torch.Tensor = corrected(self.parts(batch), self.value("beta"), self.value("gamma"))
        return result


@dataclass(kw_only=True, eq=False, repr=False)
class NNPU(RiskLearner):
    """nnPU: minimise the non-negative PU risk.

    Needs the class prior; labels completely at random. Settings are those of PU-Bench's benchmark, which are gentler
    than the authors' (their batches of 30,000 rows and weight decay of 5e-3 were tuned to MNIST). Where the sigmoid
    loss settles at one answer for all rows, ``fit`` begins again with the logistic loss.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> learner = NNPU(class_prior=0.4, scenario="single-set", backbone="linear", learning_rate=0.05, random_state=0)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.95)
    True
    """

    #: "sigmoid" or "logistic"; None is "sigmoid", and leaves ``fit`` free to turn to "logistic" after a collapse
    loss: str | None = setting(None, among=SMOOTH_LOSSES, own="sigmoid")
    beta: float = 0.0  #: how far below zero the negative part may fall
    gamma: float = 1.0  #: how large the step back is
    epochs: int = 40
    batch_size: int = setting(256, least=1)
    learning_rate: float = setting(3e-4, above=0)
    weight_decay: float = 1e-4
    patience: int | None = setting(10, least=1)

    _program = NonNegativeProgram


LEARNER = Learner(NNPU, title="nnPU", family=RISK, place=1)
