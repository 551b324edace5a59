"""A class prior that the user knows: a number, or a range that surely holds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from pulens.counts.tally import Totals
from pulens.errors import AssumptionError, shown
from pulens.estimate import Interval
from pulens.priors.class_prior import ClassPrior, population_prior, unlabelled_prior
from pulens.recovery.assumptions import Assumptions, check_label_noise
from pulens.scalars import real
from pulens.scenario import Scenario

GivenPrior: TypeAlias = float | Sequence[float]


def given(
    totals: Totals,
    scenario: Scenario,
    *,
    class_prior: GivenPrior | None = None,
    unlabelled_prior: GivenPrior | None = None,
    label_noise: float = 0.0,
) -> ClassPrior:
    """Make a :class:`ClassPrior` of exactly one of the two numbers a user may know.

    >>> print(given(Totals(100, 900, 0), Scenario.SINGLE_SET, unlabelled_prior=(0.1, 0.3)))
    class prior 0.28 [0.190, 0.370] (given as a range)
    """
    label_noise = check_label_noise(label_noise)
    if (class_prior is None) == (unlabelled_prior is None):
        seen = (
            "neither"
            if class_prior is None
            else f"class_prior={shown(class_prior)} and unlabelled_prior={shown(unlabelled_prior)}"
        )
        raise AssumptionError(
            f"give exactly one of class_prior (share of positives in the population) and unlabelled_prior "
            f"(share among the unlabelled rows), got {seen}."
        )
    name = "class_prior" if unlabelled_prior is None else "unlabelled_prior"
    ends = _ends(name, class_prior if unlabelled_prior is None else unlabelled_prior)
    if name == "class_prior":
        unlabelled = [_to_unlabelled(end, totals, scenario, label_noise) for end in ends]
    else:
        unlabelled = list(ends)
    for end in unlabelled:
        Assumptions(end, label_noise, scenario)  # refuses what no data could satisfy
    population = [population_prior(end, totals, scenario, label_noise) for end in unlabelled]
    if name == "class_prior":
        population = list(ends)
    assumption = "The class prior is as given." if len(ends) == 1 else "The class prior lies in the given range."
    if len(ends) == 1:
        return ClassPrior(population[0], unlabelled[0], "given", assumption=assumption)
    return ClassPrior(
        sum(population) / 2,
        sum(unlabelled) / 2,
        "given as a range",
        Interval(population[0], population[1], None, "given"),
        Interval(unlabelled[0], unlabelled[1], None, "given"),
        assumption,
    )


def _to_unlabelled(end: float, totals: Totals, scenario: Scenario, label_noise: float) -> float:
    return unlabelled_prior(end, totals, scenario, label_noise)


def _ends(name: str, value: GivenPrior | None) -> tuple[float, ...]:
    """One number or two, checked; the message quotes what was typed."""
    meaning = "in the whole population" if name == "class_prior" else "among the unlabelled rows"
    help_text = (
        f"{name} must be a number of at least 0 and below 1, or a range (low, high) of two such numbers, "
        f"got {shown(value)}. It is the share of positives {meaning}: write 30% as 0.3."
    )
    if isinstance(value, str | bytes) or value is None:
        raise AssumptionError(help_text)
    if hasattr(value, "tolist"):  # a number or an array of some library
        value = value.tolist()
    numbers = [real(end) for end in value] if isinstance(value, Sequence) else [real(value)]
    ordered = len(numbers) in (1, 2) and numbers == sorted(numbers)
    if not ordered or not all(0 <= n < 1 for n in numbers):
        raise AssumptionError(help_text)
    return tuple(numbers)
