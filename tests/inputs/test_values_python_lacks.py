"""Columns whose values Python has no object for: far dates, unknown time zones, lists, halves of characters."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import pulens
from pulens.errors import InputError
from pulens.inputs.engines.coded import CodedSegments

ROWS = 200
FAR = pa.array([place % 8 * 10**12 for place in range(ROWS)], pa.timestamp("s"))
FAR_DAYS = pa.array([place % 8 * 2**27 for place in range(ROWS)], pa.date32())
NOWHERE = pa.array([place * 10**9 for place in range(ROWS)], pa.timestamp("us", tz="Nowhere/X"))


@pytest.fixture
def columns():
    rng = np.random.default_rng(0)
    positive = rng.random(ROWS) < 0.4
    return {
        "label": (positive & (rng.random(ROWS) < 0.5)).astype(int).tolist(),
        "score": rng.normal(1.5 * positive).tolist(),
        "other": rng.normal(1.0 * positive).tolist(),
    }


@pytest.mark.parametrize("dates", [FAR, FAR_DAYS, NOWHERE], ids=["far times", "far days", "no such time zone"])
def test_dates_that_python_lacks_are_refused_in_words_wherever_they_are_read(columns, dates, tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({**columns, "when": dates}), path)
    known = {"class_prior": 0.4, "redraws": 100}
    doors = [
        lambda: pulens.evaluate(path, cluster="when", **known, labelling="random"),
        lambda: pulens.compare(path, score=["score", "other"], labelled_within="when", **known, labelling="random"),
        lambda: pulens.plan_audit(path, class_prior=0.4, budget=20, keep=["when"]),
        lambda: pulens.plan_audit(path, class_prior=0.4, budget=20, id="when"),
    ]
    if dates is not NOWHERE:  # DuckDB reads any time zone as that of Greenwich
        doors += [
            lambda: pulens.evaluate(path, labelled_within="when", **known, labelling="random"),
            lambda: pulens.watch(path, time="when", reference_until="1970"),
        ]
    for door in doors:
        with pytest.raises(InputError, match="holds what Python has no value for"):
            door()


@pytest.mark.parametrize("value", [[1], {"a": 1}])
@pytest.mark.parametrize("every", [True, False])
def test_lists_and_mappings_are_refused_as_names_of_segments(columns, value, every, tmp_path):
    rows = [dict(zip(columns, row, strict=True), site="a") for row in zip(*columns.values(), strict=True)]
    for row in rows if every else rows[5:6]:
        row["site"] = value
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError, match=r"as the segment of data row|must hold one value per row"):
        pulens.compare(
            path, score=["score", "other"], labelled_within="site", class_prior=0.4, redraws=100, labelling="random"
        )


def test_segments_of_lists_name_their_first_row():
    with pytest.raises(InputError, match=r"got \[1\] as the segment of data row 2: a segment must be text"):
        CodedSegments.of_columns([["a", [1], [2]]])


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "xlsx"])
def test_halves_of_characters_are_refused_in_queues_of_every_format(columns, ending, tmp_path):
    rows = [dict(zip(columns, row, strict=True), note="\ud800") for row in zip(*columns.values(), strict=True)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    plan = pulens.plan_audit(path, class_prior=0.4, budget=20, keep=["note"])
    with pytest.raises(InputError, match="ud800"):
        plan.write(tmp_path / f"queue.{ending}")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow"])
def test_halves_of_characters_are_refused_in_copies_of_every_format(ending):
    from pulens.inputs.tables.writing import table_bytes

    with pytest.raises(InputError, match="which is not valid text: repair it, or leave its column out"):
        table_bytes(ending, {"note": ["a", "\ud800"]})
