"""Everything that an answer rests on: the counts, the class prior, the label noise, the scenario."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pulens.assumptions import Assumptions, check_label_noise
from pulens.errors import AssumptionError
from pulens.inputs import read_tally
from pulens.priors import ClassPrior, estimate_from_tally, given
from pulens.priors.given import GivenPrior
from pulens.recovery import Recovery
from pulens.recovery.binning_error import bin_errors
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario
from pulens.tally import Tally


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was observed and what is taken for granted.

    ``prior_held`` says which share stays when the numbers of labelled and unlabelled rows are redrawn: that among
    the unlabelled rows, or that in the population. It matters in the single-set scenario only.
    """

    tally: Tally
    class_prior: ClassPrior
    label_noise: float = 0.0
    scenario: Scenario = Scenario.SINGLE_SET
    prior_held: Literal["unlabelled", "population"] = "unlabelled"

    @property
    def assumptions(self) -> Assumptions:
        """At the class prior's own value."""
        return self.assumptions_at(self.class_prior.unlabelled)

    def assumptions_at(self, unlabelled_prior: float) -> Assumptions:
        """At another share of positives among the unlabelled rows."""
        return Assumptions(unlabelled_prior, self.label_noise, self.recovery_scenario)

    @property
    def recovery_scenario(self) -> Scenario:
        """The scenario as given, unless the class prior is given as 0: every row's class is then known.

        Rows that are all labelled are the only population such data describe that holds both classes.
        """
        prior = self.class_prior
        return Scenario.SINGLE_SET if prior.is_exact and prior.unlabelled == 0 else self.scenario

    @property
    def recovery(self) -> Recovery:
        return Recovery.of(self.tally.totals, self.assumptions)

    @property
    def target_population(self) -> str:
        return self.recovery.target_population

    def with_tally(self, tally: Tally) -> Evidence:
        """The same assumptions about other counts, such as a redrawn tally."""
        return replace(self, tally=tally)


def gather(
    source: Any,
    scores: Any = None,
    *,
    class_prior: GivenPrior | ClassPrior | str | None = None,
    unlabelled_prior: GivenPrior | None = None,
    label_noise: float = 0.0,
    scenario: str = DEFAULT_SCENARIO,
    audit: object = None,
    **reading: Any,
) -> Evidence:
    """Read rows (see :func:`pulens.inputs.read_tally`), count them and settle the class prior.

    >>> gather([1, 0, 0, 0], [0.9, 0.7, 0.2, 0.1], class_prior=0.25).class_prior.unlabelled
    0.0
    """
    checked_scenario = check_scenario(scenario)
    check_label_noise(label_noise)

    held: Literal["unlabelled", "population"] = "population"
    if class_prior is None or isinstance(class_prior, ClassPrior | str):
        held = "unlabelled"

    def settled(tally: Tally) -> Evidence:
        prior = settle_class_prior(tally, checked_scenario, class_prior, unlabelled_prior, label_noise, audit)
        return Evidence(tally, prior, float(label_noise), checked_scenario, held)

    def errors_of_bins(tally: Tally) -> list[NDArray[np.float64]]:
        return bin_errors(tally, settled(tally).assumptions)

    return settled(read_tally(source, scores, bin_errors=errors_of_bins, **reading))


def settle_class_prior(
    tally: Tally,
    scenario: Scenario,
    class_prior: GivenPrior | ClassPrior | str | None,
    unlabelled_prior: GivenPrior | None,
    label_noise: float,
    audit: object = None,
) -> ClassPrior:
    """The class prior as the user gave it, or estimated by the method the user named; by default ``"auto"``."""
    if isinstance(class_prior, ClassPrior) and audit is None:
        return class_prior
    totals = tally.totals
    if totals.unlabelled == 0:  # every row's class is known, and so is the share of positives
        value = (1 - label_noise) * totals.labelled / totals.rows
        return ClassPrior(value, 0.0, "counted", assumption="Every row is labelled positive or negative.")
    if class_prior is None and unlabelled_prior is None:
        class_prior = "auto"
    if isinstance(class_prior, str) and unlabelled_prior is None:
        return estimate_from_tally(tally, class_prior, scenario=scenario, label_noise=label_noise, audit=audit)
    if audit is not None:
        raise AssumptionError(
            f"audit={audit!r} counts positives among the unlabelled rows, and class_prior or unlabelled_prior says how "
            "many there are: give one of them, or audit= beside the name of an estimator."
        )
    return given(
        totals,
        scenario,
        class_prior=class_prior,  # type: ignore[arg-type]  # a name beside unlabelled_prior is refused with the rest
        unlabelled_prior=unlabelled_prior,
        label_noise=label_noise,
    )
