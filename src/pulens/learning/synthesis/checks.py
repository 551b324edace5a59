"""What callers may say, and the words in which they are told otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pulens.errors import AssumptionError, InputError, PulensError, listed, nearest, shown
from pulens.keywords import KeywordError
from pulens.learning.labelling import Mechanism
from pulens.learning.synthesis.clues import MIXTURE_PARAMETERS
from pulens.learning.synthesis.construct import Recipe
from pulens.learning.synthesis.pu_data import PUData
from pulens.notice import Notice, Severity
from pulens.recovery.assumptions import check_label_noise
from pulens.scalars import is_among, real, whole
from pulens.scenario import Scenario
from pulens.types import Booleans

UNLABELLED = ("disjoint", "whole-pool")


def check_recipe(
    scenario: Scenario,
    rule: Mechanism,
    label_frequency: float | None,
    labelled: int | None,
    label_noise: float,
    unlabelled: str,
    candidate_share: float | None,
) -> Recipe:
    label_noise = check_label_noise(label_noise)
    label_frequency = _check_how_many(label_frequency, labelled)
    if not is_among(unlabelled, UNLABELLED):
        raise AssumptionError(f"unlabelled must be one of {listed(UNLABELLED)}, got {shown(unlabelled)}.")
    if scenario is Scenario.SINGLE_SET and unlabelled != "disjoint":
        raise AssumptionError(
            "unlabelled='whole-pool' belongs to scenario='case-control': in a single set the labelled rows leave the "
            "unlabelled ones."
        )
    if candidate_share is not None:
        check_share("candidate_share", candidate_share)
    return Recipe(
        scenario,
        rule,
        None if label_frequency is None else float(label_frequency),
        None if labelled is None else int(labelled),
        float(label_noise),
        unlabelled,
        candidate_share,
    )


def _check_how_many(label_frequency: float | None, labelled: int | None) -> float | None:
    """The label frequency, unless a number of rows is given: one of the two."""
    if label_frequency is not None and labelled is not None:
        both = f"{shown(label_frequency)} and {shown(labelled)}"
        raise AssumptionError(f"give label_frequency or labelled, not both; got {both}.")
    if labelled is not None:
        if real(labelled) >= 1 and real(labelled).is_integer():
            return None
        raise AssumptionError(f"labelled must be a whole number of at least 1, got {shown(labelled)}.")
    share = real(0.1 if label_frequency is None else label_frequency)
    if not 0 < share <= 1:
        raise AssumptionError(
            f"label_frequency must be above 0 and at most 1, got {shown(label_frequency)}. It is the share of "
            "positives that get a label: write 10% as 0.1."
        )
    return share


def check_rows(X: Any, is_positive: Booleans) -> None:
    rows = X.shape[0] if getattr(X, "shape", ()) else None
    if rows is None:
        raise InputError(f"X must be an array, a sparse matrix or a frame, got {type(X).__name__}.")
    if rows != is_positive.size:
        raise InputError(f"X and y must have as many rows, got {rows} and {is_positive.size}.")
    if not is_positive.any() or is_positive.all():
        raise InputError(
            f"both classes are needed to make PU data, got {int(is_positive.sum())} positives among "
            f"{is_positive.size} rows. Check positive=."
        )


def check_seed(seed: Any) -> int:
    number = whole(seed)
    if number is None or number < 0:
        raise PulensError(f"seed must be a whole number of at least 0, got {shown(seed)}.")
    return number


def check_share(name: str, value: float, *, lowest_allowed: bool = False) -> None:
    number = real(value)
    if not (0 < number < 1 or (lowest_allowed and number == 0)):
        lowest = "at least 0" if lowest_allowed else "above 0"
        raise AssumptionError(f"{name} must be {lowest} and below 1, got {shown(value)}. Write 10% as 0.1.")


def check_shares(**shares: float) -> None:
    """Shares of rows that are held out, by the names of their arguments; 0 holds none out."""
    for name, share in shares.items():
        check_share(name, share, lowest_allowed=True)


def check_priors(**priors: float | None) -> None:
    """Class priors by the names of their arguments; None leaves the classes as they are."""
    for name, prior in priors.items():
        if prior is not None:
            check_share(name, prior)


def check_parameters(name: str, rule: Mechanism, given: dict[str, Any], own: Iterable[str] = ()) -> dict[str, Any]:
    """What the mechanism is told; ``own`` are the door's arguments, which may have been meant."""
    known = dict(rule.parameters) | (MIXTURE_PARAMETERS if rule.reads == "representativeness" else {})
    for parameter in given:
        if parameter not in known:
            allowed = f"it takes {listed(known)}" if known else "it takes none"
            raise KeywordError(
                f"{parameter!r} is not a parameter of the labelling mechanism {name!r}; {allowed}. Nor is it an "
                f"argument of synthesise().{nearest(parameter, (*own, *known))}"
            )
    return known | given


def nothing_left(made: tuple[PUData, Booleans] | None, recipe: Recipe, pool: Booleans) -> str:
    if made is None or made[0].n_labelled == 0:
        asked = recipe.label_frequency if recipe.labelled is None else recipe.labelled
        return (
            f"no row would be labelled: {asked!r} of {int(pool.sum())} training positives. "
            "Raise label_frequency or give a larger table."
        )
    return (
        f"no row would be left unlabelled: {made[0].n_labelled} labels use up every positive, so that no sample with "
        "the population's share of positives can be drawn. Lower label_frequency, or say scenario='single-set'."
    )


def notices_of(recipe: Recipe, train: PUData, validation: PUData | None) -> Iterator[Notice]:
    if recipe.unlabelled == "whole-pool":
        yield Notice(
            Severity.NOTE,
            "labelled-rows-repeated",
            "Every labelled row occurs again among the unlabelled ones, as in the published generator: the two "
            "samples are not independent, and two-sample intervals do not hold.",
        )
    if recipe.sets_candidates_aside:
        yield Notice(
            Severity.NOTE,
            "candidates-set-aside",
            f"Labels were chosen from {recipe.share:.0%} of the positives; the rest became the unlabelled sample, "
            "because what a biased choice leaves behind would not be a fair sample.",
        )
    asked = recipe.labelled
    if asked is not None and train.n_labelled < asked:
        yield Notice(Severity.WARNING, "fewer-labels", f"Only {train.n_labelled} of {asked} labels could be set.")
    if validation is not None and validation.n_labelled == 0:
        yield Notice(
            Severity.WARNING,
            "no-labelled-validation-row",
            "No validation row is labelled, so nothing can be selected on it. Raise validation_share or "
            "label_frequency.",
        )
