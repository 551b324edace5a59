"""The threshold that all segments share is the best one of all their rows in one tally."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.counts.tallies import Tallies
from pulens.evaluation.evaluate import best_threshold
from pulens.evidence import Evidence
from pulens.groups import common_threshold as walked
from pulens.groups.segment_priors import SharedAssumptions
from pulens.priors import ClassPrior
from pulens.scenario import Scenario


@pytest.mark.parametrize("scenario", list(Scenario))
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("ties", [1, 6])
def test_walked_in_blocks_it_is_that_of_one_tally(scenario, share, ties, monkeypatch):
    monkeypatch.setattr(walked, "ROWS_AT_ONCE", 64)
    rng = np.random.default_rng(ties)
    codes, scores = np.sort(rng.integers(0, 30, 900)), rng.normal(size=900).round(ties)
    labels = rng.random(900) < 0.1 + 0.2 * (scores > 0.5)
    counts = labels.astype(int), (~labels).astype(int)
    tallies = Tallies.from_increments(list(range(30)), codes, scores, *counts)
    keep = rng.random(30) < 0.8
    evidence = Evidence(tallies.whole(keep), ClassPrior(share, share, "tried"), 0.0, scenario)
    shared = SharedAssumptions(0.0, scenario, "population")
    assert walked.common_threshold(tallies, keep, share, shared) == best_threshold(evidence)
