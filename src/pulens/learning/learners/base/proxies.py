"""How good predictions are, as far as PU labels alone can tell."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from pulens.pairs import chance_to_outscore


def proxy_accuracy(recall: Any, negative_share: Any, class_prior: Any) -> Any:
    r"""Accuracy from PU rows: :math:`2\pi\,\mathrm{recall} + P(\text{predicted negative}) - \pi`.

    The second term is over rows that follow the population: the unlabelled ones in case-control, all rows of a
    single set. Unbiased, hence not bounded by 1.

    >>> round(proxy_accuracy(0.9, 0.7, 0.4), 6)
    1.02
    """
    return 2 * class_prior * recall + negative_share - class_prior


def proxy_auc(labelled_scores: NDArray[Any], unlabelled_scores: NDArray[Any]) -> float:
    """Chance that a labelled row outscores an unlabelled one, ties counting half; ranks models as the AUC does.

    >>> import numpy as np
    >>> proxy_auc(np.array([3.0, 1.0]), np.array([2.0, 1.0]))
    0.625
    """
    return chance_to_outscore(labelled_scores, unlabelled_scores)
