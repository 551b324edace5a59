"""Segments watched apart with one promise, and labels that come with the time of their confirmation."""

from __future__ import annotations

import json
from datetime import date, timedelta

import duckdb
import numpy as np
import polars
import pytest
import sqlalchemy as sa

import pulens
from pulens.cli import main
from pulens.errors import InputError, PulensError
from pulens.monitoring.segments import shared_bars
from pulens.monitoring.state import read_state

DAYS = [date(2026, 3, 1) + timedelta(days=day) for day in range(24)]
UNTIL = DAYS[15]
GIVEN = {"time": "at", "by": "day", "reference_until": UNTIL, "class_prior": 0.2, "threshold": 0.8}


def table(countries: dict[str, float], seed: int = 0, *, rows: int = 250, since: int = 18) -> polars.DataFrame:
    """Rows of every country and day; from a day on the share of positives is the country's own."""
    rng = np.random.default_rng(seed)
    parts = []
    for country, share in countries.items():
        for place, day in enumerate(DAYS):
            positive = rng.random(rows) < (share if place >= since else 0.2)
            hours = rng.integers(0, 24, rows)
            parts.append(
                polars.DataFrame(
                    {
                        "score": np.round(rng.normal(positive * 1.466), 2),
                        "label": (positive & (rng.random(rows) < 0.4)).astype(int),
                        "at": [f"{day} {hour:02d}:00:00" for hour in hours],
                        "country": [country] * rows,
                    }
                )
            )
    return polars.concat(parts)


@pytest.fixture(scope="module")
def rows():
    return table({"fr": 0.6, "de": 0.2, "es": 0.2, "it / sm": 0.5})


@pytest.fixture(scope="module")
def found(rows):
    return pulens.watch(rows, group_by="country", **GIVEN)


def test_each_segment_is_judged_by_itself_and_all_rows_together(found, rows):
    assert list(found.segments) == ["de", "es", "fr", "it / sm"]
    assert {name for name, one in found.segments.items() if one.alarms} == {"fr", "it / sm"}
    assert found.status == "alarm"
    assert found.by_evidence[0] == "fr"
    alone = pulens.watch(rows.filter(polars.col("country") == "fr"), **{**GIVEN, "class_prior": None})
    ours = found.segments["fr"]
    np.testing.assert_array_equal(ours.lines["share"].evidence, alone.lines["share"].evidence)
    assert "2 of 4 segments in alarm: fr (share since 2026-03-19)" in found.verdict
    assert "ALARM share since 2026-03-19" in found.log_line
    assert "in segment fr" in found.log_line
    assert "False alarms are not guaranteed to stay below 5%: that needs 30 reference windows" in " ".join(
        str(found).split()
    ), "16 windows"


def test_the_chance_of_a_false_alarm_is_shared(found, rows):
    whole, part = found.life.judgement.monitor.settings, found.segments["de"].life.judgement.monitor.settings
    assert whole.alpha + sum(one.life.judgement.monitor.settings.alpha for one in found.segments.values()) == (
        pytest.approx(0.05)
    )
    assert found.segments["de"].lines["share"].bar == pytest.approx(-np.log10(part.level("share")))
    by_rate = pulens.watch(rows, group_by="country", control="fdr", **GIVEN)
    assert by_rate.segments["de"].lines["share"].bar < found.segments["de"].lines["share"].bar
    for name, one in by_rate.segments.items():
        np.testing.assert_array_equal(one.lines["fit"].evidence, found.segments[name].lines["fit"].evidence)
        assert {alarm.line for alarm in one.alarms} == {alarm.line for alarm in found.segments[name].alarms}


def test_shared_bars_are_those_of_the_slow_rule():
    rng = np.random.default_rng(1)
    totals, alpha = rng.normal(3, 3, (7, 40)), 0.03
    found = shared_bars(totals, alpha)
    for place in range(40):
        falling = sorted(totals[:, place], reverse=True)
        reached = [k for k in range(1, 8) if falling[k - 1] >= np.log(7 / (k * alpha))]
        assert found[place] == pytest.approx(np.log(7 / (max(reached, default=1) * alpha)))
        assert np.sum(totals[:, place] >= found[place]) == max(reached, default=0)


def test_segments_are_the_same_from_every_engine(found, rows, tmp_path):
    rows.write_csv(tmp_path / "rows.csv")
    rows.write_parquet(tmp_path / "rows.parquet")
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'rows.sqlite'}")
    rows.to_pandas().to_sql("kept", engine, index=False)
    engine.dispose()
    held = duckdb.read_parquet(str(tmp_path / "rows.parquet"))
    wanted = found.to_dict()
    for source, where in (
        (rows.lazy(), {}),
        (rows.to_pandas(), {}),
        (held, {}),
        (tmp_path / "rows.csv", {}),
        (f"sqlite:///{tmp_path / 'rows.sqlite'}", {"table": "kept"}),
    ):
        assert pulens.watch(source, group_by="country", **GIVEN, **where).to_dict() == wanted


