"""Two columns of one name are refused if they are wanted, and do not matter otherwise, wherever the rows are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import pulens
from pulens.errors import InputError
from pulens.inputs import read_sample, read_tallies, read_tally

ROWS = [[0.9, 1, "a", 0.1], [0.5, 0, "a", 0.2], [0.2, 0, "b", 0.3], [0.1, 1, "b", 0.4]]


def in_pandas(names, folder):
    return pd.DataFrame(ROWS, columns=names)


def in_arrow(names, folder):
    return pa.table([pa.array(list(column)) for column in zip(*ROWS, strict=True)], names=names)


def in_csv(names, folder):
    path = folder / "rows.csv"
    path.write_text("\n".join(",".join(map(str, line)) for line in (names, *ROWS)) + "\n")
    return path


def in_parquet(names, folder):
    pyarrow.parquet.write_table(in_arrow(names, folder), folder / "rows.parquet")
    return folder / "rows.parquet"


def in_duckdb(names, folder):
    import duckdb

    values = ", ".join(f"({score}, {label}, '{site}', {other})" for score, label, site, other in ROWS)
    named = ", ".join(f'c{place} AS "{name}"' for place, name in enumerate(names))
    return duckdb.sql(f"SELECT {named} FROM (VALUES {values}) rows(c0, c1, c2, c3)")


PLACES = {"pandas": in_pandas, "pyarrow": in_arrow, "csv": in_csv, "parquet": in_parquet, "duckdb": in_duckdb}


@pytest.mark.parametrize("through_an_engine", [False, True])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("names", "twice"),
    [(["score", "label", "site", "score"], "score"), (["label", "label", "score", "x"], "label")],
)
def test_a_wanted_column_that_is_there_twice_is_refused(place, names, twice, through_an_engine, tmp_path, monkeypatch):
    monkeypatch.setattr("pulens.inputs.tallies.LARGE_FILE", 0 if through_an_engine else 1 << 60)
    with pytest.raises(InputError, match=f"there are 2 columns named '{twice}'. Rename all but one") as caught:
        pulens.evaluate(PLACES[place](names, tmp_path), class_prior=0.6, scenario="single-set", labelling="random")
    if place in ("csv", "parquet"):
        assert f"rows.{place}" in str(caught.value)


@pytest.mark.parametrize("place", ["pandas", "pyarrow", "csv", "parquet"])
def test_other_columns_of_one_name_do_not_matter(place, tmp_path):
    source = PLACES[place](["score", "label", "x", "x"], tmp_path)
    assert read_tally(source) == read_tally([1, 0, 0, 1], [0.9, 0.5, 0.2, 0.1])


@pytest.mark.parametrize("place", PLACES)
def test_segments_that_are_there_twice_are_refused(place, tmp_path):
    with pytest.raises(InputError, match="2 columns named 'x'"):
        read_tallies(PLACES[place](["score", "label", "x", "x"], tmp_path), group_by="x")


def test_columns_named_by_numbers_are_listed_not_tripped_over():
    frame = pd.DataFrame(np.array([[0.9, 1], [0.5, 0]]))
    with pytest.raises(InputError, match=r"neither a column 'label' .* the columns are 0, 1"):
        read_sample(frame)
    assert read_sample(frame, score=0, label=1).labels.tolist() == [1, 0]


def test_weights_that_would_not_be_looked_at_are_refused():
    frame = pl.DataFrame({"score": [3, 2, 1], "label": [1, 0, 0], "w": [1, 2, 3]})
    for table in (frame, frame.lazy()):
        with pytest.raises(InputError, match="name the column of weights: weight="):
            pulens.evaluate(table, weights=[1, 2, 3], class_prior=0.4, scenario="single-set", labelling="random")
    with pytest.raises(InputError, match=r"weight='w' names a column.*take weights="):
        pulens.evaluate([1, 0, 0], [3, 2, 1], weight="w", class_prior=0.4, scenario="single-set", labelling="random")
    with pytest.raises(InputError, match="counts every row once, got weight="):
        pulens.compare(
            frame.lazy(), score=["score", "w"], weight="w", class_prior=0.4, scenario="single-set", labelling="random"
        )
