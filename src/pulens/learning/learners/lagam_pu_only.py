r"""LaGAM without a true label: the support loss is estimated from positive and unlabelled rows.

Some labelled and some unlabelled rows are set aside. Their loss stands in for that of a clean support set:

.. math:: \hat L = \hat E_P[-\log p] + \frac{\hat E[-\log(1-p)] - \pi\,\hat E_P[-\log(1-p)]}{1 - \pi}

The fraction is the mean loss of negatives, since the population is a mixture of positives (a share :math:`\pi`) and
negatives; :math:`\hat E` runs over rows that follow the population. In expectation this is the class-balanced loss of
LaGAM on rows of known class, at the price of the class prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from pulens.errors import InputError
from pulens.learning.learners.base.facts import DISAMBIGUATION, Learner
from pulens.learning.learners.lagam import GroupProgram, LaGAM
from pulens.learning.learners.stack.aside import set_aside
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.rows import StackedRows


class EstimatedSupportProgram(GroupProgram):
    needs_class_prior = True
    support_groups = ("labelled", "population")

    def find_support(self) -> StackedRows:
        stack, share = self.stack, self.value("support_fraction")
        if stack.support is not None:
            raise InputError("LaGAMPUOnly reads no true labels, but a support set was given: use LaGAM with it.")
        if not 0 < share < 1:
            raise InputError(f"support_fraction must lie strictly between 0 and 1, got {share!r}.")
        training, aside = set_aside(stack.data, share, stack.streams)
        stack.data = training
        return aside

    def support_weights(self, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        prior = self.stack.class_prior[:, None]
        labelled, population = super().support_weights(size)
        return labelled, (population - prior * labelled) / (1 - prior)

    def true_labels(self, run: int) -> int:
        return 0

    def describe_support(self, run: int) -> str:
        labelled = self.support.n_labelled[run]
        return f"estimated from {labelled} labelled and {self.support.n_rows[run] - labelled} unlabelled rows"


@dataclass(kw_only=True, eq=False, repr=False)
class LaGAMPUOnly(LaGAM):
    """LaGAM whose support loss is estimated from positive and unlabelled rows: no true label, but the class prior.

    ``support_fraction`` of the labelled and of the unlabelled rows are set aside for it. Everything else is
    :class:`LaGAM`; ``true_labels_used_`` is 0.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> learner = LaGAMPUOnly(class_prior=0.4, scenario="single-set", epochs=6, warm_up_epochs=2, random_state=0)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.95)
    True
    """

    selection: str = "proxy_accuracy"
    support_fraction: float = 0.2

    _program = EstimatedSupportProgram
    needs_support: ClassVar[bool] = False

    def fit(self, X: Any, y: Any, *, validation: tuple[Any, Any] | None = None) -> Any:  # type: ignore[override]
        """Train on rows with PU labels; ``validation`` is a pair (X, labels) to select the epoch on."""
        return PULearner.fit(self, X, y, validation=validation)


LEARNER = Learner(LaGAMPUOnly, title="LaGAM, PU only", family=DISAMBIGUATION)
