"""The rows that a person is asked to check are the same wherever the table lives."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from engines_places import EVERYWHERE
from pulens import plan_audit
from pulens.errors import InputError
from pulens.inputs import ReadOptions
from pulens.inputs.drawn import read_drawn

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),  # how Ibis asks DuckDB
]

ROWS = 300
SCORES = (np.random.default_rng(0).permutation(ROWS) // 2 / ROWS).tolist()
LABELS = [1 if i % 9 == 0 else -1 if i % 31 == 0 else 0 for i in range(ROWS)]
IDS = {"texts": [f"c{i:03}é" for i in range(ROWS)], "numbers": [10**9 + i for i in range(ROWS)]}
EDGES, MANY = [0.4, 0.2], [9, 6, 4]


def witness(ids: list) -> list[tuple[str, float]]:
    """Sorting everything by the digits of md5, in plain Python."""
    result = []
    for upper, lower, many in ((9, 0.4, 9), (0.4, 0.2, 6), (0.2, -9, 4)):
        rows = [
            (hashlib.md5(f"7:{name}".encode()).hexdigest(), str(name), score)
            for name, score, label in zip(ids, SCORES, LABELS, strict=True)
            if label == 0 and lower <= score < upper
        ]
        result += [row[1:] for row in sorted(rows)[:many]]
    return result


@pytest.mark.parametrize("put", EVERYWHERE, indirect=True)
def test_the_same_rows_are_drawn_by_id_everywhere(put):
    table = {"score": SCORES, "label": LABELS, **IDS, "note": [f"=n{i}" for i in range(ROWS)]}
    source, reading = put(table)
    is_slow = type(source).__module__.startswith("pyspark")  # and takes seconds for every query
    for kind, ids in list(IDS.items())[is_slow:]:
        drawn = read_drawn(
            source, reading=ReadOptions(**reading), edges=EDGES, many=MANY, seed=7, id=kind, kept=["note"]
        )
        expected = witness(ids)
        assert list(zip(drawn.ids, drawn.score.tolist(), strict=True)) == expected
        places = [[str(name) for name in ids].index(name) for name, _ in expected]
        assert drawn.kept == {"note": [f"=n{place}" for place in places]}


@pytest.mark.parametrize("put", ["DuckDB database", "SQLite", "glob", "Polars lazy"], indirect=True)
def test_rows_without_a_lasting_number_need_an_id(put):
    source, reading = put({"score": SCORES, "label": LABELS})
    with pytest.raises(InputError, match=r"id=.*--id"):
        plan_audit(source, threshold=0.4, **reading)


@pytest.mark.parametrize("put", ["polars", "csv", "csv through DuckDB", "DuckDB database", "SQLite"], indirect=True)
def test_ids_that_do_not_tell_rows_apart_are_refused(put):
    source, reading = put({"score": SCORES, "label": LABELS, "case": ["a"] * ROWS})
    with pytest.raises(InputError, match="several rows have the id 'a'"):
        plan_audit(source, threshold=0.4, id="case", **reading)


@pytest.mark.parametrize("put", ["polars", "csv", "csv through DuckDB", "DuckDB database", "SQLite"], indirect=True)
def test_unlabelled_rows_without_an_id_are_refused(put):
    source, reading = put({"score": SCORES, "label": LABELS, "case": [None, *IDS["texts"][1:-1], None]})
    with pytest.raises(InputError, match="no id"):
        plan_audit(source, threshold=0.4, id="case", **reading)


@pytest.mark.parametrize("put", ["polars", "DuckDB database", "SQLite"], indirect=True)
def test_ids_with_a_fraction_are_refused(put):
    source, reading = put({"score": SCORES, "label": LABELS, "case": [i + 0.5 for i in range(ROWS)]})
    with pytest.raises(InputError, match="whole numbers or text"):
        plan_audit(source, threshold=0.4, id="case", **reading)


@pytest.mark.parametrize("put", ["csv", "csv through DuckDB", "DuckDB database", "SQLite"], indirect=True)
def test_a_threshold_inside_a_bin_is_counted_row_by_row(put, monkeypatch):
    from pulens.inputs.engines import drive

    monkeypatch.setattr(drive, "EXACT_ROWS", 10)
    monkeypatch.setattr(drive, "CELL_BITS", 3)
    source, reading = put({"score": SCORES, "label": LABELS, "case": IDS["texts"]})
    plan = plan_audit(source, threshold=0.3, id="case", budget=40, tolerance=0.5, **reading)
    above = [label for label, score in zip(LABELS, SCORES, strict=True) if score >= 0.3]
    assert plan.tally.binning is not None
    assert plan.strata.rows[0] == above.count(0)
    assert plan.strata.labelled[0] == above.count(1)
    assert plan.strata.rows.sum() == LABELS.count(0)