def test_a_segment_that_tells_nothing_has_a_reason(rows):
    rng = np.random.default_rng(2)
    noise = {
        "score": rng.normal(size=240).round(2),
        "label": [0] * 240,
        "at": [f"{day} 00:00:00" for day in DAYS for _ in range(10)],
        "country": ["nowhere"] * 240,
    }
    late = rows.filter((polars.col("country") == "fr") & (polars.col("at") > str(UNTIL + timedelta(days=1))))
    more = polars.concat([rows, polars.DataFrame(noise), late.with_columns(country=polars.lit("new"))])
    found = pulens.watch(more, group_by="country", **{**GIVEN, "class_prior": None})
    assert list(found.segments) == ["de", "es", "fr", "it / sm"]
    assert "no labelled row" in found.unjudged["nowhere"]
    assert "no window of the reference" in found.unjudged["new"]
    assert "2 not watched ('new', 'nowhere')." in str(found)
    assert any("the first of them 'new': no window of the reference" in str(notice) for notice in found.notices)
    json.dumps(found.to_dict(), allow_nan=False)
    only = more.filter(polars.col("country") == "nowhere")
    with pytest.raises(InputError, match=r"no segment of country can be watched|no labelled row"):
        pulens.watch(only, group_by="country", **{**GIVEN, "class_prior": None})


def test_segments_have_the_class_prior_that_was_given_or_is_implied(found, rows):
    for one in found.segments.values():  # all have 0.2 in the reference, and are labelled equally often
        prior = one.life.judgement.monitor.prior
        assert prior.value == pytest.approx(0.2, abs=4 * prior.variance**0.5)
    own = dict.fromkeys(found.segments, 0.2) | {"de": 0.1}
    given = pulens.watch(rows, group_by="country", **{**GIVEN, "class_prior": own})
    assert given.segments["de"].life.judgement.monitor.prior.value == 0.1
    assert given.life.judgement.monitor.prior.value == pytest.approx(0.175)
    with pytest.raises(InputError, match="but not for the segment 'es'"):
        pulens.watch(rows, group_by="country", **{**GIVEN, "class_prior": {"de": 0.1, "fr": 0.2, "it / sm": 0.2}})


@pytest.mark.parametrize("control", ["family", "fdr"])
def test_segments_day_by_day_are_bit_equal_to_judging_at_once(rows, tmp_path, control):
    given = {**GIVEN, "group_by": "country", "control": control}
    for last in (DAYS[17], DAYS[20], DAYS[-1]):
        some = rows.filter(polars.col("at") < str(last + timedelta(days=1)))
        by_day = pulens.watch(some, state=tmp_path / "pulse.state", **given)
    at_once = pulens.watch(rows, state=tmp_path / "anew.state", **given)
    assert by_day.to_dict() == at_once.to_dict()
    assert (tmp_path / "pulse.state").read_bytes() == (tmp_path / "anew.state").read_bytes()
    assert read_state(tmp_path / "pulse.state").to_dict() == at_once.to_dict()
    with pytest.raises(InputError, match="which is not in this table"):
        pulens.watch(rows.filter(polars.col("country") != "de"), state=tmp_path / "pulse.state", **given)


def test_the_command_watches_segments_and_accepts_one(rows, tmp_path, capsys):
    rows.write_parquet(tmp_path / "rows.parquet")
    asked = ["watch", str(tmp_path / "rows.parquet"), "--time", "at", "--by", "day", "--reference-until", str(UNTIL)]
    state = str(tmp_path / "pulse.state")
    with pytest.raises(SystemExit) as end:
        main([*asked, "--group-by", "country", "--state", state])
    assert end.value.code == 3
    shown = capsys.readouterr().out
    assert "4 segments of country, clearest first" in shown
    with pytest.raises(SystemExit) as end:
        main(["watch", "--state", state, "--accept", "2026-03-19", "--segment", "fr"])
    assert end.value.code == 3
    after = read_state(state)
    assert (len(after.segments["fr"].lives), len(after.segments["it / sm"].lives)) == (2, 1)
    assert not after.segments["fr"].alarms
    with pytest.raises(SystemExit) as end:
        main(["watch", "--state", state, "--accept", "2026-03-19", "--segment", "uk"])
    assert end.value.code == 2


def test_what_speaks_of_one_table_is_refused_without_a_column_of_time(rows):
    for options in ({"group_by": "country"}, {"confirmed_at": "known"}, {"reference_until": UNTIL}):
        with pytest.raises(PulensError, match="can only go with time="):
            pulens.watch(rows, rows, **options)
    for options, words in (
        ({"group_by": ["country", "country"]}, "several different ones"),
        ({"group_by": "county"}, "there is no column 'county'"),
        ({"control": "none"}, "control must be 'family' or 'fdr'"),
        ({"timezone": "Mars"}, "timezone must name a time zone"),
        ({"confirmed_at": "at", "labels_lag": 3}, "labels_lag must be days up to '180d'"),
        ({"confirmed_at": "at", "labels_lag": "400d"}, "labels_lag must be days up to '180d'"),
        ({"confirmed_at": "known"}, "there is no column 'known'"),
    ):
        with pytest.raises(PulensError, match=words):
            pulens.watch(rows, **{**GIVEN, **options})


