"""Columns of words become numbers that trees can split."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pulens.errors import InputError
from pulens.inputs.categories import APART, Encoding, has_categories


def test_levels_stand_by_frequency_and_unknown_ones_are_none_of_them():
    table = pd.DataFrame({"word": ["b", "a", "b", "c", None]})
    how = Encoding.of(table)
    assert how.levels == (("b", "a", "c"),)
    assert how.width == 3
    result = how(pd.DataFrame({"word": ["a", "b", "new", None]}))
    np.testing.assert_array_equal(result, [[0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]])


def test_two_levels_are_one_column_and_missing_stays_missing():
    how = Encoding.of(pd.DataFrame({"word": ["yes", "no", "yes"]}))
    np.testing.assert_array_equal(how(pd.DataFrame({"word": ["yes", "no", None]}))[:, 0], [1, 0, np.nan])


def test_rare_levels_share_a_rank():
    words = [f"w{place:02d}" for place in range(20) for _ in range(20 - place)]
    table = pd.DataFrame({"number": np.arange(len(words)), "word": words})
    how = Encoding.of(table)
    result = how(table)
    assert result.shape == (len(words), how.width) == (len(words), 1 + APART + 1)
    np.testing.assert_array_equal(result[:, 0], np.arange(len(words)))
    np.testing.assert_array_equal(result[:, -1], [int(word[1:]) for word in words])
    np.testing.assert_array_equal(result[:, 1 : 1 + APART].sum(1), result[:, -1] < APART)


def test_frames_of_other_libraries_mean_the_same():
    columns = {"number": [1.0, None, 3.0], "flag": [True, False, True], "word": ["a", "b", "a"]}
    ours, theirs = pd.DataFrame(columns), pl.DataFrame(columns)
    assert has_categories(ours)
    assert Encoding.of(ours) == Encoding.of(theirs)
    np.testing.assert_array_equal(Encoding.of(ours)(ours), Encoding.of(theirs)(theirs))
    assert not has_categories(ours[["number", "flag"]])
    assert not has_categories(np.zeros((2, 2)))


def test_a_column_of_dates_is_named():
    table = pd.DataFrame({"when": pd.to_datetime(["2024-01-01", "2024-01-02"]), "word": ["a", "b"]})
    with pytest.raises(InputError, match="column 'when' holds neither numbers nor categories"):
        Encoding.of(table)(table)
