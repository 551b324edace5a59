r"""LaGAM without a true label: the support loss is estimated from positive and unlabelled rows.

Some labelled and some unlabelled rows are set aside. Their loss stands in for that of a clean support set:

.. math:: \hat L = \hat E_P[-\log p] + \frac{\hat E[-\log(1-p)] - \pi\,\hat E_P[-\log(1-p)]}{1 - \pi}

The fraction is the mean loss of negatives, since the population is a mixture of positives (a share :math:`\pi`) and
negatives; :math:`\hat E` runs over rows that follow the population. In expectation this is the class-balanced loss of
LaGAM on rows of known class, at the price of the class prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from pulens.errors import InputError
from pulens.learners._data import Part, StackedRows
from pulens.learners._estimator import PULearner
from pulens.learners._streams import Streams
from pulens.learners.lagam import GroupProgram, LaGAM


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


def set_aside(data: StackedRows, share: float, streams: Streams) -> tuple[StackedRows, StackedRows]:
    """Two parts of every run's rows: a random share of labelled and of unlabelled ones goes to the second."""
    rows = data.rows.cpu().numpy()
    parts: tuple[list[Part], list[Part]] = ([], [])
    for run, rng in enumerate(streams.generators("support", (0, 0))):
        first, last = data.n_labelled[run], data.n_rows[run]
        if first < 2 or last - first < 2:
            raise InputError(
                f"at least 2 labelled and 2 unlabelled rows are needed to set some aside, got n_samples={last} with "
                f"{first} labelled."
            )
        groups = []
        for group in (rows[run, :first], rows[run, first:last]):
            taken = min(max(1, round(share * len(group))), len(group) - 1)
            mixed = rng.permutation(group)
            groups.append((mixed[taken:], mixed[:taken]))
        for part, labelled, unlabelled in zip(parts, *groups, strict=True):
            part.append(Part(labelled, unlabelled))
    return StackedRows(data.table, parts[0], data.scenario), StackedRows(data.table, parts[1], data.scenario)


@dataclass(kw_only=True, eq=False, repr=False)
class LaGAMPUOnly(LaGAM):
    """LaGAM whose support loss is estimated from positive and unlabelled rows: no true label, but the class prior.

    ``support_fraction`` of the labelled and of the unlabelled rows are set aside for it. Everything else is
    :class:`LaGAM`; ``true_labels_used_`` is 0.
    """

    support_fraction: float = 0.2

    _program = EstimatedSupportProgram

    def fit(self, X: Any, y: Any, *, validation: tuple[Any, Any] | None = None) -> Any:  # type: ignore[override]
        """Train on rows with PU labels; ``validation`` is a pair (X, labels) to select the epoch on."""
        return PULearner.fit(self, X, y, validation=validation)


LEARNER = LaGAMPUOnly
