"""How the class prior of an answer is settled: given, found in an audit, counted, or estimated."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real

from pulens.counts.tally import Tally, Totals
from pulens.errors import AssumptionError
from pulens.notice import Notice, Severity
from pulens.priors import ClassPrior, estimate_from_tally, given, population_prior
from pulens.priors.audit import check_alone
from pulens.priors.given import GivenPrior
from pulens.scenario import Scenario

#: An unlabelled prior for numbers that do not depend on it; any would do but 0, which says that every row is labelled.
NOT_USED = 1e-6
#: How far the two shares of a class prior may be from one another before it is said that they do not fit.
MISFIT = 1e-3


def resolve_class_prior(
    tally: Tally,
    scenario: Scenario,
    class_prior: GivenPrior | ClassPrior | str | None,
    unlabelled_prior: GivenPrior | None,
    label_noise: float,
    audit: object = None,
    combine: bool = False,
) -> ClassPrior:
    """The class prior as the user gave it or found it in an audit, or else estimated, by default by ``"auto"``."""
    totals = tally.totals
    if totals.unlabelled == 0:  # every row's class is known, and so is the share of positives
        return counted(totals, class_prior, unlabelled_prior, label_noise, audit)
    if isinstance(class_prior, ClassPrior) and audit is None and unlabelled_prior is None:
        return _of_these_rows(class_prior, totals, scenario, label_noise)
    if (class_prior is None or isinstance(class_prior, str)) and unlabelled_prior is None:
        return estimate_from_tally(
            tally, class_prior, scenario=scenario, label_noise=label_noise, audit=audit, combine=combine
        )
    if audit is not None:
        raise AssumptionError(
            f"audit={audit!r} counts positives among the unlabelled rows, and class_prior or unlabelled_prior says how "
            "many there are: give one of them."
        )
    check_alone(None, audit, combine)
    return given(
        totals,
        scenario,
        class_prior=class_prior,  # type: ignore[arg-type]  # a name beside unlabelled_prior is refused with the rest
        unlabelled_prior=unlabelled_prior,
        label_noise=label_noise,
    )


def counted(
    totals: Totals,
    class_prior: GivenPrior | ClassPrior | str | None,
    unlabelled_prior: GivenPrior | None,
    label_noise: float,
    audit: object,
) -> ClassPrior:
    """The share of positives where every row's class is known; what else was given must agree with it.

    >>> counted(Totals(3, 0, 5), 0.375, None, 0.0, None).value
    0.375
    """
    value = (1 - label_noise) * totals.labelled / totals.rows
    known = f"every row is labelled positive or known negative, so the class prior is counted: {value:.6g}"
    if audit is not None:
        raise AssumptionError(f"{known}. audit={audit!r} is about unlabelled rows, and there are none: leave it out.")
    if unlabelled_prior is not None and not (isinstance(unlabelled_prior, Real) and unlabelled_prior in (0, NOT_USED)):
        raise AssumptionError(
            f"{known}. unlabelled_prior={unlabelled_prior!r} is about unlabelled rows, and there are none. Leave it "
            "out, or check which label value means unlabelled (unlabelled=..., or --unlabelled on the command line)."
        )
    if class_prior is not None and not isinstance(class_prior, str):
        told = class_prior.value if isinstance(class_prior, ClassPrior) else class_prior
        reach = given(Totals(0, 1, 0), Scenario.CASE_CONTROL, class_prior=told).interval  # checks what was typed
        low, high = (float(told), float(told)) if reach is None else (reach.low, reach.high)  # type: ignore[arg-type]
        if not low - 1e-6 * value <= value <= high + 1e-6 * value:
            raise AssumptionError(
                f"{known}, which contradicts class_prior={told!r}. Leave it out; if the rows were picked by their "
                "class and the population has another share of positives, give the rows weights that say so. If rows "
                "are really unlabelled, check which label value means that (unlabelled=..., or --unlabelled on the "
                "command line)."
            )
    return ClassPrior(value, 0.0, "counted", assumption="Every row is labelled positive or negative.")


def _of_these_rows(prior: ClassPrior, totals: Totals, scenario: Scenario, label_noise: float) -> ClassPrior:
    """A class prior found elsewhere, with a warning if its two shares do not fit these rows: one is not used."""
    implied = population_prior(prior.unlabelled, totals, scenario, label_noise)
    if abs(implied - prior.value) <= MISFIT or any(notice.code == "prior-of-other-rows" for notice in prior.notices):
        return prior
    notice = Notice(
        Severity.SERIOUS,
        "prior-of-other-rows",
        f"The class prior given says {prior.value:.4g} in the population and {prior.unlabelled:.4g} among the "
        f"unlabelled rows. For these rows ({scenario}) the latter makes {implied:.4g} in the population: the latter "
        "was used, the former was not. It was found from other rows, another scenario or other label noise: estimate "
        "it from these rows, or give class_prior= or unlabelled_prior= as a number.",
    )
    return replace(prior, notices=(notice, *prior.notices))
