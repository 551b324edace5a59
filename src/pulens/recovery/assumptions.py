"""What a recovery takes for granted: the share of positives among the unlabelled, label noise, scenario."""

from __future__ import annotations

from dataclasses import dataclass

from pulens.errors import AssumptionError, shown
from pulens.scalars import real
from pulens.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The numbers that data without negatives cannot give by themselves.

    >>> Assumptions(0.3, label_noise=0.1).labelled_purity
    0.9
    """

    unlabelled_prior: float
    label_noise: float = 0.0
    scenario: Scenario = Scenario.SINGLE_SET

    def __post_init__(self) -> None:
        object.__setattr__(self, "label_noise", check_label_noise(self.label_noise))
        if not 0 <= real(self.unlabelled_prior) < 1:
            raise AssumptionError(
                f"the share of positives among the unlabelled rows must be at least 0 and below 1, "
                f"got {shown(self.unlabelled_prior)}. Write 30% as 0.3."
            )
        if not self.unlabelled_prior < self.labelled_purity:
            raise AssumptionError(
                f"the share of positives among the unlabelled rows ({self.unlabelled_prior:.6g}) must be below "
                f"1 - label_noise = {self.labelled_purity:.6g}, the share among the labelled rows: otherwise labels "
                "say nothing about the class. Lower the class prior or the label noise."
            )

    @property
    def labelled_purity(self) -> float:
        """Share of labelled rows that are really positive: beta of Jain et al. 2017."""
        return 1.0 - self.label_noise


def check_label_noise(label_noise: object) -> float:
    """Allow a share from 0 (every labelled row is positive) to below 1."""
    number = real(label_noise)
    if not 0 <= number < 1:
        raise AssumptionError(
            f"label_noise must be a number of at least 0 and below 1, got {shown(label_noise)}. "
            "It is the share of labelled rows that are really negative: write 5% as 0.05."
        )
    return number


#: Unlabelled rows counted as negatives: what the uncorrected numbers assume.
UNCORRECTED = Assumptions(0.0, 0.0, Scenario.SINGLE_SET)
