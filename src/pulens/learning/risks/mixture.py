"""Best bin estimation on two arrays of scores, as Garg et al. (2021) use it between epochs of training."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def best_bin_share(
    labelled_scores: NDArray[Any],
    unlabelled_scores: NDArray[Any],
    *,
    delta: float = 0.1,
    gamma: float = 0.01,
    as_published: bool = False,
) -> float:
    r"""Share of positives among unlabelled rows: :math:`q_U(c)/q_P(c)` at the best bin :math:`\{g \ge c\}`.

    The bin minimises :math:`[q_U(c) + (1+\gamma)\epsilon] / q_P(c)` over the observed unlabelled scores, with
    :math:`\epsilon = \sqrt{\log(4/\delta)/2n_U} + \sqrt{\log(4/\delta)/2n_P}`. ``as_published`` counts as the authors'
    code does: one unlabelled row too few in every bin, at least two rows of each kind, no clipping.

    >>> P, U = [.95, .9, .85, .8, .7, .6, .55, .3], [.97, .92, .88, .75, .65, .5, .45, .4, .35, .2, .15, .1]
    >>> [round(best_bin_share(np.array(P), np.array(U), as_published=kind), 6) for kind in (False, True)]
    [0.571429, 0.47619]
    """
    n_labelled, n_unlabelled = labelled_scores.size, unlabelled_scores.size
    spread = math.log(4 / delta) / 2
    penalty = (1 + gamma) * (math.sqrt(spread / n_unlabelled) + math.sqrt(spread / n_labelled))
    descending = np.sort(unlabelled_scores)[::-1]
    last_of_ties = np.append(descending[:-1] > descending[1:], not as_published)
    index = np.flatnonzero(last_of_ties)
    labelled_above = n_labelled - np.searchsorted(np.sort(labelled_scores), descending[index], side="left")
    fewest = 2 if as_published else 1
    allowed = (labelled_above >= fewest) & (index >= (2 if as_published else 0))
    index, labelled_above = index[allowed], labelled_above[allowed]
    if index.size == 0:
        return 0.0 if as_published else 0.5
    share_labelled = labelled_above / n_labelled
    share_unlabelled = (index if as_published else index + 1) / n_unlabelled
    best = int(np.argmin((share_unlabelled + penalty) / share_labelled))
    result = float(share_unlabelled[best] / share_labelled[best])
    return result if as_published else min(max(result, 0.01), 0.99)
