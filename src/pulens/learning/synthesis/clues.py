"""What a labelling mechanism is shown, one number per row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.containers import plain_array
from pulens.errors import InputError
from pulens.learning.labelling import Mechanism, auxiliary_log_odds, mixture_log_density
from pulens.learning.synthesis.pu_data import take
from pulens.types import Booleans, Places

# what the mixture behind "representativeness" can be told, besides what a mechanism declares itself
MIXTURE_PARAMETERS = {"components": 3, "covariance": "diag"}


class Clues:
    """One number per row for a mechanism to look at; fitted on training rows, when it is first needed."""

    def __init__(
        self,
        X: Any,
        is_positive: Booleans,
        train: Places,
        rule: Mechanism,
        given: Any,
        settings: dict[str, Any],
        seed: int,
    ) -> None:
        self.X, self.is_positive, self.train, self.rule = X, is_positive, train, rule
        self.settings = settings
        self.seed = seed
        self.given = None if given is None else self._checked(given)

    def __call__(self, places: Places) -> NDArray[np.float64]:
        if self.rule.reads == "nothing" or not places.size:  # a small part may hold no row to be labelled
            return np.zeros(places.size)
        if self.given is not None:
            return self.given[places]
        scored = take(self.X, places)
        if self.rule.reads == "log_odds":
            return auxiliary_log_odds(take(self.X, self.train), self.is_positive[self.train], scored)
        fitted = take(self.X, self.train[self.is_positive[self.train]])
        mixture = {name: value for name, value in self.settings.items() if name in MIXTURE_PARAMETERS}
        return mixture_log_density(fitted, scored, seed=self.seed % 2**32, **mixture)

    def choose(self, places: Places, count: int, rng: np.random.Generator) -> Places:
        own = {name: value for name, value in self.settings.items() if name not in MIXTURE_PARAMETERS}
        return places[self.rule.choose(self(places), count, rng, **own)]

    def _checked(self, given: Any) -> NDArray[np.float64]:
        try:
            values = plain_array(given).astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"evidence must hold one finite number per row: {error}.") from error
        if values.shape != self.is_positive.shape or not np.isfinite(values).all():
            raise InputError(
                f"evidence must hold one finite number per row ({self.is_positive.size}), got shape {values.shape}."
            )
        if self.rule.reads != "log_odds":
            return values
        if ((values < 0) | (values > 1)).any():
            raise InputError(
                f"evidence for this mechanism is the posterior of the positive class, between 0 and 1; got "
                f"{values[(values < 0) | (values > 1)][0]!r}."
            )
        with np.errstate(divide="ignore"):
            odds: NDArray[np.float64] = np.log(values) - np.log1p(-values)
        return odds
