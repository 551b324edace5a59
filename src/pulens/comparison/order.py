"""The order of models as a function of the class prior, with the places where it changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from pulens.answer import Answer
from pulens.counts.tally import Tally
from pulens.types import Floats

_FINE = 1e-10


@dataclass(frozen=True, slots=True)
class Crossing(Answer):
    """A class prior at which two models change places.

    >>> print(Crossing("a", "b", 0.25, 0.2))
    a is better below 0.250, b above
    """

    _keys = ("better_below=below", "better_above=above", "class_prior", "unlabelled_prior")

    below: str
    above: str
    class_prior: float
    unlabelled_prior: float

    def __str__(self) -> str:
        return f"{self.below} is better below {self.class_prior:.3f}, {self.above} above"


@dataclass(frozen=True, slots=True, eq=False)
class Order(Answer):
    """A metric of each model while the class prior moves over the values it may have."""

    _keys = ("class_priors", "values", "crossings", "winners")

    metric: str
    class_priors: Floats
    values: Mapping[str, Floats]
    crossings: tuple[Crossing, ...]
    winner_crossings: tuple[Crossing, ...]
    higher_is_better: bool

    @property
    def winners(self) -> tuple[str, ...]:
        """The best model, from the smallest class prior to the largest; one name if it never changes."""
        if not self.winner_crossings:
            return (self.best_at(len(self.class_priors) // 2),)
        return (self.winner_crossings[0].below, *(crossing.above for crossing in self.winner_crossings))

    def best_at(self, index: int) -> str:
        sign = 1 if self.higher_is_better else -1
        return max(self.values, key=lambda name: -np.inf if np.isnan(v := sign * self.values[name][index]) else v)


def order_by_prior(
    metric: str,
    value: Callable[[str, float], float],
    names: tuple[str, ...],
    unlabelled_priors: Floats,
    to_class_prior: Callable[[float], float],
    *,
    higher_is_better: bool,
) -> Order:
    """Trace every model over the priors and find where two of them cross, by bisection between grid points.

    >>> lines = {"a": lambda prior: 0.5, "b": lambda prior: prior}
    >>> order = order_by_prior("x", lambda name, prior: lines[name](prior), ("a", "b"), np.linspace(0, 0.9, 10),
    ...                        float, higher_is_better=True)
    >>> print(order.crossings[0])
    a is better below 0.500, b above
    """
    values = {name: np.array([value(name, prior) for prior in unlabelled_priors.tolist()]) for name in names}
    sign = 1.0 if higher_is_better else -1.0
    result = []
    for first, second in combinations(names, 2):

        def lead(prior: float, first: str = first, second: str = second) -> float:
            return sign * (value(first, prior) - value(second, prior))

        ahead = [
            (prior, sign * gap)
            for prior, gap in zip(unlabelled_priors.tolist(), values[first] - values[second], strict=True)
        ]
        # where the models are equal nobody leads: only a change from one leader to the other is a crossing
        clear = [(prior, gap) for prior, gap in ahead if abs(gap) > 1e-12]
        for (low, before), (high, after) in pairwise(clear):
            if before * after < 0:
                index = _bisect(lead, low, high, before)
                names_in_order = (first, second) if before > 0 else (second, first)
                result.append(Crossing(*names_in_order, to_class_prior(index), index))
    result.sort(key=lambda crossing: crossing.unlabelled_prior)
    priors = np.array([to_class_prior(prior) for prior in unlabelled_priors.tolist()])
    at_the_top = []
    for crossing in result:
        top = max(sign * value(name, crossing.unlabelled_prior) for name in names)
        if sign * value(crossing.below, crossing.unlabelled_prior) >= top - 1e-6:
            at_the_top.append(crossing)
    return Order(metric, priors, values, tuple(result), tuple(at_the_top), higher_is_better)


def _bisect(lead: Callable[[float], float], low: float, high: float, before: float) -> float:
    """Where the lead changes sign; it may jump there, so nothing smoother than halving is safe."""
    while high - low > _FINE:
        middle = (low + high) / 2
        if lead(middle) * before > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def largest_credible_prior(tally: Tally, purity: float) -> float:
    """The share of positives among the unlabelled rows cannot much exceed eta/gamma at any threshold.

    A false positive rate below zero is impossible: Jain et al. 2017, equation 2, gives the prior at which the recovered
    rate would get there, here with two standard errors to spare.
    """
    labelled, unlabelled, _ = tally.totals
    if not unlabelled:
        return 0.0
    gamma, eta = tally.labelled / labelled, tally.unlabelled / unlabelled
    gamma = gamma - 2 * np.sqrt(gamma * (1 - gamma) / labelled)
    eta = eta + 2 * np.sqrt(np.maximum(eta * (1 - eta), 1 / unlabelled) / unlabelled)
    enough = gamma > 0.02
    limit = float(np.min(eta[enough] / gamma[enough], initial=1.0)) * purity
    return min(limit, 0.95 * purity)
