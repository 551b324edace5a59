"""The class prior of a learner: a number that can be, or an estimator's name.

Estimators are handed out-of-fold scores of a quick classifier.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import AssumptionError, listed, nearest
from pulens.scenario import Scenario

MOST_FEATURES = 2000


def resolved_prior(
    given: Any,
    scenario: Scenario,
    labelled_share: float,
    *,
    who: str,
    needed: bool,
    estimate: Callable[[str], float],
) -> float | None:
    """The class prior that a learner works with: given, estimated by name, or none where it can do without.

    >>> resolved_prior("auto", Scenario.SINGLE_SET, 0.3, who="NNPU", needed=True, estimate=lambda method: 0.4)
    0.4
    """
    if isinstance(given, str):
        return estimate(check_estimator_name(given))
    if given is None:
        if needed:
            raise AssumptionError(f"{who} needs class_prior: a number, or 'auto' to estimate it, got None.")
        return None
    return check_known_prior(given, scenario, labelled_share)


def check_known_prior(given: Any, scenario: Scenario, labelled_share: float) -> float:
    """A class prior that is given: strictly between 0 and 1, and not below what is labelled already.

    >>> check_known_prior(0.1, Scenario.SINGLE_SET, labelled_share=0.3)
    Traceback (most recent call last):
    ...
    pulens.errors.AssumptionError: class_prior 0.1 is impossible in the single-set scenario: the labelled positives...
    """
    value = getattr(given, "value", given)  # a ClassPrior carries its value
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating) or not 0 < value < 1:
        raise AssumptionError(
            f"class_prior must lie strictly between 0 and 1, or be 'auto' or an estimator's name to estimate it, got "
            f"{given!r}. It is the share of positives in the whole population: write 30% as 0.3. A range cannot be "
            "trained with: take a value in it."
        )
    if scenario is Scenario.SINGLE_SET and value < labelled_share:
        raise AssumptionError(
            f"class_prior {value!r} is impossible in the single-set scenario: the labelled positives alone make up "
            f"{labelled_share:.6g} of all rows. Give a class prior of at least that, or scenario='case-control' "
            "if the unlabelled rows alone are the sample of the population."
        )
    return float(value)


def check_estimator_name(name: str) -> str:
    """``"auto"``, or a name of :func:`pulens.priors.names`."""
    from pulens.priors import knows, names

    if not knows(name):
        raise AssumptionError(
            f"class_prior must be a number between 0 and 1, 'auto', or the name of an estimator, got {name!r}; the "
            f"estimators are {listed(names(), limit=99)}.{nearest(name, names())}"
        )
    return name


def estimated_class_prior(
    X: NDArray[Any], labels: NDArray[Any], scenario: str, seed: int, *, method: str = "auto", groups: Any = None
) -> float:
    """Share of positives in the population, from scores of a logistic regression that never saw the row.

    With ``groups`` it never saw a row of the same group either.
    """
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from pulens.priors.from_features import estimate_prior_from_features

    flat, start = np.asarray(X, np.float64).reshape(len(X), -1), seed % (1 << 32)
    steps: list[Any] = [StandardScaler()]
    if flat.shape[1] > MOST_FEATURES:
        steps.append(PCA(100, random_state=start))
    model = make_pipeline(*steps, LogisticRegression(C=0.1, max_iter=200))
    told: Any = {"method": method, "seed": start, "scenario": scenario, "groups": groups}
    result = estimate_prior_from_features(flat, labels, model=model, **told)
    return float(result.value)
