"""One area under two groups of scores: from rows, from a tally, from ranks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from pulens.counts.tally import Tally
from pulens.pairs import chance_to_outscore
from pulens.recovery import pairwise_auc


@pytest.mark.parametrize("seed", range(5))
def test_rows_pairs_ranks_and_the_tally_agree_with_ties(seed):
    rng = np.random.default_rng(seed)
    upper, lower = np.round(rng.normal(0.5, 1, 37), 1), np.round(rng.normal(0, 1, 59), 1)
    pairs = np.mean((upper[:, None] > lower) + 0.5 * (upper[:, None] == lower))
    result = chance_to_outscore(upper, lower)
    assert result == pytest.approx(pairs, rel=1e-14)
    labels, scores = np.repeat([1, 0], [37, 59]), np.concatenate([upper, lower])
    assert result == pytest.approx(pairwise_auc(Tally.from_arrays(labels, scores), "labelled", "unlabelled"), rel=1e-15)
    excess = rankdata(scores)[:37].sum() - 37 * 38 / 2
    assert result == excess / 37 / 59
