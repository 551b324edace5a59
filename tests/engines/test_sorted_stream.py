"""Rows that an engine sorts and streams: exact, whatever the batches, and smaller where nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulens.counts.tally import Tally
from pulens.inputs import read_tallies, read_tally
from pulens.inputs.engines import drive
from pulens.inputs.engines.counts import tallies
from pulens.inputs.engines.stream import SortedStream

rows = st.lists(st.tuples(st.sampled_from([1, 0, 0, 0, -1]), st.integers(0, 40)), min_size=1, max_size=60)


def streamed(labels, scores, ends, bits) -> Tally:
    stream = SortedStream(bits, score_type=np.dtype(np.float64), weighted=False, segmented=False)
    order = np.argsort(-scores, kind="stable")
    labels, scores = labels[order], scores[order]
    for begin, end in zip([0, *ends], [*ends, labels.size], strict=True):
        part = labels[begin:end]
        ones = np.ones(part.size, np.int64)
        stream.add(scores[begin:end], (part == 1).astype(np.int64), ones, (part == -1).astype(np.int64), None)
    return tallies(stream.counts(), np.dtype(np.float64))[None]


@given(rows=rows, cuts=st.lists(st.integers(0, 60), max_size=6), bits=st.sampled_from([None, -3, 0, 2]))
def test_where_batches_end_leaves_no_trace(rows, cuts, bits):
    labels, scores = map(np.array, zip(*rows, strict=True))
    ends = sorted(min(cut, labels.size) for cut in cuts)
    whole = streamed(labels, scores / 4, [], bits)
    assert streamed(labels, scores / 4, ends, bits) == whole
    exact = Tally.from_arrays(labels, scores / 4)
    if bits is None:
        assert whole == exact
    for place, threshold in enumerate(whole.thresholds):
        assert exact.at(threshold) == (whole.labelled[place], whole.unlabelled[place], whole.negative[place])
    joined = whole.highest > whole.thresholds
    labelled, _, negative = whole.increments()
    assert not labelled[joined].any()
    assert not negative[joined].any()


@pytest.mark.parametrize("kind", ["relation", "file"])
def test_many_distinct_scores_are_sorted_and_streamed(kind, tmp_path, monkeypatch):
    import duckdb
    import polars as pl

    monkeypatch.setattr(drive, "EXACT_ROWS", 40)
    monkeypatch.setattr(drive, "SORT_ABOVE", 10)
    monkeypatch.setattr("pulens.inputs.tallies.LARGE_FILE", 0)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "score": rng.random(5000),
            "label": rng.choice([1, 0], 5000, p=[0.1, 0.9]),
            "site": rng.choice(["a", None], 5000),
        }
    )
    frame.write_parquet(tmp_path / "x.parquet")
    with duckdb.connect() as connection:
        source = connection.read_parquet(str(tmp_path / "x.parquet")) if kind == "relation" else tmp_path / "x.parquet"
        exact = read_tally(frame)
        monkeypatch.setattr(drive, "FINE_CELL_BITS", 6)
        joined = read_tally(source)
        assert joined.binning is not None
        assert len(joined) < len(exact) / 2
        assert all(errors.sum() == 0 for errors in drive.pair_errors(joined))
        assert read_tally(source, tolerance=0) == exact
        segments = read_tallies(source, group_by="site", tolerance=0)
        assert list(segments) == ["a", None]
        assert segments["a"] + segments[None] == exact


def test_float32_scores_stay_float32(tmp_path, monkeypatch):
    import polars as pl

    monkeypatch.setattr("pulens.inputs.tallies.LARGE_FILE", 0)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"score": rng.random(500).astype(np.float32), "label": rng.choice([1, 0], 500)})
    frame.write_parquet(tmp_path / "x.parquet")
    expected = read_tally(frame)
    for source in (tmp_path / "x.parquet", frame.lazy()):
        got = read_tally(source)
        assert got.thresholds.dtype == np.float32
        assert got == expected
    monkeypatch.setattr(drive, "EXACT_ROWS", 40)
    monkeypatch.setattr(drive, "SORT_ABOVE", 10)
    assert read_tally(tmp_path / "x.parquet", tolerance=0).thresholds.dtype == np.float32
