r"""Classifiers whose sign changes where P(positive | x) crosses a chosen level: PUL-CPBF (Li et al. 2024).

With :math:`\nu = n_P/(n_P + n_U)`, :math:`\pi` the class prior and a penalty :math:`\beta` the asymmetric risk

.. math:: R(f) = (1-\beta)\,\nu\,E_p[\ell(f)] + \beta\,(1-\nu)\,E[\ell(-f)]

is minimised by a score that is positive where :math:`(1-\beta)\nu\,p(x|1) > \beta(1-\nu)\,p(x)`. Bayes' rule turns that
into :math:`P(y=1|x) > \alpha` for the penalty that :func:`penalty` gives; with the logistic loss the minimiser is
:math:`\log(P(y=1|x)/\alpha)`.
"""

from __future__ import annotations

from typing import Any

from pulens.learning.risks.losses import _library


def penalty(level: Any, labelled_share: Any, class_prior: Any) -> Any:
    r""":math:`\beta(\alpha) = \alpha\nu / (\pi - \pi\nu + \alpha\nu)`.

    >>> round(penalty(0.5, 1980 / 51480, 0.4), 6)
    0.047619
    """
    return level * labelled_share / (class_prior * (1 - labelled_share) + level * labelled_share)


def asymmetric(
    labelled_as_positive: Any, population_as_negative: Any, penalty: Any, labelled_share: Any, entropy: Any = 0.0
) -> Any:
    r"""The risk from mean losses; ``entropy`` is an already weighted extra term.

    >>> asymmetric(1.0, 1.0, 0.25, 0.2)
    0.35000000000000003
    """
    weights = weights_of(penalty, labelled_share)
    return weights[0] * labelled_as_positive + weights[1] * population_as_negative + entropy


def weights_of(penalty: Any, labelled_share: Any) -> tuple[Any, Any]:
    """What labelled and population rows weigh in the risk. Small numbers: divide by their sum where decay matters."""
    return (1 - penalty) * labelled_share, penalty * (1 - labelled_share)


def interval(passed: Any, levels: Any) -> tuple[Any, Any]:
    r"""Ends of the interval :math:`[a_m, a_{m+1}]` of a row that passes m levels, with :math:`a_0 = 0, a_{K+1} = 1`.

    Signs that are not monotone in the level count like sorted ones.

    >>> import numpy as np
    >>> low, high = interval(np.array([0, 2, 3]), np.array([0.1, 0.5, 0.9]))
    >>> low, high
    (array([0. , 0.5, 0.9]), array([0.1, 0.9, 1. ]))
    """
    library = _library(levels)
    ends = library.concatenate([levels[:1] * 0, levels, levels[:1] * 0 + 1])
    return ends[passed], ends[passed + 1]


def confidence(chance: Any, temperature: float) -> tuple[Any, Any]:
    r"""The class a probability names, and how sure: :math:`\max(p^{1/T}, (1-p)^{1/T})` renormalised.

    >>> import numpy as np
    >>> called, sure = confidence(np.array([0.817574]), 0.5)
    >>> called, sure.round(6)
    (array([1.]), array([0.952574]))
    """
    sharp, other = chance ** (1 / temperature), (1 - chance) ** (1 / temperature)
    share = sharp / (sharp + other)
    return (chance > 0.5) * 1.0, 0.5 + abs(share - 0.5)
