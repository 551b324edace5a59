"""A person may stop after any row: every prefix of the queue has checked the strata in their proportions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulens.audits.drawing import queue_order, start_of
from pulens.inputs import ReadOptions, drawn
from pulens.inputs.drawn import id_keys, read_drawn, row_keys
from pulens.inputs.tables import chunks


@given(counts=st.lists(st.integers(0, 40), min_size=1, max_size=6), seed=st.integers(0, 1000), batch=st.integers(1, 3))
def test_every_prefix_holds_each_stratum_in_its_proportion_within_one_row(counts, seed, batch):
    strata, places = queue_order(np.array(counts), seed, batch)
    assert np.bincount(strata, minlength=len(counts)).tolist() == counts
    for which, count in enumerate(counts):
        assert places[strata == which].tolist() == list(range(count))
    # after the row of key x every stratum has floor(n x + v) rows
    for end in range(1, len(strata) + 1):
        last, place = strata[end - 1], places[end - 1]
        key = (place + 1 - start_of(seed, batch, int(last))) / counts[last]
        for which, count in enumerate(counts):
            assert abs((strata[:end] == which).sum() - count * key) <= 1


def test_keys_depend_on_seed_and_row_alone():
    rows = np.arange(100_000)
    keys = row_keys(3, rows)
    assert np.unique(keys).size == rows.size
    assert (row_keys(3, rows[::-1])[::-1] == keys).all()
    assert (row_keys(4, rows) != keys).all()
    shares = keys / 2.0**64
    assert abs(shares.mean() - 0.5) < 0.005
    assert abs(np.corrcoef(shares[1:], shares[:-1])[0, 1]) < 0.01


def test_a_range_without_rows_to_draw_and_one_drawn_whole_are_both_right():
    scores = np.arange(50.0)
    result = read_drawn(np.zeros(50, int), scores, reading=ReadOptions(), edges=[40.0, 20.0], many=[0, 20, 3], seed=1)
    assert result.stratum.tolist() == [1] * 20 + [2] * 3
    assert sorted(result.place[:20].tolist()) == list(range(20, 40))


@pytest.mark.parametrize("by_id", [False, True])
def test_every_row_of_a_stratum_is_drawn_equally_often(by_id):
    rows, many, seeds = 40, 10, 2000
    names = [f"case {row}" for row in range(rows)]
    drawn = np.zeros(rows)
    together = 0
    for seed in range(seeds):
        keys = id_keys(seed, names) if by_id else row_keys(seed, np.arange(rows))
        chosen = np.argsort(keys)[:many]
        drawn[chosen] += 1
        together += {0, 1} <= set(chosen.tolist())
    spread = np.sqrt(seeds * many / rows * (1 - many / rows))
    assert (np.abs(drawn - seeds * many / rows) < 4 * spread).all()
    both = many * (many - 1) / (rows * (rows - 1))  # of simple random sampling without replacement
    assert abs(together / seeds - both) < 4 * np.sqrt(both * (1 - both) / seeds)


@pytest.mark.parametrize("chunk", [1, 7, 64, 1000])
@pytest.mark.parametrize("id", [None, "case"])
def test_the_size_of_chunks_decides_nothing(chunk, id, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    scores, labels = rng.random(200).round(2), (rng.random(200) < 0.2).astype(int)
    lines = [f"{score},{label},r{i}\n" for i, (score, label) in enumerate(zip(scores, labels, strict=True))]
    (tmp_path / "a.csv").write_text("score,label,case\n" + "".join(lines))
    monkeypatch.setattr(chunks, "CHUNK_ROWS", chunk)
    monkeypatch.setattr(drawn, "BLOCK", 16)
    asked = {"edges": [0.7, 0.4], "many": [10, 9, 8], "seed": 5}
    result = read_drawn(str(tmp_path / "a.csv"), reading=ReadOptions(), id=id, **asked)
    if id is None:
        by_key = sorted(range(200), key=lambda row: int(row_keys(5, np.array([row]))[0]))
        expected = []
        for low, high, many in ((0.7, 2, 10), (0.4, 0.7, 9), (-1, 0.4, 8)):
            expected += [row for row in by_key if not labels[row] and low <= scores[row] < high][:many]
        assert result.place.tolist() == expected
        assert result.place.tolist() == read_drawn(labels, scores, reading=ReadOptions(), **asked).place.tolist()
    assert result.score.tolist() == scores[result.place].tolist()
    assert result.stratum.tolist() == [0] * 10 + [1] * 9 + [2] * 8
    larger = read_drawn(str(tmp_path / "a.csv"), reading=ReadOptions(), id=id, **{**asked, "many": [20, 9, 30]})
    for which in range(3):
        small, large = result.place[result.stratum == which], larger.place[larger.stratum == which]
        assert large[: small.size].tolist() == small.tolist()
