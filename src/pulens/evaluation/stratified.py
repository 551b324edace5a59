"""The class prior of every stratum: clinics or channels that label at rates of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from pulens.evidence import Design, IntervalOptions
from pulens.inputs import ReadOptions
from pulens.inputs.reading import RowKeywords
from pulens.keywords import forwards_keywords
from pulens.scenario import DEFAULT_SCENARIO
from pulens.strata import PriorsWithin, gather_cells, priors_within
from pulens.types import RowsLike, Strata, Values


@forwards_keywords(ReadOptions)
def estimate_prior_within(
    labels: RowsLike,
    scores: Values | None = None,
    *,
    labelled_within: Strata,
    method: str | None = None,
    scenario: str = DEFAULT_SCENARIO,
    label_noise: float = 0.0,
    audit: Mapping[Any, Any] | None = None,
    seed: int = 0,
    **reading: Unpack[RowKeywords],
) -> PriorsWithin:
    """Estimate the class prior of every cell within which labels are random, and of all rows together.

    Each cell is estimated from its own rows, as :func:`pulens.estimate_prior` does, and borrows from the others what
    it cannot know by itself (:mod:`pulens.priors.pooling`). ``audit`` maps cells to (positives, checked) instead.
    The other arguments are those of :func:`pulens.estimate_prior` and :func:`pulens.evaluate`.

    Parameters
    ----------
    labels, scores
        Labels and scores as arrays; or a table or the path of a file, alone.
    score, label, positive, negative, unlabelled, cluster
        Columns of a table, and what its label values mean, as in :func:`pulens.evaluate`.
    labelled_within
        The column of cells, several that cross, or one value per row for arrays.
    method, scenario, label_noise, audit, seed
        As in :func:`pulens.estimate_prior`.

    Returns
    -------
    PriorsWithin
        The class prior of every cell, and of all rows together.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> site = np.repeat(["a", "b"], 3000)
    >>> positive = rng.random(6000) < np.where(site == "a", 0.1, 0.4)
    >>> labels = positive & (rng.random(6000) < np.where(site == "a", 0.5, 0.1))
    >>> found = estimate_prior_within(labels * 1, rng.normal(2 * positive), labelled_within=site)
    >>> bool(found.cells[0].value < 0.2 < found.cells[1].value)
    True

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> columns = {"score": "risk_v2", "label": "outcome", "positive": "fraud"}
    >>> found = estimate_prior_within(table, **columns, labelled_within="region")
    >>> [cell.name for cell in found.cells]
    ['north', 'south']
    """
    design = Design.among(reading, {"labelled_within": labelled_within})
    question = IntervalOptions(class_prior=method, label_noise=label_noise, scenario=scenario, audit=audit, seed=seed)
    return priors_within(gather_cells(labels, scores, design.strata, question, ReadOptions(**reading)))
