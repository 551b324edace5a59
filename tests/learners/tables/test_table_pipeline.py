"""A learner behind the columns of a table keeps scikit-learn's manners, and comes back from disk as it was."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from pulens.learners import BoostedPU, ElkanNoto, TableColumns, load, save_pipeline, table_pipeline
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

from pulens.errors import InputError, PulensError
from pulens.inputs.typed_columns import Typing, typed_table
from pulens.learning.learners.tables.drift import drift_notices
from pulens.learning.learners.tables.planned import APART


def table(rows=160, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.5
    columns = {
        "age": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(40 + 10 * positive, 5)).tolist(),
        "job": [None if rng.random() < 0.1 else "ba"[one] for one in positive.astype(int)],
        "since": [f"2020-0{1 + month}-11" for month in rng.integers(0, 9, rows)],
        "code": rng.integers(0, 40, rows).tolist(),
        "member": (rng.random(rows) < 0.5).tolist(),
    }  # fmt: skip
    return columns, (positive & (rng.random(rows) < 0.6)).astype(int)


def quick():
    return BoostedPU(class_prior=0.5, n_estimators=2, iterations=3, random_trees=5)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_any_library_give_the_same_scores(library):
    columns, labels = table()
    made = pytest.importorskip(library)
    frame = made.table(columns) if library == "pyarrow" else made.DataFrame(columns)
    model = table_pipeline(quick(), categories=["code"])
    expected = clone(model).fit(columns, labels).predict_proba(columns)
    np.testing.assert_array_equal(clone(model).fit(frame, labels).predict_proba(frame), expected)


def test_it_goes_through_cross_validation_and_sets_its_output():
    pandas = pytest.importorskip("pandas")
    columns, labels = table()
    frame = pandas.DataFrame(columns)
    model = table_pipeline(quick(), categories=["code"])
    scores = cross_val_predict(model, frame, labels, cv=2, method="predict_proba")
    assert scores.shape == (160, 2)
    shown = TableColumns(categories=["code"]).set_output(transform="pandas").fit_transform(frame)
    assert {"age", "job=a", "job=b", "job=(missing)", "since days", "member"} < set(shown.columns)
    assert len(shown.columns) == len(set(shown.columns))
    again = clone(model).set_params(columns__fill=True)
    assert again.get_params()["columns__fill"]
    assert not hasattr(again[0], "columns_")


@pytest.mark.parametrize("learner", [quick(), ElkanNoto(random_state=0)], ids=["trees", "wrapper"])
def test_a_saved_pipeline_scores_the_same(learner, tmp_path):
    pytest.importorskip("skops")
    columns, labels = table()
    model = table_pipeline(learner, categories=["code"], missing=["?"]).fit(columns, labels)
    save_pipeline(model, tmp_path / "m")
    result = load(tmp_path / "m")
    other = table(50, seed=1)[0]
    np.testing.assert_array_equal(result.predict_proba(other), model.predict_proba(other))
    assert result[0].get_params() == model[0].get_params()
    save_pipeline(model, tmp_path / "m")  # replaces itself


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), 2),
        (("columns", 0, "kind"), "picture"),
        (("columns", 0, "name"), 7),
        (("columns", 1, "levels"), []),
        (("columns", 1, "levels", 0), ["a", 0]),
        (("columns", 1, "levels", 0, 1), 10**9),
        (("columns", 1, "has_gaps"), 1),
        (("names",), ["age"]),
        (("gaps",), [True]),
        (("numbers", "median_"), []),
        (("numbers", "deviation_", 0), 0),
        (("numbers",), {}),
        (("settings", "fill"), False),
        (("settings", "more"), 1),
        (("settings", "dates"), {"a": 1}),
        (("left_out",), {"nobody": "is here"}),
    ],
)
def test_a_tampered_folder_is_refused_in_a_sentence(path, value, tmp_path):
    pytest.importorskip("skops")
    columns, labels = table(60)
    save_pipeline(table_pipeline(ElkanNoto(random_state=0)).fit(columns, labels), tmp_path / "m")
    file = tmp_path / "m" / "columns.json"
    facts = json.loads(file.read_text())
    inside = facts
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    file.write_text(json.dumps(facts))
    with pytest.raises(InputError, match=r"columns\.json is damaged"):
        load(tmp_path / "m")


def test_a_fault_in_saving_names_the_folder_that_was_asked_for(tmp_path, monkeypatch):
    columns, labels = table(60)
    model = table_pipeline(quick()).fit(columns, labels)

    def fails(path):
        raise PulensError(f"{path}: cannot be written: No space left on device.")

    monkeypatch.setattr(model[-1], "save", fails, raising=False)
    with pytest.raises(PulensError, match=f"^{tmp_path}/m: cannot be written"):
        save_pipeline(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_rare_levels_share_a_column_and_unknown_ones_are_told():
    words = [f"w{place % 40}" for place in range(400)] + ["common"] * 100
    columns = TableColumns().fit({"word": words})
    names = columns.get_feature_names_out().tolist()
    assert len(names) == APART + 2
    new = columns.typed({"word": ["common", "never", None]})
    numbers = columns.transform(new)
    assert numbers[0, names.index("word=common")] == 1
    assert numbers[1, names.index("word=(rarer)")] == 1
    assert not numbers[2].any()
    assert [notice.code for notice in drift_notices(columns, new)] == ["unknown-category", "new-gaps"]


def test_dates_become_days_months_weekdays_and_hours():
    columns = TableColumns().fit({"at": ["1970-01-01", "2024-02-29 18:00", "2024-12-31T06:00:00+06:00", None]})
    assert columns.get_feature_names_out().tolist() == ["at days", "at month", "at weekday", "at hour"]
    expected = [[0, 1, 3, 0], [19782.75, 2, 3, 18], [20088, 12, 1, 0], [np.nan] * 4]
    np.testing.assert_allclose(
        columns.transform({"at": ["1970-01-01", "2024-02-29 18:00", "2024-12-31", None]}), expected
    )


def test_gaps_are_filled_with_medians_and_marked_where_a_learner_takes_none():
    columns = TableColumns(fill=True).fit({"a": [1, 2, None, 9], "b": [1, 2, 3, 5]})
    assert columns.get_feature_names_out().tolist() == ["a", "b", "a=(missing)"]
    np.testing.assert_array_equal(columns.transform({"a": [None], "b": [None]}), [[2, 2.5, 1]])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", "", "nan"], "number"),
        ([True, False, None], "boolean"),
        (["TRUE", "false", ""], "boolean"),
        (["2024-01-31", "2024-02-29"], "date"),
        (["2024-02-31", "2024-02-29"], "category"),
        (["a", "1", "b"], "category"),
        ([np.int8(3), np.float32(2)], "number"),
    ],
)
def test_what_a_column_is_its_values_say(values, kind):
    assert typed_table({"x": values}, Typing()).kinds == {"x": kind}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["1", "2", "n/a"], "--missing 'n/a'"),
        (["31.12.2024", "01.02.2025"], "--date x=%d.%m.%Y"),
        ([1, 2, float("inf")], "at most 3.4e38"),
        ([1, [2]], "neither a number nor a date nor a word"),
        (["1_000", "2", "3"], "got '1_000'"),
    ],
)
def test_what_nobody_can_say_is_refused_with_the_way_out(values, message):
    with pytest.raises(InputError, match=message):
        typed_table({"x": values}, Typing())


@pytest.mark.parametrize("kind", ["float32", "float64", "int16", "uint64"])
def test_numbers_of_an_array_or_a_frame_are_those_of_its_values(kind):
    values = np.array([3, 1.5, 0, 2]).astype(kind)
    one, frame, alone = (
        typed_table(table, Typing()).columns[0].values
        for table in ({"x": values}, pd.DataFrame({"x": values}), {"x": values.tolist()})
    )
    assert one.tolist() == frame.tolist() == alone.tolist()


def test_an_array_of_numbers_is_read_as_a_whole(monkeypatch):
    monkeypatch.setattr(Typing, "_plain", lambda *_: pytest.fail("value by value"))
    values = np.array([1.0, np.nan], np.float32)
    np.testing.assert_array_equal(typed_table({"x": values}, Typing()).columns[0].values, [1.0, np.nan])
    assert typed_table(pd.DataFrame({"x": [1, 2]}), Typing({"x": "number"})).kinds == {"x": "number"}
    with pytest.raises(InputError, match="numbers of at most"):
        typed_table({"x": np.array([1.0, 1e300])}, Typing())


def test_dates_written_otherwise_are_read_as_told():
    typed = typed_table({"x": ["31.12.1970", None]}, Typing(dates={"x": "%d.%m.%Y"}))
    assert typed.kinds == {"x": "date"}
    np.testing.assert_array_equal(typed.columns[0].values, [364, np.nan])
