"""Times are cut into windows where the rows are: the same names and counts from every place, in every time zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from engines_places import EVERYWHERE
from pulens.errors import InputError, PulensError
from pulens.inputs import Period, read_tally, read_windows

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),  # how Ibis asks DuckDB
]

SIZE = 300
CUT = [place for place in EVERYWHERE if place not in ("csv", "parquet")]


def moments(seed: int = 0) -> list[datetime]:
    """Hours of three months around a change of the clock, midnight among them."""
    rng = np.random.default_rng(seed)
    begin = datetime(2026, 2, 27)
    result = [begin + timedelta(minutes=int(minutes)) for minutes in rng.integers(0, 60 * 24 * 70, SIZE)]
    return [datetime(2026, 3, 1), datetime(2026, 3, 29, 1, 30), datetime(2026, 3, 1, 23, 59, 59), *result[3:]]


def table(seed: int = 0) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    return {
        "score": np.round(rng.normal(size=SIZE), 2).tolist(),
        "label": rng.choice([1, 0], SIZE, p=[0.3, 0.7]).tolist(),
        "at": [moment.strftime("%Y-%m-%d %H:%M:%S") for moment in moments(seed)],
        "country": rng.choice(["fr", "de / at", None], SIZE).tolist(),
    }


def expected(columns: dict[str, list], period: Period, *, grouped: bool = False) -> dict:
    """The slow way: every row named by itself."""
    rows: dict = {}
    for place, moment in enumerate(columns["at"]):
        segment = (columns["country"][place] or "(null)") if grouped else None
        rows.setdefault((segment, period.name(moment)), []).append(place)
    return {
        key: read_tally([columns["label"][i] for i in mine], [columns["score"][i] for i in mine], allow_one_kind=True)
        for key, mine in rows.items()
    }


@pytest.mark.parametrize("put", CUT, indirect=True)
def test_windows_have_the_same_names_and_counts_everywhere(put):
    columns = table()
    source, where = put(columns)
    for by in ("hour", "week"):
        period = Period("at", by)
        assert read_windows(source, periods=[period], **where) == expected(columns, period)
    period = Period("at", "month")
    result = read_windows(source, periods=[period], group_by=("country",), **where)
    assert result == expected(columns, period, grouped=True)


@pytest.mark.parametrize(
    "put", ["polars", "Polars lazy", "DuckDB relation", "SQLite", "PostgreSQL", "PySpark"], indirect=True
)
def test_times_without_a_zone_are_utc_and_are_cut_in_the_zone_asked_for(put):
    columns = table(1)
    source, where = put(columns)
    period = Period("at", "day", "Asia/Kathmandu")
    result = read_windows(source, periods=[period], **where)
    assert result == expected(columns, period)
    assert result != expected(columns, Period("at", "day"))


@pytest.mark.parametrize("kind", ["naive", "zoned", "date"])
def test_columns_of_times_and_dates_are_cut_like_texts(kind):
    import duckdb
    import polars

    columns = table(2)
    typed = {
        "naive": moments(2),
        "zoned": [moment.replace(tzinfo=UTC) for moment in moments(2)],
        "date": [moment.date() for moment in moments(2)],
    }[kind]
    frame = polars.DataFrame({**columns, "at": typed})
    period = Period("at", "week", "Europe/Paris")
    wanted = expected({**columns, "at": typed}, period)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE kept AS SELECT * FROM frame")
    for source in (frame, frame.lazy(), frame.to_pandas(), connection.sql("SELECT * FROM kept")):
        assert read_windows(source, periods=[period]) == wanted
    connection.close()


def test_times_with_an_offset_mean_their_moment():
    import duckdb
    import polars

    rows = {"score": [1.0, 2.0], "label": [1, 0], "at": ["2026-05-04 23:30:00-02:00", "2026-05-04T23:30:00Z"]}
    frame = polars.DataFrame(rows)
    relation = duckdb.connect().from_arrow(frame.to_arrow())
    for source in (frame, frame.lazy(), relation):
        assert sorted(read_windows(source, periods=[Period("at", "day")])) == [
            (None, "2026-05-04"),
            (None, "2026-05-05"),
        ]


@pytest.mark.parametrize("put", ["polars", "Polars lazy", "DuckDB relation", "csv", "SQLite"], indirect=True)
def test_what_is_no_time_is_named(put):
    source, where = put({"score": [1.0, 2.0], "label": [1, 0], "at": ["2026-05-04", "soon"], "n": [1, 2]})
    with pytest.raises(InputError, match=r"must hold dates or times such as .* got 'soon'"):
        read_windows(source, periods=[Period("at", "day")], **where)
    with pytest.raises(InputError, match="there is no column 'when'"):
        read_windows(source, periods=[Period("when", "day")], **where)


def test_lists_where_times_should_be_are_refused_by_value():
    frame = pytest.importorskip("pandas").DataFrame({"score": [1.0, 2.0, 3.0], "label": [1, 0, 0]})
    for cells in (["2026-05-04", ["2026-05-05"], None], [np.array([1, 2]), "2026-05-04", "2026-05-04"]):
        frame["at"] = cells
        with pytest.raises(InputError, match=r"must hold dates or times such as .* got (\[|array)"):
            read_windows(frame, periods=[Period("at", "day")])


def test_a_week_begins_on_monday_and_a_date_needs_no_hour():
    assert Period("at", "week").name(date(2026, 5, 10)) == "2026-05-04"
    assert Period("at", "day", "America/New_York").name("2026-05-10") == "2026-05-10"
    with pytest.raises(PulensError, match="timezone must name a time zone"):
        Period("at", "day", "Middle/Earth")
    with pytest.raises(PulensError, match="by must be one of hour, day, week, month"):
        Period("at", "decade")
    with pytest.raises(InputError, match="counts do not say"):
        read_windows(read_tally([1, 0], [0.2, 0.1]), periods=[Period("at", "day")])


def test_windows_of_very_many_scores_join_unlabelled_neighbours_only(monkeypatch):
    import duckdb
    import polars

    from pulens.inputs import tallies
    from pulens.inputs.engines import drive

    rng = np.random.default_rng(3)
    columns = {**table(3), "score": rng.random(SIZE).tolist()}
    frame = polars.DataFrame(columns)  # noqa: F841  (DuckDB finds it by its name)
    relation = duckdb.sql("SELECT * FROM frame")
    period = Period("at", "month")
    exact = read_windows(relation, periods=[period])
    monkeypatch.setattr(drive, "EXACT_ROWS", 40)
    monkeypatch.setattr(drive, "SORT_ABOVE", 40)
    monkeypatch.setattr(tallies, "WINDOW_CELL_BITS", 3)
    for key, tally in read_windows(relation, periods=[period]).items():
        assert len(tally) < len(exact[key])
        assert tally.totals == exact[key].totals
        for place, threshold in enumerate(tally.thresholds):
            assert exact[key].at(threshold)[:2] == (tally.labelled[place], tally.unlabelled[place])
        steps = np.flatnonzero(tally.increments()[0])
        np.testing.assert_array_equal(tally.thresholds[steps], tally.highest[steps])
