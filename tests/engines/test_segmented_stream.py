"""Counts of all segments of a batch at once are those of each segment."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.errors import InputError
from pulens.inputs.engines.coded import CodedSegments
from pulens.inputs.engines.counts import tallies
from pulens.inputs.engines.stream import SortedStream

FLOAT = np.dtype(np.float64)


@pytest.mark.parametrize("bits", [None, 5])
@pytest.mark.parametrize("batch", [1, 7, 64, 1000])
def test_batches_of_any_size_give_the_tallies_of_each_segment_by_itself(bits, batch):
    rng = np.random.default_rng(batch)
    segment, scores = np.sort(rng.integers(0, 25, 600)), rng.random(600).round(3)
    order = np.lexsort((-scores, segment))
    segment, scores = segment[order], scores[order]
    labelled, ones = (rng.random(600) < 0.2).astype(np.int64), np.ones(600, np.int64)
    together = SortedStream(bits, score_type=FLOAT, weighted=False, segmented=True)
    for start in range(0, 600, batch):
        rows = slice(start, start + batch)
        names = np.array([f"s{number:02}" for number in segment[rows]], object)
        together.add(scores[rows], labelled[rows], ones[rows], None, CodedSegments.of(names))
    result = tallies(together.counts(), FLOAT)
    assert list(result) == [f"s{number:02}" for number in range(25)]
    for number, name in enumerate(result):
        alone = SortedStream(bits, score_type=FLOAT, weighted=False, segmented=False)
        mine = segment == number
        alone.add(scores[mine], labelled[mine], ones[mine], None, None)
        assert result[name] == tallies(alone.counts(), FLOAT)[None]


def test_rows_out_of_order_are_refused():
    stream = SortedStream(None, score_type=FLOAT, weighted=False, segmented=True)
    ones = np.ones(2, np.int64)
    with pytest.raises(InputError, match="out of order"):
        stream.add(np.array([0.1, 0.9]), ones, ones, None, CodedSegments(["a"], np.zeros(2, np.int32)))
