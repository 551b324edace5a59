"""How labelled and unlabelled rows came about, and which population a result is about."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from pulens.errors import AssumptionError, shown


class Scenario(StrEnum):
    """The two ways in which positive and unlabelled rows arise.

    In ``single-set``, the default, one sample was drawn and some of its positives were labelled; the unlabelled rows
    are what is left. In ``case-control`` the unlabelled rows are a fresh sample of the population; the labelled
    positives were collected separately from it.

    >>> Scenario("single-set").target_population
    'all rows, labelled and unlabelled'
    """

    CASE_CONTROL = "case-control"
    SINGLE_SET = "single-set"

    @property
    def target_population(self) -> str:
        if self is Scenario.CASE_CONTROL:
            return "the population the unlabelled rows were drawn from"
        return "all rows, labelled and unlabelled"


#: A table of rows in which some carry a label is one sample, so this is what every door takes for granted. Plain text,
#: for signatures to show it as it is typed and for scikit-learn, which refuses other defaults.
DEFAULT_SCENARIO: Final = "single-set"


def check_scenario(scenario: str) -> Scenario:
    """Turn the caller's word into a :class:`Scenario`.

    >>> check_scenario("case-control")
    <Scenario.CASE_CONTROL: 'case-control'>
    """
    try:
        return Scenario(scenario)
    except (ValueError, TypeError):
        allowed = " or ".join(repr(str(choice)) for choice in Scenario)
        raise AssumptionError(
            f"scenario must be {allowed}, got {shown(scenario)}. Say 'case-control' when the unlabelled rows are a "
            "sample of the population on their own, 'single-set' when the labelled rows were picked out of it."
        ) from None
