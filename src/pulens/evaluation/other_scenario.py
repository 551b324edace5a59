"""What the numbers of an answer would be, had the labelled rows come about the other way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pulens.errors import AssumptionError
from pulens.estimate import Estimate, Interval
from pulens.evidence import Evidence
from pulens.frozen import FrozenMapping
from pulens.metrics import find
from pulens.metrics.parts.measure import value
from pulens.metrics.parts.possible_worlds import find_contradiction
from pulens.notice import Notice, Severity
from pulens.priors.class_prior import population_prior, unlabelled_prior
from pulens.scenario import Scenario

WITHOUT_INTERVAL = 0.02  # change from which on a number without an interval counts as moved
INVISIBLE = 0.0005  # change that three decimals do not show, however narrow the interval
COME_ABOUT = {
    Scenario.SINGLE_SET: "picked out of one sample with the unlabelled ones",
    Scenario.CASE_CONTROL: "collected separately from the unlabelled ones",
}


@dataclass(frozen=True, slots=True)
class OtherScenario:
    """The scenario that was not assumed, and the shown numbers that would move beyond their doubt.

    ``held`` says which share of positives stays the same. A class prior that the caller gave is held
    (``"population"``): it is a fact about the world, whichever way rows were labelled. An estimate or an audit
    is about the unlabelled rows, and so does ``unlabelled_prior``: there their share is held (``"unlabelled"``).
    ``moved`` holds (value here, value there) of every metric that differs by more than half the width of its
    interval. ``impossible_because`` says why the class prior rules the other scenario out, where it does.
    """

    assumed: Scenario
    scenario: Scenario
    held: Literal["population", "unlabelled"]
    moved: Mapping[str, tuple[float, float]]
    impossible_because: str | None = None

    @property
    def notices(self) -> tuple[Notice, ...]:
        """One note with all that would move; none if nothing does."""
        if not self.moved:
            return ()
        share = {"population": "class prior", "unlabelled": "share of positives among the unlabelled rows"}[self.held]
        values = ", ".join(
            f"{name.replace('_', ' ')} {there:.3f} instead of {here:.3f}" for name, (here, there) in self.moved.items()
        )
        return (
            Notice(
                Severity.NOTE,
                "scenario-matters",
                f"The labelled rows are taken to be {COME_ABOUT[self.assumed]} ({self.assumed}). Were they "
                f"{COME_ABOUT[self.scenario]} ({self.scenario}), the same {share} would give {values}.",
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "scenario": str(self.scenario),
            "held": self.held,
            "moved": {name: {"here": here, "there": there} for name, (here, there) in self.moved.items()},
            "impossible_because": self.impossible_because,
        }


def other_scenario(evidence: Evidence, estimates: Mapping[str, Estimate], threshold: float) -> OtherScenario | None:
    """Compute every shown metric under the other scenario; ``None`` where all rows are of one kind or known.

    >>> from pulens import evaluate
    >>> found = evaluate([1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2], class_prior=0.5, threshold=5,
    ...     confidence=None, labelling="random").other_scenario
    >>> {name: [round(end, 3) for end in found.moved[name]] for name in ("roc_auc", "precision")}
    {'roc_auc': [0.75, 0.9], 'precision': [0.533, 0.556]}
    """
    totals = evidence.tally.totals
    if not totals.unlabelled or not totals.labelled:
        return None
    other = Scenario.CASE_CONTROL if evidence.scenario is Scenario.SINGLE_SET else Scenario.SINGLE_SET
    held: Literal["population", "unlabelled"] = "population" if evidence.prior_held == "population" else "unlabelled"
    try:
        moved_evidence = under_scenario(evidence, other)
        there = moved_evidence.assumptions
    except AssumptionError as error:
        reason = str(error).split(". ")[0]  # the rest is the way out for who typed the class prior
        return OtherScenario(evidence.scenario, other, held, FrozenMapping({}), reason)
    moved = {}
    against = find_contradiction(moved_evidence)
    for name, estimate in estimates.items():
        if math.isnan(estimate.value):
            continue
        possible = None if against is None else against.estimate(name, find(name), threshold, {})
        result = value(find(name), evidence.tally, there, threshold) if possible is None else possible.value
        if abs(result - estimate.value) > _doubt(estimate.interval):  # nan is not
            moved[name] = (estimate.value, result)
    return OtherScenario(evidence.scenario, other, held, FrozenMapping(moved))


def under_scenario(evidence: Evidence, other: Scenario) -> Evidence:
    """The same rows under the other scenario, with the share of positives that is held."""
    totals, noise, prior = evidence.tally.totals, evidence.label_noise, evidence.class_prior
    share = prior.unlabelled
    if evidence.prior_held == "population":
        share = unlabelled_prior(prior.value, totals, other, noise)
    moved = replace(prior, value=population_prior(share, totals, other, noise), unlabelled=share)
    if evidence.prior_held == "population" and prior.interval is not None:
        known = 0.0 if other is Scenario.CASE_CONTROL else (1 - noise) * totals.labelled / totals.rows
        ends = (
            unlabelled_prior(max(end, known), totals, other, noise) for end in (prior.interval.low, prior.interval.high)
        )
        low, high = ends
        moved = replace(moved, unlabelled_interval=replace(prior.interval, low=low, high=high))
    return replace(evidence, scenario=other, class_prior=moved)


def _doubt(interval: Interval | None) -> float:
    return WITHOUT_INTERVAL if interval is None else max(interval.width / 2, INVISIBLE)
