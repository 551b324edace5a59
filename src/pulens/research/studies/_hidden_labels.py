"""Fully labelled rows turned into PU rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import PulensError
from pulens.learning.labelling import Mechanism


@dataclass(frozen=True, slots=True, eq=False)
class PURows:
    """Some rows of a labelled set: which they are, their PU labels, and the truth."""

    rows: NDArray[np.intp]
    labels: NDArray[np.int8]
    is_positive: NDArray[np.bool_]


def hide_labels(
    is_positive: NDArray[np.bool_],
    representativeness: NDArray[Any],
    *,
    mechanism: Mechanism,
    n_labelled: int,
    n_unlabelled: int,
    unlabelled_prior: float,
    rng: np.random.Generator,
) -> PURows:
    """Label some positives, and mix unlabelled rows of a given share of positives out of the rest.

    ``representativeness`` has one number per row; those of negatives are not read.

    >>> positive = np.repeat([True, False], 50)
    >>> from pulens.labelling import find
    >>> found = hide_labels(positive, np.zeros(100), mechanism=find("S1"), n_labelled=10, n_unlabelled=40,
    ...                     unlabelled_prior=0.25, rng=np.random.default_rng(0))
    >>> int(found.labels.sum()), int(found.is_positive.sum()), found.rows.size
    (10, 20, 50)
    """
    positives, negatives = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    latent = round(unlabelled_prior * n_unlabelled)
    if n_labelled + latent > positives.size or n_unlabelled - latent > negatives.size:
        raise PulensError(
            f"{n_labelled} labelled and {n_unlabelled} unlabelled rows of which {unlabelled_prior:g} are positive need "
            f"{n_labelled + latent} positives and {n_unlabelled - latent} negatives; there are {positives.size} and "
            f"{negatives.size}. Ask for fewer rows."
        )
    chosen = positives[mechanism.choose(representativeness[positives], n_labelled, rng)]
    left = np.setdiff1d(positives, chosen)
    rows = np.concatenate(
        [chosen, rng.choice(left, latent, replace=False), rng.choice(negatives, n_unlabelled - latent, replace=False)]
    )
    labels = np.zeros(rows.size, np.int8)
    labels[:n_labelled] = 1
    return PURows(rows, labels, is_positive[rows])