# --- labels that come later -----------------------------------------------------------------------------------------


def delayed(missed_from: int | None = None, seed: int = 3, windows: int = 90) -> polars.DataFrame:
    """Positives found at the threshold are confirmed sooner; from a day on the others are missed more often."""
    rng = np.random.default_rng(seed)
    parts = []
    for place in range(windows):
        day = date(2026, 1, 1) + timedelta(days=place)
        positive = rng.random(400) < 0.2
        at = 0.6 if missed_from is not None and place >= missed_from else 1.466
        scores = np.round(rng.normal(positive * at), 2)
        early = rng.random(400) < np.where(scores >= 0.8, 0.8, 0.3)
        waited = np.where(early, rng.integers(1, 20, 400), rng.integers(40, 100, 400))
        parts.append(
            polars.DataFrame(
                {
                    "score": scores,
                    "label": (positive & (rng.random(400) < 0.7)).astype(int),
                    "at": [str(day)] * 400,
                    "known": [str(day + timedelta(days=int(days))) for days in waited],
                }
            )
        )
    rows = polars.concat(parts)
    return rows.with_columns(polars.when(polars.col("label") == 1).then(polars.col("known")).alias("known"))


def as_known_on(rows: polars.DataFrame, day: date) -> polars.DataFrame:
    """What the table held on the evening of a day."""
    seen = rows.filter(polars.col("at") <= str(day))
    known = polars.col("known").is_not_null() & (polars.col("known") <= str(day))
    return seen.with_columns(polars.when(known).then(polars.col("label")).otherwise(0).alias("label"))


LATE = {"time": "at", "reference_until": "2026-01-30", "class_prior": 0.2, "threshold": 0.8}


def test_young_labels_are_compared_with_young_ones_of_the_reference():
    rows = delayed()
    today = as_known_on(rows, date(2026, 3, 31))
    same_age = pulens.watch(today, confirmed_at="known", labels_lag="14d", **LATE)
    assert not [alarm for alarm in same_age.alarms if alarm.line == "recall"]
    judgement = same_age.life.judgement
    assert judgement.monitor.settings.age == 1
    flagged = judgement.monitor.flagged
    young = judgement.reference_labelled
    assert young @ flagged / young.sum() > same_age["2026-03-01"].recall.value + 0.05, "easy cases come first"
    # without times the same labels, taken as complete after 14 days, look like a better model
    any_age = pulens.watch(today, labels_lag="14d", **LATE)
    (alarm,) = (alarm for alarm in any_age.alarms if alarm.line == "recall")
    assert alarm.level > any_age["2026-02-01"].recall.value
    old, new = same_age["2026-02-02"], same_age["2026-03-20"]
    assert old.labelled_ratio.interval.low < 1 < old.labelled_ratio.interval.high
    assert new.labelled_ratio.interval.low < 1 < new.labelled_ratio.interval.high
    assert same_age["2026-03-30"].labelled_ratio is None, "no label is a week old"


def test_moved_positives_are_found_at_the_age_of_judging():
    rows = delayed(missed_from=45)
    found = pulens.watch(as_known_on(rows, date(2026, 3, 31)), confirmed_at="known", labels_lag="14d", **LATE)
    (alarm,) = (alarm for alarm in found.alarms if alarm.line == "recall")
    assert "2026-02-10" <= alarm.since <= "2026-02-20"


def test_labels_that_arrive_day_by_day_give_what_all_of_them_give(tmp_path):
    rows = delayed(missed_from=45)
    given = {**LATE, "confirmed_at": "known", "labels_lag": "14d"}
    days = (date(2026, 1, 31), date(2026, 2, 20), date(2026, 3, 10), date(2026, 3, 31))
    # the labels that weigh scores are those of the first day
    first = as_known_on(rows, days[0])
    late = (polars.col("at") <= "2026-01-30") & (polars.col("known") > str(days[0]))
    fixed = rows.with_columns(polars.when(late).then(0).otherwise(polars.col("label")).alias("label"))
    for day in days:
        by_day = pulens.watch(as_known_on(fixed, day), state=tmp_path / "pulse.state", **given)
    assert first.filter(polars.col("label") == 1).height > 100
    at_once = pulens.watch(as_known_on(fixed, days[-1]), **given)
    for line in ("share", "fit", "recall"):
        np.testing.assert_array_equal(by_day.lines[line].evidence, at_once.lines[line].evidence)
    # labels of the reference that grow do not make it another reference
    pulens.watch(as_known_on(rows, days[-1]), state=tmp_path / "pulse.state", **given)


def test_the_line_for_a_log_leaves_the_range_of_the_day_to_the_answer(found):
    """With it, the line of one alarm was 97 columns wide."""
    assert all(" to " not in str(one).partition(":")[0] for one in found.alarms)
    assert str(found.alarms[0]).startswith(f"ALARM share since {found.alarms[0].since}: change ")
