"""Whole numbers that a double cannot tell apart are refused, wherever they come from, instead of becoming ties."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulens
from pulens import Tally
from pulens.counts.exactness import LARGEST_WHOLE, first_too_long
from pulens.errors import InputError
from pulens.inputs import read_sample, read_tally

LONG = LARGEST_WHOLE + 1
SAID = r"kept as double precision numbers, which are exact for whole numbers up to 2\^53 = 9007199254740992, got "

KINDS = {
    "list": list,
    "mixed list": lambda scores: [*scores[:-1], float(scores[-1])],
    "text": lambda scores: [str(score) for score in scores],
    "int64": lambda scores: np.array(scores, np.int64),
    "objects": lambda scores: np.array(scores, object),
    "decimals": lambda scores: [Decimal(score) for score in scores],
    "pandas": lambda scores: pd.Series(scores, dtype="int64"),
    "pandas with nulls": lambda scores: pd.Series(scores, dtype="Int64"),
    "polars": lambda scores: pl.Series(scores, dtype=pl.Int64),
    "pyarrow": lambda scores: pa.chunked_array([pa.array(scores, pa.int64())]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("long", [LONG, -LONG, 2**62, 1_700_000_000_123_456_789])
def test_scores_that_would_be_merged_are_refused_with_the_first_of_them(kind, long):
    with pytest.raises(InputError, match=f"{SAID}{long} in row 1 .*Subtract a common offset or rank the rows first"):
        read_sample([1, 0, 0], KINDS[kind]([5, long, 3]))


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_whole_numbers_that_are_kept_apart_are_read(kind):
    kept = [LARGEST_WHOLE, LARGEST_WHOLE - 1, -LARGEST_WHOLE]
    assert read_sample([1, 0, 0], KINDS[kind](kept)).scores.tolist() == [float(score) for score in kept]


def test_unsigned_and_huge_numbers_are_refused_and_floats_are_not():
    with pytest.raises(InputError, match=SAID):
        read_sample([1, 0], np.array([2**63 + 1, 5], np.uint64))
    with pytest.raises(InputError, match=SAID):
        read_sample([1, 0], [2**200, 5])
    with pytest.raises(InputError, match=SAID):
        Tally.from_arrays(np.array([1, 0]), np.array([LONG, 5]))
    assert len(read_sample([1, 0], [1e300, -1e300])) == 2
    assert len(read_sample([1, 0], ["1e300", "9007199254740994.0"])) == 2
    assert len(read_sample([1, 0], [1.0, 2.0], weights=[10**12, 1])) == 2


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_what_is_let_through_is_kept_exactly(values):
    array = np.array(values, np.int64)
    place = first_too_long(array)
    if place is None:
        assert array.astype(np.float64).astype(np.int64).tolist() == values
    else:
        assert abs(values[place]) > LARGEST_WHOLE
        assert all(abs(value) <= LARGEST_WHOLE for value in values[:place])


@pytest.mark.parametrize("large", [False, True])
def test_files_of_text_are_refused_alike_by_both_readers(large, tmp_path, monkeypatch):
    monkeypatch.setattr("pulens.inputs.tallies.LARGE_FILE", 0 if large else 1 << 60)
    path = tmp_path / "rows.csv"
    for long in (LONG, -LONG, 10**45):
        path.write_text(f"score,label\n5,1\n {long} ,0\n1.5,0\n")
        with pytest.raises(InputError, match=rf"rows\.csv: scores \(column 'score'\) are {SAID} ?{long}"):
            pulens.evaluate(path, class_prior=0.4, scenario="single-set", labelling="random")
    path.write_text(f"score,label\n5,1\n{LARGEST_WHOLE},0\n1e300,0\n9007199254740993.5,0\n")
    assert len(read_tally(path)) == 4


@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt64, pl.Decimal(30, 2)])
def test_lazy_columns_of_every_exact_type_are_refused(kind):
    frame = pl.DataFrame({"score": pl.Series([5, LONG, 1]).cast(kind), "label": [1, 0, 0]})
    with pytest.raises(InputError, match=rf"column 'score'\) are {SAID}{LONG}.* \(1 such row of 3\)"):
        read_tally(frame.lazy())
    kept = frame.with_columns(pl.Series("score", [5, LARGEST_WHOLE, 1]).cast(kind))
    assert read_tally(kept.lazy()).thresholds.tolist() == [LARGEST_WHOLE, 5, 1]
