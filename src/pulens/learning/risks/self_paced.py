r"""How hard a row is under the label it is given for now, and what such a row weighs: Zhu et al. (2023), Robust-PU.

Labelled rows stand for positives, unlabelled ones for negatives. A row's hardness :math:`d` is its loss at a softened
logit; its weight :math:`v(d; \tau)` falls with the hardness and rises with a threshold that grows from episode to
episode, so that positives hidden among the unlabelled rows count little as negatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pulens.learning.risks.losses import LOSSES, _library

HARDNESS = ("logistic", "sigmoid")


def hardness(z: Any, sign: int, temperature: Any, kind: str = "logistic") -> Any:
    r"""The loss at :math:`z/T`: :math:`\mathrm{softplus}(\mp z/T)`, or :math:`\sigma(\mp z/T)`.

    >>> import numpy as np
    >>> hardness(np.array([2.0]), 1, 1.0).round(6), hardness(np.array([-1.0, 0.5]), -1, 1.3).round(6)
    (array([0.126928]), array([0.380742, 0.903833]))
    """
    return LOSSES[kind](z / temperature, sign)


def welsch(d: Any, tau: Any) -> Any:
    r""":math:`\exp(-d/\tau^2)` (equation 3): never quite zero.

    >>> import numpy as np
    >>> welsch(np.array([0.126928]), 1.0).round(6)
    array([0.880797])
    """
    return _library(d).exp(-d / tau**2)


def linear(d: Any, tau: Any) -> Any:
    r""":math:`\max(0, 1 - d/\tau)`."""
    return _library(d).clip(1 - d / tau, 0, None)


def hard(d: Any, tau: Any) -> Any:
    r"""1 below the threshold, 0 from there on."""
    return (d < tau) * 1.0


def logistic(d: Any, tau: Any) -> Any:
    r""":math:`(1 + e^{-\tau}) / (1 + e^{d - \tau})`."""
    exp = _library(d).exp
    return (1 + exp(0 * d - tau)) / (1 + exp(d - tau))


def cauchy(d: Any, tau: Any) -> Any:
    r""":math:`1 / (1 + d/\tau^2)`."""
    return 1 / (1 + d / tau**2)


def huber(d: Any, tau: Any) -> Any:
    r""":math:`\min(1, \tau/\sqrt d)`."""
    library = _library(d)
    return library.clip(tau / library.sqrt(library.clip(d, 1e-12, None)), None, 1)


def polynomial(d: Any, tau: Any) -> Any:
    r""":math:`(1 - d/\tau)^{1/2}` below the threshold, 0 from there on (the power with t = 3)."""
    return _library(d).sqrt(linear(d, tau))


def logarithmic(d: Any, tau: Any) -> Any:
    r""":math:`\log(d + 1 - \tau) / \log(1 - \tau)` below a threshold smaller than 1, 0 from there on."""
    log = _library(d).log
    inside = _library(d).clip(d + 1 - tau, None, 1)
    return log(inside) / log(0 * d + 1 - tau) * (d < tau)


WEIGHTS: dict[str, Callable[[Any, Any], Any]] = {
    "welsch": welsch,
    "linear": linear,
    "hard": hard,
    "logistic": logistic,
    "cauchy": cauchy,
    "huber": huber,
    "polynomial": polynomial,
    "logarithmic": logarithmic,
}

# how far a threshold has come after a share of the growing steps, and whether it goes on for ever
GROWTH: dict[str, Callable[[float], float]] = {
    "constant": lambda share: 0.0,
    "linear": lambda share: share,
    "convex": lambda share: math.sin(math.pi * share / 2),
    "concave": lambda share: 1 - math.cos(math.pi * share / 2),
}


def threshold(kind: str, episode: int, start: Any, most: Any, steps: int) -> Any:
    r"""The threshold of an episode, from ``start`` to ``most`` in this many steps; "exponential" halves what is left.

    >>> [round(threshold("linear", episode, 0.1, 1.0, 5), 2) for episode in range(7)]
    [0.1, 0.28, 0.46, 0.64, 0.82, 1.0, 1.0]
    >>> round(threshold("exponential", 2, 0.1, 1.0, 5), 3)
    0.775
    """
    if kind == "exponential":
        return start + (most - start) * (1 - 0.5**episode)
    return start + (most - start) * GROWTH[kind](min(1.0, episode / max(steps, 1)))


SCHEDULES = (*GROWTH, "exponential")
