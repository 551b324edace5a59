r"""Both numbers from an estimator of one, run twice with the roles of the samples exchanged.

:math:`a = \kappa(f|g)` says how much of the unlabelled sample could be more of the labelled one, :math:`\nu =
\kappa(g|f)` how much of the labelled sample could be more of the unlabelled one. If each class has a region that the
other does not reach, :math:`a = \alpha/\beta` and :math:`\nu = (1-\beta)/(1-\alpha)`, hence with :math:`b = 1 - \nu`

.. math:: \beta = \frac{b}{1 - a(1-b)}, \qquad \alpha = a\beta .

Jain, White and Radivojac (2016).
"""

from __future__ import annotations

import numpy as np

from pulens.counts.tally import Tally
from pulens.priors._estimator import Finding, NoiseFinding
from pulens.priors.from_scores import find


def untangled(of_unlabelled: float, of_labelled: float) -> tuple[float, float]:
    """Unlabelled prior and label noise from the two shares.

    >>> prior, noise = untangled(0.2 / 0.9, 0.1 / 0.8)
    >>> round(prior, 12), round(noise, 12)
    (0.2, 0.1)
    """
    a, nu = min(max(of_unlabelled, 0.0), 1 - 1e-9), min(max(of_labelled, 0.0), 1 - 1e-9)
    beta = (1 - nu) / (1 - a * nu)
    return a * beta, 1 - beta


def exchanged(tally: Tally) -> Tally:
    """Labelled and unlabelled rows trade places, and the score is turned round.

    >>> tally = Tally.from_arrays(np.array([1, 1, 0, 0, 0]), np.array([0.9, 0.4, 0.9, 0.3, 0.1]))
    >>> exchanged(tally).labelled, exchanged(tally).unlabelled
    (array([1, 2, 2, 3]), array([0, 0, 1, 2]))
    """

    def from_below(running: np.ndarray) -> np.ndarray:
        at_or_below = running[-1] - np.concatenate([[running.dtype.type(0)], running[:-1]])
        return np.ascontiguousarray(at_or_below[::-1])

    return Tally(
        np.ascontiguousarray(-tally.thresholds[::-1]),
        from_below(tally.unlabelled),
        from_below(tally.labelled),
        from_below(tally.negative),
    )


def run_twice(tally: Tally, name: str, limit: str | None = None) -> NoiseFinding:
    """Run a class-prior estimator both ways round; ``limit`` names another one that caps the second run."""
    estimator = find(name)
    turned = exchanged(tally)
    first, second = estimator.compute(tally), estimator.compute(turned)
    share = second.value if limit is None else min(second.value, find(limit).compute(turned).value)
    prior, noise = untangled(first.value, share)
    return NoiseFinding(Finding(prior, trace=first.trace), Finding(noise, trace=second.trace))
